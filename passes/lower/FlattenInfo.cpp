// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenInfo.h"

using namespace mlir;

namespace dbc::passes {

ListInfo ListInfo::ofIndexArray(const IndexSetInfo &indexSet, std::string array) {
  ListInfo list;
  list.from = From::IndexArray;
  list.of = indexSet.name;
  list.via = std::move(array);
  return list;
}

ListInfo ListInfo::ofLists(const ListInfo &inner, const IndexSetInfo &indexSet, std::string firsts,
                           std::string lengths) {
  assert(!inner.ends() && "the checker lets no element be a list whose length is computed");
  ListInfo list;
  list.from = From::Lists;
  list.inner = std::make_shared<ListInfo>(inner);
  list.of = indexSet.name;
  list.firsts = std::move(firsts);
  list.lengths = std::move(lengths);
  return list;
}

bool ListInfo::isStructural() const {
  From from = innermost().from;
  return from == From::Range || from == From::Items || from == From::IndexArray;
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

void IndexSetInfo::addArray(std::string name) {
  auto [taken, isNew] = numbers.try_emplace(name, 1);
  if (!isNew) {
    std::string base = name;
    int &number = taken->second;
    do
      name = base + std::to_string(++number);
    while (!numbers.try_emplace(name, 1).second);
  }
  arrays.push_back(std::move(name));
}

} // namespace dbc::passes
