// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Serving: requests that come one by one, from many threads, are gathered and computed as batches.
#pragma once

#include <dbc/status.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dbc {

/// How a Batcher gathers.
struct BatcherOptions {
  std::string name = "batcher";          ///< stands in messages and counters: the model's, say
  int32_t max_batch = 64;                ///< requests in a batch, at most
  std::chrono::nanoseconds max_delay{0}; ///< for how long a request may wait for others, see Batcher
  int32_t max_waiting = 1024;            ///< requests in the queue, at most
  int32_t workers = 1;                   ///< threads that run batches
};

/// How many values were in which range.
struct Histogram {
  std::vector<double> bounds;   ///< ascending; a value is counted at the first bound that it does not exceed
  std::vector<uint64_t> counts; ///< one for each bound, and one for what is beyond the last
  double sum = 0;               ///< of the values
};

/// What a Batcher has done, at one moment. Each request that was submitted is counted in exactly one of the
/// seven.
struct BatcherCounters {
  std::string name;       ///< BatcherOptions::name
  uint64_t answered = 0;  ///< have an answer
  uint64_t failed = 0;    ///< were run and have none
  uint64_t cancelled = 0; ///< by their owner, or by stop()
  uint64_t expired = 0;   ///< their deadline passed before they were run
  uint64_t refused = 0;   ///< were never in the queue
  uint64_t waiting = 0;   ///< are in the queue
  uint64_t running = 0;   ///< are computed
  Histogram batch_size;   ///< requests of each batch that was begun
  Histogram seconds;      ///< from submission to the end, of requests that were answered or failed
};

/// The counters of some batchers in Prometheus' text format, what a server has to give at /metrics as
/// `text/plain; version=0.0.4`. Their names, the label `batcher`, should differ.
std::string prometheus_text(const std::vector<BatcherCounters> &batchers);

/// A moment by the clock that is never set back: `std::chrono::steady_clock::now() + 50ms`.
using Moment = std::chrono::steady_clock::time_point;

namespace serve {

/// A request in a queue, of any type.
struct Slot {
  virtual ~Slot() = default;

  // Of the worker while the request runs, and then of Queue::get().
  Status outcome;
  bool said = false; ///< the batch function said what becomes of it

private:
  friend class Queue;
  /// `dropped`: cancelled while it runs, so that the outcome is still the worker's.
  enum class State : uint8_t { waiting, running, done, dropped };
  // Guarded by the queue's mutex.
  State state_ = State::waiting;
  Moment submitted_, deadline_;
  std::list<std::shared_ptr<Slot>>::iterator place_; ///< in the queue, while it waits
  std::condition_variable done_;
};

using Slots = std::vector<std::shared_ptr<Slot>>;

/// The queue of a Batcher, and its threads.
class Queue {
public:
  using Run = std::function<void(const Slots &batch, int32_t worker)>;

  /// May throw std::bad_alloc.
  Queue(BatcherOptions options, Run run);
  ~Queue();

  /// Not ok: refused, and the slot is the caller's alone. May throw std::bad_alloc.
  Status submit(const std::shared_ptr<Slot> &slot, Moment deadline, bool wait_for_room);
  // Of slots that were submitted. Whether it is done, by `until` at the latest:
  bool wait(Slot &slot, Moment until);
  /// Once it is done; once.
  Status get(Slot &slot);
  bool cancel(Slot &slot);
  /// Counts a request that there was no memory for; its status.
  Status refuse() noexcept;

