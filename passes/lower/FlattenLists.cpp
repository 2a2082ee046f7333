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
  return list.stride == 1 ? add(list.first, j) : sub(list.first, j);
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
    return indexing ? AbstractValue::stored(list.array, positionRow(list, j), list.carried) : AbstractValue();
  case From::Lists: {
    Value p = positionRow(list, j);
    ListInfo inner = *list.inner;
    Type i32 = b.getI32Type();
    if (!list.lastEnds.empty()) {
      inner.first = kernel::LoadOp::create(b, loc, i32, list.firsts, StringAttr(), p);
      Value last = kernel::LoadOp::create(b, loc, i32, list.lastEnds, StringAttr(), p);
      inner.length = sub(last, inner.first);
    } else {
      inner.first = kernel::LoadOp::create(b, loc, i32, list.of, b.getStringAttr(list.firsts), p);
      inner.length = kernel::LoadOp::create(b, loc, i32, list.of, b.getStringAttr(list.lengths), p);
    }
    return AbstractValue::of(inner);
  }
  case From::Via: {
    if (!indexing)
      return AbstractValue();
    Value row = kernel::LoadOp::create(b, loc, b.getI32Type(), list.of, b.getStringAttr(list.via),
                                       positionRow(list, j));
    return AbstractValue::stored(list.array, row, list.carried);
  }
  }
  llvm_unreachable("all kinds of lists are handled");
}

ListInfo Walk::listOfLists(const ListInfo &inner, const SpaceInfo &space, std::string firsts,
                           std::string lengths) {
  assert(!inner.ends() && "the checker lets no element be a list whose length is computed");
  ListInfo info;
  info.from = From::Lists;
  info.inner = std::make_shared<ListInfo>(inner);
  info.of = space.name;
  info.firsts = std::move(firsts);
  info.lengths = std::move(lengths);
  return info;
}

kernel::ForOp Walk::loop(Location loc, Value length, function_ref<void(Value)> body) {
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

bool Walk::isOwn(Operation *binder) {
  if (auto cell = dyn_cast<dyn::CellOp>(owner); cell && !dyn::furtherKeys(cell).empty())
    return false; // a node has several instances
  for (Operation *around = binder->getParentOp(); around != owner; around = around->getParentOp())
    if (!around || dyn::isBinder(around))
      return false; // without an end: it stands in a cell that is called, and walked here for its lists
  Value list = binder->getOperand(0);
  if (auto field = list.getDefiningOp<dyn::FieldOp>())
    list = field.getNode();
  auto argument = dyn_cast<BlockArgument>(list);
  return argument && argument.getOwner()->getParentOp() == owner;
}

void Walk::claim(Location loc, Value count, ArrayRef<SpaceInfo *> spaces) {
  SmallVector<Attribute> names;
  for (SpaceInfo *space : spaces)
    names.push_back(program.symbol(space->name));
  kernel::ClaimOp::create(b, loc, b.getArrayAttr(names), count, dyn::sourcePlace(loc));
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
    kept.push_back(!result.use_empty() && (isList(result) || isStructural(result)));
    if (kept.back() && !rows)
      rows = program.addSpace(op.getLoc(), "map", kernel::SpaceKind::States, nullptr);
  }
  std::vector<ListInfo> infos(op.getNumResults());
  Value first =
      rows ? kernel::CountOp::create(b, op.getLoc(), b.getI32Type(), rows->name).getResult() : integer(0);
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
  if (!isOwn(op) && (rows || callsCells(body)))
    claim(op.getLoc(), lists[0].length, rows ? ArrayRef<SpaceInfo *>(rows) : ArrayRef<SpaceInfo *>());
  if (rows || callsCells(body))
    loop(op.getLoc(), lists[0].length, [&](Value j) {
      for (auto [arg, list] : llvm::zip(body.getArguments(), lists))
        set(arg, element(list, j));
      block(body, RowContext());
      SmallVector<Value> values;
      for (auto [k, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
        if (!kept[k])
          continue;
        if (!isList(op.getResult(k))) {
          values.push_back(asColumn(structural(value)));
          continue;
        }
        const ListInfo &inner = known(value).list;
        values.push_back(inner.first);
        values.push_back(inner.length);
        infos[k] = listOfLists(inner, *rows, infos[k].firsts, infos[k].lengths);
      }
      if (rows)
        kernel::PushOp::create(b, op.getLoc(), rows->name, values);
    });
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    infos[k].element = cast<dyn::ListType>(result.getType()).getElement();
    infos[k].first = first;
    infos[k].length = lists[0].length;
    set(result, AbstractValue::of(infos[k]));
  }
}

