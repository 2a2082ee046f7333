// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "cost/DeviceCost.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>
#include <dbc/counted.h>
#include <dbc/cuda/arrays.h>

namespace dbc::cost {

//===-- Prediction --------------------------------------------------------------------------------------===//

bool LoopShape::isResidentOn(const DeviceConstants &device) const {
  return residentBytes > 0 && double(shared + residentBytes) <= device.shared_bytes_per_processor &&
         double(tiles) <= device.processors;
}

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Of a stage that adds rows up: a block has a tile and a slice of the rows. Sums of several slices are
/// cleared before and added up behind, by launches of their own.
static double workOfSums(const DeviceConstants &device, const KernelShape &kernel, int64_t rows) {
  const auto processors = static_cast<int64_t>(device.processors);
  const int64_t slices = cuda::slices_of(static_cast<int32_t>(rows), static_cast<int32_t>(kernel.slices));
  const int64_t blocks = kernel.tiles * slices, each = up(blocks, processors), own = up(rows, slices);
  double mac = 0, chain = 0;
  for (const ProductShape &product : kernel.outerProducts)
    mac += double(own) * double(product.outputs) / device.rate(product.instruction);
  for (const ElementsShape &elements : kernel.summedElements)
    chain += double(own) * double(up(elements.elements, kernel.threads)) * double(elements.operations) *
             device.operation_clocks;
  for (const ElementsShape &elements : kernel.elements)
    chain += double(up(own, kernel.rows)) * double(up(kernel.rows * elements.elements, kernel.threads)) *
             double(elements.operations) * device.operation_clocks;
  const double share =
      std::min(device.l2_bytes_per_clock,
               device.l2_bytes_per_second / (device.clock_ghz * 1e9) / double(std::min(blocks, processors)));
  const double bytes =
      double(own) * double(kernel.bytesOfTile > 0 ? kernel.bytesOfTile : kernel.bytesRead) / share;
  double us = double(each) * (std::max({mac, chain, bytes}) / (device.clock_ghz * 1e3) + device.tile_us);
  if (slices > 1)
    us += 2 * (device.launch_us +
               double(kernel.summed * slices) * sizeof(float) / device.l2_bytes_per_second * 1e6);
  return us;
}

static double workOf(const DeviceConstants &device, const KernelShape &kernel, int64_t rows, int64_t block,
                     bool inLoop, int64_t blockGroups) {
  const int64_t processors = static_cast<int64_t>(device.processors), own = up(rows, blockGroups);
  const bool largeM = block != kernel.rows;
  const int64_t atOnce = largeM ? kernel.largeMTiles : 1; // tiles of a block
  const int64_t items = std::min(rows, blockGroups) * up(own, block) * up(kernel.tiles, atOnce);
  const int64_t each = up(items, processors);
  const int64_t most = std::min(own, block); // rows of the fullest block
  // The share that a processor has of L2 while so many ask.
  const double hertz = device.clock_ghz * 1e9;
  const double share = std::min(device.l2_bytes_per_clock,
                                device.l2_bytes_per_second / hertz / double(std::min(items, processors)));
  const bool inShared = inLoop && kernel.persistent.isResidentOn(device);
  double mac = 0, weights = 0, chain = 0; // clocks
  for (const ProductShape &product : kernel.products) {
    const double matrix = double(product.outputs) * double(product.inputs);
    const bool plain = product.instruction == "ffma";
    const double outputs =
        double(largeM && product.largeMOutputs > 0 ? product.largeMOutputs : product.outputs * atOnce);
    // Large-M tiles multiply empty rows, too.
    const int64_t multiplied = plain ? most : largeM ? block : up(most, cuda::kMTile) * cuda::kMTile;
    mac += double(multiplied) * outputs * double(product.inputs) / device.rate(product.instruction);
    weights += (product.shared ? 1 : double(most)) * matrix * double(atOnce) * sizeof(float) /
               (inShared && product.resident ? device.shared_bytes_per_clock : share);
    if (plain)
      chain += double(up(up(most, product.rowsAtOnce) * product.outputs, kernel.threads)) * double(atOnce) *
               double(product.inputs) * device.product_step_clocks;
  }
  for (const ElementsShape &elements : kernel.elements)
    chain += double(up(most * elements.elements, kernel.threads)) * double(elements.operations) *
             double(atOnce) * device.operation_clocks;
  // Each tile reads its operands, and writes what is its own.
  const double bytes =
      double(most) *
      (double(kernel.bytesRead) + double(kernel.bytesWritten) * double(atOnce) / double(kernel.tiles)) /
      share;
  double resident = std::min(device.threads_per_processor / double(kernel.threads),
                             double(largeM ? kernel.largeMResidentBlocks : kernel.residentBlocks));
  const int64_t shared = largeM ? kernel.largeMShared
                                : std::max(kernel.shared, inLoop ? kernel.persistent.shared : 0) +
                                      (inShared ? kernel.persistent.residentBytes : 0);
  if (shared > 0)
    resident = std::min(resident, device.shared_bytes_per_processor / double(shared));
  const double rounds = double(up(each, std::max<int64_t>(1, static_cast<int64_t>(resident))));
  const double clocks = std::max(double(each) * std::max({mac, weights, bytes}), rounds * chain);
  return clocks / (device.clock_ghz * 1e3) + rounds * device.tile_us;
}

/// Whether a launch of its own has so many rows that it has large-M tiles.
static bool isLargeM(const KernelShape &kernel, int64_t rows) {
  const auto shares = static_cast<int32_t>(up(kernel.tiles, kernel.largeMTiles));
  return kernel.largeM > 0 &&
         cuda::filled_large_m_blocks(0, static_cast<int32_t>(rows), shares) >= cuda::kLargeMBlocks;
}

double workOf(const DeviceConstants &device, const KernelShape &kernel, int64_t rows, bool inLoop,
              int64_t blockGroups) {
  if (rows <= 0)
    return 0;
  if (kernel.sums)
    return workOfSums(device, kernel, rows);
  // Without the shared memory for them it is launched in small tiles.
  const bool largeM =
      !inLoop && isLargeM(kernel, rows) && double(kernel.largeMShared) <= device.shared_bytes_per_processor;
  return workOf(device, kernel, rows, largeM ? kernel.largeM : kernel.rows, inLoop, blockGroups);
}

/// Block groups that inputs are distributed to, see dbc::cuda::Context::block_groups.
static int64_t blockGroupsOf(const DeviceConstants &device, const ProgramShape &program, int64_t inputs) {
  int64_t tiles = 1;
  for (const KernelShape &kernel : program.kernels)
    if (kernel.loop >= 0)
      tiles = std::max(tiles, kernel.tiles);
  return std::clamp<int64_t>(std::min(static_cast<int64_t>(device.processors) / tiles, inputs), 1,
                             cuda::kMaxBlockGroups);
}

/// How many first time steps of each loop are launches of their own, see cuda::large_m_prefix.
static std::vector<size_t> launchedPrefixes(const ProgramShape &program,
                                            const std::vector<std::vector<int32_t>> &timeSteps) {
  using Rows = cuda::TimeStepRows;
  std::vector<std::vector<Rows>>
      loops; // of each loop its time steps, by the level or step, not by when it is
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const KernelShape &kernel = program.kernels[k];
    if (kernel.loop < 0)
      continue;
    loops.resize(std::max(loops.size(), size_t(kernel.loop) + 1));
    std::vector<Rows> &loop = loops[kernel.loop];
    loop.resize(timeSteps[k].size(), Rows::None);
    for (size_t n = 0; n < timeSteps[k].size(); ++n)
      if (const int32_t rows = timeSteps[k][n]; rows > 0) {
        const size_t timeStep = kernel.reverse ? timeSteps[k].size() - 1 - n : n;
        loop[timeStep] = std::max(loop[timeStep], isLargeM(kernel, rows) ? Rows::LargeM : Rows::Few);
      }
  }
  std::vector<size_t> prefixes;
  for (const std::vector<Rows> &loop : loops)
    prefixes.push_back(static_cast<size_t>(cuda::large_m_prefix(
        static_cast<int32_t>(loop.size()), [&](int32_t timeStep) { return loop[timeStep]; })));
  return prefixes;
}

