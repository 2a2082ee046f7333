// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Sums over rows as kernels make them, against plain loops.
#include <dbc/cuda/kernels.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace dbc::cuda;

/// Rows of a number of elements, which begin at multiples of 16 bytes, or right behind each other; they are
/// numbered in a shuffled order.
struct Operand {
  std::vector<float> numbers;
  std::vector<int32_t> rows;
  int32_t length, stride;

  Operand(int32_t count, int32_t length, bool aligned, unsigned seed)
      : length(length), stride(aligned ? (length + 3) / 4 * 4 + 4 : length) {
    std::mt19937 random(seed);
    numbers.resize(static_cast<size_t>(count) * stride + 4);
    for (float &x : numbers)
      x = static_cast<float>(random() / 2147483648.0 - 1);
    rows.resize(count);
    for (int32_t i = 0; i < count; ++i)
      rows[i] = (i * 7 + 3) % count; // 7 is prime to all counts below
  }
  const float *begin() const { // at a multiple of 16 bytes
    return numbers.data() + (16 - reinterpret_cast<uintptr_t>(numbers.data()) % 16) % 16 / sizeof(float);
  }
  float &at(int32_t row, int32_t k) { return const_cast<float *>(begin())[rows[row] * stride + k]; }
  float at(int32_t row, int32_t k) const { return begin()[rows[row] * stride + k]; }
  Segment<float> segment() const {
    return dbc::cuda::segment(begin(), static_cast<const int32_t *>(nullptr), stride, length);
  }
  AlignedSegment<float, Blocks> aligned() const {
    return aligned_segment(begin(), static_cast<const int32_t *>(nullptr), stride, length);
  }
};

/// As stages that add rows up are emitted: slices of rows, so many at once, and tiles of the sums.
template <Math kMath, class A, class X>
__global__ void sums_kernel(int32_t count, int32_t most, int32_t at_once, int32_t tiles, float *into,
                            float *bias, float *of_slices, const int32_t *rows_of_a, const int32_t *rows_of_x,
                            A a, X x) {
  DBC_SHARED(float, memory, 0, kSumTileScratch);
  const int32_t slices = slices_of(count, most), size = a.length * x.length;
  for (TileScheduler work(slices, tiles); work.any(); work.next()) {
    const RowSlice slice(0, count, work.item(), slices);
    float *const own = sums_of(into, of_slices, 0, size + a.length, work.item(), slices),
                 *const own_bias = sums_of(bias, of_slices, size, size + a.length, work.item(), slices);
    for (int32_t first = slice.begin; first < slice.end; first += at_once) {
      a.via = rows_of_a + first;
      x.via = rows_of_x + first;
      add_outer_products<kMath>(std::min(at_once, slice.end - first), a.length, work.tile(), tiles, memory,
                                own, own_bias, a, x);
      __syncthreads();
    }
  }
}

struct Sums {
  std::vector<float> matrix, bias;
};

/// What is added to 1 and 2.
template <Math kMath, class A, class X>
Sums sums_of(const Operand &a, const Operand &x, int32_t most, int32_t at_once, int32_t tiles, int32_t blocks,
             A as, X xs) {
  const auto count = static_cast<int32_t>(a.rows.size());
  const int64_t size = int64_t(a.length) * x.length, all = size + a.length;
  Sums sums{std::vector<float>(size, 1), std::vector<float>(a.length, 2)};
  const int32_t slices = slices_of(count, most);
  std::vector<float> of_slices(slices > 1 ? slices * all : 0, std::numeric_limits<float>::quiet_NaN());
  clear_slices(of_slices.data(), all, slices, nullptr);
  launch(sums_kernel<kMath, A, X>, blocks, sizeof(float) * kSumTileScratch, nullptr, count, most, at_once,
         tiles, sums.matrix.data(), sums.bias.data(), of_slices.data(), a.rows.data(), x.rows.data(), as, xs);
  add_slices<float>(of_slices.data(), all, slices, nullptr,
                    {{sums.matrix.data(), size, 0}, {sums.bias.data(), a.length, size}});
  EXPECT_TRUE(backend().wait(nullptr).ok());
  return sums;
}

