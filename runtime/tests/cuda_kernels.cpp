// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The functions that kernels are made of, against plain loops.
#include <dbc/cuda/kernels.h>
#include <dbc/schedule.h>

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace dbc::cuda;
using dbc::Status;

/// Runs a kernel that uses no more shared memory than this.
template <class... Parameters>
void start(void (*kernel)(Parameters...), int32_t blocks, Parameters... arguments) {
  launch(kernel, blocks, 4096, nullptr, arguments...);
}
Status wait() { return backend().wait(nullptr); }

//===-- Products ----------------------------------------------------------------------------------------===//

template <class Real> std::vector<Real> drawn(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Real> v(n);
  for (Real &x : v)
    x = static_cast<Real>(random() / 2147483648.0 - 1);
  return v;
}

/// Three segments of rows of another length each, behind one another; two of them by a list of rows.
template <class From> struct Rows {
  static constexpr int32_t kLengths[3] = {5, 1, 7}, kInputs = 13, kMost = 9;
  std::vector<From> numbers[3];
  std::vector<int32_t> via[2] = {{8, 0, 0, 3, 7, 5, 1, 8, 2}, {4, 4, 1, 0, 6, 2, 8, 3, 7}};
  Segment<From> of[3];
  Rows() {
    for (int32_t s = 0; s < 3; ++s) {
      const int32_t stride = kLengths[s] + 2;
      numbers[s] = drawn<From>(static_cast<size_t>(kMost) * stride, 10 + static_cast<unsigned>(s));
      const From *base = numbers[s].data();
      of[s] =
          segment(base, static_cast<const int32_t *>(s < 2 ? via[s].data() : nullptr), stride, kLengths[s]);
    }
  }
  /// Number k of row i of all three together.
  From at(int32_t i, int32_t k) const {
    int32_t s = 0;
    while (k >= kLengths[s])
      k -= kLengths[s++];
    const int32_t row = s < 2 ? via[s][i] : i;
    return numbers[s][static_cast<size_t>(row) * (kLengths[s] + 2) + k];
  }
};

/// What is as near to a sum of doubles as sums in order are, and has the bits of one in this order (builds
/// have a multiply-add of their own, see dbc/math.h).
template <class Real> struct Sum {
  double exact = 0;
  Real in_order = 0;
  int32_t terms = 1;
  explicit Sum(Real start) : exact(start), in_order(start) {}
  void add(double a, double b) {
    exact += a * b;
    in_order = fused(static_cast<Real>(a), static_cast<Real>(b), in_order);
    ++terms;
  }
  void expect(Real found, const std::string &where) const {
    ASSERT_NEAR(found, exact, terms * 2 * double(std::numeric_limits<Real>::epsilon())) << where;
    ASSERT_EQ(found, in_order) << where;
  }
};
std::string where(int32_t i, int32_t o) { return "row " + std::to_string(i) + ", " + std::to_string(o); }

template <class Real, class From>
__global__ void product_kernel(int32_t rows, Matrix<Real> matrix, const int32_t *table, int32_t gates,
                               int32_t width, Real *into, Segment<From> a, Segment<From> b, Segment<From> c) {
  const Tile tile = tile_of(blockIdx.x, gates, matrix.outputs / gates, width);
  into += blockIdx.x * rows * tile.outputs();
  if (table != nullptr)
    product_of_tables(rows, table, matrix, tile, into, a, b, c);
  else
    product(rows, matrix, tile, into, a, b, c);
}

