// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// From flat columns back to trees: the same walk for results and for a batch's fields and arguments.
#pragma once

#include <dbc/io/value.h>

namespace dbc::io {

inline Value::Kind kind_of(Elem elem) {
  switch (elem) {
  case Elem::F32:
    return Value::Kind::Number;
  case Elem::Bool:
    return Value::Kind::Bool;
  case Elem::Node:
    return Value::Kind::Node;
  case Elem::Index:
  case Elem::Int:
    break;
  }
  return Value::Kind::Int;
}

/// Builds the value of `type` whose components are `component`, `component` + 1, ...; `rows[i]` is the row
/// (or list, or element) that component i stands at, since the lists of two components need not lie alike. A
/// Source has
///   range(component, depth, row) -> pair(begin, end): the elements of list `row` at that depth;
///   number(component, type, i) -> double: number i of the component's array.
template <class Source>
Value value_tree(const Source &source, const TypeInfo &type, int32_t component, int32_t depth,
                 const std::vector<int64_t> &rows) {
  switch (type.form) {
  case TypeInfo::Form::Value: {
    int64_t n = type.size(), at = rows[component] * n;
    if (type.extents.empty())
      return Value::scalar(kind_of(type.elem), source.number(component, type, at));
    std::vector<double> data(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
      data[i] = source.number(component, type, at + i);
    return Value::tensor(type.extents, std::move(data), kind_of(type.elem));
  }
  case TypeInfo::Form::List: {
    int32_t components = type.elements[0].components();
    std::vector<int64_t> inner(rows.size());
    int64_t length = 0;
    for (int32_t i = 0; i < components; ++i) {
      auto [begin, end] = source.range(component + i, depth, rows[component + i]);
      inner[component + i] = begin;
      length = end - begin;
    }
    Value list = Value::group(Value::Kind::List, {});
    list.elements.reserve(static_cast<size_t>(length));
    for (int64_t k = 0; k < length; ++k) {
      list.elements.push_back(value_tree(source, type.elements[0], component, depth + 1, inner));
      for (int32_t i = 0; i < components; ++i)
        ++inner[component + i];
    }
    return list;
  }
  case TypeInfo::Form::Tuple:
  case TypeInfo::Form::Record:
    break;
  }
  Value group =
      Value::group(type.form == TypeInfo::Form::Tuple ? Value::Kind::Tuple : Value::Kind::Record, {});
  for (const TypeInfo &element : type.elements) {
    group.elements.push_back(value_tree(source, element, component, depth, rows));
    component += element.components();
  }
  return group;
}

} // namespace dbc::io