void Walk::map(dyn::MapOp op, RowContext at) {
  Block &body = op.getBody().front();
  std::vector<ListInfo> lists;
  for (Value list : op.getLists())
    lists.push_back(known(list).list);

  if (!indexing)
    return mapCalls(op, lists);

  SpaceInfo *space = program.addSpace(op.getLoc(), label(op, at), kernel::SpaceKind::Elements, at.space);
  Value base = kernel::CountOp::create(b, op.getLoc(), b.getI32Type(), space->name);
  std::vector<AbstractValue> yielded;
  SmallVector<std::string> columns(op.getNumResults());
  kernel::ForOp elements = loop(op.getLoc(), lists[0].length, [&](Value j) {
    RowContext inner{space, kernel::CountOp::create(b, op.getLoc(), b.getI32Type(), space->name)};
    column(space, at.row, "parent");
    if (lists[0].ends())
      keep(op.getLoc(), space, stepOf(lists[0], j));
    for (auto [arg, list] : llvm::zip(body.getArguments(), lists))
      set(arg, element(list, j));
    block(body, inner);
    for (auto [k, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      AbstractValue result = known(value);
      if (result.is(Kind::List)) {
        result.list = listOfLists(result.list, *space, column(space, result.list.first, "first"),
                                  column(space, result.list.length, "length"));
        yielded.push_back(result);
        continue;
      }
      if (isOfConstants(result))
        result = AbstractValue::structural(structural(value));
      if (result.is(Kind::Model)) { // the same for every element, but a list wants rows
        std::string buffer = program.addBuffer(space->name + ".value", space, value.getType());
        write(op.getLoc(), value, result, buffer, inner);
        result = AbstractValue::stored(buffer, inner.row);
      }
      if (result.is(Kind::Structural) || result.scalar != inner.row)
        columns[k] = column(space, result.scalar, dyn::sourceName(value.getLoc()));
      else
        space->used = true;
      yielded.push_back(result);
    }
    push(inner);
  });
  if (space->used && !isOwn(op)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(elements);
    claim(op.getLoc(), lists[0].length, space);
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
      set(result, AbstractValue::of(info));
      continue;
    }
    info.of = space->name;
    info.via = columns[k];
    info.array = yielded[k].array;
    info.carried = yielded[k].carried;
    info.from = yielded[k].is(Kind::Structural) ? From::Column : columns[k].empty() ? From::Rows : From::Via;
    set(result, AbstractValue::of(info));
  }
}

/// The elements that stay are rows of a space: structural ones themselves, computed ones as the row that they
/// lie in.
void Walk::filter(dyn::FilterOp op, RowContext at) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  std::vector<ListInfo> lists;
  for (Value list : op.getLists())
    lists.push_back(known(list).list);
  SpaceInfo *stay = program.addSpace(loc, (at.space ? at.space->name + "." : "") + "filtered",
                                     kernel::SpaceKind::States, nullptr);
  stay->used = true;
  std::vector<int> columnOf(lists.size(), -1);
  for (auto [k, list] : llvm::enumerate(lists)) {
    std::string number = k ? std::to_string(k + 1) : "";
    if (!indexing && !list.isStructural() && list.from != From::Lists)
      continue;
    columnOf[k] = stay->columns.size();
    if (list.from == From::Lists)
      for (const char *bound : {"first", "length"})
        stay->addColumn(bound + number);
    else
      stay->addColumn("element" + number);
  }
  Value first = kernel::CountOp::create(b, loc, b.getI32Type(), stay->name);
  SpaceInfo *candidates =
      indexing ? program.addSpace(loc, at.space->name + ".filter", kernel::SpaceKind::Elements, at.space)
               : nullptr;
  if (!isOwn(op))
    claim(loc, lists[0].length, stay);
  loop(loc, lists[0].length, [&](Value j) {
    RowContext inner;
    if (indexing) {
      inner = {candidates, kernel::CountOp::create(b, loc, b.getI32Type(), candidates->name)};
      column(candidates, at.row, "parent");
      candidates->used = false;
    }
    SmallVector<Value> values;
    for (auto [k, list] : llvm::enumerate(lists)) {
      AbstractValue each = element(list, j);
      set(body.getArgument(k), each);
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
    auto cond = kernel::IfOp::create(b, loc, TypeRange(), structural(body.getTerminator()->getOperand(0)));
    Block &then = cond.getThen().emplaceBlock(), &otherwise = cond.getOtherwise().emplaceBlock();
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(&then);
      for (Value &value : values)
        value = asColumn(value);
      if (stay->columns.empty()) // only how many they are counts
        kernel::ReserveOp::create(b, loc, b.getI32Type(), stay->name, integer(1));
      else
        kernel::PushOp::create(b, loc, stay->name, values);
      kernel::YieldOp::create(b, loc, ValueRange());
      b.setInsertionPointToEnd(&otherwise);
      kernel::YieldOp::create(b, loc, ValueRange());
    }
    if (indexing)
      push(inner);
  });
  Value length = sub(kernel::CountOp::create(b, loc, b.getI32Type(), stay->name), first);
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    ListInfo info;
    if (lists[k].from == From::Lists)
      info = listOfLists(*lists[k].inner, *stay, stay->columns[columnOf[k]], stay->columns[columnOf[k] + 1]);
    info.element = lists[k].element;
    info.first = first;
    info.length = length;
    if (lists[k].from == From::Lists) {
      set(result, AbstractValue::of(info));
      continue;
    }
    info.of = stay->name;
    info.via = columnOf[k] < 0 ? "" : stay->columns[columnOf[k]];
    if (lists[k].isStructural()) {
      info.from = From::Column;
    } else if (indexing) {
      info.from = From::Via;
      info.array = lists[k].array;
      info.carried = lists[k].carried;
    } else {
      info.from = From::Rows;
      info.first = integer(0);
    }
    set(result, AbstractValue::of(info));
  }
}

