// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-merge-products: fewer, larger products.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/Products.h"
#include "passes/dyn/MergedMaps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"
#include <map>

#define DEBUG_TYPE "dyn-merge-products"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNMERGEPRODUCTS
#include "passes/Passes.h.inc"

namespace {
struct DynMergeProductsPass : impl::DynMergeProductsBase<DynMergeProductsPass> {
  void runOnOperation() override {
    for (Operation &func : *getOperation().getBody()) {
      if (!isa<dyn::CellOp, dyn::EntryOp>(func))
        continue;
      late.clear();
      joins.clear();
      mergedMaps += mergeMaps(&func);
      findLate(&func);
      SmallVector<arith::AddFOp> sums;
      func.walk([&](arith::AddFOp add) { sums.push_back(add); });
      for (arith::AddFOp add : sums)
        mergeSum(add);
      func.walk([&](Block *block) { mergeShared(*block); });
    }
  }

  /// Values that need a cell's result or a scan's state: they are known late.
  void findLate(Operation *func) {
    func->walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool is = isa<dyn::CallOp>(op);
      op->walk([&](Operation *inner) {
        is |= isa<dyn::CallOp>(inner);
        is |= llvm::any_of(inner->getOperands(), [&](Value v) { return late.contains(v); });
      });
      if (auto scan = dyn_cast<dyn::ScanOp>(op))
        late.insert_range(scan.getBody().getArguments().drop_front(scan.getLists().size()));
      if (auto fold = dyn_cast<dyn::FoldOp>(op))
        late.insert_range(fold.getBody().getArguments().drop_front(fold.getLists().size()));
      if (isa<dyn::MapOp, dyn::FilterOp>(op))
        for (auto [arg, list] : llvm::zip(op->getRegion(0).getArguments(), op->getOperands()))
          if (late.contains(list))
            late.insert(arg);
      if (is)
        late.insert_range(op->getResults());
    });
  }

  static std::optional<MatVec> mergeable(Value value) {
    auto product = value.getDefiningOp<linalg::ContractOp>();
    if (!product)
      return std::nullopt;
    auto found = matVec(product);
    return found && isWeights(found->weights) ? found : std::nullopt;
  }

  static Value join(OpBuilder &b, Location loc, ArrayRef<Value> operands, int64_t axis) {
    return tensor::ConcatOp::create(b, loc, axis, operands);
  }

  /// W x + U h  ==>  [W U] [x; h]
  void mergeSum(arith::AddFOp add) {
    auto l = mergeable(add.getLhs()), r = mergeable(add.getRhs());
    if (!l || !r || !add.getLhs().hasOneUse() || !add.getRhs().hasOneUse() || add.getLhs() == add.getRhs())
      return;
    if (late.contains(l->x) != late.contains(r->x))
      return;
    // Both are computed where the sum is; a product that was moved out of a binder stays there.
    if (add.getLhs().getParentBlock() != add->getBlock() || add.getRhs().getParentBlock() != add->getBlock())
      return;
    LDBG() << "the sum at " << dyn::sourceLocation(add.getLoc()) << " is one product of "
           << (late.contains(l->x) ? "late" : "early") << " vectors";
    mergedProducts += 2;
    OpBuilder b(add);
    Value weights = join(b, add.getLoc(), {l->weights, r->weights}, 1);
    Value x = join(b, add.getLoc(), {l->x, r->x}, 0);
    Value sum = createProduct(b, add.getLhs().getLoc(), weights, x);
    if (late.contains(l->x))
      late.insert(sum);
    sum.setLoc(add.getLoc());
    add.replaceAllUsesWith(sum);
    add.erase();
  }

  /// W1 x, W2 x  ==>  slices of [W1; W2] x
  void mergeShared(Block &block) {
    llvm::MapVector<Value, SmallVector<linalg::ContractOp>> byOperand;
    for (auto op : block.getOps<linalg::ContractOp>())
      if (auto found = mergeable(op.getResult(0)); found && !op.getResult(0).use_empty())
        byOperand[canonical(found->x)].push_back(op);
    for (auto &[x, products] : byOperand) {
      if (products.size() < 2)
        continue;
      LDBG() << products.size() << " products of one vector, the first at "
             << dyn::sourceLocation(products[0].getLoc());
      mergedProducts += products.size();
      OpBuilder b(products[0]);
      SmallVector<Value> weights;
      for (linalg::ContractOp op : products)
        weights.push_back(cloneWeights(b, matVec(op)->weights));
      Value all = createProduct(b, products[0].getLoc(), join(b, products[0].getLoc(), weights, 0),
                                matVec(products[0])->x);
      int64_t offset = 0;
      for (linalg::ContractOp op : products) {
        auto type = cast<RankedTensorType>(op.getResult(0).getType());
        Value slice = tensor::ExtractSliceOp::create(b, op.getLoc(), type, all, ValueRange(), ValueRange(),
                                                     ValueRange(), ArrayRef<int64_t>{offset}, type.getShape(),
                                                     ArrayRef<int64_t>{1});
        offset += type.getShape()[0];
        op.getResult(0).replaceAllUsesWith(slice);
      }
      // Only now: new ops stand before the first of them.
      for (linalg::ContractOp op : products)
        op.erase();
    }
  }

  /// Joins of the same vectors count as one operand.
  Value canonical(Value x) {
    auto concat = x.getDefiningOp<tensor::ConcatOp>();
    if (!concat)
      return x;
    std::vector<void *> inputs;
    for (Value input : concat.getInputs())
      inputs.push_back(input.getAsOpaquePointer());
    return joins.try_emplace({x.getParentBlock(), std::move(inputs)}, x).first->second;
  }

  DenseSet<Value> late;
  std::map<std::pair<Block *, std::vector<void *>>, Value> joins; ///< by what is joined where
};
} // namespace
} // namespace dbc::passes