/// All tiles of three gates of 11 units, against plain loops.
template <class Real, class From> void products(bool tables) {
  constexpr int32_t kGates = 3, kUnits = 11, kOutputs = kGates * kUnits;
  const Rows<From> x;
  const int32_t inputs = x.kInputs, numbers = inputs * kOutputs;
  const std::vector<Real> weights = drawn<Real>(static_cast<size_t>(4 * numbers), 1),
                          bias = drawn<Real>(kOutputs, 2);
  const std::vector<int32_t> table = {3, 0, 0, 2, 1, 3, 2, 0, 1};
  const Matrix<Real> matrix = {weights.data(), bias.data(), inputs, kOutputs};
  for (int32_t rows = 1; rows <= x.kMost; ++rows)
    for (int32_t width : {1, 4, 7, kUnits}) {
      const int32_t tiles = (kUnits + width - 1) / width, outputs = kGates * width;
      const size_t size = static_cast<size_t>(tiles) * rows * outputs;
      std::vector<Real> into(size + 8, Real(99));
      start(product_kernel<Real, From>, tiles, rows, matrix,
            static_cast<const int32_t *>(tables ? table.data() : nullptr), kGates, width, into.data(),
            x.of[0], x.of[1], x.of[2]);
      ASSERT_TRUE(wait().ok());
      const Real *next = into.data();
      for (int32_t tile = 0; tile < tiles; ++tile)
        for (int32_t i = 0; i < rows; ++i)
          for (int32_t o = 0; o < outputs; ++o) {
            const int32_t unit = std::min(tile * width, kUnits - width) + o % width;
            const int32_t column = o / width * kUnits + unit;
            const Real *weight = weights.data() + (tables ? table[i] * numbers : 0) + column;
            Sum<Real> sum(bias[column]);
            for (int32_t k = 0; k < inputs; ++k)
              sum.add(x.at(i, k), weight[k * kOutputs]);
            sum.expect(*next++, where(i, o) + " of tile " + std::to_string(tile));
          }
      for (size_t n = size; n < into.size(); ++n)
        ASSERT_EQ(into[n], Real(99)) << "written behind the last row";
    }
}

// Products of any number of rows, read through lists of rows or not, in tiles of which the last overlaps.
TEST(CudaProduct, OfSegments) {
  products<float, float>(false);
  products<double, double>(false);
}

// The structure's numbers are floats, also where arithmetic is double.
TEST(CudaProduct, OfFloatsInDouble) {
  products<double, float>(false);
  products<double, float>(true);
}

// Each row has a matrix of its own.
TEST(CudaProduct, OfTables) {
  products<float, float>(true);
  products<double, double>(true);
}

__global__ void whole_product(int32_t rows, Matrix<float> matrix, float *into, Segment<float> x) {
  product(rows, matrix, all_of(matrix.outputs), into, x);
}

// No rows are no work, and nothing is read.
TEST(CudaProduct, OfNoRows) {
  const float number = 1;
  float into = 99;
  start(whole_product, 1, 0, Matrix<float>{&number, &number, 1, 1}, &into,
        segment(static_cast<const float *>(nullptr), nullptr, 1, 1));
  EXPECT_TRUE(wait().ok());
  EXPECT_EQ(into, 99);
}

template <class Real>
__global__ void multiply_kernel(int32_t height, int32_t outputs, Real *into, Segment<float> a,
                                Segment<float> b, Segment<float> c) {
  multiply(blockIdx.x, height, outputs, into + blockIdx.x * height * outputs, a, b, c);
}

template <class Real> void multiplies() {
  constexpr int32_t kRows = 5, kInner[2] = {3, 4}, kSum = 7;
  const std::vector<int32_t> via = {4, 2, 2, 0, 3};
  for (int32_t height : {1, 3, 20})
    for (int32_t outputs : {1, 5, 33}) {
      const int32_t size = height * kSum, first = kInner[0] * outputs, second = kInner[1] * outputs;
      const std::vector<float> a = drawn<float>(static_cast<size_t>(kRows) * size, 1),
                               b = drawn<float>(static_cast<size_t>(kRows) * first, 2),
                               c = drawn<float>(static_cast<size_t>(kRows) * second, 3);
      std::vector<Real> into(static_cast<size_t>(kRows) * height * outputs, Real(99));
      start(multiply_kernel<Real>, kRows, height, outputs, into.data(),
            segment(a.data(), via.data(), size, kSum), segment(b.data(), nullptr, first, kInner[0]),
            segment(c.data(), via.data(), second, kInner[1]));
      ASSERT_TRUE(wait().ok());
      for (int32_t row = 0; row < kRows; ++row)
        for (int32_t i = 0; i < height; ++i)
          for (int32_t j = 0; j < outputs; ++j) {
            Sum<Real> sum(0);
            for (int32_t k = 0; k < kSum; ++k)
              sum.add(a[via[row] * size + i * kSum + k],
                      k < kInner[0] ? b[row * first + k * outputs + j]
                                    : c[via[row] * second + (k - kInner[0]) * outputs + j]);
            sum.expect(into[(row * height + i) * outputs + j], where(i, j));
          }
    }
}

// Products of two matrices of a row, the second in parts.
TEST(CudaProduct, OfTwoMatrices) {
  multiplies<float>();
  multiplies<double>();
}

//===-- Whole numbers, and what is wrong ----------------------------------------------------------------===//

