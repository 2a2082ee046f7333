// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/PackedWeights.h"

using namespace mlir;

namespace dbc::passes {

namespace {
/// The parameters that a matrix is assembled from, and where each lies in it.
struct Submatrices {
  SmallVector<Attribute> symbols;
  SmallVector<int64_t> positions, blocks; ///< of each; the latter with which block of its parameter it is
  bool isCut = false;

  void add(Value v, int64_t row, int64_t column) {
    tensor::ExtractSliceOp slice = dyn::matrixSlice(v);
    if (auto get = (slice ? slice.getSource() : v).getDefiningOp<dyn::GetOp>()) {
      symbols.push_back(get.getParamAttr());
      positions.append({row, column});
      isCut |= slice != nullptr;
      blocks.append({row, column});
      SmallVector<int64_t> first(slice ? slice.getStaticOffsets() : ArrayRef<int64_t>{0, 0});
      if (first.size() == 3) // the matrices one below the other
        first = {first[0] * slice.getSourceType().getDimSize(1) + first[1], first[2]};
      llvm::append_range(blocks, first);
      llvm::append_range(blocks, dyn::extents(v.getType()).take_back(2));
      return;
    }
    auto concat = v.getDefiningOp<tensor::ConcatOp>();
    for (Value input : concat.getInputs()) {
      add(input, row, column);
      (concat.getDim() == 0 ? row : column) += dyn::extents(input.getType())[concat.getDim()];
    }
  }
};
} // namespace

std::string PackedWeights::symbolOf(Location at, Value weights, FlatSymbolRefAttr init,
                                    std::optional<int64_t> gates, int64_t width) {
  Type type = weights.getType();
  IntegerAttr tables, gatesAttr, widthAttr;
  if (auto gather = weights.getDefiningOp<dyn::GatherOp>()) {
    auto table = dyn::extents(gather.getTensor().getType());
    tables = declare.getI64IntegerAttr(table[0]);
    type = RankedTensorType::get(table.drop_front(), declare.getF32Type());
    weights = gather.getTensor();
  }
  if (gates) {
    gatesAttr = declare.getI64IntegerAttr(*gates);
    widthAttr = declare.getI64IntegerAttr(width);
  }
  const bool turned = isTurned(weights);
  if (turned)
    weights = weights.getDefiningOp<dyn::TransposeOp>().getX();
  Submatrices submatrices;
  submatrices.add(weights, 0, 0);
  ArrayAttr submatrixSymbols = declare.getArrayAttr(submatrices.symbols);
  ArrayRef<int64_t> positions = submatrices.isCut ? submatrices.blocks : submatrices.positions;
  std::string name;
  for (Attribute each : submatrices.symbols)
    name += (name.empty() ? "" : "_") + cast<FlatSymbolRefAttr>(each).getValue().str();
  auto op = kernel::WeightsOp::create(declare, at, (turned ? "turned." : "packed.") + name, submatrixSymbols,
                                      positions, dyn::extents(type)[0], dyn::extents(type)[1], tables, init,
                                      gatesAttr, widthAttr, kernel::ContractAttr(), turned);
  op->remove();
  kernel::WeightsOp &known = declared[op.getPacked()];
  if (known) {
    op.erase();
  } else {
    names.insert(op, declare.getInsertionPoint());
    known = op;
  }
  return known.getSymName().str();
}

void mergeWholeMatrices(kernel::ProgramOp program) {
  llvm::DenseMap<Attribute, kernel::WeightsOp> tiled;
  for (auto op : program.getOps<kernel::WeightsOp>())
    if (op.isTiledWhole())
      tiled.try_emplace(op.getMatrix(), op);
  llvm::DenseMap<Attribute, kernel::WeightsOp> merged; // by the symbol of the whole one
  for (auto op : llvm::make_early_inc_range(program.getOps<kernel::WeightsOp>()))
    if (kernel::WeightsOp same = op.getGates() ? kernel::WeightsOp() : tiled.lookup(op.getMatrix())) {
      merged[FlatSymbolRefAttr::get(op)] = same;
      op.erase();
    }
  program.walk([&](kernel::ProductOp product) {
    if (kernel::WeightsOp same = merged.lookup(product.getWeightsAttr()))
      product.setWeights(same.getSymName());
  });
}

} // namespace dbc::passes
