// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Lists whose elements are put into rows of their own: those of arms that lie in different places, those that
// computed numbers are read from, and results of entries.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/lower/FlattenWalk.h"

using namespace mlir;

namespace dbc::passes {

/// A space whose rows are elements of structural lists, copied.
SpaceInfo *Walk::copiesOf(Location loc, const ListInfo &list, StringRef name) {
  SpaceInfo *space = program.addSpace(loc, name, kernel::SpaceKind::States, nullptr);
  space->addColumn(isa<dyn::NodeType>(list.element) ? "node" : "value");
  space->used = true;
  return space;
}

ListInfo Walk::copyStructural(Location loc, const ListInfo &list, SpaceInfo *copies) {
  ListInfo copy;
  copy.from = From::Column;
  copy.of = copies->name;
  copy.via = copies->columns[0];
  copy.element = list.element;
  copy.length = list.length;
  copy.first = kernel::CountOp::create(b, loc, b.getI32Type(), copies->name);
  structure.claim(loc, list.length, copies);
  structure.loop(loc, list.length, [&](Value j) {
    kernel::PushOp::create(b, loc, copies->name, structure.asColumn(element(list, j).scalar));
  });
  return copy;
}

/// Copies into rows of `buffer`, reserved here.
ListInfo Walk::copyComputed(Location loc, const ListInfo &list, StringRef buffer, RowContext at) {
  ListInfo copy;
  copy.from = From::Rows;
  copy.array = buffer;
  copy.element = list.element;
  copy.length = list.length;
  structure.claim(loc, list.length, program.spaceOf(buffer));
  copy.first = kernel::ReserveOp::create(b, loc, b.getI32Type(), program.spaceOf(buffer)->name, list.length);
  copyRows(loc, list, copy, at);
  return copy;
}

/// The elements of `list` into the rows that `copy` is made of.
void Walk::copyRows(Location loc, const ListInfo &list, const ListInfo &copy, RowContext at) {
  assert(!list.ends() && "the checker lets no list be copied whose length is computed");
  SpaceInfo *copies = program.addSpace(loc, at.space->name + ".copy", kernel::SpaceKind::Elements, at.space);
  structure.loop(loc, list.length, [&](Value j) {
    RowContext inner{copies, kernel::CountOp::create(b, loc, b.getI32Type(), copies->name)};
    stages.column(copies, at.row, "parent");
    stages.write(loc, Value(), element(list, j), copy.array, inner, structure.add(copy.first, j));
    stages.push(inner);
  });
}

/// A structural list as one that stages read.
ListInfo Walk::asComputed(Operation *op, const ListInfo &list, RowContext at) {
  std::string name = stages.label(op, at) + ".list";
  SpaceInfo *rows = program.addSpace(op->getLoc(), name, kernel::SpaceKind::States, at.space);
  rows->used = true;
  ListInfo all = list, copy;
  all.end.live.clear(); // also what a `while` leaves out
  copy = copyComputed(op->getLoc(), all, program.addBuffer(name, rows, list.element), at);
  copy.end.live = list.end.live;
  copy.end.count = list.end.count;
  copy.end.taken = list.end.taken;
  copy.end.owner = list.end.owner;
  copy.end.atEnd = list.end.atEnd;
  return copy;
}

/// Where lists of one type are copied to that lie in different places. In the walk that writes calls of
/// computed elements only the number counts.
Walk::Copies Walk::copiesFor(Location loc, const ListInfo &list, bool structural, const std::string &name,
                             RowContext at) {
  Copies copies;
  if (list.inner) {
    copies.rows = program.addSpace(loc, name + ".bounds", kernel::SpaceKind::States, nullptr);
    for (const char *bound : {"first", "length"})
      copies.rows->addColumn(bound);
    copies.rows->used = true;
    copies.inner = std::make_shared<Copies>(copiesFor(loc, *list.inner, structural, name, at));
  } else if (structural) {
    copies.rows = copiesOf(loc, list, name);
  } else if (structure.isIndex()) {
    SpaceInfo *rows = program.addSpace(loc, name, kernel::SpaceKind::States, at.space);
    rows->used = true;
    copies.buffer = program.addBuffer(name, rows, list.element);
  }
  return copies;
}

ListInfo Walk::copyTo(Location loc, const ListInfo &list, const Copies &copies, RowContext at) {
  if (copies.inner) {
    SpaceInfo *bounds = copies.rows;
    Value first = kernel::CountOp::create(b, loc, b.getI32Type(), bounds->name);
    structure.claim(loc, list.length, bounds);
    ListInfo inner;
    structure.loop(loc, list.length, [&](Value j) {
      inner = copyTo(loc, element(list, j).list, *copies.inner, at);
      kernel::PushOp::create(b, loc, bounds->name, ValueRange{inner.first, inner.length});
    });
    ListInfo copy = ListInfo::ofLists(inner, *bounds, "first", "length");
    copy.element = list.element;
    copy.first = first;
    copy.length = list.length;
    return copy;
  }
  if (copies.rows)
    return copyStructural(loc, list, copies.rows);
  if (structure.isIndex())
    return copyComputed(loc, list, copies.buffer, at);
  ListInfo copy = list;
  copy.from = From::Rows;
  copy.first = structure.integer(0);
  copy.stride = 1;
  return copy;
}

/// Lists that are result n of the arms of `op`: where they lie in different places, each arm copies its own
/// to a common one.
void Walk::joinLists(Operation *op, unsigned n, std::vector<Arm> &arms, RowContext at) {
  const ListInfo &one = arms[0].yields[n].list;
  if (llvm::all_of(arms, [&](Arm &arm) { return arm.yields[n].list.sameSource(one); }))
    return;
  bool structural = llvm::all_of(arms, [&](Arm &arm) { return arm.yields[n].list.isStructural(); });
  Copies copies =
      copiesFor(op->getLoc(), one, structural, (at.space ? at.space->name + "." : "") + "list", at);
  for (Arm &arm : arms) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(arm.block);
    ListInfo &list = arm.yields[n].list;
    list = copyTo(op->getLoc(), list, copies, arm.at);
  }
}

/// A list that an entry returns: a space of its own, so that its rows stand in the outputs' order.
void Walk::returnList(Location loc, unsigned leaf, const ListInfo &list, RowContext at, unsigned depth) {
  std::string name = leaf ? "result." + std::to_string(leaf) : "result";
  SpaceInfo *space = program.addSpace(loc, name + ".list", kernel::SpaceKind::Elements, at.space);
  std::string buffer;
  if (list.from != From::Lists) {
    Type flat = isa<dyn::NodeType>(list.element) ? Type(b.getI32Type()) : list.element;
    buffer = program.addBuffer(name, space, flat);
    program.addOutput(loc, leaf, buffer, depth, /*kept=*/list.ends());
  }
  structure.claim(loc, list.length, space);
  structure.loop(loc, list.length, [&](Value j) {
    RowContext inner{space, kernel::CountOp::create(b, loc, b.getI32Type(), space->name)};
    stages.column(space, at.row, "parent");
    stages.keepElement(loc, space, list, j);
    if (buffer.empty())
      returnList(loc, leaf, element(list, j).list, inner, depth + 1);
    else
      stages.write(loc, Value(), element(list, j), buffer, inner);
    stages.push(inner);
  });
}

} // namespace dbc::passes
