// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// cuBLAS, of which cuBLASLt is enough; or, where kernels run on the CPU, loops that stand for it. NAME.cu of
// a model that has products by the library includes it behind kernels.h, and is linked with cuBLASLt.
#pragma once

#include <dbc/cuda/blas.h>
#include <dbc/cuda/kernels.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>

#if defined(__CUDACC__)
#include <cublasLt.h>
#endif

namespace dbc::cuda {

// A program may have several models, of which some run on a GPU and some on the CPU.
namespace {
#if defined(__CUDACC__)

class Cublas final : public Blas {
public:
  explicit Cublas(void *stream) : stream_(static_cast<cudaStream_t>(stream)) {
    (void)done("cublasLtCreate", cublasLtCreate(&handle_));
  }
  ~Cublas() override {
    if (handle_ != nullptr)
      cublasLtDestroy(handle_);
  }
  void work_in(void *workspace) override { workspace_ = workspace; }
  void gemm(const Gemm<float> &gemm, bool tf32) override {
    multiply(gemm, CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F);
  }
  void gemm(const Gemm<double> &gemm) override { multiply(gemm, CUDA_R_64F, CUBLAS_COMPUTE_64F); }
  Status status() const override { return status_; }

private:
  /// A product as the library has it, which counts columns first: the matrix is outputs x inputs, rows of x
  /// and y are columns, and the bias is added to each column of y.
  struct Product {
    cublasLtMatmulDescOpaque_t way = {};
    cublasLtMatrixLayoutOpaque_t matrix = {}, x = {}, y = {};
    uint32_t align = 1; ///< all addresses are multiples of it; the bias's of 16
  };
  /// What an algorithm is chosen for: all that Product is made of, but for the addresses.
  using Shape = std::array<int64_t, 8>;
  struct Found {
    Shape shape;
    cublasLtMatmulAlgo_t algorithm;
  };

  template <class Real>
  void multiply(const Gemm<Real> &gemm, cudaDataType_t type, cublasComputeType_t compute) {
    const Matrix<Real> &matrix = gemm.matrix;
    Product product;
    if (!status_.ok() || !describe(gemm, type, compute, product))
      return;
    const Shape shape = {compute,       matrix.outputs, matrix.inputs, gemm.rows,
                         gemm.x_stride, gemm.y_stride,  gemm.biased,   product.align};
    const cublasLtMatmulAlgo_t *algorithm = find(shape, product);
    if (algorithm == nullptr)
      return;
    const Real one = 1, zero = 0;
    (void)done("cublasLtMatmul", cublasLtMatmul(handle_, &product.way, &one, matrix.weights, &product.matrix,
                                                gemm.x, &product.x, &zero, gemm.y, &product.y, gemm.y,
                                                &product.y, algorithm, workspace_, kBlasWorkspace, stream_));
  }

