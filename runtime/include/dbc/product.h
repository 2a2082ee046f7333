// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products of rows with constant matrices that were packed once: y = b + W x for a handful to many rows.
//
// Each output has one accumulator that starts at its bias and runs over k in order, vectors lie across
// outputs. A row's bits therefore depend on nothing but the row: not on the number of rows, its position, or
// the threads. On a machine with fused multiply-add (x86-64-v3 and up, 64-bit ARM) every step is one fma; on
// the x86-64 baseline it is a multiplication and an addition, so bits may differ between machines, never on
// one.
#pragma once

#include <dbc/buffer.h>

#include <cstddef>
#include <cstdint>
#include <vector>

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

/// A number of bfloat16: the upper half of a float.
struct Bf16 {
  uint16_t bits;
};
/// The nearest one, of two as near the even one: off by at most 2^-9 of x, or 2^-134 where x is less than
/// 2^-126. NaN stays NaN; from 3.396e38 on it is infinity.
Bf16 to_bf16(float x);
float to_float(Bf16 x);

/// The weights of two neighbouring inputs, the first one in the lower half; after an odd number, zero.
struct Bf16Pair {
  uint32_t bits;
};

/// A last tile that is packed without the channels that the one before has too, see Packed::pack_tiles.
struct LastTile {
  int32_t outputs = 0;           ///< of a whole tile
  int32_t channels = 0;          ///< that the tile before does not have
  Array<int32_t> positions = {}; ///< where in a row of y the outputs of these go: gates x channels
};

/// A matrix in memory: the element of output o and input k is at[o * output + k * input], where one of the
/// two distances is 1.
template <class Real> struct MatrixElements {
  const Real *at;
  int64_t output, input;
};

/// A run of a packed matrix's outputs, for one call of `product`.
template <class Real> struct Panels {
  const Real *weights = nullptr;
  const Real *bias = nullptr; ///< what the sums start from, one number an output
  int32_t outputs = 0, inputs = 0;
  bool finite = true;             ///< whether all weights are: then zeros times the matrix are zeros
  const Bf16Pair *bf16 = nullptr; ///< in place of `weights`, where these are kept so
  const LastTile *last = nullptr; ///< of a tile that takes most of what it has from the one before
};

/// A matrix [outputs, inputs] and a bias in the kernel's order: panels of neighbouring outputs, each stored
/// k-major and padded with zeros to whole vectors. Immutable once packed; may be read by any number of
/// threads.
template <class Real> class Packed {
public:
  /// Packs a matrix, or a row-major one, whose row o starts at w + o * inputs. `bias` has `outputs` elements,
  /// or is null: zeros. Throws std::bad_alloc.
  void pack(MatrixElements<Real> w, int32_t outputs, int32_t inputs, const Real *bias = nullptr);
  void pack(const Real *w, int32_t outputs, int32_t inputs, const Real *bias = nullptr) {
    pack({w, inputs, 1}, outputs, inputs, bias);
  }
  /// The same for a matrix of `gates` x `channels` outputs (output g * channels + c is gate g of channel c),
  /// so that all gates of `width` neighbouring channels are computed at once: tile t has the channels from
  /// min(t * width, channels - width) on, so the last one overlaps the one before where channels are no
  /// multiple of width; output g * width + j of it is gate g of its channel number j. `width` is at most
  /// `channels`, and a multiple of 64 / sizeof(Real).
  ///
  /// Where that takes fewer panels, the last tile is packed without what the one before has. Its product
  /// finds that in y: it must be called for the same rows of the same x with the y of the product of the tile
  /// before, into which nothing else was written since.
  void pack_tiles(MatrixElements<Real> w, int32_t gates, int32_t channels, int32_t width, int32_t inputs,
                  const Real *bias = nullptr);
  void pack_tiles(const Real *w, int32_t gates, int32_t channels, int32_t width, int32_t inputs,
                  const Real *bias = nullptr) {
    pack_tiles({w, inputs, 1}, gates, channels, width, inputs, bias);
  }

  /// Keeps what was packed in bfloat16 from now on, which is half the memory that products read. The bias and
  /// all arithmetic stay in float; for float only. Throws std::bad_alloc.
  void round_to_bf16();

  int32_t outputs() const { return outputs_; }
  int32_t inputs() const { return inputs_; }
  size_t bytes() const {
    return (weights_.size() + bias_.size()) * sizeof(Real) + bf16_.size() * sizeof(Bf16Pair);
  }

  /// All outputs, of a matrix packed by `pack`, or by `pack_tiles` with one gate and a `width` that divides
  /// `channels`: these are the same.
  Panels<Real> whole() const {
    return {weights_.data(), bias_.data(), outputs_, inputs_, finite_, bf16_.data()};
  }
  /// Tile t, of a matrix packed by `pack_tiles`.
  Panels<Real> tile(int32_t t) const {
    int64_t first = static_cast<int64_t>(t) * tile_;
    const Real *weights = weights_.data();
    const Bf16Pair *bf16 = bf16_.data();
    const bool last = t == last_at_;
    return {weights ? weights + first * inputs_ : nullptr,
            bias_.data() + first,
            last ? static_cast<int32_t>(last_.positions.size()) : tile_,
            inputs_,
            finite_,
            bf16 ? bf16 + first * ((inputs_ + 1) / 2) : nullptr,
            last ? &last_ : nullptr};
  }

private:
  /// Neighbouring outputs of the matrix, and where in the packed order they lie.
  struct Piece {
    int64_t first;
    int32_t count;
    size_t at;
  };
  void make_room(int32_t outputs, int32_t inputs, size_t packed);
  void add_piece(const Real *bias, int64_t first, int32_t count, size_t at);
  void copy_pieces(const MatrixElements<Real> &w);

  Array<Real> weights_, bias_;
  Array<Bf16Pair> bf16_; ///< in place of weights_
  int32_t outputs_ = 0, inputs_ = 0;
  int32_t tile_ = 0;     ///< outputs of a tile
  int32_t last_at_ = -1; ///< the number of the tile `last_`, if there is one
  LastTile last_;
  std::vector<Piece> pieces_; ///< kept, so that packing again allocates nothing
  bool finite_ = true;
};

