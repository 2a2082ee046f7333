// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Kernel/Kernel.h"

namespace dbc::passes {

/// Marks a stage whose blocks are one M tile of the tensor cores: a block may have kLargeMRows rows in its
/// place
/// (`large_m`), if its scratch then fits on a GPU that has much. Where it is more than kSharedOfAll, launches
/// ask the GPU. Such a block computes several of the stage's tiles at once where that can be
/// (`large_m_tiles`).
void addLargeM(kernel::FuncOp func);

} // namespace dbc::passes
