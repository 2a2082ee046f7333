// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "mlir/IR/IRMapping.h"
#include "passes/lower/FlattenStructure.h"

namespace dbc::passes {

/// The abstract value of each value of the `dyn` function that was walked.
class Environment {
public:
  explicit Environment(StructureWriter &structure) : structure(structure) {}

  void set(mlir::Value value, AbstractValue what) { values[value] = std::move(what); }
  AbstractValue lookup(mlir::Value value) const;
  /// Of several lists.
  std::vector<ListInfo> lists(mlir::ValueRange values) const;

  /// Whether the structure function knows a value; also of values whose region is not walked yet.
  bool isStructural(mlir::Value value);
  /// The integer or truth in the structure function. Reports a value that is computed.
  mlir::Value structural(mlir::Value value);
  /// Whether a value was asked for that is computed.
  bool hasFailed() const { return failed; }

  /// Whether a value of the model is an integer or truth made of constants: comparisons of what arms give are
  /// not folded before the arms are walked.
  bool isOfConstants(const AbstractValue &what);
  /// A clone of what a Model value is made of.
  mlir::Value cloneModel(mlir::OpBuilder &builder, mlir::Value source);

private:
  mlir::Value cloneModel(mlir::OpBuilder &builder, mlir::Value source, mlir::IRMapping &cloned);

  StructureWriter &structure;
  llvm::DenseMap<mlir::Value, AbstractValue> values;
  llvm::DenseMap<mlir::Value, bool> ofConstants; ///< see isOfConstants
  bool failed = false;
};

} // namespace dbc::passes
