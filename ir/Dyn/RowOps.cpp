// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The interfaces of upstream's operations that models are made of.
#include "ir/Dyn/RowOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace dbc::dyn {

namespace {
template <class Op, RowKind kind>
struct UpstreamRowOp : RowOpInterface::ExternalModel<UpstreamRowOp<Op, kind>, Op> {
  RowKind getRowKind(Operation *) const { return kind; }
};

struct FloatToInt : FailureOpInterface::ExternalModel<FloatToInt, arith::FPToSIOp> {
  bool mayFail(Operation *) const { return true; }
  SmallVector<CheckedOperand> getCheckedOperands(Operation *) const { return {{0, 0}}; }
};

template <RowKind kind, class... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<UpstreamRowOp<Ops, kind>>(context), ...);
}
} // namespace

void attachUpstreamInterfaces(MLIRContext &context) {
  attach<RowKind::Elementwise,
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
         >(context);
  attach<RowKind::Elementwise,
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
         >(context);
  attach<RowKind::View, tensor::ExtractSliceOp, tensor::ExtractOp, tensor::SplatOp, tensor::CollapseShapeOp,
         tensor::ExpandShapeOp, tensor::ReshapeOp, linalg::FillOp>(context);
  attach<RowKind::Join, tensor::ConcatOp, tensor::FromElementsOp>(context);
  attach<RowKind::Product, linalg::ContractOp>(context);
  arith::FPToSIOp::attachInterface<FloatToInt>(context);
}

tensor::ExtractSliceOp matrixSlice(Value value) {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getType().getRank() != 2 || !slice.getSource().getDefiningOp<GetOp>() ||
      !slice.getOffsets().empty() || !slice.getSizes().empty() || !slice.hasUnitStride())
    return {};
  const int64_t rank = slice.getSourceType().getRank();
  const bool cut = rank == 2 || (rank == 3 && slice.getStaticSizes()[0] == 1 &&
                                 slice.getStaticSizes().drop_front() == slice.getType().getShape());
  return cut ? slice : tensor::ExtractSliceOp();
}

bool isRowOp(Operation *op, RowKind kind) {
  auto row = dyn_cast<RowOpInterface>(op);
  return row && row.getRowKind() == kind;
}

} // namespace dbc::dyn
