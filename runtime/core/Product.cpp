// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Packing of matrices, and the choice of the product kernel.
#include "ProductKernels.h"
#include <dbc/math.h> // DBC_CLONES

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <cstring>
#include <initializer_list>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace dbc {

namespace {

const ProductKernels *runnable(const ProductKernels *kernels) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (kernels == product_kernels_avx512() && !__builtin_cpu_supports("avx512f"))
    return nullptr;
  if (kernels == product_kernels_avx2() && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
    return nullptr;
#endif
  return kernels;
}

const ProductKernels *best() {
  for (const ProductKernels *k : {product_kernels_avx512(), product_kernels_avx2(), product_kernels_neon()})
    if (k && runnable(k))
      return k;
  return product_kernels_baseline();
}

std::atomic<const ProductKernels *> &chosen() {
  static std::atomic<const ProductKernels *> kernels(best());
  return kernels;
}

const ProductKernels &kernels() { return *chosen().load(std::memory_order_relaxed); }

} // namespace

const char *product_kernels() { return kernels().name; }

bool choose_product_kernels(const char *name) {
  for (const ProductKernels *k :
       {product_kernels_avx512(), product_kernels_avx2(), product_kernels_neon(), product_kernels_baseline()})
    if (k && std::strcmp(k->name, name) == 0 && runnable(k)) {
      chosen().store(k);
      return true;
    }
  return false;
}

Bf16 to_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x))
    return {static_cast<uint16_t>(bits >> 16 | 0x40)}; // quiet, so that it stays one
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
float to_float(Bf16 x) {
  uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}

namespace {

/// Copies elements [begin, end) of `outputs` outputs of a matrix, so far from each other, into lines of a
/// panel.
template <class Real>
inline __attribute__((always_inline)) void copy_lines(const Real *at, int64_t output, int64_t input,
                                                      int32_t outputs, int32_t begin, int32_t end, Real *to) {
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  for (int32_t k = begin; k < end; ++k)
    for (int32_t j = 0; j < outputs; ++j)
      to[static_cast<int64_t>(k) * width + j] = at[j * output + k * input];
}

/// Rows that lie in memory, so far from each other, as the columns of a whole panel.
template <class Real> void turn_rows(const Real *at, int64_t distance, int32_t begin, int32_t end, Real *to) {
  copy_lines(at, distance, 1, kPanelBytes / sizeof(Real), begin, end, to);
}
#if defined(__SSE__)
// Compilers move number by number.
template <> void turn_rows<float>(const float *at, int64_t distance, int32_t begin, int32_t end, float *to) {
  constexpr int32_t width = kPanelBytes / sizeof(float);
  int32_t k = begin;
  for (; k + 4 <= end; k += 4)
    for (int32_t j = 0; j < width; j += 4) {
      __m128 rows[4];
      for (int32_t r = 0; r < 4; ++r)
        rows[r] = _mm_loadu_ps(at + (j + r) * distance + k);
      _MM_TRANSPOSE4_PS(rows[0], rows[1], rows[2], rows[3]);
      for (int32_t r = 0; r < 4; ++r)
        _mm_storeu_ps(to + static_cast<int64_t>(k + r) * width + j, rows[r]);
    }
  copy_lines(at, distance, 1, width, k, end, to);
}
#endif

/// Copies elements [begin, end) of `count` neighbouring outputs of a matrix to where a panel has them, from
/// its column `column` on.
template <class Real>
void copy_outputs(const MatrixElements<Real> &w, int32_t count, int32_t begin, int32_t end, Real *panel,
                  int32_t column) {
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  assert(w.output == 1 || w.input == 1);
  if (count < width)
    copy_lines(w.at, w.output, w.input, count, begin, end, panel + column);
  else if (w.output == 1) // what the compiler knows it uses
    copy_lines(w.at, 1, w.input, width, begin, end, panel);
  else
    turn_rows(w.at, w.output, begin, end, panel);
}

/// Adds 0 times each of `count` numbers to `nothing`, whose numbers stay 0 as long as all are finite: 0 times
/// another one is no 0. Both are whole panels wide.
template <class Real>
inline __attribute__((always_inline)) void add_nothing(const Real *numbers, int64_t count, Real *nothing) {
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  Real sums[width] = {};
  for (int64_t i = 0; i < count; i += width)
    for (int32_t j = 0; j < width; ++j)
      sums[j] += numbers[i + j] * 0;
  for (int32_t j = 0; j < width; ++j)
    nothing[j] += sums[j];
}
DBC_CLONES void test_finite(const float *numbers, int64_t count, float *nothing) {
  add_nothing(numbers, count, nothing);
}
DBC_CLONES void test_finite(const double *numbers, int64_t count, double *nothing) {
  add_nothing(numbers, count, nothing);
}

} // namespace

