// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// cuBLAS; or, where kernels run on the CPU, loops that stand for it. NAME.cu of a model that has products by
// the library includes it behind kernels.h, and is linked with cuBLAS.
#pragma once

#include <dbc/cuda/blas.h>
#include <dbc/cuda/kernels.h>

#include <memory>
#include <string>

#if defined(__CUDACC__)
#include <cublas_v2.h>
#endif

namespace dbc::cuda {

// A program may have several models, of which some run on a card and some on the CPU.
namespace {
#if defined(__CUDACC__)

class Cublas final : public Blas {
public:
  explicit Cublas(void *stream) : stream_(static_cast<cudaStream_t>(stream)) {
    note("cublasCreate", cublasCreate(&handle_));
  }
  ~Cublas() override {
    if (handle_ != nullptr)
      cublasDestroy(handle_);
  }
  void work_in(void *workspace) override {
    if (!status_.ok())
      return;
    // A new stream takes the workspace away, so that comes first.
    note("cublasSetStream", cublasSetStream(handle_, stream_));
    note("cublasSetWorkspace", cublasSetWorkspace(handle_, workspace, kBlasWorkspace));
  }
  void gemm(const Gemm<float> &gemm, bool tf32) override {
    const float one = 1, zero = 0;
    multiply(gemm, CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, &one, &zero);
  }
  void gemm(const Gemm<double> &gemm) override {
    const double one = 1, zero = 0;
    multiply(gemm, CUDA_R_64F, CUBLAS_COMPUTE_64F, &one, &zero);
  }
  Status status() const override { return status_; }

private:
  /// cuBLAS counts columns first: to it the matrix is outputs x inputs, and rows are columns.
  template <class Real>
  void multiply(const Gemm<Real> &gemm, cudaDataType_t type, cublasComputeType_t compute, const Real *one,
                const Real *zero) {
    if (!status_.ok())
      return;
    const Matrix<Real> &matrix = gemm.matrix;
    note("cublasGemmEx",
         cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, matrix.outputs, gemm.rows, matrix.inputs, one,
                      matrix.weights, type, matrix.outputs, gemm.x, type, static_cast<int>(gemm.x_stride),
                      zero, gemm.y, type, static_cast<int>(gemm.y_stride), compute, CUBLAS_GEMM_DEFAULT));
  }
  void note(const char *what, cublasStatus_t code) {
    if (code != CUBLAS_STATUS_SUCCESS && status_.ok())
      status_ =
          Status::error(Code::internal, std::string("cuBLAS: ") + what + ": " + cublasGetStatusString(code));
  }

  cublasHandle_t handle_ = nullptr;
  cudaStream_t stream_;
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
        gemm.y[row * gemm.y_stride + output] = sum;
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
