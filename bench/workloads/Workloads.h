// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// All workloads by name.
#pragma once

#include "bench/Workload.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace dbc::bench {

/// A workload that can be made at any hidden size; its weights are drawn then.
struct WorkloadInfo {
  const char *name; ///< also that of the plug-ins with its model
  std::unique_ptr<Workload> (*make)(int32_t hidden);
  std::unique_ptr<Workload> (*make_training)(int32_t hidden) = nullptr; ///< null: it has no training form

  bool has(Mode mode) const { return mode == Mode::Infer || make_training; }
  /// It must have that mode.
  std::unique_ptr<Workload> make_for(Mode mode, int32_t hidden) const {
    return mode == Mode::Train ? make_training(hidden) : make(hidden);
  }
};

/// In the order in which they are measured.
const std::vector<WorkloadInfo> &workloads();

std::unique_ptr<Workload> make_tree_lstm(int32_t hidden);
std::unique_ptr<Workload> make_child_sum(int32_t hidden);
std::unique_ptr<Workload> make_tagger(int32_t hidden);
std::unique_ptr<Workload> make_lattice(int32_t hidden);
std::unique_ptr<Workload> make_treefc(int32_t hidden);
std::unique_ptr<Workload> make_mv_rnn(int32_t hidden);
std::unique_ptr<Workload> make_ggnn(int32_t hidden);

std::unique_ptr<Workload> make_tree_lstm_training(int32_t hidden);
std::unique_ptr<Workload> make_tagger_training(int32_t hidden);

} // namespace dbc::bench
