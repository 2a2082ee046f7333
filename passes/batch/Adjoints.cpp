// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/Adjoints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Refusal.h"
#include "passes/batch/RecomputedStages.h"

using namespace mlir;

namespace dbc::passes {

LogicalResult Adjoints::refuse(Operation *op) {
  return passes::refuse(op->getLoc()) << "`" << op->getName().getStringRef() << "` has no derivative";
}

void Adjoints::add(OpBuilder &b, AdjointMap &adjoints, Value value, Value amount) {
  Value &sum = adjoints[value];
  sum = sum ? arith::AddFOp::create(b, amount.getLoc(), sum, amount).getResult() : amount;
}

Adjoints::Adjoints(kernel::ProgramOp program, kernel::BufferOp loss, ArrayRef<FlatSymbolRefAttr> inputs)
    : program(program), loss(loss), inputs(inputs), activity(program, loss.getSymName(), inputs),
      multiplicities(program), declare(program) {}

LogicalResult Adjoints::run(const SparseTables &tables) {
  sparse = &tables;
  SmallVector<Operation *> forward;
  for (Operation &op : program.getBody().front())
    if (batch::isScheduled(&op))
      forward.push_back(&op);
  OpBuilder b = OpBuilder::atBlockEnd(&program.getBody().front());
  findReads();
  begin(b);
  if (failed(reverse(forward, b)))
    return failure();
  for (auto &[stage, uses] : paramUses)
    if (failed(accumulate(cast<batch::StageOp>(stage), uses, b)))
      return failure();
  for (FlatSymbolRefAttr input : inputs)
    sumInput(input, b);
  // No stage of the model reads what another one writes: their order is free.
  for (batch::StageOp stage : llvm::reverse(modelStages))
    if (failed(reverseModelStage(stage, b)))
      return failure();
  for (auto &[param, all] : lookups)
    sumTable(param, all, b);
  for (const Read &read : allReads)
    if (read.op && !read.contributes)
      cleared.push_back(declare.find<kernel::BufferOp>(read.contribution));
  clear();
  return success();
}

unsigned Adjoints::recompute(Recompute how) { return RecomputedStages(program, first, declare).run(how); }

/// Each input's loss adds its weight to the sum that is differentiated.
void Adjoints::begin(OpBuilder &b) {
  Location loc = loss.getLoc();
  auto buffer = FlatSymbolRefAttr::get(
      declare.buffer(loc, loss.getSymName() + ".adjoint", loss.getIndexSetAttr(), loss.getType()));
  batch::StageOp stage = declare.stage(b, loc, batch::StageRole::Adjoint, loss.getIndexSetAttr());
  OpBuilder in = OpBuilder::atBlockEnd(&stage.getBody().front());
  batch::RelationOp relation =
      declare.relation(loc, loss.getIndexSetAttr(), kernel::kInputArray, FlatSymbolRefAttr());
  Value weight =
      batch::GatherOp::create(in, loc, loss.getType(), FlatSymbolRefAttr::get(declare.lossWeights()),
                              FlatSymbolRefAttr::get(relation), FlatSymbolRefAttr(), IntegerAttr());
  batch::WriteOp::create(in, loc, weight, buffer.getValue());
  first = stage;
  Read &read = allReads.emplace_back();
  read.contribution = buffer;
  reads[loss.getSymName()].push_back(&read);
}

//===-- Adjoint stages ------------------------------------------------------------------------------===//

/// What was last is first.
LogicalResult Adjoints::reverse(ArrayRef<Operation *> forward, OpBuilder &b) {
  for (Operation *op : llvm::reverse(forward)) {
    if (auto stage = dyn_cast<batch::StageOp>(op)) {
      if (isComputedOnce(stage.getIndexSetAttr()))
        modelStages.push_back(stage);
      else if (failed(reverseStage(stage, b)))
        return failure();
      continue;
    }
    auto loop = cast<kernel::TimeStepLoopInterface>(b.cloneWithoutRegions(*op));
    loop.setReverse(!loop.getReverse());
    OpBuilder inside = OpBuilder::atBlockEnd(&loop->getRegion(0).emplaceBlock());
    SmallVector<Operation *> body;
    for (Operation &each : op->getRegion(0).front())
      body.push_back(&each);
    if (failed(reverse(body, inside)))
      return failure();
    if (loop->getRegion(0).front().empty())
      loop->erase();
  }
  return success();
}

LogicalResult Adjoints::reverseStage(batch::StageOp stage, OpBuilder &b) {
  SmallVector<Operation *> writes;
  for (Operation &op : stage.getBody().front())
    if (batch::isWrite(&op) && activity.isActive(op.getOperand(0)))
      writes.push_back(&op);
  if (writes.empty())
    return success();
  batch::StageOp to = declare.stage(b, stage.getLoc(), batch::StageRole::Adjoint, stage.getIndexSetAttr());
  to.setWhenAttr(stage.getWhenAttr());
  {
    StageCopy copy(stage, to);
    AdjointMap adjoints;
    for (Operation *op : writes) {
      auto scatter = dyn_cast<batch::ScatterOp>(op);
      StringRef buffer = cast<batch::AccessOpInterface>(op).getArray();
      if (Value adjoint = adjointOf(copy.b, op->getLoc(), buffer, op->getOperand(0).getType(),
                                    scatter ? scatter.getRelationAttr() : FlatSymbolRefAttr()))
        add(copy.b, adjoints, op->getOperand(0), adjoint);
    }
    for (Operation &op : llvm::reverse(stage.getBody().front()))
      if (op.getNumResults() == 1)
        if (Value adjoint = adjoints.lookup(op.getResult(0)))
          if (failed(throughOp(copy, &op, adjoint, adjoints)))
            return failure();
  }
  b.setInsertionPointToEnd(to->getBlock());
  if (to.getBody().front().empty())
    to.erase();
  return success();
}

LogicalResult Adjoints::throughOp(StageCopy &copy, Operation *op, Value adjoint, AdjointMap &adjoints) {
  if (auto read = readOf.find(op); read != readOf.end()) {
    contribute(copy, *read->second, adjoint);
    return success();
  }
  if (sparse->isLookup(op)) {
    contributeToTable(copy, cast<dyn::GatherOp>(op), adjoint);
    return success();
  }
  if (activity.isOfParams(op->getResult(0))) { // at the end, for all rows
    paramUses[op->getParentOfType<batch::StageOp>()].push_back(
        {op, inBuffer(copy, adjoint, declare.nameOf(op->getResult(0)) + ".adjoint")});
    return success();
  }
  auto derivative = dyn_cast<dyn::DerivativeOpInterface>(copy.of(op));
  if (!derivative)
    return refuse(op);
  bool usesParams = false;
  for (auto [n, operand] : llvm::enumerate(op->getOperands())) {
    if (!activity.isActive(operand))
      continue;
    if (activity.isOfParams(operand)) {
      usesParams = true;
      continue;
    }
    if (Value amount = derivative.buildAdjoint(copy.b, n, adjoint))
      add(copy.b, adjoints, operand, amount);
  }
  if (usesParams)
    paramUses[op->getParentOfType<batch::StageOp>()].push_back(
        {op, inBuffer(copy, adjoint, declare.nameOf(op->getResult(0)) + ".adjoint")});
  return success();
}

} // namespace dbc::passes
