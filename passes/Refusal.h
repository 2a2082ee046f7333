// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a pass refuses of a model that the checker took: the user's mistake, and said in the source's words,
// where any other error of a pass is one of the compiler.
#pragma once

#include "mlir/IR/Diagnostics.h"

namespace dbc::passes {

/// An error at a location of the source; the pass that gives it fails.
inline mlir::InFlightDiagnostic refuse(mlir::Location at) {
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(at);
  diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(llvm::StringRef("refusal"));
  return diagnostic;
}

/// Whether refuse() gave it.
inline bool isRefusal(mlir::Diagnostic &diagnostic) { return !diagnostic.getMetadata().empty(); }

} // namespace dbc::passes
