// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Asking oneDNN for a product. Built with or without it.
#include "bench/baselines/PackedProducts.h"

#ifndef DBC_BENCH_ONEDNN

namespace dbc::bench {

std::vector<std::string> packed_ways() { return {}; }

std::unique_ptr<PackedProduct> packed_product(const float *, int32_t, int32_t, int32_t) { return nullptr; }

} // namespace dbc::bench

#else

#include <dlfcn.h>
#include <dnnl.hpp>

#include <array>

namespace dbc::bench {
namespace {

using dnnl::memory;

/// A product with everything that it needs.
struct Ready {
  dnnl::primitive primitive;
  dnnl::stream stream;
  std::array<memory, 3> operands;
  std::array<dnnl_exec_arg_t, 3> arguments;

  /// The C++ interface would copy the arguments into a map each time. A stream of the processor is done when
  /// this is.
  void operator()() const {
    dnnl_primitive_execute(primitive.get(), stream.get(), static_cast<int>(arguments.size()),
                           arguments.data());
  }
};

class OneDnnProduct final : public PackedProduct {
public:
  OneDnnProduct(const float *a, int32_t n, int32_t k)
      : n_(n), k_(k), a_(a, a + static_cast<int64_t>(n) * k), engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_) {}

  std::function<void()> call(size_t way, float *x, int32_t rows, float *y) override {
    const memory::desc from = matrix(rows, k_, memory::format_tag::ab),
                       to = matrix(rows, n_, memory::format_tag::ab);
    if (way == 0)
      return ready<dnnl::inner_product_forward>(
          inner_product(from, matrix(n_, k_, memory::format_tag::any), to),
          matrix(n_, k_, memory::format_tag::ab), memory(from, engine_, x), memory(to, engine_, y));
    return ready<dnnl::matmul>(multiplication(from, matrix(k_, n_, memory::format_tag::any), to),
                               matrix(k_, n_, memory::format_tag::ba), memory(from, engine_, x),
                               memory(to, engine_, y));
  }

private:
  static memory::desc matrix(int32_t rows, int32_t columns, memory::format_tag tag) {
    return memory::desc({rows, columns}, memory::data_type::f32, tag);
  }

  // oneDNN 3 has no descriptors beside those of primitives.
  dnnl::inner_product_forward::primitive_desc inner_product(const memory::desc &x, const memory::desc &a,
                                                            const memory::desc &y) const {
    const auto inference = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
    return {engine_, inference, x, a, y};
#else
    return {dnnl::inner_product_forward::desc(inference, x, a, y), engine_};
#endif
  }
  dnnl::matmul::primitive_desc multiplication(const memory::desc &x, const memory::desc &a,
                                              const memory::desc &y) const {
#if DNNL_VERSION_MAJOR >= 3
    return {engine_, x, a, y};
#else
    return {dnnl::matmul::desc(x, a, y), engine_};
#endif
  }

  /// `stored` is how the primitive sees A as it is stored.
  template <class Primitive>
  Ready ready(const typename Primitive::primitive_desc &how, const memory::desc &stored, memory x, memory y) {
    memory a = packed(how.weights_desc(), stored);
    return {Primitive(how),
            stream_,
            {x, a, y},
            {{{DNNL_ARG_SRC, x.get()}, {DNNL_ARG_WEIGHTS, a.get()}, {DNNL_ARG_DST, y.get()}}}};
  }

  /// A in a format. Numbers of rows that want the same one share it, as a program would: it stays in the
  /// cache between levels.
  memory packed(const memory::desc &format, const memory::desc &stored) {
    for (const memory &one : packed_)
      if (one.get_desc() == format)
        return one;
    memory plain(stored, engine_, a_.data());
    packed_.emplace_back(format, engine_);
    dnnl::reorder(plain, packed_.back()).execute(stream_, plain, packed_.back());
    stream_.wait();
    return packed_.back();
  }

  int32_t n_, k_;
  std::vector<float> a_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::vector<memory> packed_;
};

} // namespace

std::vector<std::string> packed_ways() { return {"oneDNN inner product", "oneDNN matmul"}; }

std::unique_ptr<PackedProduct> packed_product(const float *a, int32_t n, int32_t k, int32_t threads) {
  // oneDNN's threads are those of OpenMP, whose library it brings along.
  if (void *set = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set)(threads);
  return std::make_unique<OneDnnProduct>(a, n, k);
}

} // namespace dbc::bench

#endif
