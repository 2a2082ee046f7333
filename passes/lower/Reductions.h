// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What each kind of reduction does with its elements, once for all that is reduced: axes of tensors, lists of
// computed rows, lists that the structure holds.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/IR/Builders.h"
#include <functional>

namespace dbc::passes {

/// Writes the operations of one reduction. Elements are numbers of one type: f32, i32 or i1. All of them are
/// taken in order, one after the other.
class Reduction {
public:
  /// a + b of integers, checked where the caller says how.
  using AddInts = std::function<mlir::Value(mlir::Value a, mlir::Value b)>;
  using Next = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value k, mlir::ValueRange soFar)>;
  /// A loop over k from 0 or 1 to behind the last element, that carries values; gives the last ones.
  using Loop = llvm::function_ref<llvm::SmallVector<mlir::Value>(int64_t from, mlir::ValueRange init, Next)>;

  Reduction(mlir::OpBuilder &b, mlir::Location at, dyn::ReduceKind kind, mlir::Type element, AddInts addInts)
      : b(b), at(at), kind(kind), type(element), addInts(std::move(addInts)) {}

  /// Whether it is a fold: `next` from `start` or from the first element on, and `finish` at the end. The
  /// others need more than one value, or pass, and are written by `over` only.
  bool isFold() const;
  bool startsWithFirst() const;
  /// Where !startsWithFirst().
  mlir::Value start();
  mlir::Value next(mlir::Value soFar, mlir::Value x);
  /// `length` makes the number of elements, an f32.
  mlir::Value finish(mlir::Value soFar, llvm::function_ref<mlir::Value()> length);

  /// The whole reduction of the elements that `element` gives.
  mlir::Value over(Loop loop, llvm::function_ref<mlir::Value(mlir::Value k)> element,
                   llvm::function_ref<mlir::Value()> length);

private:
  mlir::Value logSumExp(Loop loop, llvm::function_ref<mlir::Value(mlir::Value k)> element);
  mlir::Value argMax(Loop loop, llvm::function_ref<mlir::Value(mlir::Value k)> element);
  mlir::Value real(double value);

  mlir::OpBuilder &b;
  mlir::Location at;
  dyn::ReduceKind kind;
  mlir::Type type;
  AddInts addInts;
};

} // namespace dbc::passes
