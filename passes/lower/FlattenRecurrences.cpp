// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenRecurrences.h"
#include "ir/Dyn/Numbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

/// One scan or fold. The states of an owner with n elements are n + 1 rows of an index set of their own, the
/// first being the initial state, so that the empty list and the first step are no special cases. Where the
/// last state says whether there is a further step, a step's row is there if its state before says so.
struct Recurrences::Recurrence {
  Operation *op;
  std::vector<ListInfo> sources;
  ValueRange init;
  Block &body;
  bool fold, back, stops;
  RowContext at;

  Location loc = op->getLoc();
  Value length = sources[0].length;
  std::string name = {};
  IndexSetInfo *states = nullptr, *steps = nullptr;
  Value rows = {}, first = {};            ///< of the states: how many, and the first
  std::vector<std::string> buffers = {};  ///< one a state
  std::vector<StateList> stateLists = {}; ///< one a state, for those that are lists
  std::string count = {};                 ///< buffer of how many steps were taken

  bool isList(unsigned k) const { return isa<dyn::ListType>(init[k].getType()); }
};

void Recurrences::scan(dyn::ScanOp op, RowContext at) {
  recurrence({op, env.lists(op.getLists()), op.getInit(), op.getBody().front(), /*fold=*/false, op.getBack(),
              op.getStops(), at});
}

void Recurrences::fold(dyn::FoldOp op, RowContext at) {
  recurrence({op, env.lists(op.getLists()), op.getInit(), op.getBody().front(), /*fold=*/true,
              /*back=*/false, op.getStops(), at});
}

void Recurrences::recurrence(Recurrence r) {
  if (!structure.isIndex())
    return calls(r);
  begin(r);
  stages.rows(r.loc, r.steps, r.length, r.at, [&](RowContext inner, Value k) { step(r, inner, k); });
  for (auto [k, value] : llvm::enumerate(r.op->getResults()))
    env.set(value, result(r, k));
}

/// In the walk that writes calls: who is called in the body, and how long results are at most.
void Recurrences::calls(Recurrence &r) {
  // Of a list in the state only the lengths count, which are those of the first one.
  auto stateOf = [&](size_t k) {
    return r.isList(k) ? AbstractValue::of(lists.lengthsOf(env.lookup(r.init[k]).list)) : AbstractValue();
  };
  if (callsCells(r.body)) {
    structure.reserveMemoryFor(r.op, r.length, {});
    structure.loop(r.loc, r.length, [&](Value j) {
      for (auto [k, arg] : llvm::enumerate(r.body.getArguments()))
        env.set(arg, k < r.sources.size() ? lists.element(r.sources[k], j) : stateOf(k - r.sources.size()));
      walker.walkBlock(r.body, RowContext());
    });
  }
  for (auto [k, result] : llvm::enumerate(r.op->getResults())) {
    if (r.fold) {
      env.set(result, stateOf(k));
      continue;
    }
    ListInfo info;
    info.from = ListInfo::From::Rows;
    info.first = structure.integer(0);
    if (r.isList(k))
      info = listOfStates(r, k, [&](Value) { return stateOf(k).list; });
    info.element = cast<dyn::ListType>(result.getType()).getElement();
    info.length = r.length;
    env.set(result, AbstractValue::of(info));
  }
}

/// The list of the lists that state k has had; `state` gives that of a position.
ListInfo Recurrences::listOfStates(Recurrence &r, unsigned k, function_ref<ListInfo(Value)> state) {
  return lists.listOfLists(r.loc, lists.addBounds(r.loc, "states"), r.length, r.init[k].getType(), state);
}

/// Rows for the states and the steps, and the first state.
void Recurrences::begin(Recurrence &r) {
  r.name = StageWriter::label(r.op, r.at);
  r.states = program.addIndexSet(r.loc, r.name + ".states", kernel::IndexSetKind::States, r.at.indexSet);
  std::optional<int64_t> number = dyn::numberOf(r.loc);
  r.steps = program.addIndexSet(r.back && number ? dyn::numbered(r.loc, dyn::reversed(*number)) : r.loc,
                                r.name, kernel::IndexSetKind::Steps, r.at.indexSet);
  r.states->used = r.steps->used = true;
  structure.reserveMemoryFor(r.op, r.length, {r.states, r.steps});
  r.rows = structure.add(r.length, structure.integer(1));
  r.first = structure.reserve(r.loc, r.states, r.rows);
  r.stateLists.resize(r.init.size());
  for (auto [k, value] : llvm::enumerate(r.init)) {
    std::string state = dyn::sourceName(r.body.getArgument(r.sources.size() + k).getLoc());
    if (r.stops && k + 1 == r.init.size())
      state = "goes_on";
    if (state.empty())
      state = (r.isList(k) ? "list" : "state") + std::to_string(k);
    std::string name = r.name + "." + state;
    if (r.isList(k)) {
      r.stateLists[k] = stateList(r, name, env.lookup(value).list);
      r.buffers.push_back(r.stateLists[k].first.innermost().array);
    } else {
      r.buffers.push_back(program.addBuffer(name, r.states, value.getType()));
      stages.write(r.loc, value, env.lookup(value), r.buffers.back(), r.at, r.first);
    }
  }
}

