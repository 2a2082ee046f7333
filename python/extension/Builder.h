// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Python's objects into a batch. Needs the GIL; nothing recurses over the structure.
#pragma once

#include "Batch.h"

#include <vector>

namespace dbc::python {

/// Which objects of an input have become which nodes: by identity, as sharing is.
class NodeNumbers {
public:
  /// Forgets all, and keeps the memory.
  void clear();
  struct Entry {
    PyObject *object = nullptr;
    uint64_t round = 0; ///< of which round; entries of others are free
    int32_t data = -1, number = -1;
  };
  /// What is known of an object: -1 stands for its data type and number until they are set. Valid until the
  /// next call.
  Entry &of(PyObject *object);

private:
  void grow();
  size_t place_of(PyObject *object) const;
  std::vector<Entry> entries_ = std::vector<Entry>(64);
  size_t used_ = 0;
  uint64_t round_ = 1;
};

/// Where in a batch a value goes.
struct Place {
  int32_t table, row, column;
  PyObject *object; ///< the node, borrowed; null: an argument
};

class Builder {
public:
  explicit Builder(FilledBatch &filled) : filled_(filled), batch_(filled.batch) {}
  /// One input of an entry; throws InputError.
  void add_input(int32_t entry, nb::handle input);

private:
  void add_argument(int32_t entry, const ArgInfo &arg, int32_t component, nb::handle value);
  void fill_nodes();
  /// One component, in flatten order, of a value of a type; `depth` lists are open around it.
  void write(const TypeInfo &type, int32_t component, nb::handle value, const Place &place, int32_t depth);
  void write_scalar(const TypeInfo &type, nb::handle value, const Place &place, int32_t depth);
  void write_tensor(const TypeInfo &type, nb::handle value, const Place &place, int32_t depth);
  void write_list(const TypeInfo &type, int32_t component, nb::handle value, const Place &place,
                  int32_t depth);
  bool write_array(const TypeInfo &element, nb::handle value, const Place &place);
  int32_t node_number(nb::handle object, int32_t target, const Place &place);
  int32_t read_int(nb::handle value, const Place &place);
  float read_float(nb::handle value, const Place &place);
  [[noreturn]] void refuse(const Place &place, const std::string &what);
  [[noreturn]] void refuse_raised(const Place &place);

  FilledBatch &filled_;
  Batch &batch_;
  NodeNumbers numbers_;
  struct Pending {
    PyObject *object;
    const Constructor *constructor;
    int32_t row;
  };
  std::vector<Pending> pending_; ///< nodes whose fields are not yet read
};

} // namespace dbc::python
