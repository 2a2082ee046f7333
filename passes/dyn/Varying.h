// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What in a binder's body depends on its variables, and what of the rest is worth computing once.
#pragma once

#include "ir/Dyn/Binders.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace dbc::passes {

/// The values in the body of a binder that may be others for each of its elements; or in that of a cell.
class Varying {
public:
  /// Whether an element of an inner binder is one of them where its list is: always, or only if it is
  /// computed of such values, and not merely chosen by them.
  enum class Elements { AsTheirList, Computed };
  explicit Varying(mlir::Operation *binder, Elements elements = Elements::AsTheirList);
  /// Those in the body of a cell, of whose arguments `arguments` are others in other instances.
  Varying(mlir::Block &body, llvm::ArrayRef<mlir::Value> arguments);

  bool has(mlir::Value value) const { return values.contains(value); }
  /// Whether an operation, with all that is in it, uses such a value or does more than to give its results.
  bool has(mlir::Operation *op) const;
  /// Adds what an operation gives, and all in it.
  void add(mlir::Operation *op);

private:
  void visit(mlir::Block &block);
  bool elementsVary(mlir::Value list) const;
  bool uses(mlir::Operation *op) const;

  Elements elements;
  llvm::DenseSet<mlir::Value> values;
};

/// Whether an operation does nothing but to give its results, the same whenever it is computed. Calls with
/// captured arguments count as others until they are lifted: an instance that two of them reach fails
/// (manual, C5).
bool isPlain(mlir::Operation *op);

/// Whether an operation, or one that is in it, may fail an input.
bool fails(mlir::Operation *op);

/// Whether a binder goes through 0..minimum(1, n): one element at most, for "if there is any". dyn-hoist
/// makes such maps of what may fail.
bool isOnceAtMost(mlir::Operation *binder);

/// How many elements a tensor has, 1 of a number; 0 of a list, of which nothing is known.
int64_t elementsIn(mlir::Type type);

/// Whether computing an operation costs more than to read what it gives from memory: products and reductions
/// that add up `kWorth` elements or more, functions like tanh, recurrences, and binders with such in them.
bool isWork(mlir::Operation *op);
inline constexpr int64_t kWorth = 4;

/// The list that a filter, a slice, a reversal or a zip takes the elements of a list from; null: it is none.
mlir::Value chosenFrom(mlir::Value list);

/// Operations that leave out elements of a list or turn it round, the last one first.
using Path = llvm::SmallVector<mlir::Operation *, 2>;

/// Where the elements of a list come from: from those of one that does not vary, which the operations of
/// `path` choose from.
struct Source {
  mlir::Value list;
  Path path;
};
/// Nothing if they come from elsewhere.
std::optional<Source> sourceOf(mlir::Value list, const Varying &varying);

} // namespace dbc::passes