/// Room for `packed` outputs. Whole panels are written whole; the last one may have padding.
template <class Real> void Packed<Real>::make_room(int32_t outputs, int32_t inputs, size_t packed) {
  bf16_ = Array<Bf16Pair>();
  weights_.resize(packed * inputs);
  bias_.assign(packed, Real(0));
  outputs_ = outputs;
  inputs_ = inputs;
  pieces_.clear();
}

/// Outputs from number `first` on, at most as many as a panel has, lie as number `at` and on of the packed
/// order. copy_pieces() puts them there.
template <class Real>
void Packed<Real>::add_piece(const Real *bias, int64_t first, int32_t count, size_t at) {
  for (int32_t j = 0; j < count; ++j)
    bias_[at + j] = bias ? bias[first + j] : Real(0);
  pieces_.push_back({first, count, at});
}

/// Reads the matrix once, in the order in which it lies in memory, and looks at what it wrote while that is
/// near.
template <class Real> void Packed<Real>::copy_pieces(const MatrixElements<Real> &w) {
  constexpr int32_t width = kPanelBytes / sizeof(Real), kInputsAtOnce = 64;
  Real nothing[width] = {};
  const int32_t step = w.output == 1 ? kInputsAtOnce : inputs_;
  for (int32_t begin = 0; begin < inputs_; begin += step) {
    const int32_t end = std::min(inputs_, begin + step);
    for (size_t p = 0; p < pieces_.size(); ++p) {
      const Piece &piece = pieces_[p];
      const auto column = static_cast<int32_t>(piece.at % width);
      Real *panel = weights_.data() + (piece.at - column) * inputs_;
      copy_outputs({w.at + piece.first * w.output, w.output, w.input}, piece.count, begin, end, panel,
                   column);
      if (p + 1 == pieces_.size() || pieces_[p + 1].at / width != piece.at / width) // the panel is whole
        test_finite(panel + int64_t(begin) * width, int64_t(end - begin) * width, nothing);
    }
  }
  finite_ = std::all_of(nothing, nothing + width, [](Real sum) { return sum == 0; });
}

template <class Real>
void Packed<Real>::pack(MatrixElements<Real> w, int32_t outputs, int32_t inputs, const Real *bias) {
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  const int32_t whole = outputs / width * width, rest = outputs - whole;
  make_room(outputs, inputs, whole + (rest > 0 ? width : 0));
  last_at_ = -1;
  for (int32_t o = 0; o < whole; o += width)
    add_piece(bias, o, width, o);
  if (rest > 0) {
    std::fill(weights_.data() + static_cast<size_t>(whole) * inputs, weights_.data() + weights_.size(),
              Real(0));
    add_piece(bias, whole, rest, whole);
  }
  copy_pieces(w);
}

