// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The constants of the cost model (cost/DeviceCost.h), each measured by a kernel of its own. Prints one
// line of JSON, by the names that a device's file has.
#include <dbc/cuda/kernels.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

using dbc::cuda::kThreads;

constexpr int kRounds = 7;           ///< medians are of so many
constexpr size_t kBuffer = 16 << 20; ///< bytes: stays in the second-level cache

int processors = 0;
double clock_hertz = 0;
cudaStream_t stream;
unsigned char *buffer; ///< kBuffer bytes and what kernels want to be kept

void check(cudaError_t code, int line) {
  if (code == cudaSuccess)
    return;
  std::fprintf(stderr, "Micro.cu:%d: %s\n", line, cudaGetErrorString(code));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Microseconds between two events around what is launched.
double time_us(const std::function<void()> &launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<double> times;
  for (int round = 0; round <= kRounds; ++round) {
    CHECK(cudaEventRecord(begin, stream));
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (round > 0)
      times.push_back(1e3 * ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return median(times);
}

/// What one more costs: from twice as many.
double each_us(int count, const std::function<void(int)> &launch) {
  const double once = time_us([&] { launch(count); });
  return (time_us([&] { launch(2 * count); }) - once) / count;
}

//===-- Kernels -----------------------------------------------------------------------------------------===//

__global__ void empty() {}

__global__ void spin(long long clocks) {
  const long long end = clock64() + clocks;
  while (clock64() < end) {
  }
}

__global__ void __launch_bounds__(kThreads) barriers(dbc::cuda::PersistentLoop loop, int32_t *arrived) {
  dbc::cuda::BarrierGroup block_group(loop, arrived, 0);
  for (int n = loop.first; n < loop.time_steps; ++n)
    block_group.wait();
}

/// Two blocks hand numbers to each other, each in memory of its own.
__global__ void hand_over(dbc::cuda::PersistentLoop loop, float *numbers) {
  const dbc::cuda::ElementSyncGroup block_group(loop, nullptr, 0);
  for (int n = loop.first + block_group.number; n < loop.time_steps; n += 2)
    block_group.write(numbers[n + 1], block_group.read(numbers[n]) + 1);
}

__global__ void chase(const int *next, int count, int *out) {
  int at = 0;
  for (int n = 0; n < count; ++n)
    at = __ldcg(next + at);
  *out = at;
}

__global__ void read_l2(const float4 *from, int quads, int passes, float *out) {
  float sum = 0;
  const int threads = static_cast<int>(gridDim.x * blockDim.x);
  for (int pass = 0; pass < passes; ++pass)
#pragma unroll 8
    for (int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); at < quads; at += threads) {
      const float4 quad = __ldcg(from + at);
      sum += quad.x + quad.y + quad.z + quad.w;
    }
  if (sum == 12345)
    *out = sum;
}

__global__ void read_shared(int passes, float *out) {
  __shared__ float4 quads[1024];
  quads[threadIdx.x] = make_float4(1, 2, 3, static_cast<float>(threadIdx.x));
  __syncthreads();
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const float4 quad = quads[(threadIdx.x + 32 * pass) & 1023];
    sum += quad.x + quad.y + quad.z + quad.w;
  }
  if (sum == 12345)
    *out = sum;
}

constexpr int kChains = 8;

__global__ void __launch_bounds__(512) multiply_add(int count, float by, float *out) {
  float sum[kChains];
  for (int c = 0; c < kChains; ++c)
    sum[c] = static_cast<float>(threadIdx.x + c);
  for (int n = 0; n < count; ++n)
#pragma unroll
    for (int c = 0; c < kChains; ++c)
      sum[c] = __fmaf_rn(sum[c], by, 1.0f);
  float all = 0;
  for (float each : sum)
    all += each;
  if (all == 12345)
    *out = all;
}

__global__ void __launch_bounds__(256) matrix_tf32(int count, float *out) {
  float sum[kChains][4] = {};
  const unsigned a = __float_as_uint(1.0f + static_cast<float>(threadIdx.x)), b = __float_as_uint(0.5f);
  for (int n = 0; n < count; ++n)
#pragma unroll
    for (int c = 0; c < kChains; ++c)
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(sum[c][0]), "+f"(sum[c][1]), "+f"(sum[c][2]), "+f"(sum[c][3])
          : "r"(a), "r"(a), "r"(a), "r"(a), "r"(b), "r"(b));
  float all = 0;
  for (auto &chain : sum)
    all += chain[0] + chain[1] + chain[2] + chain[3];
  if (all == 12345)
    *out = all;
}

