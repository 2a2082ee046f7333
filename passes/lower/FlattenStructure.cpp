// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenStructure.h"
#include "ir/Dyn/Binders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

StructureWriter::StructureWriter(kernel::FuncOp func, Operation *owner)
    : func(func), ownerOp(owner), b(OpBuilder::atBlockEnd(&func.getBody().front())) {}

Value StructureWriter::integer(int64_t value) {
  return arith::ConstantOp::create(b, func.getLoc(), b.getI32IntegerAttr(value)).getResult();
}

bool StructureWriter::isZero(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto attr = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return attr && attr.getInt() == 0;
}

/// Sums of row numbers cannot overflow: a batch has fewer than 2^31 rows.
Value StructureWriter::add(Value x, Value y) {
  return isZero(x) ? y : isZero(y) ? x : arith::AddIOp::create(b, y.getLoc(), x, y).getResult();
}
Value StructureWriter::sub(Value x, Value y) {
  return isZero(y) ? x : arith::SubIOp::create(b, y.getLoc(), x, y).getResult();
}

Value StructureWriter::checked(Location loc, dyn::IntKind kind, Value x, Value y) {
  return kernel::IntOp::create(b, loc, b.getI32Type(), kind, x, y, b.getStringAttr(dyn::sourceLocation(loc)),
                               /*row=*/Value());
}

Value StructureWriter::asIndex(Value value) {
  return value.getType().isInteger(1)
             ? arith::ExtUIOp::create(b, value.getLoc(), b.getI32Type(), value).getResult()
             : value;
}

Value StructureWriter::fromIndex(Location loc, Type type, Value number) {
  return type.isInteger(1)
             ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, number, integer(0)).getResult()
             : number;
}

kernel::ForOp StructureWriter::loop(Location loc, Value length, function_ref<void(Value)> body) {
  auto loop =
      kernel::ForOp::create(b, loc, TypeRange(), integer(0), length, ValueRange(), /*vector=*/UnitAttr());
  Block *block = &loop.getBody().emplaceBlock();
  Value j = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("j"), loc));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(block);
  body(j);
  kernel::YieldOp::create(b, loc, ValueRange());
  return loop;
}

void StructureWriter::when(Location loc, Value condition, function_ref<void()> body) {
  auto cond = kernel::IfOp::create(b, loc, TypeRange(), condition);
  Block &then = cond.getThen().emplaceBlock(), &otherwise = cond.getOtherwise().emplaceBlock();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&then);
  body();
  kernel::YieldOp::create(b, loc, ValueRange());
  b.setInsertionPointToEnd(&otherwise);
  kernel::YieldOp::create(b, loc, ValueRange());
}

void StructureWriter::check(Location loc, kernel::ErrorKind kind, Value condition, StringRef what,
                            ValueRange values) {
  kernel::CheckOp::create(b, loc, kind, condition, what, dyn::sourceLocation(loc), values);
}

void StructureWriter::checkIndex(Location loc, Value value, int64_t bound) {
  Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, value, integer(0));
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value, integer(bound));
  Value inside = arith::AndIOp::create(b, loc, low, high);
  check(loc, kernel::ErrorKind::Index, inside, "index", {value, integer(bound)});
}

void StructureWriter::reserveMemory(Location loc, Value count, ArrayRef<const IndexSetInfo *> indexSets) {
  SmallVector<Attribute> names;
  for (const IndexSetInfo *indexSet : indexSets)
    names.push_back(FlatSymbolRefAttr::get(b.getContext(), indexSet->name));
  kernel::ReserveMemoryOp::create(b, loc, b.getArrayAttr(names), count, dyn::sourceLocation(loc));
}

void StructureWriter::reserveMemoryFor(Operation *binder, Value count,
                                       ArrayRef<const IndexSetInfo *> indexSets) {
  if (!isOwn(binder))
    reserveMemory(binder->getLoc(), count, indexSets);
}

/// Whether a binder goes, once, through a field or argument of what this function runs for, so that all its
/// rows together are no more than the input has.
bool StructureWriter::isOwn(Operation *binder) {
  if (dyn::CellOp cell = ownerCell(); cell && !dyn::secondaryKeys(cell).empty())
    return false; // a node has several instances
  for (Operation *around = binder->getParentOp(); around != ownerOp; around = around->getParentOp())
    if (!around || dyn::isBinder(around))
      return false; // without an end: it stands in a cell that is called, and walked here for its lists
  Value list = binder->getOperand(0);
  if (auto field = list.getDefiningOp<dyn::FieldOp>())
    list = field.getNode();
  auto argument = dyn_cast<BlockArgument>(list);
  return argument && argument.getOwner()->getParentOp() == ownerOp;
}

} // namespace dbc::passes
