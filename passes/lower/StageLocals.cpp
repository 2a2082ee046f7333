// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageLocals.h"

using namespace mlir;

namespace dbc::passes {

/// Scratch of a shape for each row of the block.
Value StageLocals::scratch(Value value, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> all{w.rowsOfBlock()};
  llvm::append_range(all, shape);
  OpBuilder::InsertionGuard guard(w.b);
  auto at = llvm::find_if(w.entry(), [](Operation &op) { return !isa<kernel::LocalOp>(op); });
  w.b.setInsertionPoint(&w.entry(), at);
  auto type = kernel::LocalType::get(w.b.getContext(), all, dyn::scalar(value.getType()));
  return kernel::LocalOp::create(w.b, value.getLoc(), type);
}

void StageLocals::make(Value value) { locals[value] = scratch(value, dyn::extents(value.getType())); }

Value StageLocals::of(Value value) const {
  assert(locals.count(value) && "a materialised value has scratch");
  return locals.lookup(value);
}

/// Where an element lies in scratch.
static SmallVector<Value> indicesOf(const RowWriter &w, ValueRange at) {
  SmallVector<Value> indices{w.i()};
  llvm::append_range(indices, at);
  return indices;
}

Value StageLocals::read(Value value, ValueRange at) {
  return kernel::ReadOp::create(w.b, value.getLoc(), dyn::scalar(value.getType()), of(value),
                                indicesOf(w, at));
}

void StageLocals::write(Value scalar, Value value, ValueRange at) {
  kernel::WriteOp::create(w.b, w.loc, scalar, of(value), indicesOf(w, at));
}

Value StageLocals::makeTile(Value product) {
  return tiles[product] = scratch(product, {plan.gatesOfTiled(product).gates, plan.channelsOfTile()});
}

Value StageLocals::readGate(Value gate) {
  Value product = plan.productOf(gate);
  auto slice = gate.getDefiningOp<tensor::ExtractSliceOp>();
  int64_t number = gate == product ? 0 : slice.getStaticOffsets()[0] / plan.gatesOfTiled(product).channels;
  return kernel::ReadOp::create(w.b, gate.getLoc(), dyn::scalar(gate.getType()), tiles.lookup(product),
                                ValueRange{w.i(), w.integer(number), channel});
}

} // namespace dbc::passes
