// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One walk over a `dyn` function, see Flatten.h.
#pragma once

#include "mlir/IR/IRMapping.h"
#include "passes/lower/FlattenProgram.h"

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
  bool isStructural(mlir::Value value);
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
  AbstractValue segment(mlir::Location loc, mlir::Type type, llvm::StringRef name, batch::ReduceKind kind,
                        const ListInfo &list, RowContext at, const AbstractValue &index = {},
                        const AbstractValue &when = {});
  /// The buffer that says which rows of a space there are; empty: all.
  std::string aliveIn(SpaceInfo *space);
  /// Makes that buffer: rows are there for which `taken` holds, if it is given, and whose parent is there.
  /// With `after`, rows of a recurrence: until a step is computed, none follows it, in row `after` of the
  /// same truths.
  void keep(mlir::Location loc, SpaceInfo *space, const AbstractValue &taken, mlir::Value after = {});
  AbstractValue stepOf(const ListInfo &list, mlir::Value j);
  std::string countSteps(mlir::Location loc, llvm::StringRef name, RowContext at, RowContext inner);
  void listOp(mlir::Operation *op, RowContext at);
  /// The element of a list at position `j` (i32).
  AbstractValue element(const ListInfo &list, mlir::Value j);
  mlir::Value positionRow(const ListInfo &list, mlir::Value j);
  /// A list of lists like `inner`, whose bounds stand in columns of a space.
  static ListInfo listOfLists(const ListInfo &inner, const SpaceInfo &space, std::string firsts,
                              std::string lengths);
  mlir::Value asColumn(mlir::Value value);
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
  /// A loop 0 .. length - 1; `body` writes one round.
  kernel::ForOp loop(mlir::Location loc, mlir::Value length, llvm::function_ref<void(mlir::Value)> body);
  /// Whether a binder goes, once, through a field or argument of what this function runs for, so that all its
  /// rows together are no more than the input has.
  bool isOwn(mlir::Operation *binder);
  /// The input must be allowed `count` rows in each of `spaces`.
  void claim(mlir::Location loc, mlir::Value count, llvm::ArrayRef<SpaceInfo *> spaces);

  // Numbers
  void checkIndex(mlir::Location loc, mlir::Value value, int64_t bound);
  bool structuralOp(mlir::Operation *op, RowContext at);
  void computed(mlir::Operation *op, RowContext at);
  void check(mlir::Location loc, kernel::Fault fault, mlir::Value condition, llvm::StringRef what,
             mlir::ValueRange values);

  // Stages
  /// Starts a stage over the space at `at`, for the rows that are there.
  batch::StageOp stage(mlir::Location loc, llvm::StringRef name, RowContext at);
  batch::StageOp stageOfAll(mlir::Location loc, llvm::StringRef name, RowContext at);
  /// The value of a known at this row, inside a stage.
  mlir::Value load(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source, const AbstractValue &known,
                   RowContext at);
  /// A clone of what a Model value is made of.
  mlir::Value cloneModel(mlir::OpBuilder &b, mlir::Value source);
  mlir::Value cloneModel(mlir::OpBuilder &b, mlir::Value source, mlir::IRMapping &cloned);
  /// Gives buffers that were made in this walk other names, where they are used.
  void rename(const llvm::StringMap<std::string> &names);
  /// The column of a space that holds `value` at each row.
  std::string column(SpaceInfo *space, mlir::Value value, llvm::StringRef hint);
  void push(RowContext at);
  /// Writes the value into `buffer` at this row, or through a column, in a stage of its own.
  void write(mlir::Location loc, mlir::Value source, const AbstractValue &value, llvm::StringRef buffer,
             RowContext at, mlir::Value row = {});

  AbstractValue known(mlir::Value value);
  void set(mlir::Value value, AbstractValue k) { env[value] = std::move(k); }
  mlir::Value integer(int64_t value);
  mlir::Value structural(mlir::Value value);
  bool isOfConstants(const AbstractValue &k);
  bool usesParam(mlir::Operation *op);
  std::string label(mlir::Operation *op, RowContext at);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  bool isZero(mlir::Value v);

  ProgramWriter &program;
  CellMap &cells;
  kernel::FuncOp func;
  mlir::Operation *owner;
  bool indexing;
  RowContext top;
  mlir::OpBuilder b; ///< the structure function
  bool failed = false;
  std::vector<batch::StageOp> made; ///< in this walk
  llvm::DenseMap<mlir::Value, AbstractValue> env;
  llvm::DenseMap<mlir::Value, bool> ofConstants;    ///< see isOfConstants
  llvm::DenseMap<mlir::Operation *, bool> ofParams; ///< see usesParam
  llvm::StringMap<bool> own; ///< buffers made in this walk, which may be renamed to a result's
};

} // namespace dbc::passes
