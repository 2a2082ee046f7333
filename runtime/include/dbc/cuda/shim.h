// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Runs kernels on the CPU, for tests on machines without a card. Every thread of a block is a fiber; a few
// blocks are there at once. Whose turn it is comes from a seed (DBC_SHIM_SEED in the environment, or seed()):
// one warp is favoured for a while and the others are held back, so that a barrier that is missing shows.
// Shared memory begins as what is no number.
//
// It reports threads of a block that end, or wait at another barrier, while others wait at one, and a kernel
// in which nobody can go on; loads of 16 bytes at other places than multiples of 16; arrays of a stage that
// overlap in shared memory; and what is written behind an array of the device's memory, where a fence stands
// (with DBC_SHIM_FENCES=0 there are none, and memory is as on a card). It does not see what the memory model
// allows beyond an order of turns, or limits of launches: these need a card.
//
// Each thread of the host has a machine of its own.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/cuda/fiber.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#ifdef DBC_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#endif

#ifndef DBC_SHIM_FENCES
#define DBC_SHIM_FENCES 1
#endif

// The words of CUDA that emitted kernels use.
#define __global__
#define __device__
#define __forceinline__ inline
#define DBC_UNROLL
#define DBC_NO_UNROLL
#define __launch_bounds__(...)
#define __syncthreads() ::dbc::cuda::shim::Machine::own().barrier(__LINE__)
#define __syncwarp() ::dbc::cuda::shim::Machine::own().warp_barrier(__LINE__)
#define threadIdx (::dbc::cuda::shim::Machine::own().thread())
#define blockIdx (::dbc::cuda::shim::Machine::own().block())
#define blockDim (::dbc::cuda::shim::Machine::own().block_size())
#define gridDim (::dbc::cuda::shim::Machine::own().grid_size())
#define DBC_SHARED(type, name, offset, count)                                                                \
  type *const name = ::dbc::cuda::shim::Machine::own().shared<type>(__LINE__, __func__, offset, count)
#define DBC_KEPT(type, name, offset, count)                                                                  \
  type *const name = ::dbc::cuda::shim::Machine::own().shared<type>(__LINE__, nullptr, offset, count)

/// CUDA's words for numbers that one instruction loads.
struct alignas(16) float4 {
  float x, y, z, w;
};

namespace dbc::cuda {
namespace shim {

struct Index {
  int32_t x = 0;
};

class Machine {
public:
  static Machine &own() {
    static thread_local Machine machine;
    return machine;
  }
  Machine() {
    const char *given = std::getenv("DBC_SHIM_SEED");
    const uint64_t number = given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
    seed(number);
    few_blocks_ = number % 3 == 1;
    rubbish_ = number % 3 == 2 ? 0 : 0xff;
    together_ = number % 3 == 2 ? 16 : 4;
  }

  /// Turns of the launches to come.
  void seed(uint64_t number) { random_.seed(number + 1); }

  /// Runs a kernel; with `together` all of its blocks are there at once.
  void launch(std::function<void()> kernel, int32_t blocks, int32_t threads, size_t shared, bool together) {
    if (!failure_.empty())
      return;
    shared_ = shared;
    if (few_blocks_ && !together)
      blocks = 1 + static_cast<int32_t>(random_() % static_cast<uint64_t>(blocks));
    kernel_ = std::move(kernel);
    grid_ = {blocks};
    size_ = {threads};
    idle_ = 0;
    const size_t at_once = together ? static_cast<size_t>(blocks) : kBlocks;
    std::vector<int32_t> waiting(static_cast<size_t>(blocks));
    for (size_t n = 0; n < waiting.size(); ++n)
      waiting[n] = static_cast<int32_t>(n);
    std::shuffle(waiting.begin(), waiting.end(), random_);
    while (failure_.empty() && (!waiting.empty() || !blocks_.empty())) {
      while (blocks_.size() < at_once && !waiting.empty()) {
        begin(waiting.back());
        waiting.pop_back();
      }
      turn();
    }
    for (auto &block : blocks_)
      spare_.push_back(std::move(block));
    blocks_.clear();
  }

