// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reverse mode: stages that compute adjoints.
//
// An active read of a buffer has a CONTRIBUTION: a buffer with what the read adds to the adjoint of each row
// that it has read. The adjoint of a row is the sum of what all reads of it contribute; it is formed where a
// stage needs it, that of the writer, and is in no buffer of its own. By a relation many rows may read one:
// what they contribute is summed over the relation's transpose.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/batch/Activity.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace dbc::passes {

/// Declares what adjoint stages need, in front of a program's stages: buffers, relations, transposes, index
/// sets.
class AdjointDeclarations {
public:
  explicit AdjointDeclarations(batch::ProgramOp program);

  /// A buffer of its own name.
  batch::BufferOp buffer(mlir::Location loc, const llvm::Twine &name, mlir::FlatSymbolRefAttr indexSet,
                         mlir::Type type);
  batch::StageOp stage(mlir::OpBuilder &b, mlir::Location loc, const llvm::Twine &name,
                       mlir::FlatSymbolRefAttr indexSet);
  /// The relation from an index set by an index array to the rows of `to`; null: the inputs.
  batch::RelationOp relation(mlir::Location loc, mlir::FlatSymbolRefAttr from, llvm::StringRef indexArray,
                             mlir::FlatSymbolRefAttr to);
  batch::TransposeOp transpose(batch::RelationOp relation);

  /// An index set with a row for each element of the list that a segment reduces, in the order of the stage's
  /// rows and then of the list: `row` of its elements, `parent` the stage's row, `position` in the list,
  /// `length` of it.
  kernel::IndexSetOp elements(batch::SegmentOp segment);
  /// The one row of a run.
  mlir::FlatSymbolRefAttr batchIndexSet();
  /// The array with the weight of each input's loss.
  kernel::ArgumentOp lossWeights();

  template <class Op> Op find(mlir::FlatSymbolRefAttr name) { return names.lookup<Op>(name.getAttr()); }

private:
  template <class Op> Op named(Op op) {
    names.insert(op);
    return op;
  }

  std::string unique(const llvm::Twine &name);

  batch::ProgramOp program;
  mlir::SymbolTable names;
  llvm::StringSet<> taken;
  mlir::OpBuilder b; ///< in front of the first stage
  kernel::ScheduleOp schedule;
  llvm::DenseMap<mlir::Operation *, batch::TransposeOp> transposes; ///< by relation
  llvm::DenseMap<mlir::Operation *, kernel::IndexSetOp> elementsOf; ///< by segment
};

/// Writes the adjoint stages of a loss's program.
class Adjoints {
public:
  /// `loss` is the buffer of the loss.
  Adjoints(batch::ProgramOp program, batch::BufferOp loss);

  /// Appends the adjoint stages to the program. Fails, after saying why, where something has no derivative.
  llvm::LogicalResult run();

private:
  /// An active read.
  struct Read {
    batch::AccessOpInterface op;
    mlir::FlatSymbolRefAttr contribution; ///< buffer
    mlir::FlatSymbolRefAttr list;         ///< the rows that have read a row, a transpose; null: itself
    mlir::FlatSymbolRefAttr via;          ///< from these to the rows of the contribution
  };
  /// Where an operation with operands that are the same at each row gets what is added to their adjoints.
  struct ParamUse {
    mlir::Operation *op;
    mlir::FlatSymbolRefAttr adjoint; ///< of its result, a buffer over the stage's index set
  };
  /// A value made of parameters, and the buffer over the batch that its adjoint is added up in.
  using Sum = std::pair<mlir::Value, mlir::FlatSymbolRefAttr>;
  class StageCopy;
  using AdjointMap = llvm::DenseMap<mlir::Value, mlir::Value>;

  void findReads();
  void addRead(batch::StageOp stage, batch::AccessOpInterface op);
  void begin(mlir::OpBuilder &b);
  llvm::LogicalResult reverse(llvm::ArrayRef<mlir::Operation *> forward, mlir::OpBuilder &b);
  llvm::LogicalResult reverseStage(batch::StageOp stage, mlir::OpBuilder &b);
  llvm::LogicalResult throughOp(StageCopy &copy, mlir::Operation *op, mlir::Value adjoint,
                                AdjointMap &adjoints);
  void contribute(StageCopy &copy, Read &read, mlir::Value adjoint);
  void contributeByElement(mlir::OpBuilder &b, Read &read, mlir::FlatSymbolRefAttr adjoint);
  mlir::Value adjointOf(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef buffer, mlir::Type type,
                        mlir::FlatSymbolRefAttr at);
  mlir::FlatSymbolRefAttr inBufferOfStage(mlir::Value value);
  mlir::FlatSymbolRefAttr inBuffer(StageCopy &copy, mlir::Value adjoint, const llvm::Twine &name);
  mlir::FlatSymbolRefAttr sumOf(mlir::Value value);
  llvm::LogicalResult accumulateOperands(StageCopy &copy, mlir::Operation *op, mlir::Value adjoint);
  llvm::LogicalResult throughParams(batch::StageOp stage, llvm::ArrayRef<Sum> added, mlir::OpBuilder &b);
  llvm::LogicalResult accumulate(batch::StageOp stage, llvm::ArrayRef<ParamUse> uses, mlir::OpBuilder &b);
  mlir::FlatSymbolRefAttr gradientOf(llvm::StringRef param);
  mlir::FlatSymbolRefAttr adjointOfModel(mlir::FlatSymbolRefAttr buffer);
  llvm::LogicalResult reverseModelStage(batch::StageOp stage, mlir::OpBuilder &b);
  bool isOfModel(mlir::FlatSymbolRefAttr indexSet);
  void clear();

  batch::ProgramOp program;
  batch::BufferOp loss;
  Activity activity;
  AdjointDeclarations declare;
  llvm::StringMap<llvm::SmallVector<Read>> reads; ///< by buffer
  llvm::DenseMap<mlir::Operation *, Read> readOf;
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<ParamUse>> paramUses; ///< by stage
  llvm::MapVector<mlir::StringAttr, mlir::FlatSymbolRefAttr> gradients;      ///< buffer of each parameter
  llvm::SmallVector<batch::StageOp> modelStages;                             ///< last first
  llvm::DenseMap<mlir::StringAttr, mlir::FlatSymbolRefAttr> modelAdjoints;   ///< of buffers of the model
  llvm::DenseMap<mlir::Value, mlir::FlatSymbolRefAttr> sums;                 ///< of values made of parameters
  llvm::SmallVector<batch::BufferOp> cleared; ///< buffers that are 0 to begin with
};

} // namespace dbc::passes
