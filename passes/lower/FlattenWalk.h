// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One walk over a `dyn` function, see Flatten.h.
#pragma once

#include "passes/lower/Flatten.h"

namespace dbc::passes {

/// Where code is being written: the innermost space and its row. Without a space in the walk that writes
/// calls.
struct Place {
  SpaceInfo *space = nullptr;
  mlir::Value row;
};

/// Writes the calls or the index function of one cell or entry; the latter with its stages.
class Walk {
public:
  Walk(Flattening &f, kernel::FuncOp func, mlir::Operation *owner, bool indexing, SpaceInfo *space);
  void run(mlir::Region &region);
  /// Writes a `place` function: from the keys of an instance to its place.
  void place(Flattening::Cell &cell);

private:
  using Kind = Known::Kind;
  using From = ListInfo::From;

  // Structure
  /// The symbol of an array of a field or argument: of a part, on a level of lists in lists.
  using ArrayOf = llvm::function_ref<std::string(kernel::FieldPart, int level)>;
  Known fromArray(mlir::Location loc, mlir::Type type, mlir::Value row, ArrayOf array);
  Known argument(mlir::Location loc, mlir::Type type, unsigned leaf, mlir::Value input);
  static ListInfo storedList(dyn::ListType type, int level, ArrayOf array);
  void only(mlir::Operation *op, mlir::Region &region, Place at);
  bool allStructural(mlir::ArrayRef<mlir::Region *> regions, unsigned result);
  bool isStructural(mlir::Value value);
  llvm::SmallVector<mlir::Value> withResults(kernel::IfOp cond, mlir::TypeRange types,
                                             mlir::ArrayRef<llvm::SmallVector<mlir::Value>> values,
                                             unsigned n);
  void block(mlir::Block &block, Place at);
  void op(mlir::Operation *op, Place at);
  void field(dyn::FieldOp op, Place at);
  void bindKeys(dyn::CellOp cell, mlir::Block &block, mlir::ValueRange numbers);
  mlir::Value placeIn(Flattening::Cell &cell, mlir::Location loc, mlir::ValueRange keys);
  void site(dyn::SiteOp op);
  void caller(dyn::CallerOp op);
  void call(dyn::CallOp op, Place at);
  void calledLists(dyn::CallOp op, Place at);
  void every(dyn::CallOp op, Flattening::Cell &cell);
  ListInfo reached(mlir::Location loc, dyn::NodeType type, mlir::Value node);
  ListInfo lengthsIn(mlir::Value list, Place at, llvm::DenseSet<mlir::Operation *> &walked);
  void walkFor(mlir::Value value, Place at, llvm::DenseSet<mlir::Operation *> &walked);
  void match(dyn::MatchOp op, Place at);
  void branch(mlir::Operation *op, mlir::ArrayRef<mlir::Region *> arms, mlir::ArrayRef<std::string> names,
              llvm::function_ref<mlir::Value(unsigned)> isArm, Place at);
  /// An arm that was walked; its rows are pushed when nothing more can need a column of them.
  struct Arm {
    Place at;
    mlir::Block *block; ///< of the structure function
    std::vector<Known> yields;
  };
  kernel::IfOp walkArms(mlir::Operation *op, mlir::ArrayRef<mlir::Region *> regions,
                        mlir::ArrayRef<std::string> names, llvm::function_ref<mlir::Value(unsigned)> isArm,
                        mlir::ArrayRef<std::string> buffers, Place at, std::vector<Arm> &arms);
  void returned(mlir::Operation *op, Place at);
  void returnList(mlir::Location loc, unsigned leaf, const ListInfo &list, Place at, unsigned depth);

