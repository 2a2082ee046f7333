// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Options of a training that name files.
#pragma once

#include "Checkpoint.h"

#include <dbc/status.h>
#include <dbc/train/options.h>

namespace dbc::train {

/// Fails with bad_call unless the options say which files there are to be, and none takes the place of
/// another, nor of what the `folder` keeps; null: there is no --out.
Status check_files(const TrainOptions &options, const CheckpointFolder *folder);

} // namespace dbc::train
