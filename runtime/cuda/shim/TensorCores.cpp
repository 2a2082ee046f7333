// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What tensor cores add up, on the CPU. Here and not in a header, as most tests compile kernels without
// optimisation, and run this most of the time.
#include <dbc/cuda/ptx.h>

#include <array>

namespace dbc::cuda::shim {

/// Where a fragment has an output's weights, from the first on.
static constexpr std::array<int32_t, kKTile> kOfInput = [] {
  std::array<int32_t, kKTile> at = {};
  for (int32_t k = 0; k < kKTile; ++k)
    at[k] = fragment_of(0, k) - fragment_of(0, 0);
  return at;
}();

KTile k_tile_of_row(const float *row) {
  KTile tile;
  for (int32_t k = 0; k < kKTile; ++k) {
    const float high = round_to_tf32(row[k]);
    tile.high[k] = high;
    tile.low[k] = cut_to_tf32(row[k] - high);
  }
  return tile;
}

KTile k_tile_of_weights(Math math, const float *fragment, int32_t output) {
  KTile tile;
  const float *weights = fragment + fragment_of(output, 0);
  for (int32_t k = 0; k < kKTile; ++k) {
    const float weight = weights[kOfInput[k]],
                high = math == Math::tf32 ? cut_to_tf32(weight) : round_to_tf32(weight);
    tile.high[k] = high;
    tile.low[k] = cut_to_tf32(weight - high);
  }
  return tile;
}

// Without sanitizers: it reads these three and no other, and would be most of the time of all tests with
// them.
__attribute__((no_sanitize("address", "undefined"))) void
add_as_tensor_cores(Math math, float &sum, const KTile &weights, const KTile &row) {
  // An instruction has inputs 0, 1, 4, 5, ..; the next one 2, 3, 6, 7, ..
  for (int32_t step = 0; step < 2; ++step) {
    double low = 0, high = 0;
    for (int32_t k = 2 * step; k < kKTile; k += k % 2 == 0 ? 1 : 3) {
      low += weights.low[k] * row.high[k] + weights.high[k] * row.low[k];
      high += weights.high[k] * row.high[k];
    }
    if (math == Math::tf32x3)
      sum = static_cast<float>(sum + low);
    sum = static_cast<float>(sum + high);
  }
}

} // namespace dbc::cuda::shim
