// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Numbers: integers of the structure are computed in the structure function, everything else becomes stages,
// one an op.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Products.h"
#include "passes/lower/FlattenWalk.h"

using namespace mlir;

namespace dbc::passes {

AbstractValue Walk::known(Value value) {
  auto it = env.find(value);
  assert(it != env.end() && "a value is walked before its uses");
  return it->second;
}

Value Walk::integer(int64_t value) {
  return arith::ConstantOp::create(b, func.getLoc(), b.getI32IntegerAttr(value)).getResult();
}

bool Walk::isZero(Value v) {
  auto constant = v.getDefiningOp<arith::ConstantOp>();
  auto attr = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return attr && attr.getInt() == 0;
}

/// Sums of row numbers cannot overflow: a batch has fewer than 2^31 rows.
Value Walk::add(Value x, Value y) {
  return isZero(x) ? y : isZero(y) ? x : arith::AddIOp::create(b, y.getLoc(), x, y).getResult();
}
Value Walk::sub(Value x, Value y) {
  return isZero(y) ? x : arith::SubIOp::create(b, y.getLoc(), x, y).getResult();
}

/// Whether a value of the model is a whole number or truth made of constants: comparisons of what arms give
/// are not folded before the arms are walked.
bool Walk::isOfConstants(const AbstractValue &k) {
  if (!k.is(Kind::Model) || !k.scalar.getType().isSignlessInteger())
    return false;
  if (auto at = ofConstants.find(k.scalar); at != ofConstants.end())
    return at->second;
  Operation *op = k.scalar.getDefiningOp();
  bool result =
      isa<arith::ConstantOp>(op) ||
      (isa<arith::ArithDialect>(op->getDialect()) &&
       llvm::all_of(op->getOperands(), [&](Value operand) { return isOfConstants(known(operand)); }));
  return ofConstants[k.scalar] = result;
}

Value Walk::structural(Value value) {
  AbstractValue k = known(value);
  if (k.is(Kind::Structural))
    return k.scalar;
  if (isOfConstants(k))
    return cloneModel(b, k.scalar);
  emitError(value.getLoc(), "structure is asked of what is computed; the checker should have refused this");
  failed = true;
  return integer(0);
}

void Walk::check(Location loc, kernel::Fault fault, Value condition, StringRef what, ValueRange values) {
  kernel::CheckOp::create(b, loc, fault, condition, what, dyn::sourcePlace(loc), values);
}

/// Integer ops on structural integers: part of the structure function.
bool Walk::structuralOp(Operation *op, RowContext at) {
  if (!isa<dyn::IntOp, dyn::NarrowOp, dyn::SameOp>(op) &&
      !isa<arith::CmpIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, arith::ExtUIOp,
           arith::MaxSIOp, arith::MinSIOp>(op))
    return false;
  bool any = false;
  for (Value operand : op->getOperands()) {
    AbstractValue k = known(operand);
    if (!k.is(Kind::Structural) && !isOfConstants(k))
      return false;
    any |= k.is(Kind::Structural);
  }
  Type type = op->getResult(0).getType();
  if (!type.isInteger(32) && !type.isInteger(1))
    return false;
  if (!any && !isa<dyn::IntOp, dyn::NarrowOp>(op))
    return false;
  Location loc = op->getLoc();
  auto operand = [&](unsigned n) { return structural(op->getOperand(n)); };
  StringAttr where = b.getStringAttr(dyn::sourcePlace(loc));
  Value result;
  if (auto same = dyn_cast<dyn::SameOp>(op)) {
    result = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, operand(0), operand(1));
  } else if (auto narrow = dyn_cast<dyn::NarrowOp>(op)) {
    result = operand(0);
    checkIndex(loc, result, narrow.getBound());
  } else if (auto integer = dyn_cast<dyn::IntOp>(op)) {
    Value x = operand(0), y = operand(1);
    switch (integer.getKind()) {
    case dyn::IntKind::Max:
      result = arith::MaxSIOp::create(b, loc, x, y);
      break;
    case dyn::IntKind::Min:
      result = arith::MinSIOp::create(b, loc, x, y);
      break;
    default:
      result = kernel::IntOp::create(b, loc, b.getI32Type(), integer.getKind(), x, y, where, /*row=*/Value());
    }
  } else {
    IRMapping mapping;
    for (auto [n, v] : llvm::enumerate(op->getOperands()))
      mapping.map(v, operand(n));
    result = b.clone(*op, mapping)->getResult(0);
  }
  set(op->getResult(0), AbstractValue::structural(result));
  return true;
}

