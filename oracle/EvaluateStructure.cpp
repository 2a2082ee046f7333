// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The operations on nodes, lists and control flow.
#include "oracle/Evaluation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace mlir;
using namespace dbc;
using namespace dbc::dyn;

namespace dbc::oracle {

Values Evaluation::block(Block &block, const Values &arguments) {
  for (auto [argument, given] : llvm::zip(block.getArguments(), arguments))
    values_[argument] = given;
  for (Operation &op : block.without_terminator()) {
    Values results = evaluate(&op);
    results.resize(op.getNumResults()); // nothing given: all unknown
    for (auto [result, computed] : llvm::zip(op.getResults(), results))
      values_[result] = std::move(computed);
    if (interpreter_.trace_ && reached_)
      trace(&op);
  }
  Values results;
  for (mlir::Value v : block.getTerminator()->getOperands())
    results.push_back(value(v));
  return results;
}

/// What has a name was bound by a `let`. In binders the positions stand behind it.
void Evaluation::trace(Operation *op) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  if (!name)
    return;
  std::string text = name.getName().str();
  for (int64_t position : positions_)
    text += "[" + std::to_string(position) + "]";
  Values results;
  for (mlir::Value result : op->getResults())
    results.push_back(value(result));
  auto call = dyn_cast<dyn::CallOp>(op);
  auto cell = call ? interpreter_.symbols_.lookup<CellOp>(call.getCallee()) : CellOp();
  trace(op->getLoc(), text, op->getResultTypes(), results, cell ? cell.getSurface() : Type());
}

/// Parts of a record are told by their names, where `surface` says them, other parts by their numbers.
void Evaluation::trace(Location at, const std::string &name, TypeRange types, const Values &values,
                       Type surface) {
  auto record = dyn_cast_or_null<RecordType>(surface);
  bool named = record && record.getNames().size() == values.size();
  for (auto [n, each] : llvm::enumerate(values)) {
    std::string text = name;
    if (values.size() > 1)
      text += "." + (named ? cast<StringAttr>(record.getNames()[n]).getValue().str() : std::to_string(n));
    if (!each.unknown())
      traced.push_back({sourcePlace(at), text, types[n], each});
  }
}

/// Whether a value or an element of it is not known (yet).
static bool hasUnknown(const Value &value) {
  return value.unknown() || (value.isList() && llvm::any_of(value.elements(), hasUnknown));
}

Values Evaluation::evaluate(Operation *op) {
  Values results;
  // A recurrence may start from an unknown state: its body is walked all the same, for the calls in it.
  bool unknown = llvm::any_of(op->getOperands(), [&](mlir::Value v) { return value(v).unknown(); });
  if (auto call = dyn_cast<dyn::CallOp>(op)) {
    // What is given must be there as a whole. Where a failure made it unknown the instance is computed all
    // the same, for the failures in it.
    auto isOpen = [&](mlir::Value v) { return hasUnknown(value(v)); };
    unknown =
        llvm::any_of(call.getKeys(), isOpen) || (!needs.empty() && llvm::any_of(call.getValues(), isOpen));
  }
  if (unknown && !isa<ScanOp, FoldOp>(op))
    return {};
  if (evaluateStructure(op, results) || evaluateNumbers(op, results))
    return results;
  llvm::report_fatal_error(llvm::Twine("the oracle does not know ") + op->getName().getStringRef());
}

bool Evaluation::evaluateStructure(Operation *op, Values &results) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](FieldOp o) { return results = field(o), true; })
      .Case([&](dyn::CallOp o) { return results = call(o), true; })
      .Case([&](MatchOp o) { return results = match(o), true; })
      .Case([&](IfOp o) {
        Region &region = value(o.getCondition()).scalar() != 0 ? o.getThen() : o.getOtherwise();
        return results = block(region.front(), {}), true;
      })
      .Case([&](NodesOp o) { return results = nodes(o), true; })
      .Case([&](SameOp o) {
        bool same = value(o.getA()).node() == value(o.getB()).node();
        return results = {Value::number(same)}, true;
      })
      .Case([&](RangeOp o) { return results = range(o), true; })
      .Case([&](LenOp o) {
        double length = static_cast<double>(value(o.getList()).elements().size());
        return results = {Value::number(length)}, true;
      })
      .Case([&](ZipOp o) { return results = zip(o), true; })
      .Case([&](ReverseOp o) { return results = reverse(o), true; })
      .Case([&](dyn::SliceOp o) { return results = slice(o), true; })
      .Case([&](AtOp o) { return results = at(o), true; })
      .Case([&](MapOp o) { return results = map(o), true; })
      .Case([&](FilterOp o) { return results = filter(o), true; })
      .Case([&](ScanOp o) { return results = scan(o), true; })
      .Case([&](FoldOp o) { return results = fold(o), true; })
      .Case([&](ReduceListOp o) { return results = reduceList(o), true; })
      .Case([&](SoftmaxListOp o) { return results = softmaxList(o), true; })
      .Default([](Operation *) { return false; });
}

