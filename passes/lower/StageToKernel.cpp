// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageToKernel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace dbc::passes {

StageToKernel::StageToKernel(batch::StageOp stage, kernel::FuncOp func, kernel::IndexSetOp indexSet,
                             FlatSymbolRefAttr order, const SymbolTable &relations, const SymbolTable &arrays,
                             PackedWeights &packed, StageForms forms)
    : func(func), plan(stage, forms), w(stage, func, indexSet, order, relations, arrays), locals(plan, w),
      expressions(plan, w, locals), reductions(w, locals, expressions),
      products(plan, w, locals, expressions, packed), groups(plan, w, locals, expressions),
      tiles(plan, w, locals, products, groups) {}

LogicalResult StageToKernel::run() {
  for (Value value : plan.materialised())
    locals.make(value);
  StageOrder order(plan); // may materialise gates: their scratch is made with their tiles
  w.blocks([&] {
    for (const StageStep &step : order.steps())
      write(step);
  });
  tiles.share(func);
  tiles.shareSums(func);
  return success(order.isComplete() && !expressions.hasFailed());
}

void StageToKernel::write(const StageStep &step) {
  const Action &first = *step.actions[0];
  if (llvm::any_of(step.actions, [&](const Action *action) { return plan.isTiled(*action); }))
    tiles.write(step);
  else if (first.op)
    writeSpecial(first.op);
  else
    groups.write(step.actions);
}

void StageToKernel::writeSpecial(Operation *op) {
  if (auto product = dyn_cast<linalg::ContractOp>(op))
    return products.write(product);
  if (auto accumulate = dyn_cast<batch::AccumulateOp>(op))
    return products.outer(accumulate);
  if (auto r = dyn_cast<dyn::ReduceOp>(op))
    return reductions.reduce(r);
  if (auto s = dyn_cast<dyn::SoftmaxOp>(op))
    return reductions.softmax(s);
  if (auto s = dyn_cast<batch::SegmentOp>(op))
    return reductions.segment(s);
  if (auto top = dyn_cast<dyn::TopKOp>(op))
    return reductions.topK(top);
  if (auto sum = dyn_cast<dyn::SumPatchesOp>(op))
    return reductions.sumPatches(sum);
  join(op);
}

/// Joins in memory: the operands one after the other.
void StageToKernel::join(Operation *op) {
  Value result = op->getResult(0);
  w.rows([&] {
    if (auto elements = dyn_cast<tensor::FromElementsOp>(op)) {
      auto shape = dyn::extents(result.getType());
      for (auto [n, value] : llvm::enumerate(elements.getElements())) {
        SmallVector<Value> at(shape.size());
        int64_t rest = n;
        for (int64_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
          at[axis] = w.integer(rest % shape[axis]);
        locals.write(expressions.element(value, {}, false), result, at);
      }
      return;
    }
    auto concat = cast<tensor::ConcatOp>(op);
    int64_t offset = 0;
    for (Value input : concat.getInputs()) {
      auto shape = dyn::extents(input.getType());
      w.loops(shape, [&](ValueRange at) {
        SmallVector<Value> to(at.begin(), at.end());
        to[concat.getDim()] = w.addInt(to[concat.getDim()], w.integer(offset));
        locals.write(expressions.element(input, at, false), result, to);
      });
      offset += shape[concat.getDim()];
    }
  });
}

} // namespace dbc::passes
