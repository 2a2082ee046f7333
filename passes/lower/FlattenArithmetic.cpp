// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Products.h"

using namespace mlir;

namespace dbc::passes {

using Kind = AbstractValue::Kind;

/// A tensor without axes; there are no buffers of these, its one number is kept instead.
static bool hasNoAxes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

void Arithmetic::operation(Operation *op, RowContext at) {
  if (isStructural(op))
    return env.set(op->getResult(0), AbstractValue::structural(structural(op)));
  if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && hasNoAxes(extract.getTensor().getType()))
    if (AbstractValue k = env.lookup(extract.getTensor()); k.is(Kind::Stored) || k.is(Kind::Nothing))
      return env.set(extract.getResult(), k);
  bool model = isModel(op);
  if (model && (!usesParam(op) || isWeights(op->getResult(0)))) {
    for (Value result : op->getResults())
      env.set(result, AbstractValue::model(result));
  } else if (!structure.isIndex()) {
    for (Value result : op->getResults())
      env.set(result, AbstractValue());
  } else {
    // Made of parameters alone: computed once, when the model is loaded.
    computed(op, model ? RowContext{program.modelIndexSet(), structure.integer(0)} : at);
  }
}

/// A stage of its own in a loss, also of what is made of parameters alone: each run drops others. In an entry
/// it is x.
void Arithmetic::dropout(dyn::DropoutOp op, RowContext at) {
  if (!program.isLoss())
    return env.set(op.getResult(), env.lookup(op.getX()));
  if (!structure.isIndex())
    return env.set(op.getResult(), AbstractValue());
  Location loc = op.getLoc();
  batch::StageOp stage = stages.stage(loc, StageWriter::label(op, at), at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  auto read = [&](Value number) {
    return stages.load(inside, loc, Value(), AbstractValue::structural(number), at);
  };
  auto key = [&](Value key) -> Value {
    if (auto node = dyn_cast<dyn::NodeType>(key.getType())) {
      OpBuilder &b = structure.builder();
      return read(kernel::NodeNumberOp::create(b, loc, b.getI32Type(), node.getData(), env.structural(key)));
    }
    AbstractValue what = env.lookup(key);
    return what.is(Kind::Structural) ? read(structure.asIndex(what.scalar))
                                     : stages.load(inside, loc, key, what, at);
  };
  Value x = stages.load(inside, loc, op.getX(), env.lookup(op.getX()), at), input;
  if (!op.getOfRun())
    input = read(this->input(loc));
  SmallVector<Value> keys = llvm::map_to_vector(op.getKeys(), key);
  Value result =
      dyn::DropoutOp::create(inside, loc, x, input, keys, op.getRate(), op.getPlace(), op.getOfRun());
  if (hasNoAxes(result.getType()))
    result = tensor::ExtractOp::create(inside, loc, result, ValueRange());
  env.set(op.getResult(), stages.writeOwn(inside, stage, result, at));
}

void Arithmetic::captured(dyn::OptimizationBarrierOp op, RowContext at) {
  AbstractValue what = env.lookup(op.getValue());
  if (what.is(Kind::Structural) || env.isOfConstants(what)) {
    if (!structure.isIndex())
      return env.set(op.getResult(), AbstractValue());
    batch::StageOp stage = stages.stage(op.getLoc(), StageWriter::label(op, at), at);
    OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
    Value number = stages.load(inside, op.getLoc(), op.getValue(), what, at);
    what = stages.writeOwn(inside, stage, number, at);
  }
  env.set(op.getResult(), what);
}

/// The input's position in the batch, once a function.
Value Arithmetic::input(Location loc) {
  Block &body = structure.function().getBody().front();
  if (!structure.ownerCell())
    return body.getArgument(1);
  if (!inputOfCell) {
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    inputOfCell = kernel::InputOp::create(b, loc, b.getI32Type());
  }
  return inputOfCell;
}

/// Whether the structure function computes it: an operation on integers or truths that it knows.
bool Arithmetic::isStructural(Operation *op) {
  if (!isa<dyn::IntOp, dyn::NarrowOp, dyn::SameOp>(op) &&
      !isa<arith::CmpIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, arith::ExtUIOp,
           arith::MaxSIOp, arith::MinSIOp>(op))
    return false;
  bool any = false;
  for (Value operand : op->getOperands()) {
    AbstractValue k = env.lookup(operand);
    if (!k.is(Kind::Structural) && !env.isOfConstants(k))
      return false;
    any |= k.is(Kind::Structural);
  }
  Type type = op->getResult(0).getType();
  return (type.isInteger(32) || type.isInteger(1)) && (any || isa<dyn::IntOp, dyn::NarrowOp>(op));
}

Value Arithmetic::structural(Operation *op) {
  OpBuilder &b = structure.builder();
  Location loc = op->getLoc();
  auto operand = [&](unsigned n) { return env.structural(op->getOperand(n)); };
  if (isa<dyn::SameOp>(op)) {
    Value x = operand(0), y = operand(1);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  }
  if (auto narrow = dyn_cast<dyn::NarrowOp>(op)) {
    Value result = operand(0);
    structure.checkIndex(loc, result, narrow.getBound());
    return result;
  }
  if (auto integer = dyn_cast<dyn::IntOp>(op)) {
    Value x = operand(0), y = operand(1);
    switch (integer.getKind()) {
    case dyn::IntKind::Max:
      return arith::MaxSIOp::create(b, loc, x, y);
    case dyn::IntKind::Min:
      return arith::MinSIOp::create(b, loc, x, y);
    default:
      return structure.checked(loc, integer.getKind(), x, y);
    }
  }
  IRMapping mapping;
  for (auto [n, v] : llvm::enumerate(op->getOperands()))
    mapping.map(v, operand(n));
  return b.clone(*op, mapping)->getResult(0);
}

/// Whether it is made of constants and parameters alone.
bool Arithmetic::isModel(Operation *op) {
  return llvm::all_of(op->getOperands(), [&](Value v) { return env.lookup(v).is(Kind::Model); });
}

bool Arithmetic::usesParam(Operation *op) {
  if (auto at = ofParams.find(op); at != ofParams.end())
    return at->second;
  bool result = isa<dyn::GetOp>(op) || llvm::any_of(op->getOperands(), [&](Value v) {
                  return v.getDefiningOp() && usesParam(v.getDefiningOp());
                });
  return ofParams[op] = result;
}

/// A stage of its own.
void Arithmetic::computed(Operation *op, RowContext at) {
  Location loc = op->getLoc();
  if (auto gather = dyn_cast<dyn::GatherOp>(op); gather && gather.getChecked())
    if (AbstractValue index = env.lookup(gather.getIndex()); index.is(Kind::Structural))
      structure.checkIndex(loc, index.scalar, dyn::extents(gather.getTensor().getType())[0]);
  batch::StageOp stage = stages.stage(loc, StageWriter::label(op, at), at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, stages.load(inside, loc, operand, env.lookup(operand), at));
  Operation *clone = inside.clone(*op, mapping);
  clone->removeAttr("checked");
  for (auto [result, value] : llvm::zip(op->getResults(), clone->getResults())) {
    Value number = value;
    if (hasNoAxes(value.getType()))
      number = tensor::ExtractOp::create(inside, loc, value, ValueRange());
    env.set(result, stages.writeOwn(inside, stage, number, at));
  }
}

} // namespace dbc::passes
