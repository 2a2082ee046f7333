// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which warp runs next, and where threads meet. Here and not in a header, so that kernels that are compiled
// without optimisation, as most tests do, switch threads quickly.
#include <dbc/counted.h>
#include <dbc/cuda/shim_machine.h>

#include "Fiber.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <tuple>

namespace dbc::cuda::shim {

struct Machine::State {
  static constexpr size_t kBlocks = 3; ///< that are there at once
  static constexpr int32_t kWarp = 32;
  enum class Where { Ready, Spinning, WaitingForWarp, Waiting, Done };
  static constexpr int64_t kIdle = 100'000; ///< rounds in which threads only spin, until all are given up
  struct Copy {
    float *to, numbers[4];
    int32_t size, group;
  };
  struct Thread {
    Fiber fiber;
    Index thread;
    Where state = Where::Ready;
    int32_t line = 0; ///< of the barrier at which it waits
    Progress at;      ///< where it spins
    int32_t exchanges = 0;
    std::vector<Copy> copies; ///< that have not landed
    int32_t copy_groups = 0;  ///< that are at an end
  };
  struct Warp {
    float mail[2][kWarp][4]; ///< that of this exchange, and that of the one before
  };
  /// An array that threads of a block share: where it is in the source, and in the memory of a GPU.
  struct Shared {
    int32_t line;
    const char *function;
    size_t begin, end;
    std::unique_ptr<unsigned char[]> memory;
  };
  struct ThreadBlock {
    Index index;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<Shared> shared;
  };

  State() {
    const char *given = std::getenv("DBC_SHIM_SEED");
    const uint64_t number = given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
    seed(number);
    few_blocks_ = number % 3 == 1;
    rubbish_ = number % 3 == 2 ? 0 : 0xff;
    co_resident_ = number % 3 == 2 ? 16 : 4;
  }

  void seed(uint64_t number) { random_.seed(number + 1); }

  void launch(std::function<void()> kernel, Index grid, int32_t threads, size_t shared, bool cooperative) {
    if (!failure_.empty())
      return;
    shared_ = shared;
    if (few_blocks_ && !cooperative)
      grid.x = 1 + static_cast<int32_t>(random_() % static_cast<uint64_t>(grid.x));
    kernel_ = std::move(kernel);
    grid_ = grid;
    size_ = {threads, 1};
    idle_ = 0;
    std::vector<int32_t> waiting(static_cast<size_t>(grid.x) * static_cast<size_t>(grid.y));
    const size_t at_once = cooperative ? waiting.size() : kBlocks;
    for (size_t n = 0; n < waiting.size(); ++n)
      waiting[n] = static_cast<int32_t>(n);
    std::shuffle(waiting.begin(), waiting.end(), random_);
    while (failure_.empty() && (!waiting.empty() || !blocks_.empty())) {
      while (blocks_.size() < at_once && !waiting.empty()) {
        begin(waiting.back());
        waiting.pop_back();
      }
      run_warp();
    }
    for (auto &block : blocks_)
      spare_.push_back(std::move(block));
    blocks_.clear();
  }

  const float (*exchange(const float (&mine)[4]))[4] {
    Warp &warp = block_->warps[static_cast<size_t>(current_->thread.x / kWarp)];
    const int32_t parity = current_->exchanges++ % 2;
    std::copy(mine, mine + 4, warp.mail[parity][current_->thread.x % kWarp]);
    warp_barrier(0);
    return warp.mail[parity];
  }

  /// Whether it lies in memory that the threads of the block in hand share.
  bool is_shared(const void *at) const {
    const auto *byte = static_cast<const unsigned char *>(at);
    return std::any_of(block_->shared.begin(), block_->shared.end(), [&](const auto &each) {
      return byte >= each.memory.get() && byte < each.memory.get() + (each.end - each.begin);
    });
  }
  void *shared(int32_t line, const char *function, size_t offset, size_t bytes) {
    const size_t end = offset + bytes;
    for (Shared &other : block_->shared)
      if (other.line == line)
        return other.memory.get();
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
    return block_->shared.back().memory.get();
  }

  void warp_barrier(int32_t line) { leave(Where::WaitingForWarp, line); }
  void leave(Where state, int32_t line) {
    current_->state = state;
    current_->line = line;
    current_->fiber.leave();
  }

  void fail(const std::string &why) {
    if (failure_.empty())
      failure_ = why;
  }

  static bool at_once(const char *function, const char *other) {
    return function == nullptr || other == nullptr || std::strcmp(function, other) == 0;
  }

  /// A block's threads, at their beginning.
  void begin(int32_t number) {
    if (spare_.empty())
      spare_.push_back(std::make_unique<ThreadBlock>());
    std::unique_ptr<ThreadBlock> block = std::move(spare_.back());
    spare_.pop_back();
    block->index = {number % grid_.x, number / grid_.x};
    block->shared.clear();
    block->threads.resize(size_.x);
    block->warps.resize((size_.x + kWarp - 1) / kWarp);
    for (int32_t t = 0; t < size_.x; ++t) {
      Thread &thread = block->threads[t];
      thread.thread = {t};
      thread.state = Where::Ready;
      thread.exchanges = 0;
      thread.copies.clear();
      thread.copy_groups = 0;
      thread.fiber.begin(&State::start);
    }
    blocks_.push_back(std::move(block));
    favoured_ = -1;
  }

