// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Batch/Batch.h"
#include "mlir/IR/Builders.h"
#include "passes/lower/FlattenInfo.h"
#include <deque>

namespace dbc::passes {

/// Writes the `kernel.program` of an entry or loss: its declarations of index sets, buffers, arrays and
/// relations, its functions' heads and its stages' heads, each under a name of its own.
class ProgramWriter {
public:
  /// Starts the program at the end of the module. `symbols` are those of the module before any program was
  /// written.
  ProgramWriter(mlir::ModuleOp module, const mlir::SymbolTable &symbols, dyn::EntryOp entry);

  mlir::Location loc() { return entry.getLoc(); }
  bool isLoss() { return entry.getLoss(); }
  mlir::OpBuilder &declarations() { return declare; } ///< of what a program has in front of its stages
  mlir::OpBuilder &schedule() { return order; }       ///< of the order in which functions run

  std::string unique(llvm::StringRef name);
  /// The reference to a symbol; none to an empty one.
  mlir::FlatSymbolRefAttr symbol(llvm::StringRef name);

  IndexSetInfo *addIndexSet(mlir::Location loc, llvm::StringRef name, kernel::IndexSetKind kind,
                            IndexSetInfo *parent);
  /// What is made of parameters alone lies in the one row of this index set.
  IndexSetInfo *modelIndexSet() { return &indexSets.front(); }
  /// Declares the index sets, when all their arrays are known.
  void declareIndexSets();

  /// Keeps a name, before any other is made, for what is called so in `dyn` too.
  void keepName(llvm::StringRef name);
  /// Declares a `dyn.relation` to that cell.
  void declareRelation(dyn::RelationOp relation, const CellInfo &to);
  /// The one of that name.
  dyn::RelationOp relationOf(mlir::FlatSymbolRefAttr name) const {
    return llvm::cast<dyn::RelationOp>(symbols.lookup(name.getAttr()));
  }

  std::string addBuffer(llvm::StringRef name, IndexSetInfo *indexSet, mlir::Type type);
  void removeBuffer(llvm::StringRef name);
  IndexSetInfo *indexSetOf(llvm::StringRef buffer) { return bufferIndexSet.lookup(buffer); }
  void addOutput(mlir::Location loc, unsigned component, llvm::StringRef buffer, unsigned depth, bool active);

  /// The symbol of a field's array, declared when first used; `inCells`: it is read for instances.
  std::string fieldArray(dyn::DataOp data, llvm::StringRef ctor, llvm::StringRef field,
                         kernel::FieldArray which, mlir::Type type, int level, bool inCells);
  /// That of a flat argument's array.
  std::string argumentArray(unsigned component, kernel::FieldArray which, mlir::Type type, int level);
  /// The type of a row of a declared array, and what its rows are.
  mlir::Type typeOf(llvm::StringRef array);
  mlir::FlatSymbolRefAttr rowsOf(llvm::StringRef array) { return batch::rowsOf(declared.lookup(array)); }
  dyn::DataOp dataOf(mlir::Type node);

  /// The relation from an index set by one of its index arrays, or two for a list, to the rows of an array.
  mlir::FlatSymbolRefAttr relation(mlir::Location loc, llvm::StringRef from, llvm::StringRef indexArray,
                                   llvm::StringRef array);
  mlir::FlatSymbolRefAttr listRelation(mlir::Location loc, llvm::StringRef from, llvm::StringRef first,
                                       llvm::StringRef length, int stride, mlir::FlatSymbolRefAttr to);

  /// A function without arguments; it runs for the rows of `indexSet`, if that is given.
  kernel::FuncOp addFunction(kernel::FuncKind kind, llvm::StringRef name, IndexSetInfo *indexSet);
  batch::StageOp addStage(mlir::Location loc, llvm::StringRef name, IndexSetInfo *indexSet);

private:
  int columnOf(dyn::DataOp data, llvm::StringRef ctor, llvm::StringRef field);

  const mlir::SymbolTable &symbols;
  dyn::EntryOp entry;
  mlir::MLIRContext *context;
  kernel::ProgramOp program;
  mlir::OpBuilder declare, order, stages; ///< where declarations, the schedule and stages go
  std::deque<IndexSetInfo> indexSets;
  llvm::StringMap<int> names;
  llvm::StringMap<IndexSetInfo *> bufferIndexSet;
  llvm::StringMap<std::string> arrays;                ///< fields and arguments declared so far
  llvm::StringMap<mlir::Operation *> declared;        ///< buffers, fields, arguments, by name
  llvm::StringMap<mlir::FlatSymbolRefAttr> relations; ///< by what they join, and how
  llvm::DenseMap<mlir::Operation *, llvm::StringMap<int>> fieldColumns; ///< of a data type: see columnOf
  llvm::SmallVector<std::string> argumentNames;                         ///< of each flat argument
};

} // namespace dbc::passes
