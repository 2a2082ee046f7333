// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which instances are computed and when. An instance's body is walked; where it calls instances without a
// value, these are computed first and the body is walked again. So it is walked once more than it found
// something missing, which is twice, unless what it calls gives lists that it then calls over.
#include "oracle/Interpreter.h"
#include "oracle/Describe.h"
#include "oracle/Evaluation.h"
#include <cmath>

using namespace mlir;
using namespace dbc;

namespace dbc::oracle {

Interpreter::Interpreter(ModuleOp module, WeightsView weights)
    : module_(module), symbols_(module), weights_(std::move(weights)), info_(describe(module)) {
  for (size_t i = 0; i < info_.datas.size(); ++i)
    tables_[info_.datas[i].name] = static_cast<int32_t>(i);
}

Outcome Interpreter::run(llvm::StringRef name, Batch &batch, int32_t input) {
  outcome_ = Outcome();
  memos_.clear();
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

  // The arguments: one value a leaf. One that is absent fails only where it is used; so it is unknown here,
  // and the failure stands in the list.
  Values arguments;
  std::vector<Status> missing;
  Block &body = entry.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    int32_t column = batch.arg_column(entry_, static_cast<int32_t>(argument.getArgNumber()));
    Evaluation reader(*this, batch.args(), input);
    arguments.push_back(argument.use_empty() ? Value() : reader.argument(column, argument.getType()));
    llvm::append_range(missing, reader.failures);
  }
  while (true) {
    Evaluation evaluation(*this, batch.args(), input);
    Values results = evaluation.block(body, arguments);
    if (!evaluation.needs.empty() && missing.empty()) {
      compute(evaluation.needs);
      continue;
    }
    llvm::append_range(missing, evaluation.failures);
    outcome_.failures.insert(outcome_.failures.begin(), missing.begin(), missing.end());
    outcome_.values = std::move(results);
    if (trace_)
      trace_(name.str() + "(input " + std::to_string(input) + ")", evaluation.traced);
    break;
  }
  if (!outcome_.failures.empty()) {
    outcome_.status = outcome_.failures.front();
    outcome_.values.clear();
  }
  memos_.clear();
  return std::move(outcome_);
}

Interpreter::Memo &Interpreter::memo(Instance instance) {
  auto [at, fresh] = memos_.try_emplace(instance.cell.getOperation());
  auto &[first, memos] = at->second;
  if (fresh) {
    auto key = cast<dyn::NodeType>(instance.cell.getBody().front().getArgument(0).getType());
    const int32_t *begin = batch_->begin(table(key));
    first = begin[input_];
    memos.resize(begin[input_ + 1] - first);
  }
  return memos[instance.node - first];
}

/// Computes the wanted instances and all that they need, depth first with a stack of our own.
void Interpreter::compute(const std::vector<Instance> &wanted) {
  std::vector<Instance> stack(wanted.rbegin(), wanted.rend());
  while (!stack.empty()) {
    Instance instance = stack.back();
    if (memo(instance).state == Memo::Done) { // was wanted by two, and computed for the other one
      stack.pop_back();
      continue;
    }
    auto key = cast<dyn::NodeType>(instance.cell.getBody().front().getArgument(0).getType());
    Evaluation evaluation(*this, table(key), instance.node);
    Values results = evaluation.block(instance.cell.getBody().front(), {Value::node(instance.node)});

    // Open instances are those on the path to this one: what was pushed above them is all done when they come
    // up again.
    memo(instance).state = Memo::Open;
    bool complete = true;
    size_t first = stack.size();
    for (Instance need : evaluation.needs) {
      if (memo(need).state == Memo::Open) {
        reportCycle(stack, need);
        memo(need).values.assign(need.cell.getResults().size(), Value()); // unknown from here on
        memo(need).state = Memo::Done;
      }
      if (memo(need).state == Memo::New) {
        stack.push_back(need);
        complete = false;
      }
    }
    std::reverse(stack.begin() + first, stack.end());
    if (!complete)
      continue;
    if (!evaluation.needs.empty() && memo(instance).state != Memo::Done)
      continue; // everything needed has become known in the meantime: once more
    llvm::append_range(outcome_.failures, evaluation.failures);
    memo(instance).values = std::move(results);
    memo(instance).state = Memo::Done;
    if (trace_)
      trace_(instance.cell.getSymName().str() + "(" + batch_->node_name(table(key), instance.node) + ")",
             evaluation.traced);
    stack.pop_back();
  }
}

/// `again` is needed by the top of the stack and still open itself.
void Interpreter::reportCycle(const std::vector<Instance> &stack, Instance again) {
  std::vector<messages::CycleStep> steps;
  for (size_t i = stack.size(); i-- > 0;) {
    Instance at = stack[i];
    if (memo(at).state != Memo::Open)
      continue;
    auto key = cast<dyn::NodeType>(at.cell.getBody().front().getArgument(0).getType());
    steps.push_back({at.cell.getSymName().data(), batch_->node_name(table(key), at.node)});
    if (at.cell == again.cell && at.node == again.node)
      break;
  }
  std::reverse(steps.begin(), steps.end());
  auto key = cast<dyn::NodeType>(again.cell.getBody().front().getArgument(0).getType());
  outcome_.failures.push_back(
      batch_->describe(Code::bad_input, table(key), again.node, -1, messages::cycle(steps)));
}

const Value &Interpreter::parameter(llvm::StringRef path, Type type) {
  auto [at, fresh] = parameters_.try_emplace(path);
  if (fresh) {
    llvm::ArrayRef<float> numbers = weights_(path);
    auto shape = dyn::extents(type);
    at->second = Value::tensor(shape.vec(), std::vector<double>(numbers.begin(), numbers.end()));
  }
  return at->second;
}

} // namespace dbc::oracle
