// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Cells made of parts of functions, for dyn-lift-values: what a function computes for an instance of it, at
// positions in binders around it, computed by a cell that has these for keys.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace dbc::passes {

/// Where something is computed: in which function, and in which of its binders, the outermost first.
struct Frame {
  mlir::Operation *function = nullptr; ///< null: what is made of parameters alone, the same everywhere
  llvm::SmallVector<mlir::Operation *> binders;

  bool operator==(const Frame &o) const { return function == o.function && binders == o.binders; }
};

/// The values in a block that say for which instance and positions of a frame it computes.
struct FrameKeys {
  llvm::SmallVector<mlir::Value> keys; ///< of the function; none of an entry
  llvm::SmallVector<mlir::Value> positions;

  llvm::SmallVector<mlir::Value> all() const {
    llvm::SmallVector<mlir::Value> values = keys;
    values.append(positions.begin(), positions.end());
    return values;
  }
};

class LiftedCells {
public:
  explicit LiftedCells(mlir::ModuleOp module) : module(module), symbols(module) {}

  /// The binders around an operation, the outermost first.
  static llvm::SmallVector<mlir::Operation *> bindersAround(mlir::Operation *op);
  /// All of them, and the function.
  static Frame frameAround(mlir::Operation *op);
  /// Gives a binder one more list, of the positions in its lists, and so an argument that says where it is.
  void addPosition(mlir::Operation *binder);
  /// That argument.
  static mlir::Value positionIn(mlir::Operation *binder);
  /// Keys and positions of a frame where code in its innermost binder stands.
  static FrameKeys keysInside(const Frame &frame);

  /// A new cell whose keys are those of a frame and of `like`, if there is one; with an empty body and the
  /// ranges of its keys. Of `like`'s values, `given` in the frame, ranges may be made.
  dyn::CellOp makeCell(llvm::StringRef name, mlir::Location loc, mlir::TypeRange results, mlir::Type surface,
                       const Frame &frame, dyn::CellOp like = {}, mlir::ValueRange given = {});
  /// In the body of such a cell: the keys of the frame.
  FrameKeys keysOf(dyn::CellOp cell, const Frame &frame);
  /// In its body or in a range: the others.
  llvm::SmallVector<mlir::Value> ownKeys(dyn::CellOp cell, mlir::Block &block);
  /// Both in their order.
  llvm::SmallVector<mlir::Value> keysFor(dyn::CellOp cell, mlir::ValueRange frame, mlir::ValueRange own);
  /// Marks the keys of frames, which messages do not tell, in cells that are still there.
  void markContexts();

  /// A cell over a frame that computes `values`, which are computed there.
  dyn::CellOp makeValues(llvm::StringRef name, mlir::Location loc, const Frame &frame,
                         mlir::ValueRange values);
  /// Whether a cell was made by makeValues.
  bool isMade(dyn::CellOp cell) const { return made.contains(cell); }
  /// Lets what else in a function uses values that cells of makeValues compute read them there.
  void readValues(mlir::Operation *function);
  static llvm::SmallVector<mlir::Type> resultsOf(dyn::CellOp cell);
  static mlir::Type surfaceOf(llvm::ArrayRef<mlir::Type> types);
  /// A call of a cell that has the keys of a frame alone.
  static dyn::CallOp call(mlir::OpBuilder &b, mlir::Location loc, dyn::CellOp cell, mlir::ValueRange keys);
  /// Writes the bodies of the cells of a function's states that were asked for, and lets the recurrences
  /// themselves be read from them.
  void finishStates(mlir::Operation *function);

  mlir::SymbolTable &table() { return symbols; }
  /// Calls that were given values.
  llvm::DenseSet<mlir::Operation *> lifted;
  bool failed = false;

private:
  friend class FrameCopy;
  dyn::CellOp statesOf(mlir::Operation *recurrence, const Frame &outer);
  dyn::CellOp listOf(mlir::Value list, const Frame &outer);
  bool dependsOnLifted(mlir::Operation *op);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  struct States {
    dyn::CellOp cell;
    Frame outer;
    bool done = false;
  };
  llvm::MapVector<mlir::Operation *, States> states; ///< of scans and folds
  llvm::DenseMap<mlir::Value, dyn::CellOp> lists;
  struct Computed {
    dyn::CellOp cell;
    Frame frame;
    unsigned result;
    bool read = false;
  };
  llvm::MapVector<mlir::Value, Computed> computed;
  llvm::DenseSet<mlir::Operation *> made;
  struct Context {
    unsigned first = 0, count = 0;
  };
  llvm::MapVector<mlir::Operation *, Context> contexts; ///< of each cell: which keys are those of a frame
};

/// Copies what a frame computes to where its keys are known.
class FrameCopy {
public:
  FrameCopy(LiftedCells &cells, mlir::OpBuilder &b, const Frame &frame, const FrameKeys &keys)
      : cells(cells), b(b), frame(frame), at(keys) {}

  mlir::Value get(mlir::Value value);
  /// The length of a list, without its elements.
  mlir::Value length(mlir::Value list);
  /// Copies the operations of a block whose arguments have the given values; gives what it yields.
  llvm::SmallVector<mlir::Value> block(mlir::Block &block, mlir::ValueRange arguments);
  mlir::Value element(mlir::Value list, mlir::Value position);
  mlir::Value state(mlir::Operation *recurrence, unsigned number, mlir::Value steps);
  mlir::IRMapping map;

private:
  void clone(mlir::Operation *op);

  LiftedCells &cells;
  mlir::OpBuilder &b;
  Frame frame;
  FrameKeys at;
};

} // namespace dbc::passes
