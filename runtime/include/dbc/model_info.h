// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a compiled model says about itself: its data types, parameters and entries. Generated code fills one
// `ModelInfo` a model; the instance reader, the weight reader and the generic hosts (`dbc run`, `dbc verify`)
// work from it alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dbc {

/// What one element of a value is. Index and Int are stored as int32_t, Bool as uint8_t, F32 as float, Node
/// as the int32_t number of a node in the batch's table of its data type.
enum class Elem : uint8_t { Index, Int, Bool, F32, Node };

/// The type of a field, an argument or a result, as the source writes it.
struct TypeInfo {
  enum class Form : uint8_t { Value, List, Tuple, Record };
  Form form = Form::Value;
  // Form::Value: a scalar (no extents) or a tensor of `elem`.
  Elem elem = Elem::F32;
  int32_t bound = 0;            ///< Elem::Index: values are 0 .. bound - 1
  int32_t data = -1;            ///< Elem::Node: number of the data type in ModelInfo::datas
  std::vector<int64_t> extents; ///< row-major; empty for a scalar
  // The others.
  std::string name;               ///< Form::Record: the record's name in the source, e.g. "State"
  std::vector<std::string> names; ///< Form::Record: the fields' names, one an element
  std::vector<TypeInfo> elements; ///< List: one; Tuple, Record: all in order

  /// Number of scalars in one Form::Value.
  int64_t size() const {
    int64_t n = 1;
    for (int64_t e : extents)
      n *= e;
    return n;
  }

  /// Number of values when it is flattened, as `flatten` of dbc/batch.h does: one a component, whatever lists
  /// are around it.
  int32_t components() const {
    if (form == Form::Value)
      return 1;
    int32_t n = 0;
    for (const TypeInfo &element : elements)
      n += element.components();
    return n;
  }
};

/// A field of a constructor. Fields of one data type that share a name and a type share a column.
struct FieldInfo {
  std::string name;
  TypeInfo type;  ///< Value, or lists (of lists) of Value
  int32_t column; ///< number of the column in the data type's tables, see Batch
};

struct ConstructorInfo {
  std::string name;
  std::vector<FieldInfo> fields; ///< in the order of the source
};

struct DataInfo {
  std::string name;
  std::vector<ConstructorInfo> constructors; ///< a node's kind is an index into this
  int32_t columns = 0;                       ///< number of distinct columns
};

/// How a parameter is drawn when no weights are given (manual, N6).
struct InitInfo {
  enum class Kind : uint8_t { Constant, Uniform, Normal, Glorot };
  Kind kind = Kind::Constant;
  double a = 0; ///< Constant: the value; Uniform: low; Normal: mean
  double b = 0; ///< Uniform: high; Normal: deviation
};

struct ParamInfo {
  std::string name;             ///< the path, e.g. "fwd.W" (manual, N4)
  std::vector<int64_t> extents; ///< empty for a scalar
  InitInfo init;                ///< a tensor const is drawn from normal(0, 1)
  bool is_const = false;        ///< The manual's N7
};

struct ArgInfo {
  std::string name;
  TypeInfo type;
};

/// A field or argument whose gradient a loss gives.
struct InputGradientInfo {
  std::string name;   ///< "Tree.x" of a data type, "nll.y" of the loss
  int32_t data = -1;  ///< number of the data type; -1: an argument
  int32_t column = 0; ///< of the data type; of an argument the number of its component, see Batch::arg_column
  int64_t width = 1;  ///< numbers in a value, or in an element of a list
};

struct EntryInfo {
  std::string name;
  bool is_loss = false;
  std::vector<ArgInfo> args;
  TypeInfo result; ///< a loss without outputs: one F32; with outputs: a tuple whose first element is the loss
  std::vector<int32_t> gradients = {}; ///< numbers of the parameters whose gradient a loss gives
  /// Of fields and arguments: those that were asked for when it was compiled and that the loss depends on.
  std::vector<InputGradientInfo> input_gradients = {};

  /// Whether runs give gradients.
  bool is_differentiated() const { return !gradients.empty() || !input_gradients.empty(); }
};

struct ModelInfo {
  std::string name;
  std::vector<DataInfo> datas;
  std::vector<ParamInfo> params;
  std::vector<EntryInfo> entries;
};

} // namespace dbc