template <class Real>
void Packed<Real>::pack_tiles(MatrixElements<Real> w, int32_t gates, int32_t channels, int32_t width,
                              int32_t inputs, const Real *bias) {
  constexpr int32_t panel = kPanelBytes / sizeof(Real);
  const auto padded = [](int32_t outputs) { return (outputs + panel - 1) / panel * panel; };
  const int32_t tiles = (channels + width - 1) / width, rest = channels % width;
  const bool dense = rest != 0 && padded(gates * rest) < gates * width;
  tile_ = gates * width;
  last_at_ = dense ? tiles - 1 : -1;
  const size_t whole = static_cast<size_t>(dense ? tiles - 1 : tiles) * tile_;
  make_room(gates * channels, inputs, whole + (dense ? padded(gates * rest) : 0));
  for (int32_t t = 0; t < tiles; ++t)
    for (int32_t g = 0; g < gates && t != last_at_; ++g)
      for (int32_t j = 0; j < width; j += panel)
        add_piece(bias, g * channels + std::min(t * width, channels - width) + j, panel,
                  static_cast<size_t>(t) * tile_ + g * width + j);
  if (dense) {
    std::fill(weights_.data() + whole * inputs, weights_.data() + weights_.size(), Real(0));
    last_.outputs = tile_;
    last_.channels = rest;
    last_.positions.resize(static_cast<size_t>(gates) * rest);
    for (int32_t g = 0; g < gates; ++g) {
      for (int32_t j = 0; j < rest; ++j)
        last_.positions[g * rest + j] = g * width + width - rest + j;
      for (int32_t j = 0, count; j < rest; j += count) { // as far as a panel goes
        const size_t at = whole + g * rest + j;
        count = std::min(rest - j, panel - static_cast<int32_t>(at % panel));
        add_piece(bias, g * channels + channels - rest + j, count, at);
      }
    }
  }
  copy_pieces(w);
}

template <class Real> void Packed<Real>::round_to_bf16() {
  constexpr size_t width = kPanelBytes / sizeof(Real);
  const size_t inputs = static_cast<size_t>(inputs_), pairs = (inputs + 1) / 2;
  bf16_.assign(inputs == 0 ? 0 : weights_.size() / inputs * pairs, {0});
  for (size_t i = 0; i < weights_.size(); ++i) {
    const Bf16 number = to_bf16(static_cast<float>(weights_[i]));
    finite_ &= std::isfinite(to_float(number));
    const size_t panel = i / (width * inputs), k = i / width % inputs;
    bf16_[(panel * pairs + k / 2) * width + i % width].bits |= uint32_t(number.bits) << (k % 2 * 16);
  }
  weights_ = Array<Real>();
}

namespace {

/// Moves what the tile before the last one left in a row of y to where the last one has it: each gate's
/// channels are `channels` further on. What comes from the gate behind is written over.
template <class Real> void take_over(const LastTile &last, Real *y) {
  std::memmove(y, y + last.channels, static_cast<size_t>(last.outputs - last.channels) * sizeof(Real));
}

template <class Real>
void run_product(ProductKernel<Real> kernel, int32_t rows, const Segment<Real> *segments, int32_t count,
                 const Panels<Real> &w, const RowsOut<Real> &y, Epilogue epilogue) {
  assert((w.last == nullptr || epilogue == Epilogue::kNone) &&
         "it would be made of what is taken over once more");
  if (w.last != nullptr)
    for (int32_t i = 0; i < rows; ++i)
      take_over(*w.last, y.at(i));
  kernel(rows, segments, count, w, y, epilogue);
}

} // namespace

template <>
void product<float>(int32_t rows, const Segment<float> *segments, int32_t count, const Panels<float> &w,
                    RowsOut<float> y, Epilogue epilogue) {
  run_product(kernels().f32, rows, segments, count, w, y, epilogue);
}
template <>
void product<double>(int32_t rows, const Segment<double> *segments, int32_t count, const Panels<double> &w,
                     RowsOut<double> y, Epilogue epilogue) {
  run_product(kernels().f64, rows, segments, count, w, y, epilogue);
}

template <class Real> void bias_alone(const Panels<Real> &w, Real *y) {
  if (w.last != nullptr)
    take_over(*w.last, y);
  for (int32_t o = 0; o < w.outputs; ++o)
    y[w.last ? w.last->positions[o] : o] = w.bias[o];
}

