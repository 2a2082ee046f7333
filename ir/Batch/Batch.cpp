// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `batch` dialect: registration.
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

#define GET_OP_CLASSES
#include "ir/Batch/BatchOps.cpp.inc"
