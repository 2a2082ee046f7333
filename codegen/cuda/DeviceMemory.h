// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The memory of a model and its sub-batches on a device, as a formula.
#pragma once

#include "codegen/common/MemoryPlan.h"
#include "codegen/common/ModelNames.h"

namespace dbc::codegen {

MemoryPlan planMemory(const ModelNames &host, const ModelNames &device);

} // namespace dbc::codegen