/// What a tile of a level does besides its product: index, row, barrier, activations, store.
__global__ void __launch_bounds__(kThreads) tiles(int count, const int *index, float *rows) {
  __shared__ float sums[kThreads];
  int row = static_cast<int>(blockIdx.x);
  for (int n = 0; n < count; ++n) {
    row = __ldcg(index + row);
    sums[threadIdx.x] = __ldcg(rows + row * kThreads + threadIdx.x);
    __syncthreads();
    const float x = sums[(threadIdx.x + 32) % kThreads];
    const float gate = 1.0f / (1.0f + expf(-x));
    rows[row * kThreads + threadIdx.x] = gate * tanhf(x);
    __syncthreads();
  }
}

/// Products as dbc's kernels make them without a matrix instruction.
__global__ void __launch_bounds__(kThreads)
    products(int inputs, const float *rows, const float *weights, float *into) {
  constexpr int kOutputs = 96, kRows = 4;
  dbc::cuda::product(kRows, dbc::cuda::Matrix<float>{weights, weights, inputs, kOutputs},
                     dbc::cuda::all_of(kOutputs), into + blockIdx.x * kRows * kOutputs,
                     dbc::cuda::segment(rows, static_cast<const int32_t *>(nullptr), inputs, inputs));
}

/// Operations of one thread that need one another: half of them load.
__global__ void operations(int count, const int *next, float *out) {
  int at = 0;
  float sum = 1;
  for (int n = 0; n < count; ++n) {
    at = next[at]; // of the first-level cache
    sum = __fmaf_rn(sum, 0.5f, static_cast<float>(at));
  }
  *out = sum;
}

//===-- Constants ---------------------------------------------------------------------------------------===//

/// A graph of empty kernels, one behind the other.
cudaGraphExec_t graph_of(int nodes) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int n = 0; n < nodes; ++n)
    empty<<<1, kThreads, 0, stream>>>();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return ready;
}

double host_launch_us() {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    CHECK(cudaStreamSynchronize(stream));
    const auto begin = std::chrono::steady_clock::now();
    for (int n = 0; n < 500; ++n)
      empty<<<1, kThreads, 0, stream>>>();
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    times.push_back(taken.count() / 500);
  }
  CHECK(cudaStreamSynchronize(stream));
  return median(times);
}

/// A ring of numbers, `step` apart.
void make_ring(int count, int step) {
  std::vector<int> next(static_cast<size_t>(count));
  for (int n = 0; n < count; ++n)
    next[static_cast<size_t>(n)] = (n + step) % count;
  CHECK(cudaMemcpy(buffer, next.data(), next.size() * sizeof(int), cudaMemcpyHostToDevice));
}

bool first = true;
void say(const char *name, double value) {
  std::printf("%s\"%s\": %.6g", first ? "{" : ", ", name, value);
  first = false;
}

/// Of one processor, a clock.
double a_clock(double count, double us, int of) { return count / (us * 1e-6 * clock_hertz) / of; }

void waits() {
  cudaGraphExec_t one = graph_of(1), some = graph_of(500), more = graph_of(1000);
  auto play = [&](cudaGraphExec_t graph) { return time_us([&] { CHECK(cudaGraphLaunch(graph, stream)); }); };
  say("start_us", play(one));
  say("graph_node_us", (play(more) - play(some)) / 500);
  say("launch_us", each_us(500, [&](int count) {
        for (int n = 0; n < count; ++n)
          empty<<<1, kThreads, 0, stream>>>();
      }));
  say("host_launch_us", host_launch_us());
  auto *word = reinterpret_cast<int32_t *>(buffer);
  say("grid_barrier_us", each_us(1000, [&](int count) {
        CHECK(cudaMemsetAsync(word, 0, sizeof *word, stream));
        const dbc::cuda::PersistentLoop loop = {0, count, processors, 1, false};
        dbc::cuda::launch_cooperative(barriers, loop, 0, stream, loop, word);
      }));
  auto *numbers = reinterpret_cast<float *>(buffer);
  say("word_us", each_us(1000, [&](int count) {
        CHECK(cudaMemsetAsync(numbers + 1, 0xff, size_t(count) * sizeof(float), stream));
        hand_over<<<2, 1, 0, stream>>>({0, count, 2, 1, true}, numbers);
      }));
}

