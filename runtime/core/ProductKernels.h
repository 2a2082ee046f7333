// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The product kernels of each instruction set, as Product.cpp sees them.
#pragma once

#include <dbc/product.h>

namespace dbc {

template <class Real>
using ProductKernel = void (*)(int32_t rows, const Segment<Real> *segments, int32_t count,
                               const Panels<Real> &w, const RowsOut<Real> &y, Epilogue epilogue);

/// Packed matrices are cut into panels of outputs that are one cache line wide, whatever the instruction set.
constexpr int32_t kPanelBytes = 64;

/// What rows give to the gradient of a matrix, packed: `rows` times one number for each column of the sum,
/// panel by panel, and one for each row of it, in tiles of so many rows as the kernels have at once.
template <class Real> struct OuterOperands {
  int32_t rows;
  const Real *panels; ///< [panel][row][column of it], zeros behind the last column
  const Real *tiles;  ///< [tile][row][row of it], zeros behind the last row
  int64_t panel_size, tile_size;
};

/// sum[i, j] += the sum over the rows, in order, of tiles[i] * panels[j]; `height` x `outputs`, row-major.
template <class Real>
using OuterKernel = void (*)(const OuterOperands<Real> &operands, int32_t height, int32_t outputs, Real *sum);

/// One instruction set's kernels.
struct ProductKernels {
  const char *name;
  ProductKernel<float> f32;
  ProductKernel<double> f64;
  OuterKernel<float> outer32;
  OuterKernel<double> outer64;
  int32_t tile_rows; ///< rows of a tile of OuterOperands: kMostTileRows, or a part of it
};

/// Null where the program was built for another processor family.
const ProductKernels *product_kernels_avx512();
const ProductKernels *product_kernels_avx2();
const ProductKernels *product_kernels_neon();
const ProductKernels *product_kernels_baseline();

/// Chooses kernels by name, for tests; false if this machine cannot run them.
bool choose_product_kernels(const char *name);

} // namespace dbc
