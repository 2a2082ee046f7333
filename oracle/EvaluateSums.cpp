// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The operations that make one number of many: reductions, softmax, products; and topk.
#include "oracle/Evaluation.h"
#include "oracle/Shapes.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace dbc;
using namespace dbc::dyn;

namespace dbc::oracle {

double Evaluation::reduce(ReduceKind kind, const std::vector<double> &numbers, bool isFloat) {
  double sum = 0, most = numbers[0], least = numbers[0];
  size_t best = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    sum += numbers[i];
    most = largest(most, numbers[i]);
    least = smallest(least, numbers[i]);
    if (numbers[i] > numbers[best] || (std::isnan(numbers[i]) && !std::isnan(numbers[best])))
      best = i;
  }
  switch (kind) {
  case ReduceKind::Sum:
    return sum;
  case ReduceKind::Mean:
    return sum / numbers.size();
  case ReduceKind::Max:
    return most;
  case ReduceKind::Min:
    return least;
  case ReduceKind::Any:
    return most;
  case ReduceKind::All:
    return least;
  case ReduceKind::ArgMax:
    for (size_t i = 0; isFloat && i < numbers.size(); ++i)
      if (i != best)
        decision(numbers[best] == numbers[i] ? 0 : std::fabs(numbers[best] - numbers[i]));
    return static_cast<double>(best);
  case ReduceKind::LogSumExp: {
    if (std::isinf(most))
      return most;
    double scaled = 0;
    for (double x : numbers)
      scaled += std::exp(x - most);
    return most + std::log(scaled);
  }
  case ReduceKind::Pick:
    break;
  }
  return NAN;
}

std::optional<std::pair<int64_t, int64_t>> Evaluation::sumOverflow(const std::vector<double> &numbers) {
  int64_t sum = 0;
  for (double number : numbers) {
    int64_t next = static_cast<int64_t>(number);
    if (!llvm::isInt<32>(sum + next))
      return std::make_pair(sum, next);
    sum += next;
  }
  return std::nullopt;
}

Values Evaluation::topK(TopKOp op) {
  const Value &x = value(op.getX());
  std::vector<int64_t> order;
  for (int64_t i = 0; i < x.size(); ++i)
    if (!std::isnan(x.at(i)))
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return x.at(a) > x.at(b); });
  size_t k = extents(op.getType())[0];
  bool isFloat = scalar(op.getX().getType()).isF32();
  for (size_t i = 0; isFloat && i < k && i + 1 < order.size(); ++i)
    decision(std::fabs(x.at(order[i]) - x.at(order[i + 1])));
  order.resize(k, 0);
  return {Value::tensor({static_cast<int64_t>(k)}, std::vector<double>(order.begin(), order.end()))};
}

Values Evaluation::reduce(ReduceOp op) {
  const Value &x = value(op.getX());
  std::vector<int64_t> shape = x.shape(), stride = strides(shape);
  // Without an axis: one line through all elements.
  int64_t extent = op.getAxis() ? shape[*op.getAxis()] : x.size();
  int64_t step = op.getAxis() ? stride[*op.getAxis()] : 1;
  std::vector<int64_t> rest, restStride;
  for (size_t i = 0; op.getAxis() && i < shape.size(); ++i)
    if (i != *op.getAxis()) {
      rest.push_back(shape[i]);
      restStride.push_back(stride[i]);
    }
  bool isFloat = op.getX().getType().getElementType().isF32();
  std::vector<double> out, line(extent);
  std::optional<std::pair<int64_t, int64_t>> overflow;
  each(rest, [&](llvm::ArrayRef<int64_t> index) {
    for (int64_t i = 0; i < extent; ++i)
      line[i] = x.at(offset(index, restStride) + i * step);
    out.push_back(reduce(op.getKind(), line, isFloat));
    if (!isFloat && op.getKind() == ReduceKind::Sum && !overflow)
      overflow = sumOverflow(line);
  });
  if (overflow)
    return fail(op, ErrorKind::overflow, "+", overflow->first, overflow->second);
  return {Value::tensor(rest, std::move(out))};
}

Values Evaluation::softmax(SoftmaxOp op) {
  const Value &x = value(op.getX());
  std::vector<int64_t> shape = x.shape(), stride = strides(shape), rest = shape;
  int64_t extent = shape[op.getAxis()], step = stride[op.getAxis()];
  rest[op.getAxis()] = 1;
  std::vector<double> out(x.size());
  each(rest, [&](llvm::ArrayRef<int64_t> index) {
    int64_t first = offset(index, stride);
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < extent; ++i)
      most = std::max(most, x.at(first + i * step));
    for (int64_t i = 0; i < extent; ++i)
      sum += std::exp(x.at(first + i * step) - most);
    for (int64_t i = 0; i < extent; ++i) {
      double above = x.at(first + i * step) - most;
      out[first + i * step] = op.getLog() ? above - std::log(sum) : std::exp(above) / sum;
    }
  });
  return {Value::tensor(shape, std::move(out))};
}

/// out[..] += a[..] * b[..] for all values of the loops.
Values Evaluation::contract(linalg::ContractOp op) {
  const Value &a = value(op.getInputs()[0]), &b = value(op.getInputs()[1]), &init = value(op.getOutputs()[0]);
  std::vector<double> out(init.size());
  for (int64_t i = 0; i < init.size(); ++i)
    out[i] = init.at(i);
  Contraction(op, a.shape(), b.shape(), init.shape()).each([&](int64_t ofA, int64_t ofB, int64_t at) {
    out[at] += a.at(ofA) * b.at(ofB);
  });
  return {Value::tensor(init.shape(), std::move(out))};
}

} // namespace dbc::oracle
