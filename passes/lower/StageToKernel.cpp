// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which values of a stage are kept in memory, in what order they are computed, and loops over elements. The
// ops with loops of their own are in StageSpecialOps.cpp, scalar expressions in StageExpressions.cpp.
#include "passes/lower/StageToKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Products.h"
#include "passes/batch/StageGraph.h"

using namespace mlir;

namespace dbc::passes {

StageToKernel::StageToKernel(batch::StageOp stage, kernel::FuncOp func, kernel::SpaceOp space,
                             const SymbolTable &relations, PackedWeights &packed)
    : stage(stage), func(func), space(space), relations(relations), packed(packed), b(stage.getContext()),
      loc(stage.getLoc()), blockRows(stage.getSchedule() ? stage.getSchedule()->getRows() : 1),
      tileUnits(stage.getSchedule() ? stage.getSchedule()->getUnits() : 0),
      ordered(space.getKind() == kernel::SpaceKind::Steps || space.getStepsOf() || space.getKept()),
      repeats(mayRepeat(stage)) {}

//===-- Deciding
//----------------------------------------------------------------------------------------------===//

/// Whether a join of parameters serves products alone, which pack it.
static bool onlyPacked(Operation *op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    if (auto product = dyn_cast<linalg::ContractOp>(user)) {
      auto found = matVec(product);
      return found && found->weights == op->getResult(0) &&
             dyn::extents(found->weights.getType()).size() == 2;
    }
    return isa<tensor::ConcatOp>(user) && onlyPacked(user);
  });
}

bool StageToKernel::isSpecial(Operation *op) {
  if (isa<tensor::ConcatOp>(op) && isWeights(op->getResult(0)))
    return !onlyPacked(op);
  return isa<linalg::ContractOp, dyn::ReduceOp, dyn::SoftmaxOp, dyn::TopKOp, batch::SegmentOp,
             tensor::ConcatOp, tensor::FromElementsOp>(op) &&
         !isWeights(op->getResult(0));
}

/// Whether an element can be read from memory wherever it is wanted, without arithmetic.
bool StageToKernel::loadable(Value value) {
  if (kept.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa<batch::ReadOp, batch::GatherOp, dyn::GetOp, batch::ColumnOp, arith::ConstantOp, linalg::FillOp>(op))
    return true;
  if (isa<tensor::ExtractSliceOp, tensor::ExtractOp, dyn::TransposeOp, dyn::BroadcastOp, tensor::SplatOp,
          tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp, dyn::TakeOp>(op))
    return loadable(op->getOperand(0));
  return false;
}

void StageToKernel::materialise(Value value) { kept.insert(value); }

