// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reverse mode for the oracle: what was computed of floats, in order, and the way back through it.
#pragma once

#include "mlir/IR/Operation.h"
#include "oracle/Interpreter.h"
#include "oracle/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <cmath>

namespace dbc::oracle {

/// The computation of one input (Griewank and Walther, Evaluating Derivatives, section 3.2). A value that a
/// gradient may go through has a variable, `Value::variable()`, whose adjoint is d loss / d value. It knows
/// nothing of lists, cells and binders: these hand values on, with their variables. Not thread-safe.
class Tape {
public:
  /// The value of a parameter, as a variable: one a parameter.
  Value parameter(llvm::StringRef path, const Value &value);
  /// A float of a field or argument, as a variable: one a position in a column.
  Value input(ColumnRef column, int64_t position, const Value &value);

  /// Whether a gradient may go through a value, or through an element of it.
  static bool varies(const Value &value);
  /// Whether results of an operation depend on something that has a variable, and it has a derivative.
  static bool isDifferentiable(mlir::Operation *op);
  /// Whether it only moves elements of its operands, which may be tables of them, to its result.
  static bool moves(mlir::Operation *op);

  /// Records that `op` gave `result`, a number or a list of numbers, which get variables. Some operand
  /// varies, here and of a move.
  Value record(mlir::Operation *op, std::vector<Value> operands, const Value &result);
  /// Records that element i of `result` is element sources[i] of the operands laid one behind the other; -1:
  /// none of them.
  Value recordMove(std::vector<Value> operands, std::vector<int64_t> sources, const Value &result);

  /// The gradient of a scalar on the tape, or of a constant, which has none.
  Gradient differentiate(const Value &loss);

private:
  struct Step {
    mlir::Operation *op; ///< null: a move
    std::vector<Value> operands;
    Value result;
    std::vector<int64_t> sources; ///< of a move
  };

  Value fresh(const Value &value);
  /// The adjoint of a value; empty where nothing that the loss depends on reads it.
  llvm::ArrayRef<double> adjoint(const Value &value) const;
  /// Adds to an adjoint, if the value has one.
  void add(const Value &value, int64_t element, double amount);
  /// The same of adjoint * derivative. A derivative that is 0, as of what a maximum does not choose, gives
  /// nothing even where the adjoint is infinite (manual, G1).
  void add(const Value &value, int64_t element, double adjoint, double derivative) {
    if (derivative != 0)
      add(value, element, adjoint * derivative);
  }
  /// Notes that something goes back through a kink that lies between a and b, see Gradient::kink.
  void kink(double a, double b) { kink_ = std::min(kink_, a == b ? 0 : std::fabs(a - b)); }
  /// The same of an element of an operation's result, and of the reduction of numbers to y.
  void noteKink(mlir::Operation *op, double a, double b);
  void noteKink(dyn::ReduceKind kind, const std::vector<double> &numbers, double y);
  void back(const Step &step);
  // Rules, by kind of operation. Derivatives.cpp
  void backMove(const Step &step);
  void backElementwise(const Step &step);
  void backReduce(const Step &step);
  void backReduceList(const Step &step);
  void backSoftmax(const Step &step);
  void backSoftmaxList(const Step &step);
  void backContract(const Step &step);

  std::vector<Step> steps_;
  std::vector<std::vector<double>> adjoints_; ///< by variable
  double kink_;                               ///< of the gradient being computed
  llvm::StringMap<Value> parameters_;
  std::map<std::pair<std::pair<int32_t, int32_t>, int64_t>, Value> inputs_; ///< by column and position
};

} // namespace dbc::oracle