void memory() {
  auto *out = reinterpret_cast<float *>(buffer + kBuffer);
  auto *numbers = reinterpret_cast<int *>(buffer);
  make_ring(1 << 20, 33 * 31);
  say("l2_latency_us", each_us(2000, [&](int count) {
        chase<<<1, 1, 0, stream>>>(numbers, count, reinterpret_cast<int *>(out));
      }));
  auto *quads = reinterpret_cast<const float4 *>(buffer);
  const double all = each_us(
      20, [&](int count) { read_l2<<<2 * processors, 1024, 0, stream>>>(quads, kBuffer / 16, count, out); });
  say("l2_bytes_per_second", kBuffer / (all * 1e-6));
  constexpr size_t kReadBytes = 1 << 20;
  const double one =
      each_us(10, [&](int count) { read_l2<<<1, 1024, 0, stream>>>(quads, kReadBytes / 16, count, out); });
  say("l2_bytes_per_clock", a_clock(kReadBytes, one, 1));
  const double shared = each_us(1 << 14, [&](int count) { read_shared<<<1, 1024, 0, stream>>>(count, out); });
  say("shared_bytes_per_clock", a_clock(1024 * sizeof(float4), shared, 1));
}

void arithmetic() {
  auto *out = reinterpret_cast<float *>(buffer + kBuffer);
  const double plain = each_us(
      1 << 13, [&](int count) { multiply_add<<<4 * processors, 512, 0, stream>>>(count, 0.5f, out); });
  say("ffma_per_clock", a_clock(4.0 * 512 * kChains, plain, 1));
  const double matrix =
      each_us(1 << 12, [&](int count) { matrix_tf32<<<4 * processors, 256, 0, stream>>>(count, out); });
  const double rate = a_clock(4.0 * 8 * kChains * 16 * 8 * 8, matrix, 1);
  say("tf32_per_clock", rate);
  say("tf32x3_per_clock", rate / 3);
}

void kernels() {
  auto *out = reinterpret_cast<float *>(buffer + kBuffer);
  make_ring(1 << 12, 257);
  auto *numbers = reinterpret_cast<const int *>(buffer);
  say("tile_us", each_us(2000, [&](int count) {
        tiles<<<1, kThreads, 0, stream>>>(count, numbers, reinterpret_cast<float *>(buffer + (1 << 20)));
      }));
  auto *rows = reinterpret_cast<const float *>(buffer);
  const double step = each_us(512, [&](int count) {
    products<<<processors, kThreads, 0, stream>>>(count, rows, rows + (1 << 18), out);
  });
  say("product_step_clocks", step * 1e-6 * clock_hertz);
  make_ring(1 << 10, 33);
  const double operation =
      each_us(5000, [&](int count) { operations<<<1, 1, 0, stream>>>(count, numbers, out); });
  say("operation_clocks", operation * 1e-6 * clock_hertz / 2);
}

} // namespace

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  processors = device.multiProcessorCount;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&buffer, 2 * kBuffer));
  CHECK(cudaMemset(buffer, 0, 2 * kBuffer));
  CHECK(cudaDeviceSynchronize());
  // The clock that products run at, not that of an idle GPU.
  for (int n = 0; n < 50; ++n)
    multiply_add<<<4 * processors, 512, 0, stream>>>(1 << 14, 0.5f,
                                                     reinterpret_cast<float *>(buffer + kBuffer));
  constexpr int kClocks = 1 << 20;
  const double spun = each_us(kClocks, [&](int count) { spin<<<processors, 32, 0, stream>>>(count); });
  clock_hertz = 1e6 / spun;
  say("processors", processors);
  say("shared_bytes_per_processor", static_cast<double>(device.sharedMemPerMultiprocessor));
  say("clock_ghz", 1e-9 * clock_hertz);
  waits();
  memory();
  arithmetic();
  kernels();
  std::printf("}\n");
  return 0;
}
