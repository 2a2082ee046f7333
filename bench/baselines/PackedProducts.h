// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A product with a fixed matrix through oneDNN, which packs the matrix once, as its kernels read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dbc::bench {

/// y[m, n] = x[m, k] A^T for a fixed matrix A[n, k].
class PackedProduct {
public:
  virtual ~PackedProduct() = default;

  /// What computes `rows` contiguous rows of `x` to `y` in the way of that number. It borrows all three.
  virtual std::function<void()> call(size_t way, float *x, int32_t rows, float *y) = 0;
};

/// The ways that oneDNN has to multiply, by name; none without oneDNN in this build.
std::vector<std::string> packed_ways();

/// Copies `a`. Null without oneDNN. Sets oneDNN to `threads` threads.
std::unique_ptr<PackedProduct> packed_product(const float *a, int32_t n, int32_t k, int32_t threads);

} // namespace dbc::bench