  static void start() {
    State &machine = *own().state_;
    machine.kernel_();
    if (!machine.current_->copies.empty())
      machine.fail("a thread ends that began " + counted(machine.current_->copies.size(),
                                                         "copy and did not wait for it",
                                                         "copies and did not wait for them"));
    machine.current_->state = Where::Done;
  }

  /// One warp runs until each of its threads waits or is done.
  void run_warp() {
    if (favoured_ < 0 || random_() % 4 == 0 || !any_ready(*blocks_[favoured_], warp_)) {
      std::vector<std::pair<int32_t, int32_t>> able;
      for (size_t b = 0; b < blocks_.size(); ++b)
        for (int32_t w = 0; w * kWarp < size_.x; ++w)
          if (any_ready(*blocks_[b], w))
            able.emplace_back(static_cast<int32_t>(b), w);
      if (able.empty() || ++idle_ > kIdle) {
        failure_ = "no thread of a kernel can go on";
        for (const auto &block : blocks_)
          failure_ += (&block == &blocks_.front() ? ": " : ", ") + describe(*block);
        return;
      }
      std::tie(favoured_, warp_) = able[random_() % able.size()];
    }
    ThreadBlock &block = *blocks_[favoured_];
    const int32_t first = warp_ * kWarp, count = std::min(kWarp, size_.x - first);
    const int32_t from = static_cast<int32_t>(random_() % static_cast<uint64_t>(count));
    for (int32_t n = 0; n < count; ++n) {
      Thread &thread = block.threads[first + (from + n) % count];
      if (can_run(thread)) {
        run(block, thread);
        if (thread.state != Where::Spinning)
          idle_ = 0;
      }
    }
    if (meet_in_warp(block, first, count))
      meet(block);
  }

  /// Which block it is, and how far those of its threads came that spin.
  std::string describe(const ThreadBlock &block) const {
    std::string words = "block " + std::to_string(block.index.y * grid_.x + block.index.x);
    for (const Thread &thread : block.threads)
      if (thread.state == Where::Spinning && thread.at.stage != nullptr)
        return words + " at " + thread.at.stage + " (level or step " + std::to_string(thread.at.time_step) +
               ", row " + std::to_string(thread.at.row) + ")";
    return words;
  }

  static bool can_run(const Thread &thread) {
    return thread.state == Where::Ready || thread.state == Where::Spinning;
  }
  bool any_ready(const ThreadBlock &block, int32_t warp) const {
    for (int32_t t = warp * kWarp; t < std::min((warp + 1) * kWarp, size_.x); ++t)
      if (can_run(block.threads[t]))
        return true;
    return false;
  }

  /// Where all threads of a warp wait for it, they go on. Whether none does.
  bool meet_in_warp(ThreadBlock &block, int32_t first, int32_t count) {
    int32_t waiting = 0, gone = 0, line = 0;
    for (int32_t t = first; t < first + count; ++t) {
      const Thread &thread = block.threads[t];
      if (can_run(thread))
        return false;
      if (thread.state != Where::WaitingForWarp) {
        ++gone;
        continue;
      }
      if (waiting++ > 0 && thread.line != line)
        failure_ = "threads of a warp wait for it at two places, in lines " + std::to_string(line) + " and " +
                   std::to_string(thread.line);
      line = thread.line;
    }
    if (waiting > 0 && gone > 0)
      failure_ = counted(gone, "thread of a warp ends or waits", "threads of a warp end or wait") +
                 " for the block while " + counted(waiting, "waits", "wait") + " for the warp in line " +
                 std::to_string(line);
    if (waiting == 0)
      return true;
    for (int32_t t = first; t < first + count; ++t)
      block.threads[t].state = Where::Ready;
    return false;
  }

  /// Where all threads of a block wait, they go on; where all are done, the block ends.
  void meet(ThreadBlock &block) {
    int32_t waiting = 0, done = 0, line = 0;
    for (const Thread &thread : block.threads) {
      if (can_run(thread) || thread.state == Where::WaitingForWarp)
        return;
      if (thread.state == Where::Done) {
        ++done;
        continue;
      }
      if (waiting++ > 0 && thread.line != line)
        failure_ = "threads of a block wait at two barriers, in lines " + std::to_string(line) + " and " +
                   std::to_string(thread.line);
      line = thread.line;
    }
    if (waiting > 0 && done > 0)
      failure_ = counted(done, "thread of a block ends", "threads of a block end") + " while " +
                 counted(waiting, "waits", "wait") + " at the barrier in line " + std::to_string(line);
    if (!failure_.empty())
      return;
    if (done > 0) {
      spare_.push_back(std::move(blocks_[favoured_]));
      blocks_.erase(blocks_.begin() + favoured_);
      favoured_ = -1;
      return;
    }
    for (Thread &thread : block.threads)
      thread.state = Where::Ready;
  }