/// Step k: from the state before it to the one after it.
void Recurrences::step(Recurrence &r, RowContext inner, Value k) {
  stages.indexArray(r.steps, k, kernel::kStepArray);
  Value j = r.back ? structure.sub(structure.sub(r.length, structure.integer(1)), k) : k;
  Value before = structure.add(r.first, k), after = structure.add(before, structure.integer(1));
  if (r.stops) {
    stages.indexArray(r.steps, before, "before");
    stages.keep(r.loc, r.steps, AbstractValue::stored(r.buffers.back(), before, r.steps->name), after);
    countSteps(r, inner);
  }
  for (auto [n, arg] : llvm::enumerate(r.body.getArguments())) {
    size_t state = n - r.sources.size();
    if (n < r.sources.size())
      env.set(arg, lists.element(r.sources[n], j));
    else if (r.isList(state))
      env.set(arg, AbstractValue::of(listAt(r, state, k)));
    else
      env.set(arg, AbstractValue::stored(r.buffers[state], before, r.steps->name));
  }
  walker.walkBlock(r.body, inner);
  stages.indexArray(r.steps, before, "before");
  for (auto [n, value] : llvm::enumerate(r.body.getTerminator()->getOperands())) {
    if (!r.isList(n)) {
      stages.write(r.loc, value, env.lookup(value), r.buffers[n], inner, after);
      continue;
    }
    ListInfo list = env.lookup(value).list, next = listAt(r, n, structure.add(k, structure.integer(1)));
    checkLengths(r.loc, list, next, r.fold ? "fold" : r.back ? "scan_back" : "scan");
    copies.copyInto(r.loc, list, next, inner);
  }
}

/// How many steps were taken, for each row outside.
void Recurrences::countSteps(Recurrence &r, RowContext inner) {
  Location loc = r.loc;
  r.count = program.addBuffer(r.name + ".count", r.at.indexSet, b.getI32Type());
  batch::StageOp none = stages.stage(loc, r.count, r.at);
  OpBuilder before = OpBuilder::atBlockEnd(&none.getBody().front());
  batch::WriteOp::create(before, loc, arith::ConstantOp::create(before, loc, b.getI32IntegerAttr(0)),
                         r.count);
  batch::StageOp one = stages.stage(loc, r.count, inner);
  OpBuilder inside = OpBuilder::atBlockEnd(&one.getBody().front());
  Value soFar = stages.load(inside, loc, Value(),
                            AbstractValue::stored(r.count, r.at.row, inner.indexSet->name), inner);
  Value more = arith::AddIOp::create(inside, loc, soFar,
                                     arith::ConstantOp::create(inside, loc, b.getI32IntegerAttr(1)));
  batch::ScatterOp::create(inside, loc, more, program.symbol(r.count),
                           program.relation(loc, inner.indexSet->name, inner.indexSet->arrays[0], r.count));
}

/// What result k is: of a scan the states after each step, of a fold the one after the last.
AbstractValue Recurrences::result(Recurrence &r, unsigned k) {
  Value last = structure.add(r.first, r.length), result = r.op->getResult(k);
  if (r.isList(k) && !r.fold) // state 0 is the start
    return AbstractValue::of(listOfStates(r, k, [&](Value j) {
      Value state = r.back ? structure.sub(r.length, j) : structure.add(j, structure.integer(1));
      return listAt(r, k, state).carriedBy("");
    }));
  if (r.isList(k)) {
    ListInfo list = listAt(r, k, r.length).carriedBy("");
    const StateList &states = r.stateLists[k];
    if (r.stops && !result.use_empty())
      list = lastList(r, r.buffers[k] + ".last", states.first.carriedBy(""), states.period);
    return AbstractValue::of(list);
  }
  if (r.fold && !r.stops)
    return AbstractValue::stored(r.buffers[k], last);
  ListInfo info;
  info.from = ListInfo::From::Rows;
  info.array = r.buffers[k];
  info.element = r.init[k].getType();
  if (r.fold) { // the state behind the last step that was taken
    info.first = r.first;
    info.length = r.rows;
    if (result.use_empty())
      return AbstractValue();
    return stages.segment(r.loc, result.getType(), r.name, dyn::ReduceKind::Pick, info, r.at,
                          AbstractValue::stored(r.count, r.at.row));
  }
  info.first = r.back ? last : structure.add(r.first, structure.integer(1));
  info.stride = r.back ? -1 : 1;
  info.length = r.length;
  if (r.stops) {
    Value taken = r.back ? structure.sub(last, structure.integer(1)) : r.first;
    info.end = {r.buffers.back(), r.count, taken, r.at.row, r.back};
  }
  return AbstractValue::of(info);
}

