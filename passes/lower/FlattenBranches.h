// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenBody.h"
#include "passes/lower/FlattenCopies.h"

namespace dbc::passes {

/// Match and if: each arm is an index set of its own in the index set outside. Integer results come out of
/// the structure function's own branch, computed ones go to a buffer of the index set outside.
class Branches {
public:
  Branches(ProgramWriter &program, StructureWriter &structure, Environment &env, StageWriter &stages,
           ListCopies &copies, BodyWalker &walker)
      : program(program), structure(structure), env(env), stages(stages), copies(copies), walker(walker),
        b(structure.builder()) {}

  void match(dyn::MatchOp op, RowContext at);
  void branch(dyn::IfOp op, RowContext at);

private:
  /// An arm that was walked; its rows are pushed when nothing more can need an index array of them.
  struct Arm {
    RowContext at;
    mlir::Block *block; ///< of the structure function
    std::vector<AbstractValue> yields;
  };
  /// A match or if while it is written.
  struct Branch {
    mlir::Operation *op;
    std::vector<mlir::Region *> regions;
    std::vector<std::string> names;
    llvm::function_ref<mlir::Value(unsigned)> isArm; ///< writes an arm's condition
    RowContext at;
    std::vector<std::string> buffers = {}; ///< of computed results; empty for others
    std::vector<Arm> arms = {};
  };

  void write(Branch branch);
  bool allStructural(const Branch &branch, unsigned result);
  kernel::IfOp walkArms(Branch &branch);
  void walkArm(Branch &branch, mlir::Block &block);
  void joinLists(Branch &branch, unsigned result);
  void setResults(Branch &branch, kernel::IfOp cond);
  llvm::SmallVector<mlir::Value> withResults(kernel::IfOp cond, mlir::TypeRange types,
                                             mlir::ArrayRef<llvm::SmallVector<mlir::Value>> values);

  ProgramWriter &program;
  StructureWriter &structure;
  Environment &env;
  StageWriter &stages;
  ListCopies &copies;
  BodyWalker &walker;
  mlir::OpBuilder &b; ///< the structure function
};

} // namespace dbc::passes
