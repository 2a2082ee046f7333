// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The kernels of a model as text, and which of them its entries have in common.
#pragma once

#include "codegen/DeviceArrays.h"
#include "llvm/ADT/DenseSet.h"

namespace dbc::codegen {

/// The parameters of what launches a stage, launches it for a graph, and launches a whole loop.
constexpr const char *kLaunchParameters =
    "(const Arrays &arrays, int32_t begin, int32_t end, int32_t wide, void *stream)";
constexpr const char *kRecordParameters = "(const Arrays *given, const int32_t *rows, int32_t launch, "
                                          "int32_t expected, int32_t wide, void *stream)";
constexpr const char *kLoopParameters =
    "(const Arrays &arrays, const dbc::cuda::WholeLoop &loop, void *stream)";

/// A kernel of a stage, or of a whole loop over levels or steps.
struct DeviceKernel {
  DeviceKernel(mlir::Operation *op, std::string name) : op(op), name(std::move(name)) {}

  mlir::Operation *op;     ///< kernel.func, or the loop
  std::string name;        ///< of the stage's function, or of the loop's kernel
  std::string text;        ///< C++ of its functions, and of what launches it: `Arrays` is what it is given
  std::string forGraph;    ///< the same of a stage in a graph; "" where a program's launches are none
  int64_t sharedBytes = 0; ///< of a stage, in shared memory, for a block of threads that is not wide
  std::vector<DeviceArrays::Member> uses; ///< members of `Arrays` that the text names
  bool isLoop() const { return !llvm::isa<kernel::FuncOp>(op); }
};

/// All kernels of a model for a device. Entries often run the same recursion: a kernel that has the same text
/// in several programs is written, and compiled, once, in the namespace kCommon. It is given the arrays that
/// programs have in common, from which those of each are derived.
class DeviceKernels {
public:
  static constexpr const char *kCommon = "common";

  static mlir::FailureOr<DeviceKernels> make(const ModelNames &model);

  /// Those of several programs; those that a program has for itself.
  const std::vector<DeviceKernel> &common() const { return common_; }
  const std::vector<DeviceKernel> &own(const Program &program) const { return own_[program.number]; }
  /// Members of the `Arrays` that programs have in common; those that a program adds to these.
  const std::vector<DeviceArrays::Member> &members() const { return members_; }
  const std::vector<DeviceArrays::Member> &ownMembers(const Program &program) const {
    return ownMembers_[program.number];
  }
  bool isCommon(mlir::Operation *op) const { return inCommon_.contains(op); }
  /// Whether a program has kernels in common with another one.
  bool hasCommon(const Program &program) const;
  /// C++ for the function `name` that launches a stage or loop of a program, which is given the program's
  /// arrays.
  std::string function(const Program &program, mlir::Operation *op, const std::string &name) const;

private:
  /// Moves what several programs have from their lists to common_: of different kernels with one name the
  /// first one, and none for which a member would have to be of two types.
  void takeCommon(std::vector<std::vector<DeviceKernel>> &kernels);
  void addMembers(const ModelNames &model, const Program &program);

  std::vector<DeviceKernel> common_;
  std::vector<std::vector<DeviceKernel>> own_; ///< by number of the program
  std::vector<DeviceArrays::Member> members_;
  std::vector<std::vector<DeviceArrays::Member>> ownMembers_;
  llvm::StringMap<std::string> declarations_; ///< of members that common_ names
  llvm::DenseSet<mlir::Operation *> inCommon_;
};

} // namespace dbc::codegen
