// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Checking values of an instance, see InstanceCheck.h.
#include "InstanceCheck.h"
#include "JsonText.h"
#include "Nearest.h"

#include <cmath>
#include <cstring>
#include <dbc/counted.h>
#include <limits>

namespace dbc::io {

float token_f32(const Schema &schema, const Token &t) {
  switch (t.kind) {
  case Json::Int:
    return static_cast<float>(t.integer);
  case Json::Float: {
    float f;
    std::memcpy(&f, &t.extra, sizeof f);
    return f;
  }
  default:
    return t.extra == schema.nan   ? std::numeric_limits<float>::quiet_NaN()
           : t.extra == schema.inf ? std::numeric_limits<float>::infinity()
                                   : -std::numeric_limits<float>::infinity();
  }
}

std::string ValueCheck::shown_token(uint64_t i) const {
  const Token &t = tape_[i];
  switch (t.kind) {
  case Json::Null:
    return "null";
  case Json::True:
    return "true";
  case Json::False:
    return "false";
  case Json::Int:
    return std::to_string(t.integer);
  case Json::Float: {
    std::string text;
    append_f64(text, t.number);
    // An integer written with a point shows as it was meant to be read.
    if (!t.integral && text.find_first_of(".en") == std::string::npos)
      text += ".0";
    return text;
  }
  case Json::String:
  case Json::Key:
    return "the string \"" + shown(tape_.text(t), 30) + "\"";
  case Json::Object:
    return "an object";
  case Json::Array:
    return "an array of " + std::to_string(t.extra);
  }
  return "";
}

bool ValueCheck::integer(uint64_t i, const std::string &wanted) {
  const Token &t = tape_[i];
  if (t.kind == Json::Float && !t.integral)
    return fail(shown_token(i) + " is not an integer; " + wanted + " is written without point and exponent");
  if (t.kind == Json::Float || (t.kind == Json::Int && (t.integer < std::numeric_limits<int32_t>::min() ||
                                                        t.integer > std::numeric_limits<int32_t>::max())))
    return fail(shown_token(i) + " is beyond 32 bits; " + wanted + " is expected");
  if (t.kind != Json::Int)
    return fail("expected " + wanted + ", found " + shown_token(i));
  return true;
}

bool ValueCheck::number(const TypeInfo &type, uint64_t i) {
  const Token &t = tape_[i];
  switch (type.elem) {
  case Elem::Index: {
    if (t.kind == Json::Int && t.integer >= 0 && t.integer < type.bound)
      return true; // nearly always: before any words are made
    TypeInfo scalar = type;
    scalar.extents.clear();
    std::string name = type_name(schema_.model, scalar);
    if (!integer(i, "an " + name))
      return false;
    return fail(std::to_string(t.integer) + " is out of range for " + name);
  }
  case Elem::Int:
    if (t.kind == Json::Int && t.integer == static_cast<int32_t>(t.integer))
      return true;
    return integer(i, "an int");
  case Elem::Bool:
    return t.kind == Json::True || t.kind == Json::False ||
           fail("expected true or false, found " + shown_token(i));
  case Elem::F32:
    if (t.kind == Json::Int)
      return true;
    if (t.kind == Json::Float)
      return std::isfinite(token_f32(schema_, t)) || fail(shown_token(i) + " is out of range for f32");
    if (t.kind == Json::String &&
        (t.extra == schema_.nan || t.extra == schema_.inf || t.extra == schema_.minus_inf))
      return true;
    return fail("expected a number, found " + shown_token(i));
  case Elem::Node: {
    size_t count = table_->size();
    if (t.kind == Json::Int && t.integer >= 0 && t.integer < static_cast<int64_t>(count) &&
        (*table_)[static_cast<size_t>(t.integer)].data == type.data)
      return true;
    const std::string &wanted = schema_.model.datas[type.data].name;
    if (!integer(i, "the number of a " + wanted + " in \"nodes\""))
      return false;
    if (t.integer < 0 || t.integer >= static_cast<int64_t>(count))
      return fail("there is no node " + std::to_string(t.integer) + ", the line has " +
                  counted(count, "node"));
    Constructor c = (*table_)[static_cast<size_t>(t.integer)];
    std::string type = schema_.model.datas[c.data].name, kind = schema_.node_name(c);
    return fail("node " + std::to_string(t.integer) + " is of type " + type +
                (kind == type ? "" : " (" + kind + ")") + ", not " + wanted);
  }
  }
  return false;
}

bool ValueCheck::tensor(const TypeInfo &type, size_t axis, uint64_t i) {
  if (axis == type.extents.size())
    return number(type, i);
  const Token &t = tape_[i];
  if (t.kind != Json::Array || t.extra != static_cast<uint64_t>(type.extents[axis]))
    return fail("expected an array of " + std::to_string(type.extents[axis]) + " for axis " +
                std::to_string(axis) + " of " + type_name(schema_.model, type) + ", found " + shown_token(i));
  uint64_t at = i + 1;
  for (uint32_t k = 0; k < t.extra; ++k, at = tape_.next(at))
    if (!tensor(type, axis + 1, at))
      return inside("[" + std::to_string(k) + "]");
  return true;
}

bool ValueCheck::record(const TypeInfo &type, uint64_t i) {
  const Token &t = tape_[i];
  if (t.kind != Json::Object)
    return fail("expected an object, a " + type.name + ", found " + shown_token(i));
  std::vector<bool> seen(type.names.size());
  for (uint64_t at = i + 1; at < t.end; at = tape_.next(at + 1)) {
    std::string key(tape_.text(tape_[at]));
    size_t field = 0;
    while (field < type.names.size() && type.names[field] != key)
      ++field;
    if (field == type.names.size())
      return fail(type.name + " has no field `" + shown(key) + "`" + hint(key, type.names, "its fields are"));
    if (seen[field])
      return fail("field `" + key + "` of " + type.name + " stands twice");
    seen[field] = true;
    if (!value(type.elements[field], at + 1))
      return inside("." + key);
  }
  for (size_t field = 0; field < seen.size(); ++field)
    if (!seen[field])
      return fail("field `" + type.names[field] + "` of " + type.name + " is missing");
  return true;
}

bool ValueCheck::value(const TypeInfo &type, uint64_t i) {
  const Token &t = tape_[i];
  switch (type.form) {
  case TypeInfo::Form::Value:
    return tensor(type, 0, i);
  case TypeInfo::Form::Record:
    return record(type, i);
  case TypeInfo::Form::List:
    if (t.kind != Json::Array)
      return fail("expected an array, a list " + type_name(schema_.model, type) + ", found " +
                  shown_token(i));
    break;
  case TypeInfo::Form::Tuple:
    if (t.kind != Json::Array || t.extra != type.elements.size())
      return fail("expected an array of " + std::to_string(type.elements.size()) + ", a tuple " +
                  type_name(schema_.model, type) + ", found " + shown_token(i));
    break;
  }
  uint64_t at = i + 1;
  for (uint32_t k = 0; k < t.extra; ++k, at = tape_.next(at))
    if (!value(type.elements[type.form == TypeInfo::Form::List ? 0 : k], at))
      return inside("[" + std::to_string(k) + "]");
  return true;
}

} // namespace dbc::io