  void run(ThreadBlock &block, Thread &thread) {
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
  std::vector<std::unique_ptr<ThreadBlock>> blocks_, spare_;
  int rubbish_ = 0xff;
  int32_t co_resident_ = 4;
  bool few_blocks_ = false; ///< with some seeds of the environment: blocks have more than one item to do
  size_t shared_ = 0;       ///< bytes that the launch asked for
  int64_t idle_ = 0;
  int32_t favoured_ = -1, warp_ = 0; ///< what runs next: number in blocks_, warp
  ThreadBlock *block_ = nullptr;
  Thread *current_ = nullptr;
  std::string failure_;
};

Machine &Machine::own() {
  static thread_local Machine machine;
  return machine;
}
Machine::Machine() : state_(std::make_unique<State>()) {}
Machine::~Machine() = default;

void Machine::seed(uint64_t number) { state_->seed(number); }
void Machine::launch(std::function<void()> kernel, Index grid, int32_t threads, size_t shared,
                     bool cooperative) {
  state_->launch(std::move(kernel), grid, threads, shared, cooperative);
}

void Machine::perform(const std::function<void()> &work) {
  if (state_->resting_)
    return;
  if (state_->capturing_)
    state_->captured_.push_back(work);
  else
    work();
}
void Machine::rest() { state_->resting_ = true; }
bool Machine::resting() const { return state_->resting_; }
void Machine::capture() { state_->capturing_ = true; }
bool Machine::capturing() const { return state_->capturing_; }
Machine::Graph Machine::end_capture() {
  state_->capturing_ = false;
  return std::exchange(state_->captured_, Graph());
}

int32_t Machine::co_resident() const { return state_->co_resident_; }
int Machine::rubbish() const { return state_->rubbish_; }
std::string Machine::take_failure() { return std::exchange(state_->failure_, std::string()); }
void Machine::fail(const std::string &why) { state_->fail(why); }

const Index &Machine::thread() const { return state_->current_->thread; }
const Index &Machine::block() const { return state_->block_->index; }
const Index &Machine::block_size() const { return state_->size_; }
const Index &Machine::grid_size() const { return state_->grid_; }

void Machine::barrier(int32_t line) { state_->leave(State::Where::Waiting, line); }
void Machine::warp_barrier(int32_t line) { state_->warp_barrier(line); }
void Machine::spin(const Progress &at) {
  state_->current_->at = at;
  state_->leave(State::Where::Spinning, state_->current_->line);
}
void Machine::copy_later(float *to, const float *from, int32_t size, int32_t count) {
  const size_t bytes = static_cast<size_t>(size) * sizeof(float);
  if (reinterpret_cast<uintptr_t>(to) % bytes != 0 || reinterpret_cast<uintptr_t>(from) % bytes != 0)
    fail("numbers are copied that begin at no multiple of their bytes");
  if (count > 0 && state_->is_shared(from))
    fail("numbers are copied asynchronously out of shared memory, which a GPU cannot");
  State::Copy copy = {to, {}, size, state_->current_->copy_groups};
  std::copy(from, from + count, copy.numbers);
  state_->current_->copies.push_back(copy);
}
void Machine::end_copy_group() { ++state_->current_->copy_groups; }
void Machine::land_copies(int32_t pending) {
  State::Thread &thread = *state_->current_;
  auto landed = std::find_if(thread.copies.begin(), thread.copies.end(), [&](const State::Copy &copy) {
    return copy.group >= thread.copy_groups - pending;
  });
  for (auto copy = thread.copies.begin(); copy != landed; ++copy)
    std::copy(copy->numbers, copy->numbers + copy->size, copy->to);
  thread.copies.erase(thread.copies.begin(), landed);
}
void Machine::land_copies() { land_copies(-1); }
const float (*Machine::exchange(const float (&mine)[4]))[4] { return state_->exchange(mine); }
void *Machine::shared(int32_t line, const char *function, size_t offset, size_t bytes) {
  return state_->shared(line, function, offset, bytes);
}

static unsigned char guard_byte(const unsigned char *at) {
  constexpr unsigned char kBytes[4] = {0xc0, 0xdb, 0xfb, 0xff};
  return kBytes[reinterpret_cast<uintptr_t>(at) % 4];
}
void set_guard_zone(void *memory, size_t bytes, bool up) {
  auto *const at = static_cast<unsigned char *>(memory);
  if (!up || Machine::own().resting())
    return;
  for (size_t n = 0; n < bytes; ++n)
    at[n] = guard_byte(at + n);
}
size_t untouched(const void *memory, size_t bytes) {
  const auto *const at = static_cast<const unsigned char *>(memory);
  if (Machine::own().resting())
    return bytes;
  size_t n = 0;
  while (n < bytes && at[n] == guard_byte(at + n))
    ++n;
  return n;
}

} // namespace dbc::cuda::shim
