// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How generated code lays the matrices of a model out for a device.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/generated.h>

namespace dbc::cuda {

/// Lays `tables` such matrices out for a device, see cuda::Matrix: the weights, then the bias.
template <class Real>
inline void lay_out_parts(dbc::Model &model, int32_t slot, const dbc::Weights &weights,
                          std::initializer_list<Part> parts, const dbc::Matrix &matrix, int64_t tables = 1) {
  dbc::Array<Real> whole;
  const int64_t numbers = int64_t(matrix.outputs) * matrix.inputs;
  whole.resize(static_cast<size_t>(numbers));
  const int64_t bias = bias_behind(tables * numbers);
  Real *const begin = model.add_matrix<Real>(slot, static_cast<size_t>(bias + matrix.outputs)), *to = begin;
  for (int64_t table = 0; table < tables; ++table) {
    dbc::detail::put_together(weights, parts, matrix, table, whole.data());
    for (int64_t k = 0; k < matrix.inputs; ++k)
      for (int64_t o = 0; o < matrix.outputs; ++o)
        *to++ = whole[o * matrix.inputs + k];
  }
  std::fill(to, begin + bias, Real(0));
  dbc::detail::put_bias(weights, matrix, begin + bias);
}

/// Lays such a matrix out for a device's matrix units, see cuda::Fragments: `strips` of a tile, the last ones
/// of which may be empty, then the bias. `lengths` are those of the operands of its products, which are
/// multiplied as `math` says: for tf32 weights are rounded here.
inline void lay_out_fragments(dbc::Model &model, int32_t slot, const dbc::Weights &weights,
                              std::initializer_list<Part> parts, const dbc::Matrix &matrix, int32_t strips,
                              std::initializer_list<int64_t> lengths, Math math) {
  const int32_t gates = std::max(matrix.gates, 1), units = matrix.outputs / gates,
                width = matrix.gates > 0 ? matrix.width : units, tiles = (units + width - 1) / width;
  int64_t blocks = 0;
  for (int64_t length : lengths)
    blocks += (length + kBlock - 1) / kBlock;
  auto rounded = [&](float weight) {
    const float nearest = math == Math::tf32 ? nearest_tf32(weight) : weight;
    return nearest - nearest == 0 ? nearest : weight; // an infinity is no rounding of a number
  };
  dbc::Array<float> whole;
  whole.resize(static_cast<size_t>(matrix.outputs) * matrix.inputs);
  dbc::detail::put_together(weights, parts, matrix, 0, whole.data());
  const int64_t numbers = tiles * blocks * strips * kFragment;
  float *to = model.add_matrix<float>(slot, static_cast<size_t>(numbers + matrix.outputs));
  std::fill(to, to + numbers, 0.f);
  for (int32_t tile = 0; tile < tiles; ++tile)
    for (int32_t o = 0; o < gates * width; ++o) {
      const int64_t output = int64_t(o / width) * units + std::min(tile * width, units - width) + o % width;
      const float *from = whole.data() + output * matrix.inputs;
      int64_t block = tile * blocks;
      for (int64_t length : lengths) {
        for (int64_t k = 0; k < length; ++k)
          to[((block + k / kBlock) * strips + o / kStrip) * kFragment +
             fragment_of(o % kStrip, static_cast<int32_t>(k % kBlock))] = rounded(*from++);
        block += (length + kBlock - 1) / kBlock;
      }
    }
  dbc::detail::put_bias(weights, matrix, to + numbers);
}

} // namespace dbc::cuda
