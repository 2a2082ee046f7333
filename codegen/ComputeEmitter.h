// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `void Plan::compute(dbc::Run &run)`: the stages in order. Where a device computes them other things stand
// around the same loops, see DeviceComputeEmitter.cpp.
#pragma once

#include "codegen/Emitters.h"
#include "llvm/ADT/StringMap.h"

namespace dbc::codegen {

class ComputeEmitter {
public:
  ComputeEmitter(const ModelNames &model, const Program &program, Writer &out)
      : model_(model), program_(program), out_(out) {}
  virtual ~ComputeEmitter() = default;
  virtual void emit();

protected:
  using Ticks = std::pair<std::string, std::string>;
  Ticks openTicks(kernel::SpaceOp space);
  void eachTick(kernel::SpaceOp space,
                llvm::function_ref<void(const std::string &ticks, const std::string &tick)> body);
  void memory();
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
  std::string work(mlir::Operation &loop);
  /// Numbers from row to row of a buffer.
  virtual int64_t strideOf(kernel::BufferOp buffer) {
    return model_.array(program_, buffer.getSymName()).rowSize();
  }
  /// A number of elements: rows of the buffer times numbers of a row.
  std::string sizeOf(kernel::BufferOp buffer);
  void outputs();
  void give(kernel::OutputOp output, const std::string &values);

  /// What the buffers are members of.
  virtual std::string member(kernel::BufferOp buffer);
  virtual void together(mlir::Block &loops);
  /// Of a loop of `ticks` ticks: how many of them are launched stage by stage, before the others.
  virtual std::string apart(mlir::Operation &, const std::string &ticks) { return ticks; }
  /// What runs the others.
  virtual void rest(mlir::Operation &, const std::string & /*ticks*/) {}
  virtual void keep(kernel::KeepOp op, const std::string &ticks, const std::string &tick);

  const ModelNames &model_;
  const Program &program_;
  Writer &out_;
  NameScope locals_{&program_.members};
  bool together_ = false;              ///< inside loops that may run at the same time
  llvm::StringMap<std::string> ticks_; ///< of the loops that are open: by the group's or the space's symbol
};

} // namespace dbc::codegen
