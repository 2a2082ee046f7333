// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a plug-in with a compiled Tree-LSTM offers.
#pragma once

#include "bench/Implementation.h"
#include "bench/workloads/TreeLstm.h"

#include <cstdint>
#include <vector>

namespace dbc::bench {

/// Makes the implementation, which the caller deletes; model and batches are borrowed and must outlive it.
/// Ends the program with a message if the compiled model refuses the weights or an input, which would be a
/// bug.
using MakeTreeLstm = Implementation *(const TreeLstm &model, const std::vector<TreeBatch> &batches,
                                      int32_t threads);

/// Name of a plug-in's function of that type.
constexpr const char *kMakeTreeLstm = "dbc_bench_make_tree_lstm";

} // namespace dbc::bench
