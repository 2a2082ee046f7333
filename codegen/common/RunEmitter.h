// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The stages of a program in order, over all rows or by time step: what the CPU (cpu/ComputeEmitter.cpp) and
// a device (cuda/DeviceComputeEmitter.cpp) have in common.
#pragma once

#include "codegen/common/BufferMemory.h"
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
  using TimeSteps = std::pair<std::string, std::string>;
  TimeSteps openTimeSteps(kernel::IndexSetOp indexSet);
  void eachTimeStep(kernel::IndexSetOp indexSet,
                    llvm::function_ref<void(const std::string &timeSteps, const std::string &timeStep)> body);
  SharedMemory sharedMemory(const Storage &storage);
  void block(mlir::Block &ops, const std::string &outerTimeStep) {
    for (mlir::Operation &op : ops)
      one(op, outerTimeStep);
  }
  void one(mlir::Operation &op, const std::string &outerTimeStep);
  void launch(kernel::LaunchOp launch, const std::string &outerTimeStep);
  void loop(kernel::TimeStepLoopInterface loop, const std::string &outerTimeStep);
  /// A number of elements: rows of the buffer times elements of a row.
  std::string sizeOf(kernel::BufferOp buffer);
  /// Adds the elements of lists that stages have read to the profile.
  void countElements();
  /// Makes room in the results for the gradient that a buffer holds, in C++; "" where it holds none.
  std::string gradientRoom(kernel::BufferOp buffer);
  /// Copies rows, which lie at `values`, where the results are.
  void give(kernel::OutputOp output, const std::string &values);

  void countElements(kernel::LaunchOp launch);

  /// What the buffers are members of.
  virtual std::string member(kernel::BufferOp buffer);
  /// Loops that need nothing of one another.
  virtual void concurrent(mlir::Block &loops) = 0;
  /// Of a loop of `timeSteps` time steps: how many of them are launched stage by stage, before the others.
  virtual std::string launchedPrefix(mlir::Operation &, const std::string &timeSteps) { return timeSteps; }
  /// What runs the others.
  virtual void rest(mlir::Operation &, const std::string & /*timeSteps*/) {}
  /// Which rows are active: those for which a `while` goes on.
  virtual void mask(kernel::MaskOp op, const std::string &timeSteps, const std::string &timeStep) = 0;
  /// Behind the choice of the rows that an order, of kind `by_input`, has now.
  virtual void selected(kernel::IndexSetOp) {}
  /// Rows, and lists of them, by numbers that are computed: for gradients.
  virtual void collectRows(kernel::DistinctOp op) = 0;
  virtual void listRows(kernel::TransposeOp op) = 0;

  const ModelNames &model_;
  const Program &program_;
  Writer &out_;
  NameScope locals_{&program_.members};
  std::string worker_; ///< inside loops that may run at the same time: which one runs them
  llvm::StringMap<std::string> timeSteps_; ///< of the open loops: by the group's or the index set's symbol
};

} // namespace dbc::codegen
