// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Lowers the body of one stage to loops over rows and elements.
#pragma once

#include "ir/Batch/Batch.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/IR/Builders.h"
#include "passes/lower/PackedWeights.h"
#include "passes/lower/Reductions.h"
#include "passes/lower/StageOrder.h"

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
  using Indices = llvm::SmallVector<mlir::Value, 4>;

  /// The column by which the stage's rows name others.
  template <class Op> llvm::StringRef columnOf(Op op) { return batch::relationOf(relations, op).getColumn(); }
  batch::ListRelationOp listOf(batch::SegmentOp op) {
    return relations.lookup<batch::ListRelationOp>(op.getList());
  }

  mlir::Value localFor(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  // Tiles, see StageTiles.cpp
  void emitTiles(const StageStep &step);
  /// Lets callers choose which tiles are computed, where all of the stage is one loop over them.
  void shareTiles();
  void emitElements(llvm::ArrayRef<const Action *> group, mlir::ValueRange at);
  /// Runs what it is given for each element.
  using EachElement = llvm::function_ref<void(llvm::function_ref<void(mlir::ValueRange)>)>;
  void inVectors(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(EachElement)> body);
  kernel::ForOp overlapping(int64_t units, int64_t size, llvm::StringRef name,
                            llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  mlir::Value unitAt(mlir::Value first, mlir::Value number);
  mlir::Value gateElement(mlir::Value gate);

  // Writing
  void emitAll(const StageOrder &order);
  void emitGroup(llvm::ArrayRef<const Action *> group);
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
  bool ordered, repeats;
  StagePlan plan;
  llvm::DenseMap<mlir::Value, mlir::Value> locals;     ///< scratch of materialised values
  llvm::DenseMap<mlir::Value, mlir::Value> tileLocals; ///< scratch of tiled products, for one tile
  llvm::SmallVector<kernel::ForOp> tileLoops;
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
