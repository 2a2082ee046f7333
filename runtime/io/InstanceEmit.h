// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Putting checked values into a batch, column by column: a batch has one column for each component of a type.
#pragma once

#include "InstanceSchema.h"
#include "JsonTape.h"

#include <dbc/batch.h>

namespace dbc::io {

/// How to get from a value of some type to one component of it.
struct ComponentPath {
  static constexpr int32_t each = -1; ///< a step into every element of a list
  struct Step {
    int32_t element;  ///< of a tuple or record, or `each`
    std::string name; ///< a record's field
  };
  std::vector<Step> steps;
  const TypeInfo *component = nullptr; ///< a Form::Value
};

/// The components of a type in the order of `flatten`; pointers go into `type`.
std::vector<ComponentPath> component_paths(const TypeInfo &type);

class Emitter {
public:
  /// `numbers` are the batch's numbers of the nodes in the line's table.
  Emitter(const Schema &schema, const Tape &tape, const std::vector<int32_t> &numbers, Batch &batch)
      : schema_(schema), tape_(tape), numbers_(numbers), batch_(batch) {}

  /// Sets one column of one row from the value at `token`, which has passed ValueCheck for the type around
  /// `path`.
  void component(int32_t table, int32_t row, int32_t column, const ComponentPath &path, uint64_t token);
  /// The same for a field: lists of (lists of) one value, no records or tuples.
  void field(int32_t table, int32_t row, int32_t column, const TypeInfo &type, uint64_t token);

private:
  void lists(int32_t table, int32_t row, int32_t column, const ComponentPath &path, size_t step,
             uint64_t token);
  uint64_t element_of(const ComponentPath::Step &step, uint64_t token) const;
  void set(int32_t table, int32_t row, int32_t column, const TypeInfo &type, uint64_t token);
  void push(const TypeInfo &type, uint64_t token);
  void whole_list(int32_t table, int32_t row, int32_t column, const TypeInfo &element, uint64_t token);
  int32_t integer(const TypeInfo &type, uint64_t token) const;
  /// The elements of a tensor, row-major, into the scratch array of their kind.
  void gather(const TypeInfo &type, uint64_t token);

  const Schema &schema_;
  const Tape &tape_;
  const std::vector<int32_t> &numbers_;
  Batch &batch_;
  std::vector<int32_t> ints_;
  std::vector<uint8_t> bools_;
  std::vector<float> floats_;
};

} // namespace dbc::io