  // Lists
  void map(dyn::MapOp op, Place at);
  void mapCalls(dyn::MapOp op, const std::vector<ListInfo> &lists);
  void filter(dyn::FilterOp op, Place at);
  void recurrence(mlir::Operation *op, mlir::ValueRange lists, mlir::ValueRange init, mlir::Block &body,
                  bool back, bool stops, Place at);
  void reduceList(dyn::ReduceListOp op, Place at);
  void recurrenceCalls(mlir::Operation *op, const std::vector<ListInfo> &lists, mlir::ValueRange init,
                       mlir::Block &body, bool fold);
  ListInfo lengthsOf(ListInfo list);
  /// The lists of a recurrence's states.
  struct StateList {
    ListInfo first;     ///< before the first step
    mlir::Value period; ///< rows of elements from one state's to the next one's
  };
  StateList stateList(mlir::Location loc, llvm::StringRef name, const ListInfo &list, llvm::StringRef carried,
                      mlir::Value states, Place at);
  static const ListInfo &leafOf(const ListInfo &list);
  static ListInfo carriedBy(llvm::StringRef loop, ListInfo list);
  ListInfo lastList(mlir::Location loc, llvm::StringRef name, const ListInfo &first, mlir::Value period,
                    mlir::Value states, const Known &count, Place at);
  void checkLengths(mlir::Location loc, const ListInfo &list, const ListInfo &before, llvm::StringRef what);
  ListInfo listOfStates(mlir::Location loc, mlir::Value length,
                        llvm::function_ref<ListInfo(mlir::Value)> state);
  void copyInto(mlir::Location loc, const ListInfo &list, const ListInfo &to, Place at);
  void copyRows(mlir::Location loc, const ListInfo &list, const ListInfo &copy, Place at);
  Known segment(mlir::Location loc, mlir::Type type, llvm::StringRef name, batch::ReduceKind kind,
                const ListInfo &list, Place at, const Known &index = {}, const Known &when = {});
  /// The buffer that says which rows of a space there are; empty: all.
  std::string aliveIn(SpaceInfo *space);
  /// Makes that buffer: rows are there for which `taken` holds, if it is given, and whose parent is there.
  /// With `after`, rows of a recurrence: until a step is computed, none follows it, in row `after` of the
  /// same truths.
  void keep(mlir::Location loc, SpaceInfo *space, const Known &taken, mlir::Value after = {});
  Known stepOf(const ListInfo &list, mlir::Value j);
  std::string countSteps(mlir::Location loc, llvm::StringRef name, Place at, Place inner);
  void listOp(mlir::Operation *op, Place at);
  /// The element of a list at position `j` (i32).
  Known element(const ListInfo &list, mlir::Value j);
  mlir::Value positionRow(const ListInfo &list, mlir::Value j);
  /// A list of lists like `inner`, whose bounds stand in columns of a space.
  static ListInfo listOfLists(const ListInfo &inner, const SpaceInfo &space, std::string firsts,
                              std::string lengths);
  /// Whether the structure function knows the elements, those of the innermost lists.
  static bool isStructural(const ListInfo &list);
  mlir::Value asColumn(mlir::Value value);
  ListInfo asComputed(mlir::Operation *op, const ListInfo &list, Place at);
  void joinLists(mlir::Operation *op, unsigned n, std::vector<Arm> &arms, Place at);
  struct Copies {
    SpaceInfo *rows = nullptr; ///< of structural elements, or of the bounds of lists
    std::string buffer;        ///< of computed elements
    std::shared_ptr<Copies> inner;
  };
  Copies copiesFor(mlir::Location loc, const ListInfo &list, bool structural, const std::string &name,
                   Place at);
  ListInfo copyTo(mlir::Location loc, const ListInfo &list, const Copies &copies, Place at);
  /// `times` such lists one behind the other, once if it is not given; gives the first.
  ListInfo reserve(mlir::Location loc, const ListInfo &like, const Copies &copies, mlir::Value times);
  SpaceInfo *copiesOf(mlir::Location loc, const ListInfo &list, llvm::StringRef name);
  ListInfo copyStructural(mlir::Location loc, const ListInfo &list, SpaceInfo *copies);
  ListInfo copyComputed(mlir::Location loc, const ListInfo &list, llvm::StringRef buffer, Place at);

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
  mlir::Type typeOf(llvm::StringRef array);
  bool structuralOp(mlir::Operation *op, Place at);
  void computed(mlir::Operation *op, Place at);
  void check(mlir::Location loc, kernel::Fault fault, mlir::Value condition, llvm::StringRef what,
             mlir::ValueRange values);

  // Stages
  /// Starts a stage over the space at `at`, for the rows that are there.
  batch::StageOp stage(mlir::Location loc, llvm::StringRef name, Place at);
  batch::StageOp stageOfAll(mlir::Location loc, llvm::StringRef name, Place at);
  /// The value of a known at this row, inside a stage.
  mlir::Value load(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source, const Known &known, Place at);
  /// A clone of what a Model value is made of.
  mlir::Value cloneModel(mlir::OpBuilder &b, mlir::Value source);
  mlir::Value cloneModel(mlir::OpBuilder &b, mlir::Value source, mlir::IRMapping &cloned);
  /// Gives buffers that were made in this walk other names, where they are used.
  void rename(const llvm::StringMap<std::string> &names);
  /// The column of a space that holds `value` at each row.
  std::string column(SpaceInfo *space, mlir::Value value, llvm::StringRef hint);
  void push(Place at);
  /// Writes the value into `buffer` at this row, or through a column, in a stage of its own.
  void write(mlir::Location loc, mlir::Value source, const Known &value, llvm::StringRef buffer, Place at,
             mlir::Value row = {});

  Known known(mlir::Value value);
  void set(mlir::Value value, Known k) { env[value] = std::move(k); }
  mlir::Value integer(int64_t value);
  mlir::Value structural(mlir::Value value);
  bool isOfConstants(const Known &k);
  bool usesParam(mlir::Operation *op);
  std::string label(mlir::Operation *op, Place at);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  bool isZero(mlir::Value v);

  Flattening &f;
  kernel::FuncOp func;
  mlir::Operation *owner;
  bool indexing;
  Place top;
  mlir::OpBuilder b;                 ///< the structure function
  mlir::Operation *before = nullptr; ///< of the program: what stands in front of this walk's stages
  llvm::DenseMap<mlir::Value, Known> env;
  llvm::DenseMap<mlir::Value, bool> ofConstants;    ///< see isOfConstants
  llvm::DenseMap<mlir::Operation *, bool> ofParams; ///< see usesParam
  llvm::StringMap<bool> own; ///< buffers made in this walk, which may be renamed to a result's
};

} // namespace dbc::passes