void Walk::reduceList(dyn::ReduceListOp op, RowContext at) {
  using dyn::ReduceKind;
  Location loc = op.getLoc();
  ListInfo list = known(op.getList()).list;
  ReduceKind kind = op.getKind();
  bool integers = list.isStructural();
  // The position of the largest is computed even where the numbers are structure (S1), and so is what is made
  // of a list that a `while` ends (S4).
  if (integers && (kind == ReduceKind::ArgMax || !dyn::isStructural(op.getResult()))) {
    integers = false;
    if (indexing)
      list = asComputed(op, list, at);
  }
  if (!integers && !indexing)
    return set(op.getResult(), AbstractValue());
  if (kind == ReduceKind::Mean || kind == ReduceKind::Max || kind == ReduceKind::Min ||
      kind == ReduceKind::ArgMax) {
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, list.length, integer(0));
    check(loc, kernel::Fault::Empty, some, dyn::stringifyReduceKind(kind), {});
  }
  if (integers) {
    Reduction fold(b, loc, kind, op.getType(), [&](Value x, Value y) -> Value {
      return kernel::IntOp::create(b, loc, b.getI32Type(), dyn::IntKind::Add, x, y,
                                   b.getStringAttr(dyn::sourcePlace(loc)), /*row=*/Value());
    });
    Value whole = fold.over(
        [&](int64_t from, ValueRange init, Reduction::Next next) {
          OpBuilder::InsertionGuard guard(b);
          auto loop =
              kernel::ForOp::create(b, loc, init.getTypes(), integer(from), list.length, init, UnitAttr());
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
    return set(op.getResult(), AbstractValue::structural(whole));
  }
  set(op.getResult(), segment(op.getLoc(), op.getType(), label(op, at), static_cast<batch::ReduceKind>(kind),
                              list, at, {}, op.getWhen() ? known(op.getWhen()) : AbstractValue()));
}

/// A stage that reduces the rows of a list, or picks the one at `index`.
AbstractValue Walk::segment(Location loc, Type type, StringRef name, batch::ReduceKind kind,
                            const ListInfo &list, RowContext at, const AbstractValue &index,
                            const AbstractValue &when) {
  batch::StageOp stage = this->stage(loc, name, at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  auto loaded = [&](const AbstractValue &k) {
    return k.is(Kind::Nothing) ? Value() : load(inside, loc, Value(), k, at);
  };
  bool via = list.from == From::Via;
  AbstractValue count = list.ends() ? AbstractValue::stored(list.count, list.owner) : AbstractValue();
  // The order in which the space gets columns, which the emitted code shows.
  Value countValue = loaded(count), whenValue = loaded(when), indexValue = loaded(index);
  std::string length = column(at.space, list.length, "length"), first = column(at.space, list.first, "first");
  FlatSymbolRefAttr elements =
      program.listRelation(loc, at.space->name, first, length, list.stride,
                           via ? program.symbol(list.of) : program.rowsOf(list.array));
  Value result = batch::SegmentOp::create(
      inside, loc, type, kind, list.array, elements.getValue(),
      via ? program.relation(loc, list.of, list.via, list.array) : FlatSymbolRefAttr(),
      program.symbol(list.carried), indexValue, whenValue, countValue, list.atEnd, /*ago=*/IntegerAttr());
  std::string buffer = program.addBuffer(stage.getSymName(), at.space, result.getType());
  own[buffer] = true;
  batch::WriteOp::create(inside, loc, result, buffer);
  return AbstractValue::stored(buffer, at.row);
}

/// Whether the element at a position of a list that a `while` ends is there.
AbstractValue Walk::stepOf(const ListInfo &list, Value j) {
  return AbstractValue::stored(list.live, list.atEnd ? sub(list.taken, j) : add(list.taken, j));
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
  auto list = [&](Value v) { return known(v).list; };
  if (auto nodes = dyn_cast<dyn::NodesOp>(op))
    return set(nodes.getResult(),
               AbstractValue::of(reached(loc, nodes.getNode().getType(), structural(nodes.getNode()))));
  if (auto empty = dyn_cast<dyn::EmptyOp>(op)) {
    ListInfo info;
    info.first = info.length = integer(0);
    info.element = empty.getType().getElement();
    return set(empty.getResult(), AbstractValue::of(info));
  }
  if (auto range = dyn_cast<dyn::RangeOp>(op)) {
    ListInfo info;
    info.first = structural(range.getLow());
    Value high = structural(range.getHigh());
    if (isZero(info.first)) {
      info.length = arith::MaxSIOp::create(b, loc, high, info.first);
    } else { // what is empty has no length that could overflow
      Value last = arith::MaxSIOp::create(b, loc, high, info.first);
      info.length = kernel::IntOp::create(b, loc, b.getI32Type(), dyn::IntKind::Sub, last, info.first,
                                          b.getStringAttr(dyn::sourcePlace(loc)), /*row=*/Value());
    }
    info.element = b.getI32Type();
    return set(range.getResult(), AbstractValue::of(info));
  }
  if (auto len = dyn_cast<dyn::LenOp>(op)) {
    return set(len.getResult(), AbstractValue::structural(list(len.getList()).length));
  }
  if (auto zip = dyn_cast<dyn::ZipOp>(op)) {
    ListInfo *first = nullptr;
    std::vector<ListInfo> infos;
    for (Value v : zip.getLists())
      infos.push_back(list(v));
    for (auto [info, result] : llvm::zip(infos, zip.getResults())) {
      set(result, AbstractValue::of(info));
      if (first && first->length != info.length)
        check(loc, kernel::Fault::Lengths,
              arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, first->length, info.length), "zip",
              {first->length, info.length});
      if (!first)
        first = &info;
    }
    return;
  }
  if (auto reverse = dyn_cast<dyn::ReverseOp>(op)) {
    ListInfo info = list(reverse.getList());
    Value last = sub(info.length, integer(1));
    info.first = info.stride == 1 ? add(info.first, last) : sub(info.first, last);
    info.stride = -info.stride;
    return set(reverse.getResult(), AbstractValue::of(info));
  }
  if (auto slice = dyn_cast<dyn::SliceOp>(op)) {
    ListInfo info = list(slice.getList());
    Value low = structural(slice.getLow()), high = structural(slice.getHigh());
    auto fits = [&](Value bound) {
      Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, bound, integer(0));
      Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, bound, info.length);
      return arith::AndIOp::create(b, loc, low, high).getResult();
    };
    check(loc, kernel::Fault::Slice, arith::AndIOp::create(b, loc, fits(low), fits(high)), "slice",
          {low, high, info.length});
    info.first = info.stride == 1 ? add(info.first, low) : sub(info.first, low);
    info.length = arith::MaxSIOp::create(b, loc, sub(high, low), integer(0)); // empty, like a range
    return set(slice.getResult(), AbstractValue::of(info));
  }
  auto at_ = cast<dyn::AtOp>(op);
  ListInfo info = list(at_.getList());
  if (!isStructural(at_.getIndex())) {
    if (!indexing)
      return set(at_.getResult(), AbstractValue());
    return set(at_.getResult(),
               segment(loc, at_.getType(), label(at_, at), batch::ReduceKind::Pick,
                       info.isStructural() ? asComputed(op, info, at) : info, at, known(at_.getIndex()),
                       at_.getWhen() ? known(at_.getWhen()) : AbstractValue()));
  }
  Value index = structural(at_.getIndex());
  Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, integer(0));
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, info.length);
  check(loc, kernel::Fault::ListIndex, arith::AndIOp::create(b, loc, low, high), "index",
        {index, info.length});
  set(at_.getResult(), element(info, index));
}

/// As columns hold it: truths are 0 and 1.
Value Walk::asColumn(Value value) {
  return value.getType().isInteger(1)
             ? arith::ExtUIOp::create(b, value.getLoc(), b.getI32Type(), value).getResult()
             : value;
}

} // namespace dbc::passes
