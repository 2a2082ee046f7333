// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace dbc::passes {

/// dyn-order-errors: keeps the order of evaluation, as it is before any pass, for telling an input's first
/// error (LANGUAGE E2). The module's attribute `kernel.errors` has, for each entry, the words and the code
/// that dbc::EvaluationOrder describes: its structure and that of what it calls, what is tested there, and
/// which operations may fail by what is computed. These, binders, and keys of cells get numbers, see
/// ir/Dyn/Numbers.h.
std::unique_ptr<mlir::Pass> createDynOrderErrors();

} // namespace dbc::passes
