// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the figures were measured on.
#pragma once

#include <cstdint>
#include <string>

namespace dbc::bench {

/// The processor and the matrix library. One thread.
class Machine {
public:
  /// Sets OpenBLAS to `threads` threads.
  explicit Machine(int32_t threads);

  /// Two lines for people.
  std::string describe() const;
  /// Empty, or a warning: OpenBLAS took kernels for a lesser processor than this one.
  std::string wrong_kernels() const;

  /// Multiplies large matrices for about a tenth of a second. `peak` keeps the best of all calls.
  void sample_peak();
  /// GFLOP/s of sgemm in this run.
  double peak() const { return peak_; }

private:
  std::string cpu_, flags_, core_, config_;
  int32_t threads_;
  double peak_ = 0;
};

} // namespace dbc::bench
