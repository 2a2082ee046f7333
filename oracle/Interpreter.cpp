// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which instances are computed and when. An instance's body is walked; what it calls is computed within the
// walk, which takes machine stack, up to some depth. Deeper down, instances without a value are computed
// first and the body is walked again: once more than it found something missing.
#include "oracle/Interpreter.h"
#include "oracle/Describe.h"
#include "oracle/Evaluation.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>

using namespace mlir;
using namespace dbc;

namespace dbc::oracle {

Interpreter::Interpreter(ModuleOp module, WeightsView weights)
    : module_(module), symbols_(module), weights_(std::move(weights)), info_(describe(module)) {
  for (size_t i = 0; i < info_.datas.size(); ++i)
    tables_[info_.datas[i].name] = static_cast<int32_t>(i);
  auto cellOf = [&](StringAttr name) { return symbols_.lookup<dyn::CellOp>(name); };
  for (auto &cells : dyn::recursions(module, cellOf)) {
    auto recursion = std::make_shared<Recursion>(Recursion{cells, dyn::CapturedValues(cells)});
    if (llvm::any_of(cells, [](dyn::CellOp cell) { return !cell.getValues().empty(); }))
      for (dyn::CellOp cell : cells)
        recursions_[cell] = recursion;
  }
  module.walk([&](dyn::CallOp call) { keepsCalls_ |= call.getEvery(); });
}

Interpreter::~Interpreter() = default;

Outcome Interpreter::run(llvm::StringRef name, Batch &batch, int32_t input) {
  outcome_ = Outcome();
  forget();
  batch_ = &batch;
  input_ = input;
  auto entry = symbols_.lookup<dyn::EntryOp>(name);
  if (!entry || input < 0 || input >= batch.inputs()) {
    outcome_.status =
        Status::error(Code::bad_call, info_.name + ": no entry `" + name.str() + "`, or no such input");
    return outcome_;
  }
  for (size_t i = 0; i < info_.entries.size(); ++i)
    if (info_.entries[i].name == name)
      entry_ = static_cast<int32_t>(i);

  batch.finish();
  std::vector<ColumnRef> columns = columnsRead(entry, info_, batch);
  outcome_.status = batch.validate(columns.data(), columns.size(), statuses_);
  if (outcome_.status.ok())
    outcome_.status = statuses_[input];
  if (!outcome_.status.ok()) {
    outcome_.failures.push_back(outcome_.status);
    return outcome_;
  }

  drops_ = dropoutKeys_ && entry.getLoss();
  tape_ = differentiates_ && entry.getLoss() ? std::make_unique<Tape>() : nullptr;
  bytesBefore_ = Value::liveBytes();
  walk(entry);
  if (tape_ && outcome_.failures.empty())
    outcome_.gradient = tape_->differentiate(outcome_.values.front());
  tape_.reset();
  if (!outcome_.failures.empty()) {
    outcome_.status = outcome_.failures.front();
    if (outcome_.status.code != Code::limit)
      if (std::optional<Status> first = firstFailure(entry))
        outcome_.status = *first;
    outcome_.values.clear();
  }
  memos_.clear();
  return std::move(outcome_);
}

/// What an earlier walk found out.
void Interpreter::forget() {
  memos_.clear();
  ranges_.clear();
  contexts_.clear();
  owners_.clear();
  stack_.clear();
  first_.reset();
  exhausted_.reset();
  steps_ = memoBytes_ = tableBytes_ = 0;
}

std::optional<Status> Interpreter::firstFailure(dyn::EntryOp entry) {
  // Where memory ended the first walk, these hold less, and need not come to an end.
  const std::optional<Status> exhausted = exhausted_;
  llvm::SaveAndRestore limit(limit_, exhausted ? std::min(limit_, 10 * steps_ + 1000000) : limit_);
  for (Phase phase : {Phase::Structure, Phase::Computing}) {
    forget();
    phase_ = phase;
    walk(entry);
    phase_ = Phase::All;
    if (first_ || steps_ > limit_)
      break;
  }
  if (exhausted && (steps_ > limit_ || !first_))
    return exhausted;
  return steps_ > limit_ ? outcome_.failures.front() : first_;
}

/// Computes the entry, and what it needs.
void Interpreter::walk(dyn::EntryOp entry) {
  // The arguments: one value a component. One that is absent fails only where it is used; so it is unknown
  // here, and the failure stands in the list.
  Values arguments;
  std::vector<Status> missing;
  Block &body = entry.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    int32_t column = batch_->arg_column(entry_, static_cast<int32_t>(argument.getArgNumber()));
    Evaluation reader(*this, batch_->args(), input_);
    arguments.push_back(argument.use_empty() ? Value() : reader.argument(column, argument.getType()));
    llvm::append_range(missing, reader.failures);
  }
  while (true) {
    Evaluation evaluation(*this, batch_->args(), input_);
    evaluation.computesCalls = true;
    Values results = evaluation.block(body, arguments);
    if (steps_ > limit_) {
      outcome_.failures = {Status::error(Code::limit, info_.name + ": takes more than " +
                                                          std::to_string(limit_) +
                                                          " steps of the interpreter")};
      break;
    }
    if (exhausted_) {
      outcome_.failures = {*exhausted_};
      break;
    }
    if (!evaluation.needs.empty() && missing.empty() && !first_) {
      compute(evaluation.needs);
      continue;
    }
    llvm::append_range(missing, evaluation.failures);
    outcome_.failures.insert(outcome_.failures.begin(), missing.begin(), missing.end());
    outcome_.values = std::move(results);
    if (trace_ && phase_ == Phase::All) {
      evaluation.traceResult(entry.getLoc(), body.getTerminator()->getOperandTypes(), outcome_.values,
                             entry.getSurface());
      trace_(entry.getSymName().str(), evaluation.traced);
    }
    break;
  }
}