/// Whether what an operation tests is known before any arithmetic. What a list holds matters to sums alone.
static bool isStructuralTest(Operation *op, Fault fault) {
  if (auto take = dyn_cast<TakeOp>(op))
    return isStructural(take.getIndex());
  return llvm::all_of(op->getOperands(), [&](mlir::Value v) {
    return (isa<ListType>(v.getType()) && fault != Fault::overflow) || isStructural(v);
  });
}

Values Evaluation::fail(Operation *op, Fault fault, const char *what, int64_t a, int64_t b, int64_t c) {
  if (!reached_ && !isStructuralTest(op, fault))
    return {};
  std::string place = sourcePlace(op->getLoc());
  failures.push_back(batch_.describe(Code::bad_input, table_, row_, -1,
                                     messages::fault_text(fault, what, a, b, c, place.c_str())));
  return {};
}

void Evaluation::decision(double margin) {
  if (reached_)
    interpreter_.outcome_.margin = std::min(interpreter_.outcome_.margin, margin);
}

//===-- Nodes
//-------------------------------------------------------------------------------------------------===//

/// What a column holds at place `at` of level `level`: rows are level 0, then come elements of lists, of
/// lists in them, and at level `info.depth` values of the given shape.
static Value stored(const ColumnView &view, const ColumnInfo &info, llvm::ArrayRef<int64_t> shape, int64_t at,
                    int32_t level) {
  if (level < info.depth) {
    Values elements;
    for (int32_t e = view.lists[level].begin[at]; e < view.lists[level].end[at]; ++e)
      elements.push_back(stored(view, info, shape, e, level + 1));
    return Value::list(std::move(elements));
  }
  auto number = [&](int64_t i) -> double {
    if (view.f32)
      return view.f32[i];
    return view.u8 ? view.u8[i] : view.i32[i];
  };
  if (info.elem == Elem::Node)
    return Value::node(view.i32[at]);
  if (shape.empty())
    return Value::number(number(at));
  std::vector<double> numbers;
  for (int64_t i = 0; i < info.extent; ++i)
    numbers.push_back(number(at * info.extent + i));
  return Value::tensor(shape.vec(), std::move(numbers));
}

Value Evaluation::columnValue(int32_t table, int32_t row, int32_t column, Type type, Operation *reader) {
  const ColumnView &view = batch_.column(table, column);
  while (auto list = dyn_cast<ListType>(type))
    type = list.getElement();
  if (view.has(row))
    return stored(view, batch_.column_info(table, column), extents(type), row, 0);
  std::string at = reader ? sourcePlace(reader->getLoc()) : "";
  failures.push_back(batch_.describe_missing(table, row, column, at.c_str()));
  return {};
}

Values Evaluation::field(FieldOp op) {
  int32_t table = interpreter_.table(op.getNode().getType());
  int32_t node = value(op.getNode()).node();
  const ConstructorInfo &constructor =
      interpreter_.info_.datas[table].constructors[batch_.kinds(table) ? batch_.kinds(table)[node] : 0];
  for (const FieldInfo &f : constructor.fields)
    if (f.name == op.getName())
      return {columnValue(table, node, f.column, op.getType(), op)};
  llvm::report_fatal_error("a field is read of a constructor that does not have it");
}

/// What a list or a table may take: as in sessions (dbc::Budget), so that a small hostile input does not take
/// all memory.
static constexpr int64_t kMostBytes = int64_t(1) << 30;

Values Evaluation::keyValues(Block &block, llvm::ArrayRef<int32_t> keys, const Values &given) {
  Values values;
  for (auto [argument, key] : llvm::zip(block.getArguments(), keys))
    values.push_back(isa<NodeType>(argument.getType()) ? Value::node(key) : Value::number(key));
  llvm::append_range(values, given);
  return values;
}

