// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

void StageTiles::write(const StageStep &step) {
  for (Value gate : step.gates)
    locals.make(gate);
  struct Product {
    linalg::ContractOp op;
    StageProducts::Operands operands;
    Value into;
  };
  SmallVector<Product> tiled;
  for (const Action *action : step.actions)
    if (plan.isTiled(*action)) {
      auto op = cast<linalg::ContractOp>(action->op);
      Value into = locals.makeTile(action->value);
      tiled.push_back({op, products.operandsOf(op), into});
    }
  int64_t channels = plan.shapeOf(*step.actions[0])[0], size = plan.channelsOfTile();
  auto loop = w.overlapping(channels, size, "tile", [&](Value tile, Value first) {
    for (Product &product : tiled)
      products.multiplyPacked(product.op, product.operands, tile, product.into);
    w.rows([&] {
      w.loops({size}, [&](ValueRange at) {
        locals.setChannel(at[0]);
        groups.writeElements(step.actions, w.indexAt(first, at[0], "channel"));
      });
    });
  });
  loops.push_back(loop);
}

/// Tiles are computed by several threads where none needs what another one makes, and what comes before them
/// is cheap enough to be done by each: it has no products and writes nothing but scratch. Where elements may
/// fail, one thread computes a row: then the first of them is the one that is told.
void StageTiles::share(kernel::FuncOp func) {
  if (loops.size() != 1)
    return;
  kernel::ForOp loop = loops.front();
  auto isLast = [](Operation *op) {
    return !op->getNextNode() || op->getNextNode()->hasTrait<OpTrait::IsTerminator>();
  };
  Operation *around = loop->getParentOp(); // the loop over rows; stages of the model have none
  if ((around != func && around->getParentOp() != func) || !isLast(loop))
    return;
  bool writes = false;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    writes |= op->hasTrait<kernel::FailsInput>() ||
              (!loop->isAncestor(op) &&
               isa<kernel::StoreOp, kernel::OuterOp, kernel::ProductOp, kernel::MultiplyOp>(op));
    return WalkResult::advance();
  });
  auto tiles = loop.getHigh().getDefiningOp<arith::ConstantOp>();
  int64_t count = cast<IntegerAttr>(tiles.getValue()).getInt();
  if (writes || count < kFewestSharedTiles)
    return;
  auto [begin, end] = addBounds(func, count);
  loop.getLowMutable().assign(begin);
  loop.getHighMutable().assign(end);
}

std::pair<Value, Value> StageTiles::addBounds(kernel::FuncOp func, int64_t count) {
  Block &entry = func.getBody().front();
  auto bound = [&](StringRef name) { return entry.addArgument(w.b.getI32Type(), w.named(name)); };
  Value begin = bound("tile_begin"), end = bound("tile_end");
  func.setTiles(count);
  return {begin, end};
}

/// What else is added up, the gradient of a bias mostly, the thread with the first tile does. It must be
/// added to other arrays: a thread does not know when another one is done with its rows.
void StageTiles::shareSums(kernel::FuncOp func) {
  const bool byElement = plan.stageForms().byElement;
  int64_t count = 0;
  SmallVector<kernel::OuterOp> sums;
  SmallVector<Operation *> others;
  llvm::SmallPtrSet<Attribute, 4> summed;
  for (auto blocks : func.getBody().getOps<kernel::BlocksOp>())
    for (auto sum : blocks.getBody().front().getOps<kernel::OuterOp>()) {
      sums.push_back(sum);
      summed.insert(sum.getIntoAttr());
      count = std::max(count, byElement ? kernel::sumTiles(sum)
                                        : int64_t(llvm::divideCeil(sum.getHeight(), kernel::kSumTileRows)));
    }
  if (count < (byElement ? 2 : kFewestSharedTiles) || func.getTiles())
    return;
  for (auto blocks : func.getBody().getOps<kernel::BlocksOp>())
    for (Operation &op : blocks.getBody().front().without_terminator()) {
      if (isa<kernel::OuterOp>(op))
        continue;
      bool stores = false, makes = false, shares = true; // what all threads need each makes for itself
      op.walk([&](Operation *inner) {
        if (auto store = dyn_cast<kernel::StoreOp>(inner)) {
          stores = true;
          shares &= !summed.contains(store.getArrayAttr());
        } else if (auto load = dyn_cast<kernel::LoadOp>(inner)) {
          shares &= !summed.contains(load.getArrayAttr());
        } else if (auto rows = dyn_cast<kernel::RowsOp>(inner)) {
          shares &= !rows.getArray() || !summed.contains(rows.getArrayAttr());
        }
        makes |= isa<kernel::WriteOp>(inner);
        shares &= !isa<kernel::OuterOp, kernel::ProductOp, kernel::MultiplyOp>(inner) &&
                  !inner->hasTrait<kernel::FailsInput>();
      });
      if (!shares || (stores && (makes || op.getNumResults() > 0)))
        return;
      if (stores)
        others.push_back(&op);
    }
  auto [begin, end] = addBounds(func, count);
  for (kernel::OuterOp sum : sums)
    sum.getTilesMutable().assign({begin, end});
  for (Operation *op : others) {
    OpBuilder b(op);
    Value zero = arith::ConstantOp::create(b, op->getLoc(), b.getI32IntegerAttr(0));
    Value isFirst = arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::eq, begin, zero);
    auto first = kernel::IfOp::create(b, op->getLoc(), TypeRange(), isFirst);
    for (Region *region : {&first.getThen(), &first.getOtherwise()}) {
      OpBuilder inside = OpBuilder::atBlockEnd(&region->emplaceBlock());
      kernel::YieldOp::create(inside, op->getLoc(), ValueRange());
    }
    op->moveBefore(first.getThen().front().getTerminator());
  }
}

} // namespace dbc::passes
