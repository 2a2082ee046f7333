// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The fields and arguments that `--gradient` names.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <dbc/model_info.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dbc::driver {

/// What of a `dyn` module is named: `Tree.x` is a field of a data type, `nll.y` an argument of a loss, `all`
/// every f32 field and argument of losses that can have a gradient. The error says which name is wrong, and
/// why: there is no such thing, it has no f32, or its lists are nested.
llvm::Expected<std::vector<std::string>> gradientNames(mlir::ModuleOp module,
                                                       const std::vector<std::string> &asked);

/// The columns of the batch with floats of these fields and arguments, for entry number `entry`.
std::set<std::pair<int32_t, int32_t>> gradientColumns(const ModelInfo &info, int32_t entry,
                                                      const std::vector<std::string> &names);

} // namespace dbc::driver
