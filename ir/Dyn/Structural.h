// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What of a function is structural (manual, S1), for those who ask of many values.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "llvm/ADT/DenseMap.h"

namespace dbc::dyn {

/// Answers isStructural, and remembers the answers: each value is looked at once. For as long as nothing is
/// changed.
class Structural {
public:
  bool has(mlir::Value value);

private:
  bool find(mlir::Value value);
  bool findArgument(mlir::BlockArgument argument);

  llvm::DenseMap<mlir::Value, bool> answers;
};

/// As mayFailComputed of one operation.
bool mayFailComputed(mlir::Operation *op, Structural &structural);

} // namespace dbc::dyn
