// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The product kernels of each instruction set, as Product.cpp sees them.
#pragma once

#include <dbc/product.h>

namespace dbc {

template <class Real>
using ProductKernel = void (*)(int32_t rows, const Segment<Real> *segments, int32_t count,
                               const Panels<Real> &w, const RowsOut<Real> &y);

/// Packed matrices are cut into panels of outputs that are one cache line wide, whatever the instruction set.
constexpr int32_t kPanelBytes = 64;

/// One instruction set's kernels.
struct ProductKernels {
  const char *name;
  ProductKernel<float> f32;
  ProductKernel<double> f64;
};

/// Null where the program was built for another processor family.
const ProductKernels *product_kernels_avx512();
const ProductKernels *product_kernels_avx2();
const ProductKernels *product_kernels_neon();
const ProductKernels *product_kernels_baseline();

/// Chooses kernels by name, for tests; false if this machine cannot run them.
bool choose_product_kernels(const char *name);

} // namespace dbc
