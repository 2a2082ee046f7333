// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Kernels that run on the CPU: what goes wrong in them shows, and what is right in them computes. And the
// functions that kernels are made of, against plain loops.
#include <dbc/cuda/kernels.h>
#include <dbc/schedule.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace dbc::cuda;
using dbc::Code;
using dbc::Status;

constexpr uint64_t kSeeds = 20;

/// Runs a kernel that uses no more shared memory than this.
template <class... Parameters>
void start(void (*kernel)(Parameters...), int32_t blocks, Parameters... arguments) {
  launch(kernel, blocks, 4096, nullptr, arguments...);
}
void seed(uint64_t number) { shim::Machine::own().seed(number); }
Status wait() { return backend().wait(nullptr); }
bool says(const Status &status, const std::string &words) {
  return status.message.find(words) != std::string::npos;
}

//===-- Threads and barriers ----------------------------------------------------------------------------===//

/// In each round a thread has what the one `shift` further on had.
template <bool Before, bool Behind> __global__ void pass_on(int32_t *out, int32_t shift, int32_t rounds) {
  DBC_SHARED(int32_t, numbers, 0, kThreads);
  const int32_t t = threadIdx.x;
  int32_t held = t;
  for (int32_t round = 0; round < rounds; ++round) {
    numbers[t] = held;
    if (Before)
      __syncthreads();
    held = numbers[(t + shift) % kThreads];
    if (Behind)
      __syncthreads();
  }
  out[blockIdx.x * kThreads + t] = held;
}

/// For how many seeds all threads of five blocks end with the right number.
template <bool Before, bool Behind> uint64_t right(int32_t shift, int32_t rounds) {
  uint64_t seeds = 0;
  for (uint64_t number = 0; number < kSeeds; ++number) {
    seed(number);
    std::vector<int32_t> out(5 * kThreads, -1);
    start(pass_on<Before, Behind>, 5, out.data(), shift, rounds);
    const Status status = wait();
    EXPECT_TRUE(status.ok()) << status.message;
    bool all = true;
    for (int32_t n = 0; n < 5 * kThreads; ++n)
      all = all && out[n] == (n + shift * rounds) % kThreads;
    seeds += all;
  }
  return seeds;
}

// Threads hand numbers to one another, whoever has his turn first.
TEST(CudaShim, NumbersPassThroughSharedMemory) {
  for (int32_t shift : {1, 45, 64, 127})
    EXPECT_EQ((right<true, true>(shift, 3)), kSeeds) << shift;
}

// A kernel that reads before the others have written is seen to be wrong.
TEST(CudaShim, ShowsThatABarrierIsMissingBeforeReading) {
  for (int32_t shift : {1, 45, 64, 127})
    EXPECT_LT((right<false, true>(shift, 1)), kSeeds) << shift;
}

// And so is one that writes again before the others have read, also if they are of another warp.
TEST(CudaShim, ShowsThatABarrierIsMissingBehindReading) {
  for (int32_t shift : {1, 45, 64, 127})
    EXPECT_LT((right<true, false>(shift, 2)), kSeeds) << shift;
}

__global__ void read_unwritten(int32_t *numbers, int32_t *threads) {
  DBC_SHARED(float, floats, 0, kThreads);
  DBC_SHARED(double, doubles, kThreads * sizeof(float), kThreads);
  const int32_t t = threadIdx.x;
  if (!std::isnan(floats[t]) || !std::isnan(doubles[t]))
    atomicAdd(numbers, 1);
  atomicAdd(threads, 1);
  __syncthreads();
  floats[t] = 1;
  doubles[t] = 1;
}

// What no thread has written is no number, in every block, whatever ran before: forgotten writes show.
TEST(CudaShim, SharedMemoryBeginsAsNoNumber) {
  int32_t numbers = 0, threads = 0;
  for (int32_t launches = 0; launches < 3; ++launches)
    start(read_unwritten, 20, &numbers, &threads);
  EXPECT_TRUE(wait().ok());
  EXPECT_EQ(numbers, 0);
  EXPECT_EQ(threads, 3 * 20 * kThreads);
}

