// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Lowers the body of one stage to loops over rows and elements.
//
// Row-level tensors become either expressions, written where they are used, or MATERIALISED values, kept in
// scratch for the rows of a block. Materialised are results of products, reductions and joins, what these
// need in memory, and what several loops use. Elementwise values of one shape are computed in one loop
// (fusion); each is computed once there.
#pragma once

#include "ir/Batch/Batch.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "passes/Products.h"
#include "passes/lower/PackedWeights.h"
#include "passes/lower/Reductions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace dbc::passes {

class StageToKernel {
public:
  /// `relations` are those of the stage's program.
  StageToKernel(batch::StageOp stage, kernel::FuncOp func, kernel::SpaceOp space,
                const mlir::SymbolTable &relations, PackedWeights &packed);
  mlir::LogicalResult run();

private:
  /// Elements that are a whole number of vectors on every machine; a part is of two such, since GCC writes
  /// loops of 16 short steps out, number by number, before it thinks of vectors.
  static constexpr int64_t kWholeVectors = 16, kPart = 2 * kWholeVectors;
  /// Operations that follow on each other in one expression, at most: more are kept in between.
  static constexpr int kMostSteps = 256;
  using Indices = llvm::SmallVector<mlir::Value, 4>;

  /// One thing to compute: an elementwise value (with its places) or an op with a loop structure of its own.
  struct Action {
    mlir::Value value;                           ///< what is computed; null for an op alone
    mlir::Operation *op = nullptr;               ///< special op, or null
    llvm::SmallVector<mlir::Operation *> writes; ///< writes and scatters of an elementwise value
    llvm::SmallVector<mlir::Value> gates;        ///< of a tiled product: gates to be kept for later
    bool done = false;
  };

  /// The column by which the stage's rows name others.
  template <class Op> llvm::StringRef columnOf(Op op) { return batch::relationOf(relations, op).getColumn(); }
  batch::ListRelationOp listOf(batch::SegmentOp op) {
    return relations.lookup<batch::ListRelationOp>(op.getList());
  }

