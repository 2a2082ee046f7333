// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The operations on nodes and control flow.
#include "oracle/Evaluation.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_set>

using namespace mlir;
using namespace dbc;
using namespace dbc::dyn;

namespace dbc::oracle {

Values Evaluation::block(Block &block, const Values &arguments) {
  for (auto [argument, given] : llvm::zip(block.getArguments(), arguments))
    bind(argument, given);
  // Block::without_terminator() asks each time whether there is one, which takes as long as a small
  // operation.
  for (Operation &op : llvm::make_range(block.begin(), std::prev(block.end()))) {
    Values results = evaluate(&op);
    results.resize(op.getNumResults()); // nothing given: all unknown
    for (auto [result, computed] : llvm::zip(op.getResults(), results))
      bind(result, std::move(computed));
    if (interpreter_.trace_ && reached_ && interpreter_.phase_ == Phase::All)
      trace(&op);
  }
  Values results;
  results.reserve(block.getTerminator()->getNumOperands());
  for (mlir::Value v : block.getTerminator()->getOperands())
    results.push_back(value(v));
  return results;
}

/// A value of which lengths of lists alone are known.
static Value lengthsOf(const Value &value) {
  if (!value.isList())
    return Value();
  Values elements;
  elements.reserve(value.elements().size());
  for (const Value &element : value.elements())
    elements.push_back(lengthsOf(element));
  return Value::list(std::move(elements));
}

void Evaluation::bind(mlir::Value to, Value value) {
  values_[to] = isOfStructure() && !interpreter_.structural_.has(to) ? lengthsOf(value) : std::move(value);
}

void Evaluation::report(Status failure) {
  if (interpreter_.phase_ == Phase::All)
    failures.push_back(std::move(failure));
  else if (!isLeft())
    interpreter_.first_ = std::move(failure);
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
  // Of several results: "l.h l.c".
  llvm::SmallVector<llvm::StringRef> names;
  if (auto below = dyn_cast<NameLoc>(name.getChildLoc()))
    below.getName().getValue().split(names, ' ');
  for (llvm::StringRef &each : names)
    each.consume_front(name.getName());
  trace(op->getLoc(), text, op->getResultTypes(), results, names);
}

/// How the components of a value are called, behind its name: ".h", ".c", ".h.0".
static void componentNames(Type surface, const std::string &before, std::vector<std::string> &names) {
  if (auto record = dyn_cast<RecordType>(surface)) {
    for (auto [name, type] : llvm::zip(record.getNames(), record.getTypes()))
      componentNames(type, before + "." + cast<StringAttr>(name).str(), names);
  } else if (auto tuple = dyn_cast<TupleType>(surface)) {
    for (auto [n, type] : llvm::enumerate(tuple.getTypes()))
      componentNames(type, before + "." + std::to_string(n), names);
  } else if (auto list = dyn_cast<ListType>(surface)) {
    componentNames(list.getElement(), before, names);
  } else {
    names.push_back(before);
  }
}

void Evaluation::traceResult(Location at, TypeRange types, const Values &values, Type surface) {
  std::vector<std::string> names;
  componentNames(surface, "", names);
  trace(at, "gives", types, values, llvm::SmallVector<llvm::StringRef>(names.begin(), names.end()));
}

void Evaluation::trace(Location at, const std::string &name, TypeRange types, const Values &values,
                       llvm::ArrayRef<llvm::StringRef> components) {
  for (auto [n, each] : llvm::enumerate(values)) {
    std::string text = name;
    if (components.size() == values.size())
      text += components[n].str();
    else if (values.size() > 1)
      text += "." + std::to_string(n);
    if (!each.unknown())
      traced.push_back({sourceLocation(at), text, types[n], each});
  }
}

/// Whether a value or an element of it is not known (yet).
static bool hasUnknown(const Value &value) {
  return value.unknown() || (value.isList() && llvm::any_of(value.elements(), hasUnknown));
}

Values Evaluation::evaluate(Operation *op) {
  if (isLeft())
    return {};
  const Rule &rule = ruleOf(op);
  if (rule.isBlockedByUnknown ? rule.isBlockedByUnknown(*this, op) : hasUnknownOperand(op))
    return {};
  if (++interpreter_.steps_ > interpreter_.limit_)
    return {};
  Values results = rule.evaluate(*this, op);
  if (!results.empty() && results[0].isList() && !fits(0)) {
    const int64_t length = results[0].elements().size();
    return exhaust(op, length, length * static_cast<int64_t>(results.size() * sizeof(Value)));
  }
  if (tape())
    record(op, results);
  return results;
}

const Evaluation::Rule &Evaluation::ruleOf(Operation *op) {
  static const Rules rules = [] {
    Rules made;
    addStructure(made);
    addNumbers(made);
    return made;
  }();
  auto at = rules.find(op->getName().getTypeID());
  if (at == rules.end())
    llvm::report_fatal_error(llvm::Twine("the oracle does not know ") + op->getName().getStringRef());
  return at->second;
}

void Evaluation::addStructure(Rules &rules) {
  on<FieldOp>(rules, &Evaluation::field);
  on<MatchOp>(rules, &Evaluation::match);
  on<IfOp>(rules, [](Evaluation &e, IfOp op) {
    Region &region = e.value(op.getCondition()).scalar() != 0 ? op.getThen() : op.getOtherwise();
    return e.block(region.front(), {});
  });
  on<NodesOp>(rules, &Evaluation::nodes);
  on<SameOp>(rules, [](Evaluation &e, SameOp op) -> Values {
    return {Value::number(e.value(op.getA()).node() == e.value(op.getB()).node())};
  });
  on<EmptyOp>(rules, [](Evaluation &, EmptyOp) -> Values { return {Value::list({})}; });
  on<RangeOp>(rules, &Evaluation::range);
  on<LenOp>(rules, [](Evaluation &e, LenOp op) -> Values {
    return {Value::number(static_cast<double>(e.value(op.getList()).elements().size()))};
  });
  on<ZipOp>(rules, &Evaluation::zip);
  on<ReverseOp>(rules, &Evaluation::reverse);
  on<dyn::SliceOp>(rules, &Evaluation::slice);
  on<AtOp>(rules, &Evaluation::at);
  on<FilterOp>(rules, &Evaluation::filter);
  on<SoftmaxListOp>(rules, &Evaluation::softmaxList);
  // Captured arguments must be there as a whole. Where a failure made one unknown the instance is computed
  // all the same, for the failures in it.
  on<dyn::CallOp>(rules, &Evaluation::call).isBlockedByUnknown = [](Evaluation &e, Operation *op) {
    auto isOpen = [&](mlir::Value v) { return hasUnknown(e.value(v)); };
    auto call = cast<dyn::CallOp>(op);
    return llvm::any_of(call.getKeys(), isOpen) ||
           (!e.needs.empty() && llvm::any_of(call.getValues(), isOpen));
  };
  on<ReduceListOp>(rules, &Evaluation::reduceList).isBlockedByUnknown = [](Evaluation &e, Operation *op) {
    return e.isOfStructure() ? e.value(cast<ReduceListOp>(op).getList()).unknown() : e.hasUnknownOperand(op);
  };
  // The bodies of binders are walked whatever is unknown: for the calls in them, and a recurrence may start
  // from an unknown state.
  auto never = [](Evaluation &, Operation *) { return false; };
  on<MapOp>(rules, &Evaluation::map).isBlockedByUnknown = never;
  on<ScanOp>(rules, &Evaluation::scan).isBlockedByUnknown = never;
  on<FoldOp>(rules, &Evaluation::fold).isBlockedByUnknown = never;
}

/// Whether what an operation tests is known before any arithmetic. What a list holds matters to sums alone.
static bool isStructuralTest(Operation *op, ErrorKind kind) {
  if (auto gather = dyn_cast<GatherOp>(op))
    return isStructural(gather.getIndex());
  return llvm::all_of(op->getOperands(), [&](mlir::Value v) {
    return (isa<ListType>(v.getType()) && kind != ErrorKind::overflow) || isStructural(v);
  });
}

Values Evaluation::fail(Operation *op, ErrorKind kind, const char *what, int64_t a, int64_t b, int64_t c) {
  bool leftEmpty = kind == ErrorKind::empty && isEnded(op->getOperand(0)) && bound(op->getOperand(0)) != 0;
  if (!reached_ && (leftEmpty || !isStructuralTest(op, kind)))
    return {};
  std::string location = sourceLocation(op->getLoc());
  report(batch_.describe(Code::bad_input, table_, row_, -1,
                         messages::error_text(kind, what, a, b, c, location.c_str())));
  return {};
}

void Evaluation::exhaust(const std::string &message) {
  if (isLeft())
    return;
  Status failure = batch_.describe(Code::bad_input, table_, row_, -1, message);
  interpreter_.outcome_.tooLarge = true;
  if (interpreter_.phase_ == Phase::All)
    interpreter_.exhausted_ = std::move(failure);
  else
    report(std::move(failure));
}

bool Evaluation::instancesFit(Location at) {
  if (fits(0))
    return true;
  exhaust(std::to_string(interpreter_.memos_.size()) + " instances of cells take " +
          std::to_string(interpreter_.heldBytes()) + " bytes with their values, and one input may have " +
          std::to_string(kMostBytes) + " in all" + messages::location(sourceLocation(at).c_str()));
  return false;
}

Values Evaluation::exhaust(Operation *op, int64_t length, int64_t bytes) {
  exhaust(messages::too_long(length, bytes, kMostBytes, sourceLocation(op->getLoc()).c_str()));
  return {};
}

void Evaluation::decision(double margin) {
  if (reached_)
    interpreter_.outcome_.margin = std::min(interpreter_.outcome_.margin, margin);
}

//===-- Nodes --------------------------------------------------------------------------------------===//

/// What a column holds at position `at` of level `level`: rows are level 0, then come elements of lists, of
/// lists in them, and at level `info.depth` values of the given shape. `number` gets each of these, with its
/// position.
static Value stored(const ColumnView &view, const ColumnInfo &info, llvm::ArrayRef<int64_t> shape, int64_t at,
                    int32_t level, llvm::function_ref<Value(Value, int64_t)> number = nullptr) {
  if (level < info.depth) {
    Values elements;
    for (int32_t e = view.lists[level].begin[at]; e < view.lists[level].end[at]; ++e)
      elements.push_back(stored(view, info, shape, e, level + 1, number));
    return Value::list(std::move(elements));
  }
  auto element = [&](int64_t i) -> double {
    if (view.f32)
      return view.f32[i];
    return view.u8 ? view.u8[i] : view.i32[i];
  };
  if (info.elem == Elem::Node)
    return Value::node(view.i32[at]);
  std::vector<double> elements;
  for (int64_t i = 0; i < info.extent; ++i)
    elements.push_back(element(at * info.extent + i));
  Value value = Value::tensor(shape.vec(), std::move(elements));
  return number ? number(value, at) : value;
}

Value Evaluation::columnValue(int32_t table, int32_t row, int32_t column, Type type, Operation *reader) {
  const ColumnView &view = batch_.column(table, column);
  while (auto list = dyn_cast<ListType>(type))
    type = list.getElement();
  if (view.has(row)) {
    auto onTape = [&](const Value &value, int64_t at) {
      const auto &columns = interpreter_.columns_;
      return tape() && view.f32 && (!columns || columns->count({table, column}))
                 ? tape()->input({table, column}, at, value)
                 : value;
    };
    return stored(view, batch_.column_info(table, column), extents(type), row, 0, onTape);
  }
  std::string at = reader ? sourceLocation(reader->getLoc()) : "";
  report(batch_.describe_missing(table, row, column, at.c_str()));
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

Values Evaluation::keyValues(Block &block, llvm::ArrayRef<int32_t> keys, const Values &captured) {
  Values values;
  values.reserve(keys.size() + captured.size());
  for (auto [argument, key] : llvm::zip(block.getArguments(), keys))
    values.push_back(isa<NodeType>(argument.getType()) ? Value::node(key) : Value::number(key));
  llvm::append_range(values, captured);
  return values;
}

/// The range of a key that is a number, in terms of the keys before it. Nothing where it cannot be computed,
/// which was reported when it was tried first, or where it would need a value that is not there yet.
std::optional<std::pair<int32_t, int32_t>> Evaluation::rangeOf(const Interpreter::Instance &instance,
                                                               unsigned key) {
  CellOp cell = instance.cell;
  Interpreter::Instance before = instance; // as far as its keys are known
  before.keys.truncate(key);
  auto &ranges = interpreter_.ranges_;
  if (auto at = ranges.find(before); at != ranges.end())
    return at->second;
  auto [table, row] = interpreter_.ownerOf(instance);
  Evaluation inner(interpreter_, table, row);
  Block &body = cell.getRange(key)->front();
  Values bounds = inner.block(body, keyValues(body, before.keys, interpreter_.memo(instance).captured));
  if (!inner.needs.empty()) {
    llvm::append_range(needs, inner.needs);
    return {};
  }
  std::optional<std::pair<int32_t, int32_t>> range;
  if (!bounds[0].unknown() && !bounds[1].unknown())
    range = {static_cast<int32_t>(bounds[0].at(0)), static_cast<int32_t>(bounds[1].at(0))};
  // As compiled code does (dbc::Group::open): a table takes memory for the whole range.
  int64_t length = range ? std::max<int64_t>(0, int64_t(range->second) - range->first) : 0;
  const int64_t bytes = length * KeyTable::kBytes;
  if (bytes > kMostBytes - interpreter_.tableBytes_) {
    BlockArgument argument = cell.getBody().getArgument(key);
    std::string what = messages::key_name(sourceName(argument.getLoc()), cell.getSymName().str());
    inner.exhaust(messages::table_too_large(what, length, bytes, kMostBytes,
                                            sourceLocation(argument.getLoc()).c_str()));
    return {};
  }
  interpreter_.tableBytes_ += bytes;
  llvm::append_range(failures, inner.failures);
  return ranges[before] = range;
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
    report(batch_.describe(Code::bad_input, table, row, -1,
                           messages::key_outside(what, callee.keys[k], range->first, range->second,
                                                 sourceLocation(op.getLoc()).c_str())));
    return false;
  }
  return true;
}

/// Of a cell with captured arguments: finds out which of its instances the callee is, and gives it them.
/// False if a key is reached twice on the way down.
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
    if (memo.discoveredBy && (*memo.discoveredBy < site || site < *memo.discoveredBy)) {
      auto [table, row] = interpreter_.ownerOf(callee);
      report(batch_.describe(Code::bad_input, table, row, -1,
                             messages::reached_twice(CellOp(callee.cell).getSymName().str(),
                                                     sourceLocation(CellOp(callee.cell).getLoc()).c_str())));
      return false;
    }
    memo.discoveredBy = site;
  }
  if (memo.state == Interpreter::Memo::New) {
    memo.captured.clear();
    for (mlir::Value captured : op.getValues())
      memo.captured.push_back(value(captured));
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
  if (instance_ && interpreter_.keepsCalls_) {
    interpreter_.memo(*instance_).calls.push_back(callee);
    interpreter_.memoBytes_ += sizeof(callee);
  }
  Interpreter::Memo &memo = interpreter_.memo(callee);
  if (memo.state == Interpreter::Memo::New && !instancesFit(op.getLoc()))
    return {};
  if (memo.state == Interpreter::Memo::Done ||
      (computesCalls && memo.state == Interpreter::Memo::New && interpreter_.computeWithin(callee)))
    return op.getEvery() ? every(callee) : memo.values;
  needs.push_back(callee);
  return {};
}