std::pair<int32_t, int32_t> Interpreter::ownerOf(const Instance &instance) const {
  auto node = dyn_cast<dyn::NodeType>(dyn::CellOp(instance.cell).getBody().getArgument(0).getType());
  if (!node)
    return instance.context ? owners_[instance.context - 1] : std::make_pair(batch_->args(), input_);
  return {table(node), instance.keys[0]};
}

std::string Interpreter::wordsFor(const Instance &instance) const {
  std::string text;
  for (auto [argument, key] : llvm::zip(dyn::CellOp(instance.cell).getKeys(), instance.keys)) {
    auto node = dyn_cast<dyn::NodeType>(argument.getType());
    text += text.empty() ? "" : ", ";
    if (node && argument.getArgNumber() == 0)
      text += batch_->node_name(table(node), key);
    else
      text += dyn::sourceName(argument.getLoc()) + " = " + std::to_string(key);
  }
  return text;
}

/// Computes the wanted instances and all that they need, depth first with a stack of our own.
void Interpreter::compute(const std::vector<Instance> &wanted) {
  size_t base = stack_.size();
  stack_.insert(stack_.end(), wanted.rbegin(), wanted.rend());
  while (stack_.size() > base) {
    if (isGivenUp() || first_) {
      stack_.erase(stack_.begin() + base, stack_.end());
      return;
    }
    Instance instance = stack_.back();
    Memo &memo = this->memo(instance);
    if (memo.state == Memo::Done) { // was wanted by two, and computed for the other one
      stack_.pop_back();
      continue;
    }
    // Open instances are those on the path to this one: what was pushed above them is all done when they come
    // up again.
    memo.state = Memo::Open;
    memoBytes_ -= static_cast<int64_t>(memo.calls.size() * sizeof(Instance));
    memo.calls.clear(); // of an earlier walk
    auto [table, row] = ownerOf(instance);
    Evaluation evaluation(*this, table, row, &instance);
    Block &body = instance.cell.getBody().front();
    dyn::CellOp cell = instance.cell;
    if (trace_ && phase_ == Phase::All)
      for (auto [argument, captured] : llvm::zip(cell.getValues(), memo.captured))
        evaluation.trace(argument.getLoc(), dyn::sourceName(argument.getLoc()), argument.getType(),
                         {captured});
    evaluation.computesCalls = true;
    Values results = evaluation.block(body, Evaluation::keyValues(body, instance.keys, memo.captured));

    bool complete = true;
    size_t first = stack_.size();
    if (exhausted_ || first_) {
      stack_.erase(stack_.begin() + base, stack_.end());
      return;
    }
    for (const Instance &need : evaluation.needs) {
      Memo &needed = this->memo(need);
      if (needed.state == Memo::Open) {
        reportCycle(need);
        needed.values.assign(dyn::CellOp(need.cell).getResults().size(), Value()); // unknown from here on
        needed.state = Memo::Done;
      }
      if (needed.state == Memo::New) {
        stack_.push_back(need);
        complete = false;
      }
    }
    std::reverse(stack_.begin() + first, stack_.end());
    if (!complete)
      continue;
    if (!evaluation.needs.empty() && memo.state != Memo::Done)
      continue; // everything needed has become known in the meantime: once more
    llvm::append_range(outcome_.failures, evaluation.failures);
    memo.values = std::move(results);
    memoBytes_ += static_cast<int64_t>(memo.values.size() * sizeof(Value));
    memo.state = Memo::Done;
    if (trace_ && phase_ == Phase::All) {
      const Values &gives = memo.values;
      evaluation.traceResult(cell.getLoc(), body.getTerminator()->getOperandTypes(), gives,
                             cell.getSurface());
      trace_(cell.getSymName().str() + "(" + wordsFor(instance) + ")", evaluation.traced);
    }
    stack_.pop_back();
    evaluation.instancesFit(cell.getLoc());
  }
}

bool Interpreter::computeWithin(const Instance &wanted) {
  constexpr int kDeepest = 8;
  if (within_ == kDeepest)
    return false;
  ++within_;
  compute({wanted});
  --within_;
  return !isGivenUp();
}

/// `again` is needed by the top of the stack and still open itself.
void Interpreter::reportCycle(const Instance &again) {
  std::vector<messages::CycleStep> steps;
  llvm::SmallPtrSet<const Memo *, 16> seen; // one wanted by two waits below the point where it was opened
  for (size_t i = stack_.size(); i-- > 0;) {
    const Instance &at = stack_[i];
    if (memo(at).state != Memo::Open || !seen.insert(&memo(at)).second)
      continue;
    steps.push_back({dyn::CellOp(at.cell).getSymName().str(), wordsFor(at)});
    if (at == again)
      break;
  }
  std::reverse(steps.begin(), steps.end());
  auto [table, row] = ownerOf(again);
  Status status = batch_->describe(Code::bad_input, table, row, -1, messages::cycle(steps));
  if (phase_ == Phase::All)
    outcome_.failures.push_back(std::move(status));
  else if (!first_)
    first_ = std::move(status);
}

const Value &Interpreter::parameter(llvm::StringRef path, Type type) {
  auto [at, fresh] = parameters_.try_emplace(path);
  if (fresh) {
    llvm::ArrayRef<float> elements = weights_(path);
    auto shape = dyn::extents(type);
    const int64_t before = Value::liveBytes();
    at->second = Value::tensor(shape.vec(), std::vector<double>(elements.begin(), elements.end()));
    bytesBefore_ += Value::liveBytes() - before;
  }
  return at->second;
}

} // namespace dbc::oracle
