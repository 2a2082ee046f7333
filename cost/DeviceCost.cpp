// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "cost/DeviceCost.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>
#include <dbc/cuda/arrays.h>

namespace dbc::cost {

//===-- Prediction --------------------------------------------------------------------------------------===//

bool LoopShape::keepsOn(const DeviceConstants &device) const {
  return kept > 0 && double(shared + kept) <= device.shared_bytes_per_processor &&
         double(tiles) <= device.processors;
}

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static double workOf(const DeviceConstants &device, const KernelShape &kernel, int64_t rows, int64_t block,
                     bool inLoop, int64_t teams) {
  const int64_t processors = static_cast<int64_t>(device.processors), own = up(rows, teams);
  const int64_t units = up(rows, own) * up(own, block) * kernel.tiles;
  const int64_t each = up(units, processors);
  const int64_t most = std::min(own, block); // rows of the fullest block
  // The share that a processor has of L2 while so many ask.
  const double hertz = device.clock_ghz * 1e9;
  const double share = std::min(device.l2_bytes_per_clock,
                                device.l2_bytes_per_second / hertz / double(std::min(units, processors)));
  const bool keeps = inLoop && kernel.whole.keepsOn(device);
  double mac = 0, weights = 0, chain = 0; // clocks
  for (const ProductShape &product : kernel.products) {
    const double matrix = double(product.outputs) * double(product.inputs);
    const bool plain = product.instruction == "ffma";
    mac += double(plain ? most : up(most, cuda::kUnitRows) * cuda::kUnitRows) * matrix /
           device.rate(product.instruction);
    weights += (product.shared ? 1 : double(most)) * matrix * sizeof(float) /
               (keeps && product.kept ? device.shared_bytes_per_clock : share);
    if (plain)
      chain += double(up(up(most, product.rowsAtOnce) * product.outputs, kernel.threads)) *
               double(product.inputs) * device.product_step_clocks;
  }
  for (const ElementsShape &elements : kernel.elements)
    chain += double(up(most * elements.elements, kernel.threads)) * double(elements.operations) *
             device.operation_clocks;
  // Each tile reads its operands, and writes what is its own.
  const double bytes =
      double(most) * (double(kernel.bytesRead) + double(kernel.bytesWritten) / double(kernel.tiles)) / share;
  const bool wide = block != kernel.rows;
  double resident = std::min(device.threads_per_processor / double(kernel.threads),
                             double(wide ? kernel.wideResident : kernel.resident));
  const int64_t shared =
      wide ? kernel.wideShared
           : std::max(kernel.shared, inLoop ? kernel.whole.shared : 0) + (keeps ? kernel.whole.kept : 0);
  if (shared > 0)
    resident = std::min(resident, device.shared_bytes_per_processor / double(shared));
  const double rounds = double(up(each, std::max<int64_t>(1, static_cast<int64_t>(resident))));
  const double clocks = std::max(double(each) * std::max({mac, weights, bytes}), rounds * chain);
  return clocks / (device.clock_ghz * 1e3) + rounds * device.tile_us;
}

/// Whether a launch of its own has wide tiles.
static bool isWide(const KernelShape &kernel, int64_t rows) {
  return kernel.wide > 0 && up(rows, kernel.wide) * kernel.tiles >= cuda::kWideBlocks;
}

double workOf(const DeviceConstants &device, const KernelShape &kernel, int64_t rows, bool inLoop,
              int64_t teams) {
  if (rows <= 0)
    return 0;
  return workOf(device, kernel, rows, !inLoop && isWide(kernel, rows) ? kernel.wide : kernel.rows, inLoop,
                teams);
}

/// Teams of blocks that inputs are dealt to, see dbc::cuda::Context::teams.
static int64_t teamsOf(const DeviceConstants &device, const ProgramShape &program, int64_t inputs) {
  int64_t tiles = 1;
  for (const KernelShape &kernel : program.kernels)
    if (kernel.loop >= 0)
      tiles = std::max(tiles, kernel.tiles);
  return std::clamp<int64_t>(std::min(static_cast<int64_t>(device.processors) / tiles, inputs), 1,
                             cuda::kMostTeams);
}

/// How many ticks at the beginning of each loop are launches of their own, see dbc::cuda::Context::apart.
static std::vector<size_t> apartOf(const ProgramShape &program,
                                   const std::vector<std::vector<int32_t>> &ticks) {
  std::vector<size_t> apart;
  std::vector<std::vector<bool>> wide; // of each loop its ticks
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const KernelShape &kernel = program.kernels[k];
    if (kernel.loop < 0)
      continue;
    wide.resize(std::max(wide.size(), size_t(kernel.loop) + 1));
    std::vector<bool> &loop = wide[kernel.loop];
    loop.resize(ticks[k].size());
    for (size_t tick = 0; tick < ticks[k].size(); ++tick)
      loop[tick] = loop[tick] || isWide(kernel, ticks[k][tick]);
  }
  for (const std::vector<bool> &loop : wide)
    apart.push_back(std::find(loop.begin(), loop.end(), false) - loop.begin());
  return apart;
}

