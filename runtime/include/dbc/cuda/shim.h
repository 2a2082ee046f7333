// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Runs kernels on the CPU, for tests on machines without a card. Every thread of a block is a fiber; a few
// blocks are there at once. Whose turn it is comes from a seed (DBC_SHIM_SEED in the environment, or seed()):
// one warp is favoured for a while and the others are held back, so that a barrier that is missing shows.
// Shared memory begins as what is no number.
//
// It reports threads of a block that end, or wait at another barrier, while others wait at one, and a kernel
// in which nobody can go on. It does not see what the memory model allows beyond an order of turns,
// misaligned accesses, or limits of launches: these need a card.
//
// Each thread of the host has a machine of its own.
#pragma once

#include <dbc/cuda/arrays.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define DBC_SHIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DBC_SHIM_ASAN 1
#endif
#endif
#ifdef DBC_SHIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

// The words of CUDA that emitted kernels use.
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __syncthreads() ::dbc::cuda::shim::Machine::own().barrier(__LINE__)
#define threadIdx (::dbc::cuda::shim::Machine::own().thread())
#define blockIdx (::dbc::cuda::shim::Machine::own().block())
#define blockDim (::dbc::cuda::shim::Machine::own().block_size())
#define gridDim (::dbc::cuda::shim::Machine::own().grid_size())
#define DBC_SHARED(type, name, offset, count)                                                                \
  type *const name = ::dbc::cuda::shim::Machine::own().shared<type>(__LINE__, offset, count)

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

  /// What memory holds that nobody has written: no number, or with some seeds of the environment zeros, as
  /// flags that are not 0 look like ones that were set.
  int rubbish() const { return rubbish_; }

  /// What went wrong since it was asked last; empty if nothing.
  std::string take_failure() { return std::exchange(failure_, std::string()); }

  // For the thread that has its turn.
  const Index &thread() const { return current_->thread; }
  const Index &block() const { return block_->index; }
  const Index &block_size() const { return size_; }
  const Index &grid_size() const { return grid_; }
  void barrier(int32_t line) {
    current_->state = State::Waiting;
    current_->line = line;
    leave();
  }
  /// Lets others go on; for a thread that waits in a loop for what they do.
  void spin() {
    current_->state = State::Spinning;
    leave();
  }
  template <class T> T *shared(int32_t line, size_t offset, size_t count) {
    for (auto &[at, memory] : block_->shared)
      if (at == line)
        return reinterpret_cast<T *>(memory.get());
    const size_t bytes = count * sizeof(T);
    if (offset + bytes > shared_)
      failure_ = "shared memory in line " + std::to_string(line) + " ends at byte " +
                 std::to_string(offset + bytes) + " of " + std::to_string(shared_);
    block_->shared.emplace_back(line, std::make_unique<unsigned char[]>(bytes));
    std::memset(block_->shared.back().second.get(), 0xff, bytes);
    return reinterpret_cast<T *>(block_->shared.back().second.get());
  }

