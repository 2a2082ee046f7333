// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What stands for cuBLAS where kernels run on the CPU.
#include <dbc/cuda/cublas.h>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using namespace dbc::cuda;

/// Two rows of three numbers times a matrix of 3 inputs and 2 outputs; what lies between rows stays.
template <class Real> struct Small {
  std::vector<Real> x = {1, 2, 3, -7, 4, 5, 6, -7}, y = std::vector<Real>(6, -1);
  std::vector<Real> weights = {1, 10, 2, 20, 3, 30}, bias = {1000, 2000};
  Gemm<Real> gemm{2, x.data(), 4, {weights.data(), bias.data(), 3, 2}, /*biased=*/false, y.data(), 3};
};

std::unique_ptr<Blas> library() { return std::unique_ptr<Blas>(backend_with_blas().make_blas(nullptr)); }

TEST(CudaBlas, MultipliesRowsAndLeavesWhatLiesBetweenThem) {
  Small<float> f32;
  library()->gemm(f32.gemm, /*tf32=*/false);
  EXPECT_EQ(f32.y, (std::vector<float>{14, 140, -1, 32, 320, -1}));
  Small<double> f64;
  library()->gemm(f64.gemm);
  EXPECT_EQ(f64.y, (std::vector<double>{14, 140, -1, 32, 320, -1}));
}

TEST(CudaBlas, AddsTheBiasToEachRowWhereSet) {
  Small<float> f32;
  f32.gemm.biased = true;
  library()->gemm(f32.gemm, /*tf32=*/false);
  EXPECT_EQ(f32.y, (std::vector<float>{1014, 2140, -1, 1032, 2320, -1}));
  Small<double> f64;
  f64.gemm.biased = true;
  library()->gemm(f64.gemm);
  EXPECT_EQ(f64.y, (std::vector<double>{1014, 2140, -1, 1032, 2320, -1}));
}

TEST(CudaBlas, FindsTheBiasOfAMatrixAtAMultipleOf16Bytes) {
  for (int64_t weights : {1, 2, 3, 4, 5, 9, 441}) {
    EXPECT_GE(bias_behind(weights), weights);
    EXPECT_LT(bias_behind(weights), weights + 4);
    EXPECT_EQ(bias_behind(weights) * sizeof(float) % 16, 0u);
    EXPECT_EQ(bias_behind(weights) * sizeof(double) % 16, 0u);
  }
}

TEST(CudaBlas, CutsOperandsToElevenBitsOnlyWhereSet) {
  Small<float> small;
  const float fine = 1 + 1.f / 4096; // of 13 bits
  small.x[0] = fine;
  library()->gemm(small.gemm, /*tf32=*/false);
  EXPECT_EQ(small.y[0], fine + 13);
  library()->gemm(small.gemm, /*tf32=*/true);
  EXPECT_EQ(small.y[0], 14);
}

TEST(CudaBlas, IsInTheBackendOfModelsThatAskForItAlone) {
  EXPECT_EQ(backend().make_blas, nullptr);
  EXPECT_NE(backend_with_blas().make_blas, nullptr);
}

TEST(CudaBlas, SaysThatThereIsNoWorkspace) {
  std::unique_ptr<Blas> blas = library();
  blas->work_in(blas.get());
  EXPECT_TRUE(blas->status().ok());
  blas->work_in(nullptr);
  EXPECT_EQ(blas->status().code, dbc::Code::internal);
  EXPECT_EQ(blas->status().message, "cuBLAS on the CPU: there is no workspace");
}

} // namespace
