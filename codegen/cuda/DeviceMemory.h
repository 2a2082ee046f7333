// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The memory of a sub-batch on a device: its arrays, in C++ and as a sum over what a batch has.
#pragma once

#include "codegen/common/MemoryPlan.h"
#include "codegen/cuda/DeviceArrays.h"

namespace dbc::codegen {

/// An array as dbc::cuda::Region has it.
struct DeviceRegion {
  std::string kind;                    ///< result, input, zeros, rows, decided
  std::string name;                    ///< of the pointer that gets its address: a local one, or of `Arrays`
  std::string type;                    ///< C++ of the local pointer that is to be declared; else ""
  std::string from;                    ///< input: where the host has it, in C++
  std::string size;                    ///< elements, or rows and the elements of one, in C++
  std::vector<std::string> assigned;   ///< lines that set what is in it, when it has its address
  std::vector<MemoryPlan::Term> terms; ///< the largest of these counts
  std::string device = "";             ///< input: whose memory it may be in already, in C++
  bool synced = false;                 ///< blocks of threads may wait for its elements
  /// The pointer, in C++.
  std::string pointer() const { return type.empty() ? "arrays." + name : name; }
};

/// All arrays of a program of the model for the device, in the order of their kinds.
std::vector<DeviceRegion> deviceRegions(const ModelNames &model, const Program &program);

MemoryPlan planMemory(const ModelNames &host, const ModelNames &device);

} // namespace dbc::codegen
