// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenListOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/lower/Reductions.h"

using namespace mlir;

namespace dbc::passes {

void ListOperations::nodes(dyn::NodesOp op) {
  ListInfo nodes = lists.reachable(op.getLoc(), op.getNode().getType(), env.structural(op.getNode()));
  env.set(op.getResult(), AbstractValue::of(nodes));
}

void ListOperations::empty(dyn::EmptyOp op) {
  ListInfo info;
  info.first = info.length = structure.integer(0);
  info.element = op.getType().getElement();
  env.set(op.getResult(), AbstractValue::of(info));
}

void ListOperations::range(dyn::RangeOp op) {
  Location loc = op.getLoc();
  ListInfo info;
  info.first = env.structural(op.getLow());
  Value high = env.structural(op.getHigh());
  info.length = arith::MaxSIOp::create(b, loc, high, info.first);
  if (!StructureWriter::isZero(info.first)) // what is empty has no length that could overflow
    info.length = structure.checked(loc, dyn::IntKind::Sub, info.length, info.first);
  info.element = b.getI32Type();
  env.set(op.getResult(), AbstractValue::of(info));
}

void ListOperations::length(dyn::LenOp op) {
  env.set(op.getResult(), AbstractValue::structural(listOf(op.getList()).length));
}

void ListOperations::zip(dyn::ZipOp op) {
  Location loc = op.getLoc();
  std::vector<ListInfo> infos = env.lists(op.getLists());
  Value first = infos[0].length;
  for (auto [info, result] : llvm::zip(infos, op.getResults())) {
    env.set(result, AbstractValue::of(info));
    if (first != info.length)
      structure.check(loc, kernel::ErrorKind::Lengths,
                      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, first, info.length), "zip",
                      {first, info.length});
  }
}

void ListOperations::reverse(dyn::ReverseOp op) {
  ListInfo info = listOf(op.getList());
  Value last = structure.sub(info.length, structure.integer(1));
  info.first = lists.positionRow(info, last);
  info.stride = -info.stride;
  env.set(op.getResult(), AbstractValue::of(info));
}

void ListOperations::slice(dyn::SliceOp op) {
  Location loc = op.getLoc();
  ListInfo info = listOf(op.getList());
  Value low = env.structural(op.getLow()), high = env.structural(op.getHigh());
  auto fits = [&](Value bound) {
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, bound, structure.integer(0));
    Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, bound, info.length);
    return arith::AndIOp::create(b, loc, low, high).getResult();
  };
  Value lowFits = fits(low), highFits = fits(high);
  structure.check(loc, kernel::ErrorKind::Slice, arith::AndIOp::create(b, loc, lowFits, highFits), "slice",
                  {low, high, info.length});
  info.first = lists.positionRow(info, low);
  Value count = structure.sub(high, low);
  info.length = arith::MaxSIOp::create(b, loc, count, structure.integer(0)); // empty, like a range
  env.set(op.getResult(), AbstractValue::of(info));
}

void ListOperations::at(dyn::AtOp op, RowContext at) {
  Location loc = op.getLoc();
  ListInfo info = listOf(op.getList());
  if (!env.isStructural(op.getIndex())) {
    if (!structure.isIndex())
      return env.set(op.getResult(), AbstractValue());
    std::string name = StageWriter::label(op, at);
    if (info.isStructural())
      info = copies.asComputed(op, info, at);
    return env.set(op.getResult(), stages.segment(loc, op.getType(), name, dyn::ReduceKind::Pick, info, at,
                                                  env.lookup(op.getIndex()), maybe(op.getWhen())));
  }
  Value index = env.structural(op.getIndex());
  Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, structure.integer(0));
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, info.length);
  structure.check(loc, kernel::ErrorKind::ListIndex, arith::AndIOp::create(b, loc, low, high), "index",
                  {index, info.length});
  env.set(op.getResult(), lists.element(info, index));
}

void ListOperations::reduce(dyn::ReduceListOp op, RowContext at) {
  using dyn::ReduceKind;
  Location loc = op.getLoc();
  ListInfo list = listOf(op.getList());
  ReduceKind kind = op.getKind();
  bool integers = list.isStructural();
  // The position of the largest is computed even where the numbers are structure (S1), and so is what is made
  // of a list that a `while` ends (S4).
  if (integers && (kind == ReduceKind::ArgMax || !dyn::isStructural(op.getResult()))) {
    integers = false;
    if (structure.isIndex())
      list = copies.asComputed(op, list, at);
  }
  if (!integers && !structure.isIndex())
    return env.set(op.getResult(), AbstractValue());
  if (dyn::needsElement(kind)) {
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, list.length, structure.integer(0));
    structure.check(loc, kernel::ErrorKind::Empty, some, dyn::stringifyReduceKind(kind), {});
  }
  env.set(op.getResult(), integers ? AbstractValue::structural(reduceIntegers(op, list))
                                   : stages.segment(loc, op.getType(), StageWriter::label(op, at), kind, list,
                                                    at, {}, maybe(op.getWhen())));
}

/// In the structure function.
Value ListOperations::reduceIntegers(dyn::ReduceListOp op, const ListInfo &list) {
  Location loc = op.getLoc();
  Reduction fold(b, loc, op.getKind(), op.getType(),
                 [&](Value x, Value y) { return structure.checked(loc, dyn::IntKind::Add, x, y); });
  auto each = [&](int64_t from, ValueRange init, Reduction::Next next) {
    OpBuilder::InsertionGuard guard(b);
    auto loop = kernel::ForOp::create(b, loc, init.getTypes(), structure.integer(from), list.length, init,
                                      UnitAttr());
    Block *block = &loop.getBody().emplaceBlock();
    Value j = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("j"), loc));
    StringRef carriedName = op.getKind() == dyn::ReduceKind::Sum ? "sum" : "best";
    block->addArguments(init.getTypes(),
                        SmallVector<Location>(init.size(), NameLoc::get(b.getStringAttr(carriedName), loc)));
    b.setInsertionPointToEnd(block);
    SmallVector<Value> carried = next(j, block->getArguments().drop_front());
    kernel::YieldOp::create(b, loc, carried);
    return llvm::to_vector_of<Value>(loop.getResults());
  };
  return fold.over(
      each, [&](Value j) { return lists.element(list, j).scalar; },
      /*length=*/[]() -> Value { llvm_unreachable("no mean of integers"); });
}

} // namespace dbc::passes
