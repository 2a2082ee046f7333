// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenCopies.h"

using namespace mlir;

namespace dbc::passes {

ListCopies::Target ListCopies::addTarget(Location loc, const ListInfo &list, bool structural,
                                         const std::string &name, RowContext at) {
  Target target;
  if (list.inner) {
    target.rows = lists.addBounds(loc, name);
    target.inner = std::make_shared<Target>(addTarget(loc, *list.inner, structural, name, at));
  } else if (structural) {
    target.rows = program.addIndexSet(loc, name, kernel::IndexSetKind::States, nullptr);
    target.rows->addArray(isa<dyn::NodeType>(list.element) ? "node" : "value");
    target.rows->used = true;
  } else if (structure.isIndex()) {
    IndexSetInfo *rows = program.addIndexSet(loc, name, kernel::IndexSetKind::States, at.indexSet);
    rows->used = true;
    target.buffer = program.addBuffer(name, rows, list.element);
  }
  return target;
}

ListInfo ListCopies::copyTo(Location loc, const ListInfo &list, const Target &target, RowContext at) {
  if (target.inner)
    return lists.listOfLists(loc, target.rows, list.length, list.element, [&](Value j) {
      return copyTo(loc, lists.element(list, j).list, *target.inner, at);
    });
  if (target.rows)
    return copyStructural(loc, list, target.rows);
  return structure.isIndex() ? copyComputed(loc, list, target.buffer, at) : lists.lengthsOf(list);
}

ListInfo ListCopies::copyStructural(Location loc, const ListInfo &list, const IndexSetInfo *target) {
  ListInfo copy = ListInfo::ofIndexArray(*target, target->arrays[0]);
  copy.element = list.element;
  copy.length = list.length;
  copy.first = structure.count(loc, target);
  structure.reserveMemory(loc, list.length, target);
  structure.loop(loc, list.length, [&](Value j) {
    structure.push(loc, target, structure.asIndex(lists.element(list, j).scalar));
  });
  return copy;
}

/// Copies into rows of `buffer`, reserved here.
ListInfo ListCopies::copyComputed(Location loc, const ListInfo &list, StringRef buffer, RowContext at) {
  ListInfo copy = reserveRows(loc, list, buffer, list.length);
  copyInto(loc, list, copy, at);
  return copy;
}

ListInfo ListCopies::reserveRows(Location loc, const ListInfo &like, StringRef buffer, Value rows) {
  ListInfo list;
  list.from = ListInfo::From::Rows;
  list.array = buffer.str();
  list.element = like.element;
  list.length = like.length;
  structure.reserveMemory(loc, rows, program.indexSetOf(buffer));
  list.first = structure.reserve(loc, program.indexSetOf(buffer), rows);
  return list;
}

ListInfo ListCopies::reserve(Location loc, const ListInfo &like, const Target &target, Value times) {
  if (target.inner)
    return lists.listOfLists(
        loc, target.rows, like.length, like.element,
        [&](Value j) { return reserve(loc, lists.element(like, j).list, *target.inner, {}); }, times);
  Value rows = times ? structure.checked(loc, dyn::IntKind::Mul, times, like.length) : like.length;
  return reserveRows(loc, like, target.buffer, rows);
}

void ListCopies::copyInto(Location loc, const ListInfo &list, const ListInfo &to, RowContext at) {
  if (list.inner) {
    structure.loop(loc, list.length, [&](Value j) {
      AbstractValue source = lists.element(list, j), target = lists.element(to, j);
      copyInto(loc, source.list, target.list, at);
    });
    return;
  }
  assert(!list.ends() && "the checker lets no list be copied whose length is computed");
  IndexSetInfo *copies =
      program.addIndexSet(loc, at.indexSet->name + ".copy", kernel::IndexSetKind::Elements, at.indexSet);
  stages.rows(loc, copies, list.length, at, [&](RowContext inner, Value j) {
    AbstractValue element = lists.element(list, j);
    stages.write(loc, Value(), element, to.array, inner, structure.add(to.first, j));
  });
}

ListInfo ListCopies::asComputed(Operation *op, const ListInfo &list, RowContext at) {
  std::string name = StageWriter::label(op, at) + ".list";
  IndexSetInfo *rows = program.addIndexSet(op->getLoc(), name, kernel::IndexSetKind::States, at.indexSet);
  rows->used = true;
  ListInfo all = list;
  all.end = {}; // also what a `while` leaves out
  ListInfo copy = copyComputed(op->getLoc(), all, program.addBuffer(name, rows, list.element), at);
  copy.end = list.end;
  return copy;
}

} // namespace dbc::passes
