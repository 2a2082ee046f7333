// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `batch` dialect in C++: see Batch.td for what each op means.
#pragma once

#include "ir/Kernel/Kernel.h"

#include "ir/Batch/BatchDialect.h.inc"
#include "ir/Batch/BatchEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Batch/BatchAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/Batch/BatchOps.h.inc"
