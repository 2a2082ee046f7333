// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What became of the products that passes on `dyn` moved, for reports.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <tuple>
#include <vector>

namespace dbc::passes {

/// A product of the source, and where it is computed, as dyn.moved_product says it.
struct MovedProduct {
  mlir::Location loc;
  std::string location, params; ///< in the source, and the parameters that it multiplies by
  dyn::MovedTo to;
  std::string of;

  bool operator<(const MovedProduct &o) const {
    return std::tie(location, params, to, of) < std::tie(o.location, o.params, o.to, o.of);
  }
};

/// Says it of `product`.
MovedProduct moved(mlir::linalg::ContractOp product, dyn::MovedTo to, llvm::StringRef of);

/// Adds dyn.moved_product to a module; what it says already is not said twice.
void addMoved(mlir::ModuleOp module, llvm::ArrayRef<MovedProduct> products);
/// All that a module says, by location.
std::vector<MovedProduct> movedProducts(mlir::ModuleOp module);

} // namespace dbc::passes
