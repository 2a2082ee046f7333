// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The queue behind a Batcher. One mutex guards all of it; the batch function, and destructors of what users
// gave, run without it.
#include <dbc/batcher.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

namespace dbc::serve {

namespace {
using Clock = std::chrono::steady_clock;
using Lock = std::unique_lock<std::mutex>;
using Waiting = std::list<std::shared_ptr<Slot>>;

/// The queue whose worker this thread is.
thread_local const void *own_queue = nullptr;

/// Never throws: without memory there are no words.
Status failure(Code code, const std::string &name, const char *what, const char *more = "") noexcept {
  Status status;
  status.code = code;
  try {
    status.message = name + ": " + what + more;
  } catch (const std::bad_alloc &) {
    status.message.clear();
  }
  return status;
}

const char *wrong_option(const BatcherOptions &options) {
  if (options.max_batch < 1)
    return "the option `max_batch` is below 1";
  if (options.max_waiting < 1)
    return "the option `max_waiting` is below 1";
  if (options.workers < 1)
    return "the option `workers` is below 1";
  if (options.max_delay.count() < 0)
    return "the option `max_delay` is below 0";
  return nullptr;
}

Histogram make_histogram(std::vector<double> bounds) {
  Histogram histogram;
  histogram.counts.resize(bounds.size() + 1);
  histogram.bounds = std::move(bounds);
  return histogram;
}

/// 1, 2, 4 .. and `most`.
std::vector<double> powers_of_two(int32_t most) {
  std::vector<double> bounds;
  for (int64_t bound = 1; bound < most; bound *= 2)
    bounds.push_back(static_cast<double>(bound));
  bounds.push_back(most);
  return bounds;
}

void count(Histogram &histogram, double value) {
  const auto bound = std::lower_bound(histogram.bounds.begin(), histogram.bounds.end(), value);
  ++histogram.counts[static_cast<size_t>(bound - histogram.bounds.begin())];
  histogram.sum += value;
}
} // namespace

/// A batch has room for so many requests from the beginning; for more if there is memory when they come.
constexpr int32_t kReserved = 4096;

struct Queue::State {
  State(BatcherOptions given, Run function);

  const BatcherOptions options;
  const char *const wrong; ///< of the options; null: nothing
  Run run;                 ///< dropped with the threads: slots may live longer than what it refers to
  std::mutex joining;      ///< of the threads, once they have started
  std::vector<std::thread> threads;
  std::vector<Slots> batches; ///< each worker's, with the room that it needs

  mutable std::mutex mutex; ///< of what follows, and of slots
  std::condition_variable work, room;
  Waiting waiting;
  std::set<std::pair<Moment, Slot *>> deadlines; ///< of those that wait and have one
  int64_t last_batch = 1;                        ///< requests in it
  int64_t waiting_for_room = 0;
  bool closed = false, has_threads = false;
  BatcherCounters counters;

  bool full() const { return static_cast<int64_t>(waiting.size()) >= options.max_waiting; }
  bool enough() const {
    return static_cast<int64_t>(waiting.size()) >= std::min<int64_t>(options.max_batch, last_batch) || full();
  }
  Moment latest_start() const;
  Moment first_deadline() const { return deadlines.empty() ? Moment::max() : deadlines.begin()->first; }

