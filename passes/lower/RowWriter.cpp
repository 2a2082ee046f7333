// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/RowWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dbc::passes {

RowWriter::RowWriter(batch::StageOp stage, kernel::FuncOp func, kernel::IndexSetOp indexSet,
                     FlatSymbolRefAttr order, const SymbolTable &relations, const SymbolTable &arrays)
    : LoopWriter(stage.getLoc(), stage.mayRepeat()), func(func), indexSet(indexSet), relations(relations),
      arrays(arrays), blockRows(stage.getSchedule() ? stage.getSchedule()->getRows() : 1), order(order) {}

void RowWriter::blocks(function_ref<void()> body) {
  b.setInsertionPointToEnd(&entry());
  Value begin = entry().getArgument(0), end = entry().getArgument(1);
  if (indexSet.isOfModel() || (indexSet.hasOneRow() && blockRows == 1)) {
    // A row of its own. (A loop around it would also be one that LLVM 22 thinks of making vectors of, in time
    // that doubles with each element of an unrolled maximum.)
    base_ = begin;
    count_ = integer(1);
    body();
  } else if (blockRows == 1) {
    loop(begin, end, "p", ValueRange(), [&](Value p, ValueRange) -> SmallVector<Value> {
      base_ = p;
      count_ = integer(1);
      body();
      return {};
    });
  } else {
    auto blocks = kernel::BlocksOp::create(b, loc, begin, end, blockRows);
    Block *block = &blocks.getBody().emplaceBlock();
    base_ = block->addArgument(b.getI32Type(), named("first"));
    count_ = block->addArgument(b.getI32Type(), named("count"));
    b.setInsertionPointToEnd(block);
    body();
    b.setInsertionPointToEnd(block);
    kernel::YieldOp::create(b, loc, ValueRange());
  }
}

void RowWriter::rows(function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  indices.clear();
  lists.clear();
  auto at = [&](Value row) {
    return order ? kernel::OrderOp::create(b, loc, b.getI32Type(), order, row).getResult() : row;
  };
  if (blockRows == 1) {
    i_ = integer(0);
    row_ = at(base_);
    body();
    return;
  }
  loop(integer(0), count_, "i", ValueRange(), [&](Value i, ValueRange) -> SmallVector<Value> {
    i_ = i;
    row_ = at(addInt(base_, i));
    body();
    return {};
  });
  indices.clear();
  lists.clear();
}

Value RowWriter::index(StringRef name) {
  if (indexSet.isTable()) // of a table: the row's own number
    return row_;
  Value &known = indices[name];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(row_);
    known = kernel::LoadOp::create(b, loc, b.getI32Type(), indexSet.getSymName(), b.getStringAttr(name),
                                   ValueRange(row_));
  }
  return known;
}

RowWriter::List RowWriter::list(batch::SegmentOp op) {
  if (batch::ListRelationOp list = listOf(op))
    return {index(list.getFirst()), index(list.getLength())};
  Value at = row();
  if (op.getAt())
    at = index(relations.lookup<batch::RelationOp>(*op.getAt()).getIndexArray());
  auto begin = [&](Value row) -> Value {
    return kernel::LoadOp::create(b, loc, b.getI32Type(), op.getList(), b.getStringAttr(kernel::kBeginArray),
                                  ValueRange(row));
  };
  Value first = begin(at);
  return {first, arith::SubIOp::create(b, loc, begin(addInt(at, integer(1))), first)};
}

