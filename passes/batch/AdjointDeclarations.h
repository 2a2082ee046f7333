// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Batch/Batch.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace dbc::passes {

/// Declares what adjoint stages need, in front of a program's stages: buffers, relations, transposes, index
/// sets.
class AdjointDeclarations {
public:
  explicit AdjointDeclarations(kernel::ProgramOp program);

  /// A buffer of its own name.
  kernel::BufferOp buffer(mlir::Location loc, const llvm::Twine &name, mlir::FlatSymbolRefAttr indexSet,
                          mlir::Type type);
  /// A stage at `b`, called after its index set and role until batch-name-stages names all.
  batch::StageOp stage(mlir::OpBuilder &b, mlir::Location loc, batch::StageRole role,
                       mlir::FlatSymbolRefAttr indexSet);
  /// What a buffer for a value of a stage is called.
  static std::string nameOf(mlir::Value value);
  /// The relation from an index set by an index array to the rows of `to`; null: the inputs.
  batch::RelationOp relation(mlir::Location loc, mlir::FlatSymbolRefAttr from, llvm::StringRef indexArray,
                             mlir::FlatSymbolRefAttr to);
  batch::TransposeOp transpose(batch::RelationOp relation);
  /// That by the numbers of distinct rows that a buffer holds.
  batch::TransposeOp transpose(mlir::Location loc, mlir::FlatSymbolRefAttr numbers,
                               mlir::FlatSymbolRefAttr rows);

  /// An index set with a row for each element of the list that a segment reduces, in the order of the stage's
  /// rows and then of the list: `row` of its elements, `parent` the stage's row, `position` in the list,
  /// `length` of it.
  kernel::IndexSetOp elements(batch::SegmentOp segment);
  /// An index set with a row for each number that index arrays or buffers hold, and for each of `always`, in
  /// order: the numbers in `row`. Each array is given by its index set, whose rows are made before, and its
  /// name; its numbers are below `extent`, and those of a buffer that are not make no row. And the relation
  /// by each of the arrays.
  struct Distinct {
    mlir::FlatSymbolRefAttr indexSet;
    llvm::SmallVector<batch::RelationOp> relations;
  };
  Distinct distinct(mlir::Location loc, const llvm::Twine &name,
                    llvm::ArrayRef<std::pair<mlir::FlatSymbolRefAttr, mlir::StringAttr>> indexArrays,
                    llvm::ArrayRef<mlir::Attribute> numbers, llvm::ArrayRef<int32_t> always, int64_t extent);
  /// The one row of a run.
  mlir::FlatSymbolRefAttr batchIndexSet();
  /// What buffers for the adjoint of an array have a row for, each of `type`: the index set of a buffer; for
  /// a field or argument one of all the rows that it has in the batch.
  struct Rows {
    mlir::FlatSymbolRefAttr indexSet;
    mlir::Type type;
  };
  Rows rowsOf(mlir::FlatSymbolRefAttr array);
  /// What relations lead to by which an array is read: a buffer's index set, or a field's or argument's rows.
  mlir::FlatSymbolRefAttr ownRowsOf(mlir::FlatSymbolRefAttr array) {
    return batch::rowsOf(names.lookup(array.getValue()));
  }
  /// Says where the gradient of a parameter lies, and that of a field or argument.
  void gradient(llvm::StringRef param, llvm::StringRef buffer);
  void inputGradient(mlir::FlatSymbolRefAttr array, llvm::StringRef buffer);
  /// The array with the weight of each input's loss; for one call.
  kernel::ArgumentOp lossWeights();

  /// The buffer of a value that a stage of the forward pass has; it is kept from now on.
  mlir::FlatSymbolRefAttr bufferOf(mlir::Value value);

  template <class Op> Op find(mlir::FlatSymbolRefAttr name) { return names.lookup<Op>(name.getAttr()); }

private:
  template <class Op> Op named(Op op) {
    names.insert(op);
    return op;
  }

  std::string unique(const llvm::Twine &name);

  kernel::ProgramOp program;
  mlir::SymbolTable names;
  llvm::StringSet<> taken;
  mlir::OpBuilder b; ///< in front of the first stage
  kernel::ScheduleOp schedule;
  /// By the index sets that it joins, and the index array.
  llvm::DenseMap<std::tuple<mlir::Attribute, mlir::Attribute, mlir::Attribute>, batch::RelationOp> relations;
  llvm::DenseMap<mlir::Operation *, batch::TransposeOp> transposes; ///< by relation
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, batch::TransposeOp>
      transposesOfNumbers;                                          ///< by buffer and index set
  llvm::DenseMap<mlir::Operation *, kernel::IndexSetOp> elementsOf; ///< by segment
  llvm::DenseMap<mlir::Attribute, kernel::IndexSetOp> columnOf;     ///< by what relations to it lead to
  kernel::IndexSetOp batchSet;                                      ///< null: not asked for yet
};

} // namespace dbc::passes