/// `value` must be 0 .. bound - 1.
void Walk::checkIndex(Location loc, Value value, int64_t bound) {
  Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, value, integer(0));
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value, integer(bound));
  check(loc, kernel::Fault::Index, arith::AndIOp::create(b, loc, low, high), "index",
        {value, integer(bound)});
}

bool Walk::usesParam(Operation *op) {
  if (auto at = ofParams.find(op); at != ofParams.end())
    return at->second;
  bool result = isa<dyn::GetOp>(op) || llvm::any_of(op->getOperands(), [&](Value v) {
                  return v.getDefiningOp() && usesParam(v.getDefiningOp());
                });
  return ofParams[op] = result;
}

/// A tensor without axes; there are no buffers of these, its one number is kept instead.
static bool hasNoAxes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

void Walk::computed(Operation *op, RowContext at) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && hasNoAxes(extract.getTensor().getType()))
    if (AbstractValue k = known(extract.getTensor()); k.is(Kind::Stored) || k.is(Kind::Nothing)) {
      set(extract.getResult(), k);
      return;
    }
  bool model = llvm::all_of(op->getOperands(), [&](Value v) { return known(v).is(Kind::Model); });
  if (model && (!usesParam(op) || isWeights(op->getResult(0)))) {
    for (Value result : op->getResults())
      set(result, AbstractValue::model(result));
    return;
  }
  if (!indexing) {
    for (Value result : op->getResults())
      set(result, AbstractValue());
    return;
  }
  // Made of parameters alone: computed once, when the model is loaded.
  if (model)
    at = {program.modelSpace(), integer(0)};
  if (auto take = dyn_cast<dyn::TakeOp>(op))
    if (take.getChecked() && known(take.getIndex()).is(Kind::Structural))
      checkIndex(op->getLoc(), known(take.getIndex()).scalar, dyn::extents(take.getTensor().getType())[0]);
  batch::StageOp stage = this->stage(op->getLoc(), label(op, at), at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, load(inside, op->getLoc(), operand, known(operand), at));
  Operation *clone = inside.clone(*op, mapping);
  clone->removeAttr("checked");
  for (auto [result, value] : llvm::zip(op->getResults(), clone->getResults())) {
    Value number = value;
    if (hasNoAxes(value.getType()))
      number = tensor::ExtractOp::create(inside, op->getLoc(), value, ValueRange());
    std::string buffer = program.addBuffer(stage.getSymName(), at.space, number.getType());
    own[buffer] = true;
    batch::WriteOp::create(inside, op->getLoc(), number, buffer);
    set(result, AbstractValue::stored(buffer, at.row));
  }
}

std::string Walk::label(Operation *op, RowContext at) {
  std::string name = op->getNumResults() ? dyn::sourceName(op->getResult(0).getLoc()) : std::string();
  if (name.empty())
    name = op->getName().stripDialect().str();
  return at.space->name + "." + name;
}

batch::StageOp Walk::stage(Location loc, StringRef name, RowContext at) {
  std::string alive = aliveIn(at.space);
  batch::StageOp stage = stageOfAll(loc, name, at);
  if (!alive.empty())
    stage.setWhenAttr(program.symbol(alive));
  return stage;
}