/// The range of a key that is a number, in terms of the keys before it. Nothing where it cannot be computed,
/// which was told when it was tried first, or where it would need a value that is not there yet.
std::optional<std::pair<int32_t, int32_t>> Evaluation::rangeOf(const Interpreter::Instance &instance,
                                                               unsigned key) {
  CellOp cell = instance.cell;
  Interpreter::Keys before(instance.keys.begin(), instance.keys.begin() + key);
  auto &ranges = interpreter_.ranges_[cell.getOperation()];
  if (auto at = ranges.find({instance.context, before}); at != ranges.end())
    return at->second;
  auto [table, row] = interpreter_.ownerOf(instance);
  Evaluation inner(interpreter_, table, row);
  Block &body = cell.getRange(key)->front();
  Values bounds = inner.block(body, keyValues(body, before, interpreter_.memo(instance).given));
  if (!inner.needs.empty()) {
    llvm::append_range(needs, inner.needs);
    return {};
  }
  std::optional<std::pair<int32_t, int32_t>> range;
  if (!bounds[0].unknown() && !bounds[1].unknown())
    range = {static_cast<int32_t>(bounds[0].at(0)), static_cast<int32_t>(bounds[1].at(0))};
  // As compiled code does (dbc::Group::open): a table takes memory for the whole range.
  int64_t length = range ? std::max<int64_t>(0, int64_t(range->second) - range->first) : 0;
  if (length * KeyTable::kBytes > kMostBytes) {
    BlockArgument argument = cell.getBody().getArgument(key);
    std::string what = messages::key_name(sourceName(argument.getLoc()), cell.getSymName().str());
    inner.failures.push_back(
        batch_.describe(Code::bad_input, table, row, -1,
                        messages::table_too_large(what, length, length * KeyTable::kBytes, kMostBytes,
                                                  sourcePlace(argument.getLoc()).c_str())));
    range.reset();
  }
  llvm::append_range(failures, inner.failures);
  return ranges[{instance.context, before}] = range;
}

/// Whether the keys of a call are in their ranges; if not, the input fails.
bool Evaluation::withinRanges(dyn::CallOp op, const Interpreter::Instance &callee) {
  CellOp cell = callee.cell;
  for (BlockArgument argument : cell.getKeys()) {
    unsigned k = argument.getArgNumber();
    if (isa<NodeType>(argument.getType()))
      continue;
    auto range = rangeOf(callee, k);
    if (!range)
      return false;
    if (callee.keys[k] >= range->first && callee.keys[k] < range->second)
      continue;
    auto [table, row] = interpreter_.ownerOf(callee);
    std::string what = messages::key_name(sourceName(argument.getLoc()), cell.getSymName().str());
    failures.push_back(
        batch_.describe(Code::bad_input, table, row, -1,
                        messages::key_outside(what, callee.keys[k], range->first, range->second,
                                              sourcePlace(op.getLoc()).c_str())));
    return false;
  }
  return true;
}

/// Finds out which of its instances a cell's is that is given values, and gives it them. False if a key is
/// reached twice on the way down.
bool Evaluation::give(dyn::CallOp op, Interpreter::Instance &callee) {
  const Interpreter::Recursion *recursion = interpreter_.recursionOf(callee.cell);
  if (!recursion)
    return true;
  Interpreter::CallSite site;
  if (instance_) {
    site.caller = dyn::CellOp(instance_->cell);
    site.keys = instance_->keys;
    site.context = instance_->context;
  }
  site.call = op;
  site.positions = positions_;
  bool inside = instance_ && llvm::is_contained(recursion->cells, instance_->cell);
  if (inside) {
    callee.context = instance_->context;
  } else {
    auto [at, fresh] = interpreter_.contexts_.try_emplace(site, interpreter_.contexts_.size() + 1);
    callee.context = at->second;
    if (fresh)
      interpreter_.owners_.push_back({table_, row_});
  }
  Interpreter::Memo &memo = interpreter_.memo(callee);
  if (recursion->values.changes(callee.cell)) {
    if (memo.reachedBy && (*memo.reachedBy < site || site < *memo.reachedBy)) {
      auto [table, row] = interpreter_.ownerOf(callee);
      failures.push_back(
          batch_.describe(Code::bad_input, table, row, -1,
                          messages::reached_twice(CellOp(callee.cell).getSymName().str(),
                                                  sourcePlace(CellOp(callee.cell).getLoc()).c_str())));
      return false;
    }
    memo.reachedBy = site;
  }
  if (memo.state == Interpreter::Memo::New) {
    memo.given.clear();
    for (mlir::Value given : op.getValues())
      memo.given.push_back(value(given));
  }
  return true;
}