void StageToKernel::findActions() {
  Block &body = stage.getBody().front();
  // A product with a bias starts from it.
  for (auto op : body.getOps<linalg::ContractOp>()) {
    if (arith::AddFOp sum = biasedSum(op))
      biased[op->getResult(0)] = sum.getResult();
  }
  findTiles();
  for (Operation &op : body) {
    if (isSpecial(&op))
      for (Value result : op.getResults()) {
        Value whole = biased.count(result) ? biased[result] : result;
        if (!tiles.contains(whole))
          materialise(whole);
      }
    if (isa<linalg::ContractOp, dyn::SoftmaxOp, dyn::TopKOp>(op) ||
        (isa<dyn::ReduceOp>(op) && cast<dyn::ReduceOp>(op).getKind() == dyn::ReduceKind::LogSumExp))
      for (Value operand : op.getOperands().take_front(isa<linalg::ContractOp>(op) ? 2 : 1)) {
        auto concat = operand.getDefiningOp<tensor::ConcatOp>();
        auto product = dyn_cast<linalg::ContractOp>(op);
        if (isWeights(operand))
          continue;
        bool byKernel = product && matVec(product) && packs(matVec(product)->weights);
        if (auto found = product ? matMul(product) : std::nullopt)
          byKernel = operand == found->b && concat && concat.getDim() == 0;
        if (byKernel && concat && operand.hasOneUse()) {
          // Joined by the product itself: the parts are its segments.
          joined.insert(operand);
          for (Value part : concat.getInputs())
            if (!addressable(part))
              materialise(part);
          continue;
        }
        if (!loadable(operand))
          materialise(operand);
      }
  }
  // Operands of products by the kernel must lie in memory row by row.
  for (auto op : body.getOps<linalg::ContractOp>())
    if (auto found = matMul(op))
      for (Value operand : {found->a, found->b})
        if (!joined.contains(operand) && !addressable(operand) && !operand.getDefiningOp<dyn::GetOp>())
          materialise(operand);
  for (auto op : body.getOps<linalg::ContractOp>())
    if (auto found = matVec(op);
        found && packs(found->weights) && !joined.contains(found->x) && !addressable(found->x))
      materialise(found->x);
  for (Value value : joined)
    kept.remove(value);
  // Arithmetic that several loops want is done once. So is what ends a chain of many steps: an expression is
  // walked from its end, and the machine's stack must hold that.
  llvm::DenseMap<Value, int> steps;
  for (Operation &op : body) {
    int longest = 0;
    for (Value operand : op.getOperands())
      longest = std::max(longest, kept.contains(operand) ? 0 : steps.lookup(operand));
    for (Value result : op.getResults())
      steps[result] = longest + 1;
    if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
        !isa<dyn::FunctionOp, dyn::IntOp, dyn::NarrowOp>(op))
      continue;
    if (isa<arith::ConstantOp>(op))
      continue;
    Value value = op.getResult(0);
    if (tiles.contains(value))
      continue;
    if (steps[value] >= kMostSteps)
      materialise(value);
    bool elementwise = llvm::all_of(value.getUsers(), [&](Operation *user) {
      return isa<batch::WriteOp, batch::ScatterOp>(user) ||
             (!isSpecial(user) && user->getNumResults() == 1 &&
              dyn::extents(user->getResult(0).getType()) == dyn::extents(value.getType()) &&
              !isa<dyn::TransposeOp>(user));
    });
    if (!value.hasOneUse() || !elementwise)
      if (!value.use_empty() && !(value.hasOneUse() && isa<dyn::ReduceOp>(*value.user_begin())))
        materialise(value);
  }
  // Actions, in program order.
  auto action = [&](Value value, Operation *op) {
    actions.push_back(std::make_unique<Action>());
    actions.back()->value = value;
    actions.back()->op = op;
    return actions.back().get();
  };
  for (Value value : kept)
    if (value.getDefiningOp()->getBlock() != &body) // a constant, which stands outside
      actionOf[value] = action(value, nullptr);
  for (Operation &op : body) {
    if (isa<batch::WriteOp, batch::ScatterOp>(op)) {
      Value value = op.getOperand(0);
      Action *&known = actionOf[value];
      if (!known || known->op)
        action(value, nullptr)->writes.push_back(&op);
      else
        known->writes.push_back(&op);
      continue;
    }
    if (op.getNumResults() != 1)
      continue;
    Value value = op.getResult(0);
    if (isSpecial(&op) && !joined.contains(value)) {
      Value whole = biased.count(value) ? biased[value] : value;
      actionOf[whole] = action(whole, &op);
    } else if (kept.contains(value) && !actionOf.count(value) && !productOf(value))
      actionOf[value] = action(value, nullptr);
  }
}

/// The materialised values and gates that an expression reads, and whether at the expression's own indices.
void StageToKernel::touches(Value value, bool same, SmallVectorImpl<Touch> &out, bool root) {
  if (productOf(value) && (root || !kept.contains(value))) {
    out.push_back({value, same});
    return;
  }
  if (!root && kept.contains(value)) {
    out.push_back({value, same});
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isSpecial(op) && !root) {
    out.push_back({value, same});
    return;
  }
  bool elementwise =
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || isa<dyn::FunctionOp, dyn::IntOp>(op);
  for (Value operand : op->getOperands()) {
    if (joined.contains(operand)) {
      for (Value part : operand.getDefiningOp()->getOperands())
        touches(part, false, out, false);
      continue;
    }
    touches(operand, same && elementwise && dyn::extents(operand.getType()) == dyn::extents(value.getType()),
            out, false);
  }
}

void StageToKernel::needs(const Action &action, SmallVectorImpl<Touch> &out) {
  if (action.op)
    for (Value operand : action.op->getOperands()) {
      if (joined.contains(operand))
        for (Value part : operand.getDefiningOp()->getOperands())
          touches(part, false, out, false);
      else
        touches(operand, false, out, false);
    }
  else
    touches(action.value, true, out,
            !kept.contains(action.value) || actionOf.lookup(action.value) == &action);
}