void expect_near(const Sums &sums, const Operand &a, const Operand &x, double error) {
  for (int32_t i = 0; i < a.length; ++i) {
    double bias = 2;
    for (size_t row = 0; row < a.rows.size(); ++row)
      bias += a.at(static_cast<int32_t>(row), i);
    ASSERT_NEAR(sums.bias[i], bias, error) << "bias " << i;
    for (int32_t j = 0; j < x.length; ++j) {
      double sum = 1;
      for (size_t row = 0; row < a.rows.size(); ++row)
        sum += double(a.at(static_cast<int32_t>(row), i)) * x.at(static_cast<int32_t>(row), j);
      ASSERT_NEAR(sums.matrix[int64_t(i) * x.length + j], sum, error) << "row " << i << ", column " << j;
    }
  }
}

// Of any sizes, also such as fill no tile and no stage, with rows at multiples of 16 bytes and without.
TEST(CudaRowSums, OfAnySize) {
  const struct {
    int32_t count, height, length;
  } sizes[] = {{1, 1, 1}, {5, 3, 70}, {31, 65, 2}, {33, 64, 64}, {97, 130, 67}, {200, 5, 150}};
  for (const auto &size : sizes) {
    const Operand a(size.count, size.height, true, 1), x(size.count, size.length, true, 2);
    expect_near(sums_of<Math::tf32x3>(a, x, 1, 512, 1, 1, a.aligned(), x.aligned()), a, x, 1e-4);
    expect_near(sums_of<Math::tf32x3>(a, x, 1, 512, 2, 2, a.segment(), x.aligned()), a, x, 1e-4);
    const Operand close(size.count, size.height, false, 3);
    expect_near(sums_of<Math::tf32x3>(close, x, 1, 512, 3, 2, close.segment(), x.aligned()), close, x, 1e-4);
    expect_near(sums_of<Math::tf32>(close, x, 1, 512, 3, 2, close.segment(), x.segment()), close, x, 0.05);
  }
}

// Slices are as good as all rows at once; bits depend neither on the blocks of threads nor on the tiles that
// these have.
TEST(CudaRowSums, InSlices) {
  const Operand a(300, 70, true, 4), x(300, 40, true, 5);
  const Sums sums = sums_of<Math::tf32x3>(a, x, 4, 64, 2, 8, a.aligned(), x.aligned());
  expect_near(sums, a, x, 1e-4);
  for (int32_t blocks : {1, 3, 20}) {
    const Sums again = sums_of<Math::tf32x3>(a, x, 4, 64, 2, blocks, a.aligned(), x.aligned());
    EXPECT_EQ(again.matrix, sums.matrix);
    EXPECT_EQ(again.bias, sums.bias);
  }
  EXPECT_EQ(sums_of<Math::tf32x3>(a, x, 4, 64, 1, 4, a.aligned(), x.aligned()).matrix, sums.matrix);
  EXPECT_EQ(slices_of(0, 4), 1);
  EXPECT_EQ(slices_of(64, 4), 1);
  EXPECT_EQ(slices_of(65, 4), 2);
  EXPECT_EQ(slices_of(100000, 4), 4);
}

// A row of which one operand is all zeros adds nothing, whatever the other one has; else infinities and what
// is no number are what they are in plain sums.
TEST(CudaRowSums, OfWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Operand a(40, 6, true, 6), x(40, 9, true, 7);
  for (int32_t i = 0; i < 6; ++i)
    a.at(3, i) = 0;
  x.at(3, 2) = kInfinity;
  x.at(7, 4) = kInfinity;
  a.at(7, 1) = 0;
  a.at(9, 5) = std::numeric_limits<float>::quiet_NaN();
  a.at(11, 0) = 3e38F;
  x.at(11, 8) = 10;
  const Sums sums = sums_of<Math::tf32x3>(a, x, 1, 512, 1, 1, a.aligned(), x.aligned());
  for (int32_t i = 0; i < 6; ++i)
    for (int32_t j = 0; j < 9; ++j) {
      const float found = sums.matrix[i * 9 + j];
      if (i == 5 || (i == 1 && j == 4)) {
        EXPECT_TRUE(std::isnan(found)) << i << ", " << j; // 0 times infinity in a row that is not all zeros
      } else if (j == 4) {
        EXPECT_EQ(found, a.at(7, i) > 0 ? kInfinity : -kInfinity) << i;
      } else if (i == 0 && j == 8) {
        EXPECT_EQ(found, kInfinity);
      } else {
        EXPECT_TRUE(std::isfinite(found)) << i << ", " << j;
      }
    }
}

