// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenInfo.h"

using namespace mlir;

namespace dbc::passes {

bool ListInfo::isStructural() const {
  From from = leaf().from;
  return from == From::Range || from == From::Items || from == From::Column;
}

bool ListInfo::sameSource(const ListInfo &o) const {
  return from == o.from && stride == o.stride && array == o.array && of == o.of && via == o.via &&
         element == o.element && firsts == o.firsts && lastEnds == o.lastEnds && lengths == o.lengths &&
         (!inner || inner->sameSource(*o.inner));
}

ListInfo ListInfo::carriedBy(StringRef loop) const {
  ListInfo list = *this;
  if (inner)
    list.inner = std::make_shared<ListInfo>(inner->carriedBy(loop));
  list.carried = loop.str();
  return list;
}

AbstractValue AbstractValue::structural(Value value) {
  AbstractValue result;
  result.kind = Kind::Structural;
  result.scalar = value;
  return result;
}

AbstractValue AbstractValue::stored(std::string array, Value row, std::string carried) {
  AbstractValue result;
  result.kind = Kind::Stored;
  result.scalar = row;
  result.array = std::move(array);
  result.carried = std::move(carried);
  return result;
}

AbstractValue AbstractValue::model(Value origin) {
  AbstractValue result;
  result.kind = Kind::Model;
  result.scalar = origin;
  return result;
}

AbstractValue AbstractValue::of(ListInfo list) {
  AbstractValue result;
  result.kind = Kind::List;
  result.list = std::move(list);
  return result;
}

void SpaceInfo::addColumn(std::string name) {
  auto [taken, isNew] = numbers.try_emplace(name, 1);
  if (!isNew) {
    std::string base = name;
    int &number = taken->second;
    do
      name = base + std::to_string(++number);
    while (!numbers.try_emplace(name, 1).second);
  }
  columns.push_back(std::move(name));
}

} // namespace dbc::passes
