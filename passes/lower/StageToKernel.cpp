// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Loops over rows and elements. The ops with loops of their own are in StageSpecialOps.cpp, scalar
// expressions in StageExpressions.cpp.
#include "passes/lower/StageToKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/batch/StageGraph.h"

using namespace mlir;

namespace dbc::passes {

StageToKernel::StageToKernel(batch::StageOp stage, kernel::FuncOp func, kernel::SpaceOp space,
                             const SymbolTable &relations, PackedWeights &packed)
    : stage(stage), func(func), space(space), relations(relations), packed(packed), b(stage.getContext()),
      loc(stage.getLoc()), blockRows(stage.getSchedule() ? stage.getSchedule()->getRows() : 1),
      ordered(space.getKind() == kernel::SpaceKind::Steps || space.getStepsOf() || space.getKept()),
      repeats(mayRepeat(stage)), plan(stage) {}

LogicalResult StageToKernel::run() {
  Block &entry = func.getBody().front();
  b.setInsertionPointToEnd(&entry);
  Value begin = entry.getArgument(0), end = entry.getArgument(1);
  for (Value value : plan.materialised())
    locals[value] = localFor(value, dyn::extents(value.getType()));
  StageOrder order(plan); // may materialise gates: their scratch is made with their tiles
  if (space.getKind() == kernel::SpaceKind::Model && !space.getExtent()) {
    // A row of its own. (A loop around it would also be one that LLVM 22 thinks of making vectors of, in time
    // that doubles with each number of an unrolled maximum.)
    base = begin;
    count = integer(1);
    emitAll(order);
  } else if (blockRows == 1) {
    auto loop = kernel::ForOp::create(b, loc, TypeRange(), begin, end, ValueRange(), UnitAttr());
    Block *block = &loop.getBody().emplaceBlock();
    base = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("p"), loc));
    b.setInsertionPointToEnd(block);
    count = integer(1);
    emitAll(order);
    b.setInsertionPointToEnd(block);
    kernel::YieldOp::create(b, loc, ValueRange());
  } else {
    auto blocks = kernel::BlocksOp::create(b, loc, begin, end, blockRows);
    Block *block = &blocks.getBody().emplaceBlock();
    base = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("first"), loc));
    count = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("count"), loc));
    b.setInsertionPointToEnd(block);
    emitAll(order);
    b.setInsertionPointToEnd(block);
    kernel::YieldOp::create(b, loc, ValueRange());
  }
  shareTiles();
  return success(order.isComplete() && !failed_);
}

/// Scratch for a value of each row of the block.
Value StageToKernel::localFor(Value value, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> all{blockRows};
  llvm::append_range(all, shape);
  OpBuilder::InsertionGuard guard(b);
  Block &entry = func.getBody().front();
  auto at = llvm::find_if(entry, [](Operation &op) { return !isa<kernel::LocalOp>(op); });
  b.setInsertionPoint(&entry, at);
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

/// `body` once for each row of the block, with `i` and `row` set.
void StageToKernel::rows(function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  columnCache.clear();
  if (blockRows == 1) {
    i = integer(0);
    row = ordered ? kernel::OrderOp::create(b, loc, b.getI32Type(), space.getSymName(), base).getResult()
                  : base;
    body();
    return;
  }
  auto loop = kernel::ForOp::create(b, loc, TypeRange(), integer(0), count, ValueRange(), UnitAttr());
  Block *block = &loop.getBody().emplaceBlock();
  i = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("i"), loc));
  b.setInsertionPointToEnd(block);
  row = addInt(base, i);
  if (ordered)
    row = kernel::OrderOp::create(b, loc, b.getI32Type(), space.getSymName(), row);
  body();
  b.setInsertionPointToEnd(block);
  kernel::YieldOp::create(b, loc, ValueRange());
  columnCache.clear();
}

/// A nest of loops over a shape; the innermost may run in vectors.
void StageToKernel::loops(ArrayRef<int64_t> shape, function_ref<void(ValueRange)> body, bool vector) {
  OpBuilder::InsertionGuard guard(b);
  Indices at;
  static const char *names[] = {"j", "k", "l", "m"};
  SmallVector<Block *> open;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    bool inner = vector && axis + 1 == shape.size();
    auto loop = kernel::ForOp::create(b, loc, TypeRange(), integer(0), integer(extent), ValueRange(),
                                      inner ? b.getUnitAttr() : UnitAttr());
    Block *block = &loop.getBody().emplaceBlock();
    at.push_back(block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr(names[axis % 4]), loc)));
    b.setInsertionPointToEnd(block);
    kernel::YieldOp::create(b, loc, ValueRange());
    b.setInsertionPointToStart(block);
    open.push_back(block);
  }
  body(at);
}

SmallVector<Value> StageToKernel::counted(Value low, Value high, StringRef name, ValueRange init,
                                          Reduction::Next body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = kernel::ForOp::create(b, loc, init.getTypes(), low, high, init, UnitAttr());
  Block *block = &loop.getBody().emplaceBlock();
  Value k = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr(name), loc));
  for (Type type : init.getTypes())
    block->addArgument(type, NameLoc::get(b.getStringAttr("so_far"), loc));
  b.setInsertionPointToEnd(block);
  SmallVector<Value> next = body(k, block->getArguments().drop_front());
  kernel::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
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
  SmallVector<Value> indices{i};
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
    indices.push_back(inMemory(buffer, row));
  }
  llvm::append_range(indices, at);
  kernel::StoreOp::create(b, op->getLoc(), scalar, buffer, indices);
}

Value StageToKernel::localOf(Value value) {
  assert(locals.count(value) && "a materialised value has scratch");
  return locals[value];
}

} // namespace dbc::passes
