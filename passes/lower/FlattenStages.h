// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenEnvironment.h"
#include "passes/lower/FlattenProgram.h"
#include "llvm/ADT/StringSet.h"

namespace dbc::passes {

/// Writes stages, and the rows and arrays of index sets that they read.
class StageWriter {
public:
  StageWriter(ProgramWriter &program, StructureWriter &structure, Environment &env)
      : program(program), structure(structure), env(env), b(structure.builder()) {}

  /// What a stage of an operation is called.
  static std::string label(mlir::Operation *op, RowContext at);
  /// Starts a stage over the index set at `at`, for the rows that are there.
  batch::StageOp stage(mlir::Location loc, llvm::StringRef name, RowContext at);
  /// A value at this row, inside a stage; `source` gives its type and name, if it is known.
  mlir::Value load(mlir::OpBuilder &inside, mlir::Location loc, mlir::Value source, const AbstractValue &what,
                   RowContext at);
  /// Writes a value into `buffer` at this row, or through an index array, in a stage of its own.
  void write(mlir::Location loc, mlir::Value source, const AbstractValue &what, llvm::StringRef buffer,
             RowContext at, mlir::Value row = {});
  /// A stage that reduces the rows of a list, or picks the one at `index`.
  AbstractValue segment(mlir::Location loc, mlir::Type type, llvm::StringRef name, dyn::ReduceKind kind,
                        const ListInfo &list, RowContext at, const AbstractValue &index = {},
                        const AbstractValue &when = {});

  /// The array of an index set that holds `value` at each row.
  std::string indexArray(IndexSetInfo *indexSet, mlir::Value value, llvm::StringRef hint);
  /// Makes the row, when no more arrays of it can be asked for.
  void push(RowContext at);
  /// A loop that makes `length` rows of `indexSet` inside the row at `outer`; `body` writes what one needs.
  kernel::ForOp rows(mlir::Location loc, IndexSetInfo *indexSet, mlir::Value length, RowContext outer,
                     llvm::function_ref<void(RowContext inner, mlir::Value j)> body);

  /// Makes the buffer that says which rows of an index set there are: those for which `taken` holds, if it is
  /// given, and whose parent is there. With `after`, rows of a recurrence: until a step is computed, none
  /// follows it, in row `after` of the same truths.
  void keep(mlir::Location loc, IndexSetInfo *indexSet, const AbstractValue &taken, mlir::Value after = {});
  /// The same for a row that is the element at `j` of a list, which a `while` may end.
  void keepElement(mlir::Location loc, IndexSetInfo *indexSet, const ListInfo &list, mlir::Value j);

  /// Adds a buffer that may be renamed to a result's, and writes a value to it at the end of a stage.
  std::string addOwnBuffer(llvm::StringRef name, IndexSetInfo *indexSet, mlir::Type type);
  AbstractValue writeOwn(mlir::OpBuilder &inside, batch::StageOp stage, mlir::Value value, RowContext at);
  /// Whether a value is a buffer made in this walk, at this very row.
  bool isOwn(const AbstractValue &what, RowContext at);
  /// Has other buffers take the place of such ones, where they are used.
  void rename(const llvm::StringMap<std::string> &names);

private:
  std::string aliveIn(IndexSetInfo *indexSet);
  batch::StageOp stageOfAll(mlir::Location loc, llvm::StringRef name, RowContext at);

  ProgramWriter &program;
  StructureWriter &structure;
  Environment &env;
  mlir::OpBuilder &b; ///< the structure function
  std::vector<batch::StageOp> made;
  llvm::StringSet<> own; ///< see addOwnBuffer
};

} // namespace dbc::passes
