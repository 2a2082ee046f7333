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
    return AbstractValue::of(lengthsOf(env.lookup(init[k]).list));
  };
  if (callsCells(body)) {
    structure.claimFor(op, lists[0].length, {});
    structure.loop(op->getLoc(), lists[0].length, [&](Value j) {
      for (auto [k, arg] : llvm::enumerate(body.getArguments()))
        env.set(arg, k < lists.size() ? element(lists[k], j) : stateOf(k - lists.size()));
      block(body, RowContext());
    });
  }
  for (auto [k, result] : llvm::enumerate(op->getResults())) {
    if (fold) {
      env.set(result, stateOf(k));
      continue;
    }
    ListInfo info;
    info.from = From::Rows;
    info.first = structure.integer(0);
    if (isa<dyn::ListType>(init[k].getType()))
      info = listOfStates(op->getLoc(), lists[0].length, [&](Value) { return stateOf(k).list; });
    info.element = cast<dyn::ListType>(result.getType()).getElement();
    info.length = lists[0].length;
    env.set(result, AbstractValue::of(info));
  }
}

/// The list of the lists that states hold; `state` gives that of a position.
ListInfo Walk::listOfStates(Location loc, Value length, function_ref<ListInfo(Value)> state) {
  SpaceInfo *bounds = program.addSpace(loc, "states.bounds", kernel::SpaceKind::States, nullptr);
  bounds->addColumn("first");
  bounds->addColumn("length");
  bounds->used = true;
  Value first = kernel::CountOp::create(b, loc, b.getI32Type(), bounds->name);
  structure.claim(loc, length, bounds);
  ListInfo inner;
  structure.loop(loc, length, [&](Value j) {
    inner = state(j);
    kernel::PushOp::create(b, loc, bounds->name, ValueRange{inner.first, inner.length});
  });
  ListInfo list = ListInfo::ofLists(inner, *bounds, "first", "length");
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
  list.first = structure.integer(0);
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
    infos.push_back(env.lookup(list).list);
  if (!structure.isIndex())
    return recurrenceCalls(op, infos, init, body, fold);

  std::string name = stages.label(op, at);
  SpaceInfo *states = program.addSpace(loc, name + ".states", kernel::SpaceKind::States, at.space);
  std::optional<int64_t> number = dyn::numberOf(loc);
  SpaceInfo *steps = program.addSpace(back && number ? dyn::numbered(loc, dyn::reversed(*number)) : loc, name,
                                      kernel::SpaceKind::Steps, at.space);
  states->used = steps->used = true;
  Value length = infos[0].length;
  structure.claimFor(op, length, {states, steps});
  Value rows = structure.add(length, structure.integer(1));
  Value first = kernel::ReserveOp::create(b, loc, b.getI32Type(), states->name, rows);
  std::vector<std::string> buffers;
  std::vector<StateList> kept(init.size());
  for (auto [k, value] : llvm::enumerate(init)) {
    std::string part = dyn::sourceName(body.getArgument(infos.size() + k).getLoc());
    if (stops && k + 1 == init.size())
      part = "goes_on";
    if (isa<dyn::ListType>(value.getType())) {
      kept[k] = stateList(loc, name + "." + (part.empty() ? "list" + std::to_string(k) : part),
                          env.lookup(value).list, steps->name, rows, at);
      buffers.push_back(kept[k].first.leaf().array);
      continue;
    }
    buffers.push_back(program.addBuffer(name + "." + (part.empty() ? "state" + std::to_string(k) : part),
                                        states, value.getType()));
    stages.write(loc, value, env.lookup(value), buffers.back(), at, first);
  }
  // The list of state number k stands behind those of the states before it.
  auto listOf = [&](size_t n, Value state) {
    ListInfo list = kept[n].first;
    list.first = structure.add(list.first, arith::MulIOp::create(b, loc, state, list.length));
    return list;
  };
  std::string count;
  structure.loop(loc, length, [&](Value k) {
    RowContext inner{steps, kernel::CountOp::create(b, loc, b.getI32Type(), steps->name)};
    stages.column(steps, at.row, "parent");
    stages.column(steps, k, "step");
    Value j = back ? structure.sub(structure.sub(length, structure.integer(1)), k) : k;
    Value before = structure.add(first, k), after = structure.add(before, structure.integer(1));
    if (stops) {
      stages.column(steps, before, "before");
      stages.keep(loc, steps, AbstractValue::stored(buffers.back(), before, steps->name), after);
      count = countSteps(loc, name + ".count", at, inner);
    }
    for (auto [n, arg] : llvm::enumerate(body.getArguments())) {
      size_t state = n - infos.size();
      if (n < infos.size())
        env.set(arg, element(infos[n], j));
      else if (isa<dyn::ListType>(arg.getType()))
        env.set(arg, AbstractValue::of(listOf(state, k)));
      else
        env.set(arg, AbstractValue::stored(buffers[state], before, steps->name));
    }
    block(body, inner);
    stages.column(steps, before, "before");
    for (auto [n, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      if (!isa<dyn::ListType>(value.getType())) {
        stages.write(loc, value, env.lookup(value), buffers[n], inner, after);
        continue;
      }
      ListInfo list = env.lookup(value).list, next = listOf(n, structure.add(k, structure.integer(1)));
      checkLengths(loc, list, next, fold ? "fold" : back ? "scan_back" : "scan");
      copyInto(loc, list, next, inner);
    }
    stages.push(inner);
  });
  for (auto [k, result] : llvm::enumerate(op->getResults())) {
    ListInfo info;
    info.from = From::Rows;
    info.array = buffers[k];
    info.element = init[k].getType();
    Value last = structure.add(first, length);
    if (isa<dyn::ListType>(init[k].getType())) {
      if (!fold) { // state 0 is the start
        info = listOfStates(loc, length, [&](Value j) {
          Value state = back ? structure.sub(length, j) : structure.add(j, structure.integer(1));
          return listOf(k, state).carriedBy("");
        });
        info.element = init[k].getType();
        info.length = length;
        env.set(result, AbstractValue::of(info));
        continue;
      }
      ListInfo list = listOf(k, length);
      list = list.carriedBy("");
      if (stops && !result.use_empty())
        list = lastList(loc, buffers[k] + ".last", kept[k].first.carriedBy(""), kept[k].period, rows,
                        AbstractValue::stored(count, at.row), at);
      env.set(result, AbstractValue::of(list));
      continue;
    }
    if (fold && stops) { // the state behind the last step that was taken
      info.first = first;
      info.length = rows;
      env.set(result, result.use_empty() ? AbstractValue()
                                         : stages.segment(loc, result.getType(), stages.label(op, at),
                                                          batch::ReduceKind::Pick, info, at,
                                                          AbstractValue::stored(count, at.row)));
      continue;
    }
    if (fold) {
      env.set(result, AbstractValue::stored(buffers[k], last));
      continue;
    }
    info.first = back ? last : structure.add(first, structure.integer(1));
    info.stride = back ? -1 : 1;
    info.length = length;
    if (stops) {
      info.end.live = buffers.back();
      info.end.atEnd = back;
      info.end.taken = back ? structure.sub(last, structure.integer(1)) : first;
      info.end.count = count;
      info.end.owner = at.row;
    }
    env.set(result, AbstractValue::of(info));
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
    structure.claim(loc, all, program.spaceOf(list.array));
    list.first = kernel::ReserveOp::create(b, loc, b.getI32Type(), program.spaceOf(list.array)->name, all);
    return list;
  }
  SpaceInfo *bounds = copies.rows;
  Value first = kernel::CountOp::create(b, loc, b.getI32Type(), bounds->name);
  ListInfo inner;
  auto one = [&] {
    structure.claim(loc, like.length, bounds);
    structure.loop(loc, like.length, [&](Value j) {
      inner = reserve(loc, element(like, j).list, *copies.inner, {});
      kernel::PushOp::create(b, loc, bounds->name, ValueRange{inner.first, inner.length});
    });
  };
  if (times)
    structure.loop(loc, times, [&](Value) { one(); });
  else
    one();
  list = ListInfo::ofLists(inner, *bounds, "first", "length");
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
    kept.period =
        kernel::IntOp::create(b, loc, b.getI32Type(), dyn::IntKind::Div, structure.sub(count(), before),
                              states, b.getStringAttr(dyn::sourcePlace(loc)), /*row=*/Value());
  copyInto(loc, list, kept.first, at);
  kept.first = kept.first.carriedBy(carried);
  return kept;
}

/// The elements of a list into the rows of one with the same lengths.
void Walk::copyInto(Location loc, const ListInfo &list, const ListInfo &to, RowContext at) {
  if (!list.inner)
    return copyRows(loc, list, to, at);
  structure.loop(loc, list.length,
                 [&](Value j) { copyInto(loc, element(list, j).list, element(to, j).list, at); });
}

/// A state's lists are as long as those of the state before.
void Walk::checkLengths(Location loc, const ListInfo &list, const ListInfo &before, StringRef what) {
  structure.check(loc, kernel::Fault::StateLength,
                  arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before.length, list.length), what,
                  {before.length, list.length});
  if (list.inner)
    structure.loop(loc, list.length,
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
    structure.claim(loc, first.length, bounds);
    ListInfo inner;
    structure.loop(loc, first.length, [&](Value j) {
      inner = lastList(loc, name, element(first, j).list, period, states, count, at);
      kernel::PushOp::create(b, loc, bounds->name, ValueRange{inner.first, inner.length});
    });
    ListInfo last = ListInfo::ofLists(inner, *bounds, "first", "length");
    last.element = first.element;
    last.first = begin;
    last.length = first.length;
    return last;
  }
  ListInfo all = first; // from the first state's to the last one's
  all.length = structure.add(
      arith::MulIOp::create(b, loc, structure.sub(states, structure.integer(1)), period).getResult(),
      first.length);
  SpaceInfo *space = program.addSpace(loc, name, kernel::SpaceKind::Elements, at.space);
  ListInfo last;
  last.from = From::Rows;
  last.element = first.element;
  last.length = first.length;
  last.first = kernel::CountOp::create(b, loc, b.getI32Type(), space->name);
  structure.claim(loc, first.length, space);
  structure.loop(loc, first.length, [&](Value j) {
    RowContext inner{space, kernel::CountOp::create(b, loc, b.getI32Type(), space->name)};
    stages.column(space, at.row, "parent");
    std::string place = program.addBuffer((name + ".place").str(), space, b.getI32Type());
    batch::StageOp stage = stages.stage(loc, place, inner);
    OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
    Value steps = stages.load(inside, loc, Value(), count, inner);
    Value apart = stages.load(inside, loc, Value(), AbstractValue::structural(period), inner);
    Value number = stages.load(inside, loc, Value(), AbstractValue::structural(j), inner);
    Value begin = arith::MulIOp::create(inside, loc, steps, apart);
    batch::WriteOp::create(inside, loc, arith::AddIOp::create(inside, loc, begin, number).getResult(), place);
    last.array = stages
                     .segment(loc, first.element, name, batch::ReduceKind::Pick, all, inner,
                              AbstractValue::stored(place, inner.row))
                     .array;
    stages.push(inner);
  });
  return last;
}

/// How many steps were taken, for each row outside.
std::string Walk::countSteps(Location loc, StringRef name, RowContext at, RowContext inner) {
  std::string count = program.addBuffer(name, at.space, b.getI32Type());
  batch::StageOp none = stages.stage(loc, count, at);
  OpBuilder before = OpBuilder::atBlockEnd(&none.getBody().front());
  batch::WriteOp::create(before, loc, arith::ConstantOp::create(before, loc, b.getI32IntegerAttr(0)), count);
  batch::StageOp one = stages.stage(loc, count, inner);
  OpBuilder inside = OpBuilder::atBlockEnd(&one.getBody().front());
  Value so_far =
      stages.load(inside, loc, Value(), AbstractValue::stored(count, at.row, inner.space->name), inner);
  Value more = arith::AddIOp::create(inside, loc, so_far,
                                     arith::ConstantOp::create(inside, loc, b.getI32IntegerAttr(1)));
  batch::ScatterOp::create(inside, loc, more, program.symbol(count),
                           program.relation(loc, inner.space->name, inner.space->columns[0], count));
  return count;
}

} // namespace dbc::passes