/// Rows for the lists of all states, one behind the other; the first is a copy of `list`.
Recurrences::StateList Recurrences::stateList(Recurrence &r, const std::string &name, const ListInfo &list) {
  ListCopies::Target target = copies.addTarget(r.loc, list, /*structural=*/false, name, r.at);
  const IndexSetInfo *elements = program.indexSetOf(target.innermost().buffer);
  StateList result;
  Value before = list.inner ? structure.count(r.loc, elements) : Value();
  result.first = copies.reserve(r.loc, list, target, r.rows);
  result.period = list.length;
  if (list.inner) // of each state as many rows
    result.period = structure.checked(r.loc, dyn::IntKind::Div,
                                      structure.sub(structure.count(r.loc, elements), before), r.rows);
  copies.copyInto(r.loc, list, result.first, r.at);
  result.first = result.first.carriedBy(r.steps->name);
  return result;
}

/// The list of state number `state`, which stands behind those of the states before it.
ListInfo Recurrences::listAt(Recurrence &r, unsigned n, Value state) {
  ListInfo list = r.stateLists[n].first;
  list.first = structure.add(list.first, arith::MulIOp::create(b, r.loc, state, list.length));
  return list;
}

/// The list of the state behind the last step that was taken: which rows these are is computed, so its
/// elements are picked. `first` is that of the first state; those of the others lie `period` rows apart.
ListInfo Recurrences::lastList(Recurrence &r, const std::string &name, const ListInfo &first, Value period) {
  Location loc = r.loc;
  if (first.inner)
    return lists.listOfLists(loc, lists.addBounds(loc, name), first.length, first.element, [&](Value j) {
      return lastList(r, name, lists.element(first, j).list, period);
    });
  ListInfo all = first; // from the first state's to the last one's
  all.length = structure.add(
      arith::MulIOp::create(b, loc, structure.sub(r.rows, structure.integer(1)), period).getResult(),
      first.length);
  IndexSetInfo *indexSet = program.addIndexSet(loc, name, kernel::IndexSetKind::Elements, r.at.indexSet);
  ListInfo last;
  last.from = ListInfo::From::Rows;
  last.element = first.element;
  last.length = first.length;
  last.first = structure.count(loc, indexSet);
  structure.reserveMemory(loc, first.length, indexSet);
  stages.rows(loc, indexSet, first.length, r.at, [&](RowContext inner, Value j) {
    std::string position = program.addBuffer(name + ".position", indexSet, b.getI32Type());
    batch::StageOp stage = stages.stage(loc, position, inner);
    OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
    auto load = [&](const AbstractValue &what) { return stages.load(inside, loc, Value(), what, inner); };
    Value steps = load(AbstractValue::stored(r.count, r.at.row));
    Value distance = load(AbstractValue::structural(period));
    Value number = load(AbstractValue::structural(j));
    Value begin = arith::MulIOp::create(inside, loc, steps, distance);
    batch::WriteOp::create(inside, loc, arith::AddIOp::create(inside, loc, begin, number).getResult(),
                           position);
    last.array = stages
                     .segment(loc, first.element, name, dyn::ReduceKind::Pick, all, inner,
                              AbstractValue::stored(position, inner.row))
                     .array;
  });
  return last;
}

/// A state's lists are as long as those of the state before.
void Recurrences::checkLengths(Location loc, const ListInfo &list, const ListInfo &before, StringRef what) {
  structure.check(loc, kernel::ErrorKind::StateLength,
                  arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before.length, list.length), what,
                  {before.length, list.length});
  if (list.inner)
    structure.loop(loc, list.length, [&](Value j) {
      AbstractValue now = lists.element(list, j), then = lists.element(before, j);
      checkLengths(loc, now.list, then.list, what);
    });
}

} // namespace dbc::passes