Prediction predict(const DeviceConstants &device, const ProgramShape &program,
                   const std::vector<std::vector<int32_t>> &timeSteps, int64_t inputs) {
  Prediction prediction;
  prediction.blockGroups = blockGroupsOf(device, program, inputs);
  prediction.us.fill(device.start_us);
  prediction.us[size_t(DevicePath::Loops)] += double(program.fills) * device.launch_us;
  std::vector<bool> begun; // of loops
  const std::vector<size_t> prefixes = launchedPrefixes(program, timeSteps);
  const double meet = device.grid_barrier_us + 2 * device.l2_latency_us;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const KernelShape &kernel = program.kernels[k];
    KernelPrediction found;
    const size_t prefix = kernel.loop >= 0 ? prefixes[kernel.loop] : 0;
    int64_t prefixLaunches = 0;
    for (size_t timeStep = 0; timeStep < timeSteps[k].size(); ++timeStep) {
      const int32_t rows = timeSteps[k][timeStep];
      const double work = workOf(device, kernel, rows);
      PathTimes us{};
      if (rows > 0) {
        ++found.timeSteps;
        found.rows += rows;
        us.fill(std::max(device.host_launch_us, device.launch_us + work));
      }
      us[size_t(DevicePath::Graph)] =
          program.graph ? device.graph_node_us + work : us[size_t(DevicePath::Levels)];
      if ((kernel.reverse ? timeSteps[k].size() - 1 - timeStep : timeStep) < prefix) {
        prefixLaunches += rows > 0;
        found.prefixUs += us[size_t(DevicePath::Loops)];
      } else if (kernel.loop >= 0) {
        us[size_t(DevicePath::Loops)] = (!kernel.syncsElements ? meet
                                         : rows > 0            ? device.word_us
                                                               : 0) +
                                        workOf(device, kernel, rows, /*inLoop=*/true, prediction.blockGroups);
      }
      for (size_t path = 0; path < us.size(); ++path)
        found.us[path] += us[path];
      found.timeStepUs.push_back(us);
    }
    std::array<int64_t, 3> launches = {found.timeSteps, found.timeSteps, found.timeSteps};
    if (kernel.loop >= 0) {
      begun.resize(std::max(begun.size(), size_t(kernel.loop) + 1));
      const bool first = !begun[kernel.loop] && timeSteps[k].size() > prefix;
      begun[kernel.loop] = begun[kernel.loop] || first;
      launches[size_t(DevicePath::Loops)] = prefixLaunches + first;
      if (first)
        found.us[size_t(DevicePath::Loops)] += device.launch_us;
      if (first && kernel.persistent.isResidentOn(device)) // every processor reads what is resident there
        found.us[size_t(DevicePath::Loops)] +=
            double(kernel.persistent.residentBytes) * device.processors / device.l2_bytes_per_second * 1e6;
    }
    prediction.us[size_t(DevicePath::Loops)] +=
        double(found.rows * kernel.bytesSynced) / device.l2_bytes_per_second * 1e6;
    for (size_t path = 0; path < launches.size(); ++path) {
      prediction.us[path] += found.us[path];
      prediction.launches[path] += launches[path];
    }
    prediction.kernels.push_back(found);
  }
  if (program.graph)
    prediction.launches[size_t(DevicePath::Graph)] = 1;
  return prediction;
}

