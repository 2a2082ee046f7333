// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenResults.h"

using namespace mlir;

namespace dbc::passes {

using Kind = AbstractValue::Kind;

void Results::returned(dyn::ReturnOp op, RowContext at) {
  if (!structure.isIndex())
    return;
  llvm::StringMap<std::string> renamed;
  llvm::StringSet<> inLists; // buffers that keep their names
  for (Value value : op->getOperands())
    if (AbstractValue result = env.lookup(value); result.is(Kind::List))
      inLists.insert(result.list.leaf().array);
  for (auto [k, value] : llvm::enumerate(op->getOperands())) {
    AbstractValue result = env.lookup(value);
    if (result.is(Kind::List)) {
      returnList(op.getLoc(), k, result.list, at);
      continue;
    }
    std::string target = addTarget(op, k, at.space);
    // A buffer made here at the same row simply becomes the result.
    if (result.is(Kind::Stored)) {
      if (auto it = renamed.find(result.array); it != renamed.end())
        result.array = it->second;
      if (stages.isOwn(result, at) && !inLists.contains(result.array)) {
        renamed[result.array] = target;
        continue;
      }
    }
    stages.write(op.getLoc(), value, result, target, at);
  }
  stages.rename(renamed);
}

/// The buffer that a result which is no list goes to.
std::string Results::addTarget(dyn::ReturnOp op, unsigned leaf, SpaceInfo *space) {
  if (dyn::CellOp cell = structure.ownerCell())
    return cells[cell.getSymNameAttr()].results[leaf];
  std::string name = op->getNumOperands() == 1 ? "result" : "result." + std::to_string(leaf);
  std::string target = program.addBuffer(name, space, op->getOperand(leaf).getType());
  program.addOutput(op.getLoc(), leaf, target, 0, /*kept=*/false);
  return target;
}

void Results::returnList(Location loc, unsigned leaf, const ListInfo &list, RowContext at) {
  dyn::CellOp cell = structure.ownerCell();
  if (!cell)
    return outputList(loc, leaf, list, at, 1);
  CellInfo &mine = cells[cell.getSymNameAttr()];
  mine.lists[leaf] = list;
  mine.firsts[leaf] = stages.column(at.space, list.first, "first");
  mine.lengths[leaf] = stages.column(at.space, list.length, "length");
}

/// A list that an entry returns: a space of its own, so that its rows stand in the outputs' order.
void Results::outputList(Location loc, unsigned leaf, const ListInfo &list, RowContext at, unsigned depth) {
  std::string name = leaf ? "result." + std::to_string(leaf) : "result";
  SpaceInfo *space = program.addSpace(loc, name + ".list", kernel::SpaceKind::Elements, at.space);
  std::string buffer;
  if (list.from != ListInfo::From::Lists) {
    Type flat = list.element;
    if (isa<dyn::NodeType>(flat))
      flat = structure.builder().getI32Type();
    buffer = program.addBuffer(name, space, flat);
    program.addOutput(loc, leaf, buffer, depth, /*kept=*/list.ends());
  }
  structure.claim(loc, list.length, space);
  stages.rows(loc, space, list.length, at, [&](RowContext inner, Value j) {
    stages.keepElement(loc, space, list, j);
    AbstractValue element = lists.element(list, j);
    if (buffer.empty())
      outputList(loc, leaf, element.list, inner, depth + 1);
    else
      stages.write(loc, Value(), element, buffer, inner);
  });
}

} // namespace dbc::passes
