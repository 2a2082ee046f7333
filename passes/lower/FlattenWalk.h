// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One walk over a `dyn` function, see Flatten.h.
#pragma once

#include "passes/lower/FlattenArithmetic.h"

namespace dbc::passes {

/// Writes the calls or the index function of one cell or entry; the latter with its stages.
class Walk {
public:
  Walk(ProgramWriter &program, CellMap &cells, kernel::FuncOp func, mlir::Operation *owner, SpaceInfo *space);
  mlir::LogicalResult run();

private:
  /// Writes a `place` function: from the keys of an instance to its place.
  void place(CellInfo &cell);
  using Kind = AbstractValue::Kind;
  using From = ListInfo::From;

  // Structure
  /// The symbol of an array of a field or argument: of a part, on a level of lists in lists.
  using ArrayOf = llvm::function_ref<std::string(kernel::FieldPart, int level)>;
  AbstractValue fromArray(mlir::Location loc, mlir::Type type, mlir::Value row, ArrayOf array);
  AbstractValue argument(mlir::Location loc, mlir::Type type, unsigned leaf, mlir::Value input);
  static ListInfo storedList(dyn::ListType type, int level, ArrayOf array);
  void only(mlir::Operation *op, mlir::Region &region, RowContext at);
  bool allStructural(mlir::ArrayRef<mlir::Region *> regions, unsigned result);
  llvm::SmallVector<mlir::Value> withResults(kernel::IfOp cond, mlir::TypeRange types,
                                             mlir::ArrayRef<llvm::SmallVector<mlir::Value>> values,
                                             unsigned n);
  void block(mlir::Block &block, RowContext at);
  void op(mlir::Operation *op, RowContext at);
  void field(dyn::FieldOp op, RowContext at);
  void bindKeys(dyn::CellOp cell, mlir::Block &block, mlir::ValueRange numbers);
  mlir::Value placeIn(CellInfo &cell, mlir::Location loc, mlir::ValueRange keys);
  void site(dyn::SiteOp op);
  void caller(dyn::CallerOp op);
  void call(dyn::CallOp op, RowContext at);
  void calledLists(dyn::CallOp op, RowContext at);
  void every(dyn::CallOp op, CellInfo &cell);
  ListInfo reached(mlir::Location loc, dyn::NodeType type, mlir::Value node);
  ListInfo lengthsIn(mlir::Value list, RowContext at, llvm::DenseSet<mlir::Operation *> &walked);
  void walkFor(mlir::Value value, RowContext at, llvm::DenseSet<mlir::Operation *> &walked);
  void match(dyn::MatchOp op, RowContext at);
  void branch(mlir::Operation *op, mlir::ArrayRef<mlir::Region *> arms, mlir::ArrayRef<std::string> names,
              llvm::function_ref<mlir::Value(unsigned)> isArm, RowContext at);
  /// An arm that was walked; its rows are pushed when nothing more can need a column of them.
  struct Arm {
    RowContext at;
    mlir::Block *block; ///< of the structure function
    std::vector<AbstractValue> yields;
  };
  kernel::IfOp walkArms(mlir::Operation *op, mlir::ArrayRef<mlir::Region *> regions,
                        mlir::ArrayRef<std::string> names, llvm::function_ref<mlir::Value(unsigned)> isArm,
                        mlir::ArrayRef<std::string> buffers, RowContext at, std::vector<Arm> &arms);
  void returned(mlir::Operation *op, RowContext at);
  void returnList(mlir::Location loc, unsigned leaf, const ListInfo &list, RowContext at, unsigned depth);

  // Lists
  void map(dyn::MapOp op, RowContext at);
  void mapCalls(dyn::MapOp op, const std::vector<ListInfo> &lists);
  void filter(dyn::FilterOp op, RowContext at);
  void recurrence(mlir::Operation *op, mlir::ValueRange lists, mlir::ValueRange init, mlir::Block &body,
                  bool back, bool stops, RowContext at);
  void reduceList(dyn::ReduceListOp op, RowContext at);
  void recurrenceCalls(mlir::Operation *op, const std::vector<ListInfo> &lists, mlir::ValueRange init,
                       mlir::Block &body, bool fold);
  ListInfo lengthsOf(ListInfo list);
  /// The lists of a recurrence's states.
  struct StateList {
    ListInfo first;     ///< before the first step
    mlir::Value period; ///< rows of elements from one state's to the next one's
  };
  StateList stateList(mlir::Location loc, llvm::StringRef name, const ListInfo &list, llvm::StringRef carried,
                      mlir::Value states, RowContext at);
  ListInfo lastList(mlir::Location loc, llvm::StringRef name, const ListInfo &first, mlir::Value period,
                    mlir::Value states, const AbstractValue &count, RowContext at);
  void checkLengths(mlir::Location loc, const ListInfo &list, const ListInfo &before, llvm::StringRef what);
  ListInfo listOfStates(mlir::Location loc, mlir::Value length,
                        llvm::function_ref<ListInfo(mlir::Value)> state);
  void copyInto(mlir::Location loc, const ListInfo &list, const ListInfo &to, RowContext at);
  void copyRows(mlir::Location loc, const ListInfo &list, const ListInfo &copy, RowContext at);
  std::string countSteps(mlir::Location loc, llvm::StringRef name, RowContext at, RowContext inner);
  void listOp(mlir::Operation *op, RowContext at);
  /// The element of a list at position `j` (i32).
  AbstractValue element(const ListInfo &list, mlir::Value j);
  mlir::Value positionRow(const ListInfo &list, mlir::Value j);
  ListInfo asComputed(mlir::Operation *op, const ListInfo &list, RowContext at);
  void joinLists(mlir::Operation *op, unsigned n, std::vector<Arm> &arms, RowContext at);
  struct Copies {
    SpaceInfo *rows = nullptr; ///< of structural elements, or of the bounds of lists
    std::string buffer;        ///< of computed elements
    std::shared_ptr<Copies> inner;
  };
  Copies copiesFor(mlir::Location loc, const ListInfo &list, bool structural, const std::string &name,
                   RowContext at);
  ListInfo copyTo(mlir::Location loc, const ListInfo &list, const Copies &copies, RowContext at);
  /// `times` such lists one behind the other, once if it is not given; gives the first.
  ListInfo reserve(mlir::Location loc, const ListInfo &like, const Copies &copies, mlir::Value times);
  SpaceInfo *copiesOf(mlir::Location loc, const ListInfo &list, llvm::StringRef name);
  ListInfo copyStructural(mlir::Location loc, const ListInfo &list, SpaceInfo *copies);
  ListInfo copyComputed(mlir::Location loc, const ListInfo &list, llvm::StringRef buffer, RowContext at);

  static bool callsCells(mlir::Block &body);

  ProgramWriter &program;
  CellMap &cells;
  RowContext top;
  StructureWriter structure;
  Environment env;
  StageWriter stages;
  Arithmetic arithmetic;
  mlir::OpBuilder &b; ///< the structure function
};

} // namespace dbc::passes
