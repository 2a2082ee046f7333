// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Threads that wait for work by spinning a little, then sleeping.
#include <dbc/pool.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dbc {

namespace {
/// Some microseconds: about what sleeping and waking cost.
constexpr int kSpins = 2000;

inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}
} // namespace

struct Pool::State {
  // What is to be done; written by the caller before `round` moves on.
  Job job = nullptr;
  void *context = nullptr;
  int32_t chunks = 0;

  std::atomic<uint32_t> round{0};     ///< one more for each dispatch
  std::atomic<int32_t> unfinished{0}; ///< workers other than the caller that are still at it
  std::atomic<int32_t> sleeping{0};
  bool stop = false;
  int32_t spins = kSpins;
  std::mutex mutex;
  std::condition_variable wake, done;
  std::vector<std::thread> threads;

  void work(int32_t worker, int32_t workers) {
    for (int32_t c = worker; c < chunks; c += workers)
      job(context, c, worker);
  }

  void loop(int32_t worker) {
    uint32_t seen = 0;
    for (;;) {
      for (int s = 0; s < spins && round.load(std::memory_order_acquire) == seen; ++s)
        relax();
      if (round.load(std::memory_order_acquire) == seen) {
        std::unique_lock<std::mutex> lock(mutex);
        ++sleeping;
        wake.wait(lock, [&] { return round.load(std::memory_order_acquire) != seen; });
        --sleeping;
      }
      seen = round.load(std::memory_order_acquire);
      if (stop)
        return;
      work(worker, static_cast<int32_t>(threads.size()) + 1);
      if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        std::lock_guard<std::mutex> lock(mutex); // the caller may be about to sleep
        done.notify_one();
      }
    }
  }

  void announce() {
    {
      // Under the lock, so that a worker that has just decided to sleep does not miss it.
      std::lock_guard<std::mutex> lock(mutex);
      round.fetch_add(1, std::memory_order_release);
    }
    if (sleeping.load() > 0)
      wake.notify_all();
  }
};

Pool::Pool(int32_t threads) noexcept {
  if (threads <= 1)
    return;
  // Spinning only steals time where there are more threads than processors.
  unsigned processors = std::thread::hardware_concurrency();
  try {
    state_ = std::make_unique<State>();
    if (processors > 0 && static_cast<unsigned>(threads) > processors)
      state_->spins = 0;
    // Workers read the size of `threads` only after the first dispatch, when it no longer changes.
    state_->threads.reserve(threads - 1);
    for (int32_t w = 1; w < threads; ++w)
      state_->threads.emplace_back([s = state_.get(), w] { s->loop(w); });
  } catch (const std::exception &) {
    // There are no more threads, or no memory for them: those that there are must do. No result depends on
    // their number.
  }
}

Pool::~Pool() {
  if (!state_)
    return;
  state_->stop = true;
  state_->announce();
  for (std::thread &t : state_->threads)
    t.join();
}

int32_t Pool::threads() const { return state_ ? static_cast<int32_t>(state_->threads.size()) + 1 : 1; }

void Pool::dispatch(int32_t chunks, Job job, void *context) {
  State &s = *state_;
  s.job = job;
  s.context = context;
  s.chunks = chunks;
  s.unfinished.store(static_cast<int32_t>(s.threads.size()), std::memory_order_relaxed);
  s.announce();
  s.work(0, threads());
  for (int i = 0; i < s.spins && s.unfinished.load(std::memory_order_acquire) > 0; ++i)
    relax();
  if (s.unfinished.load(std::memory_order_acquire) > 0) {
    std::unique_lock<std::mutex> lock(s.mutex);
    s.done.wait(lock, [&] { return s.unfinished.load(std::memory_order_acquire) == 0; });
  }
}

} // namespace dbc
