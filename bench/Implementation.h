// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the harness knows of a contestant: it can compute all of its inputs once.
#pragma once

#include <string>
#include <vector>

namespace dbc::bench {

/// One implementation of a workload at one size, with its weights and its inputs loaded and every buffer
/// allocated. Belongs to one thread.
class Implementation {
public:
  virtual ~Implementation() = default;

  /// Computes all inputs, batch after batch, from structure to results: scheduling is part of it. `out` takes
  /// the results of all inputs one after the other, in the order of the inputs. From the second pass on it
  /// allocates nothing.
  ///
  /// A training makes one step a batch, and goes on from the weights that the last pass has left; `out` takes
  /// the mean loss of each batch's inputs.
  virtual void pass(float *out) = 0;

  /// Of a training: the parameter of that name as the passes so far have left it. Else empty.
  virtual std::vector<float> parameter(const std::string &name) {
    (void)name;
    return {};
  }

  /// Seconds that the last pass spent on scheduling; negative where it cannot be told apart.
  virtual double schedule_seconds() const { return -1; }

  /// Seconds that the last pass took by the implementation's own clock, where handing over its results would
  /// count otherwise; negative: the caller's clock counts.
  virtual double pass_seconds() const { return -1; }
};

} // namespace dbc::bench