/// The nodes of all instances of a cell that one leads to, and what they give; the one has its values.
Values Evaluation::every(const Interpreter::Instance &start) {
  std::unordered_set<Interpreter::Instance, Interpreter::HashOfInstance> seen{start};
  std::vector<Interpreter::Instance> open{start};
  std::map<int32_t, const Interpreter::Memo *> found; // by the node
  while (!open.empty()) {
    Interpreter::Instance next = open.back();
    open.pop_back();
    const Interpreter::Memo &memo = interpreter_.memo(next);
    if (next.cell == start.cell && std::equal(next.keys.begin() + 1, next.keys.end(), start.keys.begin() + 1))
      found[next.keys[0]] = &memo;
    for (const Interpreter::Instance &callee : memo.calls)
      if (seen.insert(callee).second)
        open.push_back(callee);
  }
  std::vector<Values> lists(1 + interpreter_.memo(start).values.size());
  for (auto &[node, memo] : found) {
    if (memo->state != Interpreter::Memo::Done || memo->values.size() + 1 != lists.size())
      return {}; // a failure, which was reported
    lists[0].push_back(Value::node(node));
    for (size_t n = 1; n < lists.size(); ++n)
      lists[n].push_back(memo->values[n - 1]);
  }
  Values results;
  for (Values &list : lists)
    results.push_back(Value::list(std::move(list)));
  return results;
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

} // namespace dbc::oracle
