// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Kernels that run on the CPU: what goes wrong in them shows, and what is right in them computes.
#include <dbc/counted.h>
#include <dbc/cuda/kernels.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
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

//===-- Warps and copies
//---------------------------------------------------------------------------------===//

/// In each round a thread has what the next one of its warp had.
template <bool Waits> __global__ void pass_on_in_warp(int32_t *out, int32_t rounds) {
  DBC_SHARED(int32_t, numbers, 0, kThreads);
  const int32_t t = threadIdx.x, next = t / kWarp * kWarp + (t + 1) % kWarp;
  int32_t held = t;
  for (int32_t round = 0; round < rounds; ++round) {
    numbers[t] = held;
    if (Waits)
      __syncwarp();
    held = numbers[next];
    if (Waits)
      __syncwarp();
  }
  out[t] = held;
}

// A warp's threads wait for each other, and for no other warp; without that, the first interleavings show it.
TEST(CudaShim, ThreadsOfAWarpWaitForEachOther) {
  std::vector<int32_t> out(kThreads, -1);
  const auto right = [&] {
    int32_t number = 0;
    for (int32_t t = 0; t < kThreads; ++t)
      number += out[t] == t / kWarp * kWarp + (t + 5) % kWarp;
    return number;
  };
  for (uint64_t number = 0; number < kSeeds; ++number) {
    seed(number);
    start(pass_on_in_warp<true>, 1, out.data(), 5);
    ASSERT_TRUE(wait().ok());
    ASSERT_EQ(right(), kThreads);
    start(pass_on_in_warp<false>, 1, out.data(), 5);
    ASSERT_TRUE(wait().ok());
    EXPECT_LT(right(), kThreads);
  }
}

__global__ void half_a_warp() {
  if (threadIdx.x % 2 == 0)
    __syncwarp();
}
TEST(CudaShim, ReportsThreadsThatWaitForAPartOfTheirWarp) {
  start(half_a_warp, 1);
  const Status status = wait();
  EXPECT_TRUE(says(status, "16 threads of a warp end or wait for the block while 16 wait for the warp"))
      << status.message;
}

__global__ void two_places() {
  if (threadIdx.x % 2 == 0)
    __syncwarp();
  else
    __syncwarp();
}
TEST(CudaShim, ReportsAWarpThatWaitsAtTwoPlaces) {
  start(two_places, 1);
  const Status status = wait();
  EXPECT_TRUE(says(status, "threads of a warp wait for it at two places")) << status.message;
}

template <bool Waits> __global__ void copy_numbers(const float *from, float *before, float *behind) {
  DBC_SHARED(float, numbers, 0, 4);
  if (threadIdx.x != 0)
    return;
  for (int32_t n = 0; n < 4; ++n)
    numbers[n] = -1;
  copy_quad(numbers, from);
  std::copy(numbers, numbers + 4, before);
  if (Waits)
    wait_for_copies();
  std::copy(numbers, numbers + 4, behind);
}

// What is copied is not there before it is waited for, and to forget that is reported.
TEST(CudaShim, CopiesLandWhenTheyAreWaitedFor) {
  alignas(16) const float from[4] = {1, 2, 3, 4};
  float before[4], behind[4];
  start(copy_numbers<true>, 1, &from[0], &before[0], &behind[0]);
  ASSERT_TRUE(wait().ok());
  for (int32_t n = 0; n < 4; ++n) {
    EXPECT_EQ(before[n], -1);
    EXPECT_EQ(behind[n], from[n]);
  }
  start(copy_numbers<false>, 1, &from[0], &before[0], &behind[0]);
  const Status status = wait();
  EXPECT_TRUE(says(status, "a thread ends that began 1 copy and did not wait for it")) << status.message;
}

__global__ void load_anywhere(const float *from, float *to) { *to = load_quad(from).x; }
TEST(CudaShim, ReportsLoadsOf16BytesAnywhere) {
  alignas(16) const float from[8] = {};
  float to = 0;
  start(load_anywhere, 1, &from[1], &to);
  const Status status = wait();
  EXPECT_TRUE(says(status, "16 bytes are loaded that begin at no multiple of 16")) << status.message;
}

__global__ void count_work(int32_t items, int32_t tiles, int32_t *done, int32_t *tile_of_block) {
  for (TileScheduler work(items, tiles); work.any(); work.next()) {
    if (threadIdx.x != 0)
      continue;
    ++done[work.item() * tiles + work.tile()];
    int32_t &tile = tile_of_block[blockIdx.x];
    tile = tile == -1 || tile == work.tile() ? work.tile() : -2;
  }
}

