// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products whose results are used element by element: all gates of a tile of units are computed together, and
// what is done with them follows at once, while they are in the first-level cache. Loops over a tile have as
// many steps whatever the sizes of the model are, so they run in whole vectors; the last tile of units that
// are no multiple of it overlaps the one before.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/lower/StageToKernel.h"

using namespace mlir;

namespace dbc::passes {

/// Tiles of a thread: the last one may need what the one before left in its place, see kernel.weights.
static constexpr int64_t kFewestTiles = 2;

/// A gate of the current unit.
Value StageToKernel::gateElement(Value gate) {
  Value product = plan.productOf(gate);
  auto slice = gate.getDefiningOp<tensor::ExtractSliceOp>();
  int64_t number = gate == product ? 0 : slice.getStaticOffsets()[0] / plan.gatesOfTiled(product).units;
  return kernel::ReadOp::create(b, gate.getLoc(), dyn::scalar(gate.getType()), tileLocals[product],
                                ValueRange{i(), integer(number), tileUnit});
}

void StageToKernel::emitTiles(const StageStep &step) {
  for (Value gate : step.gates)
    locals[gate] = localFor(gate, dyn::extents(gate.getType()));
  struct Product {
    linalg::ContractOp op;
    Operands operands;
    Value into;
  };
  SmallVector<Product> products;
  int64_t units = plan.shapeOf(*step.actions[0])[0], tileUnits = plan.unitsOfTile();
  for (const Action *action : step.actions)
    if (plan.isTiled(*action)) {
      auto op = cast<linalg::ContractOp>(action->op);
      Value into = localFor(action->value, {plan.gatesOfTiled(action->value).gates, tileUnits});
      tileLocals[action->value] = into;
      products.push_back({op, operandsOf(op), into});
    }
  auto loop = overlapping(units, tileUnits, "tile", [&](Value tile, Value first) {
    for (Product &p : products)
      product(p.op, p.operands, tile, p.into);
    rows([&] {
      loops({tileUnits}, [&](ValueRange at) {
        tileUnit = at[0];
        emitElements(step.actions, unitAt(first, at[0]));
      });
    });
  });
  tileLoops.push_back(loop);
}

/// Tiles are computed by several threads where none needs what another one makes, and what comes before them
/// is cheap enough to be done by each: it has no products and writes nothing but scratch.
void StageToKernel::shareTiles() {
  if (tileLoops.size() != 1)
    return;
  kernel::ForOp loop = tileLoops.front();
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
    writes |= isa<kernel::StoreOp, kernel::CheckOp, kernel::IntOp, kernel::ProductOp, kernel::MultiplyOp>(op);
    return WalkResult::advance();
  });
  auto tiles = loop.getHigh().getDefiningOp<arith::ConstantOp>();
  int64_t count = cast<IntegerAttr>(tiles.getValue()).getInt();
  if (writes || count < 2 * kFewestTiles)
    return;
  Block &entry = func.getBody().front();
  auto bound = [&](StringRef name) { return entry.addArgument(b.getI32Type(), named(name)); };
  loop.getLowMutable().assign(bound("tile_begin"));
  loop.getHighMutable().assign(bound("tile_end"));
  func.setTiles(count);
}

} // namespace dbc::passes