  /// Does what the host begins, or writes it down while that is asked for.
  template <class Work> void perform(const Work &work) {
    if (resting_)
      return;
    if (capturing_)
      captured_.push_back(work);
    else
      work();
  }
  /// From now on nothing is done that the host begins: for measuring what the host itself does.
  void rest() { resting_ = true; }
  bool resting() const { return resting_; }
  using Graph = std::vector<std::function<void()>>;
  void capture() { capturing_ = true; }
  bool capturing() const { return capturing_; }
  Graph end_capture() {
    capturing_ = false;
    return std::exchange(captured_, Graph());
  }

  /// Blocks that are there at once where they wait for each other: a few, as on a device that is full, or
  /// with some seeds of the environment enough for teams with several tiles.
  int32_t together() const { return together_; }

  /// What memory holds that nobody has written: no number, or with some seeds of the environment zeros, as
  /// flags that are not 0 look like ones that were set.
  int rubbish() const { return rubbish_; }

  /// What went wrong since it was asked last; empty if nothing.
  std::string take_failure() { return std::exchange(failure_, std::string()); }

  void fail(const std::string &why) {
    if (failure_.empty())
      failure_ = why;
  }

  // For the thread that has its turn.
  const Index &thread() const { return current_->thread; }
  const Index &block() const { return block_->index; }
  const Index &block_size() const { return size_; }
  const Index &grid_size() const { return grid_; }
  void barrier(int32_t line) {
    current_->state = State::Waiting;
    current_->line = line;
    current_->fiber.leave();
  }
  void warp_barrier(int32_t line) {
    current_->state = State::WaitingForWarp;
    current_->line = line;
    current_->fiber.leave();
  }
  /// Copies that a thread began land when it waits for them, not before.
  void copy_later(float *to, const float4 &quad) { current_->copies.emplace_back(to, quad); }
  void land_copies() {
    for (const auto &[to, quad] : current_->copies)
      std::memcpy(to, &quad, sizeof quad);
    current_->copies.clear();
  }
  /// Four numbers of each thread of the warp, for all of them; one must not come here again before all are
  /// behind the call after.
  const float (*exchange(const float (&mine)[4]))[4] {
    Warp &warp = block_->warps[static_cast<size_t>(current_->thread.x / kWarp)];
    const int32_t turn = current_->exchanges++ % 2;
    std::copy(mine, mine + 4, warp.mail[turn][current_->thread.x % kWarp]);
    warp_barrier(0);
    return warp.mail[turn];
  }
  /// Lets others go on; for a thread that waits in a loop for what they do.
  void spin(const Progress &at) {
    current_->state = State::Spinning;
    current_->at = at;
    current_->fiber.leave();
  }
  /// Arrays of one function are there at the same time, those of no function (null) as long as the kernel
  /// runs; each has memory of its own here, so that a sanitizer sees what is beyond it.
  template <class T> T *shared(int32_t line, const char *function, size_t offset, size_t count) {
    const size_t bytes = count * sizeof(T), end = offset + bytes;
    for (Shared &other : block_->shared)
      if (other.line == line)
        return reinterpret_cast<T *>(other.memory.get());
    for (const Shared &other : block_->shared)
      if (at_once(other.function, function) && offset < other.end && other.begin < end)
        fail("shared memory in line " + std::to_string(line) + " overlaps that in line " +
             std::to_string(other.line));
    if (offset % 16 != 0) // whatever is loaded or copied by 16 bytes
      fail("shared memory in line " + std::to_string(line) + " begins at byte " + std::to_string(offset));
    if (end > shared_)
      fail("shared memory in line " + std::to_string(line) + " ends at byte " + std::to_string(end) + " of " +
           std::to_string(shared_));
    block_->shared.push_back({line, function, offset, end, std::make_unique<unsigned char[]>(bytes)});
    std::memset(block_->shared.back().memory.get(), 0xff, bytes);
    return reinterpret_cast<T *>(block_->shared.back().memory.get());
  }

private:
  static constexpr size_t kBlocks = 3; ///< that are there at once
  static constexpr int32_t kWarp = 32;
  enum class State { Ready, Spinning, WaitingForWarp, Waiting, Done };
  static constexpr int64_t kIdle = 100'000; ///< turns in which threads only spin, until all are given up
  struct Thread {
    Fiber fiber;
    Index thread;
    State state = State::Ready;
    int32_t line = 0; ///< of the barrier at which it waits
    Progress at;      ///< where it spins
    int32_t exchanges = 0;
    std::vector<std::pair<float *, float4>> copies; ///< that have not landed
  };
  struct Warp {
    float mail[2][kWarp][4]; ///< that of this exchange, and that of the one before
  };
  /// An array that threads of a block share: where it is in the source, and in the memory of a card.
  struct Shared {
    int32_t line;
    const char *function;
    size_t begin, end;
    std::unique_ptr<unsigned char[]> memory;
  };
  struct Block {
    Index index;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<Shared> shared;
  };