// Each tile of each item is done once, whatever the number of blocks; where these are enough, each has one
// tile.
TEST(CudaShim, BlocksShareWork) {
  for (int32_t items : {0, 1, 5, 9})
    for (int32_t tiles : {1, 3, 4})
      for (int32_t blocks : {1, 2, 3, 4, 7, 12}) {
        std::vector<int32_t> done(static_cast<size_t>(items * tiles)), tile(static_cast<size_t>(blocks), -1);
        start(count_work, blocks, items, tiles, done.data(), tile.data());
        ASSERT_TRUE(wait().ok());
        EXPECT_TRUE(std::all_of(done.begin(), done.end(), [](int32_t times) { return times == 1; }));
        for (int32_t b = 0; b < blocks && blocks >= tiles; ++b)
          EXPECT_TRUE(tile[static_cast<size_t>(b)] == -1 || tile[static_cast<size_t>(b)] == b % tiles);
      }
}

__global__ void resident_tiles(Fragments matrix, int32_t tiles, float *sums) {
  DBC_SHARED(float, memory, 0, 2 * kFragment);
  const Fragments resident = copy_async(matrix, tiles, memory, Grid());
  wait_for_copies();
  __syncthreads();
  if (threadIdx.x == 0)
    for (int32_t n = 0; n < 2 * kFragment; ++n)
      sums[blockIdx.x] += resident.fragments[n] * static_cast<float>(n % 7);
}

