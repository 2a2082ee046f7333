// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A product with a fixed matrix through CBLAS, by whichever call is fastest for the number of rows.
#pragma once

#include <cstdint>
#include <vector>

namespace dbc::bench {

/// y[m, n] = x[m, k] A^T for a fixed matrix A[n, k].
///
/// How fast OpenBLAS is with few rows depends on the machine: a gemv a row or a gemm, A as it is stored or
/// turned over. So all four are timed for some numbers of rows when the product is made, and the fastest is
/// kept for each. Speeds jump, too: where two calls for some of the rows each are faster than one for all,
/// rows are cut.
class Product {
public:
  /// Copies `a`. At most `max_rows` rows will be asked for.
  Product(const float *a, int32_t n, int32_t k, int32_t max_rows);

  /// Rows are contiguous. `y` is overwritten.
  void run(const float *x, int32_t rows, float *y) const;

  int32_t n() const { return n_; }
  int32_t k() const { return k_; }

private:
  enum class Way : uint8_t { GemvStored, GemvTurned, GemmStored, GemmTurned };
  /// What a number of rows begins with: one call for the first `rows` of them.
  struct Call {
    Way way;
    int32_t rows;
    double seconds; ///< of all rows
  };
  Call fastest(int32_t rows, const float *x, float *y) const;
  void run(Way way, const float *x, int32_t rows, float *y) const;

  int32_t n_, k_;
  std::vector<float> stored_, turned_; ///< [n, k] and [k, n]
  std::vector<Call> calls_;            ///< by number of rows, from 0
  Way wide_;                           ///< for all numbers above
};

} // namespace dbc::bench
