// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-unroll-folds: folds over layers are written out, layer by layer.
#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-unroll-folds"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNUNROLLFOLDS
#include "passes/Passes.h.inc"

namespace {
/// Operations of all rounds together, at most: the C++ of six layers of a transformer takes g++ 25 s in
/// training.
constexpr int64_t kMostOperations = 1024;

/// low .. high - 1.
struct Numbers {
  int64_t low, high;
};

/// The numbers of a range that does not depend on the input, or of one that is zipped with others.
std::optional<Numbers> numbersOf(Value list) {
  if (auto zip = list.getDefiningOp<dyn::ZipOp>()) {
    std::optional<Numbers> own = numbersOf(zip.getLists()[cast<OpResult>(list).getResultNumber()]);
    const bool alike = own && llvm::all_of(zip.getLists(), [&](Value other) {
                         std::optional<Numbers> numbers = numbersOf(other);
                         return numbers && numbers->high - numbers->low == own->high - own->low;
                       });
    return alike ? own : std::nullopt;
  }
  auto range = list.getDefiningOp<dyn::RangeOp>();
  APInt low, high;
  if (!range || !matchPattern(range.getLow(), m_ConstantInt(&low)) ||
      !matchPattern(range.getHigh(), m_ConstantInt(&high)))
    return std::nullopt;
  return Numbers{low.getSExtValue(), high.getSExtValue()};
}

/// The parameter of which an operation takes the matrix that a number says; null: it does not.
dyn::GetOp tableOf(dyn::GatherOp gather) {
  const bool isMatrix =
      dyn::extents(gather.getType()).size() == 2 && gather.getIndex().getType().isInteger(32);
  return isMatrix ? gather.getTensor().getDefiningOp<dyn::GetOp>() : dyn::GetOp();
}

struct DynUnrollFoldsPass : impl::DynUnrollFoldsBase<DynUnrollFoldsPass> {
  void runOnOperation() override {
    getOperation().walk([&](dyn::FoldOp fold) { // inner ones first
      if (std::optional<int64_t> rounds = roundsOf(fold))
        unroll(fold, *rounds);
    });
    getOperation().walk([&](dyn::GatherOp gather) { slice(gather); });
  }

  /// How many rounds a fold has that goes over matrices of a parameter, and is to be written out.
  std::optional<int64_t> roundsOf(dyn::FoldOp fold) {
    if (fold.getStops() || dyn::mayFail(fold))
      return std::nullopt;
    std::optional<int64_t> rounds;
    for (Value list : fold.getLists()) {
      std::optional<Numbers> numbers = numbersOf(list);
      if (!numbers || (rounds && *rounds != numbers->high - numbers->low))
        return std::nullopt;
      rounds = numbers->high - numbers->low;
    }
    Block &body = fold.getBody().front();
    int64_t operations = 0;
    bool ofLayers = false;
    body.walk([&](Operation *op) {
      ++operations;
      auto gather = dyn_cast<dyn::GatherOp>(op);
      auto number = gather && tableOf(gather) ? dyn_cast<BlockArgument>(gather.getIndex()) : BlockArgument();
      ofLayers |= number && number.getOwner() == &body && number.getArgNumber() < fold.getLists().size();
    });
    return ofLayers && *rounds > 0 && *rounds * operations <= kMostOperations ? rounds : std::nullopt;
  }

  void unroll(dyn::FoldOp fold, int64_t rounds) {
    LDBG() << "the fold at " << dyn::sourceLocation(fold.getLoc()) << " is written out, " << rounds
           << " rounds";
    ++unrolledFolds;
    OpBuilder b(fold);
    Block &body = fold.getBody().front();
    SmallVector<Value> state(fold.getInit());
    for (int64_t round = 0; round < rounds; ++round) {
      IRMapping map;
      for (auto [list, number] : llvm::zip(fold.getLists(), body.getArguments()))
        map.map(number, arith::ConstantOp::create(b, fold.getLoc(),
                                                  b.getI32IntegerAttr(numbersOf(list)->low + round)));
      map.map(body.getArguments().take_back(state.size()), state);
      for (Operation &op : body.without_terminator())
        b.clone(op, map);
      for (auto [next, yielded] : llvm::zip(state, body.getTerminator()->getOperands()))
        next = map.lookupOrDefault(yielded);
    }
    fold.replaceAllUsesWith(state);
    fold.erase();
  }

  /// The matrix at a number of the source's is cut out of its parameter, so that it is packed for products.
  void slice(dyn::GatherOp gather) {
    APInt number;
    dyn::GetOp get = tableOf(gather);
    if (!get || gather.getChecked() || !matchPattern(gather.getIndex(), m_ConstantInt(&number)))
      return;
    ++slicedMatrices;
    OpBuilder b(gather);
    auto type = cast<RankedTensorType>(gather.getType());
    SmallVector<int64_t> offsets{number.getSExtValue(), 0, 0},
        sizes{1, type.getDimSize(0), type.getDimSize(1)}, strides(3, 1);
    gather.replaceAllUsesWith(tensor::ExtractSliceOp::create(b, gather.getLoc(), type, get.getResult(),
                                                             ValueRange(), ValueRange(), ValueRange(),
                                                             offsets, sizes, strides)
                                  .getResult());
    gather.erase();
  }
};
} // namespace
} // namespace dbc::passes