  static bool at_once(const char *function, const char *other) {
    return function == nullptr || other == nullptr || std::strcmp(function, other) == 0;
  }

  /// A block's threads, at their beginning.
  void begin(int32_t number) {
    if (spare_.empty())
      spare_.push_back(std::make_unique<Block>());
    std::unique_ptr<Block> block = std::move(spare_.back());
    spare_.pop_back();
    block->index = {number};
    block->shared.clear();
    block->threads.resize(size_.x);
    block->warps.resize((size_.x + kWarp - 1) / kWarp);
    for (int32_t t = 0; t < size_.x; ++t) {
      Thread &thread = block->threads[t];
      thread.thread = {t};
      thread.state = State::Ready;
      thread.exchanges = 0;
      thread.copies.clear();
      thread.fiber.begin(&Machine::start);
    }
    blocks_.push_back(std::move(block));
    favoured_ = -1;
  }

  static void start() {
    Machine &machine = own();
    machine.kernel_();
    if (!machine.current_->copies.empty())
      machine.fail("a thread ends that began " + std::to_string(machine.current_->copies.size()) +
                   " copies and did not wait for them");
    machine.current_->state = State::Done;
  }

  /// One warp runs until each of its threads waits or is done.
  void turn() {
    if (favoured_ < 0 || random_() % 4 == 0 || !any_ready(*blocks_[favoured_], warp_)) {
      std::vector<std::pair<int32_t, int32_t>> able;
      for (size_t b = 0; b < blocks_.size(); ++b)
        for (int32_t w = 0; w * kWarp < size_.x; ++w)
          if (any_ready(*blocks_[b], w))
            able.emplace_back(static_cast<int32_t>(b), w);
      if (able.empty() || ++idle_ > kIdle) {
        failure_ = "no thread of a kernel can go on";
        for (const auto &block : blocks_)
          failure_ += (&block == &blocks_.front() ? ": " : ", ") + told(*block);
        return;
      }
      std::tie(favoured_, warp_) = able[random_() % able.size()];
    }
    Block &block = *blocks_[favoured_];
    const int32_t first = warp_ * kWarp, count = std::min(kWarp, size_.x - first);
    const int32_t from = static_cast<int32_t>(random_() % static_cast<uint64_t>(count));
    for (int32_t n = 0; n < count; ++n) {
      Thread &thread = block.threads[first + (from + n) % count];
      if (can_run(thread)) {
        run(block, thread);
        if (thread.state != State::Spinning)
          idle_ = 0;
      }
    }
    if (meet_in_warp(block, first, count))
      meet(block);
  }

  /// Which block it is, and how far those of its threads came that spin.
  static std::string told(const Block &block) {
    std::string words = "block " + std::to_string(block.index.x);
    for (const Thread &thread : block.threads)
      if (thread.state == State::Spinning && thread.at.stage != nullptr)
        return words + " at " + thread.at.stage + " (level or step " + std::to_string(thread.at.tick) +
               ", row " + std::to_string(thread.at.row) + ")";
    return words;
  }

