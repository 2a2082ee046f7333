// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A batch as Python fills it: of objects, of JSON lines, or of arrays.
#pragma once

#include "LoadedCode.h"

#include <atomic>
#include <dbc/io/instances.h>
#include <deque>
#include <map>
#include <memory>
#include <nanobind/ndarray.h>
#include <string>
#include <string_view>
#include <vector>

namespace dbc::python {

template <class T> using Elements = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The inputs of a run, and what they were made of: objects are kept, so that results and errors can name
/// them. Filled once. One thread at a time; a run holds `busy`.
class FilledBatch {
  nb::object code_object_; ///< first, as what follows is made of it
  LoadedCode *code_;

public:
  /// `code` is a LoadedCode.
  explicit FilledBatch(nb::object code);
  ~FilledBatch();
  FilledBatch(const FilledBatch &) = delete;
  FilledBatch &operator=(const FilledBatch &) = delete;

  /// Fills it with one input for each element of `inputs`, for an entry: of one argument that argument, else
  /// a tuple or a dict. An object that does not fit the model is an input with an error, which its run
  /// gives.
  void fill_with_objects(int32_t entry, nb::handle inputs);
  /// Fills it with the lines of a text. A line that is wrong is an input with an error, which its run gives.
  void fill_with_lines(int32_t entry, std::string_view text);

  /// Filling with arrays, after the number of inputs: as in C++ (dbc/batch.h), but that what is read as a
  /// structure is copied, so that it stays as it was checked. Floats are borrowed, and kept alive.
  void begin_columns(int32_t inputs);
  void add_nodes(int32_t data, nb::object kinds, const Elements<int32_t> &begin);
  void add_ints(int32_t table, int32_t column, const Elements<int32_t> &values);
  void add_bools(int32_t table, int32_t column, const Elements<uint8_t> &values);
  void add_floats(int32_t table, int32_t column, Elements<float> values);
  void add_offsets(int32_t table, int32_t column, int32_t level, const Elements<int32_t> &offsets);

  /// Replaces one float column of a batch, which is no list: `values` has the numbers of all rows, one after
  /// the other; those of nodes that do not have the field are passed over.
  void replace_floats(int32_t table, int32_t column, const Elements<float> &values);

  /// A status as whoever filled the batch understands it: lines are named by their numbers.
  Status in_words(const Status &status) const { return reader_ ? reader_->in_lines(status) : status; }
  /// The object that a status is about, or None.
  nb::object object_of(const Status &status) const;
  /// A node of a result by its number in the batch: the object, else its index in its line, else the number.
  nb::object node(int32_t data, int32_t number) const;
  /// The objects of a data type in the order of the batch; empty where it was filled with something else.
  nb::list objects(int32_t data) const;

  /// What the columns of a table are: (name, element, extent, depth, bound) of each.
  nb::list columns_of(int32_t table) const;

  const LoadedCode &code() const { return *code_; }
  const nb::object &code_object() const { return code_object_; }

  Batch batch;
  std::vector<float> weights; ///< "weight" of each line; empty: all 1
  std::atomic<bool> busy{false};

private:
  friend class Builder;
  void borrow(int32_t table, int32_t column, Elements<float> values);
  /// Throws CallError where it is filled already.
  void begin_filling();
  std::vector<std::vector<nb::object>> objects_; ///< by data type
  std::unique_ptr<InstanceReader> reader_;
  bool is_filled_ = false;
  bool is_flat_ = false;                  ///< filled with arrays
  std::deque<std::vector<int32_t>> ints_; ///< copies of borrowed columns
  std::deque<std::vector<uint8_t>> bytes_;
  std::map<std::pair<int32_t, int32_t>, Elements<float>> floats_; ///< borrowed, by table and column
};

void bind_batch(nb::module_ &module);

} // namespace dbc::python
