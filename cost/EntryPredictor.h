// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the batches of a run take on a device, by the cost model and the launches that the run wrote down.
#pragma once

#include "cost/DeviceCost.h"
#include "mlir/IR/BuiltinOps.h"
#include <dbc/io/profile.h>
#include <dbc/profile.h>

namespace dbc::cost {

/// Predicts batches of an entry.
class EntryPredictor {
public:
  /// `kernels` is a `kernel` module that the whole pipeline for a GPU has gone over, and has the entry.
  EntryPredictor(DeviceConstants device, mlir::ModuleOp kernels, llvm::StringRef entry);

  const DeviceConstants &device() const { return device_; }
  const ProgramShape &program() const { return program_; }
  /// Of a run of the entry, on the CPU or a device: its launches, the stages of its profile, and how many
  /// inputs it had; 1 where they share instances, as they are distributed to block groups like one.
  Prediction predict(const LaunchLog &log, const std::vector<StageProfile> &stages, int64_t inputs) const;

  /// Adds what a run on a device is predicted to take on the path that it took to `sum`, stage by stage as it
  /// was timed: a loop that is one launch as a whole, at its first stage.
  void add(const LaunchLog &log, const std::vector<StageProfile> &stages, int64_t inputs, DevicePath path,
           PredictedProfile &sum) const;

private:
  /// The stage of a kernel by its number. Of both targets stages have the same names, but not numbers.
  static size_t stageOf(const KernelShape &kernel, const std::vector<StageProfile> &stages);

  DeviceConstants device_;
  ProgramShape program_;
};

} // namespace dbc::cost
