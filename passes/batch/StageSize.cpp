// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "passes/batch/StageSize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/batch/StageGraph.h"

using namespace mlir;

namespace dbc::passes {

StageSize sizeOf(batch::StageOp stage, int64_t realBytes) {
  StageSize size;
  bool repeats = stage.mayRepeat();
  llvm::SmallDenseSet<Value> tiled; // results that are never there as a whole
  stage.walk([&](linalg::ContractOp contract) {
    const int64_t work = llvm::product_of(contract.getStaticLoopRanges());
    size.operations += work;
    auto found = matVec(contract);
    size.product |= found.has_value();
    if (!found || !packs(found->weights) || !repeats)
      return;
    arith::AddFOp sum = biasedSum(contract);
    Value result = sum ? sum.getResult() : contract->getResult(0);
    if (auto shape = gatesOf(result)) {
      size.tiled.push_back({*shape, dyn::extents(found->weights.getType()).back()});
      tiled.insert(result);
      tiled.insert(contract->getResult(0));
    }
  });
  stage.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
        bool parameter =
            op->getNumOperands() == 0 || isWeights(value) || isTurned(value) || isa<dyn::GatherOp>(op);
        if (parameter)
          continue;
        size.operations += tensor.getNumElements();
        // Elementwise values stay in registers, mostly.
        if (!isElementwise(op, tensor) && !isa<tensor::ExtractSliceOp, batch::GatherOp, batch::ReadOp>(op) &&
            !tiled.contains(value)) {
          int64_t bytes = realBytes * tensor.getNumElements();
          size.scratch += bytes;
          bool ofProducts = llvm::all_of(op->getUsers(), [](Operation *user) {
            auto contract = dyn_cast<linalg::ContractOp>(user);
            return contract && matVec(contract);
          });
          if (ofProducts && isa<linalg::FillOp, tensor::ConcatOp>(op))
            size.spared += bytes;
        }
      }
  });
  return size;
}

bool addsOuterProducts(batch::StageOp stage) {
  return llvm::any_of(stage.getBody().front().getOps<batch::AccumulateOp>(),
                      [](batch::AccumulateOp accumulate) { return accumulate.getOuter() != Value(); });
}

} // namespace dbc::passes