private:
  static constexpr size_t kBlocks = 3; ///< that are there at once
  static constexpr int32_t kWarp = 32;
  static constexpr size_t kStack = 256 << 10;
  enum class State { Ready, Spinning, Waiting, Done };
  static constexpr int64_t kIdle = 100'000; ///< turns in which threads only spin, until all are given up
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<unsigned char[]> stack;
    Index thread;
    State state = State::Ready;
    int32_t line = 0; ///< of the barrier at which it waits
    void *fake_stack = nullptr;
  };
  struct Block {
    Index index;
    std::vector<Fiber> fibers;
    std::vector<std::pair<int32_t, std::unique_ptr<unsigned char[]>>> shared; ///< by line
  };

  /// A block's threads, at their beginning.
  void begin(int32_t number) {
    if (spare_.empty())
      spare_.push_back(std::make_unique<Block>());
    std::unique_ptr<Block> block = std::move(spare_.back());
    spare_.pop_back();
    block->index = {number};
    block->shared.clear();
    block->fibers.resize(size_.x);
    for (int32_t t = 0; t < size_.x; ++t) {
      Fiber &fiber = block->fibers[t];
      if (!fiber.stack)
        fiber.stack = std::unique_ptr<unsigned char[]>(new unsigned char[kStack]);
      fiber.thread = {t};
      fiber.state = State::Ready;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.get();
      fiber.context.uc_stack.ss_size = kStack;
      fiber.context.uc_link = nullptr;
      makecontext(&fiber.context, &Machine::start, 0);
    }
    blocks_.push_back(std::move(block));
    favoured_ = -1;
  }

  static void start() {
    Machine &machine = own();
    machine.arrive(nullptr);
    machine.kernel_();
    machine.current_->state = State::Done;
    machine.leave(/*for_good=*/true);
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
          failure_ += (&block == &blocks_.front() ? ": block " : ", ") + std::to_string(block->index.x);
        return;
      }
      std::tie(favoured_, warp_) = able[random_() % able.size()];
    }
    Block &block = *blocks_[favoured_];
    const int32_t first = warp_ * kWarp, count = std::min(kWarp, size_.x - first);
    const int32_t from = static_cast<int32_t>(random_() % static_cast<uint64_t>(count));
    for (int32_t n = 0; n < count; ++n) {
      Fiber &fiber = block.fibers[first + (from + n) % count];
      if (can_run(fiber)) {
        run(block, fiber);
        if (fiber.state != State::Spinning)
          idle_ = 0;
      }
    }
    meet(block);
  }

  static bool can_run(const Fiber &fiber) {
    return fiber.state == State::Ready || fiber.state == State::Spinning;
  }
  bool any_ready(const Block &block, int32_t warp) const {
    for (int32_t t = warp * kWarp; t < std::min((warp + 1) * kWarp, size_.x); ++t)
      if (can_run(block.fibers[t]))
        return true;
    return false;
  }

  /// Where all threads of a block wait, they go on; where all are done, the block ends.
  void meet(Block &block) {
    int32_t waiting = 0, done = 0, line = 0;
    for (const Fiber &fiber : block.fibers) {
      if (can_run(fiber))
        return;
      if (fiber.state == State::Done) {
        ++done;
        continue;
      }
      if (waiting++ > 0 && fiber.line != line)
        failure_ = "threads of a block wait at two barriers, in lines " + std::to_string(line) + " and " +
                   std::to_string(fiber.line);
      line = fiber.line;
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
    for (Fiber &fiber : block.fibers)
      fiber.state = State::Ready;
  }

  void run(Block &block, Fiber &fiber) {
    block_ = &block;
    current_ = &fiber;
#ifdef DBC_SHIM_ASAN
    __sanitizer_start_switch_fiber(&fake_stack_, fiber.stack.get(), kStack);
#endif
    swapcontext(&host_, &fiber.context);
#ifdef DBC_SHIM_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
    current_ = nullptr;
    block_ = nullptr;
  }
  /// From a fiber back to run().
  void leave([[maybe_unused]] bool for_good = false) {
    Fiber &fiber = *current_;
#ifdef DBC_SHIM_ASAN
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fiber.fake_stack, host_stack_, host_stack_bytes_);
#endif
    swapcontext(&fiber.context, &host_);
    arrive(fiber.fake_stack);
  }
  void arrive([[maybe_unused]] void *fake_stack) {
#ifdef DBC_SHIM_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, &host_stack_, &host_stack_bytes_);
#endif
  }

  std::mt19937_64 random_;
  std::function<void()> kernel_;
  Index grid_, size_;
  std::vector<std::unique_ptr<Block>> blocks_, spare_;
  int rubbish_ = 0xff;
  bool few_blocks_ = false; ///< with some seeds of the environment: blocks have more than one part to do
  size_t shared_ = 0;       ///< bytes that the launch asked for
  int64_t idle_ = 0;
  int32_t favoured_ = -1, warp_ = 0; ///< whose turn it is: number in blocks_, warp
  Block *block_ = nullptr;
  Fiber *current_ = nullptr;
  ucontext_t host_;
  std::string failure_;
#ifdef DBC_SHIM_ASAN
  void *fake_stack_ = nullptr;
  const void *host_stack_ = nullptr;
  size_t host_stack_bytes_ = 0;
#endif
};

} // namespace shim

inline int32_t atomicAdd(int32_t *at, int32_t value) { return std::exchange(*at, *at + value); }

/// Waiting in a loop for what another block does.
struct Spin {
  void wait() { shim::Machine::own().spin(); }
};

/// Runs a kernel to its end; what goes wrong is told by Backend::wait.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), int32_t blocks, size_t shared, void *, Parameters... arguments) {
  shim::Machine::own().launch([&] { kernel(arguments...); }, blocks, kThreads, shared, false);
}

/// The same where blocks wait for each other: a few, as on a device that is full.
template <class... Parameters>
void launch_cooperative(void (*kernel)(Parameters...), int32_t blocks, size_t shared, void *,
                        Parameters... arguments) {
  constexpr int32_t kMost = 4;
  shim::Machine::own().launch([&] { kernel(arguments...); }, std::min(blocks, kMost), kThreads, shared, true);
}

// A program may have several models: each has its own, and must not get one that runs on a card.
namespace {
const Backend &backend() {
  static const Backend backend = {
      [](int32_t device, void **stream) {
        static char only; // a stream is never null
        *stream = &only;
        return device == 0 ? Status()
                           : Status::error(Code::bad_call, "CUDA on the CPU: there is no device " +
                                                               std::to_string(device) + ", only device 0");
      },
      [](int32_t) {},
      [](void *) {},
      [](size_t bytes) { return std::malloc(bytes); },
      [](void *memory) { std::free(memory); },
      [](size_t bytes) { return std::malloc(bytes); },
      [](void *memory) { std::free(memory); },
      [](void *to, const void *from, size_t bytes, void *) { std::memcpy(to, from, bytes); },
      [](void *memory, size_t bytes, void *) { std::memset(memory, 0, bytes); },
      [](void *) {
        std::string failure = shim::Machine::own().take_failure();
        return failure.empty() ? Status() : Status::error(Code::internal, "CUDA on the CPU: " + failure);
      },
      [](void *memory, size_t bytes) { std::memset(memory, shim::Machine::own().rubbish(), bytes); },
  };
  return backend;
}
} // namespace

} // namespace dbc::cuda
