// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Taking the times of products.
#include "bench/ProductLimit.h"

#include "bench/Measure.h"
#include "bench/Random.h"
#include "bench/baselines/PackedProducts.h"
#include "bench/baselines/Products.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace dbc::bench {

static void draw(Random &random, std::vector<float> &values) {
  for (float &value : values)
    value = static_cast<float>(random.uniform()) - 0.5f;
}

ProductLimit::ProductLimit(const std::vector<LevelProduct> &products, int32_t threads) {
  Random random(1);
  size_t x = 0, y = 0;
  std::map<std::pair<int32_t, int32_t>, int32_t> most; // rows of each matrix
  for (const LevelProduct &product : products) {
    x = std::max(x, static_cast<size_t>(product.rows) * product.k);
    y = std::max(y, static_cast<size_t>(product.rows) * product.n);
    int32_t &rows = most[{product.n, product.k}];
    rows = std::max(rows, product.rows);
  }
  x_.resize(x);
  y_.resize(y);
  draw(random, x_);

  names_ = {"OpenBLAS"};
  for (const std::string &way : packed_ways())
    names_.push_back(way);
  struct Matrix {
    std::shared_ptr<Product> product;
    std::shared_ptr<PackedProduct> packed; // null: oneDNN is absent
  };
  std::map<std::pair<int32_t, int32_t>, Matrix> matrices;
  for (const auto &[size, rows] : most) {
    std::vector<float> a(static_cast<size_t>(size.first) * size.second);
    draw(random, a);
    matrices[size] = {std::make_shared<Product>(a.data(), size.first, size.second, rows),
                      packed_product(a.data(), size.first, size.second, threads)};
  }
  std::map<std::tuple<int32_t, int32_t, int32_t>, int32_t> numbers; // of the sizes
  for (const LevelProduct &product : products) {
    auto [at, is_new] = numbers.try_emplace({product.rows, product.n, product.k}, sizes_.size());
    order_.push_back(at->second);
    if (!is_new)
      continue;
    const Matrix &matrix = matrices[{product.n, product.k}];
    Size size{product, {}};
    size.calls.push_back(
        [this, matrix, product] { matrix.product->run(x_.data(), product.rows, y_.data()); });
    for (size_t way = 0; way < packed_ways().size(); ++way)
      size.calls.push_back(matrix.packed->call(way, x_.data(), product.rows, y_.data()));
    size.seconds.resize(names_.size());
    sizes_.push_back(std::move(size));
  }
}

void ProductLimit::pass() {
  using Clock = std::chrono::steady_clock;
  for (size_t library = 0; library < names_.size(); ++library) {
    for (Size &size : sizes_)
      size.seconds[library].push_back(0);
    Clock::time_point before = Clock::now();
    for (int32_t number : order_) {
      Size &size = sizes_[number];
      size.calls[library]();
      Clock::time_point now = Clock::now();
      size.seconds[library].back() += std::chrono::duration<double>(now - before).count();
      before = now;
    }
  }
}

size_t ProductLimit::fastest(const Size &size) {
  size_t best = 0;
  for (size_t library = 1; library < size.seconds.size(); ++library)
    if (quantile(size.seconds[library], 0.5) < quantile(size.seconds[best], 0.5))
      best = library;
  return best;
}

double ProductLimit::seconds() const {
  // The median of the sums, not the sum of the medians: whatever else the machine does hits some sizes in
  // each pass, and the passes of the implementations as well.
  std::vector<double> passes(sizes_[0].seconds[0].size());
  for (const Size &size : sizes_) {
    const std::vector<double> &seconds = size.seconds[fastest(size)];
    for (size_t pass = 0; pass < passes.size(); ++pass)
      passes[pass] += seconds[pass];
  }
  return quantile(passes, 0.5);
}

std::string ProductLimit::libraries() const {
  std::vector<double> shares(names_.size());
  double sum = 0;
  for (const Size &size : sizes_) {
    const size_t library = fastest(size);
    const double seconds = quantile(size.seconds[library], 0.5);
    shares[library] += seconds;
    sum += seconds;
  }
  std::string text;
  for (size_t library = 0; library < names_.size(); ++library) {
    char share[64];
    std::snprintf(share, sizeof share, "%s%.0f %% %s", library ? ", " : "", 100 * shares[library] / sum,
                  names_[library].c_str());
    text += share;
  }
  return text;
}

} // namespace dbc::bench
