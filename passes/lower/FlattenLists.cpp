// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Lists: binders become spaces, everything else is arithmetic on the bounds of lists.
#include "ir/Dyn/Binders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/lower/FlattenWalk.h"
#include "passes/lower/Reductions.h"

using namespace mlir;

namespace dbc::passes {

// The dialects have the kinds in one order.
static_assert(unsigned(batch::ReduceKind::All) == unsigned(dyn::ReduceKind::All) &&
              unsigned(batch::ReduceKind::LogSumExp) == unsigned(dyn::ReduceKind::LogSumExp) &&
              unsigned(batch::ReduceKind::ArgMax) == unsigned(dyn::ReduceKind::ArgMax) &&
              unsigned(batch::ReduceKind::Pick) == unsigned(dyn::ReduceKind::All) + 1);

bool Walk::callsCells(Block &body) {
  return body.getParentOp()->walk([](dyn::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

Value Walk::positionRow(const ListInfo &list, Value j) {
  return list.stride == 1 ? structure.add(list.first, j) : structure.sub(list.first, j);
}

AbstractValue Walk::element(const ListInfo &list, Value j) {
  Location loc = j.getLoc();
  auto loaded = [&](StringRef array, StringAttr column, Value row) {
    Type type = list.element.isInteger(1) ? Type(b.getI1Type()) : Type(b.getI32Type());
    return AbstractValue::structural(kernel::LoadOp::create(b, loc, type, array, column, row));
  };
  switch (list.from) {
  case From::Range:
    return AbstractValue::structural(positionRow(list, j));
  case From::Items:
    return loaded(list.array, StringAttr(), positionRow(list, j));
  case From::Column:
    return loaded(list.of, b.getStringAttr(list.via), positionRow(list, j));
  case From::Rows:
    return structure.isIndex() ? AbstractValue::stored(list.array, positionRow(list, j), list.carried)
                               : AbstractValue();
  case From::Lists: {
    Value p = positionRow(list, j);
    ListInfo inner = *list.inner;
    Type i32 = b.getI32Type();
    if (!list.lastEnds.empty()) {
      inner.first = kernel::LoadOp::create(b, loc, i32, list.firsts, StringAttr(), p);
      Value last = kernel::LoadOp::create(b, loc, i32, list.lastEnds, StringAttr(), p);
      inner.length = structure.sub(last, inner.first);
    } else {
      inner.first = kernel::LoadOp::create(b, loc, i32, list.of, b.getStringAttr(list.firsts), p);
      inner.length = kernel::LoadOp::create(b, loc, i32, list.of, b.getStringAttr(list.lengths), p);
    }
    return AbstractValue::of(inner);
  }
  case From::Via: {
    if (!structure.isIndex())
      return AbstractValue();
    Value row = kernel::LoadOp::create(b, loc, b.getI32Type(), list.of, b.getStringAttr(list.via),
                                       positionRow(list, j));
    return AbstractValue::stored(list.array, row, list.carried);
  }
  }
  llvm_unreachable("all kinds of lists are handled");
}

/// In the walk that writes calls. Structural results, and the bounds of lists, lie in rows of a space, for
/// calls may need them; of others only the length counts.
void Walk::mapCalls(dyn::MapOp op, const std::vector<ListInfo> &lists) {
  Block &body = op.getBody().front();
  auto isList = [](Value result) {
    return isa<dyn::ListType>(cast<dyn::ListType>(result.getType()).getElement());
  };
  SpaceInfo *rows = nullptr;
  SmallVector<bool> kept;
  for (Value result : op.getResults()) {
    kept.push_back(!result.use_empty() && (isList(result) || env.isStructural(result)));
    if (kept.back() && !rows)
      rows = program.addSpace(op.getLoc(), "map", kernel::SpaceKind::States, nullptr);
  }
  std::vector<ListInfo> infos(op.getNumResults());
  Value first = rows ? kernel::CountOp::create(b, op.getLoc(), b.getI32Type(), rows->name).getResult()
                     : structure.integer(0);
  for (auto [k, info] : llvm::enumerate(infos)) {
    info.from = From::Rows;
    if (!kept[k])
      continue;
    rows->used = true;
    auto add = [&](const char *name) {
      rows->addColumn(name + (k ? std::to_string(k + 1) : ""));
      return rows->columns.back();
    };
    if (isList(op.getResult(k))) {
      info.firsts = add("first");
      info.lengths = add("length");
    } else {
      info.from = From::Column;
      info.of = rows->name;
      info.via = add("value");
    }
  }
  if (rows || callsCells(body)) {
    structure.claimFor(op, lists[0].length,
                       rows ? ArrayRef<const SpaceInfo *>(rows) : ArrayRef<const SpaceInfo *>());
    structure.loop(op.getLoc(), lists[0].length, [&](Value j) {
      for (auto [arg, list] : llvm::zip(body.getArguments(), lists))
        env.set(arg, element(list, j));
      block(body, RowContext());
      SmallVector<Value> values;
      for (auto [k, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
        if (!kept[k])
          continue;
        if (!isList(op.getResult(k))) {
          values.push_back(structure.asColumn(env.structural(value)));
          continue;
        }
        const ListInfo &inner = env.lookup(value).list;
        values.push_back(inner.first);
        values.push_back(inner.length);
        infos[k] = ListInfo::ofLists(inner, *rows, infos[k].firsts, infos[k].lengths);
      }
      if (rows)
        kernel::PushOp::create(b, op.getLoc(), rows->name, values);
    });
  }
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    infos[k].element = cast<dyn::ListType>(result.getType()).getElement();
    infos[k].first = first;
    infos[k].length = lists[0].length;
    env.set(result, AbstractValue::of(infos[k]));
  }
}

void Walk::map(dyn::MapOp op, RowContext at) {
  Block &body = op.getBody().front();
  std::vector<ListInfo> lists;
  for (Value list : op.getLists())
    lists.push_back(env.lookup(list).list);

  if (!structure.isIndex())
    return mapCalls(op, lists);

  SpaceInfo *space =
      program.addSpace(op.getLoc(), stages.label(op, at), kernel::SpaceKind::Elements, at.space);
  Value base = kernel::CountOp::create(b, op.getLoc(), b.getI32Type(), space->name);
  std::vector<AbstractValue> yielded;
  SmallVector<std::string> columns(op.getNumResults());
  kernel::ForOp elements = structure.loop(op.getLoc(), lists[0].length, [&](Value j) {
    RowContext inner{space, kernel::CountOp::create(b, op.getLoc(), b.getI32Type(), space->name)};
    stages.column(space, at.row, "parent");
    stages.keepElement(op.getLoc(), space, lists[0], j);
    for (auto [arg, list] : llvm::zip(body.getArguments(), lists))
      env.set(arg, element(list, j));
    block(body, inner);
    for (auto [k, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      AbstractValue result = env.lookup(value);
      if (result.is(Kind::List)) {
        result.list = ListInfo::ofLists(result.list, *space, stages.column(space, result.list.first, "first"),
                                        stages.column(space, result.list.length, "length"));
        yielded.push_back(result);
        continue;
      }
      if (env.isOfConstants(result))
        result = AbstractValue::structural(env.structural(value));
      if (result.is(Kind::Model)) { // the same for every element, but a list wants rows
        std::string buffer = program.addBuffer(space->name + ".value", space, value.getType());
        stages.write(op.getLoc(), value, result, buffer, inner);
        result = AbstractValue::stored(buffer, inner.row);
      }
      if (result.is(Kind::Structural) || result.scalar != inner.row)
        columns[k] = stages.column(space, result.scalar, dyn::sourceName(value.getLoc()));
      else
        space->used = true;
      yielded.push_back(result);
    }
    stages.push(inner);
  });
  if (space->used) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(elements);
    structure.claimFor(op, lists[0].length, space);
  }
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    ListInfo info = lists[0].ends() ? lists[0] : ListInfo();
    if (yielded[k].is(Kind::List))
      info = yielded[k].list;
    info.stride = 1;
    info.first = base;
    info.length = lists[0].length;
    info.element = cast<dyn::ListType>(result.getType()).getElement();
    if (yielded[k].is(Kind::List)) {
      env.set(result, AbstractValue::of(info));
      continue;
    }
    info.of = space->name;
    info.via = columns[k];
    info.array = yielded[k].array;
    info.carried = yielded[k].carried;
    info.from = yielded[k].is(Kind::Structural) ? From::Column : columns[k].empty() ? From::Rows : From::Via;
    env.set(result, AbstractValue::of(info));
  }
}

/// The elements that stay are rows of a space: structural ones themselves, computed ones as the row that they
/// lie in.
void Walk::filter(dyn::FilterOp op, RowContext at) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  std::vector<ListInfo> lists;
  for (Value list : op.getLists())
    lists.push_back(env.lookup(list).list);
  SpaceInfo *stay = program.addSpace(loc, (at.space ? at.space->name + "." : "") + "filtered",
                                     kernel::SpaceKind::States, nullptr);
  stay->used = true;
  std::vector<int> columnOf(lists.size(), -1);
  for (auto [k, list] : llvm::enumerate(lists)) {
    std::string number = k ? std::to_string(k + 1) : "";
    if (!structure.isIndex() && !list.isStructural() && list.from != From::Lists)
      continue;
    columnOf[k] = stay->columns.size();
    if (list.from == From::Lists)
      for (const char *bound : {"first", "length"})
        stay->addColumn(bound + number);
    else
      stay->addColumn("element" + number);
  }
  Value first = kernel::CountOp::create(b, loc, b.getI32Type(), stay->name);
  SpaceInfo *candidates = structure.isIndex() ? program.addSpace(loc, at.space->name + ".filter",
                                                                 kernel::SpaceKind::Elements, at.space)
                                              : nullptr;
  structure.claimFor(op, lists[0].length, stay);
  structure.loop(loc, lists[0].length, [&](Value j) {
    RowContext inner;
    if (structure.isIndex()) {
      inner = {candidates, kernel::CountOp::create(b, loc, b.getI32Type(), candidates->name)};
      stages.column(candidates, at.row, "parent");
      candidates->used = false;
    }
    SmallVector<Value> values;
    for (auto [k, list] : llvm::enumerate(lists)) {
      AbstractValue each = element(list, j);
      env.set(body.getArgument(k), each);
      if (columnOf[k] < 0)
        continue;
      if (each.is(Kind::List)) {
        values.push_back(each.list.first);
        values.push_back(each.list.length);
      } else {
        values.push_back(each.scalar);
      }
    }
    block(body, inner);
    auto cond =
        kernel::IfOp::create(b, loc, TypeRange(), env.structural(body.getTerminator()->getOperand(0)));
    Block &then = cond.getThen().emplaceBlock(), &otherwise = cond.getOtherwise().emplaceBlock();
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(&then);
      for (Value &value : values)
        value = structure.asColumn(value);
      if (stay->columns.empty()) // only how many they are counts
        kernel::ReserveOp::create(b, loc, b.getI32Type(), stay->name, structure.integer(1));
      else
        kernel::PushOp::create(b, loc, stay->name, values);
      kernel::YieldOp::create(b, loc, ValueRange());
      b.setInsertionPointToEnd(&otherwise);
      kernel::YieldOp::create(b, loc, ValueRange());
    }
    if (structure.isIndex())
      stages.push(inner);
  });
  Value length = structure.sub(kernel::CountOp::create(b, loc, b.getI32Type(), stay->name), first);
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    ListInfo info;
    if (lists[k].from == From::Lists)
      info = ListInfo::ofLists(*lists[k].inner, *stay, stay->columns[columnOf[k]],
                               stay->columns[columnOf[k] + 1]);
    info.element = lists[k].element;
    info.first = first;
    info.length = length;
    if (lists[k].from == From::Lists) {
      env.set(result, AbstractValue::of(info));
      continue;
    }
    info.of = stay->name;
    info.via = columnOf[k] < 0 ? "" : stay->columns[columnOf[k]];
    if (lists[k].isStructural()) {
      info.from = From::Column;
    } else if (structure.isIndex()) {
      info.from = From::Via;
      info.array = lists[k].array;
      info.carried = lists[k].carried;
    } else {
      info.from = From::Rows;
      info.first = structure.integer(0);
    }
    env.set(result, AbstractValue::of(info));
  }
}