Values Evaluation::call(dyn::CallOp op) {
  Interpreter::Instance callee{interpreter_.symbols_.lookup<CellOp>(op.getCalleeAttr().getAttr()), {}};
  for (mlir::Value key : op.getKeys())
    callee.keys.push_back(isa<NodeType>(key.getType()) ? value(key).node()
                                                       : static_cast<int32_t>(value(key).at(0)));
  if (!give(op, callee) || !withinRanges(op, callee))
    return {};
  Interpreter::Memo &memo = interpreter_.memo(callee);
  if (memo.state == Interpreter::Memo::Done)
    return memo.values;
  needs.push_back(callee);
  return {};
}

Values Evaluation::match(MatchOp op) {
  int32_t table = interpreter_.table(cast<NodeType>(op.getNode().getType()));
  int32_t node = value(op.getNode()).node();
  int32_t kind = batch_.kinds(table) ? batch_.kinds(table)[node] : 0;
  const std::string &constructor = interpreter_.info_.datas[table].constructors[kind].name;
  for (auto [name, arm] : llvm::zip(op.getCtors(), op.getArms()))
    if (cast<StringAttr>(name).getValue() == constructor || cast<StringAttr>(name).getValue() == "_")
      return block(arm.front(), {});
  llvm::report_fatal_error("a match is not exhaustive");
}

/// Reached means: along fields of any type that refer to nodes, as far as they are given.
Values Evaluation::nodes(NodesOp op) {
  int32_t wanted = interpreter_.table(cast<NodeType>(op.getNode().getType()));
  using Reached = std::pair<int32_t, int32_t>; // data type, node
  std::set<Reached> seen{{wanted, value(op.getNode()).node()}};
  std::vector<Reached> open(seen.begin(), seen.end());
  while (!open.empty()) {
    auto [table, node] = open.back();
    open.pop_back();
    int32_t kind = batch_.kinds(table) ? batch_.kinds(table)[node] : 0;
    for (const FieldInfo &field : interpreter_.info_.datas[table].constructors[kind].fields) {
      const ColumnInfo &info = batch_.column_info(table, field.column);
      const ColumnView &view = batch_.column(table, field.column);
      if (info.elem != Elem::Node || !view.has(node))
        continue;
      std::vector<Value> todo{stored(view, info, {}, node, 0)};
      while (!todo.empty()) {
        Value v = todo.back();
        todo.pop_back();
        if (v.isList())
          todo.insert(todo.end(), v.elements().begin(), v.elements().end());
        else if (seen.insert({info.target, v.node()}).second)
          open.push_back({info.target, v.node()});
      }
    }
  }
  Values found; // a set is in the order of the numbers
  for (auto [table, node] : seen)
    if (table == wanted)
      found.push_back(Value::node(node));
  return {Value::list(std::move(found))};
}

//===-- Lists
//-------------------------------------------------------------------------------------------------===//

Values Evaluation::range(RangeOp op) {
  int64_t low = value(op.getLow()).integer(), high = value(op.getHigh()).integer();
  int64_t bytes = (high - low) * static_cast<int64_t>(sizeof(Value));
  if (bytes > kMostBytes)
    return fail(op, Fault::memory, "", high - low, bytes, kMostBytes);
  Values elements;
  for (int64_t i = low; i < high; ++i)
    elements.push_back(Value::number(static_cast<double>(i)));
  return {Value::list(std::move(elements))};
}

Values Evaluation::zip(ZipOp op) {
  Values lists;
  for (mlir::Value list : op.getLists()) {
    lists.push_back(value(list));
    int64_t first = lists.front().elements().size(), length = lists.back().elements().size();
    if (first != length)
      return fail(op, Fault::lengths, "", first, length);
  }
  return lists;
}

Values Evaluation::reverse(ReverseOp op) {
  const Values &elements = value(op.getList()).elements();
  return {Value::list(Values(elements.rbegin(), elements.rend()))};
}

Values Evaluation::slice(dyn::SliceOp op) {
  const Values &elements = value(op.getList()).elements();
  int64_t low = value(op.getLow()).integer(), high = value(op.getHigh()).integer(), length = elements.size();
  if (low < 0 || high < 0 || low > length || high > length)
    return fail(op, Fault::slice, "", low, high, length);
  if (high <= low)
    return {Value::list({})};
  return {Value::list(Values(elements.begin() + low, elements.begin() + high))};
}

