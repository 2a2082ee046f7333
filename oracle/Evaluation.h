// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The evaluation of one function body for one instance: one rule for each operation of `dyn` and of the
// upstream dialects it uses. Private to the oracle.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "oracle/Interpreter.h"
#include "oracle/Tape.h"
#include <algorithm>
#include <cmath>
#include <dbc/messages.h>
#include <dbc/schedule.h>
#include <functional>
#include <optional>

namespace dbc::oracle {

/// What one input may have: as in sessions (dbc::Budget), so that a small hostile input does not take all
/// memory.
constexpr int64_t kMostBytes = int64_t(1) << 30;

/// The larger and the smaller of two numbers; NaN where one of them is.
inline double largest(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
inline double smallest(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

using Values = std::vector<Value>;

class Evaluation {
public:
  /// `table` and `row` say whose evaluation it is, for messages: a node of a data type, or an input of the
  /// arguments. `instance` is null for an entry; else it must outlive this.
  Evaluation(Interpreter &interpreter, int32_t table, int32_t row,
             const Interpreter::Instance *instance = nullptr)
      : interpreter_(interpreter), batch_(*interpreter.batch_), table_(table), row_(row),
        instance_(instance) {}

  /// Evaluates a block whose arguments have the given values; returns what its terminator gives.
  Values block(mlir::Block &block, const Values &arguments);

  /// The arguments of a cell's body, or of a range, which has the first keys and the captured arguments.
  static Values keyValues(mlir::Block &block, llvm::ArrayRef<int32_t> keys, const Values &captured);

  /// The value of a column of the arguments for this input; a failure if it is not given.
  Value argument(int32_t column, mlir::Type type) { return columnValue(table_, row_, column, type, nullptr); }

  /// Whether calls of instances that have no value yet are computed at once, where they can be.
  bool computesCalls = false;
  /// Those that are not.
  std::vector<Interpreter::Instance> needs;
  std::vector<Status> failures;
  /// Whether all instances so far fit the memory that one input may have. If not, the run is given up.
  bool instancesFit(mlir::Location at);
  /// Of this walk; empty unless the interpreter traces.
  std::vector<Traced> traced;

private:
  /// How the operations of one kind are evaluated.
  struct Rule {
    /// Gives one value a result, or nothing where all results are unknown.
    std::function<Values(Evaluation &, mlir::Operation *)> evaluate;
    /// Whether so much is unknown that all results are; null: any operand is.
    std::function<bool(Evaluation &, mlir::Operation *)> isBlockedByUnknown;
  };
  using Rules = llvm::DenseMap<mlir::TypeID, Rule>;
  static const Rule &ruleOf(mlir::Operation *op);
  static void addStructure(Rules &rules);   // EvaluateStructure.cpp
  static void addNumbers(Rules &rules);     // EvaluateNumbers.cpp
  static void addElementwise(Rules &rules); // EvaluateNumbers.cpp
  /// Adds the rule of `Op`: a method that takes one, or a function of an evaluation and one.
  template <class Op, class F> static Rule &on(Rules &rules, F f) {
    assert(!rules.contains(mlir::TypeID::get<Op>()) && "an operation with two rules");
    return rules[mlir::TypeID::get<Op>()] = {
               [f](Evaluation &e, mlir::Operation *op) { return std::invoke(f, e, mlir::cast<Op>(op)); }, {}};
  }
  template <class Op> static Rule &on(Rules &rules, Values (Evaluation::*method)(Op)) {
    return on<Op, Values (Evaluation::*)(Op)>(rules, method);
  }
  /// The same of a function of the elements of one operand, or of two.
  template <class Op, class F> static void onElements(Rules &rules, F f);

  Values evaluate(mlir::Operation *op);
  bool hasUnknownOperand(mlir::Operation *op) {
    return llvm::any_of(op->getOperands(), [&](mlir::Value v) { return value(v).unknown(); });
  }

  // Structure.
  Values field(dyn::FieldOp op);
  Value columnValue(int32_t table, int32_t row, int32_t column, mlir::Type type, mlir::Operation *reader);
  Values call(dyn::CallOp op);
  Values every(const Interpreter::Instance &start);
  std::optional<std::pair<int32_t, int32_t>> rangeOf(const Interpreter::Instance &instance, unsigned key);
  bool withinRanges(dyn::CallOp op, const Interpreter::Instance &callee);
  bool give(dyn::CallOp op, Interpreter::Instance &callee);
  /// Evaluates the body of a binder for the element at a position.
  Values element(int64_t position, mlir::Block &body, const Values &arguments) {
    positions_.push_back(position);
    Values results = block(body, arguments);
    positions_.pop_back();
    return results;
  }
  Values match(dyn::MatchOp op);
  Values nodes(dyn::NodesOp op);
  // Lists.
  Values range(dyn::RangeOp op);
  Values zip(dyn::ZipOp op);
  Values reverse(dyn::ReverseOp op);
  Values slice(dyn::SliceOp op);
  Values at(dyn::AtOp op);
  Values map(dyn::MapOp op);
  Values filter(dyn::FilterOp op);
  Values scan(dyn::ScanOp op);
  Values fold(dyn::FoldOp op);
  Values ofStep(mlir::ValueRange lists, int64_t i, const Values &state);
  Values leaveOut(int64_t i, mlir::Block &body, const Values &arguments);
  void leaveOutAll(mlir::ValueRange lists, mlir::Block &body);
  int64_t bound(mlir::Value list);
  Values reduceList(dyn::ReduceListOp op);
  Values softmaxList(dyn::SoftmaxListOp op);
  // Numbers.
  Values integer(dyn::IntOp op);
  Values narrow(dyn::NarrowOp op);
  Values gather(dyn::GatherOp op);
  Values dropout(dyn::DropoutOp op);
  Values broadcast(dyn::BroadcastOp op);
  Values transpose(dyn::TransposeOp op);
  Values patches(dyn::PatchesOp op);
  Values sumPatches(dyn::SumPatchesOp op);
  Values reduce(dyn::ReduceOp op);
  Values softmax(dyn::SoftmaxOp op);
  Values constant(mlir::arith::ConstantOp op);
  Values reshaped(mlir::Operation *op);
  Values compare(mlir::arith::CmpFOp op);
  Values truncate(mlir::arith::FPToSIOp op);
  Values select(mlir::arith::SelectOp op);
  Values topK(dyn::TopKOp op);
  Values contract(mlir::linalg::ContractOp op);
  Values slice(mlir::tensor::ExtractSliceOp op);
  Values concat(mlir::tensor::ConcatOp op);
  Values extract(mlir::tensor::ExtractOp op);

  // Gradients.
  /// Where the operations on floats are recorded; null where nothing is to be differentiated.
  Tape *tape() { return interpreter_.phase_ == Phase::All ? interpreter_.tape_.get() : nullptr; }
  void record(mlir::Operation *op, Values &results);
  std::vector<int64_t> sources(mlir::Operation *op, const Value &result);

  /// Elementwise over operands of one shape.
  template <class F> Values elementwise(mlir::Operation *op, F &&f) {
    const Value &a = value(op->getOperand(0));
    const Value &b = value(op->getOperand(op->getNumOperands() > 1 ? 1 : 0));
    auto at = [&](int64_t i) {
      if constexpr (std::is_invocable_v<F, double>)
        return f(a.at(i));
      else
        return f(a.at(i), b.at(i));
    };
    if (a.isScalar())
      return {Value::number(at(0))};
    std::vector<double> out(a.size());
    for (int64_t i = 0; i < a.size(); ++i)
      out[i] = at(i);
    return {Value::tensor(a.shape(), std::move(out))};
  }
  /// One reduction of `numbers`, for lists and tensor axes; the caller has dealt with the empty list.
  double reduce(dyn::ReduceKind kind, const std::vector<double> &numbers, bool isFloat);
  /// The step at which a sum of ints leaves 32 bits: the sum so far and the next number.
  static std::optional<std::pair<int64_t, int64_t>> sumOverflow(const std::vector<double> &numbers);
  /// The elements of lists that have one length; -1 if a list is unknown.
  int64_t length(mlir::ValueRange lists);

  const Value &value(mlir::Value v) { return values_.find(v)->second; }
  using Phase = Interpreter::Phase;
  /// Whether only the first failure is wanted, and it, or a value that is not there yet, was met.
  bool isLeft() const {
    return interpreter_.phase_ == Phase::All ? interpreter_.exhausted_.has_value()
                                             : interpreter_.first_ || !needs.empty();
  }
  bool isOfStructure() const { return interpreter_.phase_ == Phase::Structure; }
  /// Sets a value of the body. Where structure alone is walked others are unknown, and in lists that are not.
  void bind(mlir::Value to, Value value);
  /// Records a failure.
  void report(Status failure);
  /// Records that the instance fails; its results are unknown.
  Values fail(mlir::Operation *op, ErrorKind kind, const char *what, int64_t a = 0, int64_t b = 0,
              int64_t c = 0);
  /// Whether the run may hold so many bytes more. What is to be differentiated keeps all that it computed,
  /// and only a single list is bounded.
  bool fits(int64_t bytes) const {
    return bytes <= kMostBytes - (interpreter_.tape_ ? 0 : interpreter_.heldBytes());
  }
  /// Gives the run up: something takes more memory than one input may have.
  void exhaust(const std::string &message);
  /// The same: of a list of `length`, which takes so many bytes more.
  Values exhaust(mlir::Operation *op, int64_t length, int64_t bytes);
  void decision(double margin);
  void trace(mlir::Operation *op);

public:
  /// Adds captured arguments or results to what is traced. Of several values each is called by its component,
  /// ".h", or else by its number.
  void trace(mlir::Location at, const std::string &name, mlir::TypeRange types, const Values &values,
             llvm::ArrayRef<llvm::StringRef> components = {});
  /// Adds what the instance gives; `surface` is its type in the source.
  void traceResult(mlir::Location at, mlir::TypeRange types, const Values &values, mlir::Type surface);

private:
  Interpreter &interpreter_;
  Batch &batch_;
  int32_t table_, row_;
  const Interpreter::Instance *instance_;
  std::vector<int64_t> positions_; ///< of the binders around what is being evaluated
  llvm::DenseMap<mlir::Value, Value> values_;
  bool reached_ = true; ///< false in steps that a `while` leaves out
};

} // namespace dbc::oracle