  // Deciding
  void findActions();
  bool isSpecial(mlir::Operation *op);
  bool loadable(mlir::Value value);
  /// Whether its rows lie in memory one element after the other, so that a product can read them in place.
  bool addressable(mlir::Value value);
  void materialise(mlir::Value value);
  struct Touch {
    mlir::Value value;
    bool same; ///< at the very indices of the one that touches
  };
  void touches(mlir::Value value, bool same, llvm::SmallVectorImpl<Touch> &out, bool root = true);
  bool ready(const Action &action, llvm::ArrayRef<Action *> group);
  void needs(const Action &action, llvm::SmallVectorImpl<Touch> &out);
  /// The action that computes a materialised value or a gate.
  Action *actionFor(mlir::Value value);
  mlir::Value localFor(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  // Tiles, see StageTiles.cpp
  void findTiles();
  bool isTiled(const Action &action) { return action.op && tiles.contains(action.value); }
  llvm::SmallVector<int64_t> shapeOf(const Action &action);
  /// The tiled product that a value is a gate of, or null.
  mlir::Value productOf(mlir::Value value);
  void keepGates(llvm::ArrayRef<Action *> group);
  void emitTiles(llvm::ArrayRef<Action *> group);
  /// Lets callers choose which tiles are computed, where all of the stage is one loop over them.
  void shareTiles();
  void emitElements(llvm::ArrayRef<Action *> group, mlir::ValueRange at);
  /// Runs what it is given for each element.
  using EachElement = llvm::function_ref<void(llvm::function_ref<void(mlir::ValueRange)>)>;
  void inVectors(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(EachElement)> body);
  kernel::ForOp overlapping(int64_t units, int64_t size, llvm::StringRef name,
                            llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  mlir::Value unitAt(mlir::Value first, mlir::Value number);
  mlir::Value gateElement(mlir::Value gate);

  // Writing
  void emitAll();
  void emitGroup(llvm::ArrayRef<Action *> group);
  void emitSpecial(mlir::Operation *op);
  void rows(llvm::function_ref<void()> body);
  void loops(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(mlir::ValueRange)> body,
             bool vector = true);
  /// A loop low .. high - 1 with carried values, whose last ones it gives; its counter is called `name`.
  llvm::SmallVector<mlir::Value> counted(mlir::Value low, mlir::Value high, llvm::StringRef name,
                                         mlir::ValueRange init, Reduction::Next body);
  void store(mlir::Value scalar, mlir::Value value, mlir::ValueRange at);
  void storeOut(mlir::Operation *write, mlir::Value scalar, mlir::ValueRange at);
  mlir::Value element(mlir::Value value, mlir::ValueRange at, bool cached = true);
  mlir::Value expression(mlir::Operation *op, mlir::Value value, mlir::ValueRange at);
  /// Checked arithmetic of whole numbers: what fails is an error of this row's input.
  mlir::Value checkedInt(dyn::IntKind kind, mlir::Value a, mlir::Value b, mlir::Location at);
  /// `value` where `condition` holds, else an error of this row's input, and 0.
  mlir::Value checked(mlir::Location at, kernel::Fault fault, mlir::Value condition, mlir::Value value,
                      mlir::ValueRange numbers, llvm::StringRef what = "");
  mlir::Value patch(dyn::PatchesOp op, mlir::ValueRange at);
  mlir::Value someOf(batch::SegmentOp op);
  mlir::Value constantElement(mlir::DenseElementsAttr dense, mlir::ValueRange at);
  mlir::Value column(llvm::StringRef name);
  /// Where row `row` of an array lies, which was written `ago` levels before: only of buffers that do not
  /// keep all rows that is not at its number.
  mlir::Value inMemory(llvm::StringRef array, mlir::Value row, int64_t ago = 0);
  mlir::Value window(llvm::StringRef array, int64_t ago);
  /// Whether a buffer has one row, for the whole model.
  bool ofModel(mlir::FlatSymbolRefAttr buffer);
  mlir::Value localOf(mlir::Value value);

  /// Result of a product, its bias included.
  mlir::Value resultOf(mlir::linalg::ContractOp op);
  /// What a product multiplies, found once for all its tiles.
  struct Operands {
    llvm::SmallVector<mlir::Value> segments;
    llvm::SmallVector<int64_t> lengths;
    mlir::Value table;
    mlir::Value some; ///< where it is 0 the row is zeros
    std::string weights;
  };
  Operands operandsOf(mlir::linalg::ContractOp op);
  void product(mlir::linalg::ContractOp op, const Operands &operands, mlir::Value tile, mlir::Value into);
  void multiply(mlir::linalg::ContractOp op, const MatMul &product);
  void contract(mlir::linalg::ContractOp op);
  void reduce(dyn::ReduceOp op);
  void softmax(dyn::SoftmaxOp op);
  void segment(batch::SegmentOp op);
  void pick(batch::SegmentOp op);
  void topK(dyn::TopKOp op);
  mlir::Type elementTypeOf(llvm::StringRef array);
  mlir::Value segmentRow(batch::SegmentOp op, mlir::Value first, mlir::Value k);
  void join(mlir::Operation *op);
  mlir::Value rowsOf(mlir::Value value, int64_t offset);
  std::string pack(mlir::linalg::ContractOp op);
  mlir::Value rowNumbers(llvm::StringRef name, llvm::function_ref<mlir::Value()> number);
  Reduction reduction(dyn::ReduceKind kind, mlir::Type element, mlir::Location at);
  mlir::Value reduced(dyn::ReduceKind kind, mlir::Type elementType, int64_t length, mlir::Location at,
                      llvm::function_ref<mlir::Value(mlir::Value)> element);

  mlir::Value integer(int64_t value);
  mlir::Value real(double value);
  mlir::Value addInt(mlir::Value a, mlir::Value b);
  mlir::Value mulInt(mlir::Value a, int64_t b);

  batch::StageOp stage;
  kernel::FuncOp func;
  kernel::SpaceOp space;
  const mlir::SymbolTable &relations;
  PackedWeights &packed;
  mlir::OpBuilder b;
  mlir::Location loc;
  int64_t blockRows;
  int64_t tileUnits; ///< 0: no tiles
  bool ordered, repeats;
  std::vector<std::unique_ptr<Action>> actions;
  llvm::DenseMap<mlir::Value, Action *> actionOf;
  llvm::SetVector<mlir::Value> kept;               ///< materialised values
  llvm::DenseMap<mlir::Value, mlir::Value> locals; ///< their scratch
  llvm::DenseMap<mlir::Value, mlir::Value>
      biased;                               ///< product -> the sum with its bias, materialised in its stead
  llvm::DenseMap<mlir::Value, Gates> tiles; ///< results of products that are computed tile by tile
  llvm::DenseMap<mlir::Value, mlir::Value> tileLocals; ///< their scratch for one tile
  llvm::SmallVector<kernel::ForOp> tileLoops;
  llvm::DenseSet<mlir::Value> joined; ///< joins that a product makes itself, of segments
  bool failed_ = false;
  // Where code is being written
  mlir::Value base, count, i, row;
  bool caching = false;                           ///< inside the loop body of elementwise values
  llvm::DenseMap<mlir::Value, mlir::Value> cache; ///< its scalars, at `cacheAt`
  Indices cacheAt;
  mlir::Value tileUnit; ///< the unit's place in its tile
  llvm::StringMap<mlir::Value> columnCache;
  llvm::StringMap<mlir::Value> rowNumbersOf;            ///< by column
  llvm::DenseMap<mlir::Attribute, mlir::Value> windows; ///< by space, levels that are kept, and `ago`
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> inWindows; ///< rows less windows
};

} // namespace dbc::passes
