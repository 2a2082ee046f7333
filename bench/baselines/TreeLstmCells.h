// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What comes after the products in a cell of the Tree-LSTM: shared by the baselines, so that they differ in
// nothing but in how they batch.
#pragma once

#include <cstdint>

namespace dbc::bench {

// `slots` says for each row where its state goes, counted in rows of `hidden` elements in `h` and in `c`. A
// node writes its state straight to where its parent's product reads it: the states of a parent's
// children lie side by side, and no gather is needed.

/// Leaves from y[rows, 3 hidden] without bias.
void leaf_cells(int32_t hidden, int32_t rows, const float *y, const float *bias, const int32_t *slots,
                float *h, float *c);

/// Inner nodes from y[rows, 5 hidden] without bias and the children's c[rows, 2 hidden] in `children`, which
/// must not overlap with what is written.
void node_cells(int32_t hidden, int32_t rows, const float *y, const float *bias, const float *children,
                const int32_t *slots, float *h, float *c);

} // namespace dbc::bench
