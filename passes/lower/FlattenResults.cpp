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
      inLists.insert(result.list.innermost().array);
  for (auto [k, value] : llvm::enumerate(op->getOperands())) {
    AbstractValue result = env.lookup(value);
    if (result.is(Kind::List)) {
      returnList(op.getLoc(), k, result.list, at);
      continue;
    }
    std::string target = addTarget(op, k, at.indexSet);
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
std::string Results::addTarget(dyn::ReturnOp op, unsigned component, IndexSetInfo *indexSet) {
  if (dyn::CellOp cell = structure.ownerCell())
    return cells[cell.getSymNameAttr()].results[component];
  std::string name = op->getNumOperands() == 1 ? "result" : "result." + std::to_string(component);
  std::string target = program.addBuffer(name, indexSet, op->getOperand(component).getType());
  program.addOutput(op.getLoc(), component, target, 0, /*active=*/false);
  return target;
}

void Results::returnList(Location loc, unsigned component, const ListInfo &list, RowContext at) {
  dyn::CellOp cell = structure.ownerCell();
  if (!cell)
    return outputList(loc, component, list, at, 1);
  CellInfo &mine = cells[cell.getSymNameAttr()];
  mine.lists[component] = list;
  mine.firsts[component] = stages.indexArray(at.indexSet, list.first, "first");
  mine.lengths[component] = stages.indexArray(at.indexSet, list.length, "length");
}

/// A list that an entry returns: an index set of its own, so that its rows stand in the outputs' order.
void Results::outputList(Location loc, unsigned component, const ListInfo &list, RowContext at,
                         unsigned depth) {
  std::string name = component ? "result." + std::to_string(component) : "result";
  IndexSetInfo *indexSet =
      program.addIndexSet(loc, name + ".list", kernel::IndexSetKind::Elements, at.indexSet);
  std::string buffer;
  if (list.from != ListInfo::From::Lists) {
    Type flat = list.element;
    if (isa<dyn::NodeType>(flat))
      flat = structure.builder().getI32Type();
    buffer = program.addBuffer(name, indexSet, flat);
    program.addOutput(loc, component, buffer, depth, /*active=*/list.ends());
  }
  structure.reserveMemory(loc, list.length, indexSet);
  stages.rows(loc, indexSet, list.length, at, [&](RowContext inner, Value j) {
    stages.keepElement(loc, indexSet, list, j);
    AbstractValue element = lists.element(list, j);
    if (buffer.empty())
      outputList(loc, component, element.list, inner, depth + 1);
    else
      stages.write(loc, Value(), element, buffer, inner);
  });
}

} // namespace dbc::passes
