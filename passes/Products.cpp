// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which products run with packed weights, and which of them in tiles of channels.
#include "passes/Products.h"
#include "ir/Batch/Batch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dbc::passes {

Value cloneWeights(OpBuilder &b, Value weights) {
  Operation *op = weights.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneWeights(b, operand));
  return b.clone(*op, mapping)->getResult(0);
}

bool isInMemory(Value value, function_ref<bool(Value)> isKept) {
  if (isKept(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<batch::ReadOp, batch::GatherOp>(op))
    return true;
  if (auto gather = dyn_cast_or_null<dyn::GatherOp>(op))
    return gather.getTensor().getDefiningOp<dyn::GetOp>() &&
           dyn::extents(gather.getIndex().getType()).empty();
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    return slice.getSourceType().getRank() == 1 && isInMemory(slice.getSource(), isKept);
  return isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) &&
         isInMemory(op->getOperand(0), isKept);
}

static bool isStored(Operation *user) { return isa<batch::WriteOp, batch::ScatterOp>(user); }

bool isSummedByElement(Operation *op) {
  auto sum = dyn_cast<batch::SegmentOp>(op);
  return sum && !op->use_empty() && !sum.getCount() && !sum.getWhen() &&
         !dyn::extents(sum.getType()).empty() && dyn::scalar(sum.getType()).isF32() &&
         (sum.getKind() == dyn::ReduceKind::Sum || sum.getKind() == dyn::ReduceKind::Mean) &&
         llvm::all_of(op->getUsers(),
                      [&](Operation *user) { return isStored(user) || isElementwise(user, sum.getType()); });
}

bool isJoinedByElement(Operation *op) {
  return isa<tensor::ConcatOp>(op) && !op->use_empty() && !isWeights(op->getResult(0)) &&
         llvm::all_of(op->getUsers(), isStored);
}

void eraseUnused(Value value) {
  llvm::SetVector<Operation *> unused;
  if (Operation *op = value.getDefiningOp())
    unused.insert(op);
  while (!unused.empty()) {
    Operation *op = unused.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (Operation *from = operand.getDefiningOp())
        unused.insert(from);
  }
}

Value createProduct(OpBuilder &b, Location loc, Value weights, Value x) {
  int64_t outputs = dyn::extents(weights.getType())[0];
  Value empty = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{outputs}, b.getF32Type());
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value init = linalg::FillOp::create(b, loc, ValueRange(zero), ValueRange(empty)).getResult(0);
  MLIRContext *c = b.getContext();
  AffineExpr m = getAffineDimExpr(0, c), k = getAffineDimExpr(1, c);
  AffineMap maps[] = {AffineMap::get(2, 0, {m, k}, c), AffineMap::get(2, 0, {k}, c),
                      AffineMap::get(2, 0, {m}, c)};
  return linalg::ContractOp::create(b, loc, TypeRange(init.getType()), ValueRange{weights, x},
                                    ValueRange(init), b.getAffineMapArrayAttr(maps))
      ->getResult(0);
}

bool packs(Value weights) {
  if (isTurned(weights))
    return true;
  if (isWeights(weights))
    return dyn::extents(weights.getType()).size() == 2;
  auto gather = weights.getDefiningOp<dyn::GatherOp>();
  return gather && gather.getTensor().getDefiningOp<dyn::GetOp>() &&
         dyn::extents(gather.getTensor().getType()).size() == 3 &&
         dyn::extents(gather.getIndex().getType()).empty();
}

std::optional<MatMul> matMul(linalg::ContractOp op) {
  constexpr int64_t kLeastWork = 4096;
  auto maps = op.getIndexingMapsArray();
  auto known = matVec(op);
  if ((known && packs(known->weights)) ||
      !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  auto dims = [](AffineMap map) {
    return llvm::map_to_vector<2>(llvm::seq(map.getNumResults()),
                                  [&](unsigned n) { return map.getDimPosition(n); });
  };
  auto out = dims(maps[2]);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (out.empty() || extents.size() != out.size() + 1)
    return std::nullopt;
  unsigned k = 0;
  while (llvm::is_contained(out, k))
    ++k;
  using Dims = SmallVector<unsigned, 2>;
  for (unsigned first : {0u, 1u}) {
    Dims a = dims(maps[first]), b = dims(maps[1 - first]);
    MatMul found{op.getOperand(first), op.getOperand(1 - first), 1, extents[k], 1};
    if (out.size() == 2 && a == Dims{out[0], k} && b == Dims{k, out[1]}) {
      found.height = extents[out[0]];
      found.outputs = extents[out[1]];
    } else if (out.size() == 1 && a == Dims{out[0], k} && b == Dims{k}) {
      found.height = extents[out[0]];
    } else if (out.size() == 1 && a == Dims{k} && b == Dims{k, out[0]}) {
      found.outputs = extents[out[0]];
    } else {
      continue;
    }
    if (found.height * found.inputs * found.outputs >= kLeastWork)
      return found;
  }
  return std::nullopt;
}

arith::AddFOp biasedSum(linalg::ContractOp product) {
  auto found = matVec(product);
  Value result = product->getResult(0);
  if (!found || !packs(found->weights) || !result.hasOneUse())
    return {};
  auto sum = dyn_cast<arith::AddFOp>(*result.user_begin());
  if (!sum)
    return {};
  Value other = sum.getLhs() == result ? sum.getRhs() : sum.getLhs();
  return other.getDefiningOp<dyn::GetOp>() && other.getType() == result.getType() ? sum : arith::AddFOp();
}

bool isElementwise(Operation *user, Type type) {
  return batch::isWrite(user) || (dyn::isRowOp(user, dyn::RowKind::Elementwise) &&
                                  dyn::extents(user->getResult(0).getType()) == dyn::extents(type));
}

std::optional<Gates> gatesOf(Value result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || type.getRank() != 1 || result.use_empty())
    return std::nullopt;
  int64_t outputs = type.getNumElements();
  if (llvm::all_of(result.getUsers(), [&](Operation *user) { return isElementwise(user, type); }))
    return outputs < kMinChannels ? std::nullopt : std::optional(Gates{1, outputs});
  // More gates than these would not fit the registers together with any number of rows.
  constexpr int64_t kMostGates = 12;
  std::optional<int64_t> channels;
  bool elementwise = false;
  for (Operation *user : result.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || slice.getType().getRank() != 1 || slice.getStaticStrides()[0] != 1)
      return std::nullopt;
    int64_t length = slice.getType().getNumElements();
    if (channels.value_or(length) != length || slice.getStaticOffsets()[0] % length != 0)
      return std::nullopt;
    channels = length;
    elementwise |=
        llvm::any_of(slice->getUsers(), [&](Operation *u) { return isElementwise(u, slice.getType()); });
  }
  if (!elementwise || outputs % *channels != 0 || *channels < kMinChannels ||
      outputs / *channels > kMostGates)
    return std::nullopt;
  return Gates{outputs / *channels, *channels};
}

} // namespace dbc::passes
