// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products through libraries, and the limit that they are timed for.
#include "bench/baselines/Products.h"
#include "bench/ProductLimit.h"
#include "bench/Random.h"
#include "bench/Report.h"
#include "bench/baselines/PackedProducts.h"
#include "bench/workloads/Workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace dbc::bench;

namespace {

constexpr int32_t kRows = 300; ///< at most

/// A matrix A[n, k], operands for it, and what they give.
struct Sample {
  Sample(int32_t n, int32_t k) : n(n), k(k), a(n * k), x(kRows * k), y(kRows * n) {
    Random random(n);
    for (std::vector<float> *values : {&a, &x})
      for (float &value : *values)
        value = static_cast<float>(random.uniform()) - 0.5f;
  }
  /// The largest error in the first `rows` rows of y; what lies behind them must be NaN still.
  double error(int32_t rows) const {
    double most = 0;
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int32_t j = 0; j < k; ++j)
          sum += static_cast<double>(a[i * k + j]) * x[r * k + j];
        const double d = std::fabs(sum - y[r * n + i]);
        most = std::isfinite(d) ? std::max(most, d) : HUGE_VAL;
      }
    for (size_t i = static_cast<size_t>(rows) * n; i < y.size(); ++i)
      if (!std::isnan(y[i]))
        return HUGE_VAL;
    return most;
  }
  int32_t n, k;
  std::vector<float> a, x, y;
};

// All numbers of rows, as each may be cut another way; few products that are large and many that are small.
TEST(Products, EveryNumberOfRows) {
  for (auto [n, k] : {std::pair<int32_t, int32_t>{150, 150}, {9, 20}}) {
    Sample sample(n, k);
    Product product(sample.a.data(), n, k, kRows), narrow(sample.a.data(), n, k, 3);
    for (int32_t rows = 0; rows <= kRows; rows += rows < 70 ? 1 : 46) {
      std::fill(sample.y.begin(), sample.y.end(), NAN);
      product.run(sample.x.data(), rows, sample.y.data());
      EXPECT_LT(sample.error(rows), 1e-5) << n << " " << rows;
    }
    std::fill(sample.y.begin(), sample.y.end(), NAN);
    narrow.run(sample.x.data(), 3, sample.y.data());
    EXPECT_LT(sample.error(3), 1e-5) << n;
  }
}

TEST(Products, Packed) {
  if (packed_ways().empty())
    GTEST_SKIP() << "built without oneDNN";
  Sample sample(50, 30);
  std::unique_ptr<PackedProduct> packed = packed_product(sample.a.data(), 50, 30, 1);
  for (size_t way = 0; way < packed_ways().size(); ++way)
    for (int32_t rows : {1, 2, 17, kRows}) {
      std::function<void()> call = packed->call(way, sample.x.data(), rows, sample.y.data());
      std::fill(sample.y.begin(), sample.y.end(), NAN);
      call();
      EXPECT_LT(sample.error(rows), 1e-5) << packed_ways()[way] << " " << rows;
    }
}

// The time of the products is part of that of the passes, whatever else the machine does.
TEST(ProductLimit, Seconds) {
  ProductLimit limit({{4, 60, 60}, {1, 5, 60}, {4, 60, 60}}, 1);
  auto start = std::chrono::steady_clock::now();
  for (int pass = 0; pass < 3; ++pass)
    limit.pass();
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GT(limit.seconds(), 0);
  EXPECT_LE(limit.seconds(), all);
  EXPECT_NE(limit.libraries().find("OpenBLAS"), std::string::npos);
}

// The products that a workload lists are those that its operations are counted by.
TEST(ProductLimit, ListsOfWorkloads) {
  int lists = 0;
  for (const WorkloadInfo &info : workloads()) {
    std::unique_ptr<Workload> workload = info.make(6);
    std::string error;
    Inputs some = workload->load("/nonexistent", error).inputs.first(9);
    for (int32_t size : {1, 4}) {
      double flops = 0;
      std::vector<LevelProduct> products = workload->products(some.cut(size));
      for (const LevelProduct &product : products)
        flops += 2.0 * product.rows * product.n * product.k;
      if (products.empty())
        continue;
      ++lists;
      EXPECT_NEAR(flops, workload->flops(some), 1e-6 * flops) << info.name;
    }
  }
  EXPECT_GE(lists, 2);
}

TEST(ProductLimit, Share) {
  Measurement found;
  Timing timing;
  timing.seconds = 4;
  EXPECT_FALSE(limit_share({"dbc", nullptr}, timing, found)); // no limit is known
  found.products = 3;
  EXPECT_EQ(limit_share({"dbc", nullptr}, timing, found), 0.75);
  EXPECT_FALSE(limit_share({"dbc-table", nullptr}, timing, found)); // it computes other products
  EXPECT_FALSE(limit_share({"dbc", nullptr}, Timing(), found));     // absent
}

} // namespace
