// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How long a batch takes on the device, read off the device's clock: events stand between the copies and the
// kernels of a session's stream.
#pragma once

#include <dbc/model.h>

#include <cuda_runtime.h>

namespace dbc::gpu {

/// Microseconds of one batch.
struct DeviceTimes {
  double with_copies = 0; ///< from before the first copy to the device to behind the last one from it
  double kernels = 0;     ///< of this what lies between the copies
};

/// The model's code with a device that is watched; one at a time in a program.
ModelCode watched(const ModelCode &code);
/// The next run is a batch of its own.
void begin_watch();
/// Of the last run, which has ended.
DeviceTimes end_watch();

} // namespace dbc::gpu