__global__ void end_early(int32_t leaving, int32_t *line) {
  if (threadIdx.x < leaving)
    return;
  *line = __LINE__ + 1;
  __syncthreads();
}

// On a card that may hang, or do as if nothing were wrong; here it is told, with the line of the barrier.
TEST(CudaShim, ReportsThreadsThatEndWhileOthersWait) {
  for (int32_t leaving : {1, 32, 127})
    for (uint64_t number = 0; number < kSeeds; ++number) {
      seed(number);
      int32_t line = 0;
      start(end_early, 4, leaving, &line);
      const Status status = wait();
      EXPECT_EQ(status.code, Code::internal);
      EXPECT_EQ(status.message, "CUDA on the CPU: " + std::to_string(leaving) +
                                    " threads of a block end while " + std::to_string(kThreads - leaving) +
                                    " wait at the barrier in line " + std::to_string(line));
    }
}

__global__ void part_ways(int32_t *lines) {
  if (threadIdx.x < 40) {
    lines[0] = __LINE__ + 1;
    __syncthreads();
  } else {
    lines[1] = __LINE__ + 1;
    __syncthreads();
  }
}

// A barrier is one for all threads of a block: two places in the kernel are two barriers.
TEST(CudaShim, ReportsThreadsThatWaitAtTwoBarriers) {
  for (uint64_t number = 0; number < kSeeds; ++number) {
    seed(number);
    int32_t lines[2] = {0, 0};
    start(part_ways, 3, lines);
    const Status status = wait();
    EXPECT_EQ(status.code, Code::internal);
    EXPECT_EQ(status.message, "CUDA on the CPU: threads of a block wait at two barriers, in lines " +
                                  std::to_string(lines[0]) + " and " + std::to_string(lines[1]));
  }
}

__global__ void wait_for(const int32_t *number) {
  if (threadIdx.x == 5)
    for (Spin spin; *number == 0;)
      spin.wait();
}

// A kernel that waits for what nobody does has an end too.
TEST(CudaShim, ReportsKernelsInWhichNobodyCanGoOn) {
  int32_t number = 0;
  start(wait_for, 1, static_cast<const int32_t *>(&number));
  const Status status = wait();
  EXPECT_EQ(status.code, Code::internal);
  EXPECT_TRUE(says(status, "no thread of a kernel can go on: block 0")) << status.message;
}

// What is wrong is told once; then kernels run again, also with what the broken one left behind.
TEST(CudaShim, GoesOnAfterAReport) {
  int32_t line = 0, lines[2] = {0, 0}, numbers = 0, threads = 0;
  for (int32_t round = 0; round < 5; ++round) {
    start(end_early, 4, 3, &line);
    EXPECT_EQ(wait().code, Code::internal);
    EXPECT_TRUE(wait().ok());
    EXPECT_EQ((right<true, true>(45, 3)), kSeeds);
    start(part_ways, 4, lines);
    EXPECT_EQ(wait().code, Code::internal);
    start(read_unwritten, 10, &numbers, &threads);
    EXPECT_TRUE(wait().ok());
  }
  EXPECT_EQ(numbers, 0);
  EXPECT_EQ(threads, 5 * 10 * kThreads);
}

// Kernels behind a broken one do not run: they would read what it never wrote.
TEST(CudaShim, NothingRunsBehindAFailureBeforeItIsTold) {
  int32_t line = 0, numbers = 0, threads = 0;
  start(end_early, 1, 1, &line);
  start(read_unwritten, 1, &numbers, &threads);
  EXPECT_TRUE(says(wait(), "end while"));
  EXPECT_EQ(threads, 0);
}

// Sessions of two threads of the host do not see one another's kernels or failures.
TEST(CudaShim, ThreadsOfTheHostAreApart) {
  int32_t line = 0;
  start(end_early, 1, 1, &line);
  std::thread([] {
    EXPECT_TRUE(wait().ok());
    EXPECT_EQ((right<true, true>(45, 3)), kSeeds);
  }).join();
  EXPECT_TRUE(says(wait(), "end while"));
}

//===-- Blocks ------------------------------------------------------------------------------------------===//

