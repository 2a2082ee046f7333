// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reading surface types.
#include "codegen/common/Surface.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

int64_t Element::size() const {
  int64_t n = 1;
  for (int64_t e : extents)
    n *= e;
  return n;
}

Element element(Type type) {
  Element e;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    e = element(tensor.getElementType());
    e.extents = tensor.getShape().vec();
  } else if (auto tensor = dyn_cast<dyn::IndexTensorType>(type)) {
    e.elem = Elem::Index;
    e.bound = tensor.getBound();
    e.extents = tensor.getExtents().vec();
  } else if (auto index = dyn_cast<dyn::IndexType>(type)) {
    e.elem = Elem::Index;
    e.bound = index.getBound();
  } else if (auto node = dyn_cast<dyn::NodeType>(type)) {
    e.elem = Elem::Node;
    e.data = node.getData().getValue().str();
  } else if (type.isInteger(1)) {
    e.elem = Elem::Bool;
  } else if (type.isInteger(32)) {
    e.elem = Elem::Int;
  } else {
    assert(type.isF32() && "not an element of a surface type");
  }
  return e;
}

static void flattenInto(Type type, const std::string &path, int depth, std::vector<Component> &components) {
  auto below = [&](StringRef name) { return path.empty() ? name.str() : path + "." + name.str(); };
  if (auto list = dyn_cast<dyn::ListType>(type)) {
    flattenInto(list.getElement(), path, depth + 1, components);
  } else if (auto record = dyn_cast<dyn::RecordType>(type)) {
    for (auto [name, field] : llvm::zip(record.getNames(), record.getTypes()))
      flattenInto(field, below(cast<StringAttr>(name).getValue()), depth, components);
  } else if (auto tuple = dyn_cast<TupleType>(type)) {
    for (auto [number, element] : llvm::enumerate(tuple.getTypes()))
      flattenInto(element, below(utostr(number)), depth, components);
  } else {
    components.push_back({path, element(type), depth});
  }
}

std::vector<Component> flatten(Type surface, StringRef name) {
  std::vector<Component> components;
  flattenInto(surface, name.str(), 0, components);
  return components;
}

Type componentType(const Component &component, MLIRContext *context) {
  const Element &e = component.element;
  Builder builder(context);
  Type type;
  switch (e.elem) {
  case Elem::Index:
    type = e.scalar() ? Type(dyn::IndexType::get(context, e.bound))
                      : Type(dyn::IndexTensorType::get(context, e.bound, e.extents));
    break;
  case Elem::Int:
    type = builder.getI32Type();
    break;
  case Elem::Bool:
    type = builder.getI1Type();
    break;
  case Elem::F32:
    type = builder.getF32Type();
    break;
  case Elem::Node:
    type = dyn::NodeType::get(context, FlatSymbolRefAttr::get(context, e.data));
    break;
  }
  if (!e.scalar() && e.elem != Elem::Index)
    type = RankedTensorType::get(e.extents, type);
  for (int depth = 0; depth < component.depth; ++depth)
    type = dyn::ListType::get(context, type);
  return type;
}

std::string spelling(Type type) {
  if (auto list = dyn_cast<dyn::ListType>(type))
    return "[" + spelling(list.getElement()) + "]";
  if (auto record = dyn_cast<dyn::RecordType>(type))
    return record.getName().getValue().str();
  if (auto tuple = dyn_cast<TupleType>(type)) {
    std::vector<std::string> elements;
    for (Type element : tuple.getTypes())
      elements.push_back(spelling(element));
    return "(" + join(elements, ", ") + ")";
  }
  Element e = element(type);
  std::string out;
  switch (e.elem) {
  case Elem::Index:
    out = "index[" + std::to_string(e.bound) + "]";
    break;
  case Elem::Int:
    out = "int";
    break;
  case Elem::Bool:
    out = "bool";
    break;
  case Elem::F32:
    out = "f32";
    break;
  case Elem::Node:
    out = e.data;
    break;
  }
  if (e.scalar())
    return out;
  std::vector<std::string> extents;
  for (int64_t extent : e.extents)
    extents.push_back(std::to_string(extent));
  return out + "[" + join(extents, ", ") + "]";
}

} // namespace dbc::codegen
