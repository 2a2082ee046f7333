// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How generated code lays the matrices of a model out for a device.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/generated.h>

namespace dbc::cuda {

namespace detail {
/// `tables` matrices for a device, see cuda::Matrix, the weights, then the bias, of Weights or WeightPlaces.
/// `none` stands where there is nothing.
template <class From, class Real>
inline void put_submatrices(const From &weights, std::initializer_list<Submatrix> submatrices,
                            const dbc::Matrix &matrix, int64_t tables, Real none, Real *to) {
  dbc::Array<Real> whole;
  const int64_t elements = int64_t(matrix.outputs) * matrix.inputs;
  whole.resize(static_cast<size_t>(elements));
  Real *const bias = to + bias_behind(tables * elements);
  for (int64_t table = 0; table < tables; ++table) {
    dbc::detail::assemble(weights, submatrices, matrix, table, whole.data());
    for (int64_t k = 0; k < matrix.inputs; ++k)
      for (int64_t o = 0; o < matrix.outputs; ++o)
        *to++ = whole[o * matrix.inputs + k];
  }
  std::fill(to, bias, none);
  dbc::detail::put_bias(weights, matrix, bias, none);
}

/// Tiles of K tiles, see cuda::Fragments.
struct FragmentShape {
  int32_t gates, channels, width, tiles, n_tiles;
  int64_t k_tiles = 0;
  FragmentShape(const dbc::Matrix &matrix, int32_t n_tiles, std::initializer_list<int64_t> lengths)
      : gates(std::max(matrix.gates, 1)), channels(matrix.outputs / gates),
        width(matrix.gates > 0 ? matrix.width : channels), tiles((channels + width - 1) / width),
        n_tiles(n_tiles) {
    for (int64_t length : lengths)
      k_tiles += (length + kKTile - 1) / kKTile;
  }
  int64_t elements() const { return tiles * k_tiles * n_tiles * kFragment; }
};

/// The same of a matrix for the tensor cores; `rounded` is what becomes of a weight.
template <class From, class Number, class Rounded>
inline void put_fragments(const From &weights, std::initializer_list<Submatrix> submatrices,
                          const dbc::Matrix &matrix, const FragmentShape &shape,
                          std::initializer_list<int64_t> lengths, Number none, Rounded rounded, Number *to) {
  dbc::Array<Number> whole;
  whole.resize(static_cast<size_t>(matrix.outputs) * matrix.inputs);
  dbc::detail::assemble(weights, submatrices, matrix, 0, whole.data());
  std::fill(to, to + shape.elements(), none);
  for (int32_t tile = 0; tile < shape.tiles; ++tile)
    for (int32_t o = 0; o < shape.gates * shape.width; ++o) {
      const int64_t output = int64_t(o / shape.width) * shape.channels +
                             std::min(tile * shape.width, shape.channels - shape.width) + o % shape.width;
      const Number *from = whole.data() + output * matrix.inputs;
      int64_t k_tile = tile * shape.k_tiles;
      for (int64_t length : lengths) {
        for (int64_t k = 0; k < length; ++k)
          to[((k_tile + k / kKTile) * shape.n_tiles + o / kNTile) * kFragment +
             fragment_of(o % kNTile, static_cast<int32_t>(k % kKTile))] = rounded(*from++);
        k_tile += (length + kKTile - 1) / kKTile;
      }
    }
  dbc::detail::put_bias(weights, matrix, to + shape.elements(), none);
}
} // namespace detail

/// Lays `tables` such matrices out for a device, see cuda::Matrix.
template <class Real>
inline void lay_out_submatrices(dbc::Model &model, int32_t number, const dbc::Weights &weights,
                                std::initializer_list<Submatrix> submatrices, const dbc::Matrix &matrix,
                                int64_t tables = 1) {
  const auto count =
      static_cast<size_t>(bias_behind(tables * matrix.outputs * matrix.inputs) + matrix.outputs);
  detail::put_submatrices(weights, submatrices, matrix, tables, Real(0),
                          model.add_matrix<Real>(number, count));
  if (int32_t *places = model.add_matrix_sources(number, count))
    detail::put_submatrices(dbc::WeightPlaces(weights), submatrices, matrix, tables, dbc::Sources::kNone,
                            places);
}

/// Lays such a matrix out for a device's tensor cores, see cuda::Fragments: `n_tiles` N tiles of a tile, the
/// last ones of which may be empty, then the bias. `lengths` are those of the operands of its products, which
/// are multiplied as `math` says: for tf32 weights are rounded here.
inline void lay_out_fragments(dbc::Model &model, int32_t number, const dbc::Weights &weights,
                              std::initializer_list<Submatrix> submatrices, const dbc::Matrix &matrix,
                              int32_t n_tiles, std::initializer_list<int64_t> lengths, Math math) {
  const detail::FragmentShape shape(matrix, n_tiles, lengths);
  const auto count = static_cast<size_t>(shape.elements() + matrix.outputs);
  detail::put_fragments(
      weights, submatrices, matrix, shape, lengths, 0.f,
      [&](float weight) { return math == Math::tf32 ? finite_tf32(weight) : weight; },
      model.add_matrix<float>(number, count));
  const size_t rounded = math == Math::tf32 ? static_cast<size_t>(shape.elements()) : 0;
  if (int32_t *places = model.add_matrix_sources(number, count, rounded))
    detail::put_fragments(
        dbc::WeightPlaces(weights), submatrices, matrix, shape, lengths, dbc::Sources::kNone,
        [](int32_t place) { return place; }, places);
}

} // namespace dbc::cuda
