// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What dyn-hoist could not compute once, and why: for reports.
#pragma once

#include "ir/Dyn/Dyn.h"

namespace dbc::passes {

/// Work that is computed for each element of a binder though it does not use its variables: of the same
/// operands again and again, or of a node that may be in several of the lists that these elements have.
struct Repeat {
  enum class Why {
    Arm,   ///< it stands in an arm of a match or if
    List,  ///< it uses elements that each element of the binder chooses by itself, of one list or range
    Nodes, ///< it uses nodes of a list that is another for each element of the binder
    Fails, ///< it may fail an input, and such elements are left out
    While, ///< it uses elements that a `while` may leave out
    Ended, ///< it needs or gives a list whose length is computed
  };
  mlir::Operation *work, *binder;
  Why why;
  mlir::Operation *cause; ///< the arm's operation, what goes through the list or leaves out elements; Ended:
                          ///< the work
};

/// Of a cell or an entry behind all passes on `dyn`. Of work that is made of such work nothing is said.
llvm::SmallVector<Repeat> findRepeats(mlir::Operation *function);

} // namespace dbc::passes
