// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Batch/Batch.h"
#include "passes/lower/LoopWriter.h"

namespace dbc::passes {

/// Writes what is done for each row of a stage: loops over blocks and their rows, where rows lie in memory,
/// and what fails for a row.
class RowWriter : public LoopWriter {
public:
  /// `order` is the index set whose order list rows are reached through, null: a row is at its number.
  /// `relations` are those of the stage's program, `arrays` what the function's program has.
  RowWriter(batch::StageOp stage, kernel::FuncOp func, kernel::IndexSetOp indexSet,
            mlir::FlatSymbolRefAttr order, const mlir::SymbolTable &relations,
            const mlir::SymbolTable &arrays);

  /// `body` once for each block of the function's rows, with `base` and `count` set.
  void blocks(llvm::function_ref<void()> body);
  /// `body` once for each row of the block, with `i` and `row` set.
  void rows(llvm::function_ref<void()> body);
  int64_t rowsOfBlock() const { return blockRows; }
  mlir::Value base() const { return base_; }   ///< the block's first row
  mlir::Value count() const { return count_; } ///< rows of the block
  mlir::Value i() const { return i_; }         ///< the row's position in its block
  mlir::Value row() const { return row_; }
  /// Whether rows are taken in an order of their own, so that those of a block are no neighbours.
  bool isOrdered() const { return static_cast<bool>(order); }

  /// The index array by which the stage's rows name others.
  template <class Op> llvm::StringRef indexArrayOf(Op op) const {
    return batch::relationOf(relations, op).getIndexArray();
  }
  /// Null where the list is one of a transpose.
  batch::ListRelationOp listOf(batch::SegmentOp op) const {
    return relations.lookup<batch::ListRelationOp>(op.getList());
  }
  /// The current row's list: its first row, or its position in a transpose, and its length.
  struct List {
    mlir::Value first, length;
  };
  List list(batch::SegmentOp op);
  /// The same, loaded once a row for all that want this list.
  List listOfRow(batch::SegmentOp op);
  /// What an array of the stage's index set holds at the current row, loaded once a row.
  mlir::Value index(llvm::StringRef name);
  /// The row at position `k` of a list whose first one is `first`.
  mlir::Value rowOfList(batch::SegmentOp op, mlir::Value first, mlir::Value k);

  /// Where row `row` of an array lies, which was written `ago` levels before: it is at its number unless the
  /// buffer holds a window of its rows.
  mlir::Value inMemory(llvm::StringRef array, mlir::Value row, int64_t ago = 0);
  /// The first row in the window of a buffer; null if it holds all rows.
  mlir::Value window(llvm::StringRef array, int64_t ago);
  /// Whether a buffer has one row, for the whole model or batch.
  bool hasOneRow(mlir::FlatSymbolRefAttr buffer);
  /// The type of an array's elements.
  mlir::Type elementTypeOf(llvm::StringRef array);

  /// Checked arithmetic of integers: what fails is an error of this row's input.
  mlir::Value checkedInt(dyn::IntKind kind, mlir::Value x, mlir::Value y, mlir::Location at);
  /// `value` where `condition` holds, else an error of this row's input, and 0.
  mlir::Value checked(mlir::Location at, kernel::ErrorKind kind, mlir::Value condition, mlir::Value value,
                      mlir::ValueRange numbers, llvm::StringRef what = "");

  /// Where what serves all blocks is written.
  mlir::Block &entry() { return func.getBody().front(); }

private:
  kernel::FuncOp func;
  kernel::IndexSetOp indexSet;
  const mlir::SymbolTable &relations, &arrays;
  int64_t blockRows;
  mlir::FlatSymbolRefAttr order;
  mlir::Value base_, count_, i_, row_;
  llvm::StringMap<mlir::Value> indices;                 ///< of the current row, by array
  llvm::DenseMap<mlir::Attribute, List> lists;          ///< of the current row, by list and relation
  llvm::DenseMap<mlir::Attribute, mlir::Value> windows; ///< by index set, live levels and `ago`
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> inWindows; ///< rows less windows
};

} // namespace dbc::passes
