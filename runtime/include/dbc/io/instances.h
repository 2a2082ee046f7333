// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Instances as JSON lines, one input of an entry a line, read into a Batch:
//   {"nodes": [{"Leaf": {"word": 3}}, {"Leaf": {"word": 8}}, {"Node": {"left": 0, "right": 1}}], "args":
//   {"t": 2}}
#pragma once

#include <cstdint>
#include <dbc/batch.h>
#include <dbc/model_info.h>
#include <dbc/status.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dbc {

/// Where the nodes of a batch stood in their lines: "nodes" is one table for all data types, a batch numbers
/// each type on its own and over all inputs.
class NodeTable {
public:
  /// The index in its line's "nodes" of node number `node` (in the batch) of a data type; -1 if there is
  /// none.
  int32_t index(int32_t data, int32_t node) const {
    bool known = data >= 0 && static_cast<size_t>(data) < index_.size() && node >= 0 &&
                 static_cast<size_t>(node) < index_[data].size();
    return known ? index_[data][node] : -1;
  }

private:
  friend class InstanceReader;
  std::vector<std::vector<int32_t>> index_; ///< by data type, by node number in the batch
};

/// Reads lines for one entry into a batch. Not thread-safe; keeps its memory from line to line. No function
/// throws.
///
/// Accepted: keys in any order, forward references, sharing, cycles; a node as {"Constructor": {..}} or,
/// where several data types have that constructor, {"Type.Constructor": {..}} (the short form will do if a
/// field or an argument that refers to the node decides); fields left out; arguments of the model's other
/// entries and a "target", which is what metrics compare with, both passed over; "nan", "inf", "-inf" for an
/// f32. Everything else that does not fit the model is an error, which names model, line, node (its index in
/// "nodes") and field:
///   tree_lstm: line 3: node 7 (Leaf): field `word`: 12 is out of range for index[10]
///
/// A line is checked whole before anything of it goes into the batch. Memory: proportional to the longest
/// line; stack: constant.
class InstanceReader {
public:
  /// `model` and `entry` (one of model.entries) are borrowed. `first_line` is the number of the first line,
  /// for messages.
  InstanceReader(const ModelInfo &model, const EntryInfo &entry, int64_t first_line = 1);
  ~InstanceReader();
  InstanceReader(const InstanceReader &) = delete;
  InstanceReader &operator=(const InstanceReader &) = delete;

  /// Appends one line as the batch's next input. A line that is wrong becomes an input without nodes and with
  /// the returned status (Batch::status gives it too), so that lines and inputs stay in step; `Status::input`
  /// is the input's number, `Status::node` the index in "nodes".
  Status append(std::string_view line, Batch &batch);

  /// A line that was read and checked, or is wrong: `append` of it does the same as of its text, in a
  /// fraction of the time. Any reader for the same entry of the same model may append it, at the same time as
  /// others.
  class Line;
  std::shared_ptr<const Line> read(std::string_view line);
  Status append(const Line &line, Batch &batch);

  /// Empties the batch and forgets its nodes and weights; lines go on being counted.
  void clear(Batch &batch);

  /// "weight" of each input since clear(), 1 where the line has none (manual, G3).
  const std::vector<float> &weights() const;
  const NodeTable &nodes() const;
  /// Number of the line that append() will read next.
  int64_t line() const;

  /// Counts a line that is not an input (an empty one at the end of a file, say).
  void skip_line();

  /// A status of a run in the terms of the lines: its message names the line instead of the input's number in
  /// the batch. A status of append() is left as it is.
  Status in_lines(Status status) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A message of a status without the number of its line or input, which depends on what else was read or run.
/// Throws std::bad_alloc.
std::string without_input(const std::string &message);

} // namespace dbc
