// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What all ranks of a training have alike.
#pragma once

#include "Checkpoint.h"
#include "Json.h"
#include "Ranks.h"

#include <dbc/optimizer.h>
#include <dbc/status.h>
#include <dbc/weights.h>

namespace dbc::train {

/// Fails with bad_call, on all ranks, where the first one was asked for something else than another: the
/// first difference is named.
Status compare(Ranks &ranks, const Json &asked);

/// Gives all ranks the state of a training that the first one has; of the optimizer the whole state.
Status share_state(Ranks &ranks, Progress &progress, Weights &weights, Optimizer &optimizer);

} // namespace dbc::train
