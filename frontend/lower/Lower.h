// From the checked syntax tree, with all dims bound, to a `dyn` module (ir/Dyn): functions inlined, layers
// expanded to the paths of their parameters, records and tuples flattened, all shapes numbers.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_LOWER_H
#define DBC_FRONTEND_LOWER_H

#include "frontend/check/Check.h"
#include "frontend/syntax/Modules.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dbc::frontend {

/// Lowers a program that check() accepted. `dims` comes from bindDims(). Reports what only shows at the sizes
/// bound: extents below 1, slices and indices outside their axis, numbers that do not fit 32 bits (T1, T3,
/// T4).
///
/// The module is named after the model, verified, and simplified: equal expressions are computed once (C8),
/// what is not used is gone. It holds all data types and parameters, the entries and losses, and the cells
/// that they need. Every operation knows its location in the source (dbc::dyn::sourceLocation); values that a
/// `let` names carry that name (print with --mlir-use-nameloc-as-prefix).
///
/// With `train` losses are meant for training: `dropout` stays, and each one's mask has a place and keys
/// (G2); else it is the identity. Reports rates of it that are no constants from 0 to below 1.
///
/// Null if an error was reported. Null without one is a mistake in dbc: the module does not verify, which
/// was reported to the context. Loads the dialects it needs into `context`.
mlir::OwningOpRef<mlir::ModuleOp> lower(const Program &program, CheckedProgram &checked,
                                        const DimValues &dims, mlir::MLIRContext &context,
                                        DiagnosticEngine &diags, bool train = false);

/// Reports what lower() would, without making a module.
void checkSizes(const Program &program, CheckedProgram &checked, const DimValues &dims,
                mlir::MLIRContext &context, DiagnosticEngine &diags, bool train = false);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_LOWER_H
