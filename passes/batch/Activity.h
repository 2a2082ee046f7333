// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the gradient of a loss goes through.
#pragma once

#include "ir/Batch/Batch.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace dbc::passes {

/// Which values of a program's stages, and which of its buffers, are active: they depend on a parameter, or
/// on a field or argument whose gradient is wanted, and the loss depends on them (Griewank and Walther,
/// Evaluating Derivatives, section 6.2).
class Activity {
public:
  /// `loss` is the buffer of the loss, `inputs` the arrays of the fields and arguments.
  Activity(kernel::ProgramOp program, llvm::StringRef loss, llvm::ArrayRef<mlir::FlatSymbolRefAttr> inputs);

  bool isActive(mlir::Value value) const { return varying.contains(value) && useful.contains(value); }
  bool isActive(llvm::StringRef buffer) const {
    return varyingBuffers.contains(buffer) && usefulBuffers.contains(buffer);
  }
  /// Whether an active value of a stage is made of parameters and constants alone: the same at each row.
  bool isOfParams(mlir::Value value) const { return isActive(value) && ofModel.contains(value); }

private:
  bool varies(mlir::Operation *op) const;
  bool isOfModel(mlir::FlatSymbolRefAttr buffer) const;
  bool findVarying(batch::StageOp stage);
  bool findUseful(batch::StageOp stage);

  mlir::SymbolTable params, symbols; ///< of the module, and of the program
  llvm::DenseSet<mlir::Value> varying, useful, ofModel;
  llvm::StringSet<> varyingBuffers, usefulBuffers;
};

} // namespace dbc::passes
