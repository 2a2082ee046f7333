// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Values as trees, for hosts: what an entry gave for one input, whether compiled code or the oracle computed
// it.
#pragma once

#include <cstdint>
#include <dbc/batch.h>
#include <dbc/io/instances.h>
#include <dbc/model_info.h>
#include <dbc/outputs.h>
#include <dbc/status.h>
#include <string>
#include <utility>
#include <vector>

namespace dbc {

/// One value of the language. Trees are as deep as their type, never deeper.
struct Value {
  enum class Kind : uint8_t {
    Number, ///< an f32
    Int,    ///< an int or index
    Bool,
    Node,   ///< a node; as an output: its index in the line's "nodes"
    Tensor, ///< of any of the above
    List,
    Tuple,
    Record
  };
  Kind kind = Kind::Number;
  double number = 0;            ///< a scalar; ints of 32 bits, 0 and 1, and nodes are exact
  std::vector<int64_t> extents; ///< Tensor
  std::vector<double> data;     ///< Tensor: its elements, row-major
  Kind element = Kind::Number;  ///< Tensor: what its elements are; other than Number they compare exactly
  std::vector<Value> elements;  ///< List, Tuple, Record: in order

  static Value scalar(Kind kind, double number) {
    Value v;
    v.kind = kind;
    v.number = number;
    return v;
  }
  static Value tensor(std::vector<int64_t> extents, std::vector<double> data, Kind element = Kind::Number) {
    Value v;
    v.element = element;
    v.kind = Kind::Tensor;
    v.extents = std::move(extents);
    v.data = std::move(data);
    return v;
  }
  static Value group(Kind kind, std::vector<Value> elements) {
    Value v;
    v.kind = kind;
    v.elements = std::move(elements);
    return v;
  }
};

/// How floats are written: shortest that read back as the same float, or as the same double.
enum class Real : uint8_t { F32, F64 };

/// Appends the value as JSON: tensors as nested arrays, list and tuple as array, record as object, bools as
/// true and false, a node as its number, non-finite floats as "nan", "inf", "-inf". `type` gives what the
/// tree leaves open: names of records' fields and element types. `value` must be of that type.
void append_json(std::string &to, const Value &value, const TypeInfo &type, Real real = Real::F32);
std::string to_json(const Value &value, const TypeInfo &type, Real real = Real::F32);

/// {"error": {"code", "message", "node", "field"}}; node and field are null where none is known. To name
/// nodes by their index in "nodes", hand in what InstanceReader::in_lines gives.
std::string error_json(const Status &status);

/// One input's result. Nodes get their index in "nodes" from `nodes`; without it, their number in the batch.
Value output_value(const Outputs &outputs, const EntryInfo &entry, int32_t input,
                   const NodeTable *nodes = nullptr);

/// How far `a` is from `b`: for each component of the type the largest |a - b| / max(1, largest |b|), over
/// all elements of the lists around it; the largest of those. Infinity where structure, an int, a bool or a
/// node differ. NaN equals NaN, infinity `a` equals infinity of the same sign and what a float cannot hold;
/// against anything else both are infinitely far.
double max_error(const Value &a, const Value &b);

} // namespace dbc