  static bool can_run(const Thread &thread) {
    return thread.state == State::Ready || thread.state == State::Spinning;
  }
  bool any_ready(const Block &block, int32_t warp) const {
    for (int32_t t = warp * kWarp; t < std::min((warp + 1) * kWarp, size_.x); ++t)
      if (can_run(block.threads[t]))
        return true;
    return false;
  }

  /// Where all threads of a warp wait for it, they go on. Whether none does.
  bool meet_in_warp(Block &block, int32_t first, int32_t count) {
    int32_t waiting = 0, gone = 0, line = 0;
    for (int32_t t = first; t < first + count; ++t) {
      const Thread &thread = block.threads[t];
      if (can_run(thread))
        return false;
      if (thread.state != State::WaitingForWarp) {
        ++gone;
        continue;
      }
      if (waiting++ > 0 && thread.line != line)
        failure_ = "threads of a warp wait for it at two places, in lines " + std::to_string(line) + " and " +
                   std::to_string(thread.line);
      line = thread.line;
    }
    if (waiting > 0 && gone > 0)
      failure_ = std::to_string(gone) + " threads of a warp end or wait for the block while " +
                 std::to_string(waiting) + " wait for the warp in line " + std::to_string(line);
    if (waiting == 0)
      return true;
    for (int32_t t = first; t < first + count; ++t)
      block.threads[t].state = State::Ready;
    return false;
  }

  /// Where all threads of a block wait, they go on; where all are done, the block ends.
  void meet(Block &block) {
    int32_t waiting = 0, done = 0, line = 0;
    for (const Thread &thread : block.threads) {
      if (can_run(thread) || thread.state == State::WaitingForWarp)
        return;
      if (thread.state == State::Done) {
        ++done;
        continue;
      }
      if (waiting++ > 0 && thread.line != line)
        failure_ = "threads of a block wait at two barriers, in lines " + std::to_string(line) + " and " +
                   std::to_string(thread.line);
      line = thread.line;
    }
    if (waiting > 0 && done > 0)
      failure_ = std::to_string(done) + " threads of a block end while " + std::to_string(waiting) +
                 " wait at the barrier in line " + std::to_string(line);
    if (!failure_.empty())
      return;
    if (done > 0) {
      spare_.push_back(std::move(blocks_[favoured_]));
      blocks_.erase(blocks_.begin() + favoured_);
      favoured_ = -1;
      return;
    }
    for (Thread &thread : block.threads)
      thread.state = State::Ready;
  }

  void run(Block &block, Thread &thread) {
    block_ = &block;
    current_ = &thread;
    thread.fiber.go_on();
    current_ = nullptr;
    block_ = nullptr;
  }

  bool capturing_ = false, resting_ = false;
  Graph captured_;
  std::mt19937_64 random_;
  std::function<void()> kernel_;
  Index grid_, size_;
  std::vector<std::unique_ptr<Block>> blocks_, spare_;
  int rubbish_ = 0xff;
  int32_t together_ = 4;
  bool few_blocks_ = false; ///< with some seeds of the environment: blocks have more than one part to do
  size_t shared_ = 0;       ///< bytes that the launch asked for
  int64_t idle_ = 0;
  int32_t favoured_ = -1, warp_ = 0; ///< whose turn it is: number in blocks_, warp
  Block *block_ = nullptr;
  Thread *current_ = nullptr;
  std::string failure_;
};

inline void *allocate(size_t bytes) {
  constexpr size_t kLine = 256;
  return std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
}

/// What a fence holds at an address: whoever reads it as a number has none (NaN), and as an index one below
/// 0.
inline unsigned char fence_byte(const unsigned char *at) {
  constexpr unsigned char kBytes[4] = {0xc0, 0xdb, 0xfb, 0xff};
  return kBytes[reinterpret_cast<uintptr_t>(at) % 4];
}
inline void put_fence(void *memory, size_t bytes, bool up) {
  auto *const at = static_cast<unsigned char *>(memory);
  for (size_t n = 0; up && !Machine::own().resting() && n < bytes; ++n)
    at[n] = fence_byte(at + n);
}
inline size_t untouched(const void *memory, size_t bytes) {
  const auto *const at = static_cast<const unsigned char *>(memory);
  size_t n = 0;
  while (n < bytes && (at[n] == fence_byte(at + n) || Machine::own().resting()))
    ++n;
  return n;
}

} // namespace shim

inline int32_t atomicAdd(int32_t *at, int32_t value) { return std::exchange(*at, *at + value); }

/// Waiting in a loop for what another block does.
struct Spin {
  void wait(const Progress &at = {}) { shim::Machine::own().spin(at); }
};

/// Whether a kernel may have so much: here there is any.
template <class... Parameters> bool give_shared(void (*)(Parameters...), size_t) { return true; }

/// Runs a kernel to its end; what goes wrong is told by Backend::wait.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), int32_t blocks, size_t shared, void *, Parameters... arguments) {
  shim::Machine::own().perform(
      [=] { shim::Machine::own().launch([&] { kernel(arguments...); }, blocks, kThreads, shared, false); });
}

