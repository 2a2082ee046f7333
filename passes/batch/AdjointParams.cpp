// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What all rows of a loss's stages give to the gradients of parameters.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/batch/Adjoints.h"

using namespace mlir;

namespace dbc::passes {

FlatSymbolRefAttr Adjoints::gradientOf(StringRef param) {
  FlatSymbolRefAttr &gradient = gradients[StringAttr::get(program.getContext(), param)];
  if (!gradient) {
    auto op = program->getParentOfType<ModuleOp>().lookupSymbol<kernel::ParamOp>(param);
    gradient = FlatSymbolRefAttr::get(
        declare.buffer(op.getLoc(), param + ".gradient", declare.batchIndexSet(), op.getType()));
  }
  return gradient;
}

/// Where the adjoint of a value of a stage that is the same at each row is added up over all rows.
FlatSymbolRefAttr Adjoints::sumOf(Value value) {
  if (auto get = value.getDefiningOp<dyn::GetOp>())
    return gradientOf(get.getParam());
  if (auto read = value.getDefiningOp<batch::ReadOp>())
    return adjointOfModel(read.getBufferAttr());
  FlatSymbolRefAttr &sum = sums[value];
  if (!sum) {
    kernel::BufferOp buffer = declare.buffer(value.getLoc(), declare.nameOf(value) + ".adjoint",
                                             declare.batchIndexSet(), value.getType());
    cleared.push_back(buffer);
    sum = FlatSymbolRefAttr::get(buffer);
  }
  return sum;
}

/// The number of the row, on its first axis, of what an operation takes one from; null where it does not.
static Value rowNumber(Operation *op, StageCopy &copy) {
  if (auto gather = dyn_cast<dyn::GatherOp>(op))
    return gather.getIndex().getType().isInteger(32) ? copy.of(gather.getIndex()) : Value();
  const int64_t row = constantRow(op);
  return row < 0 ? Value()
                 : arith::ConstantOp::create(copy.b, op->getLoc(), copy.b.getI32IntegerAttr(row)).getResult();
}

/// What an operation of a row gives to the adjoints of operands that are the same at each row.
LogicalResult Adjoints::accumulateOperands(StageCopy &copy, Operation *op, Value adjoint) {
  auto derivative = dyn_cast<dyn::DerivativeOpInterface>(copy.of(op));
  if (!derivative)
    return refuse(op);
  auto into = [&](Value operand, Value amount, Value index = {}, Value outer = {}) {
    batch::AccumulateOp::create(copy.b, op->getLoc(), amount, sumOf(operand).getValue(), index, outer);
  };
  for (auto [n, operand] : llvm::enumerate(op->getOperands())) {
    if (!activity.isOfParams(operand))
      continue;
    auto product = dyn_cast<linalg::ContractOp>(op);
    auto isVector = [](Value value) { return dyn::extents(value.getType()).size() == 1; };
    if (Value number = rowNumber(op, copy)) {
      into(operand, adjoint, number);
    } else if (product && n < 2 && isVector(adjoint) && isVector(product.getOperand(1 - n)) &&
               dyn::extents(operand.getType()).size() == 2) {
      SmallVector<AffineMap> maps = product.getIndexingMapsArray();
      Value x = copy.of(product.getOperand(1 - n));
      if (maps[n].getResult(0) == maps[2].getResult(0))
        into(operand, adjoint, {}, x);
      else
        into(operand, x, {}, adjoint);
    } else if (Value amount = derivative.buildAdjoint(copy.b, n, adjoint)) {
      into(operand, amount);
    }
  }
  return success();
}

/// A stage that adds up, over all rows of a stage, what its operations give to what is the same at each row.
LogicalResult Adjoints::accumulate(batch::StageOp stage, ArrayRef<ParamUse> uses, OpBuilder &b) {
  batch::StageOp to = declare.stage(b, stage.getLoc(), batch::StageRole::Gradient, stage.getIndexSetAttr());
  to.setWhenAttr(stage.getWhenAttr());
  {
    StageCopy copy(stage, to);
    for (const ParamUse &use : uses) {
      Location loc = use.op->getLoc();
      auto buffer = declare.find<kernel::BufferOp>(use.adjoint);
      Value adjoint = batch::ReadOp::create(copy.b, loc, buffer.getType(), use.adjoint.getValue());
      if (Type type = use.op->getResult(0).getType(); type != adjoint.getType()) // of rank 0
        adjoint = tensor::FromElementsOp::create(copy.b, loc, type, adjoint);
      if (activity.isOfParams(use.op->getResult(0)))
        batch::AccumulateOp::create(copy.b, loc, adjoint, sumOf(use.op->getResult(0)).getValue(), Value(),
                                    Value());
      else if (failed(accumulateOperands(copy, use.op, adjoint)))
        return failure();
    }
  }
  SmallVector<Sum> added;
  for (Operation &op : stage.getBody().front())
    if (op.getNumResults() == 1)
      if (FlatSymbolRefAttr sum = sums.lookup(op.getResult(0)))
        added.push_back({op.getResult(0), sum});
  return throughParams(stage, added, b);
}

/// A stage, once a batch, that takes what was added up for values made of parameters on to the parameters.
LogicalResult Adjoints::throughParams(batch::StageOp stage, ArrayRef<Sum> added, OpBuilder &b) {
  if (added.empty())
    return success();
  AdjointMap adjoints;
  batch::StageOp to = declare.stage(b, stage.getLoc(), batch::StageRole::Gradient, declare.batchIndexSet());
  StageCopy copy(stage, to, /*keeps=*/false);
  for (auto [value, sum] : added)
    add(copy.b, adjoints, value,
        batch::ReadOp::create(copy.b, value.getLoc(), value.getType(), sum.getValue()));
  for (Operation &op : llvm::reverse(stage.getBody().front())) {
    Value adjoint = op.getNumResults() == 1 && activity.isOfParams(op.getResult(0))
                        ? adjoints.lookup(op.getResult(0))
                        : Value();
    if (!adjoint)
      continue;
    if (auto row = sparse->rowOf(&op)) {
      batch::AccumulateOp::create(copy.b, op.getLoc(), adjoint, adjointOf(*row, op.getResult(0)).getValue(),
                                  Value(), Value());
      continue;
    }
    if (isa<dyn::GetOp, batch::ReadOp>(op)) {
      batch::AccumulateOp::create(copy.b, op.getLoc(), adjoint, sumOf(op.getResult(0)).getValue(), Value(),
                                  Value());
      continue;
    }
    const bool isOfParam = op.getNumOperands() > 0 && op.getOperand(0).getDefiningOp<dyn::GetOp>();
    if (Value number = isOfParam ? rowNumber(&op, copy) : Value()) {
      batch::AccumulateOp::create(copy.b, op.getLoc(), adjoint, sumOf(op.getOperand(0)).getValue(), number,
                                  Value());
      continue;
    }
    auto derivative = dyn_cast<dyn::DerivativeOpInterface>(copy.of(&op));
    if (!derivative)
      return refuse(&op);
    for (auto [n, operand] : llvm::enumerate(op.getOperands()))
      if (activity.isOfParams(operand))
        if (Value amount = derivative.buildAdjoint(copy.b, n, adjoint))
          add(copy.b, adjoints, operand, amount);
  }
  return success();
}

/// Where the adjoint of a buffer of the model is added up.
FlatSymbolRefAttr Adjoints::adjointOfModel(FlatSymbolRefAttr buffer) {
  FlatSymbolRefAttr &adjoint = modelAdjoints[buffer.getAttr()];
  if (!adjoint) {
    auto op = declare.find<kernel::BufferOp>(buffer);
    kernel::BufferOp sum =
        declare.buffer(op.getLoc(), buffer.getValue() + ".adjoint", declare.batchIndexSet(), op.getType());
    cleared.push_back(sum);
    adjoint = FlatSymbolRefAttr::get(sum);
  }
  return adjoint;
}

/// What is computed when the model is made is made of parameters: all rows have given to its adjoint.
LogicalResult Adjoints::reverseModelStage(batch::StageOp stage, OpBuilder &b) {
  assert(llvm::none_of(stage.getBody().front().getOps<batch::ReadOp>(), [&](batch::ReadOp read) {
    return isComputedOnce(declare.rowsOf(read.getBufferAttr()).indexSet);
  }));
  SmallVector<Sum> added;
  for (auto write : stage.getBody().front().getOps<batch::WriteOp>())
    if (!reads[write.getBuffer()].empty()) { // by a relation, as an element of a list
      batch::StageOp sum =
          declare.stage(b, write.getLoc(), batch::StageRole::Adjoint, declare.batchIndexSet());
      OpBuilder in = OpBuilder::atBlockEnd(&sum.getBody().front());
      Value adjoint = adjointOf(in, write.getLoc(), write.getBuffer(), write.getValue().getType(), {});
      batch::AccumulateOp::create(in, write.getLoc(), adjoint,
                                  adjointOfModel(write.getBufferAttr()).getValue(), Value(), Value());
    }
  for (auto write : stage.getBody().front().getOps<batch::WriteOp>())
    if (FlatSymbolRefAttr adjoint = modelAdjoints.lookup(write.getBufferAttr().getAttr()))
      added.push_back({write.getValue(), adjoint});
  return throughParams(stage, added, b);
}

/// For the model and not in a run: its one row, or the rows of a table.
bool Adjoints::isComputedOnce(FlatSymbolRefAttr indexSet) {
  return declare.find<kernel::IndexSetOp>(indexSet).getKind() == kernel::IndexSetKind::Model;
}

/// What is added up is 0 before anything is added, and so is what no row writes. Numbers of a table's rows
/// are those of none.
void Adjoints::clear() {
  Operation *begin =
      &*llvm::find_if(program.getBody().front(), [](Operation &op) { return batch::isScheduled(&op); });
  for (auto &[param, gradient] : gradients) {
    declare.gradient(param.getValue(), gradient.getValue());
    cleared.push_back(declare.find<kernel::BufferOp>(gradient));
  }
  for (kernel::BufferOp buffer : cleared) {
    Location loc = buffer.getLoc();
    // When a `while` has ended rows, their time steps have only those that go on.
    OpBuilder b(declare.find<kernel::IndexSetOp>(buffer.getIndexSetAttr()).getMasked() ? begin : first);
    batch::StageOp stage = declare.stage(b, loc, batch::StageRole::Clear, buffer.getIndexSetAttr());
    OpBuilder in = OpBuilder::atBlockEnd(&stage.getBody().front());
    const bool isRow = buffer.getType().isInteger(32); // -1: the number of no row
    TypedAttr zero = isRow ? in.getI32IntegerAttr(-1) : in.getZeroAttr(buffer.getType());
    batch::WriteOp::create(in, loc, arith::ConstantOp::create(in, loc, zero).getResult(),
                           buffer.getSymName());
  }
}

} // namespace dbc::passes
