// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Packing of matrices, and the choice of the product kernel.
#include "ProductKernels.h"

#include <atomic>
#include <cstring>
#include <initializer_list>

namespace dbc {

namespace {

const ProductKernels *runnable(const ProductKernels *kernels) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (kernels == product_kernels_avx512() && !__builtin_cpu_supports("avx512f"))
    return nullptr;
  if (kernels == product_kernels_avx2() && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
    return nullptr;
#endif
  return kernels;
}

const ProductKernels *best() {
  for (const ProductKernels *k : {product_kernels_avx512(), product_kernels_avx2()})
    if (k && runnable(k))
      return k;
  return product_kernels_baseline();
}

std::atomic<const ProductKernels *> &chosen() {
  static std::atomic<const ProductKernels *> kernels(best());
  return kernels;
}

const ProductKernels &kernels() { return *chosen().load(std::memory_order_relaxed); }

} // namespace

const char *product_kernels() { return kernels().name; }

bool choose_product_kernels(const char *name) {
  for (const ProductKernels *k :
       {product_kernels_avx512(), product_kernels_avx2(), product_kernels_baseline()})
    if (k && std::strcmp(k->name, name) == 0 && runnable(k)) {
      chosen().store(k);
      return true;
    }
  return false;
}

template <class Real>
void Packed<Real>::pack(const Real *w, int32_t outputs, int32_t inputs, int64_t stride) {
  constexpr int32_t width = kPanelBytes / sizeof(Real);
  size_t panels = (static_cast<size_t>(outputs) + width - 1) / width;
  data_.assign(panels * width * inputs, Real(0));
  outputs_ = outputs;
  inputs_ = inputs;
  for (int32_t o = 0; o < outputs && inputs > 0; ++o) {
    Real *to = data_.data() + static_cast<size_t>(o / width) * width * inputs + o % width;
    for (int32_t k = 0; k < inputs; ++k)
      to[static_cast<size_t>(k) * width] = w[o * stride + k];
  }
}

template <>
void product<float>(int32_t rows, const Segment<float> *segments, int32_t count, const Packed<float> &w,
                    Rows<float> init, RowsOut<float> y) {
  kernels().f32(rows, segments, count, w.data(), w.outputs(), w.inputs(), init, y);
}
template <>
void product<double>(int32_t rows, const Segment<double> *segments, int32_t count, const Packed<double> &w,
                     Rows<double> init, RowsOut<double> y) {
  kernels().f64(rows, segments, count, w.data(), w.outputs(), w.inputs(), init, y);
}

template class Packed<float>;
template class Packed<double>;

} // namespace dbc