  /// Takes no more requests, and returns when all are done and the threads have ended.
  void close(bool run_what_waits);
  BatcherCounters counters() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A slot with room for the answer.
template <class Answer> struct AnswerSlot : Slot { std::optional<Answer> answer; };

/// A slot with the request.
template <class Request, class Answer> struct RequestSlot : AnswerSlot<Answer> {
  explicit RequestSlot(Request request) : request(std::move(request)) {}
  Request request;
};

} // namespace serve

/// The requests of one batch in the order in which they were submitted, and room for their answers. For the
/// batch function, until it returns; as its results are all there at the end, that is when the requests are
/// done. A position outside 0 .. size() - 1 throws std::out_of_range.
template <class Request, class Answer> class Requests {
public:
  int32_t size() const { return static_cast<int32_t>(slots_.size()); }
  /// The thread that runs this batch, 0 .. BatcherOptions::workers - 1: each needs a session of its own.
  int32_t worker() const { return worker_; }
  /// May be moved from.
  Request &operator[](int32_t i) { return slot(i).request; }
  /// The answer of request i. What is said last of a request counts.
  void answer(int32_t i, Answer answer) {
    Slot &to = slot(i);
    to.said = false;
    to.answer.emplace(std::move(answer));
    to.outcome = Status();
    to.said = true;
  }
  /// Request i has no answer, but this status; the others are not concerned.
  void fail(int32_t i, Status status) {
    Slot &to = slot(i);
    to.said = !status.ok();
    to.outcome = std::move(status);
  }

private:
  template <class, class> friend class Batcher;
  using Slot = serve::RequestSlot<Request, Answer>;
  Requests(const serve::Slots &slots, int32_t worker) : slots_(slots), worker_(worker) {}
  Slot &slot(int32_t i) const { return static_cast<Slot &>(*slots_.at(static_cast<size_t>(i))); }

  const serve::Slots &slots_;
  int32_t worker_;
};

/// What one request will give. For one thread at a time, whichever; may be moved, and may outlive its
/// batcher. One that is dropped does not cancel its request.
template <class Answer> class Pending {
public:
  /// No request: get() fails with bad_call.
  Pending() = default;
  Pending(Pending &&) = default;
  Pending &operator=(Pending &&) = default;

  /// Whether get() returns at once.
  bool ready() const { return wait_until(Moment::min()); }
  /// Waits until that is so, but no longer than until `until`; whether it is so.
  bool wait_until(Moment until) const { return !slot_ || queue_->wait(*slot_, until); }

  /// Waits until the request is done, and moves what it gave to `answer`; nothing is left here, a second call
  /// fails with bad_call. Not for the batch function: its own batcher's requests may wait for it. Codes:
  ///   unavailable   refused: the queue was full, or the batcher closed
  ///   cancelled     by cancel() or stop()
  ///   deadline      it passed before the request was run
  ///   bad_call      the batch function threw (limit: std::bad_alloc), or said nothing of the request;
  ///   options are wrong limit         no memory, or no thread others        of the batch function
  Status get(Answer *answer) {
    wait_until(Moment::max());
    Status status = slot_ ? queue_->get(*slot_) : std::move(refusal_);
    if (!slot_ && status.ok())
      return Status::error(Code::bad_call, "there is no request, or what it gave was taken");
    if (status.ok())
      *answer = std::move(*slot_->answer);
    *this = Pending();
    return status;
  }

  /// Takes the request out of the queue; one that is being computed is left alone, and its answer dropped.
  /// Its status is `cancelled`. False: it was done before, and stays as it was.
  bool cancel() { return slot_ && queue_->cancel(*slot_); }

private:
  template <class, class> friend class Batcher;
  std::shared_ptr<serve::Queue> queue_;
  std::shared_ptr<serve::AnswerSlot<Answer>> slot_; ///< null: there is none
  Status refusal_;
};

/// Gathers requests and hands them in batches to a function, on threads of its own:
///
///   dbc::Batcher<Tree, Scores> batcher(options, [&](dbc::Requests<Tree, Scores> &requests) { .. });
///   dbc::Pending<Scores> pending = batcher.submit(tree);
///   dbc::Status status = pending.get(&scores);
///
/// The queue is first in, first out. By default a worker that is free takes at once all that waits,
/// `max_batch` at most: the next batch gathers while one is computed, batches grow with the load, and no
/// processor is idle while a request waits. That is best where requests are computed about as fast alone as
/// together, as on a CPU (docs/serving.md has figures).
///
/// With `max_delay` it takes them as soon as as many wait as there were in the last batch, or the oldest has
/// waited for so long. Clients that got their answers together and ask again are then computed together
/// again, which pays where a batch takes about as long as a request alone; who comes alone still waits for
/// nobody, but for the first time after a batch of several.
///
/// Thread-safe. Every request that is submitted is done exactly once, whatever happens: refused, cancelled,
/// expired, failed, or answered.
template <class Request, class Answer> class Batcher {
public:
  /// Computes a batch: answers its requests or fails them. Called by several threads at once if there are
  /// several workers. What it throws fails the requests that have no answer by then, with bad_call, or limit
  /// for std::bad_alloc.
  using Run = std::function<void(Requests<Request, Answer> &)>;

  /// Never throws: options that are wrong, and what there is no memory for, are said by every request. Where
  /// threads cannot be started there are fewer.
  Batcher(BatcherOptions options, Run run) noexcept {
    try {
      queue_ = std::make_shared<serve::Queue>(
          std::move(options), [run = std::move(run)](const serve::Slots &slots, int32_t worker) {
            Requests<Request, Answer> requests(slots, worker);
            run(requests);
          });
    } catch (const std::bad_alloc &) {
      // submit() says so.
    }
  }
  /// As drain(); not by the batch function, whose thread must end first.
  ~Batcher() { drain(); }
  Batcher(const Batcher &) = delete;
  Batcher &operator=(const Batcher &) = delete;

  /// Never blocks: where `max_waiting` requests wait, or after drain() or stop(), the request is refused. One
  /// whose deadline passes before it is run is not run; one that runs by then gets its answer. Throws only
  /// what moving a request throws.
  Pending<Answer> submit(Request request, Moment deadline = Moment::max()) {
    return submit(std::move(request), deadline, false);
  }
  /// The same, but where too many wait, waits for room, no longer than until the deadline. The batch function
  /// itself does not wait: where there is no room it is refused.
  Pending<Answer> submit_waiting(Request request, Moment deadline = Moment::max()) {
    return submit(std::move(request), deadline, true);
  }

  /// Refuses requests from now on, runs those that wait, and returns when all are done and the threads have
  /// ended. stop() cancels those that wait, also while another thread drains; batches that run end. Called by
  /// the batch function they return at once.
  void drain() { close(true); }
  void stop() { close(false); }

  BatcherCounters counters() const { return queue_ ? queue_->counters() : BatcherCounters(); }

private:
  Pending<Answer> submit(Request request, Moment deadline, bool wait_for_room) {
    Pending<Answer> pending;
    if (!queue_) {
      pending.refusal_.code = Code::limit;
      return pending;
    }
    try {
      auto slot = std::make_shared<serve::RequestSlot<Request, Answer>>(std::move(request));
      pending.refusal_ = queue_->submit(slot, deadline, wait_for_room);
      if (pending.refusal_.ok()) {
        pending.queue_ = queue_;
        pending.slot_ = std::move(slot);
      }
    } catch (const std::bad_alloc &) {
      pending.refusal_ = queue_->refuse();
    }
    return pending;
  }
  void close(bool run_what_waits) {
    if (queue_)
      queue_->close(run_what_waits);
  }

  std::shared_ptr<serve::Queue> queue_; ///< null: there was no memory for it
};

} // namespace dbc
