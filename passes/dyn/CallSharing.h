// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The cost model of dyn-share-products: whether more rows read what a call gives than there are instances.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace dbc::passes {

/// What is known of how many readers an instance has at one call site.
enum class Readers {
  One,        ///< each instance is called for by one row
  Parent,     ///< a recursion goes down the structure: nodes are taken to have one parent
  References, ///< rows reach the instance's node by references: graphs have at least as many of them as nodes
  Repeated,   ///< something that the caller is repeated for is no matter to the callee
};

class CallSharing {
public:
  explicit CallSharing(mlir::ModuleOp module);

  Readers readersOf(dyn::CallOp call) const;

private:
  /// The keys of the caller and the binders that a value is made from.
  struct Sources {
    llvm::SmallSetVector<mlir::Value, 8> keys; ///< of the caller, and elements of binders
    bool follows = false;                      ///< a reference from a node of one type to one of another
  };
  static Sources sourcesOf(mlir::ValueRange values);

  llvm::DenseMap<mlir::StringAttr, unsigned> recursion; ///< its number, of each cell
};

} // namespace dbc::passes
