// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A `dyn` function is walked twice. The first walk writes its `calls` function: which instances need which.
// The second writes its `index` function, which makes the rows of all index sets, and one `batch.stage` an
// arithmetic op. Flattening follows Blelloch's nested data parallelism: a binder is an index set whose rows
// are (row outside, element).
//
// A walk (FlattenWalk.h) is put together from classes of one duty each, each of which uses those before it:
//   ProgramWriter    FlattenProgram.h      declares what the program is made of
//   StructureWriter  FlattenStructure.h    writes the calls or index function
//   Environment      FlattenEnvironment.h  knows the abstract value of each value
//   StageWriter      FlattenStages.h       writes stages, and the index arrays they read
//   Arithmetic       FlattenArithmetic.h   operations on numbers
//   Lists            FlattenLists.h        where the elements of a list lie
//   ListCopies       FlattenCopies.h       lists in rows of their own
//   ListOperations   FlattenListOps.h      operations on lists without a body
//   Binders          FlattenBinders.h      map and filter
//   Recurrences      FlattenRecurrences.h  scan and fold
//   Branches         FlattenBranches.h     match and if
//   Calls            FlattenCalls.h        call sites and keys
//   Results          FlattenResults.h      what a function returns
#pragma once

#include "passes/lower/FlattenProgram.h"

namespace dbc::passes {

/// Makes the program of one entry or loss: its cells and their groups, its functions, and their order.
class Flattening {
public:
  /// `symbols` are those of the module before any program was written.
  Flattening(mlir::ModuleOp module, const mlir::SymbolTable &symbols, dyn::EntryOp entry)
      : symbols(symbols), entry(entry), program(module, symbols, entry) {}
  /// Writes the `kernel.program`.
  mlir::LogicalResult run();

private:
  /// The cells that the entry needs and their groups, callees first.
  void findCells();
  void declareCell(CellInfo &cell);
  kernel::FuncOp addFunction(kernel::FuncKind kind, const std::string &name, IndexSetInfo *indexSet,
                             dyn::CellOp cell);
  /// Who calls whom, and where an instance's slot is.
  void writeCalls();
  void declareGroup(mlir::ArrayRef<mlir::StringAttr> group);
  /// Rows and stages.
  void writeIndex();
  void walk(kernel::FuncOp func, mlir::Operation *owner, IndexSetInfo *indexSet);

  const mlir::SymbolTable &symbols;
  dyn::EntryOp entry;
  ProgramWriter program;
  IndexSetInfo *inputs = nullptr;
  CellMap cells;
  std::vector<std::vector<mlir::StringAttr>> groups;
  llvm::StringMap<llvm::SmallVector<mlir::Attribute>> callsOf; ///< functions of a group
  bool failed = false;
};

} // namespace dbc::passes