__global__ void visit(int32_t *visits, int32_t *wrong, int32_t blocks) {
  if (gridDim.x != blocks || blockDim.x != kThreads || blockIdx.x < 0 || blockIdx.x >= blocks ||
      threadIdx.x < 0 || threadIdx.x >= kThreads) {
    atomicAdd(wrong, 1);
    return;
  }
  atomicAdd(&visits[blockIdx.x * kThreads + threadIdx.x], 1);
}

// Every thread of every block of a launch runs once and knows which one it is.
TEST(CudaShim, EveryBlockRunsOnce) {
  for (int32_t blocks : {1, 2, 3, 7, 21, 1000}) {
    std::vector<int32_t> visits(static_cast<size_t>(blocks) * kThreads, 0);
    int32_t wrong = 0;
    start(visit, blocks, visits.data(), &wrong, blocks);
    ASSERT_TRUE(wait().ok());
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(visits, std::vector<int32_t>(visits.size(), 1)) << blocks;
  }
}

__global__ void visit_parts(int32_t *visits, int32_t rows, int32_t block, int32_t tiles) {
  const int32_t parts = (rows + block - 1) / block * tiles;
  for (int32_t part = blockIdx.x; part < parts; part += gridDim.x) {
    const int32_t first = part / tiles * block, tile = part % tiles;
    for (int32_t i = threadIdx.x; i < std::min(block, rows - first); i += blockDim.x)
      atomicAdd(&visits[(first + i) * tiles + tile], 1);
  }
}

// The blocks of a launch reach each tile of each row once, also where they do several parts of the work; and
// there are neither more of them than parts nor than there may be.
TEST(CudaShim, BlocksReachAllRowsAndTiles) {
  for (int32_t rows : {1, 7, 8, 9, 100})
    for (int32_t most : {1, 5, 1 << 20})
      for (int32_t tiles : {1, 2, 9}) {
        const int32_t blocks = blocks_of(3, 3 + rows, 8, tiles, most);
        EXPECT_EQ(blocks, std::min((rows + 7) / 8 * tiles, most));
        std::vector<int32_t> visits(static_cast<size_t>(rows) * tiles, 0);
        start(visit_parts, blocks, visits.data(), rows, 8, tiles);
        ASSERT_TRUE(wait().ok());
        EXPECT_EQ(visits, std::vector<int32_t>(visits.size(), 1))
            << rows << " rows, " << tiles << " tiles, at most " << most << " blocks";
      }
}

// Rows times tiles may be more than any number of 32 bits; blocks are no more than there may be.
TEST(CudaShim, BlocksOfManyRows) {
  EXPECT_EQ(blocks_of(0, 1 << 30, 8, 1000), 1 << 20);
  EXPECT_EQ(blocks_of(7, 1 << 30, 1, 1), 1 << 20);
  EXPECT_EQ(blocks_of(5, 5, 8, 3), 1);
}

/// In each round a block has the number that the one behind it had.
template <bool Waits>
__global__ void pass_on_among_blocks(int32_t *numbers, int32_t *arrived, int32_t *blocks) {
  GridBarrier barrier(arrived);
  int32_t held = blockIdx.x;
  for (int32_t round = 0; round < 3; ++round) {
    if (threadIdx.x == 0)
      numbers[blockIdx.x] = held;
    if (Waits)
      barrier.wait();
    held = numbers[(blockIdx.x + 1) % gridDim.x];
    if (Waits)
      barrier.wait();
  }
  if (threadIdx.x == 0) {
    numbers[blockIdx.x] = held;
    *blocks = gridDim.x;
  }
}

template <bool Waits> uint64_t right_among_blocks(int32_t asked) {
  uint64_t seeds = 0;
  for (uint64_t number = 0; number < kSeeds; ++number) {
    seed(number);
    std::vector<int32_t> numbers(static_cast<size_t>(asked), -1);
    int32_t arrived = 0, blocks = 0;
    launch_together(pass_on_among_blocks<Waits>, asked, 4096, nullptr, numbers.data(), &arrived, &blocks);
    const Status status = wait();
    EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_GE(blocks, 1);
    EXPECT_LE(blocks, asked);
    bool all = true;
    for (int32_t n = 0; n < blocks; ++n)
      all = all && numbers[n] == (n + 3) % blocks;
    seeds += all;
  }
  return seeds;
}

