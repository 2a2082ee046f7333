// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenLists.h"

using namespace mlir;

namespace dbc::passes {

using From = ListInfo::From;

AbstractValue Lists::fromArray(Location loc, Type type, Value row, ArrayOf array) {
  using kernel::FieldArray;
  OpBuilder &b = structure.builder();
  if (auto list = dyn_cast<dyn::ListType>(type)) {
    std::string begin = array(FieldArray::Begin, 0), end = array(FieldArray::End, 0);
    kernel::RequireOp::create(b, loc, begin, row, dyn::sourceLocation(loc));
    ListInfo info = storedList(list, 0, array);
    info.first = structure.load(loc, b.getI32Type(), begin, row);
    Value last = structure.load(loc, b.getI32Type(), end, row);
    info.length = structure.sub(last, info.first);
    return AbstractValue::of(info);
  }
  std::string symbol = array(FieldArray::Value, 0);
  kernel::RequireOp::create(b, loc, symbol, row, dyn::sourceLocation(loc));
  if (isa<dyn::NodeType>(type) || type.isInteger(32) || type.isInteger(1)) {
    Type loaded = type.isInteger(1) ? Type(b.getI1Type()) : Type(b.getI32Type());
    return AbstractValue::structural(structure.load(loc, loaded, symbol, row));
  }
  return AbstractValue::stored(symbol, row);
}

/// What the elements of a list in the batch are; its bounds are not set.
ListInfo Lists::storedList(dyn::ListType type, int level, ArrayOf array) {
  ListInfo info;
  info.element = type.getElement();
  if (auto inner = dyn_cast<dyn::ListType>(info.element)) {
    info.from = From::Lists;
    info.firsts = array(kernel::FieldArray::Begin, level + 1);
    info.lastEnds = array(kernel::FieldArray::End, level + 1);
    info.inner = std::make_shared<ListInfo>(storedList(inner, level + 1, array));
    return info;
  }
  info.array = array(kernel::FieldArray::Items, 0);
  bool integer = isa<dyn::NodeType>(info.element) || info.element.isInteger(32) || info.element.isInteger(1);
  info.from = integer ? From::Items : From::Rows;
  return info;
}

ListInfo Lists::reachable(Location loc, dyn::NodeType type, Value node) {
  StringRef data = type.getData().getValue();
  IndexSetInfo *indexSet =
      program.addIndexSet(loc, data.str() + ".nodes", kernel::IndexSetKind::States, nullptr);
  indexSet->addArray("node");
  indexSet->used = true;
  OpBuilder &b = structure.builder();
  auto found =
      kernel::CollectNodesOp::create(b, loc, b.getI32Type(), b.getI32Type(), indexSet->name, data, node);
  ListInfo info = ListInfo::ofIndexArray(*indexSet, "node");
  info.first = found.getFirst();
  info.length = found.getLength();
  info.element = type;
  return info;
}

Value Lists::positionRow(const ListInfo &list, Value j) {
  return list.stride == 1 ? structure.add(list.first, j) : structure.sub(list.first, j);
}

AbstractValue Lists::element(const ListInfo &list, Value j) {
  OpBuilder &b = structure.builder();
  Location loc = j.getLoc();
  Type i32 = b.getI32Type();
  auto loaded = [&] { return list.element.isInteger(1) ? Type(b.getI1Type()) : i32; };
  bool computed = list.from == From::Rows || list.from == From::Via;
  if (computed && !structure.isIndex())
    return AbstractValue();
  Value row = positionRow(list, j);
  switch (list.from) {
  case From::Range:
    return AbstractValue::structural(row);
  case From::Items:
    return AbstractValue::structural(structure.load(loc, loaded(), list.array, row));
  case From::IndexArray:
    return AbstractValue::structural(structure.loadIndex(loc, loaded(), list.of, list.via, row));
  case From::Rows:
    return AbstractValue::stored(list.array, row, list.carried);
  case From::Via:
    return AbstractValue::stored(list.array, structure.loadIndex(loc, i32, list.of, list.via, row),
                                 list.carried);
  case From::Lists: {
    ListInfo inner = *list.inner;
    if (!list.lastEnds.empty()) {
      inner.first = structure.load(loc, i32, list.firsts, row);
      Value last = structure.load(loc, i32, list.lastEnds, row);
      inner.length = structure.sub(last, inner.first);
    } else {
      inner.first = structure.loadIndex(loc, i32, list.of, list.firsts, row);
      inner.length = structure.loadIndex(loc, i32, list.of, list.lengths, row);
    }
    return AbstractValue::of(inner);
  }
  }
  llvm_unreachable("all kinds of lists are handled");
}

ListInfo Lists::lengthsOf(ListInfo list) {
  if (list.inner) {
    list.inner = std::make_shared<ListInfo>(lengthsOf(*list.inner));
    return list;
  }
  list.from = From::Rows;
  list.first = structure.integer(0);
  list.stride = 1;
  return list;
}

IndexSetInfo *Lists::addBounds(Location loc, StringRef name) {
  IndexSetInfo *bounds =
      program.addIndexSet(loc, (name + ".bounds").str(), kernel::IndexSetKind::States, nullptr);
  for (const char *bound : {"first", "length"})
    bounds->addArray(bound);
  bounds->used = true;
  return bounds;
}

ListInfo Lists::listOfLists(Location loc, const IndexSetInfo *bounds, Value length, Type type,
                            function_ref<ListInfo(Value)> element, Value times) {
  Value first = structure.count(loc, bounds);
  ListInfo inner;
  auto one = [&] {
    structure.reserveMemory(loc, length, bounds);
    structure.loop(loc, length, [&](Value j) {
      inner = element(j);
      structure.push(loc, bounds, {inner.first, inner.length});
    });
  };
  if (times)
    structure.loop(loc, times, [&](Value) { one(); });
  else
    one();
  ListInfo list = ListInfo::ofLists(inner, *bounds, "first", "length");
  list.element = type;
  list.first = first;
  list.length = length;
  return list;
}

} // namespace dbc::passes
