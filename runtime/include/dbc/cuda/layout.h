// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How generated code lays the matrices of a model out for a device.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/generated.h>

namespace dbc::cuda {

/// Lays `tables` such matrices out for a device, see cuda::Matrix: the weights, then the bias.
template <class Real>
inline void lay_out_submatrices(dbc::Model &model, int32_t number, const dbc::Weights &weights,
                                std::initializer_list<Submatrix> submatrices, const dbc::Matrix &matrix,
                                int64_t tables = 1) {
  dbc::Array<Real> whole;
  const int64_t elements = int64_t(matrix.outputs) * matrix.inputs;
  whole.resize(static_cast<size_t>(elements));
  const int64_t bias = bias_behind(tables * elements);
  Real *const begin = model.add_matrix<Real>(number, static_cast<size_t>(bias + matrix.outputs)), *to = begin;
  for (int64_t table = 0; table < tables; ++table) {
    dbc::detail::assemble(weights, submatrices, matrix, table, whole.data());
    for (int64_t k = 0; k < matrix.inputs; ++k)
      for (int64_t o = 0; o < matrix.outputs; ++o)
        *to++ = whole[o * matrix.inputs + k];
  }
  std::fill(to, begin + bias, Real(0));
  dbc::detail::put_bias(weights, matrix, begin + bias);
}

/// Lays such a matrix out for a device's tensor cores, see cuda::Fragments: `n_tiles` N tiles of a tile, the
/// last ones of which may be empty, then the bias. `lengths` are those of the operands of its products, which
/// are multiplied as `math` says: for tf32 weights are rounded here.
inline void lay_out_fragments(dbc::Model &model, int32_t number, const dbc::Weights &weights,
                              std::initializer_list<Submatrix> submatrices, const dbc::Matrix &matrix,
                              int32_t n_tiles, std::initializer_list<int64_t> lengths, Math math) {
  const int32_t gates = std::max(matrix.gates, 1), channels = matrix.outputs / gates,
                width = matrix.gates > 0 ? matrix.width : channels, tiles = (channels + width - 1) / width;
  int64_t k_tiles = 0;
  for (int64_t length : lengths)
    k_tiles += (length + kKTile - 1) / kKTile;
  auto rounded = [&](float weight) {
    const float nearest = math == Math::tf32 ? nearest_tf32(weight) : weight;
    return nearest - nearest == 0 ? nearest : weight; // an infinity is no rounding of a number
  };
  dbc::Array<float> whole;
  whole.resize(static_cast<size_t>(matrix.outputs) * matrix.inputs);
  dbc::detail::assemble(weights, submatrices, matrix, 0, whole.data());
  const int64_t elements = tiles * k_tiles * n_tiles * kFragment;
  float *to = model.add_matrix<float>(number, static_cast<size_t>(elements + matrix.outputs));
  std::fill(to, to + elements, 0.f);
  for (int32_t tile = 0; tile < tiles; ++tile)
    for (int32_t o = 0; o < gates * width; ++o) {
      const int64_t output =
          int64_t(o / width) * channels + std::min(tile * width, channels - width) + o % width;
      const float *from = whole.data() + output * matrix.inputs;
      int64_t k_tile = tile * k_tiles;
      for (int64_t length : lengths) {
        for (int64_t k = 0; k < length; ++k)
          to[((k_tile + k / kKTile) * n_tiles + o / kNTile) * kFragment +
             fragment_of(o % kNTile, static_cast<int32_t>(k % kKTile))] = rounded(*from++);
        k_tile += (length + kKTile - 1) / kKTile;
      }
    }
  dbc::detail::put_bias(weights, matrix, to + elements);
}

} // namespace dbc::cuda
