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

  static constexpr int32_t kProbes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256};
  int32_t most = std::clamp(max_rows, 1, 256);
  std::vector<float> x(static_cast<int64_t>(most) * k, 0.5f), y(static_cast<int64_t>(most) * n);
  using Clock = std::chrono::steady_clock;
  way_.assign(1, Way::GemvStored);
  for (int32_t rows : kProbes) {
    Way best = Way::GemvStored;
    double best_seconds = 1e30;
    rows = std::min(rows, most);
    for (Way way : {Way::GemvStored, Way::GemvTurned, Way::GemmStored, Way::GemmTurned}) {
      // A gemv a row never wins from here on and would only make the choice slow.
      if (rows > 16 && (way == Way::GemvStored || way == Way::GemvTurned))
        continue;
      run(way, x.data(), rows, y.data());
      // The least of several: whatever else the machine does can only make a sample longer.
      for (int sample = 0; sample < 7; ++sample) {
        Clock::time_point start = Clock::now();
        run(way, x.data(), rows, y.data());
        double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (seconds < best_seconds) {
          best_seconds = seconds;
          best = way;
        }
      }
    }
    // Numbers of rows since the probe before take this one's choice.
    way_.resize(rows + 1, best);
    if (rows == most)
      break;
  }
}

void Product::run(const float *x, int32_t rows, float *y) const {
  run(way_[std::min<size_t>(rows, way_.size() - 1)], x, rows, y);
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
