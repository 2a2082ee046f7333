// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/AdjointDeclarations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

AdjointDeclarations::AdjointDeclarations(kernel::ProgramOp program)
    : program(program), names(program), b(program.getContext()) {
  program.walk([&](Operation *op) {
    if (auto name = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      taken.insert(name.getValue());
  });
  for (Operation &op : program.getBody().front()) {
    if (auto found = dyn_cast<kernel::ScheduleOp>(op))
      schedule = found;
    if (auto relation = dyn_cast<batch::RelationOp>(op))
      relations[{relation.getFromAttr(), relation.getIndexArrayAttr(), relation.getToAttr()}] = relation;
    if (batch::isScheduled(&op)) {
      b.setInsertionPoint(&op);
      break;
    }
  }
}

/// A name that nothing of the program has, numbered as dyn-to-batch does.
std::string AdjointDeclarations::unique(const Twine &name) {
  std::string found = name.str();
  for (unsigned number = 2; !taken.insert(found).second; ++number)
    found = (name + "." + Twine(number)).str();
  return found;
}

kernel::BufferOp AdjointDeclarations::buffer(Location loc, const Twine &name, FlatSymbolRefAttr indexSet,
                                             Type type) {
  return named(kernel::BufferOp::create(b, loc, unique(name), indexSet.getValue(), type));
}

batch::StageOp AdjointDeclarations::stage(OpBuilder &b, Location loc, batch::StageRole role,
                                          FlatSymbolRefAttr indexSet) {
  StringRef rows = indexSet.getValue();
  auto stage = batch::StageOp::create(b, loc, batch::purposeOf(rows, role), rows, role);
  stage.getBody().emplaceBlock();
  return stage;
}

std::string AdjointDeclarations::nameOf(Value value) {
  Operation *op = value.getDefiningOp();
  return batch::valueName(op->getParentOfType<batch::StageOp>().getIndexSet(), op);
}

batch::RelationOp AdjointDeclarations::relation(Location loc, FlatSymbolRefAttr from, StringRef indexArray,
                                                FlatSymbolRefAttr to) {
  batch::RelationOp &known = relations[{from, b.getStringAttr(indexArray), to}];
  if (!known)
    known = named(batch::RelationOp::create(b, loc, unique("rel." + from.getValue() + "." + indexArray),
                                            from.getValue(), to, indexArray, batch::MultiplicityAttr()));
  return known;
}

batch::TransposeOp AdjointDeclarations::transpose(batch::RelationOp relation) {
  batch::TransposeOp &known = transposes[relation];
  if (!known) {
    StringRef name = relation.getSymName();
    name.consume_front("rel.");
    known = named(batch::TransposeOp::create(b, relation.getLoc(), unique("of." + name),
                                             FlatSymbolRefAttr::get(relation), FlatSymbolRefAttr(),
                                             FlatSymbolRefAttr()));
  }
  return known;
}

batch::TransposeOp AdjointDeclarations::transpose(Location loc, FlatSymbolRefAttr numbers,
                                                  FlatSymbolRefAttr rows) {
  batch::TransposeOp &known = transposesOfNumbers[{numbers, rows}];
  if (!known)
    known = named(batch::TransposeOp::create(b, loc, unique("of." + numbers.getValue()), FlatSymbolRefAttr(),
                                             numbers, rows));
  return known;
}

kernel::IndexSetOp AdjointDeclarations::elements(batch::SegmentOp segment) {
  kernel::IndexSetOp &known = elementsOf[segment];
  if (known)
    return known;
  auto stage = segment->getParentOfType<batch::StageOp>();
  auto from = find<kernel::IndexSetOp>(stage.getIndexSetAttr());
  auto list = find<batch::ListRelationOp>(segment.getListAttr());
  Location loc = segment.getLoc();
  const bool inLoop = isa<kernel::TimeStepLoopInterface>(stage->getParentOp());
  FlatSymbolRefAttr stepsOf;
  if (inLoop)
    stepsOf = from.getKind() == kernel::IndexSetKind::Steps && from.getByTimeStep() ? stage.getIndexSetAttr()
                                                                                    : from.getStepsOfAttr();
  OpBuilder::InsertionGuard guard(b);
  known = named(kernel::IndexSetOp::create(
      b, loc, unique(stage.getIndexSet() + ".elements"), kernel::IndexSetKind::Elements,
      stage.getIndexSetAttr(),
      b.getStrArrayAttr({kernel::kParentArray, kernel::kRowArray, "position", "length"}), FlatSymbolRefAttr(),
      IntegerAttr(), inLoop, stepsOf,
      /*masked=*/false, IntegerAttr(), /*filled=*/0,
      /*sites=*/DenseI64ArrayAttr()));
  auto func = named(kernel::FuncOp::create(b, loc, unique("index." + known.getSymName()),
                                           kernel::FuncKind::Index, stage.getIndexSetAttr(), ArrayAttr()));
  Type i32 = b.getI32Type();
  Block *body = &func.getBody().emplaceBlock();
  Value row = body->addArgument(i32, NameLoc::get(b.getStringAttr("row")));
  body->addArgument(i32, NameLoc::get(b.getStringAttr("owner")));
  b.setInsertionPointToEnd(body);
  auto load = [&](FlatSymbolRefAttr indexSet, StringRef indexArray, Value at) -> Value {
    return kernel::LoadOp::create(b, loc, i32, indexSet.getValue(), b.getStringAttr(indexArray),
                                  ValueRange(at));
  };
  auto integer = [&](int32_t i) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
  };
  Value first = load(stage.getIndexSetAttr(), list.getFirst(), row),
        length = load(stage.getIndexSetAttr(), list.getLength(), row);
  // Lists may be long that the input does not hold itself.
  kernel::ReserveMemoryOp::create(b, loc, b.getArrayAttr(FlatSymbolRefAttr::get(known)), length,
                                  dyn::sourceLocation(segment.getLoc()));
  auto loop = kernel::ForOp::create(b, loc, TypeRange(), integer(0), length, ValueRange());
  Block *inside = &loop.getBody().emplaceBlock();
  Value position = inside->addArgument(i32, NameLoc::get(b.getStringAttr("e")));
  b.setInsertionPointToEnd(inside);
  Value element = list.getStride() == 1 ? arith::AddIOp::create(b, loc, first, position).getResult()
                                        : arith::SubIOp::create(b, loc, first, position).getResult();
  if (segment.getViaAttr()) {
    auto via = find<batch::RelationOp>(segment.getViaAttr());
    element = load(via.getFromAttr(), via.getIndexArray(), element);
  }
  kernel::PushOp::create(b, loc, known.getSymName(), ValueRange{row, element, position, length});
  kernel::YieldOp::create(b, loc, ValueRange());
  b.setInsertionPointToEnd(&schedule.getBody().front());
  kernel::IndexOp::create(b, loc, func.getSymName());
  if (inLoop)
    kernel::TimeStepsOp::create(b, loc, known.getSymName(), /*nested=*/false);
  return known;
}