/// Blocks of each team that are there at once.
template <class... Parameters>
int32_t blocks_of_team(void (*)(Parameters...), const WholeLoop &loop, size_t) {
  return std::min(loop.blocks, shim::Machine::own().together()) / loop.teams;
}

/// Runs a kernel with so many.
template <class... Parameters>
void launch_cooperative(void (*kernel)(Parameters...), const WholeLoop &loop, size_t shared, void *,
                        Parameters... arguments) {
  shim::Machine::own().perform([=] {
    shim::Machine::own().launch([&] { kernel(arguments...); },
                                std::max(1, blocks_of_team(kernel, loop, shared)) * loop.teams, kThreads,
                                shared, true);
  });
}

// A program may have several models: each has its own, and must not get one that runs on a card.
namespace {
const Backend &backend() {
  static const Backend backend = {
      [](int32_t device, void **stream) {
        static char only; // a stream is never null
        if (stream != nullptr)
          *stream = &only;
        return device == 0 ? Status()
                           : Status::error(Code::bad_call, "CUDA on the CPU: there is no device " +
                                                               std::to_string(device) + ", only device 0");
      },
      [](int32_t) {},
      [](void *) {},
      shim::allocate,
      [](void *memory) { std::free(memory); },
      shim::allocate,
      [](void *memory) { std::free(memory); },
      nullptr,
      [](void *to, const void *from, size_t bytes, void *) {
        shim::Machine::own().perform([=] { std::memcpy(to, from, bytes); });
      },
      [](void *memory, size_t bytes, void *) {
        shim::Machine::own().perform([=] { std::memset(memory, 0xff, bytes); });
      },
      [] { return Status(); },
      [](void *) {
        if (shim::Machine::own().capturing())
          return Status::error(Code::internal, "CUDA on the CPU: what is only written down is waited for");
        std::string failure = shim::Machine::own().take_failure();
        return failure.empty() ? Status() : Status::error(Code::internal, "CUDA on the CPU: " + failure);
      },
      [](void *memory, size_t bytes) { std::memset(memory, shim::Machine::own().rubbish(), bytes); },
      [](int32_t) { return shim::Machine::own().together(); },
      [](void **stream) {
        static char other;
        *stream = &other;
        shim::Machine::own().capture();
        return Status();
      },
      [](void *, void **graph) {
        *graph = new shim::Machine::Graph(shim::Machine::own().end_capture());
        return Status();
      },
      [](void *graph, void *) {
        for (const std::function<void()> &work : *static_cast<shim::Machine::Graph *>(graph))
          shim::Machine::own().perform(work);
      },
      [](void *graph) { delete static_cast<shim::Machine::Graph *>(graph); },
#ifdef DBC_FIBER_ASAN
      [](void *memory, size_t bytes, bool up) {
        (up ? __asan_poison_memory_region : __asan_unpoison_memory_region)(memory, bytes);
      },
#elif DBC_SHIM_FENCES
      shim::put_fence,
      nullptr,
      nullptr,
      shim::untouched,
#else
      nullptr,
#endif
  };
  return backend;
}
} // namespace

} // namespace dbc::cuda
