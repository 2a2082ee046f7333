// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-blas: products that a library is to compute become stages of their own.
#include "passes/Passes.h"
#include "passes/Products.h"
#include "passes/batch/StageCut.h"
#include "passes/batch/StageGraph.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-blas"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHBLAS
#include "passes/Passes.h.inc"

namespace {

/// A stage cut into substages: what its products need, the products, what becomes of them.
class Splitter final : StageCut {
public:
  Splitter(batch::StageOp stage, kernel::ProgramOp program, llvm::StringSet<> &names,
           const llvm::DenseSet<Operation *> &taken)
      : StageCut(stage, program, names), taken_(taken) {}

  void run() {
    findPhases();
    makeSubstages();
    for (Operation &op : stage_.getBody().front()) {
      if (taken_.contains(&op))
        makeProduct(cast<linalg::ContractOp>(op));
      else if (!isReadAgain(&op) && !done_.contains(&op))
        put(&op, substages_[phases_.lookup(&op)]);
    }
    finish();
  }

private:
  bool isProduct(Operation *op) const override { return taken_.contains(op); }
  /// Operands of products are small beside results, so all else is computed late.
  bool comesBefore(Operation *op, Operation *) const override { return taken_.contains(op); }

  /// Row of a buffer, product and its bias, row of another one.
  void makeProduct(linalg::ContractOp product) {
    Value x = matVec(product)->x, result = product->getResult(0);
    arith::AddFOp sum = biasedSum(product);
    if (sum) {
      result = sum.getResult();
      done_.insert(sum);
    }
    FlatSymbolRefAttr from = bufferOf(x), to;
    for (Operation *user : result.getUsers())
      if (auto write = dyn_cast<batch::WriteOp>(user); write && !to) {
        to = write.getBufferAttr();
        done_.insert(write);
      }
    if (!to)
      to = makeBuffer(result, "y");
    buffers_[result] = to;
    Substage substage{makeStage("product", product.getLoc()), {}};
    substage.stage.setBlas(true);
    substage.stage->moveBefore(substages_[phases_.lookup(product) + 1].stage);
    b_.setInsertionPointToEnd(&substage.stage.getBody().front());
    substage.map.map(x, batch::ReadOp::create(b_, x.getLoc(), x.getType(), from).getResult());
    put(product, substage);
    if (sum)
      put(sum, substage);
    batch::WriteOp::create(b_, product.getLoc(), substage.map.lookup(result), to);
  }

  const llvm::DenseSet<Operation *> &taken_;
  llvm::DenseSet<Operation *> done_; ///< by the stages of products: biases added, results written
};

struct BatchBlasPass : impl::BatchBlasBase<BatchBlasPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      llvm::StringSet<> names = namesOf(program);
      for (auto stage : llvm::to_vector(program.getBody().front().getOps<batch::StageOp>())) {
        auto indexSet = program.lookupSymbol<kernel::IndexSetOp>(stage.getIndexSet());
        // All rows of its index set, in whichever order: those of a `while` are not all.
        if (stage.getWhen() || indexSet.getMasked() || indexSet.getKind() == kernel::IndexSetKind::Model ||
            !stage.mayRepeat())
          continue;
        llvm::DenseSet<Operation *> taken;
        for (auto product : stage.getBody().front().getOps<linalg::ContractOp>())
          if (takes(product))
            taken.insert(product);
        if (taken.empty())
          continue;
        LDBG() << taken.size() << " products of @" << stage.getName() << " have " << weights.getValue()
               << " weights or more";
        ++cutStages;
        productStages += taken.size();
        Splitter(stage, program, names, taken).run();
      }
    }
  }

  /// A product with one matrix of parameters that is large enough.
  bool takes(linalg::ContractOp product) {
    auto found = matVec(product);
    if (!found || !isWeights(found->weights) || isWeights(found->x) ||
        !dyn::scalar(product->getResult(0).getType()).isF32())
      return false;
    ArrayRef<int64_t> shape = dyn::extents(found->weights.getType());
    return shape.size() == 2 && shape[0] * shape[1] >= weights;
  }
};
} // namespace
} // namespace dbc::passes
