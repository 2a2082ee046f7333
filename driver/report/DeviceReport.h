// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How a device computes a model: what the passes decided about its kernels, and the memory that it takes.
#pragma once

#include "codegen/Codegen.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace dbc::driver {

/// Products with a matrix.
struct ProductReport {
  std::string matrix, location; ///< its name, and where in the source they stand
  std::string instruction;      ///< of the tensor cores: "tf32" or "tf32x3"; empty: there is none
  int64_t slices = 0;           ///< of the inputs, of which each is added up by itself: split-K
  bool bias = false;            ///< a parameter is added to them
  bool blas = false;            ///< cuBLAS computes it
  int64_t residentBytes = 0;    ///< of it in a block's shared memory, in a persistent kernel
};

struct KernelReport {
  std::string name;        ///< of the stage
  int64_t rows = 0;        ///< of a block of threads
  int64_t largeM = 0;      ///< in a launch of many rows; 0: the same
  int64_t largeMTiles = 1; ///< that a block has at once there
  int64_t tiles = 1;       ///< that blocks share
  int64_t shared = 0;      ///< bytes of shared memory of a block, of global memory if that does not do
  int64_t global = 0;
  int64_t registers = 0;                         ///< the most that a thread may have
  int64_t largeMShared = 0, largeMRegisters = 0; ///< in a launch of many rows
  bool sums = false;                             ///< a block has all rows, so many one after the other
  int64_t slices = 1;                            ///< then: of its rows, at most
  int64_t clears = 0;                            ///< arrays that it makes 0, which is all that it does
  bool byRow = false;                            ///< some of it is computed by one thread for each row
  bool byWarp = false;                           ///< some of it is computed by one warp for each row
  std::vector<ProductReport> products;
  std::string launch; ///< "once", "in a persistent kernel", or "each time: " and why
};

struct DeviceReport {
  std::string entry;
  std::vector<KernelReport>
      kernels;         ///< in the order in which they run; not those that run when the model is made
  std::string noGraph; ///< why all launches cannot be one graph; empty: they can
};

/// Reads all programs of a `kernel` module that the whole pipeline for a GPU has gone over. `realBytes` are
/// those of a number.
std::vector<DeviceReport> reportKernels(mlir::ModuleOp kernels, int64_t realBytes);

void print(llvm::raw_ostream &out, const DeviceReport &report);
llvm::json::Value toJson(const DeviceReport &report);

/// What a batch of an entry takes on a device, as a formula of what it has.
void print(llvm::raw_ostream &out, const codegen::MemoryPlan &plan, const codegen::MemoryPlan::Entry &entry);
llvm::json::Value toJson(const codegen::MemoryPlan &plan, const codegen::MemoryPlan::Entry &entry);

} // namespace dbc::driver
