// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the baselines that work batch by batch have in common: scheduling is timed apart from the rest.
#pragma once

#include "bench/Implementation.h"

#include <chrono>
#include <vector>

namespace dbc::bench {

template <class Batch> class Batched : public Implementation {
public:
  /// `batches` is borrowed.
  explicit Batched(const std::vector<Batch> &batches) : batches_(batches) {}

  void pass(float *out) final {
    seconds_ = 0;
    for (const Batch &batch : batches_) {
      std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
      schedule(batch);
      seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      out = compute(batch, out);
    }
  }
  double schedule_seconds() const final { return seconds_; }

protected:
  virtual void schedule(const Batch &batch) = 0;
  /// Computes what was scheduled last. Returns the end of its results, which begin at `out`.
  virtual float *compute(const Batch &batch, float *out) = 0;

  const std::vector<Batch> &batches_;

private:
  double seconds_ = 0;
};

} // namespace dbc::bench
