// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-split-operands: what products of a GPU multiply is computed in a stage before theirs, so that a
// product's stage begins with it and its tiles can be shared by blocks of threads.
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/Products.h"
#include "passes/batch/StageCut.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-split-operands"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHSPLITOPERANDS
#include "passes/Passes.h.inc"

namespace {

/// The rows that a product's vector is joined of.
SmallVector<Value> segmentsOf(Value x) {
  if (auto concat = x.getDefiningOp<tensor::ConcatOp>())
    return llvm::to_vector_of<Value>(concat.getInputs());
  return {x};
}

/// Whether a product reads all that it multiplies where it is.
bool readsInMemory(linalg::ContractOp product) {
  return llvm::all_of(segmentsOf(matVec(product)->x), [](Value x) { return isInMemory(x); });
}

/// The stage's products with a matrix of so many outputs, of which each multiplies one vector.
llvm::SetVector<Operation *> productsOf(batch::StageOp stage, int64_t outputs) {
  llvm::SetVector<Operation *> found;
  for (auto product : stage.getBody().front().getOps<linalg::ContractOp>())
    if (auto of = matVec(product); of && packs(of->weights) && !isWeights(of->x) &&
                                   dyn::extents(product->getResult(0).getType())[0] >= outputs)
      found.insert(product);
  return found;
}

/// A product is of a later phase than what it multiplies, unless that lies in memory. All else is done as
/// late as it may.
class Splitter final : StageCut {
public:
  Splitter(batch::StageOp stage, kernel::ProgramOp program, llvm::StringSet<> &names,
           const llvm::SetVector<Operation *> &products)
      : StageCut(stage, program, names), products_(products) {}

  /// Whether there was anything to cut.
  bool run() {
    findPhases();
    if (last_ == 0)
      return false;
    makeSubstages();
    for (Operation &op : stage_.getBody().front())
      if (!isReadAgain(&op))
        put(&op, substages_[phases_.lookup(&op)]);
    finish();
    return true;
  }

private:
  bool isReadAgain(Operation *op) const override {
    if (isa<tensor::ConcatOp>(op) && !isWeights(op->getResult(0)))
      return llvm::all_of(op->getOperands(), [](Value piece) { return isInMemory(piece); });
    if (auto gather = dyn_cast<dyn::GatherOp>(op)) // of a parameter, by a number that is there
      return gather.getTensor().getDefiningOp<dyn::GetOp>() && gather.getIndex().getDefiningOp() &&
             StageCut::isReadAgain(gather.getIndex().getDefiningOp());
    return StageCut::isReadAgain(op);
  }

  bool isProduct(Operation *op) const override { return products_.contains(op); }
  /// What a product multiplies does, but for what lies in memory.
  bool comesBefore(Operation *op, Operation *user) const override {
    auto product = products_.contains(user) ? cast<linalg::ContractOp>(user) : linalg::ContractOp();
    return product && matVec(product)->x.getDefiningOp() == op && !readsInMemory(product);
  }

  const llvm::SetVector<Operation *> &products_;
};

/// Gives each product a join of its own, and has what else a join is written for in a stage of its own:
/// behind the loop where that need not be in it. Gives how many stages that made.
unsigned moveJoins(batch::StageOp stage, kernel::ProgramOp program, llvm::StringSet<> &names,
                   const llvm::SetVector<Operation *> &products) {
  unsigned made = 0;
  Operation *loop = isa<kernel::TimeStepLoopInterface>(stage->getParentOp()) ? stage->getParentOp() : nullptr;
  for (Operation *product : products) {
    auto concat = matVec(cast<linalg::ContractOp>(product))->x.getDefiningOp<tensor::ConcatOp>();
    if (!concat || concat->hasOneUse() || !readsInMemory(cast<linalg::ContractOp>(product)))
      continue;
    OpBuilder b(product);
    product->replaceUsesOfWith(concat, b.clone(*concat)->getResult(0));
    SmallVector<batch::WriteOp> writes;
    bool others = false, inLoop = false;
    for (Operation *user : concat->getUsers()) {
      auto write = dyn_cast<batch::WriteOp>(user);
      others |= !write;
      if (write)
        writes.push_back(write);
    }
    if (others)
      continue;
    if (loop)
      loop->walk([&](batch::AccessOpInterface access) {
        inLoop |= !access.isWrite() && llvm::any_of(writes, [&](batch::WriteOp write) {
          return write.getBuffer() == access.getArray();
        });
      });
    const std::string name = freshName(names, (stage.getName() + ".kept").str());
    b.setInsertionPointAfter(loop && !inLoop ? loop : stage);
    auto own = batch::StageOp::create(b, stage.getLoc(), name, stage.getIndexSet(), stage.getRole());
    b.setInsertionPointToEnd(&own.getBody().emplaceBlock());
    IRMapping map;
    llvm::SetVector<Operation *> computed;
    BackwardSliceOptions within;
    within.inclusive = true;
    within.filter = [&](Operation *op) { return op->getBlock() == &stage.getBody().front(); };
    (void)getBackwardSlice(concat.getOperation(), &computed, within);
    for (Operation *op : computed)
      b.clone(*op, map);
    for (batch::WriteOp write : writes) {
      b.clone(*write, map);
      write.erase();
    }
    concat.erase();
    ++made;
  }
  return made;
}

struct BatchSplitOperandsPass : impl::BatchSplitOperandsBase<BatchSplitOperandsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      llvm::StringSet<> names = namesOf(program);
      SmallVector<batch::StageOp> stages;
      program.walk([&](batch::StageOp stage) { stages.push_back(stage); });
      for (batch::StageOp stage : stages) {
        auto indexSet = program.lookupSymbol<kernel::IndexSetOp>(stage.getIndexSet());
        bool fails = false;
        stage.walk([&](Operation *op) { fails |= op != stage && dyn::mayFail(op); });
        llvm::SetVector<Operation *> products = productsOf(stage, outputs);
        // What fails is told in the order of the stage.
        if (products.empty() || stage.getBlas() || stage.getWhen() || fails || !stage.mayRepeat() ||
            indexSet.getKind() == kernel::IndexSetKind::Model)
          continue;
        const unsigned moved = moveJoins(stage, program, names, products);
        movedJoins += moved;
        const std::string name = stage.getName().str();
        const bool isCut = Splitter(stage, program, names, products).run();
        cutStages += isCut;
        LDBG() << "@" << name << " of " << products.size() << " products: " << moved
               << " joins are written elsewhere, " << (isCut ? "cut" : "not cut");
      }
    }
  }
};
} // namespace
} // namespace dbc::passes
