// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The functions that kernels are made of, against plain loops.
#include <dbc/counted.h>
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

/// Three segments of rows of another length each, behind one another; two of them by a list of rows, of which
/// one numbers them from kFirst on.
template <class From> struct Rows {
  static constexpr int32_t kLengths[3] = {5, 1, 7}, kInputs = 13, kMost = 9, kFirst = 1000;
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
    for (int32_t &row : via[0])
      row += kFirst;
    of[0].base.first = kFirst * of[0].stride;
  }
  /// Number k of row i of all three together.
  From at(int32_t i, int32_t k) const {
    int32_t s = 0;
    while (k >= kLengths[s])
      k -= kLengths[s++];
    const int32_t row = s < 2 ? via[s][i] - (s == 0 ? kFirst : 0) : i;
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

/// All tiles of three gates of 11 channels, against plain loops.
template <class Real, class From> void products(bool tables) {
  constexpr int32_t kGates = 3, kChannels = 11, kOutputs = kGates * kChannels;
  const Rows<From> x;
  const int32_t inputs = x.kInputs, numbers = inputs * kOutputs;
  const std::vector<Real> weights = drawn<Real>(static_cast<size_t>(4 * numbers), 1),
                          bias = drawn<Real>(kOutputs, 2);
  const std::vector<int32_t> table = {3, 0, 0, 2, 1, 3, 2, 0, 1};
  const Matrix<Real> matrix = {weights.data(), bias.data(), inputs, kOutputs};
  for (int32_t rows = 1; rows <= x.kMost; ++rows)
    for (int32_t width : {1, 4, 7, kChannels}) {
      const int32_t tiles = (kChannels + width - 1) / width, outputs = kGates * width;
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
            const int32_t channel = std::min(tile * width, kChannels - width) + o % width;
            const int32_t column = o / width * kChannels + channel;
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

/// Fragments the way a model lays them out, from weight (o, k) at [o * inputs + k].
struct Laid {
  std::vector<float> numbers;
  Fragments of;
  Laid(const std::vector<float> &weights, const std::vector<float> &bias, int32_t gates, int32_t width,
       int32_t n_tiles, const std::vector<int32_t> &lengths) {
    const int32_t outputs = static_cast<int32_t>(bias.size()), channels = outputs / gates,
                  inputs = static_cast<int32_t>(weights.size()) / outputs;
    for (int32_t length : lengths)
      of.k_tiles += (length + 15) / 16;
    of.n_tiles = n_tiles;
    const int32_t tiles = (channels + width - 1) / width;
    numbers.assign(static_cast<size_t>(tiles) * of.k_tiles * n_tiles * kFragment, 0);
    for (int32_t tile = 0; tile < tiles; ++tile)
      for (int32_t o = 0; o < gates * width; ++o) {
        const int32_t column = tile_of(tile, gates, channels, width).column(o);
        int32_t k_tile = tile * of.k_tiles, next = 0;
        for (int32_t length : lengths) {
          for (int32_t k = 0; k < length; ++k)
            numbers[static_cast<size_t>((k_tile + k / 16) * n_tiles + o / 16) * kFragment +
                    static_cast<size_t>(fragment_of(o % 16, k % 16))] =
                weights[static_cast<size_t>(column * inputs + next++)];
          k_tile += (length + 15) / 16;
        }
      }
    of.fragments = numbers.data();
    of.bias = bias.data();
  }
};

/// A product in small tiles and in large-M tiles of kTiles tiles: both of all rows.
template <Math kMath, int32_t kSlices, int32_t kNTiles, int32_t kOutputs, int32_t kTiles, class A, class B>
__global__ void tensor_core_kernel(int32_t rows, Fragments matrix, int32_t gates, int32_t channels,
                                   int32_t width, int32_t scratch, float *small, float *large, A a, B b) {
  DBC_SHARED(float, sums, 0, scratch);
  const int32_t number = blockIdx.x;
  const Tile tile = tile_of(number, gates, channels, width);
  using Product = TensorCores<kMath, kSlices, kNTiles>;
  small += number * kLargeMRows * kOutputs;
  for (int32_t first = 0; first < rows; first += 8) {
    A x = a;
    B y = b;
    x.via += first;
    y.base.data += first * y.stride;
    Product::template product<8, kOutputs, kTiles>(std::min(8, rows - first), matrix, number, tile, sums,
                                                   small + first * kOutputs, x, y);
    __syncthreads();
  }
  if (number % kTiles == 0)
    Product::template product<kLargeMRows, kOutputs, kTiles>(rows, matrix, number, tile, sums,
                                                             large + number * kLargeMRows * kOutputs, a, b);
}

/// The operands of the products below, and what these are in double precision. `infinite`: one number is.
struct Operands {
  static constexpr int32_t kRows = 37, kGates = 3, kChannels = 11, kInputs[2] = {70, 9};
  static constexpr int32_t kFirst = 50; // rows of the first operand begin there
  int32_t strides[2];
  std::vector<float> weights = drawn<float>(size_t(kGates) * kChannels * (kInputs[0] + kInputs[1]), 1),
                     bias = drawn<float>(size_t(kGates) * kChannels, 2);
  alignas(16) float rows[2][kRows * 72 + 80];
  std::vector<int32_t> via;
  Operands(bool infinite, bool aligned) : strides{aligned ? 72 : 71, aligned ? 12 : 9} {
    std::mt19937 random(3);
    for (int32_t i = 0; i < kRows; ++i)
      via.push_back(kFirst + static_cast<int32_t>(random() % kRows));
    for (auto &operand : rows)
      for (float &x : operand)
        x = static_cast<float>(random() / 2147483648.0 - 1);
    if (infinite)
      rows[0][(via[5] - kFirst) * strides[0] + 40] = std::numeric_limits<float>::infinity();
  }
  double product(int32_t i, int32_t column) const {
    double sum = bias[static_cast<size_t>(column)];
    for (int32_t k = 0, all = kInputs[0] + kInputs[1]; k < all; ++k)
      sum += double(weights[static_cast<size_t>(column * all + k)]) *
             (k < kInputs[0] ? rows[0][(via[static_cast<size_t>(i)] - kFirst) * strides[0] + k]
                             : rows[1][i * strides[1] + k - kInputs[0]]);
    return sum;
  }
};

template <Math kMath, int32_t kSlices, int32_t kNTiles, int32_t kWidth, int32_t kTiles>
void of_tiles(double bound, bool infinite, bool aligned) {
  using Of = Operands;
  constexpr int32_t kOutputs = Of::kGates * kWidth, tiles = (Of::kChannels + kWidth - 1) / kWidth,
                    n_tiles = (kOutputs + 15) / 16, groups = (n_tiles + kNTiles - 1) / kNTiles;
  constexpr size_t kTile = size_t(kLargeMRows) * kOutputs;
  static Of operands(infinite, aligned);
  operands = Of(infinite, aligned);
  const Laid laid(operands.weights, operands.bias, Of::kGates, kWidth, groups * kNTiles,
                  {Of::kInputs[0], Of::kInputs[1]});
  const size_t all = (tiles + kTiles - 1) / kTiles * kTiles * kTile;
  std::vector<float> small(all + 8, 99.f), large(all + 8, 99.f);
  const auto run = [&](auto a, auto b) {
    constexpr int32_t kScratch = std::max(TensorCores<kMath, kSlices, kNTiles>::kSums,
                                          large_m_scratch(large_m_n_tiles(kOutputs, kTiles), 2));
    launch(tensor_core_kernel<kMath, kSlices, kNTiles, kOutputs, kTiles, decltype(a), decltype(b)>, tiles,
           kScratch * sizeof(float), nullptr, Of::kRows, laid.of, Of::kGates, Of::kChannels, kWidth, kScratch,
           small.data(), large.data(), a, b);
  };
  const Column<float> first = {operands.rows[0], Of::kFirst * operands.strides[0]};
  const float *second = operands.rows[1];
  const int32_t *via = operands.via.data(), *none = nullptr;
  if (aligned)
    run(aligned_segment(first, via, operands.strides[0], 70),
        aligned_segment(second, none, operands.strides[1], 9));
  else
    run(segment(first, via, operands.strides[0], 70),
        shared_segment(segment(second, none, operands.strides[1], 9)));
  const Status status = wait();
  ASSERT_TRUE(status.ok()) << status.message;
  for (size_t next = 0; next < small.size(); ++next) {
    const auto tile = static_cast<int32_t>(next / kTile), i = static_cast<int32_t>(next % kTile / kOutputs),
               o = static_cast<int32_t>(next % kOutputs);
    if (i >= Of::kRows || next >= all) {
      ASSERT_TRUE(small[next] == 99 && large[next] == 99) << "written behind the last row";
    } else if (tile < tiles) {
      const double sum = operands.product(i, tile_of(tile, Of::kGates, Of::kChannels, kWidth).column(o));
      if (sum - sum == 0)
        ASSERT_NEAR(small[next], sum, bound) << where(i, o) << " of tile " << tile;
      else
        ASSERT_EQ(small[next], static_cast<float>(sum)) << where(i, o);
      ASSERT_EQ(small[next], large[next]) << where(i, o) << " of tile " << tile;
    }
  }
}

/// Tiles one by one in large-M tiles, too, and two or four of them at once.
template <Math kMath, int32_t kSlices, int32_t kNTiles>
void on_tensor_cores(double bound, bool infinite = false, bool aligned = true) {
  of_tiles<kMath, kSlices, kNTiles, 4, 4>(bound, infinite, aligned);
  of_tiles<kMath, kSlices, kNTiles, 7, 2>(bound, infinite, aligned);
  of_tiles<kMath, kSlices, kNTiles, 8, 2>(bound, infinite, aligned);
  of_tiles<kMath, kSlices, kNTiles, 11, 1>(bound, infinite, aligned);
}

// Errors are those of f32 with three products of tf32 summands, and of 11 bits with one; who adds up a slice
// does not matter.
TEST(CudaProduct, OnTensorCores) {
  on_tensor_cores<Math::tf32x3, 8, 1>(1e-5);
  on_tensor_cores<Math::tf32x3, 4, 2>(1e-5);
  on_tensor_cores<Math::tf32, 8, 3>(3e-2);
}

// Rounded numbers have 11 bits and are next to what they come from; what has 11 bits stays, and what is none.
// What is lost has no sign on the whole: else errors would add up from level to level.
TEST(CudaProduct, RoundsToElevenBits) {
  for (float (*round)(float) : {round_to_tf32, nearest_tf32}) {
    double lost = 0;
    int32_t numbers = 0;
    for (float x : drawn<float>(20000, 7)) {
      const float y = round(x), unit = std::ldexp(1.f, std::ilogb(x) - 10);
      ASSERT_EQ(y, cut_to_tf32(y)) << x;
      ASSERT_LT(std::abs(y - x), unit) << x;
      ASSERT_EQ(round(y), y) << x;
      ASSERT_EQ(round(-x), -y) << x;
      lost += (std::abs(x) - std::abs(y)) / unit;
      ++numbers;
    }
    EXPECT_LT(std::abs(lost / numbers), 0.03); // cutting loses 0.5
    for (float x : {0.f, 1.f, -0.5f, INFINITY, -INFINITY})
      EXPECT_EQ(round(x), x);
    EXPECT_TRUE(std::isnan(round(NAN)));
  }
}

// Rows that do not begin at multiples of 16 bytes are loaded number by number.
TEST(CudaProduct, OfRowsAnywhereOnTensorCores) { on_tensor_cores<Math::tf32x3, 8, 2>(1e-5, false, false); }

// An infinity stays one, though none of its summands would make sense.
TEST(CudaProduct, OfInfinitiesOnTensorCores) { on_tensor_cores<Math::tf32x3, 2, 3>(1e-5, true); }

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

// Products of two matrices of a row, the second in slices.
TEST(CudaProduct, OfTwoMatrices) {
  multiplies<float>();
  multiplies<double>();
}

//===-- Lanes -------------------------------------------------------------------------------------------===//

/// Each warp a row, as emitted kernels have it; what each lane has in the end.
template <class T>
__global__ void reduce_rows(const T *numbers, int32_t rows, int32_t length, T *sums, T *most, T *least) {
  for (int32_t i = threadIdx.x / kWarp; i < rows; i += kWarps) {
    const int32_t lane = threadIdx.x % kWarp;
    T sum = 0, largest = -100, smallest = 100;
    int32_t largest_at = -1, smallest_at = -1;
    for (int32_t k = lane; k < length; k += kWarp) {
      const T number = numbers[i * length + k];
      sum += number;
      if (number > largest) {
        largest = number;
        largest_at = k;
      }
      if (number < smallest) {
        smallest = number;
        smallest_at = k;
      }
    }
    sums[i * kWarp + lane] = sum_of_lanes(sum);
    most[i * kWarp + lane] = most_of_lanes(largest, largest_at);
    least[i * kWarp + lane] = least_of_lanes(smallest, smallest_at);
  }
}

/// The sum of a row in the order that is promised: every 32nd number, then lanes 16, 8, 4, 2 and 1 apart.
template <class T> T sum_in_order(const T *numbers, int32_t length) {
  T lanes[kWarp] = {};
  for (int32_t k = 0; k < length; ++k)
    lanes[k % kWarp] += numbers[k];
  for (int32_t count = kWarp / 2; count > 0; count /= 2)
    for (int32_t lane = 0; lane < count; ++lane)
      lanes[lane] += lanes[lane + count];
  return lanes[0];
}

template <class T> void rows_are_reduced() {
  for (int32_t rows : {0, 1, 7, 8, 9, 20})
    for (int32_t length : {0, 1, 31, 32, 33, 100})
      for (uint64_t seed : {0, 1, 2}) {
        shim::Machine::own().seed(seed);
        const std::vector<T> numbers = drawn<T>(static_cast<size_t>(rows) * length, 5);
        const size_t lanes = static_cast<size_t>(rows) * kWarp;
        std::vector<T> sums(lanes), most(lanes), least(lanes);
        start(reduce_rows<T>, 1, numbers.data(), rows, length, sums.data(), most.data(), least.data());
        ASSERT_TRUE(wait().ok());
        for (int32_t i = 0; i < rows; ++i) {
          const T *row = numbers.data() + static_cast<size_t>(i) * length;
          T largest = -100, smallest = 100;
          for (int32_t k = 0; k < length; ++k) {
            largest = std::max(largest, row[k]);
            smallest = std::min(smallest, row[k]);
          }
          for (size_t n = static_cast<size_t>(i) * kWarp; n < static_cast<size_t>(i + 1) * kWarp; ++n) {
            EXPECT_EQ(sums[n], sum_in_order(row, length)) << rows << " rows of " << length;
            EXPECT_EQ(most[n], largest);
            EXPECT_EQ(least[n], smallest);
          }
        }
      }
}

// All lanes of a warp have the result, of each row the same bits however many there are, in whatever order
// warps come.
TEST(CudaLanes, ReduceRows) { rows_are_reduced<float>(); }
TEST(CudaLanes, ReduceRowsInDouble) { rows_are_reduced<double>(); }

__global__ void reduce_two(const float *numbers, float *results) {
  const int32_t lane = threadIdx.x % kWarp;
  results[lane] = most_of_lanes(numbers[lane], lane);
  results[kWarp + lane] = least_of_lanes(numbers[lane], lane);
}

// What is no number stays so, whichever lane has it.
TEST(CudaLanes, NoNumberIsTheMostAndTheLeast) {
  for (int32_t at = 0; at < kWarp; ++at) {
    std::vector<float> numbers(kWarp, 1), results(2 * kWarp);
    numbers[at] = std::numeric_limits<float>::quiet_NaN();
    start(reduce_two, 1, static_cast<const float *>(numbers.data()), results.data());
    ASSERT_TRUE(wait().ok());
    for (float result : results)
      EXPECT_TRUE(result != result);
  }
}

// Zeros of both signs are equal, and of equals the first in the row is taken, by all lanes.
TEST(CudaLanes, TheFirstOfEqualsIsTaken) {
  for (int32_t first = 0; first < 40; first += 5)
    for (int32_t second = first + 1; second < 40; second += 6)
      for (const float zero : {0.f, -0.f})
        for (const float other : {-1.f, 1.f}) {
          std::vector<float> row(40, other), sums(kWarp), most(kWarp), least(kWarp);
          row[first] = zero;
          row[second] = -zero;
          start(reduce_rows<float>, 1, static_cast<const float *>(row.data()), 1, 40, sums.data(),
                most.data(), least.data());
          ASSERT_TRUE(wait().ok());
          for (const float found : other < 0 ? most : least)
            EXPECT_TRUE(found == 0 && std::signbit(found) == std::signbit(zero)) << first << ", " << second;
        }
}

__global__ void reduce_without(int32_t missing, float *sum) {
  if (threadIdx.x % kWarp < kWarp - missing)
    *sum = sum_of_lanes(1.0f);
}

// On a GPU lanes that do not come are undefined behaviour; here it is reported.
TEST(CudaLanes, AllMustCome) {
  for (int32_t missing : {1, 16, 31}) {
    float sum = 0;
    start(reduce_without, 1, missing, &sum);
    const Status status = wait();
    EXPECT_NE(status.message.find(
                  dbc::counted(missing, "thread of a warp ends or waits", "threads of a warp end or wait") +
                  " for the block while " + dbc::counted(kWarp - missing, "waits", "wait") + " for the warp"),
              std::string::npos)
        << status.message;
  }
}

//===-- Integers, and what is wrong ---------------------------------------------------------------------===//

// Integers are the same on the CPU and on a device, also at their ends.
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

__global__ void find_errors(Errors errors) {
  for (int32_t n = 0; n < 3; ++n) {
    const int32_t t = threadIdx.x;
    record_error(errors, errors.launch, 10 + n, {blockIdx.x, t, n}, t + 1, t + 2, t + 3);
    __syncthreads();
  }
}

// A record says where and what; those of one thread stand in its order.
TEST(CudaErrors, Records) {
  std::vector<ErrorRecord> records(2 * 3 * kThreads);
  int32_t count = 0;
  start(find_errors, 2, Errors{records.data(), &count, static_cast<int32_t>(records.size()), 6});
  ASSERT_TRUE(wait().ok());
  ASSERT_EQ(count, static_cast<int32_t>(records.size()));
  std::map<std::pair<int32_t, int32_t>, int32_t> found; // of a thread so far
  for (const ErrorRecord &record : records) {
    EXPECT_EQ(record.launch, 6);
    const int32_t t = record.position.loop, n = found[{record.position.row, t}]++;
    EXPECT_EQ(record.position.iteration, n);
    EXPECT_EQ(record.site, 10 + n);
    for (int32_t number = 0; number < 3; ++number)
      EXPECT_EQ(record.numbers[number], t + 1 + number);
  }
  EXPECT_EQ(found.size(), size_t(2 * kThreads));
}

// Where there is no room they are counted all the same, so that there can be room, and nothing is
// overwritten.
TEST(CudaErrors, CountedBeyondTheRoom) {
  const ErrorRecord none = {-1, {-1, -1, -1}, -1, {-1, -1, -1}};
  const int32_t all = 6 * kThreads;
  for (int32_t capacity : {0, 1, 5, all - 1, all, all + 1}) {
    std::vector<ErrorRecord> records(static_cast<size_t>(all) + 200, none);
    int32_t count = 0;
    start(find_errors, 2, Errors{records.data(), &count, capacity, 0});
    ASSERT_TRUE(wait().ok());
    EXPECT_EQ(count, all);
    for (int32_t n = 0; n < all + 200; ++n)
      EXPECT_EQ(records[n].launch, n < std::min(capacity, all) ? 0 : -1) << n << " of " << capacity;
  }
}

__global__ void read_rows(const int32_t *order, int32_t *rows, int32_t count) {
  for (int32_t n = threadIdx.x; n < count; n += blockDim.x)
    rows[n] = row_at(order, n);
}

// An index set has its rows in the order of a list, or as they are where there is none.
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
