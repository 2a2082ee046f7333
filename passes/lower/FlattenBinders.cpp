// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenBinders.h"

using namespace mlir;

namespace dbc::passes {

using Kind = AbstractValue::Kind;
using From = ListInfo::From;

void Binders::map(dyn::MapOp op, RowContext at) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  std::vector<ListInfo> sources = env.lists(op.getLists());
  if (!structure.isIndex())
    return mapCalls(op, sources);

  Value length = sources[0].length;
  SpaceInfo *space = program.addSpace(loc, StageWriter::label(op, at), kernel::SpaceKind::Elements, at.space);
  Value first = structure.count(loc, space);
  std::vector<ListInfo> results;
  kernel::ForOp loop = stages.rows(loc, space, length, at, [&](RowContext inner, Value j) {
    stages.keepElement(loc, space, sources[0], j);
    for (auto [arg, list] : llvm::zip(body.getArguments(), sources))
      env.set(arg, lists.element(list, j));
    walker.walkBlock(body, inner);
    for (Value value : body.getTerminator()->getOperands()) {
      results.push_back(listOfYielded(loc, value, inner));
      if (!results.back().inner)
        results.back().end = sources[0].end;
    }
  });
  if (space->used) {
    OpBuilder::InsertionGuard guard(structure.builder());
    structure.builder().setInsertionPoint(loop);
    structure.claimFor(op, length, space);
  }
  for (auto [info, result] : llvm::zip(results, op.getResults())) {
    info.first = first;
    info.length = length;
    info.element = cast<dyn::ListType>(result.getType()).getElement();
    env.set(result, AbstractValue::of(info));
  }
}

/// The list of what a body yields at each row of its space. Its bounds are not set.
ListInfo Binders::listOfYielded(Location loc, Value value, RowContext at) {
  AbstractValue yielded = env.lookup(value);
  SpaceInfo *space = at.space;
  if (yielded.is(Kind::List)) {
    // The order in which the space gets columns, which the emitted code shows.
    std::string length = stages.column(space, yielded.list.length, "length");
    std::string first = stages.column(space, yielded.list.first, "first");
    return ListInfo::ofLists(yielded.list, *space, first, length);
  }
  if (env.isOfConstants(yielded))
    yielded = AbstractValue::structural(env.structural(value));
  if (yielded.is(Kind::Model)) { // the same for every element, but a list wants rows
    std::string buffer = program.addBuffer(space->name + ".value", space, value.getType());
    stages.write(loc, value, yielded, buffer, at);
    yielded = AbstractValue::stored(buffer, at.row);
  }
  bool structural = yielded.is(Kind::Structural), here = !structural && yielded.scalar == at.row;
  ListInfo list;
  list.from = structural ? From::Column : here ? From::Rows : From::Via;
  list.of = space->name;
  list.array = yielded.array;
  list.carried = yielded.carried;
  if (here)
    space->used = true;
  else
    list.via = stages.column(space, yielded.scalar, dyn::sourceName(value.getLoc()));
  return list;
}

