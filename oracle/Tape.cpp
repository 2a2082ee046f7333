// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "oracle/Tape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dbc;
using namespace dbc::dyn;

namespace dbc::oracle {

bool Tape::varies(const Value &value) {
  return value.variable() >= 0 || (value.isList() && llvm::any_of(value.elements(), varies));
}

bool Tape::moves(Operation *op) {
  return isa<BroadcastOp, TransposeOp, PatchesOp, arith::SelectOp, tensor::SplatOp, linalg::FillOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp, tensor::FromElementsOp,
             tensor::ExtractOp, tensor::ExtractSliceOp, tensor::ConcatOp>(op);
}

bool Tape::isDifferentiable(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  Type type = op->getResult(0).getType();
  if (auto list = dyn_cast<ListType>(type))
    type = list.getElement();
  if (!scalar(type).isF32())
    return false;
  return moves(op) || isa<GatherOp, FunctionOp, ReduceOp, ReduceListOp, SoftmaxOp, SoftmaxListOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect, linalg::LinalgDialect>(op->getDialect());
}

//===-- Forward ------------------------------------------------------------------------------------===//

Value Tape::fresh(const Value &value) {
  adjoints_.emplace_back();
  return value.withVariable(static_cast<int64_t>(adjoints_.size()) - 1);
}

Value Tape::parameter(llvm::StringRef path, const Value &value) {
  auto [at, isNew] = parameters_.try_emplace(path);
  if (isNew)
    at->second = fresh(value);
  return at->second;
}

Value Tape::input(ColumnRef column, int64_t position, const Value &value) {
  auto [at, isNew] = inputs_.try_emplace({{column.table, column.column}, position});
  if (isNew)
    at->second = fresh(value);
  return at->second;
}

Value Tape::record(Operation *op, std::vector<Value> operands, const Value &result) {
  Value made;
  if (result.isList()) {
    std::vector<Value> elements;
    for (const Value &element : result.elements())
      elements.push_back(fresh(element));
    made = Value::list(std::move(elements));
  } else {
    made = fresh(result);
  }
  steps_.push_back({op, std::move(operands), made, {}});
  return made;
}

Value Tape::recordMove(std::vector<Value> operands, std::vector<int64_t> sources, const Value &result) {
  Value made = fresh(result);
  steps_.push_back({nullptr, std::move(operands), made, std::move(sources)});
  return made;
}

//===-- Backward -----------------------------------------------------------------------------------===//

llvm::ArrayRef<double> Tape::adjoint(const Value &value) const {
  return value.variable() < 0 ? llvm::ArrayRef<double>() : llvm::ArrayRef(adjoints_[value.variable()]);
}

void Tape::add(const Value &value, int64_t element, double amount) {
  if (value.variable() < 0)
    return;
  std::vector<double> &adjoint = adjoints_[value.variable()];
  if (adjoint.empty())
    adjoint.assign(value.size(), 0);
  adjoint[element] += amount;
}

void Tape::back(const Step &step) {
  if (!step.op)
    return backMove(step);
  if (isa<ReduceOp>(step.op))
    return backReduce(step);
  if (isa<ReduceListOp>(step.op))
    return backReduceList(step);
  if (isa<SoftmaxOp>(step.op))
    return backSoftmax(step);
  if (isa<SoftmaxListOp>(step.op))
    return backSoftmaxList(step);
  if (isa<linalg::ContractOp>(step.op))
    return backContract(step);
  backElementwise(step);
}

Gradient Tape::differentiate(const Value &loss) {
  for (std::vector<double> &adjoint : adjoints_)
    adjoint.clear();
  Gradient gradient;
  kink_ = gradient.kink;
  add(loss, 0, 1);
  for (const Step &step : llvm::reverse(steps_))
    back(step);
  gradient.kink = kink_;
  for (const auto &[path, value] : parameters_)
    gradient.parameters[path.str()] = adjoint(value).vec();
  for (const auto &[at, value] : inputs_)
    gradient.inputs[at.first][at.second] = adjoint(value).vec();
  return gradient;
}

} // namespace dbc::oracle