// Blocks that are there together can wait for each other; those that should and do not are seen to be wrong.
TEST(CudaShim, BlocksWaitForEachOther) {
  for (int32_t asked : {1, 2, 3, 100})
    EXPECT_EQ(right_among_blocks<true>(asked), kSeeds) << asked;
  EXPECT_LT(right_among_blocks<false>(2), kSeeds);
  EXPECT_LT(right_among_blocks<false>(100), kSeeds);
}

__global__ void wait_for_more(int32_t *arrived) {
  GridBarrier barrier(arrived);
  barrier.wait();
}

// Blocks that are not there together wait for ever, and that is told.
TEST(CudaShim, ReportsBlocksThatWaitForThoseToCome) {
  int32_t arrived = 0;
  start(wait_for_more, 100, &arrived);
  const Status status = wait();
  EXPECT_EQ(status.code, Code::internal);
  EXPECT_TRUE(says(status, "no thread of a kernel can go on")) << status.message;
}

__global__ void claim_scratch(BlockScratch scratch) {
  unsigned char *own = block_scratch<unsigned char>(scratch, 1);
  for (int32_t n = threadIdx.x; n < scratch.bytes - 1; n += blockDim.x)
    own[n] = static_cast<unsigned char>(own[n] + 1);
}

// Memory of blocks is each one's own, all of it within what there is.
TEST(CudaShim, ScratchOfBlocksIsApart) {
  std::vector<unsigned char> memory(15 * 24, 0);
  start(claim_scratch, 15, BlockScratch{memory.data(), 24});
  ASSERT_TRUE(wait().ok());
  for (size_t n = 0; n < memory.size(); ++n)
    EXPECT_EQ(memory[n], n % 24 > 0) << n;
}

__global__ void take_turns(int32_t *order, int32_t *count) {
  order[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
  order[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}

std::vector<int32_t> turns(uint64_t number) {
  seed(number);
  std::vector<int32_t> order(2 * 6 * kThreads, -1);
  int32_t count = 0;
  start(take_turns, 6, order.data(), &count);
  EXPECT_TRUE(wait().ok());
  EXPECT_EQ(count, 2 * 6 * kThreads);
  return order;
}

// A failure that a seed shows can be looked at again; another seed has other turns.
TEST(CudaShim, EqualSeedsHaveEqualTurns) {
  std::set<std::vector<int32_t>> different;
  for (uint64_t number = 0; number < kSeeds; ++number) {
    const std::vector<int32_t> order = turns(number);
    EXPECT_EQ(order, turns(number)) << number;
    different.insert(order);
  }
  EXPECT_EQ(different.size(), kSeeds);
}

// A backend on the CPU has one device, and memory of it that nobody wrote is no number either.
TEST(CudaShim, DevicesAndTheirMemory) {
  void *stream = nullptr;
  EXPECT_TRUE(backend().open(0, &stream).ok());
  const Status status = backend().open(1, &stream);
  EXPECT_EQ(status.code, Code::bad_call);
  EXPECT_EQ(status.message, "CUDA on the CPU: there is no device 1, only device 0");
  float numbers[3] = {1, 2, 3}, copies[3] = {4, 5, 6};
  backend().copy(copies, numbers, sizeof numbers, stream);
  EXPECT_EQ(copies[2], 3);
  backend().poison(numbers, 2 * sizeof(float));
  EXPECT_TRUE(std::isnan(numbers[0]) && std::isnan(numbers[1]));
  EXPECT_EQ(numbers[2], 3);
  backend().clear(copies, 2 * sizeof(float), stream);
  EXPECT_EQ(copies[1], 0);
  EXPECT_EQ(copies[2], 3);
  EXPECT_TRUE(backend().wait(stream).ok());
  backend().close(stream);
}

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
    fault(faults, 10 + n, {blockIdx.x, t, n}, t + 1, t + 2, t + 3);
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