RowWriter::List RowWriter::listOfRow(batch::SegmentOp op) {
  if (op.getAt()) // stands before what is loaded by it
    (void)index(relations.lookup<batch::RelationOp>(*op.getAt()).getIndexArray());
  Attribute at = op.getAtAttr() ? Attribute(op.getAtAttr()) : b.getUnitAttr();
  auto [known, isNew] = lists.try_emplace(b.getArrayAttr({op.getListAttr(), at}));
  if (isNew) {
    OpBuilder::InsertionGuard guard(b);
    Operation *behind = row_.getDefiningOp();
    assert(behind && "a block has several rows");
    auto isOfRow = [](Operation *next) { // none where the loop in hand is yet to be put there
      return next && isa<kernel::LoadOp, arith::AddIOp, arith::SubIOp, arith::ConstantOp>(next);
    };
    while (isOfRow(behind->getNextNode()))
      behind = behind->getNextNode(); // what else is loaded of the row
    b.setInsertionPointAfter(behind);
    known->second = list(op);
    // The emitter makes a variable of what has a name: it is known before the loops that wait for it.
    if (auto length = known->second.length.getDefiningOp<arith::SubIOp>())
      length->setLoc(named("length"));
  }
  return known->second;
}

Value RowWriter::rowOfList(batch::SegmentOp op, Value first, Value k) {
  batch::ListRelationOp list = listOf(op);
  Value r =
      !list || list.getStride() == 1 ? addInt(first, k) : arith::SubIOp::create(b, loc, first, k).getResult();
  if (!list)
    r = kernel::LoadOp::create(b, loc, b.getI32Type(), op.getList(), b.getStringAttr(kernel::kRowArray),
                               ValueRange(r));
  if (op.getVia()) {
    auto via = relations.lookup<batch::RelationOp>(*op.getVia());
    r = kernel::LoadOp::create(b, loc, b.getI32Type(), via.getFrom(), via.getIndexArrayAttr(), ValueRange(r));
  }
  return inMemory(op.getArray(), r, op.getAgo().value_or(0));
}

Value RowWriter::window(StringRef array, int64_t ago) {
  auto buffer = arrays.lookup<kernel::BufferOp>(array);
  if (!buffer || !buffer.getLive())
    return {};
  auto number = [&](int64_t n) { return b.getI32IntegerAttr(n); };
  Value &known = windows[b.getArrayAttr({buffer.getIndexSetAttr(), buffer.getLiveAttr(), number(ago)})];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry());
    known = kernel::WindowOp::create(b, loc, b.getI32Type(), buffer.getIndexSetAttr(), buffer.getLiveAttr(),
                                     number(ago));
  }
  return known;
}

Value RowWriter::inMemory(StringRef array, Value row, int64_t ago) {
  Value first = window(array, ago);
  if (!first)
    return row;
  Value &known = inWindows[{row, first}];
  if (!known) { // beside the row, so that it is outside of loops over its elements
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(row);
    known = arith::SubIOp::create(b, loc, row, first);
  }
  return known;
}

bool RowWriter::hasOneRow(FlatSymbolRefAttr buffer) {
  auto array = arrays.lookup<kernel::BufferOp>(buffer.getAttr());
  if (!array)
    return false;
  return arrays.lookup<kernel::IndexSetOp>(array.getIndexSetAttr().getAttr()).hasOneRow();
}

Type RowWriter::elementTypeOf(StringRef array) {
  Operation *declaration = arrays.lookup(array);
  return llvm::TypeSwitch<Operation *, Type>(declaration)
      .Case<kernel::BufferOp, kernel::FieldOp, kernel::ArgumentOp>(
          [](auto op) { return dyn::scalar(op.getType()); });
}

Value RowWriter::checkedInt(dyn::IntKind kind, Value x, Value y, Location at) {
  return kernel::IntOp::create(b, at, b.getI32Type(), kind, x, y, b.getStringAttr(dyn::sourceLocation(at)),
                               row_);
}

Value RowWriter::checked(Location at, kernel::ErrorKind kind, Value condition, Value value,
                         ValueRange numbers, StringRef what) {
  SmallVector<Value> values{row_};
  llvm::append_range(values, numbers);
  kernel::CheckOp::create(b, at, kind, condition, what, dyn::sourceLocation(at), values);
  Value zero = value.getType().isInteger(32) ? integer(0) : real(0);
  return arith::SelectOp::create(b, at, condition, value, zero);
}

} // namespace dbc::passes
