// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Options of a training that are about single parameters.
#pragma once

#include <dbc/model_info.h>
#include <dbc/optimizer.h>
#include <dbc/status.h>
#include <dbc/train/options.h>

namespace dbc::train {

/// Hands --freeze, --lr NAME=X and --weight-decay NAME=X on to the optimizer. Fails with bad_call if a name
/// is no parameter's, nor the beginning of the path of one, or if all are frozen that the loss depends on.
Status set_parameters(const TrainOptions &options, const ModelInfo &info, const EntryInfo &loss,
                      Optimizer &optimizer);

} // namespace dbc::train