StageToKernel::Action *StageToKernel::actionFor(Value value) {
  Value product = productOf(value);
  return actionOf.lookup(product ? product : value);
}

bool StageToKernel::ready(const Action &action, ArrayRef<Action *> group) {
  SmallVector<Touch> touched;
  needs(action, touched);
  return llvm::all_of(touched, [&](const Touch &t) {
    Action *source = actionFor(t.value);
    if (!source)
      return true; // only loaded
    return source->done || (t.same && llvm::is_contained(group, source));
  });
}

//===-- Writing
//-----------------------------------------------------------------------------------------------===//

LogicalResult StageToKernel::run() {
  findActions();
  Block &entry = func.getBody().front();
  b.setInsertionPointToEnd(&entry);
  Value begin = entry.getArgument(0), end = entry.getArgument(1);
  for (Value value : kept)
    locals[value] = localFor(value, dyn::extents(value.getType()));
  if (space.getKind() == kernel::SpaceKind::Model && !space.getExtent()) {
    // A row of its own. (A loop around it would also be one that LLVM 22 thinks of making vectors of, in time
    // that doubles with each number of an unrolled maximum.)
    base = begin;
    count = integer(1);
    emitAll();
  } else if (blockRows == 1) {
    auto loop = kernel::ForOp::create(b, loc, TypeRange(), begin, end, ValueRange(), UnitAttr());
    Block *block = &loop.getBody().emplaceBlock();
    base = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("p"), loc));
    b.setInsertionPointToEnd(block);
    count = integer(1);
    emitAll();
    b.setInsertionPointToEnd(block);
    kernel::YieldOp::create(b, loc, ValueRange());
  } else {
    auto blocks = kernel::BlocksOp::create(b, loc, begin, end, blockRows);
    Block *block = &blocks.getBody().emplaceBlock();
    base = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("first"), loc));
    count = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("count"), loc));
    b.setInsertionPointToEnd(block);
    emitAll();
    b.setInsertionPointToEnd(block);
    kernel::YieldOp::create(b, loc, ValueRange());
  }
  shareTiles();
  return failed_ ? failure() : success();
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

void StageToKernel::emitAll() {
  while (true) {
    bool progress = false, left = false;
    // What has loops of its own first, so that the elementwise rest stays together.
    for (auto &action : actions)
      if (!action->done && action->op && !isTiled(*action) && ready(*action, {})) {
        emitSpecial(action->op);
        action->done = progress = true;
      }
    SmallVector<Action *> group;
    bool grew = true;
    while (grew) {
      grew = false;
      for (auto &action : actions)
        if (!action->done && (!action->op || isTiled(*action)) && !llvm::is_contained(group, action.get()) &&
            (group.empty() || shapeOf(*action) == shapeOf(*group[0])) && ready(*action, group)) {
          group.push_back(action.get());
          grew = true;
        }
    }
    if (!progress && !group.empty()) {
      if (llvm::any_of(group, [&](Action *action) { return isTiled(*action); }))
        emitTiles(group);
      else
        emitGroup(group);
      for (Action *action : group)
        action->done = true;
      progress = true;
    }
    for (auto &action : actions)
      left |= !action->done;
    if (!left)
      return;
    assert(progress && "actions depend on each other in a circle");
    if (!progress) {
      failed_ = true;
      return;
    }
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

void StageToKernel::emitGroup(ArrayRef<Action *> group) {
  rows([&] {
    inVectors(dyn::extents(group[0]->value.getType()),
              [&](EachElement each) { each([&](ValueRange at) { emitElements(group, at); }); });
  });
}

/// One element of all values of a group.
void StageToKernel::emitElements(ArrayRef<Action *> group, ValueRange at) {
  cache.clear();
  cacheAt.assign(at.begin(), at.end());
  caching = true;
  // In the order of the program, so that what one needs of another is there.
  for (auto &action : actions) {
    if (!llvm::is_contained(group, action.get()))
      continue;
    if (isTiled(*action)) {
      for (Value gate : action->gates) {
        cache[gate] = gateElement(gate);
        store(cache[gate], gate, at);
      }
      continue;
    }
    bool mine = actionOf.lookup(action->value) == action.get();
    Value scalar = mine && kept.contains(action->value) && !cache.count(action->value)
                       ? expression(action->value.getDefiningOp(), action->value, at)
                       : element(action->value, at);
    if (mine && kept.contains(action->value)) {
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
