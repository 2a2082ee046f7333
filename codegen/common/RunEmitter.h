// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The stages of a program in order, over all rows or tick by tick: what the CPU (cpu/ComputeEmitter.cpp) and
// a device (cuda/DeviceComputeEmitter.cpp) have in common.
#pragma once

#include "codegen/common/ModelNames.h"
#include "codegen/common/Writer.h"
#include "llvm/ADT/StringMap.h"

namespace dbc::codegen {

class RunEmitter {
public:
  RunEmitter(const ModelNames &model, const Program &program, Writer &out)
      : model_(model), program_(program), out_(out) {}
  virtual ~RunEmitter() = default;

protected:
  using Ticks = std::pair<std::string, std::string>;
  Ticks openTicks(kernel::SpaceOp space);
  void eachTick(kernel::SpaceOp space,
                llvm::function_ref<void(const std::string &ticks, const std::string &tick)> body);
  /// Memory that buffers share: what its pointer is called, its C++ type, elements, and the lines that set
  /// the members to it. Of one buffer only the type and the elements matter.
  struct SharedMemory {
    std::string name, type, size;
    std::vector<std::string> members;
  };
  SharedMemory sharedMemory(const Slot &slot);
  void block(mlir::Block &ops, const std::string &outerTick) {
    for (mlir::Operation &op : ops)
      one(op, outerTick);
  }
  void one(mlir::Operation &op, const std::string &outerTick);
  /// Numbers from row to row of a buffer.
  virtual int64_t strideOf(kernel::BufferOp buffer) {
    return model_.array(program_, buffer.getSymName()).rowSize();
  }
  /// A number of elements: rows of the buffer times numbers of a row.
  std::string sizeOf(kernel::BufferOp buffer);
  /// Copies rows, which lie at `values`, where the results are.
  void give(kernel::OutputOp output, const std::string &values);

  /// What the buffers are members of.
  virtual std::string member(kernel::BufferOp buffer);
  /// Loops that need nothing of one another.
  virtual void together(mlir::Block &loops) = 0;
  /// Of a loop of `ticks` ticks: how many of them are launched stage by stage, before the others.
  virtual std::string apart(mlir::Operation &, const std::string &ticks) { return ticks; }
  /// What runs the others.
  virtual void rest(mlir::Operation &, const std::string & /*ticks*/) {}
  /// Which rows a `while` keeps.
  virtual void keep(kernel::KeepOp op, const std::string &ticks, const std::string &tick) = 0;

  const ModelNames &model_;
  const Program &program_;
  Writer &out_;
  NameScope locals_{&program_.members};
  std::string worker_;                 ///< inside loops that may run at the same time: which one runs them
  llvm::StringMap<std::string> ticks_; ///< of the loops that are open: by the group's or the space's symbol
};

} // namespace dbc::codegen
