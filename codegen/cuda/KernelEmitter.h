// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A stage as a function of CUDA.
#pragma once

#include "codegen/common/FunctionEmitter.h"
#include "codegen/cuda/DeviceArrays.h"

namespace dbc::codegen {

/// An array that a stage with slices of rows adds up: where its numbers are in a slice's, and how many.
struct SliceSums {
  llvm::StringRef array;
  int64_t offset, numbers;
};

class KernelEmitter : public FunctionEmitter {
public:
  KernelEmitter(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
                kernel::FuncOp func);
  /// Bytes of shared memory that a block of threads needs, in large-M tiles, too.
  int64_t sharedBytes() const { return blockBytes(kernel::Memory::Shared); }
  int64_t largeMSharedBytes() const { return blockBytes(kernel::Memory::Shared, /*largeM=*/true); }
  /// Rows of a block, and tiles.
  int64_t rows() const { return blocks_.rows; }
  int64_t tiles() const { return blocks_.tiles; }
  /// Whether its function and its kernel are templates of the rows of a block: those that its own kernel has,
  /// and in large-M tiles more.
  bool hasLargeM() const { return largeMRows() > 0; }
  int64_t largeMRows() const { return kernel::FuncOp(func_).getLargeM() ? kernel::kLargeMRows : 0; }
  /// Of the tiles those that a block has at once there.
  int64_t largeMTiles() const { return blocks_.largeMTiles; }
  /// Blocks of threads that a launch has at most; nothing: as many as there are.
  std::optional<uint64_t> mostBlocks() const { return kernel::FuncOp(func_).getMostBlocks(); }
  /// Whether it adds rows up: then a block goes through all of them, for its tile.
  bool sums() const { return kernel::FuncOp(func_).getSums(); }
  /// Slices of the rows that it has at most, each with sums of its own.
  int64_t slices() const { return kernel::FuncOp(func_).getSliceCount(); }
  /// Then: what is added up, and the members of `Arrays` that hold it.
  std::vector<SliceSums> sliceSums() const;
  int64_t numbersOfSlice() const;
  std::string member(llvm::StringRef array) const { return model_.array(program_, array).member; }
  std::string ofSlices() const { return member(kernel::FuncOp(func_).getSlicesAttr().getSums().getValue()); }
  /// Blocks that share the tiles of the same rows there; 0 where there are no large-M tiles.
  int64_t largeMShares() const { return blocks_.largeMShares; }
  /// The matrices that tensor cores read: its function is given them.
  std::vector<kernel::WeightsOp> matrices() const;
  /// The loop that may be one launch with the stage in it; null: none. Then its function is a template of the
  /// blocks of threads that share its rows, see dbc/cuda/loops.h, and is given them.
  const DeviceArrays::Loop *loop() const { return arrays_.loopOf(func_); }
  /// Members of `Arrays` that its function names; after emit().
  const DeviceArrays::Uses &uses() const { return uses_; }
  /// Whether it may find something wrong: then its function is given the launch it is in.
  bool checks() const;

private:
  int64_t blockBytes(kernel::Memory memory, bool largeM = false) const {
    return kernel::blockBytes(func_, memory, model_.bytes("real"), largeM);
  }
  std::string arraySource(llvm::StringRef symbol) override;
  std::string arrayType(const Array &array, const std::string &pointer) override;
  bool restricts(llvm::StringRef symbol) override;
  bool isSynced(llvm::StringRef symbol) const;
  Expr reading(llvm::StringRef symbol, const Expr &element) override;
  std::string writing(llvm::StringRef symbol, const std::string &element, const std::string &value) override;
  std::string indexArraySource(kernel::IndexSetOp indexSet, llvm::StringRef indexArray) override;
  std::string weightsAlias(kernel::WeightsOp weights, const std::string &name) override;
  Expr orderedRow(kernel::OrderOp op) override;
  std::string dropoutSource() override { return uses_("dropout"); }
  void emitStageHead(Writer &out) override;
  void emitFor(kernel::ForOp op) override;
  void emitBlocks(kernel::BlocksOp op) override;
  void emitLocal(kernel::LocalOp op) override;
  void emitProduct(kernel::ProductOp op) override;
  void emitMultiply(kernel::MultiplyOp op) override;
  void emitOuter(kernel::OuterOp op) override;
  void emitCheck(kernel::CheckOp op) override;
  void emitInt(kernel::IntOp op) override;
  void emitOfThreads(mlir::Operation *op) override;
  void emitWrite(const std::string &statement) override;
  void emitRowsInOrder(kernel::BlocksOp op);
  bool storesOneByOne(llvm::StringRef array);
  std::string sumsOfSlice(llvm::StringRef array, const std::string &base);
  void emitWarps(kernel::WarpsOp op);
  void emitLanes(kernel::LanesOp op);
  std::string segment(mlir::Value rows, int64_t length, bool onTensorCores = false);
  /// Rows of a block, as C++ says it.
  std::string rowsText() const { return hasLargeM() ? "kRows" : std::to_string(rows()); }
  /// A number of each kernel: the one in large-M tiles may be another.
  std::string either(int64_t number, int64_t largeM) const;
  void emitShared(kernel::LocalOp op, const std::string &element, const std::string &name);
  void emitSums(kernel::LocalOp op, const std::string &element, const std::string &name);
  std::string recordError(mlir::Operation *op, const std::string &row,
                          const std::vector<std::string> &numbers);
  /// `condition`, where one thread alone is to act on it.
  std::string ofOneThread(const Expr &condition);
  void addSum(std::string words);

  const DeviceArrays &arrays_;
  const StageBlocks blocks_;
  DeviceArrays::Uses uses_;
  std::string slices_; ///< the variable that says how many slices of the rows there are, where there are some
  std::string work_;   ///< the variable that says which rows and which tile a block of threads has
  std::string lane_; ///< where the first lane of a warp alone writes: the variable that says which lane it is
  std::vector<std::string> sums_; ///< how numbers are added up, in words
  /// Where a block may have several tiles at once: the first one and the one in hand; what begins the
  /// declaration of what the product gives of a tile, and its size.
  std::string firstTile_, tile_, arrayOfTile_, sizeOfTile_;
  std::string allSums_; ///< what warps add up of all products
};

} // namespace dbc::codegen
