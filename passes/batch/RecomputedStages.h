// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What adjoint stages compute again, in place of reading it from memory that is kept since the forward pass
// (rematerialisation; Griewank and Walther, Evaluating Derivatives, chapter 12).
#pragma once

#include "passes/Passes.h"
#include "passes/batch/AdjointDeclarations.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace dbc::passes {

/// Copies stages of a loss's forward pass to where adjoint stages read what they have written. batch-fuse
/// then makes one stage of the copy and its reader, so that values stay in registers or scratch. A copy
/// computes by the same operations in the same order, so bits are the same.
///
/// A buffer is INNER if a stage writes it at its own row, and only stages over the same index set read it, at
/// their own row: no other row needs it, in the loop or behind it. Only inner buffers are found again. What
/// is added up over all rows reads its operands from memory, so these are kept in any case.
class RecomputedStages {
public:
  /// `firstAdjoint` is the first stage of the backward pass.
  RecomputedStages(kernel::ProgramOp program, batch::StageOp firstAdjoint, AdjointDeclarations &declare);

  /// Gives how many buffers are no longer kept.
  unsigned run(Recompute how);

private:
  /// An inner buffer.
  struct Inner {
    batch::WriteOp write;
    llvm::SmallVector<batch::ReadOp> late;    ///< reads of adjoint stages
    bool isDecided = false, isChosen = false; ///< whether it is found again
    llvm::SetVector<llvm::StringRef> inputs;  ///< if it is: the buffers that it is made of
  };
  void find();
  bool isInner(llvm::StringRef buffer, batch::WriteOp write) const;
  /// The operations of the writer that make what is written, and the buffers that these read. False where one
  /// may fail an input, or `cheap` and one is no elementwise operation.
  bool inputsOf(batch::WriteOp write, bool cheap, llvm::SetVector<llvm::StringRef> &buffers) const;
  bool choose(llvm::StringRef buffer, Recompute how);
  llvm::StringRef again(llvm::StringRef buffer, batch::StageOp reader);

  kernel::ProgramOp program;
  AdjointDeclarations &declare;
  llvm::DenseSet<mlir::Operation *> adjoint;                     ///< stages
  llvm::StringMap<llvm::SmallVector<mlir::Operation *>> readers; ///< reads of each buffer
  llvm::MapVector<llvm::StringRef, Inner> inner;
  llvm::StringSet<> kept;                                              ///< buffers that adjoint stages read
  std::map<std::pair<mlir::Block *, std::string>, std::string> copies; ///< of a buffer for a block: its copy
};

} // namespace dbc::passes
