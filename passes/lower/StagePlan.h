// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What is decided of a stage before its code is written.
//
// Row-level tensors become either expressions, written where they are used, or MATERIALISED values, in
// scratch for the rows of a block. Materialised are results of products, reductions and joins, what these
// need in memory, and what several loops use. Elementwise values of one shape are computed in one loop
// (fusion); each is computed once there.
#pragma once

#include "ir/Batch/Batch.h"
#include "passes/Products.h"
#include "llvm/ADT/SetVector.h"

namespace dbc::passes {

/// Tiles of a stage that threads share: two of each, or more. The last one may need what the one before left
/// in its place, see kernel.weights.
inline constexpr int64_t kFewestSharedTiles = 4;

/// What a target's stages may have.
struct StageForms {
  bool epilogues = false; ///< products may do what is done with their results
  /// As threads of a GPU share them: sums over lists and joins may be parts of elementwise code, and tiles of
  /// sums of outer products are cut out of both axes.
  bool byElement = false;
};

/// A write or scatter of an elementwise value: to the elements from `offset` on along an axis.
struct ElementWrite {
  mlir::Operation *op;
  unsigned axis = 0;
  int64_t offset = 0;
};

/// One thing to compute: an elementwise value (with its positions) or an op with a loop structure of its own.
struct Action {
  mlir::Value value;                      ///< what is computed
  mlir::Operation *op = nullptr;          ///< special op, or null
  llvm::SmallVector<ElementWrite> writes; ///< of an elementwise value
};

/// Decides which values of a stage are materialised and which products are computed tile by tile, and lists
/// the actions. Writes nothing.
class StagePlan {
public:
  StagePlan(batch::StageOp stage, StageForms forms);

  /// Whether an op has a loop structure of its own.
  bool isSpecial(mlir::Operation *op) const;
  /// The sums over lists that are parts of the expressions of these actions.
  llvm::SmallVector<batch::SegmentOp> sumsOf(llvm::ArrayRef<const Action *> group) const;

  bool isMaterialised(mlir::Value value) const { return materialised_.contains(value); }
  llvm::ArrayRef<mlir::Value> materialised() const { return materialised_.getArrayRef(); }
  /// For a gate: what later loops read of a tiled product.
  void materialise(mlir::Value value) { materialised_.insert(value); }

  StageForms stageForms() const { return forms; }

  /// In the order of the program.
  llvm::ArrayRef<std::unique_ptr<Action>> actions() const { return actions_; }
  /// The action that computes a materialised value or a gate; null for what is only loaded.
  const Action *actionFor(mlir::Value value) const;
  /// Whether the action is the one that computes its value into scratch; others read it there.
  bool computes(const Action &action) const;

  /// Of a product: what the kernel gives in its stead, the sum with its bias or relu of either.
  mlir::Value resultOf(mlir::Value product) const;
  /// The write or scatter of what a product gives, which the product does itself; null if it does not.
  mlir::Operation *writeOf(mlir::Value result) const { return written.lookup(result); }
  /// The operands of a join that a product makes itself, of segments; the value alone where it is none.
  llvm::SmallVector<mlir::Value> joinedOperands(mlir::Value operand) const;

  /// Whether the result of a product is computed tile by tile.
  bool isTiled(mlir::Value result) const { return tiles.contains(result); }
  bool isTiled(const Action &action) const { return action.op && isTiled(action.value); }
  Gates gatesOfTiled(mlir::Value result) const { return tiles.lookup(result); }
  int64_t channelsOfTile() const { return tileChannels; }
  /// The tiled product that a value is a gate of, or null.
  mlir::Value productOf(mlir::Value gate) const;
  /// The shape of the loops that compute an action's elements.
  llvm::SmallVector<int64_t> shapeOf(const Action &action) const;

private:
  void findEpilogues();
  bool mayShareTiles(llvm::ArrayRef<mlir::linalg::ContractOp> products) const;
  void findTiles();
  void findByElement();
  void materialiseResults(mlir::Operation *op);
  void materialiseOperands(mlir::Operation *op);
  void materialiseRowsOfProducts();
  void materialiseShared();
  void listActions();
  /// Whether an element can be read from memory wherever it is wanted, without arithmetic.
  bool loadable(mlir::Value value) const;
  /// Whether its rows lie in memory one element after the other, so that a product can read them in place.
  bool addressable(mlir::Value value) const;

  const StageForms forms;
  mlir::Block &body;
  int64_t tileChannels; ///< 0: no tiles
  std::vector<std::unique_ptr<Action>> actions_;
  llvm::DenseMap<mlir::Value, Action *> actionOf;
  llvm::SetVector<mlir::Value> materialised_;
  llvm::DenseMap<mlir::Value, mlir::Value> results;       ///< product -> what is computed in its stead
  llvm::DenseMap<mlir::Value, mlir::Operation *> written; ///< results -> writes that their products do
  llvm::DenseMap<mlir::Value, Gates> tiles;               ///< results of tiled products
  llvm::DenseSet<mlir::Value> joined;                     ///< joins that a product makes itself
  llvm::DenseSet<mlir::Operation *> byElement;            ///< sums and joins that are elementwise code's
};

} // namespace dbc::passes