batch::StageOp Walk::stageOfAll(Location loc, StringRef name, RowContext at) {
  for (SpaceInfo *space = at.space; space; space = space->parent)
    space->used = true;
  return made.emplace_back(program.addStage(loc, name, at.space));
}

Value Walk::load(OpBuilder &builder, Location loc, Value source, const AbstractValue &k, RowContext at) {
  switch (k.kind) {
  case Kind::Structural:
    return batch::ColumnOp::create(builder, loc, k.scalar.getType(),
                                   column(at.space, k.scalar, source ? dyn::sourceName(source.getLoc()) : ""))
        .getResult();
  case Kind::Stored: {
    SpaceInfo *home = program.spaceOf(k.array);
    Type type = source ? source.getType() : program.typeOf(k.array);
    if (home == program.modelSpace() || (home == at.space && k.scalar == at.row))
      return batch::ReadOp::create(builder, loc, type, k.array);
    std::string by = column(at.space, k.scalar, source ? dyn::sourceName(source.getLoc()) : "");
    return batch::GatherOp::create(builder, loc, type, program.symbol(k.array),
                                   program.relation(loc, at.space->name, by, k.array),
                                   program.symbol(k.carried),
                                   /*ago=*/IntegerAttr());
  }
  case Kind::Model:
    return cloneModel(builder, k.scalar);
  default:
    break;
  }
  llvm_unreachable("only numbers are loaded");
}

Value Walk::cloneModel(OpBuilder &builder, Value source) {
  IRMapping cloned;
  return cloneModel(builder, source, cloned);
}

Value Walk::cloneModel(OpBuilder &builder, Value source, IRMapping &cloned) {
  if (Value known = cloned.lookupOrNull(source))
    return known;
  Operation *op = source.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    // What an arm gives is known by the arm's value: the match around it stays behind.
    mapping.map(operand, cloneModel(builder, known(operand).scalar, cloned));
  cloned.map(op->getResults(), builder.clone(*op, mapping)->getResults());
  return cloned.lookup(source);
}

std::string Walk::column(SpaceInfo *space, Value value, StringRef hint) {
  auto [it, isNew] = space->columnOf.try_emplace(value, space->columns.size());
  if (isNew) {
    std::string base = hint.empty() ? dyn::sourceName(value.getLoc()) : hint.str();
    if (base.empty())
      base = value.getDefiningOp() ? value.getDefiningOp()->getName().stripDialect().str() : "row";
    space->addColumn(std::move(base));
    space->values.push_back(value);
  }
  for (SpaceInfo *each = space; each; each = each->parent)
    each->used = true;
  return space->columns[it->second];
}

void Walk::push(RowContext at) {
  SpaceInfo *space = at.space;
  bool existing = space->kind == kernel::SpaceKind::Instances || space->kind == kernel::SpaceKind::Inputs;
  if (!space->used && !existing)
    return;
  SmallVector<Value> values;
  for (Value value : space->values)
    values.push_back(asColumn(value));
  if (!existing) {
    kernel::PushOp::create(b, func.getLoc(), space->name, values);
    return;
  }
  for (auto [name, value] : llvm::drop_begin(llvm::zip(space->columns, values), space->given))
    kernel::SetOp::create(b, func.getLoc(), space->name, name, at.row, value);
}

void Walk::write(Location loc, Value source, const AbstractValue &value, StringRef buffer, RowContext at,
                 Value row) {
  batch::StageOp stage = this->stage(loc, (at.space->name + "." + "copy"), at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  Value loaded = load(inside, loc, source, value, at);
  SpaceInfo *home = program.spaceOf(buffer);
  if (!row || (home == at.space && row == at.row)) {
    batch::WriteOp::create(inside, loc, loaded, buffer);
    return;
  }
  batch::ScatterOp::create(inside, loc, loaded, program.symbol(buffer),
                           program.relation(loc, at.space->name, column(at.space, row, "after"), buffer));
}

} // namespace dbc::passes
