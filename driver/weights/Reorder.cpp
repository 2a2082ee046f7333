// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/weights/Reorder.h"

namespace dbc::driver {

/// The product of the extents from axis `begin` to before axis `end`.
static size_t product(const std::vector<int64_t> &extents, size_t begin, size_t end) {
  size_t count = 1;
  for (size_t axis = begin; axis < end; ++axis)
    count *= static_cast<size_t>(extents[axis]);
  return count;
}

size_t countOf(const std::vector<int64_t> &extents) { return product(extents, 0, extents.size()); }

std::vector<float> permuted(const Elements &from, const std::vector<int64_t> &extents,
                            const std::vector<int64_t> &axes) {
  const size_t rank = axes.size();
  std::vector<size_t> steps(rank),
      at(rank, 0); // of each axis of the result: a step in `from`, and where it is
  for (size_t k = 0; k < rank; ++k)
    steps[k] = product(extents, static_cast<size_t>(axes[k]) + 1, rank);
  std::vector<float> result(from.size());
  size_t position = 0;
  for (float &element : result) {
    element = from[position];
    // The next index, the last axis first.
    for (size_t k = rank; k-- > 0;) {
      const size_t extent = static_cast<size_t>(extents[static_cast<size_t>(axes[k])]);
      position += steps[k];
      if (++at[k] < extent)
        break;
      position -= steps[k] * extent;
      at[k] = 0;
    }
  }
  return result;
}

std::vector<float> withBlocks(const Elements &from, const std::vector<int64_t> &extents, size_t axis,
                              size_t blocks, const std::vector<size_t> &order) {
  const size_t outer = product(extents, 0, axis), row = product(extents, axis, extents.size());
  const size_t block = row / blocks;
  std::vector<float> result;
  result.reserve(outer * order.size() * block);
  for (size_t i = 0; i < outer; ++i)
    for (size_t number : order) {
      const float *begin = from.data() + i * row + number * block;
      result.insert(result.end(), begin, begin + block);
    }
  return result;
}

std::vector<float> concatenated(const std::vector<std::unique_ptr<Elements>> &parts,
                                const std::vector<std::vector<int64_t>> &extents, size_t axis) {
  size_t count = 0;
  for (const auto &part : parts)
    count += part->size();
  std::vector<float> result;
  result.reserve(count);
  const size_t outer = product(extents[0], 0, axis);
  for (size_t i = 0; i < outer; ++i)
    for (size_t p = 0; p < parts.size(); ++p) {
      const size_t row = product(extents[p], axis, extents[p].size());
      const float *begin = parts[p]->data() + i * row;
      result.insert(result.end(), begin, begin + row);
    }
  return result;
}

} // namespace dbc::driver
