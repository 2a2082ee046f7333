// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Numbers in locations, by which what passes move and copy is known again: operations that may fail by what
// is computed, binders, keys of cells and calls have one from dyn-order-errors on. An attribute would keep
// equal operations apart.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include <optional>

namespace dbc::dyn {

/// The location with a number; a name of the source stays outermost.
inline mlir::Location numbered(mlir::Location location, int64_t number) {
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(location))
    return mlir::NameLoc::get(name.getName(), numbered(name.getChildLoc(), number));
  auto i64 = mlir::IntegerType::get(location.getContext(), 64);
  return mlir::FusedLoc::get({location}, mlir::IntegerAttr::get(i64, number), location.getContext());
}

/// The number of a location, the outermost one; none if it has none.
inline std::optional<int64_t> numberOf(mlir::Location location) {
  if (auto fused = location->findInstanceOf<mlir::FusedLocWith<mlir::IntegerAttr>>())
    return fused.getMetadata().getInt();
  return std::nullopt;
}

/// The number of a binder that goes through its lists from their end, in what is made of its steps; and back.
inline int64_t reversed(int64_t number) { return -2 - number; }
inline bool isReversed(int64_t number) { return number < -1; }

} // namespace dbc::dyn
