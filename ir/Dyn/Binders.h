// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the operations that go through lists with a body have in common.
#pragma once

#include "ir/Dyn/Dyn.h"

namespace dbc::dyn {

inline bool isBinder(mlir::Operation *op) { return mlir::isa<BinderOpInterface>(op); }
inline bool isRecurrence(mlir::Operation *op) { return mlir::isa<RecurrenceOpInterface>(op); }

/// The lists that a binder goes through together.
inline mlir::ValueRange listsOf(mlir::Operation *binder) {
  return mlir::cast<BinderOpInterface>(binder).getLists();
}

/// The state that a scan or fold begins with.
inline mlir::ValueRange initOf(mlir::Operation *recurrence) {
  return mlir::cast<RecurrenceOpInterface>(recurrence).getInit();
}

/// Whether a `while` may end it: its last state then says whether there is a further step.
inline bool stops(mlir::Operation *recurrence) {
  return mlir::cast<RecurrenceOpInterface>(recurrence).getStops();
}

/// Whether `is(inner)` holds of an operation or of one that is in it.
template <class Predicate> bool anyInside(mlir::Operation *op, Predicate is) {
  return op
      ->walk([&](mlir::Operation *inner) {
        return is(inner) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// Lets a binder go through one more list, of the length of the others; gives its elements.
inline mlir::BlockArgument addList(mlir::Operation *binder, mlir::Value list) {
  auto lists = mlir::cast<BinderOpInterface>(binder).getListsMutable();
  unsigned number = lists.size();
  lists.append(list);
  mlir::Type element = mlir::cast<ListType>(list.getType()).getElement();
  return binder->getRegion(0).insertArgument(number, element, list.getLoc());
}

/// Lets a binder go through the positions of its elements too, as the last of its lists; gives the position.
mlir::BlockArgument addPosition(mlir::Operation *binder, mlir::Location location);

} // namespace dbc::dyn