Values Evaluation::at(AtOp op) {
  const Values &elements = value(op.getList()).elements();
  int64_t index = value(op.getIndex()).integer(), length = elements.size();
  bool outside = index < 0 || index >= length;
  if (outside && op.getWhen() && value(op.getWhen()).scalar() == 0) {
    auto shape = extents(op.getType());
    int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
    return {Value::tensor(shape.vec(), std::vector<double>(size, 0))};
  }
  if (outside)
    return fail(op, Fault::list_index, "", index, length);
  return {elements[index]};
}

int64_t Evaluation::length(ValueRange lists) {
  int64_t length = -1;
  for (mlir::Value list : lists) {
    if (value(list).unknown())
      return -1;
    length = value(list).elements().size();
    assert(length == static_cast<int64_t>(value(lists.front()).elements().size()) &&
           "lists that were not zipped");
  }
  return length;
}

Values Evaluation::map(MapOp op) {
  std::vector<Values> lists(op.getNumResults());
  for (int64_t i = 0, n = length(op.getLists()); i < n; ++i) {
    Values arguments;
    for (mlir::Value list : op.getLists())
      arguments.push_back(value(list).elements()[i]);
    Values results = element(i, op.getBody().front(), arguments);
    for (size_t r = 0; r < results.size(); ++r)
      lists[r].push_back(results[r]);
  }
  Values results;
  for (Values &list : lists)
    results.push_back(Value::list(std::move(list)));
  return results;
}

Values Evaluation::filter(FilterOp op) {
  std::vector<Values> lists(op.getNumResults());
  for (int64_t i = 0, n = length(op.getLists()); i < n; ++i) {
    Values arguments;
    for (mlir::Value list : op.getLists())
      arguments.push_back(value(list).elements()[i]);
    Values stays = element(i, op.getBody().front(), arguments);
    if (stays.front().unknown())
      return {};
    for (size_t r = 0; stays.front().integer() && r < lists.size(); ++r)
      lists[r].push_back(arguments[r]);
  }
  Values results;
  for (Values &list : lists)
    results.push_back(Value::list(std::move(list)));
  return results;
}

/// Whether a recurrence takes a further step. Where that is not known yet it does, for the calls in its body.
static bool goesOn(bool stops, const Values &state) {
  return !stops || state.back().unknown() || state.back().at(0) != 0;
}

/// The lists' elements in a step, and the state.
Values Evaluation::ofStep(mlir::ValueRange lists, int64_t i, const Values &state) {
  Values arguments;
  for (mlir::Value list : lists)
    arguments.push_back(value(list).elements()[i]);
  llvm::append_range(arguments, state);
  return arguments;
}

/// A step that a `while` leaves out: what is known before any arithmetic is tested in it all the same (S4).
Values Evaluation::leaveOut(int64_t i, Block &body, const Values &arguments) {
  bool reached = std::exchange(reached_, false);
  Values next = element(i, body, arguments);
  reached_ = reached;
  return next;
}

Values Evaluation::scan(ScanOp op) {
  int64_t n = length(op.getLists());
  if (n < 0)
    return {};
  Values state;
  for (mlir::Value init : op.getInit())
    state.push_back(value(init));
  std::vector<Values> lists(state.size(), Values(n));
  Block &body = op.getBody().front();
  int64_t steps = 0;
  auto place = [&](int64_t k) { return op.getBack() ? n - 1 - k : k; };
  for (; steps < n && goesOn(op.getStops(), state); ++steps) {
    state = element(place(steps), body, ofStep(op.getLists(), place(steps), state));
    for (size_t r = 0; r < state.size(); ++r)
      lists[r][place(steps)] = state[r];
  }
  for (int64_t k = steps; k < n; ++k)
    leaveOut(place(k), body, ofStep(op.getLists(), place(k), state));
  Values results;
  for (Values &list : lists) {
    // What was not reached is at the end, or for a scan from the back at the beginning.
    list.erase(op.getBack() ? list.begin() : list.begin() + steps,
               op.getBack() ? list.begin() + (n - steps) : list.end());
    results.push_back(Value::list(std::move(list)));
  }
  if (op.getStops() && n > 0 && !state.empty() && state.back().unknown())
    return {};
  return results;
}

