// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "mlir/IR/Builders.h"
#include "passes/lower/FlattenInfo.h"

namespace dbc::passes {

/// Writes the structure function of a cell or entry, which is its calls, roots, slot or index function:
/// integers, loops, checks, and rows of index sets. It knows no value of the `dyn` function.
class StructureWriter {
public:
  /// `owner` is the cell or entry.
  StructureWriter(kernel::FuncOp func, mlir::Operation *owner);

  mlir::OpBuilder &builder() { return b; }
  kernel::FuncOp function() { return func; }
  mlir::Operation *owner() const { return ownerOp; }
  dyn::CellOp ownerCell() const { return mlir::dyn_cast<dyn::CellOp>(ownerOp); } ///< none for an entry
  bool is(kernel::FuncKind kind) { return func.getKind() == kind; }
  /// Whether it makes rows, which stages compute with; else the function says who is called.
  bool isIndex() { return is(kernel::FuncKind::Index); }

  mlir::Value integer(int64_t value);
  static bool isZero(mlir::Value value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  /// An operation on i32 that fails where the result is none.
  mlir::Value checked(mlir::Location loc, dyn::IntKind kind, mlir::Value x, mlir::Value y);
  /// As index arrays hold it: truths are 0 and 1.
  mlir::Value asIndex(mlir::Value value);
  /// As index arrays hold it, to a value of type `type`.
  mlir::Value fromIndex(mlir::Location loc, mlir::Type type, mlir::Value number);

  /// Row `row` of an array, or of an index array.
  mlir::Value load(mlir::Location loc, mlir::Type type, llvm::StringRef array, mlir::Value row) {
    return kernel::LoadOp::create(b, loc, type, array, mlir::StringAttr(), row);
  }
  mlir::Value loadIndex(mlir::Location loc, mlir::Type type, llvm::StringRef indexSet,
                        llvm::StringRef indexArray, mlir::Value row) {
    return kernel::LoadOp::create(b, loc, type, indexSet, b.getStringAttr(indexArray), row);
  }
  /// How many rows an index set has so far, which is the number of the next one.
  mlir::Value count(mlir::Location loc, const IndexSetInfo *indexSet) {
    return kernel::CountOp::create(b, loc, b.getI32Type(), indexSet->name);
  }
  mlir::Value reserve(mlir::Location loc, const IndexSetInfo *indexSet, mlir::Value rows) {
    return kernel::ReserveOp::create(b, loc, b.getI32Type(), indexSet->name, rows);
  }
  void push(mlir::Location loc, const IndexSetInfo *indexSet, mlir::ValueRange values) {
    kernel::PushOp::create(b, loc, indexSet->name, values);
  }

  /// A loop 0 .. length - 1; `body` writes one round.
  kernel::ForOp loop(mlir::Location loc, mlir::Value length, llvm::function_ref<void(mlir::Value)> body);
  /// What `body` writes is done where the condition holds.
  void when(mlir::Location loc, mlir::Value condition, llvm::function_ref<void()> body);
  void check(mlir::Location loc, kernel::ErrorKind kind, mlir::Value condition, llvm::StringRef what,
             mlir::ValueRange values);
  /// `value` must be 0 .. bound - 1.
  void checkIndex(mlir::Location loc, mlir::Value value, int64_t bound);
  /// The input must be allowed `count` rows in each of `indexSets`.
  void reserveMemory(mlir::Location loc, mlir::Value count, llvm::ArrayRef<const IndexSetInfo *> indexSets);
  /// The same for the rows of a binder, if it goes through what can be longer than the input.
  void reserveMemoryFor(mlir::Operation *binder, mlir::Value count,
                        llvm::ArrayRef<const IndexSetInfo *> indexSets);

private:
  bool isOwn(mlir::Operation *binder);

  kernel::FuncOp func;
  mlir::Operation *ownerOp;
  mlir::OpBuilder b;
};

} // namespace dbc::passes
