// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Tensors with their elements in another order. All are row-major.
#pragma once

#include "driver/weights/TensorSource.h"

namespace dbc::driver {

/// The elements of a tensor whose axis k is axis `axes[k]` of `from`.
std::vector<float> permuted(const Elements &from, const std::vector<int64_t> &extents,
                            const std::vector<int64_t> &axes);

/// Blocks along an axis, which is cut into `blocks` equal ones: those of the numbers in `order`.
std::vector<float> withBlocks(const Elements &from, const std::vector<int64_t> &extents, size_t axis,
                              size_t blocks, const std::vector<size_t> &order);

/// Tensors one behind the other along an axis; their extents differ there alone.
std::vector<float> concatenated(const std::vector<std::unique_ptr<Elements>> &parts,
                                const std::vector<std::vector<int64_t>> &extents, size_t axis);

/// The product of extents.
size_t countOf(const std::vector<int64_t> &extents);

} // namespace dbc::driver
