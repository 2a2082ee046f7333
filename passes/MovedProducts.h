// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What became of the products that passes on `dyn` moved, for reports.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <tuple>
#include <vector>

namespace dbc::passes {

/// A product of the source, and where it is computed.
struct MovedProduct {
  enum class To {
    BehindSum,  ///< once behind the sum at `of`, a place in the source
    ByInstance, ///< once for each instance of the cell `of`
    Outside,    ///< a part of it once outside the binder at `of`
    Nowhere,    ///< stays with those that read instances of the cell `of`: each is taken to have one reader
  };
  To to;
  std::string place, matrix; ///< in the source, and the parameters that it multiplies by
  std::string of;

  bool operator<(const MovedProduct &o) const {
    return std::tie(place, matrix, to, of) < std::tie(o.place, o.matrix, o.to, o.of);
  }
};

/// Says it of `product`.
MovedProduct moved(mlir::linalg::ContractOp product, MovedProduct::To to, llvm::StringRef of);

/// Adds to the attribute `dyn.moved_products` of a module; what it says already is not said twice.
void addMoved(mlir::ModuleOp module, llvm::ArrayRef<MovedProduct> products);
/// All that the attribute says, by place.
std::vector<MovedProduct> movedProducts(mlir::ModuleOp module);

} // namespace dbc::passes
