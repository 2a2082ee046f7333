// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The order of a stage's code, and its elementwise values. The ops with loops of their own are in
// StageSpecialOps.cpp, scalar expressions in StageExpressions.cpp.
#include "passes/lower/StageToKernel.h"

using namespace mlir;

namespace dbc::passes {

StageToKernel::StageToKernel(batch::StageOp stage, kernel::FuncOp func, kernel::SpaceOp space,
                             const SymbolTable &relations, PackedWeights &packed)
    : RowWriter(stage, func, space, relations), func(func), packed(packed), plan(stage) {}

LogicalResult StageToKernel::run() {
  for (Value value : plan.materialised())
    locals[value] = localFor(value, dyn::extents(value.getType()));
  StageOrder order(plan); // may materialise gates: their scratch is made with their tiles
  blocks([&] { emitAll(order); });
  shareTiles();
  return success(order.isComplete() && !failed_);
}

/// Scratch for a value of each row of the block.
Value StageToKernel::localFor(Value value, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> all{rowsOfBlock()};
  llvm::append_range(all, shape);
  OpBuilder::InsertionGuard guard(b);
  auto at = llvm::find_if(entry(), [](Operation &op) { return !isa<kernel::LocalOp>(op); });
  b.setInsertionPoint(&entry(), at);
  return kernel::LocalOp::create(b, value.getLoc(),
                                 kernel::LocalType::get(b.getContext(), all, dyn::scalar(value.getType())),
                                 kernel::MemoryAttr());
}

void StageToKernel::emitAll(const StageOrder &order) {
  for (const StageStep &step : order.steps()) {
    if (llvm::any_of(step.actions, [&](const Action *action) { return plan.isTiled(*action); }))
      emitTiles(step);
    else if (Operation *op = step.actions[0]->op)
      emitSpecial(op);
    else
      emitGroup(step.actions);
  }
}

void StageToKernel::emitGroup(ArrayRef<const Action *> group) {
  rows([&] {
    inVectors(dyn::extents(group[0]->value.getType()),
              [&](EachElement each) { each([&](ValueRange at) { emitElements(group, at); }); });
  });
}

/// One element of all values of a group.
void StageToKernel::emitElements(ArrayRef<const Action *> group, ValueRange at) {
  cache.clear();
  cacheAt.assign(at.begin(), at.end());
  caching = true;
  // In the order of the program, so that what one needs of another is there.
  for (auto &action : plan.actions()) {
    if (!llvm::is_contained(group, action.get()))
      continue;
    if (plan.isTiled(*action)) {
      for (Value gate : plan.materialised())
        if (plan.productOf(gate) == action->value) {
          cache[gate] = gateElement(gate);
          store(cache[gate], gate, at);
        }
      continue;
    }
    bool mine = plan.computes(*action);
    Value scalar = mine && !cache.count(action->value)
                       ? expression(action->value.getDefiningOp(), action->value, at)
                       : element(action->value, at);
    if (mine) {
      cache[action->value] = scalar;
      store(scalar, action->value, at);
    }
    for (Operation *write : action->writes)
      storeOut(write, scalar, at);
  }
  cache.clear();
  caching = false;
}

void StageToKernel::store(Value scalar, Value value, ValueRange at) {
  SmallVector<Value> indices{i()};
  llvm::append_range(indices, at);
  kernel::WriteOp::create(b, loc, scalar, localOf(value), indices);
}

void StageToKernel::storeOut(Operation *op, Value scalar, ValueRange at) {
  SmallVector<Value> indices;
  StringRef buffer;
  if (auto scatter = dyn_cast<batch::ScatterOp>(op)) {
    buffer = scatter.getBuffer();
    indices.push_back(inMemory(buffer, column(columnOf(scatter))));
  } else {
    buffer = cast<batch::WriteOp>(op).getBuffer();
    indices.push_back(inMemory(buffer, row()));
  }
  llvm::append_range(indices, at);
  kernel::StoreOp::create(b, op->getLoc(), scalar, buffer, indices);
}

Value StageToKernel::localOf(Value value) {
  assert(locals.count(value) && "a materialised value has scratch");
  return locals[value];
}

} // namespace dbc::passes
