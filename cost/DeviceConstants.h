// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the cost model knows of a device.
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace dbc::cost {

/// Constants of a device, by the names that its file has (cost/devices/*.json).
struct DeviceConstants {
  std::string device;   ///< "h100"
  int64_t measured = 0; ///< how many of them were measured, of `count`
  int64_t count = 0;
  double processors = 0, clock_ghz = 0, threads_per_processor = 0, shared_bytes_per_processor = 0;
  double start_us = 0, launch_us = 0, host_launch_us = 0, graph_node_us = 0, grid_barrier_us = 0, word_us = 0;
  double l2_latency_us = 0, l2_bytes_per_second = 0, l2_bytes_per_clock = 0, shared_bytes_per_clock = 0;
  double ffma_per_clock = 0, tf32_per_clock = 0, tf32x3_per_clock = 0; ///< multiply-adds of a processor
  double tile_us = 0, product_step_clocks = 0, operation_clocks = 0;

  /// Multiply-adds a clock of an instruction of products: "ffma", "tf32" or "tf32x3"; else 0.
  double rate(llvm::StringRef instruction) const;
};

/// Reads the constants of a device: of one that `folder` has a file of (h100.json), by its name, or of any
/// file with such constants. Keys that the model has no use for are for people.
llvm::Expected<DeviceConstants> readDevice(const std::string &folder, const std::string &nameOrFile);

} // namespace dbc::cost