/// The first two lengths that differ of lists, or of lists in them; none if all are equal.
static std::optional<std::pair<int64_t, int64_t>> unequalLengths(const Value &a, const Value &b) {
  if (!a.isList() || !b.isList())
    return std::nullopt;
  if (a.elements().size() != b.elements().size())
    return std::pair<int64_t, int64_t>(a.elements().size(), b.elements().size());
  for (auto [x, y] : llvm::zip(a.elements(), b.elements()))
    if (auto lengths = unequalLengths(x, y))
      return lengths;
  return std::nullopt;
}

Values Evaluation::fold(FoldOp op) {
  int64_t n = length(op.getLists());
  if (n < 0)
    return {};
  Values state;
  for (mlir::Value init : op.getInit())
    state.push_back(value(init));
  Block &body = op.getBody().front();
  for (int64_t i = 0; i < n; ++i) {
    bool taken = goesOn(op.getStops(), state);
    Values arguments = ofStep(op.getLists(), i, state);
    Values next = taken ? element(i, body, arguments) : leaveOut(i, body, arguments);
    for (auto [a, b] : llvm::zip(state, next))
      if (auto lengths = unequalLengths(a, b))
        return fail(op, Fault::state_length, "", lengths->first, lengths->second);
    if (taken)
      state = std::move(next);
  }
  if (op.getStops() && !state.empty() && state.back().unknown())
    return {};
  return state;
}

/// What a reduction of an empty list gives (LANGUAGE L3); NaN where it fails.
static double ofNothing(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Any:
    return 0;
  case ReduceKind::All:
    return 1;
  case ReduceKind::LogSumExp:
    return -INFINITY;
  default:
    return NAN;
  }
}

/// How long a list that a `while` ends is at most.
int64_t Evaluation::bound(mlir::Value list) {
  while (!list.getDefiningOp<ScanOp>())
    list = list.getDefiningOp()->getOperand(0);
  return length(list.getDefiningOp<ScanOp>().getLists());
}

Values Evaluation::reduceList(ReduceListOp op) {
  const Values &elements = value(op.getList()).elements();
  if (llvm::any_of(elements, [](const Value &v) { return v.unknown(); }))
    return {};
  Type type = op.getResult().getType();
  auto shape = extents(type).vec();
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  if (elements.empty()) {
    double nothing = ofNothing(op.getKind());
    if (op.getWhen() && value(op.getWhen()).unknown())
      return {};
    // In an arm that is not chosen, unless the list was empty before any arithmetic (S3).
    if (std::isnan(nothing) && op.getWhen() && value(op.getWhen()).at(0) == 0 && bound(op.getList()) > 0)
      nothing = 0;
    if (std::isnan(nothing))
      return fail(op, Fault::empty, stringifyReduceKind(op.getKind()).data());
    return {Value::tensor(shape, std::vector<double>(size, nothing))};
  }
  bool isFloat = scalar(op.getList().getType().getElement()).isF32();
  std::vector<double> reduced(size), numbers(elements.size());
  for (int64_t i = 0; i < size; ++i) {
    for (size_t e = 0; e < elements.size(); ++e)
      numbers[e] = elements[e].at(i);
    reduced[i] = reduce(op.getKind(), numbers, isFloat);
    if (!isFloat && op.getKind() == ReduceKind::Sum)
      if (auto step = sumOverflow(numbers))
        return fail(op, Fault::overflow, "+", step->first, step->second);
  }
  return {Value::tensor(shape, std::move(reduced))};
}

Values Evaluation::softmaxList(SoftmaxListOp op) {
  const Values &elements = value(op.getList()).elements();
  if (elements.empty())
    return {value(op.getList())};
  if (llvm::any_of(elements, [](const Value &v) { return v.unknown(); }))
    return {};
  std::vector<std::vector<double>> weights(elements.size(), std::vector<double>(elements[0].size()));
  for (int64_t i = 0; i < elements[0].size(); ++i) {
    double most = -INFINITY, sum = 0;
    for (const Value &element : elements)
      most = std::max(most, element.at(i));
    for (size_t e = 0; e < elements.size(); ++e)
      sum += weights[e][i] = std::exp(elements[e].at(i) - most);
    for (auto &weight : weights)
      weight[i] /= sum;
  }
  Values results;
  for (auto &weight : weights)
    results.push_back(Value::tensor(elements[0].shape(), std::move(weight)));
  return {Value::list(std::move(results))};
}

} // namespace dbc::oracle
