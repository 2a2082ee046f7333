// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

/// Tiles of a thread: the last one may need what the one before left in its place, see kernel.weights.
static constexpr int64_t kFewestTiles = 2;

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
/// is cheap enough to be done by each: it has no products and writes nothing but scratch.
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
    if (op == loop)
      return WalkResult::skip();
    writes |=
        op->hasTrait<kernel::FailsInput>() || isa<kernel::StoreOp, kernel::ProductOp, kernel::MultiplyOp>(op);
    return WalkResult::advance();
  });
  auto tiles = loop.getHigh().getDefiningOp<arith::ConstantOp>();
  int64_t count = cast<IntegerAttr>(tiles.getValue()).getInt();
  if (writes || count < 2 * kFewestTiles)
    return;
  Block &entry = func.getBody().front();
  auto bound = [&](StringRef name) { return entry.addArgument(w.b.getI32Type(), w.named(name)); };
  loop.getLowMutable().assign(bound("tile_begin"));
  loop.getHighMutable().assign(bound("tile_end"));
  func.setTiles(count);
}

} // namespace dbc::passes
