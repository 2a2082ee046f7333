// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The derivative of each operation on floats: what it adds to the adjoints of its operands. Kinks are those
// of the manual's G1. An element whose adjoint is 0 adds nothing, whatever its derivative is: what an arm
// that is not selected would give is dropped (G2).
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "oracle/Functions.h"
#include "oracle/Shapes.h"
#include "oracle/Tape.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace dbc;
using namespace dbc::dyn;

namespace dbc::oracle {

void Tape::backMove(const Step &step) {
  llvm::ArrayRef<double> adjoint = this->adjoint(step.result);
  for (size_t i = 0; i < adjoint.size(); ++i) {
    int64_t source = step.sources[i];
    for (const Value &operand : step.operands) {
      if (source < 0 || source < operand.size()) {
        if (source >= 0)
          add(operand, source, adjoint[i]);
        break;
      }
      source -= operand.size();
    }
  }
}

//===-- Elementwise --------------------------------------------------------------------------------===//

/// The derivatives of y = op(a, b) by a and by b; of an operation of one operand by a.
static std::pair<double, double> derivatives(Operation *op, double a, double b, double y) {
  using Pair = std::pair<double, double>;
  return llvm::TypeSwitch<Operation *, Pair>(op)
      .Case([&](FunctionOp o) { return Pair(derivative(o.getKind(), a, y), 0); })
      .Case([&](arith::NegFOp) { return Pair(-1, 0); })
      .Case([&](math::ExpOp) { return Pair(y, 0); })
      .Case([&](math::LogOp) { return Pair(1 / a, 0); })
      .Case([&](math::Log1pOp) { return Pair(1 / (1 + a), 0); })
      .Case([&](math::SqrtOp) { return Pair(0.5 / y, 0); })
      .Case([&](math::AbsFOp) {
        return Pair(a > 0 ? 1 : a < 0 ? -1 : 0, 0);
      })
      .Case([&](math::SinOp) { return Pair(std::cos(a), 0); })
      .Case([&](math::CosOp) { return Pair(-std::sin(a), 0); })
      .Case([&](math::TanhOp) { return Pair(1 - y * y, 0); })
      .Case([&](math::ErfOp) { return Pair(M_2_SQRTPI * std::exp(-a * a), 0); })
      .Case([&](arith::AddFOp) { return Pair(1, 1); })
      .Case([&](arith::SubFOp) { return Pair(1, -1); })
      .Case([&](arith::MulFOp) { return Pair(b, a); })
      .Case([&](DropoutOp) { return Pair(b, 0); })
      .Case([&](arith::DivFOp) { return Pair(1 / b, -y / b); })
      .Case([&](arith::MaximumFOp) { return a >= b ? Pair(1, 0) : Pair(0, 1); })
      .Case([&](arith::MinimumFOp) { return a <= b ? Pair(1, 0) : Pair(0, 1); })
      .Case([&](math::PowFOp) {
        // x^0 is 1 and 0^y is 0 or 1, whatever the other one is.
        return Pair(b == 0 ? 0 : b * std::pow(a, b - 1), a == 0 && b >= 0 ? 0 : y * std::log(a));
      })
      .Default([](Operation *op) -> Pair {
        llvm::report_fatal_error(llvm::Twine("no derivative of ") + op->getName().getStringRef());
      });
}

void Tape::noteKink(Operation *op, double a, double b) {
  auto function = dyn_cast<FunctionOp>(op);
  if (isa<math::AbsFOp>(op) || (function && function.getKind() == FunctionKind::Relu))
    kink(a, 0);
  else if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    kink(a, b);
}

void Tape::noteKink(ReduceKind kind, const std::vector<double> &numbers, double y) {
  if (kind != ReduceKind::Max && kind != ReduceKind::Min)
    return;
  auto chosen = llvm::find(numbers, y);
  for (auto number = numbers.begin(); number != numbers.end(); ++number)
    if (number != chosen)
      kink(*number, y);
}

void Tape::backElementwise(const Step &step) {
  llvm::ArrayRef<double> adjoint = this->adjoint(step.result);
  const Value &a = step.operands.front(), &b = step.operands.back();
  for (int64_t i = 0; i < static_cast<int64_t>(adjoint.size()); ++i) {
    if (adjoint[i] == 0)
      continue;
    noteKink(step.op, a.at(i), b.at(i));
    auto [byA, byB] = derivatives(step.op, a.at(i), b.at(i), step.result.at(i));
    add(a, i, adjoint[i], byA);
    if (step.operands.size() == 2)
      add(b, i, adjoint[i], byB);
  }
}

//===-- Reductions ---------------------------------------------------------------------------------===//

namespace {

/// Positions of a tensor's elements: `count` lines of `extent` elements that are `step` apart.
struct Lines {
  Lines(llvm::ArrayRef<int64_t> shape, std::optional<uint32_t> axis) {
    for (size_t i = 0; i < shape.size(); ++i) {
      extent *= !axis || i == *axis ? shape[i] : 1;
      outer *= axis && i < *axis ? shape[i] : 1;
      step *= axis && i > *axis ? shape[i] : 1;
    }
    count = outer * step;
  }
  int64_t at(int64_t line, int64_t i) const { return (line / step * extent + i) * step + line % step; }
  int64_t extent = 1, step = 1, outer = 1, count = 1;
};

} // namespace

/// The derivatives of the reduction of some numbers to `y` by each of them.
static std::vector<double> derivatives(ReduceKind kind, const std::vector<double> &numbers, double y) {
  std::vector<double> result(numbers.size(), 0);
  switch (kind) {
  case ReduceKind::Sum:
    result.assign(numbers.size(), 1);
    break;
  case ReduceKind::Mean:
    result.assign(numbers.size(), 1.0 / numbers.size());
    break;
  case ReduceKind::Max:
  case ReduceKind::Min:
    if (auto first = llvm::find(numbers, y); first != numbers.end())
      result[first - numbers.begin()] = 1;
    break;
  case ReduceKind::LogSumExp:
    for (size_t i = 0; i < numbers.size(); ++i)
      result[i] = std::exp(numbers[i] - y);
    break;
  case ReduceKind::Any:
  case ReduceKind::All:
  case ReduceKind::ArgMax:
  case ReduceKind::Pick:
    break;
  }
  return result;
}

void Tape::backReduce(const Step &step) {
  auto op = cast<ReduceOp>(step.op);
  const Value &x = step.operands.front();
  llvm::ArrayRef<double> adjoint = this->adjoint(step.result);
  const Lines lines(x.shape(), op.getAxis());
  for (int64_t line = 0; line < static_cast<int64_t>(adjoint.size()); ++line) {
    if (adjoint[line] == 0)
      continue;
    std::vector<double> numbers(lines.extent);
    for (int64_t i = 0; i < lines.extent; ++i)
      numbers[i] = x.at(lines.at(line, i));
    noteKink(op.getKind(), numbers, step.result.at(line));
    for (auto [i, by] : llvm::enumerate(derivatives(op.getKind(), numbers, step.result.at(line))))
      add(x, lines.at(line, i), adjoint[line], by);
  }
}

void Tape::backReduceList(const Step &step) {
  auto op = cast<ReduceListOp>(step.op);
  const std::vector<Value> &elements = step.operands.front().elements();
  llvm::ArrayRef<double> adjoint = this->adjoint(step.result);
  for (int64_t i = 0; i < static_cast<int64_t>(adjoint.size()); ++i) {
    if (adjoint[i] == 0)
      continue;
    std::vector<double> numbers;
    for (const Value &element : elements)
      numbers.push_back(element.at(i));
    noteKink(op.getKind(), numbers, step.result.at(i));
    for (auto [e, by] : llvm::enumerate(derivatives(op.getKind(), numbers, step.result.at(i))))
      add(elements[e], i, adjoint[i], by);
  }
}

/// What is added to the adjoints of numbers of which `y` is the softmax, or its logarithm.
static std::vector<double> ofSoftmax(const std::vector<double> &y, const std::vector<double> &adjoint,
                                     bool log) {
  const double sum = log ? std::accumulate(adjoint.begin(), adjoint.end(), 0.0)
                         : std::inner_product(adjoint.begin(), adjoint.end(), y.begin(), 0.0);
  std::vector<double> result;
  for (auto [of, a] : llvm::zip(y, adjoint))
    result.push_back(log ? a - std::exp(of) * sum : of * (a - sum));
  return result;
}

void Tape::backSoftmax(const Step &step) {
  auto op = cast<SoftmaxOp>(step.op);
  llvm::ArrayRef<double> adjoint = this->adjoint(step.result);
  if (adjoint.empty())
    return;
  const Lines lines(step.result.shape(), op.getAxis());
  for (int64_t line = 0; line < lines.count; ++line) {
    std::vector<double> y, a;
    for (int64_t i = 0; i < lines.extent; ++i) {
      y.push_back(step.result.at(lines.at(line, i)));
      a.push_back(adjoint[lines.at(line, i)]);
    }
    if (llvm::any_of(a, [](double x) { return x != 0; }))
      for (auto [i, amount] : llvm::enumerate(ofSoftmax(y, a, op.getLog())))
        add(step.operands.front(), lines.at(line, i), amount);
  }
}

void Tape::backSoftmaxList(const Step &step) {
  const std::vector<Value> &weights = step.result.elements();
  for (int64_t i = 0; i < weights.front().size(); ++i) {
    std::vector<double> y, a;
    for (const Value &weight : weights) {
      llvm::ArrayRef<double> adjoint = this->adjoint(weight);
      y.push_back(weight.at(i));
      a.push_back(adjoint.empty() ? 0 : adjoint[i]);
    }
    if (llvm::any_of(a, [](double x) { return x != 0; }))
      for (auto [e, amount] : llvm::enumerate(ofSoftmax(y, a, /*log=*/false)))
        add(step.operands.front().elements()[e], i, amount);
  }
}

//===-- Products -----------------------------------------------------------------------------------===//

void Tape::backContract(const Step &step) {
  llvm::ArrayRef<double> adjoint = this->adjoint(step.result);
  if (llvm::all_of(adjoint, [](double each) { return each == 0; })) // the product as a whole (manual, G1)
    return;
  for (int64_t i = 0; i < step.result.size(); ++i)
    add(step.operands[2], i, adjoint[i]);
  const Contraction contraction(cast<linalg::ContractOp>(step.op), step.operands[0].shape(),
                                step.operands[1].shape(), step.result.shape());
  contraction.each([&](int64_t a, int64_t b, int64_t out) {
    add(step.operands[0], a, adjoint[out] * step.operands[1].at(b));
    add(step.operands[1], b, adjoint[out] * step.operands[0].at(a));
  });
}

} // namespace dbc::oracle