// The tile that TileScheduler gives a block is resident.
TEST(CudaShim, BlocksHaveTheirTileResident) {
  alignas(16) static float numbers[3 * 2 * kFragment];
  float expected[3] = {};
  for (int32_t n = 0; n < 3 * 2 * kFragment; ++n) {
    numbers[n] = static_cast<float>(n % 11);
    expected[n / (2 * kFragment)] += numbers[n] * static_cast<float>(n % (2 * kFragment) % 7);
  }
  float sums[5] = {};
  start(resident_tiles, 5, Fragments{numbers, nullptr, 2, 1, false}, 3, &sums[0]);
  ASSERT_TRUE(wait().ok());
  for (int32_t b = 0; b < 5; ++b)
    EXPECT_EQ(sums[b], expected[b % 3]);
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

// Threads hand numbers to one another, whoever runs first.
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

template <int32_t kBegin> __device__ void work_behind() {
  DBC_SHARED(float, numbers, kBegin, 16);
  numbers[threadIdx.x % 16] = 1;
}
template <int32_t kResident, int32_t kBegin> __global__ void resident_and_work() {
  DBC_RESIDENT(float, resident, kResident, 16);
  resident[threadIdx.x % 16] = 1;
  work_behind<kBegin>();
}

// Functions that are called one after the other may use the same bytes, but none those that are resident.
TEST(CudaShim, NothingLiesInWhatIsResident) {
  start(resident_and_work<64, 0>, 1);
  EXPECT_TRUE(wait().ok());
  start(resident_and_work<64, 128>, 1);
  EXPECT_TRUE(wait().ok());
  start(resident_and_work<48, 0>, 1);
  Status status = wait();
  EXPECT_TRUE(says(status, "overlaps that in line")) << status.message;
  start(resident_and_work<64, 112>, 1);
  status = wait();
  EXPECT_TRUE(says(status, "overlaps that in line")) << status.message;
}

__global__ void end_early(int32_t leaving, int32_t *line) {
  if (threadIdx.x < leaving)
    return;
  *line = __LINE__ + 1;
  __syncthreads();
}

// On a GPU that may hang, or do as if nothing were wrong; here it is reported, with the line of the barrier.
TEST(CudaShim, ReportsThreadsThatEndWhileOthersWait) {
  for (int32_t leaving : {1, 32, 127})
    for (uint64_t number = 0; number < kSeeds; ++number) {
      seed(number);
      int32_t line = 0;
      start(end_early, 4, leaving, &line);
      const Status status = wait();
      EXPECT_EQ(status.code, Code::internal);
      EXPECT_EQ(
          status.message,
          "CUDA on the CPU: " + dbc::counted(leaving, "thread of a block ends", "threads of a block end") +
              " while " + dbc::counted(kThreads - leaving, "waits", "wait") + " at the barrier in line " +
              std::to_string(line));
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

// What is wrong is reported once; then kernels run again, also with what the broken one left behind.
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
TEST(CudaShim, NothingRunsBehindAFailureBeforeItIsReported) {
  int32_t line = 0, numbers = 0, threads = 0;
  start(end_early, 1, 1, &line);
  start(read_unwritten, 1, &numbers, &threads);
  EXPECT_TRUE(says(wait(), "ends while"));
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
  EXPECT_TRUE(says(wait(), "ends while"));
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

__global__ void visit_items(int32_t *visits, int32_t rows, int32_t block, int32_t tiles) {
  const int32_t items = (rows + block - 1) / block * tiles;
  for (int32_t item = blockIdx.x; item < items; item += gridDim.x) {
    const int32_t first = item / tiles * block, tile = item % tiles;
    for (int32_t i = threadIdx.x; i < std::min(block, rows - first); i += blockDim.x)
      atomicAdd(&visits[(first + i) * tiles + tile], 1);
  }
}

// The blocks of a launch reach each tile of each row once, also where they do several items of the work; and
// there are neither more of them than items nor than there may be.
TEST(CudaShim, BlocksReachAllRowsAndTiles) {
  for (int32_t rows : {1, 7, 8, 9, 100})
    for (int32_t most : {1, 5, 1 << 20})
      for (int32_t tiles : {1, 2, 9}) {
        const int32_t blocks = blocks_of(3, 3 + rows, 8, tiles, most);
        EXPECT_EQ(blocks, std::min((rows + 7) / 8 * tiles, most));
        std::vector<int32_t> visits(static_cast<size_t>(rows) * tiles, 0);
        start(visit_items, blocks, visits.data(), rows, 8, tiles);
        ASSERT_TRUE(wait().ok());
        EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), int64_t(rows) * tiles)
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
__global__ void pass_on_among_blocks(int32_t *numbers, int32_t *arrived, int32_t *blocks, uint32_t before) {
  BarrierGroup block_group(PersistentLoop{0, 0, 0, 1, false}, arrived, 0, before);
  int32_t held = blockIdx.x;
  for (int32_t round = 0; round < 3; ++round) {
    if (threadIdx.x == 0)
      numbers[blockIdx.x] = held;
    if (Waits)
      block_group.wait();
    held = numbers[(blockIdx.x + 1) % gridDim.x];
    if (Waits)
      block_group.wait();
  }
  if (threadIdx.x == 0) {
    numbers[blockIdx.x] = held;
    *blocks = gridDim.x;
  }
}

template <bool Waits> uint64_t right_among_blocks(int32_t asked, uint32_t before = 0) {
  uint64_t seeds = 0;
  for (uint64_t number = 0; number < kSeeds; ++number) {
    seed(number);
    std::vector<int32_t> numbers(static_cast<size_t>(asked), -1);
    int32_t arrived = static_cast<int32_t>(before), blocks = 0;
    launch_cooperative(pass_on_among_blocks<Waits>, PersistentLoop{0, 0, asked, 1, false}, 4096, nullptr,
                       numbers.data(), &arrived, &blocks, before);
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

// Blocks that are resident at once can wait for each other; those that should and do not are seen to be
// wrong.
TEST(CudaShim, BlocksWaitForEachOther) {
  for (int32_t asked : {1, 2, 3, 100})
    EXPECT_EQ(right_among_blocks<true>(asked), kSeeds) << asked;
  EXPECT_LT(right_among_blocks<false>(2), kSeeds);
  EXPECT_LT(right_among_blocks<false>(100), kSeeds);
}

// Also where they have met so often that the count is past 2^31, and where it begins again at 0.
TEST(CudaShim, BlocksMeetAnyNumberOfTimes) {
  for (uint32_t before : {0x7ffffff8u, 0xfffffff0u})
    EXPECT_EQ(right_among_blocks<true>(4, before), kSeeds) << before;
}

__global__ void wait_for_more(int32_t *arrived, const int32_t *bounds) {
  BarrierGroup block_group(PersistentLoop{0, 0, 0, 1, false}, arrived, 0);
  if (bounds != nullptr)
    block_group.begins("walk.concat", 4, bounds[4], 8, 10);
  block_group.wait();
}

// Blocks that are not resident at once wait for ever, and that is reported: which blocks, and how far they
// came.
TEST(CudaShim, ReportsBlocksThatWaitForThoseToCome) {
  const int32_t bounds[] = {0, 0, 0, 0, 1000};
  for (uint64_t number = 0; number < 4; ++number) {
    seed(number);
    int32_t arrived = 0;
    start(wait_for_more, 100, &arrived, number % 2 == 0 ? bounds : nullptr);
    const Status status = wait();
    EXPECT_EQ(status.code, Code::internal);
    const std::string begin = "CUDA on the CPU: no thread of a kernel can go on: ";
    ASSERT_EQ(status.message.rfind(begin, 0), 0u) << status.message;
    std::istringstream blocks(status.message.substr(begin.size()));
    std::string word;
    for (int32_t reported = 0, block = -1; reported < 3; ++reported) { // as many as are there at once
      blocks >> word >> block;
      EXPECT_EQ(word, "block");
      std::string rest, expected, more;
      if (number % 2 == 0) {
        std::getline(blocks, rest, ')');
        expected = " at walk.concat (level or step 4, row " + std::to_string(1000 + block / 10 * 8);
      }
      EXPECT_EQ(rest, expected);
      std::getline(blocks, more, ' ');
      EXPECT_EQ(more, reported < 2 ? "," : "");
    }
  }
}

/// A chain of numbers, each one more than the one before, which another block writes; the first is there.
/// Those that are no numbers are handed on too, with one pattern of bits.
template <class BlockGroup>
__global__ void count_on(const PersistentLoop loop, int32_t *counters, float *numbers, int32_t length) {
  BlockGroup block_group(loop, counters, 0);
  for (int32_t time_step = loop.first; time_step < loop.time_steps; ++time_step) {
    block_group.begins("count", time_step, 0, 1, 1);
    if (time_step % block_group.count == block_group.number)
      for (int32_t n = threadIdx.x; n < length; n += blockDim.x)
        block_group.write(numbers[(time_step + 1) * length + n],
                          block_group.read(numbers[time_step * length + n]) + 1);
    block_group.wait();
  }
}

// Blocks may wait for the elements themselves, and then for nothing else; an element that nobody writes is
// waited for without end, and that is reported.
TEST(CudaShim, BlocksWaitForElements) {
  constexpr int32_t kTimeSteps = 9, kLength = 40;
  for (uint64_t number = 0; number < kSeeds; ++number) {
    seed(number);
    std::vector<float> numbers((kTimeSteps + 1) * kLength);
    for (const bool by_element : {false, true}) {
      std::memset(numbers.data(), 0xff, numbers.size() * sizeof(float));
      for (int32_t n = 0; n < kLength; ++n)
        numbers[n] = n == 3 ? canonicalise_nan(numbers[kLength]) : static_cast<float>(n);
      std::vector<int32_t> counters(kCounters, 0);
      const PersistentLoop loop = {0, kTimeSteps, 3, 1, by_element};
      launch_cooperative(by_element ? count_on<ElementSyncGroup> : count_on<BarrierGroup>, loop, 0, nullptr,
                         loop, counters.data(), numbers.data(), kLength);
      const Status status = wait();
      ASSERT_TRUE(status.ok()) << status.message;
      for (int32_t n = 0; n < kLength; ++n)
        EXPECT_TRUE(n == 3 ? std::isnan(numbers[kTimeSteps * kLength + n])
                           : numbers[kTimeSteps * kLength + n] == static_cast<float>(n + kTimeSteps));
      EXPECT_EQ(counters[0], by_element ? 0 : 3 * kTimeSteps);
    }
  }
  std::vector<float> numbers(3 * kLength);
  std::memset(numbers.data(), 0xff, numbers.size() * sizeof(float));
  const PersistentLoop loop = {0, 2, 1, 1, true};
  launch_cooperative(count_on<ElementSyncGroup>, loop, 0, nullptr, loop, static_cast<int32_t *>(nullptr),
                     numbers.data(), kLength);
  EXPECT_EQ(wait().message,
            "CUDA on the CPU: no thread of a kernel can go on: block 0 at count (level or step 0, row 0)");
}

__global__ void reserve_scratch(BlockScratch scratch) {
  unsigned char *own = block_scratch<unsigned char>(scratch, 1);
  for (int32_t n = threadIdx.x; n < scratch.bytes - 1; n += blockDim.x)
    own[n] = static_cast<unsigned char>(own[n] + 1);
}

// Memory of blocks is each one's own, all of it within what there is.
TEST(CudaShim, ScratchOfBlocksIsDisjoint) {
  std::vector<unsigned char> memory(15 * 24, 0);
  start(reserve_scratch, 15, BlockScratch{memory.data(), 24});
  ASSERT_TRUE(wait().ok());
  for (size_t n = 0; n < memory.size(); ++n)
    EXPECT_EQ(memory[n], n % 24 > 0) << n;
}

__global__ void visit_group(PersistentLoop loop, BlockScratch scratch, int32_t *visits, int32_t count) {
  const BlockGroup block_group(loop);
  if (threadIdx.x != 0)
    return;
  const int32_t group = block_group.at(0);
  if (block_group.count == count && block_group.number < count && group < loop.block_groups)
    atomicAdd(&visits[group * count + block_group.number], 1);
  ++*block_scratch<unsigned char>(scratch, 0);
}

// Each block of a persistent kernel is one of a group, and each group has as many; each has memory of its
// own.
TEST(CudaShim, BlockGroupsShareTheBlocks) {
  for (int32_t groups : {1, 2, 3, 5}) {
    std::vector<int32_t> visits(16, 0);
    std::vector<unsigned char> memory(16, 0);
    const PersistentLoop loop = {0, 1, 15, groups, false};
    const int32_t count = std::max(1, blocks_per_group(visit_group, loop, 0));
    launch_cooperative(visit_group, loop, 0, nullptr, loop, BlockScratch{memory.data(), 1}, visits.data(),
                       count);
    ASSERT_TRUE(wait().ok());
    for (int32_t n = 0; n < 16; ++n) {
      EXPECT_EQ(visits[n], n < count * groups) << groups << " groups";
      EXPECT_EQ(memory[n], n < count * groups) << groups << " groups";
    }
  }
}

__global__ void record_interleaving(int32_t *order, int32_t *count) {
  order[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
  order[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}

std::vector<int32_t> interleaving(uint64_t number) {
  seed(number);
  std::vector<int32_t> order(2 * 6 * kThreads, -1);
  int32_t count = 0;
  start(record_interleaving, 6, order.data(), &count);
  EXPECT_TRUE(wait().ok());
  EXPECT_EQ(count, 2 * 6 * kThreads);
  return order;
}

// A failure that a seed shows can be looked at again; another seed has another interleaving.
TEST(CudaShim, EqualSeedsHaveEqualInterleavings) {
  std::set<std::vector<int32_t>> different;
  for (uint64_t number = 0; number < kSeeds; ++number) {
    const std::vector<int32_t> order = interleaving(number);
    EXPECT_EQ(order, interleaving(number)) << number;
    different.insert(order);
  }
  EXPECT_EQ(different.size(), kSeeds);
}

__global__ void add_to(int32_t *number, int32_t more) {
  if (threadIdx.x == 0)
    *number += more;
}

// What is written down is not done, but whenever the graph is launched, copies in their place; what it was
// given it keeps. Nobody can wait for what is only written down.
TEST(CudaShim, GraphsDoWhatWasWrittenDown) {
  int32_t number = 1, from = 10, copy = 0;
  void *graph = nullptr;
  void *stream = nullptr;
  ASSERT_TRUE(backend().capture(&stream).ok());
  backend().copy(&number, &from, sizeof number, nullptr);
  for (int32_t more = 1; more <= 3; ++more)
    launch(add_to, 1, 0, nullptr, &number, more);
  backend().copy(&copy, &number, sizeof copy, nullptr);
  EXPECT_EQ(wait().message, "CUDA on the CPU: what is only written down is waited for");
  ASSERT_TRUE(backend().end_capture(stream, &graph).ok());
  EXPECT_EQ(number, 1);
  EXPECT_TRUE(wait().ok());
  for (int32_t start : {10, 20}) {
    from = start;
    backend().launch_graph(graph, nullptr);
    EXPECT_TRUE(wait().ok());
    EXPECT_EQ(copy, start + 6);
    EXPECT_EQ(number, start + 6);
  }
  backend().release_graph(graph);
  launch(add_to, 1, 0, nullptr, &number, 5);
  EXPECT_EQ(number, 31);
}

// A machine that rests does nothing of what is begun, in a graph neither.
TEST(CudaShim, RestsWhereTheHostIsMeasured) {
  int32_t number = 1, from = 10;
  std::thread([&] {
    shim::Machine::own().rest();
    launch(add_to, 1, 0, nullptr, &number, 5);
    launch_cooperative(add_to, {0, 1, 1, 1, false}, 0, nullptr, &number, 5);
    backend().copy(&number, &from, sizeof number, nullptr);
    void *stream = nullptr, *graph = nullptr;
    EXPECT_TRUE(backend().capture(&stream).ok());
    launch(add_to, 1, 0, nullptr, &number, 5);
    EXPECT_TRUE(backend().end_capture(stream, &graph).ok());
    backend().launch_graph(graph, nullptr);
    backend().release_graph(graph);
    EXPECT_TRUE(wait().ok());
  }).join();
  EXPECT_EQ(number, 1);
  launch(add_to, 1, 0, nullptr, &number, 5);
  EXPECT_EQ(number, 6);
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
  void *memory = backend().allocate(300);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
  backend().release(memory);
  EXPECT_TRUE(backend().wait(stream).ok());
  backend().close(stream);
}

} // namespace
