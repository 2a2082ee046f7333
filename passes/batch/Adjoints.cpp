// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/Adjoints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Refusal.h"

using namespace mlir;

namespace dbc::passes {

//===-- Stages that read what others have kept ------------------------------------------------------===//

/// The operations of a stage again in another one over the same index set. What the stage has written to a
/// buffer is read there, not computed again.
class Adjoints::StageCopy {
public:
  /// `keeps`: whether to read what was written.
  StageCopy(batch::StageOp from, batch::StageOp to, bool keeps = true)
      : b(OpBuilder::atBlockEnd(&to.getBody().front())), to(to) {
    llvm::DenseMap<Value, Operation *> writes;
    for (Operation &op : from.getBody().front())
      if (isa<batch::WriteOp, batch::ScatterOp>(op))
        writes.try_emplace(op.getOperand(0), &op);
    for (Operation &op : from.getBody().front()) {
      if (batch::isWrite(&op))
        continue;
      Operation *again = b.clone(op, values);
      if (!keeps || (isa<batch::AccessOpInterface, batch::ReadIndexOp>(op) && !isa<batch::SegmentOp>(op)))
        continue;
      for (auto [result, copied] : llvm::zip(op.getResults(), again->getResults()))
        if (Operation *write = writes.lookup(result)) {
          Value read = readWhere(write, result.getType());
          kept.push_back({copied, read});
        }
    }
  }
  ~StageCopy() {
    for (auto [computed, read] : kept)
      computed.replaceAllUsesWith(read);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(to.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
  StageCopy(const StageCopy &) = delete;
  StageCopy &operator=(const StageCopy &) = delete;

  Operation *of(Operation *op) { return values.lookup(op->getResult(0)).getDefiningOp(); }
  Value of(Value value) { return values.lookupOrDefault(value); }

  OpBuilder b; ///< at the end
  batch::StageOp to;

private:
  Value readWhere(Operation *write, Type type) {
    if (auto own = dyn_cast<batch::WriteOp>(write))
      return batch::ReadOp::create(b, write->getLoc(), type, own.getBuffer());
    auto scatter = cast<batch::ScatterOp>(write);
    return batch::GatherOp::create(b, write->getLoc(), type, scatter.getBufferAttr(),
                                   scatter.getRelationAttr(), FlatSymbolRefAttr(), IntegerAttr());
  }

  IRMapping values;
  SmallVector<std::pair<Value, Value>> kept; ///< what is computed, and the same read
};

/// Refuses what has no gradient, in the source's words.
static LogicalResult refuseGradient(Operation *op, const Twine &why) { return refuse(op->getLoc()) << why; }

static void add(OpBuilder &b, llvm::DenseMap<Value, Value> &adjoints, Value value, Value amount) {
  Value &sum = adjoints[value];
  sum = sum ? arith::AddFOp::create(b, amount.getLoc(), sum, amount).getResult() : amount;
}

//===-- What reads contribute -----------------------------------------------------------------------===//

Adjoints::Adjoints(batch::ProgramOp program, batch::BufferOp loss)
    : program(program), loss(loss), activity(program, loss.getSymName()), declare(program) {}

LogicalResult Adjoints::run() {
  SmallVector<Operation *> forward;
  for (Operation &op : program.getBody().front())
    if (op.hasTrait<batch::Scheduled>())
      forward.push_back(&op);
  OpBuilder b = OpBuilder::atBlockEnd(&program.getBody().front());
  findReads();
  begin(b);
  if (failed(reverse(forward, b)))
    return failure();
  for (auto &[stage, uses] : paramUses)
    if (failed(accumulate(cast<batch::StageOp>(stage), uses, b)))
      return failure();
  for (batch::StageOp stage : llvm::reverse(modelStages))
    if (failed(reverseModelStage(stage, b)))
      return failure();
  clear();
  return success();
}

/// Each input's loss adds its weight to the sum that is differentiated.
void Adjoints::begin(OpBuilder &b) {
  Location loc = loss.getLoc();
  auto buffer = FlatSymbolRefAttr::get(
      declare.buffer(loc, loss.getSymName() + ".adjoint", loss.getIndexSetAttr(), loss.getType()));
  batch::StageOp stage = declare.stage(b, loc, buffer.getValue(), loss.getIndexSetAttr());
  OpBuilder in = OpBuilder::atBlockEnd(&stage.getBody().front());
  batch::RelationOp relation = declare.relation(loc, loss.getIndexSetAttr(), "input", FlatSymbolRefAttr());
  Value weight =
      batch::GatherOp::create(in, loc, loss.getType(), FlatSymbolRefAttr::get(declare.lossWeights()),
                              FlatSymbolRefAttr::get(relation), FlatSymbolRefAttr(), IntegerAttr());
  batch::WriteOp::create(in, loc, weight, buffer.getValue());
  reads[loss.getSymName()].push_back({{}, buffer, {}, {}});
}

void Adjoints::findReads() {
  SmallVector<batch::StageOp> stages;
  program.walk([&](batch::StageOp stage) { stages.push_back(stage); });
  for (batch::StageOp stage : stages)
    for (auto op : stage.getBody().front().getOps<batch::AccessOpInterface>())
      if (!op.isWrite() && activity.isActive(op->getResult(0)) && !activity.isOfParams(op->getResult(0)))
        addRead(stage, op);
}

/// A type of the same shape, with other numbers.
static Type ofNumbers(Type like, Type number) {
  auto tensor = dyn_cast<RankedTensorType>(like);
  return tensor ? tensor.clone(number) : number;
}

/// Whether each element of a list contributes what the stage's row has.
static bool contributesByRow(batch::SegmentOp segment) {
  return !segment.getCount() &&
         (segment.getKind() == batch::ReduceKind::Sum || segment.getKind() == batch::ReduceKind::Mean);
}

void Adjoints::addRead(batch::StageOp stage, batch::AccessOpInterface op) {
  auto buffer = declare.find<batch::BufferOp>(op.getArrayAttr());
  Read read{op, {}, {}, {}};
  FlatSymbolRefAttr indexSet = stage.getIndexSetAttr();
  if (auto gather = dyn_cast<batch::GatherOp>(op.getOperation())) {
    auto relation = declare.find<batch::RelationOp>(gather.getRelationAttr());
    read.list = FlatSymbolRefAttr::get(declare.transpose(relation));
  } else if (auto segment = dyn_cast<batch::SegmentOp>(op.getOperation())) {
    auto elements = FlatSymbolRefAttr::get(declare.elements(segment));
    batch::RelationOp toElement = declare.relation(op->getLoc(), elements, "row", buffer.getIndexSetAttr());
    read.list = FlatSymbolRefAttr::get(declare.transpose(toElement));
    if (contributesByRow(segment))
      read.via = FlatSymbolRefAttr::get(declare.relation(op->getLoc(), elements, "parent", indexSet));
    else
      indexSet = elements;
  }
  batch::BufferOp contribution = declare.buffer(
      op->getLoc(), stage.getSymName() + "." + op.getArray() + ".adjoint", indexSet, buffer.getType());
  read.contribution = FlatSymbolRefAttr::get(contribution);
  if (stage.getWhen() && indexSet == stage.getIndexSetAttr())
    cleared.push_back(contribution); // at rows that a `while` has ended
  reads[op.getArray()].push_back(read);
  readOf[op] = read;
}

/// The adjoint of a buffer's row: this one, or the one that the relation `at` leads to. Null where nothing
/// that the loss depends on reads it.
Value Adjoints::adjointOf(OpBuilder &b, Location loc, StringRef buffer, Type type, FlatSymbolRefAttr at) {
  Value sum;
  auto addUp = [&](Value value) {
    sum = sum ? arith::AddFOp::create(b, loc, sum, value).getResult() : value;
  };
  for (Read &read : reads[buffer]) {
    if (read.list)
      addUp(batch::SegmentOp::create(b, loc, type, batch::ReduceKind::Sum, read.contribution.getValue(),
                                     read.list.getValue(), read.via, read.op.getCarriedAttr(), Value(),
                                     Value(), Value(),
                                     /*at_end=*/false, at, IntegerAttr()));
    else if (at)
      addUp(batch::GatherOp::create(b, loc, type, read.contribution, at, FlatSymbolRefAttr(), IntegerAttr()));
    else
      addUp(batch::ReadOp::create(b, loc, type, read.contribution.getValue()));
  }
  return sum;
}

/// The buffer over the stage's index set that holds a value of it; one is made where there is none.
FlatSymbolRefAttr Adjoints::inBuffer(StageCopy &copy, Value adjoint, const Twine &name) {
  if (auto read = adjoint.getDefiningOp<batch::ReadOp>())
    return read.getBufferAttr();
  if (auto tensor = dyn_cast<RankedTensorType>(adjoint.getType()); tensor && tensor.getRank() == 0)
    adjoint = tensor::ExtractOp::create(copy.b, adjoint.getLoc(), adjoint, ValueRange());
  auto buffer = FlatSymbolRefAttr::get(
      declare.buffer(adjoint.getLoc(), name, copy.to.getIndexSetAttr(), adjoint.getType()));
  batch::WriteOp::create(copy.b, adjoint.getLoc(), adjoint, buffer.getValue());
  return buffer;
}

void Adjoints::contribute(StageCopy &copy, Read &read, Value adjoint) {
  OpBuilder &b = copy.b;
  Location loc = read.op->getLoc();
  auto segment = dyn_cast<batch::SegmentOp>(read.op.getOperation());
  if (segment && !read.via) { // by element
    FlatSymbolRefAttr buffer = inBuffer(copy, adjoint, copy.to.getSymName() + ".list");
    OpBuilder behind(copy.to->getContext());
    behind.setInsertionPointAfter(copy.to);
    return contributeByElement(behind, read, buffer);
  }
  if (segment && segment.getKind() == batch::ReduceKind::Mean) {
    auto list = declare.find<batch::ListRelationOp>(segment.getListAttr());
    Value length = batch::ReadIndexOp::create(b, loc, b.getI32Type(), list.getLength());
    Value count = arith::SIToFPOp::create(b, loc, b.getF32Type(), length);
    if (isa<RankedTensorType>(adjoint.getType()))
      count = dyn::BroadcastOp::create(b, loc, adjoint.getType(), count);
    adjoint = arith::DivFOp::create(b, loc, adjoint, count);
  }
  batch::WriteOp::create(b, loc, adjoint, read.contribution.getValue());
}

/// Stages over the elements of a list: what each has of the adjoint of its reduction, which is in a buffer.
void Adjoints::contributeByElement(OpBuilder &b, Read &read, FlatSymbolRefAttr adjoint) {
  auto segment = cast<batch::SegmentOp>(read.op.getOperation());
  auto from = segment->getParentOfType<batch::StageOp>();
  Location loc = segment.getLoc();
  Type type = declare.find<batch::BufferOp>(segment.getArrayAttr()).getType();
  auto elements = FlatSymbolRefAttr::get(declare.elements(segment));
  batch::RelationOp toParent = declare.relation(loc, elements, "parent", from.getIndexSetAttr());
  OpBuilder in(b.getContext());
  auto stage = [&](const Twine &name, FlatSymbolRefAttr indexSet) {
    batch::StageOp stage = declare.stage(b, loc, name, indexSet);
    in.setInsertionPointToEnd(&stage.getBody().front());
    return stage;
  };
  auto ofParent = [&](FlatSymbolRefAttr buffer, Type type) -> Value {
    return batch::GatherOp::create(in, loc, type, buffer, FlatSymbolRefAttr::get(toParent),
                                   FlatSymbolRefAttr(), IntegerAttr());
  };
  auto ofElement = [&]() -> Value {
    auto array = declare.find<batch::BufferOp>(segment.getArrayAttr());
    batch::RelationOp toElement = declare.relation(loc, elements, "row", array.getIndexSetAttr());
    return batch::GatherOp::create(in, loc, type, segment.getArrayAttr(), FlatSymbolRefAttr::get(toElement),
                                   segment.getCarriedAttr(), IntegerAttr());
  };
  auto integer = [&](int32_t i) -> Value {
    return arith::ConstantOp::create(in, loc, in.getI32IntegerAttr(i));
  };
  auto spread = [&](Value value) -> Value { // a scalar over all numbers of a row
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !isa<RankedTensorType>(value.getType())
               ? dyn::BroadcastOp::create(in, loc, tensor.clone(value.getType()), value).getResult()
               : value;
  };
  auto position = [&]() -> Value { return batch::ReadIndexOp::create(in, loc, in.getI32Type(), "position"); };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(in, loc, predicate, x, y);
  };
  Value where; // the elements that have any of it
  auto only = [&](Value condition) {
    condition = spread(condition);
    where = where ? arith::AndIOp::create(in, loc, where, condition).getResult() : condition;
  };
  FlatSymbolRefAttr first;
  if (segment.getKind() == batch::ReduceKind::Max || segment.getKind() == batch::ReduceKind::Min) {
    // The first of those that are equal to the result.
    Type positions = ofNumbers(type, b.getI32Type());
    auto candidates = FlatSymbolRefAttr::get(
        declare.buffer(loc, read.contribution.getValue() + ".candidates", elements, positions));
    stage(candidates.getValue(), elements);
    Value isEqual = arith::CmpFOp::create(in, loc, arith::CmpFPredicate::OEQ, ofElement(),
                                          ofParent(inBufferOfStage(segment.getResult()), type));
    Value candidate =
        arith::SelectOp::create(in, loc, isEqual, spread(position()), spread(integer(INT32_MAX)));
    batch::WriteOp::create(in, loc, candidate, candidates.getValue());
    first = FlatSymbolRefAttr::get(
        declare.buffer(loc, read.contribution.getValue() + ".first", from.getIndexSetAttr(), positions));
    stage(first.getValue(), from.getIndexSetAttr());
    Value least = batch::SegmentOp::create(in, loc, positions, batch::ReduceKind::Min, candidates.getValue(),
                                           declare.transpose(toParent).getSymName(), FlatSymbolRefAttr(),
                                           FlatSymbolRefAttr(), Value(), Value(), Value(), /*at_end=*/false,
                                           FlatSymbolRefAttr(), IntegerAttr());
    batch::WriteOp::create(in, loc, least, first.getValue());
  }
  stage(read.contribution.getValue(), elements);
  Value amount = ofParent(adjoint, type);
  if (from.getWhen())
    only(ofParent(from.getWhenAttr(), in.getI1Type()));
  if (segment.getCount()) {
    Value count = ofParent(inBufferOfStage(segment.getCount()), in.getI32Type());
    if (segment.getAtEnd()) {
      Value length = batch::ReadIndexOp::create(in, loc, in.getI32Type(), "length");
      only(compare(arith::CmpIPredicate::sge, position(), arith::SubIOp::create(in, loc, length, count)));
    } else {
      only(compare(arith::CmpIPredicate::slt, position(), count));
    }
    if (segment.getKind() == batch::ReduceKind::Mean)
      amount = arith::DivFOp::create(in, loc, amount,
                                     spread(arith::SIToFPOp::create(in, loc, in.getF32Type(), count)));
  }
  switch (segment.getKind()) {
  case batch::ReduceKind::Sum:
  case batch::ReduceKind::Mean:
    break;
  case batch::ReduceKind::LogSumExp: {
    Value above =
        arith::SubFOp::create(in, loc, ofElement(), ofParent(inBufferOfStage(segment.getResult()), type));
    Value zero = spread(arith::ConstantOp::create(in, loc, in.getF32FloatAttr(0)));
    only(arith::CmpFOp::create(in, loc, arith::CmpFPredicate::UNE, amount, zero));
    amount = arith::MulFOp::create(in, loc, amount, math::ExpOp::create(in, loc, above));
    break;
  }
  case batch::ReduceKind::Pick:
    only(compare(arith::CmpIPredicate::eq, position(),
                 ofParent(inBufferOfStage(segment.getIndex()), in.getI32Type())));
    break;
  case batch::ReduceKind::Max:
  case batch::ReduceKind::Min:
    only(compare(arith::CmpIPredicate::eq, spread(position()),
                 ofParent(first, ofNumbers(type, in.getI32Type()))));
    break;
  case batch::ReduceKind::ArgMax:
  case batch::ReduceKind::Any:
  case batch::ReduceKind::All:
    llvm_unreachable("gives no float");
  }
  if (where)
    amount = arith::SelectOp::create(in, loc, where, amount,
                                     spread(arith::ConstantOp::create(in, loc, in.getF32FloatAttr(0))));
  batch::WriteOp::create(in, loc, amount, read.contribution.getValue());
}

/// The buffer of a value that a stage of the forward pass has; it is kept from now on.
FlatSymbolRefAttr Adjoints::inBufferOfStage(Value value) {
  if (auto read = value.getDefiningOp<batch::ReadOp>())
    return read.getBufferAttr();
  for (Operation *user : value.getUsers())
    if (auto write = dyn_cast<batch::WriteOp>(user))
      return write.getBufferAttr();
  auto stage = value.getDefiningOp()->getParentOfType<batch::StageOp>();
  auto buffer = FlatSymbolRefAttr::get(
      declare.buffer(value.getLoc(), stage.getSymName() + ".kept", stage.getIndexSetAttr(), value.getType()));
  OpBuilder b = OpBuilder::atBlockEnd(&stage.getBody().front());
  batch::WriteOp::create(b, value.getLoc(), value, buffer.getValue());
  return buffer;
}

//===-- Adjoint stages ------------------------------------------------------------------------------===//

/// What was last is first.
LogicalResult Adjoints::reverse(ArrayRef<Operation *> forward, OpBuilder &b) {
  for (Operation *op : llvm::reverse(forward)) {
    if (auto stage = dyn_cast<batch::StageOp>(op)) {
      if (isOfModel(stage.getIndexSetAttr()))
        modelStages.push_back(stage);
      else if (failed(reverseStage(stage, b)))
        return failure();
      continue;
    }
    Operation *loop;
    if (auto levels = dyn_cast<batch::LevelsOp>(op))
      loop = batch::LevelsOp::create(b, op->getLoc(), levels.getGroup(), !levels.getReverse());
    else
      loop = batch::StepsOp::create(b, op->getLoc(), cast<batch::StepsOp>(op).getIndexSet(),
                                    !cast<batch::StepsOp>(op).getReverse());
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
  batch::StageOp to =
      declare.stage(b, stage.getLoc(), stage.getSymName() + ".adjoint", stage.getIndexSetAttr());
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
    contribute(copy, read->second, adjoint);
    return success();
  }
  if (activity.isOfParams(op->getResult(0))) { // at the end, for all rows
    paramUses[op->getParentOfType<batch::StageOp>()].push_back(
        {op, inBuffer(copy, adjoint, copy.to.getSymName() + ".value")});
    return success();
  }
  auto derivative = dyn_cast<dyn::DerivativeOpInterface>(copy.of(op));
  if (!derivative)
    return refuseGradient(op, "`" + op->getName().getStringRef() + "` has no derivative");
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
        {op, inBuffer(copy, adjoint, copy.to.getSymName() + ".value")});
  return success();
}

//===-- Gradients of parameters ---------------------------------------------------------------------===//

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
    auto stage = value.getDefiningOp()->getParentOfType<batch::StageOp>();
    batch::BufferOp buffer = declare.buffer(value.getLoc(), stage.getSymName() + ".params.adjoint",
                                            declare.batchIndexSet(), value.getType());
    cleared.push_back(buffer);
    sum = FlatSymbolRefAttr::get(buffer);
  }
  return sum;
}

