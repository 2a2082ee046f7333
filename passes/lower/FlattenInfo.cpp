// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenInfo.h"

using namespace mlir;

namespace dbc::passes {

ListInfo ListInfo::ofColumn(const SpaceInfo &space, std::string column) {
  ListInfo list;
  list.from = From::Column;
  list.of = space.name;
  list.via = std::move(column);
  return list;
}

ListInfo ListInfo::ofLists(const ListInfo &inner, const SpaceInfo &space, std::string firsts,
                           std::string lengths) {
  assert(!inner.ends() && "the checker lets no element be a list whose length is computed");
  ListInfo list;
  list.from = From::Lists;
  list.inner = std::make_shared<ListInfo>(inner);
  list.of = space.name;
  list.firsts = std::move(firsts);
  list.lengths = std::move(lengths);
  return list;
}

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
