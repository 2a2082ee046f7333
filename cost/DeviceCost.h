// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The cost model of a device: how long a batch takes, stage by stage, on each path. It knows constants of the
// device, which can be measured, the shapes of the kernels and the rows of each level of the batch.
//
// A batch takes `start_us` and the sum over its time steps (levels, steps; a stage that runs once has one). A
// time step of a stage cuts its rows into blocks x tiles work items, which the device's processors share.
// With `each` items on the busiest processor, in as many rounds as its resident blocks need for them:
//
//   wait + max(each x max(mac / rate, weight bytes / share of L2, row bytes / share of L2), rounds x chain)
//        + rounds x tile_us
//
// `chain` is what one thread does one behind the other. `wait` is that of the path:
//   levels   a launch a time step: launch_us; and the host is no faster than host_launch_us
//   graph    the same launches as nodes of one CUDA graph: graph_node_us; also where the stage has no
//            rows, as a graph serves all batches with as many time steps. Where there can be none the
//            launches stay
//   loops    a launch of a persistent kernel for a loop, where the report says so. In it word_us a time step
//            with rows where blocks wait for elements; else grid_barrier_us and two latencies a time step,
//            also where the stage has no rows. Resident weights are read once, and then from shared
//            memory, if a processor has room for them; fewer blocks are resident at once then.
//            Inputs are distributed to block groups: as many as have a block for each tile of the loops'
//            stages, but no more than there are inputs; work items are those of all groups, each with its
//            share of the rows. First time steps of a loop that fill large-M tiles are launches of their own.
//            Where blocks wait for elements, a batch starts with a fill of all rows that have such elements:
//            launch_us, and the time in which the second-level cache takes their bytes
// Copies to and from the device are not counted.
#pragma once

#include "cost/DeviceConstants.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dbc::cost {

/// A product of a kernel.
struct ProductShape {
  int64_t outputs = 0, inputs = 0; ///< of a row and a tile; on the tensor cores with what fills their tiles
  std::string instruction;
  int64_t rowsAtOnce = 1;    ///< plain products: rows of which one thread takes an output at once
  bool shared = false;       ///< all rows of a block read the same weights, else each has a matrix of its own
  bool resident = false;     ///< the weights are resident in shared memory in a persistent kernel
  int64_t largeMOutputs = 0; ///< in large-M tiles; 0: the same
};
/// Work that the threads of a block share: `elements` a row, or a tile of a row; each of `operations` that
/// one thread does one behind the other. A row that is a warp's has one for each of its lanes.
struct ElementsShape {
  int64_t elements = 0, operations = 0;
};

/// A loop that may be one launch.
struct LoopShape {
  int64_t shared = 0;        ///< of a block: bytes of shared memory for its stages
  int64_t residentBytes = 0; ///< there of the matrices that are resident, each once
  int64_t tiles = 1;         ///< of these matrices, at most: a block group has a block for each, or none is

  /// Whether they are resident on the device.
  bool isResidentOn(const DeviceConstants &device) const;
};

/// What a block of threads does for a stage.
struct KernelShape {
  std::string name;                ///< of the stage
  int64_t rows = 1, tiles = 1;     ///< of a block; blocks share tiles
  int64_t largeM = 0;              ///< rows of a block in a launch of many; 0: the same
  int64_t largeMTiles = 1;         ///< tiles that it has at once there
  int64_t threads = 1, shared = 0; ///< of a block; bytes of shared memory
  int64_t residentBlocks = 1;      ///< that a processor's registers are for at once
  int64_t largeMShared = 0, largeMResidentBlocks = 1;
  int64_t bytesRead = 0, bytesWritten = 0; ///< for a row, without weights
  bool sums = false; ///< a block has a slice of the rows, `rows` of them after the other
  std::vector<ElementsShape> summedElements; ///< then: of which a thread has all rows of the slice
  std::vector<ProductShape> outerProducts;   ///< then: of a tile, one input each
  int64_t slices = 1, summed = 0;            ///< then: slices at most, and numbers that each of them gives
  int64_t bytesOfTile = 0;                   ///< then: that outer products of a tile read of a row
  std::vector<ProductShape> products;
  std::vector<ElementsShape> elements;
  int32_t loop = -1;          ///< number of the loop that may be one launch; -1: a launch each time step
  LoopShape persistent;       ///< that loop
  bool reverse = false;       ///< it goes from the last level or step to the first one
  bool syncsElements = false; ///< there blocks wait for the elements that they need
  int64_t bytesSynced = 0;    ///< for a row: those that the stage writes and blocks wait for
};

/// An entry or loss.
struct ProgramShape {
  std::string entry;
  std::vector<KernelShape> kernels; ///< in the order in which they run
  bool masked = false;              ///< computed values say which rows are active
  bool graph = true;                ///< all launches can be one graph
  int64_t fills = 0;                ///< of what blocks wait for, at the start of a batch
};

enum class DevicePath { Levels, Graph, Loops };
constexpr std::array<DevicePath, 3> kDevicePaths = {DevicePath::Levels, DevicePath::Graph, DevicePath::Loops};
/// "levels", "graph", "loops".
llvm::StringRef nameOf(DevicePath path);

/// Microseconds on each path, indexed by DevicePath.
using PathTimes = std::array<double, 3>;

struct KernelPrediction {
  int64_t timeSteps = 0, rows = 0; ///< with rows; in all
  PathTimes us{};
  double prefixUs = 0; ///< of `us` in loops: first time steps of one that are launches of their own
  std::vector<PathTimes> timeStepUs; ///< of `us` each time step, also without rows; not of means
};

/// What a batch takes.
struct Prediction {
  std::vector<KernelPrediction> kernels; ///< one for each of the program
  PathTimes us{};                        ///< in all, with the start
  int64_t batches = 1;                   ///< whose mean it is
  std::array<int64_t, 3> launches{};     ///< on each path, of kernels and graphs
  int64_t blockGroups = 1;               ///< in loops; of several batches the most

  /// The path that takes the least time; of equals the one with the fewest launches.
  DevicePath choice() const;
  /// Gives back what it knows of each time step, which is as much as the batch has levels.
  void forgetTimeSteps() {
    for (KernelPrediction &kernel : kernels)
      std::vector<PathTimes>().swap(kernel.timeStepUs);
  }
};

/// What one time step of `rows` rows takes without waiting, in microseconds; 0 without rows. More rows never
/// take less, but where a launch has large-M tiles. In a persistent kernel weights are where they are
/// resident, and rows are shared by so many block groups.
double workOf(const DeviceConstants &device, const KernelShape &kernel, int64_t rows, bool inLoop = false,
              int64_t blockGroups = 1);

/// Predicts a batch of so many inputs. `timeSteps` has the rows of each time step of each kernel; those of a
/// loop's kernels are equally many, with 0 where a time step has none.
Prediction predict(const DeviceConstants &device, const ProgramShape &program,
                   const std::vector<std::vector<int32_t>> &timeSteps, int64_t inputs = 1);

/// The mean of several batches.
Prediction mean(const std::vector<Prediction> &batches);

void print(llvm::raw_ostream &out, const DeviceConstants &device, const ProgramShape &program,
           const Prediction &prediction);
llvm::json::Value toJson(const DeviceConstants &device, const ProgramShape &program,
                         const Prediction &prediction);

} // namespace dbc::cost
