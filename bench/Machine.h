// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the figures were measured on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

  /// GFLOP/s of sgemm just now: multiplies square matrices, of the size that was fastest at first, for some
  /// 20 ms.
  double sgemm();

private:
  std::string cpu_, flags_, core_, config_;
  int32_t threads_;
  int32_t size_ = 0;             ///< of the matrices for sgemm
  std::vector<float> a_, b_, c_; ///< those matrices
};

} // namespace dbc::bench