// Whole numbers are the same on the CPU and on a device, also at their ends.
TEST(CudaChecked, AsOnTheCpu) {
  using Function = bool (*)(int32_t, int32_t, int32_t *);
  struct Both {
    const char *name;
    Function host, device;
  };
  const Both functions[] = {{"add", dbc::checked_add, dbc::cuda::checked_add},
                            {"sub", dbc::checked_sub, dbc::cuda::checked_sub},
                            {"mul", dbc::checked_mul, dbc::cuda::checked_mul},
                            {"div", dbc::checked_div, dbc::cuda::checked_div},
                            {"mod", dbc::checked_mod, dbc::cuda::checked_mod}};
  const int32_t numbers[] = {INT32_MIN,
                             INT32_MIN + 1,
                             -46341,
                             -46340,
                             -65536,
                             -7,
                             -3,
                             -2,
                             -1,
                             0,
                             1,
                             2,
                             3,
                             7,
                             46340,
                             46341,
                             65535,
                             65536,
                             1 << 30,
                             -(1 << 30),
                             INT32_MAX - 1,
                             INT32_MAX};
  for (const Both &both : functions)
    for (int32_t a : numbers)
      for (int32_t b : numbers) {
        int32_t host = 77, device = 88;
        EXPECT_EQ(both.host(a, b, &host), both.device(a, b, &device))
            << both.name << " of " << a << " and " << b;
        EXPECT_EQ(host, device) << both.name << " of " << a << " and " << b;
      }
}

__global__ void find_faults(Faults faults) {
  for (int32_t n = 0; n < 3; ++n) {
    const int32_t t = threadIdx.x;
    fault(faults, faults.launch, 10 + n, {blockIdx.x, t, n}, t + 1, t + 2, t + 3);
    __syncthreads();
  }
}

// A record says where and what; those of one thread stand in its order.
TEST(CudaFaults, Records) {
  std::vector<FaultRecord> records(2 * 3 * kThreads);
  int32_t count = 0;
  start(find_faults, 2, Faults{records.data(), &count, static_cast<int32_t>(records.size()), 6});
  ASSERT_TRUE(wait().ok());
  ASSERT_EQ(count, static_cast<int32_t>(records.size()));
  std::map<std::pair<int32_t, int32_t>, int32_t> found; // of a thread so far
  for (const FaultRecord &record : records) {
    EXPECT_EQ(record.launch, 6);
    const int32_t t = record.place.loop, n = found[{record.place.row, t}]++;
    EXPECT_EQ(record.place.iteration, n);
    EXPECT_EQ(record.site, 10 + n);
    for (int32_t number = 0; number < 3; ++number)
      EXPECT_EQ(record.numbers[number], t + 1 + number);
  }
  EXPECT_EQ(found.size(), size_t(2 * kThreads));
}

// Where there is no room they are counted all the same, so that there can be room, and nothing is
// overwritten.
TEST(CudaFaults, CountedBeyondTheRoom) {
  const FaultRecord none = {-1, {-1, -1, -1}, -1, {-1, -1, -1}};
  for (int32_t capacity : {0, 1, 5, 767, 768, 769}) {
    std::vector<FaultRecord> records(1000, none);
    int32_t count = 0;
    start(find_faults, 2, Faults{records.data(), &count, capacity, 0});
    ASSERT_TRUE(wait().ok());
    EXPECT_EQ(count, 768);
    for (int32_t n = 0; n < 1000; ++n)
      EXPECT_EQ(records[n].launch, n < std::min(capacity, 768) ? 0 : -1) << n << " of " << capacity;
  }
}

__global__ void read_rows(const int32_t *order, int32_t *rows, int32_t count) {
  for (int32_t n = threadIdx.x; n < count; n += blockDim.x)
    rows[n] = row_at(order, n);
}

// A space has its rows in the order of a list, or as they are where there is none.
TEST(CudaRows, InAnOrderOrAsTheyAre) {
  const std::vector<int32_t> order = {4, 1, 3, 0, 2}, plain = {0, 1, 2, 3, 4};
  std::vector<int32_t> rows(5, -1);
  start(read_rows, 1, order.data(), rows.data(), 5);
  EXPECT_TRUE(wait().ok());
  EXPECT_EQ(rows, order);
  start(read_rows, 1, static_cast<const int32_t *>(nullptr), rows.data(), 5);
  EXPECT_TRUE(wait().ok());
  EXPECT_EQ(rows, plain);
}

} // namespace
