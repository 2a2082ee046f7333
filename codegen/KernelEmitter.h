// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A stage as a CUDA kernel, and the arrays that the kernels of an entry are given.
#pragma once

#include "codegen/FunctionEmitter.h"

namespace dbc::codegen {

/// What the kernels of a program read and write: the members of its `Arrays`.
class DeviceArrays {
public:
  DeviceArrays(const ModelNames &model, const Program &program);

  struct Column {
    kernel::SpaceOp space;
    std::string column, member;
  };
  std::vector<Column> columns;
  std::vector<std::pair<kernel::SpaceOp, std::string>> orders; ///< order lists
  std::vector<std::string> fields;                             ///< symbols of fields and arguments
  std::vector<std::string> params;                             ///< symbols of parameters
  std::vector<kernel::BufferOp> buffers;                       ///< those of the model too
  std::vector<kernel::WeightsOp> weights;
  std::vector<mlir::Operation *> checks; ///< by their number in fault records

  /// A loop over levels or steps that is one launch.
  struct Loop {
    mlir::Operation *op;
    std::string name;                   ///< of its kernel
    std::vector<kernel::FuncOp> stages; ///< in order
    std::vector<std::string> ticks;     ///< members that hold the bounds of each one's ticks
  };
  std::vector<Loop> loops;
  std::vector<std::pair<kernel::SpaceOp, std::string>> ticks; ///< bounds of ticks: members
  const Loop *loop(mlir::Operation *op) const;

  const std::string &column(kernel::SpaceOp space, llvm::StringRef name) const;
  /// "" if no kernel asks for it.
  std::string order(kernel::SpaceOp space) const;
  int check(mlir::Operation *op) const;
};

class KernelEmitter : public FunctionEmitter {
public:
  KernelEmitter(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
                kernel::FuncOp func);
  /// Bytes that a block of threads needs, of global and of shared memory; after emit().
  int64_t blockScratch() const { return blockScratch_; }
  int64_t sharedBytes() const { return sharedBytes_; }
  /// Rows of a block, and tiles.
  int64_t rows();
  int64_t tiles();

private:
  std::string arraySource(llvm::StringRef symbol) override;
  std::string columnSource(kernel::SpaceOp space, llvm::StringRef column) override;
  std::string weightsAlias(kernel::WeightsOp weights, const std::string &name) override;
  Expr orderedRow(kernel::OrderOp op) override;
  void emitStageHead(Writer &out) override;
  void emitFor(kernel::ForOp op) override;
  void emitBlocks(kernel::BlocksOp op) override;
  void emitLocal(kernel::LocalOp op) override;
  void emitProduct(kernel::ProductOp op) override;
  void emitMultiply(kernel::MultiplyOp op) override;
  void emitCheck(kernel::CheckOp op) override;
  void emitInt(kernel::IntOp op) override;
  void emitOfThreads(mlir::Operation *op) override;
  std::string segment(mlir::Value rows, int64_t length);
  std::string fault(mlir::Operation *op, const std::string &row, const std::vector<std::string> &numbers);

  const DeviceArrays &arrays_;
  std::string work_; ///< the variable that numbers blocks of rows and tiles
  int64_t blockScratch_ = 0, sharedBytes_ = 0;
};

} // namespace dbc::codegen
