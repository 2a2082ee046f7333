// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `batch` dialect: registration, verifiers.
#include "ir/Batch/Batch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dbc::batch;

#include "ir/Batch/BatchDialect.cpp.inc"
#include "ir/Batch/BatchEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Batch/BatchAttrs.cpp.inc"

void BatchDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/Batch/BatchOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/Batch/BatchAttrs.cpp.inc"
      >();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getLive())
    return success();
  auto space = symbols.lookupNearestSymbolFrom<dbc::kernel::SpaceOp>(*this, getSpaceAttr());
  if (*getLive() < 1 || !space || !liesInSteps(space))
    return emitOpError("keeps the rows of some time steps, but its rows do not lie in the order of these");
  return success();
}

/// `ago` says where rows lie in buffers of which not all are kept.
template <class Read> static LogicalResult verifyAgo(Read read, SymbolTableCollection &symbols) {
  if (!read.getAgo())
    return success();
  auto buffer = symbols.lookupNearestSymbolFrom<BufferOp>(read, read.getArrayAttr());
  if (!read.getCarried() || !buffer || !buffer.getLive() || *read.getAgo() < 1 ||
      *read.getAgo() >= *buffer.getLive())
    return read.emitOpError("reads rows of a time step that are not kept");
  return success();
}
LogicalResult GatherOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifyAgo(*this, symbols); }
LogicalResult SegmentOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAgo(*this, symbols);
}

#define GET_OP_CLASSES
#include "ir/Batch/BatchOps.cpp.inc"

namespace dbc::batch {

bool liesInSteps(kernel::SpaceOp space) {
  using kernel::SpaceKind;
  return space.getTicked() && !space.getStepsOf() && !space.getKept() &&
         (space.getKind() == SpaceKind::Instances || space.getKind() == SpaceKind::Elements ||
          space.getKind() == SpaceKind::Arm);
}

} // namespace dbc::batch