namespace {

/// Copies a panel's columns of some rows of a matrix: `width` elements of each row, `here` of which are
/// there.
template <class Real>
inline __attribute__((always_inline)) void copy_panel(const Real *from, int64_t stride, int32_t rows,
                                                      int32_t here, Real *to) {
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  if (here == width) {
    for (int32_t k = 0; k < rows; ++k)
      for (int32_t j = 0; j < width; ++j)
        to[k * width + j] = from[k * stride + j];
    return;
  }
  for (int32_t k = 0; k < rows; ++k)
    for (int32_t j = 0; j < width; ++j)
      to[k * width + j] = j < here ? from[k * stride + j] : Real(0);
}
DBC_CLONES void copy_columns(const float *from, int64_t stride, int32_t rows, int32_t here, float *to) {
  copy_panel(from, stride, rows, here, to);
}
DBC_CLONES void copy_columns(const double *from, int64_t stride, int32_t rows, int32_t here, double *to) {
  copy_panel(from, stride, rows, here, to);
}

/// A vector of a cache line, as the compiler adds and multiplies them on any machine.
template <class Real> struct Line;
template <> struct Line<float> {
  using Vector = float __attribute__((vector_size(kPanelBytes)));
  using Bits = uint32_t __attribute__((vector_size(kPanelBytes)));
};
template <> struct Line<double> {
  using Vector = double __attribute__((vector_size(kPanelBytes)));
  using Bits = uint64_t __attribute__((vector_size(kPanelBytes)));
};

/// The product of each row of a with the vector x.
template <class Real>
inline __attribute__((always_inline)) void dots(int32_t rows, const Real *a, const Real *x, int32_t inputs,
                                                Real *y) {
  using Vector = typename Line<Real>::Vector;
  using Bits = typename Line<Real>::Bits;
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  if (inputs < width) {
    for (int32_t r = 0; r < rows; ++r, a += inputs) {
      y[r] = 0;
      for (int32_t k = 0; k < inputs; ++k)
        y[r] += a[k] * x[k];
    }
    return;
  }
  // The last line overlaps the one before it; what both have counts once.
  const int32_t whole = inputs / width * width, last = inputs - width;
  Bits counts{};
  for (int32_t l = 0; l < width; ++l)
    counts[l] -= last + l >= whole;
  for (int32_t r = 0; r < rows; ++r, a += inputs) {
    Vector sums{}, left, right;
    auto multiply_line = [&](int32_t k) __attribute__((always_inline)) {
      std::memcpy(&left, a + k, sizeof left);
      std::memcpy(&right, x + k, sizeof right);
      left *= right;
    };
    for (int32_t k = 0; k < whole; k += width) {
      multiply_line(k);
      sums += left;
    }
    if (whole < inputs) {
      multiply_line(last);
      sums += reinterpret_cast<Vector>(reinterpret_cast<Bits>(left) & counts);
    }
    for (int32_t half = width / 2; half > 0; half /= 2)
      for (int32_t l = 0; l < half; ++l)
        sums[l] += sums[l + half];
    y[r] = sums[0];
  }
}
DBC_CLONES void all_dots(int32_t rows, const float *a, const float *x, int32_t inputs, float *y) {
  dots(rows, a, x, inputs, y);
}
DBC_CLONES void all_dots(int32_t rows, const double *a, const double *x, int32_t inputs, double *y) {
  dots(rows, a, x, inputs, y);
}

} // namespace

