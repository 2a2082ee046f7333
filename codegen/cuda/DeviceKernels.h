// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The kernels of a model as text, and which of them its entries have in common.
#pragma once

#include "codegen/cuda/DeviceArrays.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include <map>

namespace dbc::codegen {

/// The parameters of what launches a stage, and of what launches it for a graph; see launcherParameters.
constexpr const char *kLaunchParameters = "const Arrays &arrays, int32_t begin, int32_t end";
constexpr const char *kRecordParameters =
    "const Arrays *given, const int32_t *rows, int32_t launch, int32_t expected";
/// These, and those that every launcher has: of each that this one does not use only the name is left out.
std::string launcherParameters(const std::string &own, bool usesLargeM = true, bool usesStream = true);
/// The parameters of what launches a persistent kernel.
constexpr const char *kLoopParameters =
    "(const Arrays &arrays, const dbc::cuda::PersistentLoop &loop, void *stream)";

/// A kernel of a stage, or a persistent one of a loop over levels or steps.
struct DeviceKernel {
  DeviceKernel(mlir::Operation *op, mlir::Operation *first, std::string name)
      : op(op), first(first), name(std::move(name)) {}

  mlir::Operation *op;     ///< kernel.func, or the loop
  mlir::Operation *first;  ///< the first one that is the same, see kernel-share-stages
  std::string name;        ///< of the stage's function, or of the loop's kernel
  std::string text;        ///< C++ of its functions, and of what launches it: `Arrays` is what it is given
  std::string forGraph;    ///< the same of a stage in a graph; "" where it is in none
  int64_t sharedBytes = 0; ///< of a stage, in shared memory, for a block of threads without large-M tiles
  DeviceArrays::Uses uses; ///< members of `Arrays` that the text names
  std::vector<DeviceArrays::Member> members = {}; ///< these, as the program has them
  std::vector<kernel::FuncOp> calls = {};         ///< stages, by a loop
  std::vector<std::string> words = {};            ///< what else a loop's text names
  bool isLoop() const { return !llvm::isa<kernel::FuncOp>(op); }
};

/// A namespace of kernels that several programs have.
struct CommonKernels {
  std::string space;
  std::vector<DeviceKernel> kernels = {};
  llvm::SmallBitVector programs = {}; ///< that have some, by number
};

/// All kernels of a model for a device. Entries often run the same recursion: a kernel of which
/// kernel-share-stages says that several programs have it, and whose arrays have one name in all of them, is
/// written, and compiled, once. It stands in the namespace kCommon or, where another
/// one has its name there, in kCommon with a number. All of these are given the arrays kCommon::Arrays, from
/// which those of each program are derived that has such a kernel. Not shared is what would make these arrays
/// too many (kMostMembers), or need a member of another type than one of that name has.
class DeviceKernels {
public:
  static constexpr const char *kCommon = "common";
  /// Members of kCommon::Arrays: a launch copies all of them. A program with so many that these would not fit
  /// beside them what a kernel can be given has nothing in common with others.
  static constexpr size_t kMostMembers = 256, kMostOfProgram = 700;

  static mlir::FailureOr<DeviceKernels> make(const ModelNames &model);

  /// Those of several programs; those that a program has for itself.
  const std::vector<CommonKernels> &common() const { return common_; }
  const std::vector<DeviceKernel> &own(const Program &program) const { return own_[program.number]; }
  /// Members of kCommon::Arrays; those that a program adds to these.
  const std::vector<DeviceArrays::Member> &members() const { return members_; }
  const std::vector<DeviceArrays::Member> &ownMembers(const Program &program) const {
    return ownMembers_[program.number];
  }
  /// Whether a program has kernels in common with another one.
  bool hasCommon(const Program &program) const;
  /// The namespace of a stage or loop that several programs have; "" where one has it for itself.
  std::string commonSpace(mlir::Operation *op) const;
  /// C++ for the function `name` that launches a stage or loop of a program, which is given the program's
  /// arrays.
  std::string function(const Program &program, mlir::Operation *op, const std::string &name) const;

private:
  using Key = std::pair<mlir::Operation *, std::string>;

  Key keyOf(const DeviceKernel &kernel) const;
  void takeCommon(std::vector<std::vector<DeviceKernel>> &kernels);
  bool takes(const DeviceKernel &kernel) const;
  void addMembers(const Program &program, std::vector<DeviceArrays::Member> members);

  struct CommonMember {
    std::string type;
    std::vector<std::string> comments; ///< of the programs, which may say other things of it
  };
  std::vector<CommonKernels> common_;
  std::vector<std::vector<DeviceKernel>> own_; ///< by number of the program
  llvm::StringMap<CommonMember> commonMembers_;
  std::vector<DeviceArrays::Member> members_;
  std::vector<std::vector<DeviceArrays::Member>> ownMembers_;
  llvm::DenseMap<mlir::Operation *, size_t> spaces_; ///< the number in common_
};

} // namespace dbc::codegen
