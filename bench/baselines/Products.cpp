// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Choosing among the calls of CBLAS.
#include "bench/baselines/Products.h"

#include <cblas.h>

#include <algorithm>
#include <chrono>

namespace dbc::bench {

Product::Product(const float *a, int32_t n, int32_t k, int32_t max_rows)
    : n_(n), k_(k), stored_(a, a + static_cast<int64_t>(n) * k), turned_(stored_.size()) {
  for (int32_t i = 0; i < n; ++i)
    for (int32_t j = 0; j < k; ++j)
      turned_[static_cast<int64_t>(j) * n + i] = stored_[static_cast<int64_t>(i) * k + j];

  static constexpr int32_t kProbes[] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12,  14,
                                        16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 256};
  const int32_t most = std::clamp(max_rows, 1, 256);
  std::vector<float> x(static_cast<int64_t>(most) * k, 0.5f), y(static_cast<int64_t>(most) * n);
  calls_.push_back({Way::GemvStored, 0, 0});
  for (int32_t probe : kProbes) {
    const Call before = calls_.back(), call = fastest(std::min(probe, most), x.data(), y.data());
    // Numbers of rows since the probe before take this one's way, and times on a straight line.
    for (int32_t rows = before.rows + 1; rows <= call.rows; ++rows)
      calls_.push_back({call.way, rows,
                        before.seconds + (call.seconds - before.seconds) * (rows - before.rows) /
                                             (call.rows - before.rows)});
    if (call.rows == most)
      break;
  }
  wide_ = calls_.back().way;
  // What is cut off first has its final time when it is looked at, and so has the rest.
  for (int32_t rows = 2; rows <= most; ++rows)
    for (int32_t first = 1; first < rows; ++first) {
      const double seconds = calls_[first].seconds + calls_[rows - first].seconds;
      if (calls_[first].rows == first && seconds < 0.97 * calls_[rows].seconds)
        calls_[rows] = {calls_[first].way, first, seconds};
    }
}

/// The fastest call for all of some rows.
Product::Call Product::fastest(int32_t rows, const float *x, float *y) const {
  using Clock = std::chrono::steady_clock;
  Call best{Way::GemvStored, rows, 1e30};
  for (Way way : {Way::GemvStored, Way::GemvTurned, Way::GemmStored, Way::GemmTurned}) {
    // A gemv a row never wins from here on and would only make the choice slow.
    if (rows > 16 && (way == Way::GemvStored || way == Way::GemvTurned))
      continue;
    run(way, x, rows, y);
    // The least of several: whatever else the machine does can only make a sample longer.
    for (int sample = 0; sample < 7; ++sample) {
      Clock::time_point start = Clock::now();
      run(way, x, rows, y);
      double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (seconds < best.seconds)
        best = {way, rows, seconds};
    }
  }
  return best;
}

void Product::run(const float *x, int32_t rows, float *y) const {
  if (rows >= static_cast<int32_t>(calls_.size()))
    return run(wide_, x, rows, y);
  while (rows > 0) {
    const Call &call = calls_[rows];
    run(call.way, x, call.rows, y);
    x += static_cast<int64_t>(call.rows) * k_;
    y += static_cast<int64_t>(call.rows) * n_;
    rows -= call.rows;
  }
}

void Product::run(Way way, const float *x, int32_t rows, float *y) const {
  switch (way) {
  case Way::GemvStored:
    for (int32_t r = 0; r < rows; ++r)
      cblas_sgemv(CblasRowMajor, CblasNoTrans, n_, k_, 1, stored_.data(), k_,
                  x + static_cast<int64_t>(r) * k_, 1, 0, y + static_cast<int64_t>(r) * n_, 1);
    break;
  case Way::GemvTurned:
    for (int32_t r = 0; r < rows; ++r)
      cblas_sgemv(CblasRowMajor, CblasTrans, k_, n_, 1, turned_.data(), n_, x + static_cast<int64_t>(r) * k_,
                  1, 0, y + static_cast<int64_t>(r) * n_, 1);
    break;
  case Way::GemmStored:
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, n_, k_, 1, x, k_, stored_.data(), k_, 0, y,
                n_);
    break;
  case Way::GemmTurned:
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, n_, k_, 1, x, k_, turned_.data(), n_, 0, y,
                n_);
    break;
  }
}

} // namespace dbc::bench
