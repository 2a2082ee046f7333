// Making, comparing and printing types; look-ups in what declarations mean.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Types.h"

#include <functional>
#include <tuple>

namespace dbc::frontend {

namespace {

template <typename T> int positionOf(const std::vector<T> &items, const std::string &name) {
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].name == name)
      return static_cast<int>(i);
  return -1;
}

std::string shapeList(const std::vector<Shape> &shapes) {
  std::string out;
  for (const Shape &shape : shapes)
    out += (out.empty() ? "" : ", ") + shape.str();
  return "[" + out + "]";
}

/// `nn.State`: as a file that imports the module writes it.
std::string qualified(const File *file, const std::string &name) {
  return file && file->isModule ? file->name.text + "." + name : name;
}

std::string scalarName(const Type &type) {
  switch (type.scalar) {
  case Scalar::F32:
    return "f32";
  case Scalar::Int:
  case Scalar::IntLiteral:
    return "int";
  case Scalar::FloatLiteral:
    return "f32";
  case Scalar::Bool:
    return "bool";
  case Scalar::Index:
    return "index[" + type.bound.str() + "]";
  }
  return "";
}

} // namespace

std::string Type::str() const {
  switch (kind) {
  case Kind::Error:
  case Kind::Unknown:
    return "?";
  case Kind::Number:
    return scalarName(*this) + (extents.empty() ? "" : shapeList(extents));
  case Kind::Data:
    return data->name;
  case Kind::Record:
    return qualified(record->file, record->name) + (arguments.empty() ? "" : shapeList(arguments));
  case Kind::Layer:
    return qualified(layer->file, layer->name) + (arguments.empty() ? "" : shapeList(arguments));
  case Kind::List:
    return element->kind == Kind::Unknown ? "[]" : "[" + element->str() + "]";
  case Kind::Table:
    return "[" + element->str() + "; " + count.str() + "]";
  case Kind::Tuple: {
    std::string out;
    for (const Type *each : elements)
      out += (out.empty() ? "" : ", ") + each->str();
    return "(" + out + ")";
  }
  }
  return "";
}

//===--------------------------------------------------------------------===//
// TypeContext
//===--------------------------------------------------------------------===//

// The order is that of a set of unique objects and never shows: pointers may take part in it.
bool TypeContext::Less::operator()(const Type &a, const Type &b) const {
  auto key = [](const Type &t) {
    return std::tie(t.kind, t.scalar, t.bound, t.extents, t.data, t.record, t.layer, t.arguments, t.element,
                    t.count, t.elements);
  };
  return key(a) < key(b);
}

const Type *TypeContext::intern(Type type) { return &*types_.insert(std::move(type)).first; }

const Type *TypeContext::error() { return intern(Type()); }

const Type *TypeContext::unknown() {
  Type type;
  type.kind = Type::Kind::Unknown;
  return intern(std::move(type));
}

const Type *TypeContext::number(Scalar scalar, std::vector<Shape> extents, Shape bound) {
  Type type;
  type.kind = Type::Kind::Number;
  type.scalar = scalar;
  type.extents = std::move(extents);
  if (scalar == Scalar::Index)
    type.bound = std::move(bound);
  return intern(std::move(type));
}

const Type *TypeContext::data(const DataInfo *data) {
  Type type;
  type.kind = Type::Kind::Data;
  type.data = data;
  return intern(std::move(type));
}

const Type *TypeContext::record(const RecordInfo *record, std::vector<Shape> arguments) {
  Type type;
  type.kind = Type::Kind::Record;
  type.record = record;
  type.arguments = std::move(arguments);
  return intern(std::move(type));
}

const Type *TypeContext::layer(const LayerInfo *layer, std::vector<Shape> arguments) {
  Type type;
  type.kind = Type::Kind::Layer;
  type.layer = layer;
  type.arguments = std::move(arguments);
  return intern(std::move(type));
}

const Type *TypeContext::list(const Type *element) {
  Type type;
  type.kind = Type::Kind::List;
  type.element = element;
  return intern(std::move(type));
}

const Type *TypeContext::table(const Type *element, Shape count) {
  Type type;
  type.kind = Type::Kind::Table;
  type.element = element;
  type.count = std::move(count);
  return intern(std::move(type));
}

const Type *TypeContext::tuple(std::vector<const Type *> elements) {
  Type type;
  type.kind = Type::Kind::Tuple;
  type.elements = std::move(elements);
  return intern(std::move(type));
}

const Type *TypeContext::substitute(const Type *type, const DimMap &bindings) {
  if (!type || bindings.empty())
    return type;
  Type result = *type;
  result.bound = type->bound.substitute(bindings);
  result.count = type->count.substitute(bindings);
  for (Shape &extent : result.extents)
    extent = extent.substitute(bindings);
  for (Shape &argument : result.arguments)
    argument = argument.substitute(bindings);
  if (type->element)
    result.element = substitute(type->element, bindings);
  for (const Type *&element : result.elements)
    element = substitute(element, bindings);
  return intern(std::move(result));
}

//===--------------------------------------------------------------------===//
// Look-ups
//===--------------------------------------------------------------------===//

int ConstructorInfo::fieldIndex(const std::string &name) const { return positionOf(fields, name); }
int DataInfo::constructorIndex(const std::string &name) const { return positionOf(constructors, name); }
int RecordInfo::fieldIndex(const std::string &name) const { return positionOf(fields, name); }

const Binding *LayerInfo::member(const std::string &name) const {
  for (const Binding *binding : members)
    if (binding->name == name)
      return binding;
  return nullptr;
}

DimMap LayerInfo::bind(const std::vector<Shape> &arguments) const {
  DimMap map;
  for (size_t i = 0; i < dims.size() && i < arguments.size(); ++i)
    map[dims[i]] = arguments[i];
  return map;
}

bool holds(const Type *type, const std::function<bool(const Type *)> &is) {
  std::set<const Type *> seen = {type};
  std::vector<const Type *> open = {type};
  auto see = [&](const Type *inner) {
    if (inner && seen.insert(inner).second)
      open.push_back(inner);
  };
  while (!open.empty()) {
    const Type *next = open.back();
    open.pop_back();
    if (is(next))
      return true;
    see(next->element);
    for (const Type *element : next->elements)
      see(element);
    if (next->isRecord())
      for (const FieldInfo &field : next->record->fields)
        see(field.type);
  }
  return false;
}

} // namespace dbc::frontend
