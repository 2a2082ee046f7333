// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The stages that several entries have, printed once.
#pragma once

#include "codegen/common/Writer.h"
#include "codegen/cpu/PlanMembers.h"

namespace dbc::codegen {

/// What kernel-share-stages found, as C++: a namespace of stages, and a plan with what they name, from which
/// those of the entries are derived. Entries keep for themselves a stage whose arrays have other names in one
/// of them, and one that is called as another stage there.
class SharedStages {
public:
  explicit SharedStages(const ModelNames &model);

  /// Prints all of it; nothing where nothing is shared.
  mlir::LogicalResult emit(Writer &out);

  /// The name of a stage's function, with its namespace, after emit(); empty where the program prints the
  /// stage itself.
  std::string functionOf(kernel::FuncOp stage) const;
  /// C++ for what a program's plan is derived from.
  std::string baseOf(const Program &program) const;
  /// Whether a program's plan has a member from there.
  bool inherits(const Program &program, const PlanMember &member) const;

private:
  void share(const Program &program, kernel::FuncOp stage, const Program &first, kernel::FuncOp of);

  const ModelNames &model_;
  std::vector<PlanMember> members_;
  llvm::DenseMap<const Program *, std::vector<PlanMember>> membersOf_; ///< all of a program's plan
  llvm::MapVector<mlir::Operation *, const Program *> printed_; ///< stages, with the program they are of
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> shared_; ///< a stage -> the printed one
  llvm::DenseSet<const Program *> users_;
};

} // namespace dbc::codegen