template <class Real>
void multiply(int32_t rows, const Real *a, const MatrixSlice<Real> *b, int32_t slices, int32_t outputs,
              Real *memory, Real *y) {
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  if (outputs == 1) {
    int32_t inputs = 0;
    for (int32_t p = 0; p < slices; inputs += b[p++].inputs)
      if (slices > 1)
        std::copy_n(b[p].elements, b[p].inputs, memory + inputs);
    return all_dots(rows, a, slices > 1 ? memory : b[0].elements, inputs, y);
  }
  const int32_t padded = (outputs + width - 1) / width * width;
  std::fill(memory, memory + padded, Real(0));
  int32_t inputs = 0;
  Real *to = memory + padded;
  for (int32_t first = 0; first < outputs; first += width) {
    inputs = 0;
    for (int32_t p = 0; p < slices; ++p) {
      copy_columns(b[p].elements + first, outputs, b[p].inputs, std::min(width, outputs - first), to);
      to += static_cast<int64_t>(b[p].inputs) * width;
      inputs += b[p].inputs;
    }
  }
  const Panels<Real> panels{memory + padded, memory, outputs, inputs};
  product<Real>(rows, Rows<Real>{a, nullptr, inputs}, panels, RowsOut<Real>{y, nullptr, outputs});
}

namespace {

void run_outer(const OuterOperands<float> &operands, int32_t height, int32_t outputs, float *sum) {
  kernels().outer32(operands, height, outputs, sum);
}
void run_outer(const OuterOperands<double> &operands, int32_t height, int32_t outputs, double *sum) {
  kernels().outer64(operands, height, outputs, sum);
}

/// Puts `count` numbers into pieces of `width`, so far from each other; the last one is filled with zeros.
template <class Real> void cut(const Real *from, int32_t count, int32_t width, Real *to, int64_t distance) {
  for (; count > 0; count -= width, from += width, to += distance) {
    const int32_t here = std::min(count, width);
    for (int32_t i = 0; i < here; ++i)
      to[i] = from[i];
    for (int32_t i = here; i < width; ++i)
      to[i] = 0;
  }
}

} // namespace

template <class Real>
void add_outer_products(int32_t rows, Rows<Real> a, int32_t height, Rows<Real> x, int32_t outputs,
                        Real *memory, Real *sum, TileShare share) {
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  const int64_t pieces = (height + kMostTileRows - 1) / kMostTileRows;
  const auto row_of = [&](int32_t tile) {
    return static_cast<int32_t>(std::min<int64_t>(height, pieces * tile / share.of * kMostTileRows));
  };
  const int32_t begin = row_of(share.begin), here = row_of(share.end) - begin;
  const int32_t padded = (outputs + width - 1) / width * width, tile = kernels().tile_rows;
  Real *panels = memory, *tiles = memory + static_cast<int64_t>(padded) * rows;
  OuterOperands<Real> operands{0, panels, tiles, static_cast<int64_t>(rows) * width,
                               static_cast<int64_t>(rows) * tile};
  const auto all_zero = [](const Real *numbers, int32_t count) {
    return std::all_of(numbers, numbers + count, [](Real number) { return number == 0; });
  };
  for (int32_t r = 0; r < rows; ++r) {
    if (all_zero(a.at(r), height) || all_zero(x.at(r), outputs))
      continue;
    cut(x.at(r), outputs, width, panels, operands.panel_size);
    cut(a.at(r) + begin, here, tile, tiles, operands.tile_size);
    panels += width;
    tiles += tile;
    ++operands.rows;
  }
  if (operands.rows > 0)
    run_outer(operands, here, outputs, sum + static_cast<int64_t>(begin) * outputs);
}

template void add_outer_products<float>(int32_t, Rows<float>, int32_t, Rows<float>, int32_t, float *, float *,
                                        TileShare);
template void add_outer_products<double>(int32_t, Rows<double>, int32_t, Rows<double>, int32_t, double *,
                                         double *, TileShare);
template class Packed<float>;
template class Packed<double>;
template void bias_alone<float>(const Panels<float> &, float *);
template void bias_alone<double>(const Panels<double> &, double *);
template void multiply<float>(int32_t, const float *, const MatrixSlice<float> *, int32_t, int32_t, float *,
                              float *);
template void multiply<double>(int32_t, const double *, const MatrixSlice<double> *, int32_t, int32_t,
                               double *, double *);

} // namespace dbc