DevicePath Prediction::choice() const {
  return *std::min_element(kDevicePaths.begin(), kDevicePaths.end(), [&](DevicePath a, DevicePath b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    return std::make_pair(us[i], launches[i]) < std::make_pair(us[j], launches[j]);
  });
}

Prediction mean(const std::vector<Prediction> &batches) {
  Prediction sum;
  const auto count = static_cast<int64_t>(batches.size());
  for (const Prediction &batch : batches) {
    sum.blockGroups = std::max(sum.blockGroups, batch.blockGroups);
    sum.kernels.resize(batch.kernels.size());
    for (size_t path = 0; path < sum.us.size(); ++path) {
      sum.us[path] += batch.us[path] / double(count);
      sum.launches[path] += batch.launches[path];
    }
    for (size_t k = 0; k < batch.kernels.size(); ++k) {
      sum.kernels[k].timeSteps += batch.kernels[k].timeSteps;
      sum.kernels[k].rows += batch.kernels[k].rows;
      sum.kernels[k].prefixUs += batch.kernels[k].prefixUs / double(count);
      for (size_t path = 0; path < sum.us.size(); ++path)
        sum.kernels[k].us[path] += batch.kernels[k].us[path] / double(count);
    }
  }
  sum.batches = count;
  auto share = [&](int64_t &number) { number = (number + count / 2) / count; };
  for (int64_t &launches : sum.launches)
    share(launches);
  for (KernelPrediction &kernel : sum.kernels) {
    share(kernel.timeSteps);
    share(kernel.rows);
  }
  return sum;
}

