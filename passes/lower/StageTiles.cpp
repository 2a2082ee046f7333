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
                                ValueRange{i, integer(number), tileUnit});
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

/// Work element by element: `body` is given what runs it in loops over the shape. Rows longer than a part
/// that are no whole number of vectors are computed in parts of such, each from beginning to end: what two
/// parts have in common comes out twice the same. Stages that compute few rows in all do without.
void StageToKernel::inVectors(ArrayRef<int64_t> shape, function_ref<void(EachElement)> body) {
  if (!repeats || shape.empty() || shape.back() <= kPart || shape.back() % kWholeVectors == 0)
    return body([&](function_ref<void(ValueRange)> element) { loops(shape, element); });
  loops(
      shape.drop_back(),
      [&](ValueRange outer) {
        overlapping(shape.back(), kPart, "part", [&](Value, Value first) {
          body([&](function_ref<void(ValueRange)> element) {
            loops({kPart}, [&](ValueRange at) {
              Indices all(outer.begin(), outer.end());
              all.push_back(unitAt(first, at[0]));
              element(all);
            });
          });
        });
      },
      /*vector=*/false);
}

/// A loop over parts of `size` of the units, whose counter is called `name`; `body` is given it and the
/// part's first unit. The last part overlaps the one before where the units are no multiple.
kernel::ForOp StageToKernel::overlapping(int64_t units, int64_t size, StringRef name,
                                         function_ref<void(Value, Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = kernel::ForOp::create(b, loc, TypeRange(), integer(0), integer((units + size - 1) / size),
                                    ValueRange(), UnitAttr());
  Block *block = &loop.getBody().emplaceBlock();
  Value number = block->addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr(name), loc));
  b.setInsertionPointToEnd(block);
  Value first = mulInt(number, size);
  if (units % size != 0)
    first =
        arith::MinSIOp::create(b, NameLoc::get(b.getStringAttr("from"), loc), first, integer(units - size));
  body(number, first);
  b.setInsertionPointToEnd(block);
  kernel::YieldOp::create(b, loc, ValueRange());
  return loop;
}

Value StageToKernel::unitAt(Value first, Value number) {
  return arith::AddIOp::create(b, NameLoc::get(b.getStringAttr("unit"), loc), first, number);
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
  auto bound = [&](StringRef name) {
    return entry.addArgument(b.getI32Type(), NameLoc::get(b.getStringAttr(name), loc));
  };
  loop.getLowMutable().assign(bound("tile_begin"));
  loop.getHighMutable().assign(bound("tile_end"));
  func.setTiles(count);
}

} // namespace dbc::passes
