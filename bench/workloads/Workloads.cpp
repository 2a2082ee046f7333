// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The list of workloads.
#include "bench/workloads/Workloads.h"

namespace dbc::bench {

const std::vector<WorkloadInfo> &workloads() {
  static const std::vector<WorkloadInfo> all = {{"tree_lstm", make_tree_lstm, make_tree_lstm_training},
                                                {"child_sum", make_child_sum},
                                                {"tagger", make_tagger, make_tagger_training},
                                                {"lattice", make_lattice},
                                                {"treefc", make_treefc},
                                                {"mv_rnn", make_mv_rnn},
                                                {"ggnn", make_ggnn}};
  return all;
}

} // namespace dbc::bench
