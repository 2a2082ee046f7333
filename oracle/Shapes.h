// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Walks over the elements of tensors, which lie row-major. Private to the oracle.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <vector>

namespace dbc::oracle {

/// Row-major strides of a shape.
inline std::vector<int64_t> strides(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> result(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    result[i - 1] = result[i] * shape[i];
  return result;
}

/// Calls f(index) for each index into a shape, in row-major order.
template <class F> void each(llvm::ArrayRef<int64_t> shape, F &&f) {
  std::vector<int64_t> index(shape.size(), 0);
  if (llvm::is_contained(shape, 0))
    return;
  while (true) {
    f(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

inline int64_t offset(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> stride) {
  int64_t at = 0;
  for (size_t i = 0; i < index.size(); ++i)
    at += index[i] * stride[i];
  return at;
}

/// The loops of out[..] += a[..] * b[..]: the maps of the operation say how they index a, b and out.
class Contraction {
public:
  Contraction(mlir::linalg::ContractOp op, llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b,
              llvm::ArrayRef<int64_t> out) {
    llvm::SmallVector<mlir::AffineMap> maps = op.getIndexingMapsArray();
    const llvm::ArrayRef<int64_t> shapes[3] = {a, b, out};
    sizes_.assign(maps[0].getNumDims(), 1);
    for (int o = 0; o < 3; ++o) {
      std::vector<int64_t> stride = strides(shapes[o]);
      steps_[o].assign(sizes_.size(), 0);
      for (unsigned axis = 0; axis < maps[o].getNumResults(); ++axis) {
        unsigned loop = maps[o].getDimPosition(axis);
        sizes_[loop] = shapes[o][axis];
        steps_[o][loop] = stride[axis];
      }
    }
  }

  /// Calls f(element of a, of b, of out) for all values of the loops, the last one innermost.
  template <class F> void each(F &&f) const {
    // The last loop is written out: everything else is bookkeeping beside it.
    const int64_t inner = sizes_.empty() ? 1 : sizes_.back();
    const int64_t step[3] = {last(0), last(1), last(2)};
    oracle::each(
        llvm::ArrayRef(sizes_).drop_back(sizes_.empty() ? 0 : 1), [&](llvm::ArrayRef<int64_t> index) {
          int64_t a = offset(index, steps_[0]), b = offset(index, steps_[1]), out = offset(index, steps_[2]);
          for (int64_t i = 0; i < inner; ++i)
            f(a + i * step[0], b + i * step[1], out + i * step[2]);
        });
  }

private:
  int64_t last(int operand) const { return steps_[operand].empty() ? 0 : steps_[operand].back(); }

  std::vector<int64_t> sizes_, steps_[3]; ///< of each loop; of a, b and out
};

} // namespace dbc::oracle
