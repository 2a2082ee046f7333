// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the products of a pass take alone: no program that goes level by level can be faster with the
// libraries that there are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dbc::bench {

/// y[rows, n] = x[rows, k] A^T for a fixed matrix A[n, k]: what a level computes.
struct LevelProduct {
  int32_t rows, n, k;
};

/// Times the products of a pass with every library that there is: OpenBLAS in the fastest of its ways
/// (baselines/Products.h) and oneDNN with packed weights, if it is installed.
class ProductLimit {
public:
  /// `products` in the order of the pass. Packs the matrices, which are random, and makes all buffers.
  ProductLimit(const std::vector<LevelProduct> &products, int32_t threads);

  /// Computes all products once with each library, one library after the other.
  void pass();

  /// Seconds of the products of a pass, each by the library that is fastest with its size: the median over
  /// the passes so far. There must have been one.
  double seconds() const;
  /// The libraries with their shares of those seconds, for people.
  std::string libraries() const;

private:
  /// Products of the same size. Their times in each pass are added up.
  struct Size {
    LevelProduct product;
    std::vector<std::function<void()>> calls;   ///< a library
    std::vector<std::vector<double>> seconds{}; ///< a library and a pass
  };
  /// The library whose median is the least.
  static size_t fastest(const Size &size);

  std::vector<std::string> names_; ///< of the libraries
  std::vector<Size> sizes_;
  std::vector<int32_t> order_; ///< a product of the pass: its size
  std::vector<float> x_, y_;
};

} // namespace dbc::bench