  template <class Real>
  bool describe(const Gemm<Real> &gemm, cudaDataType_t type, cublasComputeType_t compute, Product &product) {
    const Matrix<Real> &matrix = gemm.matrix;
    auto lay_out = [&](cublasLtMatrixLayoutOpaque_t &to, int32_t rows, int32_t columns, int64_t stride) {
      return done("cublasLtMatrixLayoutInit", cublasLtMatrixLayoutInit(&to, type, rows, columns, stride));
    };
    auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
      return done("cublasLtMatmulDescSetAttribute",
                  cublasLtMatmulDescSetAttribute(&product.way, attribute, &value, sizeof value));
    };
    const uintptr_t addresses = reinterpret_cast<uintptr_t>(matrix.weights) |
                                reinterpret_cast<uintptr_t>(gemm.x) | reinterpret_cast<uintptr_t>(gemm.y);
    while (product.align < kMostAlign && addresses % (2 * product.align) == 0)
      product.align *= 2;
    return done("cublasLtMatmulDescInit", cublasLtMatmulDescInit(&product.way, compute, type)) &&
           lay_out(product.matrix, matrix.outputs, matrix.inputs, matrix.outputs) &&
           lay_out(product.x, matrix.inputs, gemm.rows, gemm.x_stride) &&
           lay_out(product.y, matrix.outputs, gemm.rows, gemm.y_stride) &&
           (!gemm.biased || (set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS) &&
                             set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, matrix.bias)));
  }

  /// The algorithm for a product, which is asked for where it is not known any more. Null after a failure.
  const cublasLtMatmulAlgo_t *find(const Shape &shape, Product &product) {
    Found *const end = found_.data() + std::min(asked_, found_.size());
    Found *known = std::find_if(found_.data(), end, [&](const Found &each) { return each.shape == shape; });
    if (known != end)
      return &known->algorithm;
    cublasLtMatmulPreferenceOpaque_t preference = {};
    auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      return done("cublasLtMatmulPreferenceSetAttribute",
                  cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value));
    };
    cublasLtMatmulHeuristicResult_t result = {};
    int results = 0;
    if (!done("cublasLtMatmulPreferenceInit", cublasLtMatmulPreferenceInit(&preference)) ||
        !prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(kBlasWorkspace)) ||
        !prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, product.align) ||
        !prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, product.align) ||
        !prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, product.align) ||
        !prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, product.align) ||
        !done("cublasLtMatmulAlgoGetHeuristic",
              cublasLtMatmulAlgoGetHeuristic(handle_, &product.way, &product.matrix, &product.x, &product.y,
                                             &product.y, &preference, 1, &result, &results)) ||
        !done("cublasLtMatmulAlgoGetHeuristic", results > 0 ? result.state : CUBLAS_STATUS_NOT_SUPPORTED))
      return nullptr;
    Found &next = found_[asked_++ % found_.size()];
    next = {shape, result.algo};
    return &next.algorithm;
  }

  /// Whether that went well. The first failure stays.
  bool done(const char *what, cublasStatus_t code) {
    if (code != CUBLAS_STATUS_SUCCESS && status_.ok())
      status_ = Status::error(Code::internal,
                              std::string("cuBLAS: ") + what + ": " + cublasLtGetStatusString(code));
    return code == CUBLAS_STATUS_SUCCESS;
  }

  static constexpr uint32_t kMostAlign = 256; ///< that the library asks for

  cublasLtHandle_t handle_ = nullptr;
  cudaStream_t stream_;
  void *workspace_ = nullptr;
  std::array<Found, 128> found_; ///< the algorithms that were asked for last
  size_t asked_ = 0;             ///< ever
  Status status_;
};

#else

class Cublas final : public Blas {
public:
  explicit Cublas(void *) {}
  void work_in(void *workspace) override {
    if (workspace == nullptr && status_.ok())
      status_ = Status::error(Code::internal, "cuBLAS on the CPU: there is no workspace");
  }
  void gemm(const Gemm<float> &gemm, bool tf32) override {
    shim::Machine::own().perform([=] {
      if (tf32)
        multiply(gemm, [](float number) { return cut_to_tf32(number); });
      else
        multiply(gemm, [](float number) { return number; });
    });
  }
  void gemm(const Gemm<double> &gemm) override {
    shim::Machine::own().perform([=] { multiply(gemm, [](double number) { return number; }); });
  }
  Status status() const override { return status_; }

private:
  template <class Real, class Cut> static void multiply(const Gemm<Real> &gemm, Cut cut) {
    const Matrix<Real> &matrix = gemm.matrix;
    for (int32_t row = 0; row < gemm.rows; ++row)
      for (int32_t output = 0; output < matrix.outputs; ++output) {
        Real sum = 0;
        for (int32_t k = 0; k < matrix.inputs; ++k)
          sum += cut(gemm.x[row * gemm.x_stride + k]) *
                 cut(matrix.weights[int64_t(k) * matrix.outputs + output]);
        gemm.y[row * gemm.y_stride + output] = gemm.biased ? sum + matrix.bias[output] : sum;
      }
  }

  Status status_;
};

#endif

/// How a device is reached that has the library too.
const Backend &backend_with_blas() {
  static const Backend with = [] {
    Backend made = backend();
    made.make_blas = [](void *stream) -> Blas * { return new (std::nothrow) Cublas(stream); };
    return made;
  }();
  return with;
}
} // namespace

} // namespace dbc::cuda
