// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Inputs to train on, or to measure a metric on: a file of JSON lines, read once.
#pragma once

#include <dbc/io/instances.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dbc::train {

/// Where the truth of an input stands that a metric compares with: the line's "target", a number or a list of
/// numbers; without one the argument of this name, else the field of this name of the node, or of each node
/// of the list, that the entry's first argument is.
struct TargetPath {
  std::string name = "label";
  bool given = false; ///< by --label: then a name that nothing has is a misspelling, said once
};

/// The inputs of a file, in its order. Line numbers count from 1.
class DataSet {
public:
  /// Reads and checks every line for an entry or loss of the model; `info` is borrowed. With a `target` also
  /// what each line's truth is. Of lines that are wrong the first ones are named, and nothing is read.
  static Status read(const std::string &file, const ModelInfo &info, const EntryInfo &entry,
                     const TargetPath *target, std::optional<DataSet> &data);

  const std::string &file() const { return file_; }
  size_t size() const { return lines_.size(); }
  /// For any reader of the entry.
  const InstanceReader::Line &line(size_t number) const { return *lines_[number]; }
  /// What it costs to compute, about: its nodes and the elements of its lists.
  int64_t cost(size_t number) const { return costs_[number]; }
  /// What there is to compare with; one number, or as many as the entry gives. None if it was read without.
  const std::vector<double> &target(size_t number) const { return targets_[number]; }
  /// "FILE:LINE".
  std::string name(size_t number) const { return file_ + ":" + std::to_string(number + 1); }
  /// Another one for another text.
  const std::string &hash() const { return hash_; }

private:
  DataSet() = default;
  std::string file_, hash_;
  std::vector<std::shared_ptr<const InstanceReader::Line>> lines_;
  std::vector<int64_t> costs_;
  std::vector<std::vector<double>> targets_;
};

} // namespace dbc::train
