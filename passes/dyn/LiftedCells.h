// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Cells made of parts of functions, for dyn-lambda-lift: what a function computes for an instance of it, at
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

  /// Whether a value is made of parameters and constants alone.
  static bool isOfModel(mlir::Value value);
  /// Whether it is made neither of these alone nor of structure.
  static bool isComputed(mlir::Value value) { return !isOfModel(value) && !dyn::isStructural(value); }

  /// A new cell whose keys are those of a frame and of `like`, if there is one; with an empty body and the
  /// ranges of its keys. Of `like`'s captured arguments, `captured` in the frame, ranges may be made. `over`
  /// are lists of the frame: a key more, behind those of the frame, for the position in each.
  dyn::CellOp makeCell(llvm::StringRef name, mlir::Location loc, mlir::TypeRange results, mlir::Type surface,
                       const Frame &frame, dyn::CellOp like = {}, mlir::ValueRange captured = {},
                       mlir::ValueRange over = {});
  /// In the body of such a cell: the keys of the frame.
  FrameKeys keysOf(dyn::CellOp cell, const Frame &frame);
  /// In its body or in a range: the others.
  llvm::SmallVector<mlir::Value> ownKeys(dyn::CellOp cell, mlir::Block &block);
  /// Both in their order.
  llvm::SmallVector<mlir::Value> keysFor(dyn::CellOp cell, mlir::ValueRange frame, mlir::ValueRange own);
  /// The function of its frame; null if it has none.
  mlir::Operation *functionOf(mlir::Operation *cell) const { return contexts.lookup(cell).function; }
  /// Marks the keys of frames, which messages do not tell, in cells that are still there.
  void markContexts();

  /// A cell over a frame that computes `values`, which are computed there.
  dyn::CellOp makeValues(llvm::StringRef name, mlir::Location loc, const Frame &frame,
                         mlir::ValueRange values);
  /// Makes such a cell of a value that is used in binders further inside.
  void shareValue(mlir::Value value, const Frame &frame);
  /// Lets what else in a function uses values that cells of makeValues compute read them there.
  void readValues(mlir::Operation *function);
  static llvm::SmallVector<mlir::Type> resultsOf(dyn::CellOp cell);
  static mlir::Type surfaceOf(llvm::ArrayRef<mlir::Type> types);
  /// A call of a cell that has the keys of a frame alone.
  static dyn::CallOp call(mlir::OpBuilder &b, mlir::Location loc, dyn::CellOp cell, mlir::ValueRange keys);
  /// The list whose elements a cell gives that has one key more than `keys`, the position.
  static mlir::Value listOfCalls(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, mlir::Value length,
                                 dyn::CellOp cell, mlir::ValueRange keys);
  /// Writes the bodies of the cells of a function's states that were asked for, and lets the recurrences
  /// themselves be read from them.
  void finishStates(mlir::Operation *function);

  /// Cells of a recursion give no lists (manual, C6). Where one of makeValues has become part of one, a cell
  /// of the list's elements takes its place.
  void spreadLists();
  /// Leaves structure alone in the ranges of keys. Fails, after saying where, if there is more.
  mlir::LogicalResult cleanRanges();

  mlir::SymbolTable &table() { return symbols; }
  /// Calls that had captured arguments.
  llvm::DenseSet<mlir::Operation *> lifted;

private:
  friend class FrameCopy;
  /// The cells of a scan's or fold's states; the number of steps taken is a key behind those of the frame.
  struct States {
    Frame outer;
    dyn::CellOp numbers;                  ///< gives those that are no lists; null if there are none
    llvm::SmallVector<unsigned> position; ///< of each state that is none: where among these
    llvm::SmallVector<dyn::CellOp> lists; ///< of each state that is one: a cell of its elements
    bool done = false;
  };
  States statesOf(mlir::Operation *recurrence, const Frame &outer);
  void fillStates(mlir::Operation *recurrence, const States &entry, dyn::CellOp cell,
                  llvm::ArrayRef<unsigned> numbers);
  void needSteps(mlir::Operation *recurrence, const States &entry);
  void readStates(mlir::Operation *recurrence, const States &entry);
  void spread(dyn::CellOp cell);
  /// Whether an `if` says what a cell of states gives, the first one in its first arm.
  bool isStates(dyn::IfOp branch) const { return statesCells.contains(branch->getParentOp()); }

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::MapVector<mlir::Operation *, States> states; ///< of scans and folds
  llvm::DenseSet<mlir::Operation *> statesCells;     ///< their cells, and those of the elements of these
  struct Computed {
    dyn::CellOp cell;
    Frame frame;
    unsigned result;
    bool read = false;
  };
  llvm::MapVector<mlir::Value, Computed> computed;
  struct Context {
    unsigned first = 0, count = 0;
    mlir::Operation *function = nullptr;
  };
  /// Of each cell: which keys are those of a frame, and whose.
  llvm::MapVector<mlir::Operation *, Context> contexts;
};

} // namespace dbc::passes
