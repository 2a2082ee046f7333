// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products with matrices that change.
#include "bench/baselines/TrainedMatrix.h"

#include <cblas.h>

#include <algorithm>
#include <chrono>

namespace dbc::bench {

TrainedMatrix::TrainedMatrix(std::vector<float> a, int32_t n, int32_t k) : n_(n), k_(k), a_(std::move(a)) {
  choose();
}

void TrainedMatrix::choose() {
  constexpr int32_t kMost = 16;
  std::vector<float> x(static_cast<size_t>(kMost) * k_, 0.5F), y(static_cast<size_t>(kMost) * n_, 0.5F);
  auto seconds = [](auto call) {
    using Clock = std::chrono::steady_clock;
    double least = 1e30;
    for (int sample = 0; sample < 7; ++sample) {
      Clock::time_point start = Clock::now();
      call();
      least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return least;
  };
  // `limit` is the member that decides; from the first number of rows at which a gemm wins, it does.
  auto choose_one = [&](int32_t &limit, auto product) {
    for (int32_t rows = 2; rows <= kMost; ++rows) {
      limit = rows;
      const double by_row = seconds([&] { product(rows); });
      limit = rows - 1;
      if (by_row > seconds([&] { product(rows); }))
        return;
      limit = rows;
    }
  };
  choose_one(forward_gemv_, [&](int32_t rows) { forward(x.data(), rows, y.data()); });
  choose_one(backward_gemv_, [&](int32_t rows) { backward(y.data(), rows, x.data()); });
}

void TrainedMatrix::forward(const float *x, int32_t rows, float *y) const {
  if (rows <= forward_gemv_)
    for (int64_t r = 0; r < rows; ++r)
      cblas_sgemv(CblasRowMajor, CblasNoTrans, n_, k_, 1, a_.data(), k_, x + r * k_, 1, 0, y + r * n_, 1);
  else
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, n_, k_, 1, x, k_, a_.data(), k_, 0, y, n_);
}

void TrainedMatrix::backward(const float *dy, int32_t rows, float *dx, float beta) const {
  if (rows <= backward_gemv_)
    for (int64_t r = 0; r < rows; ++r)
      cblas_sgemv(CblasRowMajor, CblasTrans, n_, k_, 1, a_.data(), k_, dy + r * n_, 1, beta, dx + r * k_, 1);
  else
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, k_, n_, 1, dy, n_, a_.data(), k_, beta, dx,
                k_);
}

void TrainedMatrix::step(float rate, const float *dy, const float *x, int32_t rows) {
  if (rows == 1)
    cblas_sger(CblasRowMajor, n_, k_, -rate, dy, 1, x, 1, a_.data(), k_);
  else if (rows > 1)
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n_, k_, rows, -rate, dy, n_, x, k_, 1, a_.data(),
                k_);
}

void step_bias(float rate, const float *dy, int32_t rows, std::vector<float> &bias) {
  const auto size = static_cast<int32_t>(bias.size());
  for (int64_t r = 0; r < rows; ++r)
    cblas_saxpy(size, -rate, dy + r * size, 1, bias.data(), 1);
}

void step_rows(float rate, const float *dx, const int32_t *numbers, int32_t rows, int32_t width,
               std::vector<float> &table) {
  for (int64_t r = 0; r < rows; ++r)
    cblas_saxpy(width, -rate, dx + r * width, 1, &table[static_cast<int64_t>(numbers[r]) * width], 1);
}

} // namespace dbc::bench