/// What a product makes of a sum before it writes it.
enum class Epilogue : uint8_t {
  kNone,
  kRelu, ///< 0 where it is less than 0, as `relu` of math.h
};

/// y[i, o] = bias[o] + sum over k of w[o, k] * x[i, k], in the order of k; x[i] is the segments' rows i
/// joined.
///
/// rows      number of rows; 0 is fine
/// segments  `count` of them; their lengths add up to w.inputs
/// y         w.outputs elements of each row are written; must not overlap x. What a last tile finds in
///           it, Packed::pack_tiles says
/// epilogue  what is made of each sum; of a last tile kNone
///
/// Allocates nothing and is safe to call from several threads on disjoint y.
template <class Real>
void product(int32_t rows, const Segment<Real> *segments, int32_t count, const Panels<Real> &w,
             RowsOut<Real> y, Epilogue epilogue = Epilogue::kNone);

/// The common case: one segment.
template <class Real>
inline void product(int32_t rows, Rows<Real> x, const Panels<Real> &w, RowsOut<Real> y,
                    Epilogue epilogue = Epilogue::kNone) {
  Segment<Real> segment{x, w.inputs};
  product<Real>(rows, &segment, 1, w, y, epilogue);
}

/// What a product with zeros gives: one row of y, see `product`.
template <class Real> void bias_alone(const Panels<Real> &w, Real *y);

/// Some of the rows k of a matrix b[k, j].
template <class Real> struct MatrixSlice {
  const Real *elements = nullptr; ///< row by row
  int32_t inputs = 0;             ///< its rows
};

/// y[i, j] = sum over k of a[i, k] * b[k, j], in the order of k, for row-major matrices that are not packed:
/// b, of `outputs` columns, is made of `slices` slices, one behind the other. With one output and at least 16
/// inputs (of double 8), so many sums are interleaved over k, the last 16 k shift by what is left over, and
/// the sums are added up by halves: an order of its own, the same on every machine.
///
/// rows      of a and y
/// memory    scratch for b in the kernel's order: (inputs + 1) times the outputs, in whole cache lines
/// y         rows x outputs elements; must not overlap a or b
template <class Real>
void multiply(int32_t rows, const Real *a, const MatrixSlice<Real> *b, int32_t slices, int32_t outputs,
              Real *memory, Real *y);

/// Tiles begin .. end - 1 of `of` that a sum of outer products is cut into, kMostTileRows rows of it or more
/// each.
struct TileShare {
  int32_t begin = 0, end = 1, of = 1;
};
/// Rows of the sum that are computed at once: at most.
constexpr int32_t kMostTileRows = 12;

/// sum[i, j] += the sum over rows r of a[r, i] * x[r, j], in the order of r: what rows give to the gradient
/// of a matrix. A row that is all zeros in a or in x adds nothing, whatever the other one has there.
///
/// height    elements of a row of a, rows of `sum`
/// outputs   elements of a row of x, columns of `sum`
/// memory    scratch: outer_products_memory(rows, height, outputs) elements, aligned as b of `multiply`
/// share     which rows of `sum`; the shares of several calls, which may be of several threads, make it whole
///
/// The sum over `rows` rows is added at once. Allocates nothing.
template <class Real>
void add_outer_products(int32_t rows, Rows<Real> a, int32_t height, Rows<Real> x, int32_t outputs,
                        Real *memory, Real *sum, TileShare share = {});
template <class Real> constexpr int64_t outer_products_memory(int64_t rows, int64_t height, int64_t outputs) {
  constexpr int64_t width = 64 / sizeof(Real);
  const int64_t padded = (outputs + width - 1) / width * width;
  return rows * (padded + height + kMostTileRows - 1);
}

extern template void add_outer_products<float>(int32_t, Rows<float>, int32_t, Rows<float>, int32_t, float *,
                                               float *, TileShare);
extern template void add_outer_products<double>(int32_t, Rows<double>, int32_t, Rows<double>, int32_t,
                                                double *, double *, TileShare);
extern template class Packed<float>;
extern template class Packed<double>;
template <>
void product<float>(int32_t rows, const Segment<float> *segments, int32_t count, const Panels<float> &w,
                    RowsOut<float> y, Epilogue epilogue);
template <>
void product<double>(int32_t rows, const Segment<double> *segments, int32_t count, const Panels<double> &w,
                     RowsOut<double> y, Epilogue epilogue);

extern template void bias_alone<float>(const Panels<float> &, float *);
extern template void bias_alone<double>(const Panels<double> &, double *);
extern template void multiply<float>(int32_t, const float *, const MatrixSlice<float> *, int32_t, int32_t,
                                     float *, float *);
extern template void multiply<double>(int32_t, const double *, const MatrixSlice<double> *, int32_t, int32_t,
                                      double *, double *);

/// The instruction set that the kernels were chosen for: "avx512", "avx2", "neon" or
/// "baseline".
const char *product_kernels();

} // namespace dbc