void Walk::reduceList(dyn::ReduceListOp op, RowContext at) {
  using dyn::ReduceKind;
  Location loc = op.getLoc();
  ListInfo list = env.lookup(op.getList()).list;
  ReduceKind kind = op.getKind();
  bool integers = list.isStructural();
  // The position of the largest is computed even where the numbers are structure (S1), and so is what is made
  // of a list that a `while` ends (S4).
  if (integers && (kind == ReduceKind::ArgMax || !dyn::isStructural(op.getResult()))) {
    integers = false;
    if (structure.isIndex())
      list = asComputed(op, list, at);
  }
  if (!integers && !structure.isIndex())
    return env.set(op.getResult(), AbstractValue());
  if (kind == ReduceKind::Mean || kind == ReduceKind::Max || kind == ReduceKind::Min ||
      kind == ReduceKind::ArgMax) {
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, list.length, structure.integer(0));
    structure.check(loc, kernel::Fault::Empty, some, dyn::stringifyReduceKind(kind), {});
  }
  if (integers) {
    Reduction fold(b, loc, kind, op.getType(), [&](Value x, Value y) -> Value {
      return kernel::IntOp::create(b, loc, b.getI32Type(), dyn::IntKind::Add, x, y,
                                   b.getStringAttr(dyn::sourcePlace(loc)), /*row=*/Value());
    });
    Value whole = fold.over(
        [&](int64_t from, ValueRange init, Reduction::Next next) {
          OpBuilder::InsertionGuard guard(b);
          auto loop = kernel::ForOp::create(b, loc, init.getTypes(), structure.integer(from), list.length,
                                            init, UnitAttr());
          Block *block = &loop.getBody().emplaceBlock();
          Value j = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr("j"), loc));
          block->addArguments(
              init.getTypes(),
              SmallVector<Location>(init.size(), NameLoc::get(b.getStringAttr("so_far"), loc)));
          b.setInsertionPointToEnd(block);
          SmallVector<Value> carried = next(j, block->getArguments().drop_front());
          kernel::YieldOp::create(b, loc, carried);
          return llvm::to_vector_of<Value>(loop.getResults());
        },
        [&](Value j) { return element(list, j).scalar; },
        /*length=*/[]() -> Value { llvm_unreachable("no mean of whole numbers"); });
    return env.set(op.getResult(), AbstractValue::structural(whole));
  }
  env.set(op.getResult(), stages.segment(op.getLoc(), op.getType(), stages.label(op, at),
                                         static_cast<batch::ReduceKind>(kind), list, at, {},
                                         op.getWhen() ? env.lookup(op.getWhen()) : AbstractValue()));
}

