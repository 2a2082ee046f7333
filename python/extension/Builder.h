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
  struct Item {
    PyObject *object = nullptr;
    uint64_t round = 0; ///< of which round; items of others are free
    int32_t data = -1, number = -1;
  };
  /// What is known of an object: -1 stands for its data type and number until they are set. Valid until the
  /// next call.
  Item &of(PyObject *object);

private:
  void grow();
  size_t index_of(PyObject *object) const;
  std::vector<Item> items_ = std::vector<Item>(64);
  size_t used_ = 0;
  uint64_t round_ = 1;
};

/// Where in a batch a value goes.
struct Slot {
  int32_t table, row, column;
};

class Builder {
public:
  explicit Builder(FilledBatch &filled) : filled_(filled), batch_(filled.batch) {}
  /// One input of an entry. What is wrong with it is its status in the batch; what Python code that is called
  /// raises, but for mistakes in values, goes on.
  void add_input(int32_t entry, nb::handle input);

private:
  struct Refusal;
  void read_input(const EntryInfo &info, int32_t entry, nb::handle input);
  void add_argument(int32_t entry, const ArgInfo &arg, int32_t component, nb::handle value);
  void fill_nodes();
  /// One component, in flatten order, of a value of a type; `depth` lists are open around it.
  void write(const TypeInfo &type, int32_t component, nb::handle value, const Slot &slot, int32_t depth);
  void write_scalar(const TypeInfo &type, nb::handle value, const Slot &slot, int32_t depth);
  void write_tensor(const TypeInfo &type, nb::handle value, const Slot &slot, int32_t depth);
  void write_list(const TypeInfo &type, int32_t component, nb::handle value, const Slot &slot, int32_t depth);
  bool write_array(const TypeInfo &element, nb::handle value, const Slot &slot);
  int32_t node_number(nb::handle object, int32_t target, const Slot &slot);
  int32_t read_int(const TypeInfo &type, nb::handle value, const Slot &slot);
  float read_float(nb::handle value, const Slot &slot);
  [[noreturn]] void refuse(const Slot &slot, const std::string &what);
  [[noreturn]] void refuse_raised(const Slot &slot);

  FilledBatch &filled_;
  Batch &batch_;
  NodeNumbers numbers_;
  struct Pending {
    PyObject *object;
    const Constructor *constructor;
    int32_t row;
  };
  std::vector<Pending> pending_;      ///< nodes whose fields are not yet read
  std::vector<Py_ssize_t> positions_; ///< in the lists around what is written, the outermost first
  bool reads_again_ = false;          ///< an argument of several components is read once for each
};

} // namespace dbc::python
