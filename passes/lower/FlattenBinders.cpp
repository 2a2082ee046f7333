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
  IndexSetInfo *indexSet =
      program.addIndexSet(loc, StageWriter::label(op, at), kernel::IndexSetKind::Elements, at.indexSet);
  Value first = structure.count(loc, indexSet);
  std::vector<ListInfo> results;
  kernel::ForOp loop = stages.rows(loc, indexSet, length, at, [&](RowContext inner, Value j) {
    stages.keepElement(loc, indexSet, sources[0], j);
    for (auto [arg, list] : llvm::zip(body.getArguments(), sources))
      env.set(arg, lists.element(list, j));
    walker.walkBlock(body, inner);
    for (Value value : body.getTerminator()->getOperands()) {
      results.push_back(listOfYielded(loc, value, inner));
      if (!results.back().inner)
        results.back().end = sources[0].end;
    }
  });
  if (indexSet->used) {
    OpBuilder::InsertionGuard guard(structure.builder());
    structure.builder().setInsertionPoint(loop);
    structure.reserveMemoryFor(op, length, indexSet);
  }
  for (auto [info, result] : llvm::zip(results, op.getResults())) {
    info.first = first;
    info.length = length;
    info.element = cast<dyn::ListType>(result.getType()).getElement();
    env.set(result, AbstractValue::of(info));
  }
}

/// The list of what a body yields at each row of its index set. Its bounds are not set.
ListInfo Binders::listOfYielded(Location loc, Value value, RowContext at) {
  AbstractValue yielded = env.lookup(value);
  IndexSetInfo *indexSet = at.indexSet;
  if (yielded.is(Kind::List)) {
    // The order in which the index set gets its arrays, which the emitted code shows.
    std::string length = stages.indexArray(indexSet, yielded.list.length, "length");
    std::string first = stages.indexArray(indexSet, yielded.list.first, "first");
    return ListInfo::ofLists(yielded.list, *indexSet, first, length);
  }
  if (env.isOfConstants(yielded))
    yielded = AbstractValue::structural(env.structural(value));
  if (yielded.is(Kind::Model)) { // the same for every element, but a list wants rows
    std::string buffer = program.addBuffer(indexSet->name + ".value", indexSet, value.getType());
    stages.write(loc, value, yielded, buffer, at);
    yielded = AbstractValue::stored(buffer, at.row);
  }
  bool structural = yielded.is(Kind::Structural), here = !structural && yielded.scalar == at.row;
  ListInfo list;
  list.from = structural ? From::IndexArray : here ? From::Rows : From::Via;
  list.of = indexSet->name;
  list.array = yielded.array;
  list.carried = yielded.carried;
  if (here)
    indexSet->used = true;
  else
    list.via = stages.indexArray(indexSet, yielded.scalar, dyn::sourceName(value.getLoc()));
  return list;
}

/// In the walk that writes calls. Structural results, and the bounds of lists, lie in rows of an index set,
/// for calls may need them; of others only the length counts.
void Binders::mapCalls(dyn::MapOp op, ArrayRef<ListInfo> sources) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  Value length = sources[0].length;
  auto isList = [](Value result) {
    return isa<dyn::ListType>(cast<dyn::ListType>(result.getType()).getElement());
  };
  IndexSetInfo *rows = nullptr;
  SmallVector<bool> kept;
  for (Value result : op.getResults()) {
    kept.push_back(!result.use_empty() && (isList(result) || env.isStructural(result)));
    if (kept.back() && !rows)
      rows = program.addIndexSet(loc, "map", kernel::IndexSetKind::States, nullptr);
  }
  std::vector<ListInfo> infos(op.getNumResults());
  Value first = rows ? structure.count(loc, rows) : structure.integer(0);
  for (auto [k, info] : llvm::enumerate(infos)) {
    info.from = From::Rows;
    if (!kept[k])
      continue;
    rows->used = true;
    auto add = [&, number = k](const char *name) {
      rows->addArray(name + (number ? std::to_string(number + 1) : ""));
      return rows->arrays.back();
    };
    if (isList(op.getResult(k))) {
      info.firsts = add("first");
      info.lengths = add("length");
    } else {
      info = ListInfo::ofIndexArray(*rows, add("value"));
    }
  }
  if (rows || callsCells(body)) {
    structure.reserveMemoryFor(
        op, length, rows ? ArrayRef<const IndexSetInfo *>(rows) : ArrayRef<const IndexSetInfo *>());
    structure.loop(loc, length, [&](Value j) {
      for (auto [arg, list] : llvm::zip(body.getArguments(), sources))
        env.set(arg, lists.element(list, j));
      walker.walkBlock(body, RowContext());
      SmallVector<Value> values;
      for (auto [k, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
        if (!kept[k])
          continue;
        if (!isList(op.getResult(k))) {
          values.push_back(structure.asIndex(env.structural(value)));
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

/// The elements that stay are rows of an index set: structural ones themselves, computed ones as the row that
/// they lie in.
void Binders::filter(dyn::FilterOp op, RowContext at) {
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  std::vector<ListInfo> sources = env.lists(op.getLists());
  Value all = sources[0].length;
  IndexSetInfo *stay = program.addIndexSet(loc, (at.indexSet ? at.indexSet->name + "." : "") + "filtered",
                                           kernel::IndexSetKind::States, nullptr);
  stay->used = true;
  std::vector<int> arrayOf(sources.size(), -1); // the first one of each list
  for (auto [k, list] : llvm::enumerate(sources)) {
    std::string number = k ? std::to_string(k + 1) : "";
    if (!structure.isIndex() && !list.isStructural() && list.from != From::Lists)
      continue;
    arrayOf[k] = stay->arrays.size();
    if (list.from == From::Lists)
      for (const char *bound : {"first", "length"})
        stay->addArray(bound + number);
    else
      stay->addArray("element" + number);
  }
  Value first = structure.count(loc, stay);
  IndexSetInfo *candidates = structure.isIndex()
                                 ? program.addIndexSet(loc, at.indexSet->name + ".filter",
                                                       kernel::IndexSetKind::Elements, at.indexSet)
                                 : nullptr;
  structure.reserveMemoryFor(op, all, stay);
  auto element = [&](RowContext inner, Value j) {
    if (candidates)
      candidates->used = false;
    SmallVector<Value> values;
    for (auto [k, list] : llvm::enumerate(sources)) {
      AbstractValue each = lists.element(list, j);
      env.set(body.getArgument(k), each);
      if (arrayOf[k] < 0)
        continue;
      if (each.is(Kind::List))
        values.append({each.list.first, each.list.length});
      else
        values.push_back(each.scalar);
    }
    walker.walkBlock(body, inner);
    structure.when(loc, env.structural(body.getTerminator()->getOperand(0)), [&] {
      for (Value &value : values)
        value = structure.asIndex(value);
      if (stay->arrays.empty()) // only how many they are counts
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
    ListInfo info = listOfFiltered(sources[k], *stay, arrayOf[k]);
    info.first = info.from == From::Rows ? structure.integer(0) : first;
    info.length = length;
    info.element = sources[k].element;
    env.set(result, AbstractValue::of(info));
  }
}

/// The list of those elements of `source` that stay; index array `array` holds them or where they lie. Its
/// bounds are not set.
ListInfo Binders::listOfFiltered(const ListInfo &source, const IndexSetInfo &stay, int array) {
  if (source.from == From::Lists)
    return ListInfo::ofLists(*source.inner, stay, stay.arrays[array], stay.arrays[array + 1]);
  ListInfo info = ListInfo::ofIndexArray(stay, array < 0 ? "" : stay.arrays[array]);
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
