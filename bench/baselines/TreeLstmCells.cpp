// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The activation loops of the Tree-LSTM baselines, one pass over a row.
#include "bench/baselines/TreeLstmCells.h"

#include "bench/baselines/Activation.h"

#include <dbc/math.h>

namespace dbc::bench {

// A row is a function of its own because compilers trust `__restrict` on parameters only, and do not
// vectorise without.

static BENCH_INLINE void leaf_row(int64_t H, const float *__restrict y, const float *__restrict bias,
                                  float *__restrict h, float *__restrict c) {
  for (int64_t j = 0; j < H; ++j) {
    float cell = gated_tanh(y[j] + bias[j], y[2 * H + j] + bias[2 * H + j]);
    c[j] = cell;
    h[j] = gated_tanh(y[H + j] + bias[H + j], cell);
  }
}

static BENCH_INLINE void node_row(int64_t H, const float *__restrict y, const float *__restrict bias,
                                  const float *__restrict children, float *__restrict h,
                                  float *__restrict c) {
  for (int64_t j = 0; j < H; ++j) {
    float cell = gated_tanh(y[j] + bias[j], y[4 * H + j] + bias[4 * H + j]) +
                 quick_sigmoid(y[H + j] + bias[H + j]) * children[j] +
                 quick_sigmoid(y[2 * H + j] + bias[2 * H + j]) * children[H + j];
    c[j] = cell;
    h[j] = gated_tanh(y[3 * H + j] + bias[3 * H + j], cell);
  }
}

DBC_CLONES
void leaf_cells(int32_t hidden, int32_t rows, const float *y, const float *bias, const int32_t *slots,
                float *h, float *c) {
  const int64_t H = hidden;
  for (int64_t r = 0; r < rows; ++r)
    leaf_row(H, y + r * 3 * H, bias, h + slots[r] * H, c + slots[r] * H);
}

DBC_CLONES
void node_cells(int32_t hidden, int32_t rows, const float *y, const float *bias, const float *children,
                const int32_t *slots, float *h, float *c) {
  const int64_t H = hidden;
  for (int64_t r = 0; r < rows; ++r)
    node_row(H, y + r * 5 * H, bias, children + r * 2 * H, h + slots[r] * H, c + slots[r] * H);
}

} // namespace dbc::bench