// Without tensor cores, in double.
template <class Real>
__global__ void in_order_kernel(int32_t count, Real *into, Real *bias, Segment<Real> a, Segment<Real> x) {
  add_outer_products_in_order<Real>(count, a.length, 0, 1, into, bias, a, x);
}
TEST(CudaRowSums, InDouble) {
  constexpr int32_t kRows = 5, kHeight = 70, kLength = 3;
  std::vector<double> a(kRows * kHeight), x(kRows * kLength), into(kHeight * kLength, 1), bias(kHeight, 2);
  for (size_t n = 0; n < a.size(); ++n)
    a[n] = std::sin(double(n));
  for (size_t n = 0; n < x.size(); ++n)
    x[n] = std::cos(double(n));
  launch(in_order_kernel<double>, 1, 0, nullptr, kRows, into.data(), bias.data(),
         segment<double>(a.data(), nullptr, kHeight, kHeight),
         segment<double>(x.data(), nullptr, kLength, kLength));
  ASSERT_TRUE(backend().wait(nullptr).ok());
  for (int32_t i = 0; i < kHeight; ++i) {
    double sum = 2;
    for (int32_t row = 0; row < kRows; ++row)
      sum += a[row * kHeight + i];
    EXPECT_NEAR(bias[i], sum, 1e-14);
    for (int32_t j = 0; j < kLength; ++j) {
      double product = 1;
      for (int32_t row = 0; row < kRows; ++row)
        product += a[row * kHeight + i] * x[row * kLength + j];
      EXPECT_NEAR(into[i * kLength + j], product, 1e-14);
    }
  }
}

// More arrays than a launch has.
TEST(CudaRowSums, Cleared) {
  std::vector<std::vector<float>> arrays;
  for (size_t n = 0; n < 10; ++n)
    arrays.emplace_back(n * 700, 5.0F);
  auto of = [&](size_t n) {
    return ClearedArray<float>{arrays[n].data(), static_cast<int64_t>(arrays[n].size())};
  };
  clear<float>(nullptr, {of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8), of(9)});
  ASSERT_TRUE(backend().wait(nullptr).ok());
  for (const std::vector<float> &array : arrays)
    EXPECT_EQ(array, std::vector<float>(array.size(), 0.0F));
}

// More arrays than a launch has: each gets its own part of each slice.
TEST(CudaRowSums, OfManyArrays) {
  constexpr int32_t kSlices = 3, kArrays = kMostSummed + 2, kEach = 5;
  std::vector<float> of_slices(size_t{kSlices} * kArrays * kEach), sums(size_t{kArrays} * kEach, 0.5F);
  for (size_t n = 0; n < of_slices.size(); ++n)
    of_slices[n] = static_cast<float>(n);
  auto of = [&](size_t n) { return SummedArray<float>{sums.data() + n * kEach, kEach, int64_t(n) * kEach}; };
  add_slices<float>(of_slices.data(), kArrays * kEach, kSlices, nullptr,
                    {of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8), of(9), of(10), of(11),
                     of(12), of(13), of(14), of(15), of(16), of(17)});
  ASSERT_TRUE(backend().wait(nullptr).ok());
  for (size_t n = 0; n < sums.size(); ++n)
    EXPECT_EQ(sums[n], 0.5F + static_cast<float>(3 * n + 3 * kArrays * kEach)) << n;
}

} // namespace
