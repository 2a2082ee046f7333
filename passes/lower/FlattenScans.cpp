// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Scans and folds: their states are rows, and each step reads those of the step before. Where a `while` may
// end them, which rows there are is found while computing.
#include "ir/Dyn/Numbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/lower/FlattenWalk.h"

using namespace mlir;

namespace dbc::passes {

/// In the walk that writes calls: who is called in the body, and how long results are at most.
void Walk::recurrenceCalls(Operation *op, const std::vector<ListInfo> &lists, ValueRange init, Block &body,
                           bool fold) {
  // Of a list in the state only the lengths count, which are those of the first one.
  auto stateOf = [&](size_t k) {
    if (!isa<dyn::ListType>(init[k].getType()))
      return AbstractValue();
    return AbstractValue::of(lengthsOf(known(init[k]).list));
  };
  if (callsCells(body)) {
    if (!isOwn(op))
      claim(op->getLoc(), lists[0].length, {});
    loop(op->getLoc(), lists[0].length, [&](Value j) {
      for (auto [k, arg] : llvm::enumerate(body.getArguments()))
        set(arg, k < lists.size() ? element(lists[k], j) : stateOf(k - lists.size()));
      block(body, RowContext());
    });
  }
  for (auto [k, result] : llvm::enumerate(op->getResults())) {
    if (fold) {
      set(result, stateOf(k));
      continue;
    }
    ListInfo info;
    info.from = From::Rows;
    info.first = integer(0);
    if (isa<dyn::ListType>(init[k].getType()))
      info = listOfStates(op->getLoc(), lists[0].length, [&](Value) { return stateOf(k).list; });
    info.element = cast<dyn::ListType>(result.getType()).getElement();
    info.length = lists[0].length;
    set(result, AbstractValue::of(info));
  }
}

/// The list of the lists that states hold; `state` gives that of a position.
ListInfo Walk::listOfStates(Location loc, Value length, function_ref<ListInfo(Value)> state) {
  SpaceInfo *bounds = program.addSpace(loc, "states.bounds", kernel::SpaceKind::States, nullptr);
  bounds->addColumn("first");
  bounds->addColumn("length");
  bounds->used = true;
  Value first = kernel::CountOp::create(b, loc, b.getI32Type(), bounds->name);
  claim(loc, length, bounds);
  ListInfo inner;
  loop(loc, length, [&](Value j) {
    inner = state(j);
    kernel::PushOp::create(b, loc, bounds->name, ValueRange{inner.first, inner.length});
  });
  ListInfo list = listOfLists(inner, *bounds, "first", "length");
  list.first = first;
  return list;
}

/// A list with the lengths of another, whose elements are not known yet.
ListInfo Walk::lengthsOf(ListInfo list) {
  if (list.inner) {
    list.inner = std::make_shared<ListInfo>(lengthsOf(*list.inner));
    return list;
  }
  list.from = From::Rows;
  list.first = integer(0);
  list.stride = 1;
  return list;
}

/// Scans and folds. The states of an owner with n elements are n + 1 rows of a space of their own, the first
/// being the initial state, so that the empty list and the first step are no special cases. Where the last
/// state says whether there is a further step, a step's row is there if its state before says so.
void Walk::recurrence(Operation *op, ValueRange lists, ValueRange init, Block &body, bool back, bool stops,
                      RowContext at) {
  Location loc = op->getLoc();
  bool fold = isa<dyn::FoldOp>(op);
  std::vector<ListInfo> infos;
  for (Value list : lists)
    infos.push_back(known(list).list);
  if (!indexing)
    return recurrenceCalls(op, infos, init, body, fold);

  std::string name = label(op, at);
  SpaceInfo *states = program.addSpace(loc, name + ".states", kernel::SpaceKind::States, at.space);
  std::optional<int64_t> number = dyn::numberOf(loc);
  SpaceInfo *steps = program.addSpace(back && number ? dyn::numbered(loc, dyn::reversed(*number)) : loc, name,
                                      kernel::SpaceKind::Steps, at.space);
  states->used = steps->used = true;
  Value length = infos[0].length;
  if (!isOwn(op))
    claim(loc, length, {states, steps});
  Value rows = add(length, integer(1));
  Value first = kernel::ReserveOp::create(b, loc, b.getI32Type(), states->name, rows);
  std::vector<std::string> buffers;
  std::vector<StateList> kept(init.size());
  for (auto [k, value] : llvm::enumerate(init)) {
    std::string part = dyn::sourceName(body.getArgument(infos.size() + k).getLoc());
    if (stops && k + 1 == init.size())
      part = "goes_on";
    if (isa<dyn::ListType>(value.getType())) {
      kept[k] = stateList(loc, name + "." + (part.empty() ? "list" + std::to_string(k) : part),
                          known(value).list, steps->name, rows, at);
      buffers.push_back(kept[k].first.leaf().array);
      continue;
    }
    buffers.push_back(program.addBuffer(name + "." + (part.empty() ? "state" + std::to_string(k) : part),
                                        states, value.getType()));
    write(loc, value, known(value), buffers.back(), at, first);
  }
  // The list of state number k stands behind those of the states before it.
  auto listOf = [&](size_t n, Value state) {
    ListInfo list = kept[n].first;
    list.first = add(list.first, arith::MulIOp::create(b, loc, state, list.length));
    return list;
  };
  std::string count;
  loop(loc, length, [&](Value k) {
    RowContext inner{steps, kernel::CountOp::create(b, loc, b.getI32Type(), steps->name)};
    column(steps, at.row, "parent");
    column(steps, k, "step");
    Value j = back ? sub(sub(length, integer(1)), k) : k;
    Value before = add(first, k), after = add(before, integer(1));
    if (stops) {
      column(steps, before, "before");
      keep(loc, steps, AbstractValue::stored(buffers.back(), before, steps->name), after);
      count = countSteps(loc, name + ".count", at, inner);
    }
    for (auto [n, arg] : llvm::enumerate(body.getArguments())) {
      size_t state = n - infos.size();
      if (n < infos.size())
        set(arg, element(infos[n], j));
      else if (isa<dyn::ListType>(arg.getType()))
        set(arg, AbstractValue::of(listOf(state, k)));
      else
        set(arg, AbstractValue::stored(buffers[state], before, steps->name));
    }
    block(body, inner);
    column(steps, before, "before");
    for (auto [n, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      if (!isa<dyn::ListType>(value.getType())) {
        write(loc, value, known(value), buffers[n], inner, after);
        continue;
      }
      ListInfo list = known(value).list, next = listOf(n, add(k, integer(1)));
      checkLengths(loc, list, next, fold ? "fold" : back ? "scan_back" : "scan");
      copyInto(loc, list, next, inner);
    }
    push(inner);
  });
  for (auto [k, result] : llvm::enumerate(op->getResults())) {
    ListInfo info;
    info.from = From::Rows;
    info.array = buffers[k];
    info.element = init[k].getType();
    Value last = add(first, length);
    if (isa<dyn::ListType>(init[k].getType())) {
      if (!fold) { // state 0 is the start
        info = listOfStates(loc, length, [&](Value j) {
          Value state = back ? sub(length, j) : add(j, integer(1));
          return listOf(k, state).carriedBy("");
        });
        info.element = init[k].getType();
        info.length = length;
        set(result, AbstractValue::of(info));
        continue;
      }
      ListInfo list = listOf(k, length);
      list = list.carriedBy("");
      if (stops && !result.use_empty())
        list = lastList(loc, buffers[k] + ".last", kept[k].first.carriedBy(""), kept[k].period, rows,
                        AbstractValue::stored(count, at.row), at);
      set(result, AbstractValue::of(list));
      continue;
    }
    if (fold && stops) { // the state behind the last step that was taken
      info.first = first;
      info.length = rows;
      set(result, result.use_empty() ? AbstractValue()
                                     : segment(loc, result.getType(), label(op, at), batch::ReduceKind::Pick,
                                               info, at, AbstractValue::stored(count, at.row)));
      continue;
    }
    if (fold) {
      set(result, AbstractValue::stored(buffers[k], last));
      continue;
    }
    info.first = back ? last : add(first, integer(1));
    info.stride = back ? -1 : 1;
    info.length = length;
    if (stops) {
      info.live = buffers.back();
      info.atEnd = back;
      info.taken = back ? sub(last, integer(1)) : first;
      info.count = count;
      info.owner = at.row;
    }
    set(result, AbstractValue::of(info));
  }
}

/// Rows for a list with the lengths of `like`.
ListInfo Walk::reserve(Location loc, const ListInfo &like, const Copies &copies, Value times) {
  ListInfo list;
  list.element = like.element;
  list.length = like.length;
  if (!copies.inner) {
    list.from = From::Rows;
    list.array = copies.buffer;
    Value all = like.length;
    if (times)
      all = kernel::IntOp::create(b, loc, b.getI32Type(), dyn::IntKind::Mul, times, like.length,
                                  b.getStringAttr(dyn::sourcePlace(loc)), /*row=*/Value());
    claim(loc, all, program.spaceOf(list.array));
    list.first = kernel::ReserveOp::create(b, loc, b.getI32Type(), program.spaceOf(list.array)->name, all);
    return list;
  }
  SpaceInfo *bounds = copies.rows;
  Value first = kernel::CountOp::create(b, loc, b.getI32Type(), bounds->name);
  ListInfo inner;
  auto one = [&] {
    claim(loc, like.length, bounds);
    loop(loc, like.length, [&](Value j) {
      inner = reserve(loc, element(like, j).list, *copies.inner, {});
      kernel::PushOp::create(b, loc, bounds->name, ValueRange{inner.first, inner.length});
    });
  };
  if (times)
    loop(loc, times, [&](Value) { one(); });
  else
    one();
  list = listOfLists(inner, *bounds, "first", "length");
  list.element = like.element;
  list.length = like.length;
  list.first = first;
  return list;
}

/// Rows for the lists of `states` states, one behind the other; the first is a copy of `list`.
Walk::StateList Walk::stateList(Location loc, StringRef name, const ListInfo &list, StringRef carried,
                                Value states, RowContext at) {
  Copies copies = copiesFor(loc, list, /*structural=*/false, name.str(), at);
  const Copies *leaf = &copies;
  while (leaf->inner)
    leaf = leaf->inner.get();
  auto count = [&]() -> Value {
    return kernel::CountOp::create(b, loc, b.getI32Type(), program.spaceOf(leaf->buffer)->name);
  };
  StateList kept;
  Value before = list.inner ? count() : Value();
  kept.first = reserve(loc, list, copies, states);
  kept.period = list.length;
  if (list.inner) // of each state as many rows
    kept.period = kernel::IntOp::create(b, loc, b.getI32Type(), dyn::IntKind::Div, sub(count(), before),
                                        states, b.getStringAttr(dyn::sourcePlace(loc)), /*row=*/Value());
  copyInto(loc, list, kept.first, at);
  kept.first = kept.first.carriedBy(carried);
  return kept;
}

/// The elements of a list into the rows of one with the same lengths.
void Walk::copyInto(Location loc, const ListInfo &list, const ListInfo &to, RowContext at) {
  if (!list.inner)
    return copyRows(loc, list, to, at);
  loop(loc, list.length, [&](Value j) { copyInto(loc, element(list, j).list, element(to, j).list, at); });
}

/// A state's lists are as long as those of the state before.
void Walk::checkLengths(Location loc, const ListInfo &list, const ListInfo &before, StringRef what) {
  check(loc, kernel::Fault::StateLength,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before.length, list.length), what,
        {before.length, list.length});
  if (list.inner)
    loop(loc, list.length,
         [&](Value j) { checkLengths(loc, element(list, j).list, element(before, j).list, what); });
}

/// The list of the state behind the last step that was taken, of `count` steps: which rows these are is
/// computed, so its elements are picked. `first` is that of the first state; those of the others lie `period`
/// rows apart.
ListInfo Walk::lastList(Location loc, StringRef name, const ListInfo &first, Value period, Value states,
                        const AbstractValue &count, RowContext at) {
  if (first.inner) {
    SpaceInfo *bounds = program.addSpace(loc, (name + ".bounds").str(), kernel::SpaceKind::States, nullptr);
    for (const char *bound : {"first", "length"})
      bounds->addColumn(bound);
    bounds->used = true;
    Value begin = kernel::CountOp::create(b, loc, b.getI32Type(), bounds->name);
    claim(loc, first.length, bounds);
    ListInfo inner;
    loop(loc, first.length, [&](Value j) {
      inner = lastList(loc, name, element(first, j).list, period, states, count, at);
      kernel::PushOp::create(b, loc, bounds->name, ValueRange{inner.first, inner.length});
    });
    ListInfo last = listOfLists(inner, *bounds, "first", "length");
    last.element = first.element;
    last.first = begin;
    last.length = first.length;
    return last;
  }
  ListInfo all = first; // from the first state's to the last one's
  all.length = add(arith::MulIOp::create(b, loc, sub(states, integer(1)), period).getResult(), first.length);
  SpaceInfo *space = program.addSpace(loc, name, kernel::SpaceKind::Elements, at.space);
  ListInfo last;
  last.from = From::Rows;
  last.element = first.element;
  last.length = first.length;
  last.first = kernel::CountOp::create(b, loc, b.getI32Type(), space->name);
  claim(loc, first.length, space);
  loop(loc, first.length, [&](Value j) {
    RowContext inner{space, kernel::CountOp::create(b, loc, b.getI32Type(), space->name)};
    column(space, at.row, "parent");
    std::string place = program.addBuffer((name + ".place").str(), space, b.getI32Type());
    batch::StageOp stage = this->stage(loc, place, inner);
    OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
    Value steps = load(inside, loc, Value(), count, inner);
    Value apart = load(inside, loc, Value(), AbstractValue::structural(period), inner);
    Value number = load(inside, loc, Value(), AbstractValue::structural(j), inner);
    Value begin = arith::MulIOp::create(inside, loc, steps, apart);
    batch::WriteOp::create(inside, loc, arith::AddIOp::create(inside, loc, begin, number).getResult(), place);
    last.array = segment(loc, first.element, name, batch::ReduceKind::Pick, all, inner,
                         AbstractValue::stored(place, inner.row))
                     .array;
    push(inner);
  });
  return last;
}

std::string Walk::aliveIn(SpaceInfo *space) {
  bool known = !space || !space->alive.empty() || !space->parent;
  if (!known && !aliveIn(space->parent).empty())
    keep(program.loc(), space, {}, {});
  return space ? space->alive : std::string();
}

void Walk::keep(Location loc, SpaceInfo *space, const AbstractValue &taken, Value after) {
  std::string outer = aliveIn(space->parent);
  space->alive = program.addBuffer(space->name + ".alive", space, b.getI1Type());
  RowContext at{space, {}};
  batch::StageOp stage = stageOfAll(loc, space->alive, at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  Value alive;
  if (!taken.is(Kind::Nothing))
    alive = load(inside, loc, Value(), taken, at);
  if (!outer.empty()) {
    Value around = batch::GatherOp::create(inside, loc, b.getI1Type(), program.symbol(outer),
                                           program.relation(loc, space->name, space->columns[0], outer),
                                           FlatSymbolRefAttr(),
                                           /*ago=*/IntegerAttr());
    alive = alive ? arith::AndIOp::create(inside, loc, alive, around).getResult() : around;
  }
  batch::WriteOp::create(inside, loc, alive, space->alive);
  if (after)
    batch::ScatterOp::create(inside, loc, arith::ConstantOp::create(inside, loc, b.getBoolAttr(false)),
                             program.symbol(taken.array),
                             program.relation(loc, space->name, column(space, after, "after"), taken.array));
}

/// How many steps were taken, for each row outside.
std::string Walk::countSteps(Location loc, StringRef name, RowContext at, RowContext inner) {
  std::string count = program.addBuffer(name, at.space, b.getI32Type());
  batch::StageOp none = stage(loc, count, at);
  OpBuilder before = OpBuilder::atBlockEnd(&none.getBody().front());
  batch::WriteOp::create(before, loc, arith::ConstantOp::create(before, loc, b.getI32IntegerAttr(0)), count);
  batch::StageOp one = stage(loc, count, inner);
  OpBuilder inside = OpBuilder::atBlockEnd(&one.getBody().front());
  Value so_far = load(inside, loc, Value(), AbstractValue::stored(count, at.row, inner.space->name), inner);
  Value more = arith::AddIOp::create(inside, loc, so_far,
                                     arith::ConstantOp::create(inside, loc, b.getI32IntegerAttr(1)));
  batch::ScatterOp::create(inside, loc, more, program.symbol(count),
                           program.relation(loc, inner.space->name, inner.space->columns[0], count));
  return count;
}

} // namespace dbc::passes
