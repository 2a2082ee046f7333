// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "passes/dyn/MergedMaps.h"
#include "ir/Dyn/Binders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Products.h"

using namespace mlir;

namespace dbc::passes {

/// Whether a map has a product with a matrix of parameters, or one of a table of them.
static bool hasProduct(dyn::MapOp map) {
  return llvm::any_of(map.getBody().front().getOps<linalg::ContractOp>(), [](linalg::ContractOp product) {
    auto found = matVec(product);
    return found && packs(found->weights);
  });
}

/// Whether all that a map uses is there where another one stands, which comes before it.
static bool isKnownAt(dyn::MapOp map, dyn::MapOp other) {
  return !dyn::anyInside(map, [&](Operation *inner) {
    return llvm::any_of(inner->getOperands(), [&](Value v) {
      Operation *op = v.getDefiningOp();
      return op && op->getBlock() == other->getBlock() && !op->isBeforeInBlock(other);
    });
  });
}

static dyn::MapOp merge(dyn::MapOp first, dyn::MapOp second) {
  OpBuilder b(first);
  SmallVector<Type> types = llvm::to_vector(first.getResultTypes());
  llvm::append_range(types, second.getResultTypes());
  auto both = dyn::MapOp::create(b, first.getLoc(), types, first.getLists());
  both.getBody().takeBody(first.getBody());
  Block &body = both.getBody().front(), &more = second.getBody().front();
  Operation *yield = body.getTerminator();
  Operation *others = more.getTerminator();
  for (auto [argument, of] : llvm::zip(more.getArguments(), body.getArguments()))
    argument.replaceAllUsesWith(of);
  yield->insertOperands(yield->getNumOperands(), others->getOperands());
  others->erase();
  body.getOperations().splice(yield->getIterator(), more.getOperations());
  first.replaceAllUsesWith(both.getResults().take_front(first.getNumResults()));
  second.replaceAllUsesWith(both.getResults().take_back(second.getNumResults()));
  first.erase();
  second.erase();
  return both;
}

/// Gives how many it merged into others.
static unsigned mergeIn(Block &block) {
  unsigned merged = 0;
  llvm::DenseMap<Value, SmallVector<dyn::MapOp>> mapsOver; // by the first of the lists
  for (auto map : llvm::make_early_inc_range(block.getOps<dyn::MapOp>())) {
    if (!hasProduct(map))
      continue;
    SmallVector<dyn::MapOp> &maps = mapsOver[map.getLists()[0]];
    auto *other = llvm::find_if(
        maps, [&](dyn::MapOp other) { return other.getLists() == map.getLists() && isKnownAt(map, other); });
    if (other == maps.end()) {
      maps.push_back(map);
      continue;
    }
    *other = merge(*other, map);
    ++merged;
  }
  return merged;
}

unsigned mergeMaps(Operation *root) {
  unsigned merged = 0;
  root->walk([&](Block *block) { merged += mergeIn(*block); });
  if (!merged)
    return 0;
  IRRewriter rewriter(root->getContext());
  DominanceInfo dominance(root);
  eliminateCommonSubExpressions(rewriter, dominance, root); // what several maps computed
  return merged;
}

} // namespace dbc::passes
