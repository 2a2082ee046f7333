// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The arrays of a sub-batch in a device's memory: in C++, and as a sum over what a batch has.
#pragma once

#include "codegen/common/MemoryPlan.h"
#include "codegen/cuda/DeviceArrays.h"
#include <map>

namespace dbc::codegen {

/// An array as dbc::cuda::Region has it.
struct DeviceRegion {
  MemoryPlan::Kind kind;
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

/// Those of a program of the model for the device. It borrows what it is made of; `locals` are names that the
/// function has which sets their addresses.
class DeviceRegions {
public:
  DeviceRegions(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
                NameScope &locals);

  /// In the order of their kinds. Once.
  std::vector<DeviceRegion> all();
  /// The array where the host puts the rows of an index set that stay, or that an order has.
  std::string activeOf(kernel::IndexSetOp indexSet);
  /// The array where the host puts an index array that it makes in the course of a run.
  std::string placeOf(const DeviceArrays::IndexArray &array);
  /// Bytes that a block of threads needs at most of scratch in global memory.
  int64_t scratch() const { return scratch_; }

private:
  using Count = MemoryPlan::Count;
  using Kind = MemoryPlan::Kind;
  void findScratch();
  void addInputs(std::vector<DeviceRegion> &regions);
  void addDecided(std::vector<DeviceRegion> &regions);
  DeviceRegion fieldRegion(const std::string &symbol);
  DeviceRegion rowsRegion(const Storage &storage);
  DeviceRegion scratchRegion();
  DeviceRegion indexArrayRegion(const DeviceArrays::IndexArray &array);
  DeviceRegion orderRegion(kernel::IndexSetOp indexSet, const std::string &member);
  DeviceRegion madeInRun(const DeviceArrays::IndexArray &array, const DeviceRegion &before);
  std::string lookups(kernel::DistinctOp op);
  kernel::IndexSetOp rowsOf(kernel::IndexSetOp order);
  bool isSynced(const Storage &storage);
  std::string member(kernel::BufferOp buffer) { return model_.array(program_, buffer.getSymName()).member; }

  const ModelNames &model_;
  const Program &program_;
  const DeviceArrays &arrays_;
  NameScope &locals_;
  int64_t scratch_ = 0;
  std::vector<MemoryPlan::Term> scratchBlocks_; ///< of each stage that has scratch in global memory
  llvm::DenseMap<mlir::Operation *, std::string> active_;
  std::map<std::string, std::string> places_; ///< by member
};

} // namespace dbc::codegen
