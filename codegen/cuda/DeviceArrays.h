// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The names that NAME.cuh, NAME.cu and the host's code of a model share: what kernels are given, and how they
// are launched.
#pragma once

#include "codegen/common/ModelNames.h"

namespace dbc::codegen {

/// What the kernels of a program read and write: the members of its `Arrays`.
class DeviceArrays {
public:
  DeviceArrays(const ModelNames &model, const Program &program);

  struct IndexArray {
    kernel::IndexSetOp indexSet;
    std::string name, member;
  };
  std::vector<IndexArray> indexArrays;
  std::vector<std::pair<kernel::IndexSetOp, std::string>> orders; ///< order lists
  std::vector<std::string> fields;                                ///< symbols of fields and arguments
  std::vector<std::string> params;                                ///< symbols of parameters
  std::vector<kernel::BufferOp> buffers;                          ///< those of the model too
  std::vector<kernel::WeightsOp> weights;
  std::vector<mlir::Operation *> checks; ///< see ModelNames::check

  /// A loop over levels or steps that is one launch.
  struct Loop {
    mlir::Operation *op = nullptr;
    size_t number = 0;                       ///< among the program's persistent loops
    std::string name;                        ///< of its kernel
    std::vector<kernel::FuncOp> stages;      ///< in order
    std::vector<std::string> timeSteps;      ///< members that hold the bounds of each one's time steps
    std::vector<kernel::WeightsOp> resident; ///< matrices: a block has tile number block % tiles, or all
    bool syncsElements = false;              ///< whether blocks may wait for elements of the buffers `synced`
    std::vector<std::string> synced;         ///< symbols
  };
  std::vector<Loop> loops;
  std::vector<std::pair<kernel::IndexSetOp, std::string>> timeSteps; ///< bounds of time steps: members
  const Loop *loop(mlir::Operation *op) const;
  /// That of a stage; null: none.
  const Loop *loopOf(kernel::FuncOp stage) const;
  /// Whether blocks may wait for elements of a buffer in some loop.
  bool isSynced(llvm::StringRef buffer) const;
  bool graph = false; ///< whether all launches may be one graph
  bool blas = false;  ///< whether cuBLAS computes a product
  bool drops = false; ///< whether a kernel has a dropout

  /// A member of the struct `Arrays`.
  struct Member {
    std::string type, name, comment;
  };
  std::vector<Member> members(const ModelNames &model, const Program &program) const;
  /// What C++ names of `arrays`, a struct `Arrays`: operator() gives a member's text and notes it. Equal
  /// operations that note the same members in the same order have one name for each symbol.
  struct Uses {
    std::string operator()(const std::string &member) { return "arrays." + members.emplace_back(member); }
    std::vector<std::string> members; ///< as often as they are named
  };

  const std::string &indexArray(kernel::IndexSetOp indexSet, llvm::StringRef name) const;
  /// "" if no kernel asks for it.
  std::string order(kernel::IndexSetOp indexSet) const;

private:
  void add(mlir::Operation *op, const ModelNames &model, const Program &program);
  NameScope nameMembers(const ModelNames &model, const Program &program);
  void add(kernel::TimeStepLoopInterface op, size_t number, const Program &program, NameScope &members,
           NameScope &kernels);
};

/// The namespace of a program's kernels, and what launches one of a stage or a loop.
inline std::string kernelsOf(const Program &program) { return "cuda_kernels::" + program.space; }
inline std::string launchOf(const std::string &kernel) { return "launch_" + kernel; }
/// The same for a graph.
inline std::string recordOf(const std::string &stage) { return "record_" + stage; }
/// A field or argument as kernels have it.
inline std::string columnType(const Array &array) { return "dbc::cuda::Column<" + array.pointee + ">"; }
/// How the rows of a stage are mapped to blocks of threads.
struct StageBlocks {
  int64_t rows = 1, tiles = 1; ///< of a block at once; of the stage
  int64_t largeMTiles = 1;     ///< that a block has at once in large-M tiles
  int64_t largeMShares = 0; ///< blocks that share the tiles of the same rows in large-M tiles; 0: it has none
};
StageBlocks stageBlocks(kernel::FuncOp stage);
/// Bytes of the counters of a persistent kernel, as dbc/cuda/arrays.h has them.
constexpr int64_t kCounterBytes = 16 * 8 * 4;
/// Where the bias stands behind the weights of a matrix without contract, in elements, as dbc/cuda/arrays.h
/// has it.
constexpr int64_t biasBehind(int64_t weights) { return (weights + 3) / 4 * 4; }
/// Bytes that the library of products works in, as dbc/cuda/blas.h has them.
constexpr int64_t kBlasWorkspace = 32 << 20;

} // namespace dbc::codegen
