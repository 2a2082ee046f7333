// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which arrays operations read and write: AccessOpInterface.
#include "ir/Kernel/Kernel.h"

namespace dbc::kernel {

void walkAccesses(mlir::Operation *root, llvm::function_ref<void(mlir::Operation *, const Access &)> see) {
  root->walk([&](AccessOpInterface op) {
    for (const Access &access : op.getAccesses())
      see(op, access);
  });
}

using Accesses = llvm::SmallVector<Access, 2>;

Accesses LoadOp::getAccesses() {
  return getIndexArray() ? Accesses() : Accesses{{getArrayAttr(), /*reads=*/true, /*writes=*/false}};
}

Accesses StoreOp::getAccesses() { return {{getArrayAttr(), /*reads=*/false, /*writes=*/true}}; }

Accesses RowsOp::getAccesses() {
  const bool written = isWritten();
  return getArray() ? Accesses{{getArrayAttr(), !written, written}} : Accesses();
}

Accesses OuterOp::getAccesses() {
  Accesses accesses = {{getIntoAttr(), /*reads=*/true, /*writes=*/true}};
  if (getBias())
    accesses.push_back({getBiasAttr(), /*reads=*/true, /*writes=*/true});
  return accesses;
}

Accesses GemmOp::getAccesses() {
  return {{getFromAttr(), /*reads=*/true, /*writes=*/false}, {getToAttr(), /*reads=*/false, /*writes=*/true}};
}

} // namespace dbc::kernel
