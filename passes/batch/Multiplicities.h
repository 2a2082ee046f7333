// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Batch/Batch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace dbc::passes {

/// How many rows the relations of a program join with one, found from how its structure functions push rows.
/// What it says holds of index sets and pushes as they were when it was made.
class Multiplicities {
public:
  explicit Multiplicities(kernel::ProgramOp program);

  /// `OneToOne` where no two rows of a batch can name the same one, else `ManyToOne`.
  batch::Multiplicity of(batch::RelationOp relation) const;

  /// Whether row r of `indexSet` names row r of the array's index set, by an index array, as in
  /// `let ys = map(x in xs) f(x); map(y in ys) g(y)`. That is so where two loops of one length stand in one
  /// block, the first pushes a row of the array's index set each round, the second a row of `indexSet` with
  /// the index count + i, where count is how many rows the array's index set had before the first loop.
  /// Neither index set is pushed anywhere else, so both have the same number of rows whenever the block
  /// begins.
  bool areAligned(llvm::StringRef indexSet, llvm::StringRef indexArray, llvm::StringRef array) const;

private:
  kernel::IndexSetOp find(llvm::StringRef indexSet) const;
  mlir::Value pushed(llvm::StringRef indexSet, llvm::StringRef indexArray) const;
  bool alignedWith(llvm::StringRef indexSet, llvm::StringRef indexArray, llvm::StringRef to) const;
  bool isReservedForRow(kernel::PushOp push, mlir::Value value) const;

  mlir::SymbolTable names;
  llvm::StringMap<llvm::SmallVector<kernel::PushOp>> pushes; ///< by index set
  /// Of arrays of index sets that are pushed at one place: what is pushed.
  llvm::DenseMap<std::pair<llvm::StringRef, llvm::StringRef>, mlir::Value> onlyPush;
};

} // namespace dbc::passes
