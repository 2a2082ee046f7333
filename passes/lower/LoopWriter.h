// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Kernel/Kernel.h"
#include "mlir/IR/Builders.h"
#include "passes/lower/Reductions.h"

namespace dbc::passes {

/// Writes constants, integer arithmetic and loops where its builder stands.
class LoopWriter {
public:
  /// `repeats`: whether elements may be computed twice.
  LoopWriter(mlir::Location loc, bool repeats) : b(loc.getContext()), loc(loc), repeats(repeats) {}

  mlir::OpBuilder b;        ///< for ops that have no method here
  const mlir::Location loc; ///< of what has no location of its own in the source

  /// The location of a value that has a name in the emitted code.
  mlir::Location named(llvm::StringRef name) { return mlir::NameLoc::get(b.getStringAttr(name), loc); }
  mlir::Value integer(int64_t value);
  mlir::Value real(double value);
  mlir::Value zero(mlir::Type type); ///< f32, i32 or i1
  mlir::Value addInt(mlir::Value x, mlir::Value y);
  mlir::Value mulInt(mlir::Value x, int64_t y);
  /// A position that may be beside 0 .. extent - 1: the nearest one in it, and whether that is the same.
  std::pair<mlir::Value, mlir::Value> nearest(mlir::Value position, int64_t extent);

  /// A loop low .. high - 1 with carried values; its counter is called `name`.
  kernel::ForOp loop(mlir::Value low, mlir::Value high, llvm::StringRef name, mlir::ValueRange init,
                     Reduction::Next body);
  /// The same from a number on; gives the last values.
  llvm::SmallVector<mlir::Value> counted(int64_t low, mlir::Value high, llvm::StringRef name,
                                         mlir::ValueRange init, Reduction::Next body);
  llvm::SmallVector<mlir::Value> counted(int64_t low, int64_t high, llvm::StringRef name,
                                         mlir::ValueRange init, Reduction::Next body);
  /// What is done for the element at some indices, and what does it for all elements.
  using AtElement = llvm::function_ref<void(mlir::ValueRange at)>;
  using EachElement = llvm::function_ref<void(AtElement)>;

  /// A loop nest over a shape.
  void loopNest(llvm::ArrayRef<int64_t> shape, AtElement body, bool vector = false);
  /// The same; the innermost loop may run in vectors.
  void loops(llvm::ArrayRef<int64_t> shape, AtElement body) { loopNest(shape, body, /*vector=*/true); }
  /// A loop over slices, or tiles, of `size` of `extent` elements, whose counter is called `name`; `body` is
  /// given it and a slice's first element. The last slice may overlap the one before.
  kernel::ForOp overlapping(int64_t extent, int64_t size, llvm::StringRef name,
                            llvm::function_ref<void(mlir::Value number, mlir::Value first)> body);
  /// `first + position`, which is called `name`.
  mlir::Value indexAt(mlir::Value first, mlir::Value position, llvm::StringRef name);
  /// Work element by element: `body` is given what runs it in loops over the shape. Rows longer than a slice
  /// that do not fill vectors are computed in slices that do, each from beginning to end: what two slices
  /// have in common comes out twice the same. Stages that compute few rows in all do without.
  void inVectors(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(EachElement)> body);

private:
  bool repeats;
};

} // namespace dbc::passes
