// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products of rows with constant matrices that were packed once: y = init + W x for a handful to many rows.
//
// Each output has one accumulator that starts at its initial value and runs over k in order, vectors lie
// across outputs. A row's bits therefore depend on nothing but the row: not on the number of rows, its place,
// or the threads. On a machine with fused multiply-add (x86-64-v3 and up) every step is one fma; on the
// x86-64 baseline it is a multiplication and an addition, so bits may differ between machines, never on one.
#pragma once

#include <dbc/buffer.h>

#include <cstddef>
#include <cstdint>

namespace dbc {

/// Where the rows of an operand lie: row i starts at base + (row ? row[i] : i) * stride.
template <class Real> struct Rows {
  const Real *base = nullptr;
  const int32_t *row = nullptr;
  int64_t stride = 0; ///< in elements; 0: all rows are the same
  const Real *at(int32_t i) const { return base + (row ? row[i] : i) * stride; }
};

/// One of the vectors that are joined to make x; `length` elements of each row.
template <class Real> struct Segment {
  Rows<Real> rows;
  int32_t length = 0;
};

/// Where result rows go: row i starts at base + (row ? row[i] : i) * stride.
template <class Real> struct RowsOut {
  Real *base = nullptr;
  const int32_t *row = nullptr;
  int64_t stride = 0;
  Real *at(int32_t i) const { return base + (row ? row[i] : i) * stride; }
};

/// A matrix [outputs, inputs] in the kernel's order: panels of neighbouring outputs, each stored k-major and
/// padded with zeros to whole vectors. Immutable after `pack`; may be read by any number of threads.
template <class Real> class Packed {
public:
  /// Packs a row-major matrix; row o starts at w + o * stride. Throws std::bad_alloc.
  void pack(const Real *w, int32_t outputs, int32_t inputs, int64_t stride);
  void pack(const Real *w, int32_t outputs, int32_t inputs) { pack(w, outputs, inputs, inputs); }

  int32_t outputs() const { return outputs_; }
  int32_t inputs() const { return inputs_; }
  const Real *data() const { return data_.data(); }
  size_t bytes() const { return data_.size() * sizeof(Real); }

private:
  Array<Real> data_;
  int32_t outputs_ = 0, inputs_ = 0;
};

/// y[i, o] = init[i, o] + sum over k of w[o, k] * x[i, k], in the order of k; x[i] is the segments' rows i
/// joined.
///
/// rows      number of rows; 0 is fine
/// segments  `count` of them; their lengths add up to w.inputs()
/// init      initial values; base null: 0; stride 0: one bias for all rows
/// y         w.outputs() elements of each row are written; must not overlap x or init, though y may be init
///
/// Allocates nothing and is safe to call from several threads on disjoint y.
template <class Real>
void product(int32_t rows, const Segment<Real> *segments, int32_t count, const Packed<Real> &w,
             Rows<Real> init, RowsOut<Real> y);

/// The common case: one segment, a shared bias or null.
template <class Real>
inline void product(int32_t rows, Rows<Real> x, const Packed<Real> &w, const Real *bias, RowsOut<Real> y) {
  Segment<Real> segment{x, w.inputs()};
  product<Real>(rows, &segment, 1, w, Rows<Real>{bias, nullptr, 0}, y);
}

extern template class Packed<float>;
extern template class Packed<double>;
template <>
void product<float>(int32_t rows, const Segment<float> *segments, int32_t count, const Packed<float> &w,
                    Rows<float> init, RowsOut<float> y);
template <>
void product<double>(int32_t rows, const Segment<double> *segments, int32_t count, const Packed<double> &w,
                     Rows<double> init, RowsOut<double> y);

/// The instruction set that the kernels were chosen for: "avx512", "avx2" or "baseline".
const char *product_kernels();

} // namespace dbc
