// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/dyn/CallSharing.h"
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Recursion.h"
#include "passes/dyn/Varying.h"

using namespace mlir;

namespace dbc::passes {

CallSharing::CallSharing(ModuleOp module) {
  SymbolTable names(module);
  auto cellOf = [&](StringAttr name) { return names.lookup<dyn::CellOp>(name); };
  for (auto [number, cells] : llvm::enumerate(dyn::recursions(module, cellOf)))
    for (dyn::CellOp cell : cells)
      recursion[cell.getSymNameAttr()] = number;
}

/// Elements of one binder, and its states, come and go together: the first stands for all.
static Value variableOf(BlockArgument argument) {
  Operation *op = argument.getOwner()->getParentOp();
  return dyn::isBinder(op) ? argument.getOwner()->getArgument(0) : argument;
}

CallSharing::Sources CallSharing::sourcesOf(ValueRange values) {
  Sources sources;
  llvm::SetVector<Value> made(values.begin(), values.end());
  for (size_t n = 0; n < made.size(); ++n) { // grows while it is walked
    Value value = made[n];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      sources.keys.insert(variableOf(argument));
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto field = dyn_cast<dyn::FieldOp>(op))
      sources.follows |= isa<dyn::NodeType>(value.getType()) && value.getType() != field.getNode().getType();
    op->walk([&](Operation *inner) { made.insert(inner->operand_begin(), inner->operand_end()); });
  }
  return sources;
}

Readers CallSharing::readersOf(dyn::CallOp call) const {
  // What the caller is repeated for: its keys, and the elements of the binders around the call.
  SmallVector<Value> repeated;
  dyn::CellOp caller;
  SmallVector<Operation *> binders;
  for (Operation *around = call->getParentOp(); around; around = around->getParentOp()) {
    if (dyn::isBinder(around) && !isOnceAtMost(around))
      binders.push_back(around);
    if (auto cell = dyn_cast<dyn::CellOp>(around))
      caller = cell;
  }
  if (caller)
    llvm::append_range(repeated, caller.getKeys());
  for (Operation *binder : binders)
    repeated.push_back(binder->getRegion(0).getArgument(0));

  Sources used = sourcesOf(call.getKeys());
  // What the lists are made from that the used elements stand in.
  llvm::SmallSetVector<Value, 8> behind;
  bool ofSteps = false;             // elements of a range
  for (Operation *binder : binders) // inner ones first
    if (Value element = binder->getRegion(0).getArgument(0);
        used.keys.contains(element) || behind.contains(element)) {
      Sources lists = sourcesOf(dyn::listsOf(binder));
      behind.insert(lists.keys.begin(), lists.keys.end());
      ofSteps |= element.getType().isInteger(32);
    }
  bool references = used.follows;
  for (Value each : repeated) {
    if (used.keys.contains(each))
      continue;
    if (!behind.contains(each))
      return Readers::Repeated;
    references = true;
  }
  if (!references)
    return Readers::One;
  // A number that is not passed on unchanged: a step, or a position.
  auto isStep = [](Value key) { return key.getType().isInteger(32) && !isa<BlockArgument>(key); };
  auto inside = caller ? recursion.find(caller.getSymNameAttr()) : recursion.end();
  bool same = inside != recursion.end() && inside->second == recursion.lookup(call.getCalleeAttr().getAttr());
  return same && llvm::none_of(call.getKeys(), isStep) && !ofSteps ? Readers::Parent : Readers::References;
}

} // namespace dbc::passes