/// What an operation of a row gives to the adjoints of operands that are the same at each row.
LogicalResult Adjoints::accumulateOperands(StageCopy &copy, Operation *op, Value adjoint) {
  auto derivative = dyn_cast<dyn::DerivativeOpInterface>(copy.of(op));
  if (!derivative)
    return refuseGradient(op, "`" + op->getName().getStringRef() + "` has no derivative");
  auto into = [&](Value operand, Value amount, Value index = {}, Value outer = {}) {
    batch::AccumulateOp::create(copy.b, op->getLoc(), amount, sumOf(operand).getValue(), index, outer);
  };
  for (auto [n, operand] : llvm::enumerate(op->getOperands())) {
    if (!activity.isOfParams(operand))
      continue;
    auto gather = dyn_cast<dyn::GatherOp>(op);
    auto product = dyn_cast<linalg::ContractOp>(op);
    auto isVector = [](Value value) { return dyn::extents(value.getType()).size() == 1; };
    if (gather && gather.getIndex().getType().isInteger(32)) {
      into(operand, adjoint, copy.of(gather.getIndex()));
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
  batch::StageOp to =
      declare.stage(b, stage.getLoc(), stage.getSymName() + ".gradient", stage.getIndexSetAttr());
  to.setWhenAttr(stage.getWhenAttr());
  {
    StageCopy copy(stage, to);
    for (const ParamUse &use : uses) {
      Location loc = use.op->getLoc();
      auto buffer = declare.find<batch::BufferOp>(use.adjoint);
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
  batch::StageOp to =
      declare.stage(b, stage.getLoc(), stage.getSymName() + ".params.gradient", declare.batchIndexSet());
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
    if (isa<dyn::GetOp, batch::ReadOp>(op)) {
      batch::AccumulateOp::create(copy.b, op.getLoc(), adjoint, sumOf(op.getResult(0)).getValue(), Value(),
                                  Value());
      continue;
    }
    auto derivative = dyn_cast<dyn::DerivativeOpInterface>(copy.of(&op));
    if (!derivative)
      return refuseGradient(&op, "`" + op.getName().getStringRef() + "` has no derivative");
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
    auto op = declare.find<batch::BufferOp>(buffer);
    batch::BufferOp sum =
        declare.buffer(op.getLoc(), buffer.getValue() + ".adjoint", declare.batchIndexSet(), op.getType());
    cleared.push_back(sum);
    adjoint = FlatSymbolRefAttr::get(sum);
  }
  return adjoint;
}

/// What is computed when the model is made is made of parameters: all rows have given to its adjoint.
LogicalResult Adjoints::reverseModelStage(batch::StageOp stage, OpBuilder &b) {
  SmallVector<Sum> added;
  for (auto write : stage.getBody().front().getOps<batch::WriteOp>())
    if (FlatSymbolRefAttr adjoint = modelAdjoints.lookup(write.getBufferAttr().getAttr()))
      added.push_back({write.getValue(), adjoint});
  return throughParams(stage, added, b);
}

bool Adjoints::isOfModel(FlatSymbolRefAttr indexSet) {
  return declare.find<kernel::IndexSetOp>(indexSet).getKind() == kernel::IndexSetKind::Model;
}

/// What is added up is 0 before anything is added, and so is what no row writes.
void Adjoints::clear() {
  OpBuilder b(program.getContext());
  for (Operation &op : program.getBody().front())
    if (op.hasTrait<batch::Scheduled>()) {
      b.setInsertionPoint(&op);
      break;
    }
  for (auto &[param, gradient] : gradients) {
    batch::GradientOp::create(b, program.getLoc(), param.getValue(), gradient.getValue());
    cleared.push_back(declare.find<batch::BufferOp>(gradient));
  }
  for (batch::BufferOp buffer : cleared) {
    Location loc = buffer.getLoc();
    batch::StageOp stage = declare.stage(b, loc, buffer.getSymName() + ".clear", buffer.getIndexSetAttr());
    OpBuilder in = OpBuilder::atBlockEnd(&stage.getBody().front());
    TypedAttr zero = in.getF32FloatAttr(0);
    if (auto tensor = dyn_cast<RankedTensorType>(buffer.getType()))
      zero = DenseElementsAttr::get(tensor, cast<Attribute>(zero));
    batch::WriteOp::create(in, loc, arith::ConstantOp::create(in, loc, zero).getResult(),
                           buffer.getSymName());
  }
}

} // namespace dbc::passes
