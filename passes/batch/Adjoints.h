// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reverse mode: stages that compute adjoints.
//
// An active read of a buffer has a CONTRIBUTION: a buffer with what the read adds to the adjoint of each row
// that it has read. The adjoint of a row is the sum of what all reads of it contribute; it is formed where a
// stage needs it, that of the writer, and is in no buffer of its own. By a one-to-one relation a row stores
// what it contributes at the row that it has read. By another many rows may read one, and what they
// contribute is summed over the relation's transpose.
#pragma once

#include "passes/Passes.h"
#include "passes/batch/Activity.h"
#include "passes/batch/AdjointDeclarations.h"
#include "passes/batch/Multiplicities.h"
#include "passes/batch/SparseTables.h"
#include "passes/batch/StageCopy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>

namespace dbc::passes {

/// Writes the adjoint stages of a loss's program.
class Adjoints {
public:
  /// `loss` is the buffer of the loss, `inputs` the arrays of the fields and arguments that get gradients.
  Adjoints(kernel::ProgramOp program, kernel::BufferOp loss, llvm::ArrayRef<mlir::FlatSymbolRefAttr> inputs);

  /// What the loss depends on.
  const Activity &active() const { return activity; }
  /// Appends the adjoint stages to the program. Fails, after saying why, where something has no derivative.
  /// `tables` are those of all losses.
  llvm::LogicalResult run(const SparseTables &tables);
  /// Afterwards: takes back that some buffers are kept. Gives how many.
  unsigned recompute(Recompute how);

private:
  /// An active read, or that of the loss by whoever differentiates it. Each has a contribution, if only 0.
  struct Read {
    batch::AccessOpInterface op;          ///< null: of the loss
    mlir::FlatSymbolRefAttr contribution; ///< buffer
    mlir::FlatSymbolRefAttr list;         ///< the rows that have read a row, a transpose; null: itself
    mlir::FlatSymbolRefAttr via;          ///< from these to the rows of the contribution
    mlir::FlatSymbolRefAttr storeBy;      ///< the relation by which a contribution is stored; null: itself
    bool contributes = false;             ///< a stage writes the contribution; else it is 0
  };
  /// Where an operation with operands that are the same at each row gets what is added to their adjoints.
  struct ParamUse {
    mlir::Operation *op;
    mlir::FlatSymbolRefAttr adjoint; ///< of its result, a buffer over the stage's index set
  };
  /// Rows of a stage that look rows of a sparse table up.
  struct Lookup {
    mlir::FlatSymbolRefAttr indexSet;     ///< of the stage
    mlir::StringAttr indexArray;          ///< the numbers of the table's rows; null: they are computed
    mlir::FlatSymbolRefAttr numbers;      ///< then these, a buffer over the index set
    mlir::FlatSymbolRefAttr contribution; ///< buffer over the index set
  };
  /// What is looked up of a sparse table.
  struct Lookups {
    llvm::SmallVector<Lookup> byRow;
    llvm::MapVector<int32_t, mlir::FlatSymbolRefAttr> always; ///< adjoints of rows, buffers over the batch
  };
  /// A value made of parameters, and the buffer over the batch that its adjoint is added up in.
  using Sum = std::pair<mlir::Value, mlir::FlatSymbolRefAttr>;
  using AdjointMap = llvm::DenseMap<mlir::Value, mlir::Value>;

  static llvm::LogicalResult refuse(mlir::Operation *op);
  static void add(mlir::OpBuilder &b, AdjointMap &adjoints, mlir::Value value, mlir::Value amount);

  // Stages in reverse.
  void begin(mlir::OpBuilder &b);
  llvm::LogicalResult reverse(llvm::ArrayRef<mlir::Operation *> forward, mlir::OpBuilder &b);
  llvm::LogicalResult reverseStage(batch::StageOp stage, mlir::OpBuilder &b);
  llvm::LogicalResult throughOp(StageCopy &copy, mlir::Operation *op, mlir::Value adjoint,
                                AdjointMap &adjoints);

  // What reads contribute. AdjointReads.cpp
  void findReads();
  void addRead(batch::StageOp stage, batch::AccessOpInterface op);
  void contribute(StageCopy &copy, Read &read, mlir::Value adjoint);
  mlir::Value adjointOf(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef buffer, mlir::Type type,
                        mlir::FlatSymbolRefAttr at);
  mlir::FlatSymbolRefAttr inBuffer(StageCopy &copy, mlir::Value adjoint, const llvm::Twine &name);

  // What all rows give to parameters. AdjointParams.cpp
  mlir::FlatSymbolRefAttr sumOf(mlir::Value value);
  llvm::LogicalResult accumulateOperands(StageCopy &copy, mlir::Operation *op, mlir::Value adjoint);
  llvm::LogicalResult throughParams(batch::StageOp stage, llvm::ArrayRef<Sum> added, mlir::OpBuilder &b);
  llvm::LogicalResult accumulate(batch::StageOp stage, llvm::ArrayRef<ParamUse> uses, mlir::OpBuilder &b);
  mlir::FlatSymbolRefAttr gradientOf(llvm::StringRef param);
  mlir::FlatSymbolRefAttr adjointOfModel(mlir::FlatSymbolRefAttr buffer);
  llvm::LogicalResult reverseModelStage(batch::StageOp stage, mlir::OpBuilder &b);
  bool isComputedOnce(mlir::FlatSymbolRefAttr indexSet);
  void clear();

  // What all reads of a field or argument give to it. AdjointReads.cpp
  void sumInput(mlir::FlatSymbolRefAttr array, mlir::OpBuilder &b);

  // What lookups give to sparse tables. AdjointTables.cpp
  void contributeToTable(StageCopy &copy, dyn::GatherOp op, mlir::Value adjoint);
  mlir::FlatSymbolRefAttr adjointOf(const SparseTables::Row &row, mlir::Value value);
  bool isDistinct(mlir::FlatSymbolRefAttr indexSet);
  mlir::FlatSymbolRefAttr givenByDistinctRows(const Lookups &lookups, int64_t extent);
  void sumTable(mlir::StringAttr param, const Lookups &lookups, mlir::OpBuilder &b);

  kernel::ProgramOp program;
  kernel::BufferOp loss;
  batch::StageOp first; ///< of the adjoint stages
  llvm::SmallVector<mlir::FlatSymbolRefAttr> inputs;
  const SparseTables *sparse = nullptr; ///< while it runs
  Activity activity;
  Multiplicities multiplicities;
  AdjointDeclarations declare;
  std::deque<Read> allReads;
  llvm::StringMap<llvm::SmallVector<Read *>> reads; ///< by buffer
  llvm::DenseMap<mlir::Operation *, Read *> readOf;
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<ParamUse>> paramUses; ///< by stage
  llvm::MapVector<mlir::StringAttr, mlir::FlatSymbolRefAttr> gradients;      ///< buffer of each parameter
  llvm::MapVector<mlir::StringAttr, Lookups> lookups;                        ///< by parameter, a sparse table
  llvm::SmallVector<batch::StageOp> modelStages;                             ///< last first
  llvm::DenseMap<mlir::StringAttr, mlir::FlatSymbolRefAttr> modelAdjoints;   ///< of buffers of the model
  llvm::DenseMap<mlir::Value, mlir::FlatSymbolRefAttr> sums;                 ///< of values made of parameters
  llvm::SmallVector<kernel::BufferOp> cleared; ///< buffers that are 0 to begin with
};

} // namespace dbc::passes
