// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The list of workloads.
#include "bench/workloads/Workloads.h"

namespace dbc::bench {

const std::vector<Workload> &workloads() {
  static const std::vector<Workload> all = {{"tree_lstm", run_tree_lstm}};
  return all;
}

} // namespace dbc::bench