FlatSymbolRefAttr AdjointDeclarations::bufferOf(Value value) {
  if (auto read = value.getDefiningOp<batch::ReadOp>())
    return read.getBufferAttr();
  for (Operation *user : value.getUsers())
    if (auto write = dyn_cast<batch::WriteOp>(user))
      return write.getBufferAttr();
  auto stage = value.getDefiningOp()->getParentOfType<batch::StageOp>();
  auto kept =
      FlatSymbolRefAttr::get(buffer(value.getLoc(), nameOf(value), stage.getIndexSetAttr(), value.getType()));
  OpBuilder in = OpBuilder::atBlockEnd(&stage.getBody().front());
  batch::WriteOp::create(in, value.getLoc(), value, kept.getValue());
  return kept;
}

FlatSymbolRefAttr AdjointDeclarations::batchIndexSet() {
  if (!batchSet)
    batchSet = named(
        kernel::IndexSetOp::create(b, program.getLoc(), unique("batch"), kernel::IndexSetKind::Batch, {}));
  return FlatSymbolRefAttr::get(batchSet);
}

AdjointDeclarations::Rows AdjointDeclarations::rowsOf(FlatSymbolRefAttr array) {
  Operation *op = names.lookup(array.getValue());
  if (auto buffer = dyn_cast<kernel::BufferOp>(op))
    return {buffer.getIndexSetAttr(), buffer.getType()};
  FlatSymbolRefAttr own = batch::rowsOf(op);
  kernel::IndexSetOp &known = columnOf[own];
  if (!known)
    known =
        named(kernel::IndexSetOp::create(b, op->getLoc(), unique((own ? own.getValue() : "all") + ".rows"),
                                         kernel::IndexSetKind::Column, {}, array));
  return {FlatSymbolRefAttr::get(known), kernel::rowType(op)};
}

AdjointDeclarations::Distinct
AdjointDeclarations::distinct(Location loc, const Twine &name,
                              ArrayRef<std::pair<FlatSymbolRefAttr, StringAttr>> indexArrays,
                              ArrayRef<Attribute> numbers, ArrayRef<int32_t> always, int64_t extent) {
  auto indexSet = named(kernel::IndexSetOp::create(b, loc, unique(name), kernel::IndexSetKind::Distinct,
                                                   {kernel::kRowArray},
                                                   /*parent=*/{}, extent));
  SmallVector<Attribute> from, names, rows;
  for (auto [set, indexArray] : indexArrays) {
    from.push_back(set);
    names.push_back(indexArray);
    rows.push_back(find<kernel::IndexSetOp>(set).addFilled(indexArray));
  }
  auto distinct = FlatSymbolRefAttr::get(indexSet);
  batch::DistinctOp::create(b, loc, distinct, b.getArrayAttr(from), b.getArrayAttr(names),
                            b.getArrayAttr(rows), numbers.empty() ? ArrayAttr() : b.getArrayAttr(numbers),
                            always.empty() ? DenseI32ArrayAttr() : b.getDenseI32ArrayAttr(always));
  Distinct made{distinct, {}};
  for (auto [set, array] : llvm::zip(from, rows))
    made.relations.push_back(
        relation(loc, cast<FlatSymbolRefAttr>(set), cast<StringAttr>(array).getValue(), distinct));
  return made;
}

void AdjointDeclarations::gradient(StringRef param, StringRef buffer) {
  kernel::GradientOp::create(b, program.getLoc(), param, buffer);
}

void AdjointDeclarations::inputGradient(FlatSymbolRefAttr array, StringRef buffer) {
  kernel::InputGradientOp::create(b, program.getLoc(), array.getValue(), buffer);
}

kernel::ArgumentOp AdjointDeclarations::lossWeights() {
  return named(kernel::ArgumentOp::create(b, program.getLoc(), unique("loss.weight"), "weight", 0,
                                          kernel::FieldArray::LossWeight, b.getF32Type(), IntegerAttr()));
}

} // namespace dbc::passes