/// The nodes of a node's own type that can be reached from it.
ListInfo Walk::reached(Location loc, dyn::NodeType type, Value node) {
  StringRef data = type.getData().getValue();
  SpaceInfo *space = program.addSpace(loc, data.str() + ".nodes", kernel::SpaceKind::States, nullptr);
  space->addColumn("node");
  space->used = true;
  Type i32 = b.getI32Type();
  auto reach = kernel::ReachOp::create(b, loc, i32, i32, space->name, data, node);
  ListInfo info;
  info.from = From::Column;
  info.of = space->name;
  info.via = "node";
  info.first = reach.getFirst();
  info.length = reach.getLength();
  info.element = type;
  return info;
}

void Walk::listOp(Operation *op, RowContext at) {
  Location loc = op->getLoc();
  auto list = [&](Value v) { return env.lookup(v).list; };
  if (auto nodes = dyn_cast<dyn::NodesOp>(op))
    return env.set(nodes.getResult(), AbstractValue::of(reached(loc, nodes.getNode().getType(),
                                                                env.structural(nodes.getNode()))));
  if (auto empty = dyn_cast<dyn::EmptyOp>(op)) {
    ListInfo info;
    info.first = info.length = structure.integer(0);
    info.element = empty.getType().getElement();
    return env.set(empty.getResult(), AbstractValue::of(info));
  }
  if (auto range = dyn_cast<dyn::RangeOp>(op)) {
    ListInfo info;
    info.first = env.structural(range.getLow());
    Value high = env.structural(range.getHigh());
    if (structure.isZero(info.first)) {
      info.length = arith::MaxSIOp::create(b, loc, high, info.first);
    } else { // what is empty has no length that could overflow
      Value last = arith::MaxSIOp::create(b, loc, high, info.first);
      info.length = kernel::IntOp::create(b, loc, b.getI32Type(), dyn::IntKind::Sub, last, info.first,
                                          b.getStringAttr(dyn::sourcePlace(loc)), /*row=*/Value());
    }
    info.element = b.getI32Type();
    return env.set(range.getResult(), AbstractValue::of(info));
  }
  if (auto len = dyn_cast<dyn::LenOp>(op)) {
    return env.set(len.getResult(), AbstractValue::structural(list(len.getList()).length));
  }
  if (auto zip = dyn_cast<dyn::ZipOp>(op)) {
    ListInfo *first = nullptr;
    std::vector<ListInfo> infos;
    for (Value v : zip.getLists())
      infos.push_back(list(v));
    for (auto [info, result] : llvm::zip(infos, zip.getResults())) {
      env.set(result, AbstractValue::of(info));
      if (first && first->length != info.length)
        structure.check(loc, kernel::Fault::Lengths,
                        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, first->length, info.length),
                        "zip", {first->length, info.length});
      if (!first)
        first = &info;
    }
    return;
  }
  if (auto reverse = dyn_cast<dyn::ReverseOp>(op)) {
    ListInfo info = list(reverse.getList());
    Value last = structure.sub(info.length, structure.integer(1));
    info.first = info.stride == 1 ? structure.add(info.first, last) : structure.sub(info.first, last);
    info.stride = -info.stride;
    return env.set(reverse.getResult(), AbstractValue::of(info));
  }
  if (auto slice = dyn_cast<dyn::SliceOp>(op)) {
    ListInfo info = list(slice.getList());
    Value low = env.structural(slice.getLow()), high = env.structural(slice.getHigh());
    auto fits = [&](Value bound) {
      Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, bound, structure.integer(0));
      Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, bound, info.length);
      return arith::AndIOp::create(b, loc, low, high).getResult();
    };
    structure.check(loc, kernel::Fault::Slice, arith::AndIOp::create(b, loc, fits(low), fits(high)), "slice",
                    {low, high, info.length});
    info.first = info.stride == 1 ? structure.add(info.first, low) : structure.sub(info.first, low);
    info.length =
        arith::MaxSIOp::create(b, loc, structure.sub(high, low), structure.integer(0)); // empty, like a range
    return env.set(slice.getResult(), AbstractValue::of(info));
  }
  auto at_ = cast<dyn::AtOp>(op);
  ListInfo info = list(at_.getList());
  if (!env.isStructural(at_.getIndex())) {
    if (!structure.isIndex())
      return env.set(at_.getResult(), AbstractValue());
    return env.set(at_.getResult(),
                   stages.segment(loc, at_.getType(), stages.label(at_, at), batch::ReduceKind::Pick,
                                  info.isStructural() ? asComputed(op, info, at) : info, at,
                                  env.lookup(at_.getIndex()),
                                  at_.getWhen() ? env.lookup(at_.getWhen()) : AbstractValue()));
  }
  Value index = env.structural(at_.getIndex());
  Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, structure.integer(0));
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, info.length);
  structure.check(loc, kernel::Fault::ListIndex, arith::AndIOp::create(b, loc, low, high), "index",
                  {index, info.length});
  env.set(at_.getResult(), element(info, index));
}

} // namespace dbc::passes
