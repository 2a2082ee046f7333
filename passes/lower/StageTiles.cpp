// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products whose results are used element by element: all gates of a tile of units are computed together, and
// what is done with them follows at once, while they are in the first-level cache. Loops over a tile have as
// many steps whatever the sizes of the model are, so they run in whole vectors; the last tile of units that
// are no multiple of it overlaps the one before.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Products.h"
#include "passes/lower/StageToKernel.h"

using namespace mlir;

namespace dbc::passes {

/// Tiles of a thread: the last one may need what the one before left in its place, see kernel.weights.
static constexpr int64_t kFewestTiles = 2;

void StageToKernel::findTiles() {
  if (tileUnits == 0)
    return;
  for (auto op : stage.getBody().front().getOps<linalg::ContractOp>()) {
    auto found = matVec(op);
    if (!found || !packs(found->weights))
      continue;
    Value result = resultOf(op);
    auto shape = gatesOf(result);
    if (!shape || shape->units < tileUnits)
      continue;
    tiles[result] = *shape;
    // What is wanted at other places than its own is kept as a whole.
    for (Operation *user : result.getUsers())
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
        if (!llvm::all_of(slice->getUsers(), [&](Operation *u) { return isElementwise(u, slice.getType()); }))
          materialise(slice);
  }
}

Value StageToKernel::productOf(Value value) {
  if (tiles.contains(value))
    return value;
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && tiles.contains(slice.getSource()) ? slice.getSource() : Value();
}

SmallVector<int64_t> StageToKernel::shapeOf(const Action &action) {
  if (isTiled(action))
    return {tiles[action.value].units};
  return llvm::to_vector(dyn::extents(action.value.getType()));
}

/// Gates of the group's products that something outside of the group uses are kept.
void StageToKernel::keepGates(ArrayRef<Action *> group) {
  for (auto &action : actions) {
    if (action->done || llvm::is_contained(group, action.get()))
      continue;
    SmallVector<Touch> touched;
    needs(*action, touched);
    for (const Touch &t : touched)
      if (productOf(t.value) && !kept.contains(t.value) && llvm::is_contained(group, actionFor(t.value))) {
        materialise(t.value);
        locals[t.value] = localFor(t.value, dyn::extents(t.value.getType()));
      }
  }
  for (Action *action : group)
    if (isTiled(*action))
      for (Value value : kept)
        if (productOf(value) == action->value)
          action->gates.push_back(value);
}

/// A gate of the current unit.
Value StageToKernel::gateElement(Value gate) {
  Value product = productOf(gate);
  auto slice = gate.getDefiningOp<tensor::ExtractSliceOp>();
  int64_t number = gate == product ? 0 : slice.getStaticOffsets()[0] / tiles[product].units;
  return kernel::ReadOp::create(b, gate.getLoc(), dyn::scalar(gate.getType()), tileLocals[product],
                                ValueRange{i, integer(number), tileUnit});
}

void StageToKernel::emitTiles(ArrayRef<Action *> group) {
  keepGates(group);
  struct Product {
    linalg::ContractOp op;
    Operands operands;
    Value into;
  };
  SmallVector<Product> products;
  int64_t units = shapeOf(*group[0])[0];
  for (Action *action : group)
    if (isTiled(*action)) {
      auto op = cast<linalg::ContractOp>(action->op);
      Value into = localFor(action->value, {tiles[action->value].gates, tileUnits});
      tileLocals[action->value] = into;
      products.push_back({op, operandsOf(op), into});
    }
  auto loop = overlapping(units, tileUnits, "tile", [&](Value tile, Value first) {
    for (Product &p : products)
      product(p.op, p.operands, tile, p.into);
    rows([&] {
      loops({tileUnits}, [&](ValueRange at) {
        tileUnit = at[0];
        emitElements(group, unitAt(first, at[0]));
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
