// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Values as trees: writing and comparing them. Recursion goes as deep as types do.
#include "JsonText.h"

#include <algorithm>
#include <cmath>
#include <dbc/io/value.h>
#include <limits>

namespace dbc {

namespace {

void append_number(std::string &to, double number, Elem elem, Real real) {
  switch (elem) {
  case Elem::F32:
    if (real == Real::F32)
      io::append_f32(to, static_cast<float>(number));
    else
      io::append_f64(to, number);
    return;
  case Elem::Bool:
    to += number != 0 ? "true" : "false";
    return;
  case Elem::Index:
  case Elem::Int:
  case Elem::Node:
    io::append_int(to, static_cast<long long>(number));
  }
}

void append_tensor(std::string &to, const Value &value, Elem elem, Real real, size_t axis, size_t &at) {
  if (axis == value.extents.size())
    return append_number(to, value.data[at++], elem, real);
  to += '[';
  for (int64_t i = 0; i < value.extents[axis]; ++i) {
    if (i)
      to += ", ";
    append_tensor(to, value, elem, real, axis + 1, at);
  }
  to += ']';
}

/// One component of a type, gathered over all elements of the lists around it.
struct Distance {
  double difference = 0, scale = 1;
  std::vector<Distance> elements; ///< of a tuple or record

  double worst() const {
    double most = difference / scale;
    for (const Distance &element : elements)
      most = std::max(most, element.worst());
    return most;
  }
};

constexpr double infinity = std::numeric_limits<double>::infinity();

void compare(double a, double b, bool exact, Distance &to) {
  // An infinity is right where the other one, a double, is more than a float can be.
  bool over =
      std::isinf(a) && std::fabs(b) > std::numeric_limits<float>::max() && std::signbit(a) == std::signbit(b);
  if (a == b || over || (std::isnan(a) && std::isnan(b))) {
    if (std::isfinite(b) && !over)
      to.scale = std::max(to.scale, std::fabs(b));
    return;
  }
  if (exact || !std::isfinite(a) || !std::isfinite(b)) {
    to.difference = infinity;
    return;
  }
  to.difference = std::max(to.difference, std::fabs(a - b));
  to.scale = std::max(to.scale, std::fabs(b));
}

void compare(const Value &a, const Value &b, Distance &to) {
  if (a.kind != b.kind || a.extents != b.extents || a.data.size() != b.data.size() ||
      a.elements.size() != b.elements.size()) {
    to.difference = infinity;
    return;
  }
  switch (a.kind) {
  case Value::Kind::Number:
    return compare(a.number, b.number, false, to);
  case Value::Kind::Int:
  case Value::Kind::Bool:
  case Value::Kind::Node:
    return compare(a.number, b.number, true, to);
  case Value::Kind::Tensor:
    for (size_t i = 0; i < a.data.size(); ++i)
      compare(a.data[i], b.data[i], a.element != Value::Kind::Number || b.element != Value::Kind::Number, to);
    return;
  case Value::Kind::List:
    for (size_t i = 0; i < a.elements.size(); ++i)
      compare(a.elements[i], b.elements[i], to);
    return;
  case Value::Kind::Tuple:
  case Value::Kind::Record:
    to.elements.resize(std::max(to.elements.size(), a.elements.size()));
    for (size_t i = 0; i < a.elements.size(); ++i)
      compare(a.elements[i], b.elements[i], to.elements[i]);
  }
}

} // namespace

void append_json(std::string &to, const Value &value, const TypeInfo &type, Real real) {
  switch (type.form) {
  case TypeInfo::Form::Value: {
    if (type.extents.empty())
      return append_number(to, value.number, type.elem, real);
    size_t at = 0;
    return append_tensor(to, value, type.elem, real, 0, at);
  }
  case TypeInfo::Form::List:
  case TypeInfo::Form::Tuple:
    to += '[';
    for (size_t i = 0; i < value.elements.size(); ++i) {
      if (i)
        to += ", ";
      append_json(to, value.elements[i], type.elements[type.form == TypeInfo::Form::List ? 0 : i], real);
    }
    to += ']';
    return;
  case TypeInfo::Form::Record:
    to += '{';
    for (size_t i = 0; i < value.elements.size(); ++i) {
      if (i)
        to += ", ";
      io::append_string(to, type.names[i]);
      to += ": ";
      append_json(to, value.elements[i], type.elements[i], real);
    }
    to += '}';
  }
}

std::string to_json(const Value &value, const TypeInfo &type, Real real) {
  std::string text;
  append_json(text, value, type, real);
  return text;
}

std::string error_json(const Status &status) {
  std::string text = "{\"error\": {\"code\": ";
  io::append_string(text, code_name(status.code));
  text += ", \"message\": ";
  io::append_string(text, status.message);
  text += ", \"node\": ";
  if (status.node >= 0)
    io::append_int(text, status.node);
  else
    text += "null";
  text += ", \"field\": ";
  if (status.field.empty())
    text += "null";
  else
    io::append_string(text, status.field);
  return text + "}}";
}

double max_error(const Value &a, const Value &b) {
  Distance total;
  compare(a, b, total);
  return total.worst();
}

} // namespace dbc