Prediction predict(const DeviceConstants &device, const ProgramShape &program,
                   const std::vector<std::vector<int32_t>> &ticks, int64_t inputs) {
  Prediction prediction;
  prediction.teams = teamsOf(device, program, inputs);
  prediction.us.fill(device.start_us);
  std::vector<bool> begun; // of loops
  const std::vector<size_t> allApart = apartOf(program, ticks);
  const double meet = device.grid_barrier_us + 2 * device.l2_latency_us;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const KernelShape &kernel = program.kernels[k];
    KernelPrediction found;
    const size_t apart = kernel.loop >= 0 ? allApart[kernel.loop] : 0;
    int64_t launchedApart = 0;
    for (size_t tick = 0; tick < ticks[k].size(); ++tick) {
      const int32_t rows = ticks[k][tick];
      const double work = workOf(device, kernel, rows);
      PathTimes us{};
      if (rows > 0) {
        ++found.ticks;
        found.rows += rows;
        us.fill(std::max(device.host_launch_us, device.launch_us + work));
      }
      us[size_t(DevicePath::Graph)] =
          program.graph ? device.graph_node_us + work : us[size_t(DevicePath::Levels)];
      if (tick < apart) {
        launchedApart += rows > 0;
        found.apart += us[size_t(DevicePath::Loops)];
      } else if (kernel.loop >= 0) {
        us[size_t(DevicePath::Loops)] = (!kernel.awaits ? meet
                                         : rows > 0     ? device.word_us
                                                        : 0) +
                                        workOf(device, kernel, rows, /*inLoop=*/true, prediction.teams);
      }
      for (size_t path = 0; path < us.size(); ++path)
        found.us[path] += us[path];
    }
    std::array<int64_t, 3> launches = {found.ticks, found.ticks, found.ticks};
    if (kernel.loop >= 0) {
      begun.resize(std::max(begun.size(), size_t(kernel.loop) + 1));
      const bool first = !begun[kernel.loop] && ticks[k].size() > apart;
      begun[kernel.loop] = begun[kernel.loop] || first;
      launches[size_t(DevicePath::Loops)] = launchedApart + first;
      if (first)
        found.us[size_t(DevicePath::Loops)] += device.launch_us;
      if (first && kernel.whole.keepsOn(device)) // every processor reads what it keeps
        found.us[size_t(DevicePath::Loops)] +=
            double(kernel.whole.kept) * device.processors / device.l2_bytes_per_second * 1e6;
    }
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
    sum.teams = std::max(sum.teams, batch.teams);
    sum.kernels.resize(batch.kernels.size());
    for (size_t path = 0; path < sum.us.size(); ++path) {
      sum.us[path] += batch.us[path] / double(count);
      sum.launches[path] += batch.launches[path];
    }
    for (size_t k = 0; k < batch.kernels.size(); ++k) {
      sum.kernels[k].ticks += batch.kernels[k].ticks;
      sum.kernels[k].rows += batch.kernels[k].rows;
      sum.kernels[k].apart += batch.kernels[k].apart / double(count);
      for (size_t path = 0; path < sum.us.size(); ++path)
        sum.kernels[k].us[path] += batch.kernels[k].us[path] / double(count);
    }
  }
  sum.batches = count;
  auto share = [&](int64_t &number) { number = (number + count / 2) / count; };
  for (int64_t &launches : sum.launches)
    share(launches);
  for (KernelPrediction &kernel : sum.kernels) {
    share(kernel.ticks);
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
                                     : "a launch for a whole loop where that can be";
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
  auto line = [&](llvm::StringRef name, const std::string &ticks, const std::string &rows,
                  const PathTimes &us) {
    out << "  " << llvm::left_justify(name, width) << llvm::right_justify(ticks, 8)
        << llvm::right_justify(rows, 9);
    for (double each : us)
      out << llvm::format("%10.1f", each);
    out << "\n";
  };
  out << "  " << llvm::left_justify("", width) << "   ticks     rows";
  for (DevicePath path : kDevicePaths)
    out << llvm::right_justify(nameOf(path), 10);
  out << "\n";
  for (auto [kernel, found] : llvm::zip(program.kernels, prediction.kernels))
    line(kernel.name, std::to_string(found.ticks), std::to_string(found.rows), found.us);
  line("with the start of a batch", "", "", prediction.us);
  const DevicePath choice = prediction.choice();
  out << "  the choice is " << nameOf(choice) << ", " << meaningOf(choice) << ": "
      << prediction.launches[size_t(choice)]
      << (prediction.launches[size_t(choice)] == 1 ? " launch, " : " launches, ")
      << (choice == DevicePath::Loops && prediction.teams > 1
              ? "inputs dealt to " + std::to_string(prediction.teams) + " teams of blocks, "
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
    kernels.push_back(llvm::json::Object{
        {"name", kernel.name}, {"ticks", found.ticks}, {"rows", found.rows}, {"us", byPath(found.us)}});
  return llvm::json::Object{{"entry", program.entry},        {"device", device.device},
                            {"constants", device.count},     {"measured_constants", device.measured},
                            {"batches", prediction.batches}, {"kernels", std::move(kernels)},
                            {"us", byPath(prediction.us)},   {"launches", byPath(prediction.launches)},
                            {"teams", prediction.teams},     {"choice", nameOf(prediction.choice())}};
}

} // namespace dbc::cost
