// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A stage cut into several: how values come from one to the next.
#pragma once

#include "ir/Batch/Batch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

namespace dbc::passes {

/// The names of a program's symbols and stages.
llvm::StringSet<> namesOf(kernel::ProgramOp program);

/// `base`, or with a number behind it, so that it is none of `names`; it is then.
std::string freshName(llvm::StringSet<> &names, const std::string &base);

/// A stage that becomes several, its substages: each has the operations of a phase, the last one the stage's
/// name. What another phase computes comes through a buffer: the one that it is written to, or a new one.
class StageCut {
public:
  /// `names` has those that are taken, and those of what is made here then.
  StageCut(batch::StageOp stage, kernel::ProgramOp program, llvm::StringSet<> &names)
      : stage_(stage), program_(program), names_(names), b_(stage) {}
  virtual ~StageCut() = default;

protected:
  /// What costs no more than reading what it would be kept in: each substage has its own.
  virtual bool isReadAgain(mlir::Operation *op) const;
  struct Substage {
    batch::StageOp stage;
    mlir::IRMapping map; ///< of the stage's values
  };

  /// Whether an operation stays in the first phase in which it can be done.
  virtual bool isProduct(mlir::Operation *op) const = 0;
  /// Whether what an operation computes is there a phase before its user, and not in the same one.
  virtual bool comesBefore(mlir::Operation *op, mlir::Operation *user) const = 0;
  /// The phase of each operation: everything but writes and products is done as late as its users allow.
  void findPhases();
  /// A substage for each phase.
  void makeSubstages();
  /// Erases the stage, and substages that have nothing to do.
  void finish();
  batch::StageOp makeStage(llvm::StringRef what, mlir::Location loc);
  /// Does an operation there, and what is read again for it.
  void put(mlir::Operation *op, Substage &substage);
  /// A value of the stage in a substage.
  mlir::Value in(Substage &substage, mlir::Value value);
  /// Where a value is for the substages that do not compute it.
  mlir::FlatSymbolRefAttr bufferOf(mlir::Value value);
  mlir::FlatSymbolRefAttr makeBuffer(mlir::Value value, llvm::StringRef what);
  std::string fresh(llvm::StringRef what);

  batch::StageOp stage_;
  kernel::ProgramOp program_;
  llvm::StringSet<> &names_;
  mlir::OpBuilder b_;
  llvm::DenseMap<mlir::Operation *, int> phases_;
  int last_ = 0;
  llvm::SmallVector<Substage> substages_;
  llvm::DenseMap<mlir::Value, mlir::FlatSymbolRefAttr> buffers_;

private:
  bool ofModel(llvm::StringRef buffer);
};

} // namespace dbc::passes