  void leave(Slot &slot, Waiting &left);
  void give_up(Slot &slot, Code code, Waiting &left);
  void expire(Lock &lock);
  void wait_for_room(Lock &lock, Moment deadline);
  Status refuse(Code code, const char *what) noexcept;
  bool take(Slots &batch);
  void compute(const Slots &batch, int32_t worker) noexcept;
  void fail_rest(const Slots &batch, Code code, const char *what, const char *more = "") noexcept;
  void finish(const Slots &batch);
  void loop(int32_t worker);
  Status cancelled() const { return failure(Code::cancelled, options.name, "the request was cancelled"); }
};

Queue::State::State(BatcherOptions given, Run function)
    : options(std::move(given)), wrong(wrong_option(options)), run(std::move(function)) {
  counters.name = options.name;
  counters.batch_size = make_histogram(powers_of_two(options.max_batch));
  counters.seconds = make_histogram(
      {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});
  if (wrong)
    return;
  threads.reserve(static_cast<size_t>(options.workers));
  batches.resize(static_cast<size_t>(options.workers));
  for (Slots &batch : batches)
    batch.reserve(static_cast<size_t>(std::min({options.max_batch, options.max_waiting, kReserved})));
}

/// Until when a worker that is free may leave what waits alone.
Moment Queue::State::latest_start() const {
  const Moment since = waiting.front()->submitted_;
  return options.max_delay < Moment::max() - since ? since + options.max_delay : Moment::max();
}

/// Out of the queue, whose share of the slot goes to `left`, to be dropped without the mutex.
void Queue::State::leave(Slot &slot, Waiting &left) {
  left.splice(left.end(), waiting, slot.place_);
  if (slot.deadline_ != Moment::max())
    deadlines.erase({slot.deadline_, &slot});
  if (waiting_for_room > 0)
    room.notify_one();
}

/// One that waits is done, without having run.
void Queue::State::give_up(Slot &slot, Code code, Waiting &left) {
  leave(slot, left);
  slot.state_ = Slot::State::done;
  if (code == Code::deadline) {
    slot.outcome = failure(code, options.name, "the deadline passed before the request was run");
    ++counters.expired;
  } else {
    slot.outcome = cancelled();
    ++counters.cancelled;
  }
  slot.done_.notify_all();
}

/// Those whose deadline has passed are done. Whoever looks at the queue does this first; the mutex is free in
/// between.
void Queue::State::expire(Lock &lock) {
  if (deadlines.empty())
    return;
  Waiting left;
  const Moment now = Clock::now();
  while (first_deadline() <= now)
    give_up(*deadlines.begin()->second, Code::deadline, left);
  if (!left.empty()) {
    lock.unlock();
    left.clear();
    lock.lock();
  }
}

void Queue::State::wait_for_room(Lock &lock, Moment deadline) {
  ++waiting_for_room;
  while (full() && !closed && Clock::now() < deadline) {
    room.wait_until(lock, std::min(deadline, first_deadline()));
    expire(lock);
  }
  --waiting_for_room;
  // Whoever does not take the room that it was told of hands the word on.
  if (waiting_for_room > 0 && !full())
    room.notify_one();
}

Status Queue::State::refuse(Code code, const char *what) noexcept {
  ++counters.refused;
  return failure(code, options.name, what);
}

/// Whether a batch has room for one more, which is made where there is memory.
static bool has_room(Slots &batch) noexcept {
  if (batch.size() < batch.capacity())
    return true;
  try {
    batch.reserve(2 * batch.size());
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

/// Waits for a batch; false: there will be none any more.
bool Queue::State::take(Slots &batch) {
  Waiting left;
  Lock lock(mutex);
  for (;;) {
    expire(lock);
    if (waiting.empty()) {
      if (closed)
        return false;
      work.wait(lock);
    } else if (closed || enough() || Clock::now() >= latest_start()) {
      break;
    } else {
      work.wait_until(lock, std::min(latest_start(), first_deadline()));
    }
  }
  while (!waiting.empty() && batch.size() < static_cast<size_t>(options.max_batch) && has_room(batch)) {
    batch.push_back(waiting.front());
    batch.back()->state_ = Slot::State::running;
    leave(*batch.back(), left);
  }
  last_batch = static_cast<int64_t>(batch.size());
  counters.running += batch.size();
  count(counters.batch_size, static_cast<double>(batch.size()));
  if (!waiting.empty())
    work.notify_one();
  return true;
}

/// Calls the batch function; then each slot has its outcome.
void Queue::State::compute(const Slots &batch, int32_t worker) noexcept {
  try {
    run(batch, worker);
    fail_rest(batch, Code::bad_call, "the batch function gave no answer");
  } catch (const std::bad_alloc &) {
    fail_rest(batch, Code::limit, "the batch function found no memory");
  } catch (const std::exception &thrown) {
    fail_rest(batch, Code::bad_call, "the batch function threw: ", thrown.what());
  } catch (...) {
    fail_rest(batch, Code::bad_call, "the batch function threw what is no std::exception");
  }
}

void Queue::State::fail_rest(const Slots &batch, Code code, const char *what, const char *more) noexcept {
  for (const std::shared_ptr<Slot> &slot : batch)
    if (!slot->said)
      slot->outcome = failure(code, options.name, what, more);
}

void Queue::State::finish(const Slots &batch) {
  {
    Lock lock(mutex);
    const Moment now = Clock::now();
    for (const std::shared_ptr<Slot> &slot : batch) {
      if (slot->state_ == Slot::State::dropped)
        continue;
      slot->state_ = Slot::State::done;
      --counters.running;
      ++(slot->outcome.ok() ? counters.answered : counters.failed);
      count(counters.seconds, std::chrono::duration<double>(now - slot->submitted_).count());
    }
  }
  // Without the mutex, for which they would wait at once. The batch keeps the slots until all are told.
  for (const std::shared_ptr<Slot> &slot : batch)
    slot->done_.notify_all();
}

void Queue::State::loop(int32_t worker) {
  own_queue = this;
  Slots &batch = batches[static_cast<size_t>(worker)];
  while (take(batch)) {
    compute(batch, worker);
    finish(batch);
    batch.clear();
  }
}

Queue::Queue(BatcherOptions options, Run run)
    : state_(std::make_unique<State>(std::move(options), std::move(run))) {
  State &s = *state_;
  if (s.wrong)
    return;
  Lock lock(s.mutex);
  try {
    for (int32_t worker = 0; worker < s.options.workers; ++worker)
      s.threads.emplace_back([&s, worker] { s.loop(worker); });
  } catch (const std::exception &) {
    // There are no more threads, or no memory for them: those that there are must do.
  }
  s.has_threads = !s.threads.empty();
}

/// The batcher has closed it.
Queue::~Queue() = default;

Status Queue::submit(const std::shared_ptr<Slot> &slot, Moment deadline, bool wait_for_room) {
  State &s = *state_;
  Waiting place(1, slot);
  slot->place_ = place.begin();
  slot->submitted_ = Clock::now();
  slot->deadline_ = deadline;

  Lock lock(s.mutex);
  if (s.wrong)
    return s.refuse(Code::bad_call, s.wrong);
  if (!s.has_threads)
    return s.refuse(Code::limit, "no thread could be started");
  s.expire(lock);
  if (wait_for_room && own_queue != &s) // its own threads are who makes room
    s.wait_for_room(lock, deadline);
  if (s.closed)
    return s.refuse(Code::unavailable, "closed, requests are not taken any more");
  if (deadline != Moment::max())
    s.deadlines.emplace(deadline, slot.get());
  if (deadline <= Clock::now()) { // in the queue for this moment, as the others were
    s.waiting.splice(s.waiting.end(), place);
    s.give_up(*slot, Code::deadline, place);
    return Status();
  }
  if (s.full()) {
    s.deadlines.erase({deadline, slot.get()});
    return s.refuse(Code::unavailable, "too many requests wait, this one is refused");
  }
  s.waiting.splice(s.waiting.end(), place);
  // Those between the first and the last of a batch do not concern the worker that waits for it.
  if (s.waiting.size() == 1 || s.enough() || (deadline != Moment::max() && s.first_deadline() == deadline))
    s.work.notify_one();
  return Status();
}

bool Queue::wait(Slot &slot, Moment until) {
  State &s = *state_;
  Lock lock(s.mutex);
  for (;;) {
    s.expire(lock);
    if (slot.state_ == Slot::State::done || slot.state_ == Slot::State::dropped)
      return true;
    if (Clock::now() >= until)
      return false;
    slot.done_.wait_until(lock,
                          slot.state_ == Slot::State::waiting ? std::min(until, slot.deadline_) : until);
  }
}

Status Queue::get(Slot &slot) {
  Lock lock(state_->mutex);
  return slot.state_ == Slot::State::dropped ? state_->cancelled() : std::move(slot.outcome);
}

bool Queue::cancel(Slot &slot) {
  State &s = *state_;
  Waiting left;
  Lock lock(s.mutex);
  s.expire(lock);
  if (slot.state_ == Slot::State::waiting) {
    s.give_up(slot, Code::cancelled, left);
    return true;
  }
  if (slot.state_ != Slot::State::running)
    return false;
  slot.state_ = Slot::State::dropped;
  --s.counters.running;
  ++s.counters.cancelled;
  return true;
}

Status Queue::refuse() noexcept {
  Lock lock(state_->mutex);
  return state_->refuse(Code::limit, "there is no memory for the request");
}

void Queue::close(bool run_what_waits) {
  State &s = *state_;
  {
    Waiting left;
    Lock lock(s.mutex);
    s.closed = true;
    while (!run_what_waits && !s.waiting.empty())
      s.give_up(*s.waiting.front(), Code::cancelled, left);
  }
  s.work.notify_all();
  s.room.notify_all();
  if (own_queue == &s)
    return;
  Lock lock(s.joining);
  for (std::thread &thread : s.threads)
    thread.join();
  s.threads.clear();
  s.run = nullptr;
}

BatcherCounters Queue::counters() const {
  Lock lock(state_->mutex);
  BatcherCounters counters = state_->counters;
  counters.waiting = state_->waiting.size();
  return counters;
}

} // namespace dbc::serve
