// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One walk over a `dyn` function, see Flatten.h.
#pragma once

#include "passes/lower/FlattenArithmetic.h"
#include "passes/lower/FlattenBinders.h"
#include "passes/lower/FlattenListOps.h"
#include "passes/lower/FlattenRecurrences.h"

namespace dbc::passes {

/// Writes the calls or the index function of one cell or entry; the latter with its stages.
class Walk : private BodyWalker {
public:
  Walk(ProgramWriter &program, CellMap &cells, kernel::FuncOp func, mlir::Operation *owner, SpaceInfo *space);
  mlir::LogicalResult run();

private:
  /// Writes a `place` function: from the keys of an instance to its place.
  void place(CellInfo &cell);
  using Kind = AbstractValue::Kind;
  using From = ListInfo::From;

  void walkBlock(mlir::Block &block, RowContext at) override;
  void walkOperation(mlir::Operation *op, RowContext at) override;

  // Structure
  AbstractValue argument(mlir::Location loc, mlir::Type type, unsigned leaf, mlir::Value input);
  void only(mlir::Operation *op, mlir::Region &region, RowContext at);
  bool allStructural(mlir::ArrayRef<mlir::Region *> regions, unsigned result);
  llvm::SmallVector<mlir::Value> withResults(kernel::IfOp cond, mlir::TypeRange types,
                                             mlir::ArrayRef<llvm::SmallVector<mlir::Value>> values,
                                             unsigned n);
  void field(dyn::FieldOp op, RowContext at);
  void bindKeys(dyn::CellOp cell, mlir::Block &block, mlir::ValueRange numbers);
  mlir::Value placeIn(CellInfo &cell, mlir::Location loc, mlir::ValueRange keys);
  void site(dyn::SiteOp op);
  void caller(dyn::CallerOp op);
  void call(dyn::CallOp op, RowContext at);
  void calledLists(dyn::CallOp op, RowContext at);
  void every(dyn::CallOp op, CellInfo &cell);
  ListInfo lengthsIn(mlir::Value list, RowContext at, llvm::DenseSet<mlir::Operation *> &walked);
  void walkFor(mlir::Value value, RowContext at, llvm::DenseSet<mlir::Operation *> &walked);
  void match(dyn::MatchOp op, RowContext at);
  void branch(mlir::Operation *op, mlir::ArrayRef<mlir::Region *> arms, mlir::ArrayRef<std::string> names,
              llvm::function_ref<mlir::Value(unsigned)> isArm, RowContext at);
  /// An arm that was walked; its rows are pushed when nothing more can need a column of them.
  struct Arm {
    RowContext at;
    mlir::Block *block; ///< of the structure function
    std::vector<AbstractValue> yields;
  };
  kernel::IfOp walkArms(mlir::Operation *op, mlir::ArrayRef<mlir::Region *> regions,
                        mlir::ArrayRef<std::string> names, llvm::function_ref<mlir::Value(unsigned)> isArm,
                        mlir::ArrayRef<std::string> buffers, RowContext at, std::vector<Arm> &arms);
  void returned(mlir::Operation *op, RowContext at);
  void returnList(mlir::Location loc, unsigned leaf, const ListInfo &list, RowContext at, unsigned depth);

  void joinLists(mlir::Operation *op, unsigned n, std::vector<Arm> &arms, RowContext at);
  ProgramWriter &program;
  CellMap &cells;
  RowContext top;
  StructureWriter structure;
  Environment env;
  StageWriter stages;
  Arithmetic arithmetic;
  Lists lists;
  ListCopies copies;
  ListOperations listOperations;
  Binders binders;
  Recurrences recurrences;
  mlir::OpBuilder &b; ///< the structure function
};

} // namespace dbc::passes