//===-- In words ----------------------------------------------------------------------------------------===//

llvm::StringRef nameOf(DevicePath path) {
  return path == DevicePath::Levels ? "levels" : path == DevicePath::Graph ? "graph" : "loops";
}

static const char *meaningOf(DevicePath path) {
  return path == DevicePath::Levels  ? "a launch for each level and step"
         : path == DevicePath::Graph ? "all launches as one graph"
                                     : "a launch of a persistent kernel for a loop where that can be";
}

void print(llvm::raw_ostream &out, const DeviceConstants &device, const ProgramShape &program,
           const Prediction &prediction) {
  out << "`" << program.entry << "` on " << device.device << ", predicted with " << device.measured << " of "
      << device.count << " constants measured; microseconds of a batch without copies"
      << (prediction.batches > 1 ? ", mean of " + std::to_string(prediction.batches) : std::string())
      << ":\n";
  size_t width = sizeof("with the start of a batch") - 1;
  for (const KernelShape &kernel : program.kernels)
    width = std::max(width, kernel.name.size());
  auto line = [&](llvm::StringRef name, const std::string &timeSteps, const std::string &rows,
                  const PathTimes &us) {
    out << "  " << llvm::left_justify(name, width) << llvm::right_justify(timeSteps, 12)
        << llvm::right_justify(rows, 9);
    for (double each : us)
      out << llvm::format("%10.1f", each);
    out << "\n";
  };
  out << "  " << llvm::left_justify("", width) << "  time steps     rows";
  for (DevicePath path : kDevicePaths)
    out << llvm::right_justify(nameOf(path), 10);
  out << "\n";
  for (auto [kernel, found] : llvm::zip(program.kernels, prediction.kernels))
    line(kernel.name, std::to_string(found.timeSteps), std::to_string(found.rows), found.us);
  line("with the start of a batch", "", "", prediction.us);
  const DevicePath choice = prediction.choice();
  out << "  the choice is " << nameOf(choice) << ", " << meaningOf(choice) << ": "
      << counted(prediction.launches[size_t(choice)], "launch", "launches") << ", "
      << (choice == DevicePath::Loops && prediction.blockGroups > 1
              ? "inputs distributed to " + std::to_string(prediction.blockGroups) + " block groups, "
              : std::string())
      << llvm::format("%.1f", prediction.us[size_t(choice)]) << " us\n";
}

llvm::json::Value toJson(const DeviceConstants &device, const ProgramShape &program,
                         const Prediction &prediction) {
  auto byPath = [](const auto &values) {
    llvm::json::Object object;
    for (DevicePath path : kDevicePaths)
      object[nameOf(path)] = values[size_t(path)];
    return object;
  };
  llvm::json::Array kernels;
  for (auto [kernel, found] : llvm::zip(program.kernels, prediction.kernels))
    kernels.push_back(llvm::json::Object{{"name", kernel.name},
                                         {"time_steps", found.timeSteps},
                                         {"rows", found.rows},
                                         {"us", byPath(found.us)}});
  return llvm::json::Object{{"entry", program.entry},
                            {"device", device.device},
                            {"constants", device.count},
                            {"measured_constants", device.measured},
                            {"batches", prediction.batches},
                            {"kernels", std::move(kernels)},
                            {"us", byPath(prediction.us)},
                            {"launches", byPath(prediction.launches)},
                            {"block_groups", prediction.blockGroups},
                            {"choice", nameOf(prediction.choice())}};
}

} // namespace dbc::cost