/// In the walk that writes calls. Structural results, and the bounds of lists, lie in rows of a space, for
/// calls may need them; of others only the length counts.
void Binders::mapCalls(dyn::MapOp op, ArrayRef<ListInfo> sources) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  Value length = sources[0].length;
  auto isList = [](Value result) {
    return isa<dyn::ListType>(cast<dyn::ListType>(result.getType()).getElement());
  };
  SpaceInfo *rows = nullptr;
  SmallVector<bool> kept;
  for (Value result : op.getResults()) {
    kept.push_back(!result.use_empty() && (isList(result) || env.isStructural(result)));
    if (kept.back() && !rows)
      rows = program.addSpace(loc, "map", kernel::SpaceKind::States, nullptr);
  }
  std::vector<ListInfo> infos(op.getNumResults());
  Value first = rows ? structure.count(loc, rows) : structure.integer(0);
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
      info = ListInfo::ofColumn(*rows, add("value"));
    }
  }
  if (rows || callsCells(body)) {
    structure.claimFor(op, length, rows ? ArrayRef<const SpaceInfo *>(rows) : ArrayRef<const SpaceInfo *>());
    structure.loop(loc, length, [&](Value j) {
      for (auto [arg, list] : llvm::zip(body.getArguments(), sources))
        env.set(arg, lists.element(list, j));
      walker.walkBlock(body, RowContext());
      SmallVector<Value> values;
      for (auto [k, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
        if (!kept[k])
          continue;
        if (!isList(op.getResult(k))) {
          values.push_back(structure.asColumn(env.structural(value)));
          continue;
        }
        ListInfo inner = env.lookup(value).list;
        values.push_back(inner.first);
        values.push_back(inner.length);
        infos[k] = ListInfo::ofLists(inner, *rows, infos[k].firsts, infos[k].lengths);
      }
      if (rows)
        structure.push(loc, rows, values);
    });
  }
  for (auto [info, result] : llvm::zip(infos, op.getResults())) {
    info.element = cast<dyn::ListType>(result.getType()).getElement();
    info.first = first;
    info.length = length;
    env.set(result, AbstractValue::of(info));
  }
}

/// The elements that stay are rows of a space: structural ones themselves, computed ones as the row that they
/// lie in.
void Binders::filter(dyn::FilterOp op, RowContext at) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  std::vector<ListInfo> sources = env.lists(op.getLists());
  Value all = sources[0].length;
  SpaceInfo *stay = program.addSpace(loc, (at.space ? at.space->name + "." : "") + "filtered",
                                     kernel::SpaceKind::States, nullptr);
  stay->used = true;
  std::vector<int> columnOf(sources.size(), -1); // the first one of each list
  for (auto [k, list] : llvm::enumerate(sources)) {
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
  Value first = structure.count(loc, stay);
  SpaceInfo *candidates = structure.isIndex() ? program.addSpace(loc, at.space->name + ".filter",
                                                                 kernel::SpaceKind::Elements, at.space)
                                              : nullptr;
  structure.claimFor(op, all, stay);
  auto element = [&](RowContext inner, Value j) {
    if (candidates)
      candidates->used = false;
    SmallVector<Value> values;
    for (auto [k, list] : llvm::enumerate(sources)) {
      AbstractValue each = lists.element(list, j);
      env.set(body.getArgument(k), each);
      if (columnOf[k] < 0)
        continue;
      if (each.is(Kind::List))
        values.append({each.list.first, each.list.length});
      else
        values.push_back(each.scalar);
    }
    walker.walkBlock(body, inner);
    structure.when(loc, env.structural(body.getTerminator()->getOperand(0)), [&] {
      for (Value &value : values)
        value = structure.asColumn(value);
      if (stay->columns.empty()) // only how many they are counts
        structure.reserve(loc, stay, structure.integer(1));
      else
        structure.push(loc, stay, values);
    });
  };
  if (candidates)
    stages.rows(loc, candidates, all, at, element);
  else
    structure.loop(loc, all, [&](Value j) { element(RowContext(), j); });
  Value length = structure.sub(structure.count(loc, stay), first);
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    ListInfo info = listOfFiltered(sources[k], *stay, columnOf[k]);
    info.first = info.from == From::Rows ? structure.integer(0) : first;
    info.length = length;
    info.element = sources[k].element;
    env.set(result, AbstractValue::of(info));
  }
}

/// The list of those elements of `source` that stay; `column` holds them or where they lie. Its bounds are
/// not set.
ListInfo Binders::listOfFiltered(const ListInfo &source, const SpaceInfo &stay, int column) {
  if (source.from == From::Lists)
    return ListInfo::ofLists(*source.inner, stay, stay.columns[column], stay.columns[column + 1]);
  ListInfo info = ListInfo::ofColumn(stay, column < 0 ? "" : stay.columns[column]);
  if (source.isStructural())
    return info;
  info.from = structure.isIndex() ? From::Via : From::Rows;
  if (structure.isIndex()) {
    info.array = source.array;
    info.carried = source.carried;
  }
  return info;
}

} // namespace dbc::passes
