// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A batcher of numbers: how it gathers, what becomes of each request, and what it counts.
#include <dbc/batcher.h>

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using dbc::BatcherCounters;
using dbc::BatcherOptions;
using dbc::Code;
using dbc::Moment;
using dbc::Status;
using Batcher = dbc::Batcher<int, int>;
using Pending = dbc::Pending<int>;
using Requests = dbc::Requests<int, int>;

Moment after(std::chrono::nanoseconds delay) { return std::chrono::steady_clock::now() + delay; }

/// What a request gave: the number, or the code's name.
std::string result(Pending &pending) {
  int answer = 0;
  Status status = pending.get(&answer);
  return status.ok() ? std::to_string(answer) : dbc::code_name(status.code);
}

/// What is said of a request that failed.
std::string message(Pending &pending) {
  int answer = 0;
  return pending.get(&answer).message;
}

/// A batch function that doubles, and stops in each batch until it is open.
class Gate {
public:
  void operator()(Requests &requests) {
    std::vector<int> batch;
    for (int i = 0; i < requests.size(); ++i)
      batch.push_back(requests[i]);
    std::unique_lock<std::mutex> lock(mutex_);
    batches_.push_back(batch);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    for (int i = 0; i < requests.size(); ++i)
      requests.answer(i, 2 * requests[i]);
  }
  void wait_for_batches(int begun) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= begun; });
  }
  void open() {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  std::vector<std::vector<int>> batches() {
    std::lock_guard<std::mutex> lock(mutex_);
    return batches_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<int>> batches_;
  int begun_ = 0;
  bool open_ = false;
};

/// A batcher behind a gate, whose first batch, the request 0, has begun: what is submitted then waits.
class Gated : public testing::Test {
protected:
  void start(BatcherOptions options = {}) {
    batcher = std::make_unique<Batcher>(options, std::ref(gate));
    first = batcher->submit(0);
    gate.wait_for_batches(1);
  }
  void TearDown() override { gate.open(); }

  Gate gate;
  std::unique_ptr<Batcher> batcher;
  Pending first;
};

void answer_all(Requests &requests) {
  for (int i = 0; i < requests.size(); ++i)
    requests.answer(i, 2 * requests[i]);
}

using Batches = std::vector<std::vector<int>>;

TEST_F(Gated, BatchesHaveTheOrderAndTheSize) {
  BatcherOptions options;
  options.max_batch = 3;
  start(options);
  std::vector<Pending> rest;
  for (int i = 1; i <= 7; ++i)
    rest.push_back(batcher->submit(i));
  gate.open();
  for (int i = 1; i <= 7; ++i)
    EXPECT_EQ(result(rest[i - 1]), std::to_string(2 * i));
  EXPECT_EQ(gate.batches(), (Batches{{0}, {1, 2, 3}, {4, 5, 6}, {7}}));
}

TEST(Batcher, WhoComesAloneDoesNotWait) {
  BatcherOptions options;
  options.max_delay = 24h;
  Batcher batcher(options, answer_all);
  for (int i = 0; i < 5; ++i) {
    Pending pending = batcher.submit(i);
    EXPECT_EQ(result(pending), std::to_string(2 * i));
  }
  EXPECT_EQ(batcher.counters().batch_size.counts[0], 5u);
}

TEST_F(Gated, AsManyAsTheLastTimeAreWaitedFor) {
  BatcherOptions options;
  options.max_delay = 24h;
  start(options);
  Pending a = batcher->submit(1), b = batcher->submit(2), c = batcher->submit(3);
  gate.open();
  EXPECT_EQ(result(c), "6");
  // The same three ask again: they stay together.
  a = batcher->submit(4);
  b = batcher->submit(5);
  EXPECT_FALSE(b.wait_until(after(20ms)));
  c = batcher->submit(6);
  EXPECT_EQ(result(a), "8");
  EXPECT_EQ(gate.batches(), (Batches{{0}, {1, 2, 3}, {4, 5, 6}}));
}

TEST_F(Gated, NobodyWaitsLongerThanTheDelay) {
  BatcherOptions options;
  options.max_delay = 30ms;
  start(options);
  Pending a = batcher->submit(1), b = batcher->submit(2);
  gate.open();
  EXPECT_EQ(result(a) + result(b), "24");
  const Moment before = std::chrono::steady_clock::now();
  Pending alone = batcher->submit(3);
  EXPECT_EQ(result(alone), "6");
  EXPECT_GE(std::chrono::steady_clock::now() - before, 30ms);
  EXPECT_EQ(gate.batches(), (Batches{{0}, {1, 2}, {3}}));
}

TEST_F(Gated, WithoutDelayWhatIsThereIsTaken) {
  start();
  Pending a = batcher->submit(1), b = batcher->submit(2);
  gate.open();
  EXPECT_EQ(result(a) + result(b), "24");
  Pending alone = batcher->submit(3);
  EXPECT_EQ(result(alone), "6");
  EXPECT_EQ(gate.batches(), (Batches{{0}, {1, 2}, {3}}));
}

TEST_F(Gated, AFullQueueRefusesAtOnce) {
  BatcherOptions options;
  options.name = "sums";
  options.max_waiting = 2;
  start(options);
  Pending a = batcher->submit(1), b = batcher->submit(2), c = batcher->submit(3);
  EXPECT_TRUE(c.ready());
  int unused = 0;
  Status refused = c.get(&unused);
  EXPECT_EQ(refused.code, Code::unavailable);
  EXPECT_EQ(refused.message, "sums: too many requests wait, this one is refused");
  EXPECT_EQ(batcher->counters().refused, 1u);
  EXPECT_EQ(batcher->counters().waiting, 2u);
  EXPECT_EQ(batcher->counters().running, 1u);
  EXPECT_TRUE(a.cancel()); // makes room
  Pending d = batcher->submit(4);
  EXPECT_FALSE(d.ready());
  gate.open();
  EXPECT_EQ(result(b) + result(d), "48");
}

TEST_F(Gated, WhoAsksToWaitForRoomDoes) {
  BatcherOptions options;
  options.max_waiting = 1;
  start(options);
  Pending a = batcher->submit(1);
  Pending late = batcher->submit_waiting(2, after(10ms)); // no room until then
  EXPECT_EQ(result(late), "deadline");
  std::vector<std::future<std::string>> blocked;
  for (int i = 2; i < 6; ++i)
    blocked.push_back(std::async(std::launch::async, [this, i] {
      Pending pending = batcher->submit_waiting(i);
      return result(pending);
    }));
  EXPECT_EQ(blocked[0].wait_for(20ms), std::future_status::timeout);
  gate.open();
  for (int i = 2; i < 6; ++i)
    EXPECT_EQ(blocked[i - 2].get(), std::to_string(2 * i));
}

TEST_F(Gated, WhoWaitsForRoomIsToldThatItCloses) {
  BatcherOptions options;
  options.max_waiting = 1;
  start(options);
  Pending a = batcher->submit(1);
  std::future<std::string> blocked = std::async(std::launch::async, [this] {
    Pending pending = batcher->submit_waiting(2);
    return result(pending);
  });
  EXPECT_EQ(blocked.wait_for(20ms), std::future_status::timeout);
  std::thread closer([&] { batcher->drain(); });
  EXPECT_EQ(blocked.get(), "unavailable");
  gate.open();
  closer.join();
  EXPECT_EQ(result(a), "2");
}

TEST_F(Gated, AfterItsDeadlineARequestIsNotRun) {
  start();
  Pending late = batcher->submit(1, after(5ms)), fine = batcher->submit(2, after(1h));
  Pending past = batcher->submit(3, after(-1ms));
  EXPECT_TRUE(past.ready());
  EXPECT_EQ(result(past), "deadline");
  // At its time, though the worker is at work.
  EXPECT_TRUE(late.wait_until(after(10s)));
  EXPECT_EQ(message(late), "batcher: the deadline passed before the request was run");
  EXPECT_EQ(batcher->counters().expired, 2u);
  EXPECT_EQ(batcher->counters().waiting, 1u);
  gate.open();
  EXPECT_EQ(result(fine), "4");
  EXPECT_EQ(gate.batches(), (Batches{{0}, {2}}));
}

TEST_F(Gated, WhatHasExpiredTakesNoRoom) {
  BatcherOptions options;
  options.max_waiting = 1;
  start(options);
  Pending nobody_asks = batcher->submit(1, after(5ms));
  std::this_thread::sleep_for(10ms);
  Pending next = batcher->submit(2);
  gate.open();
  EXPECT_EQ(result(next), "4");
  EXPECT_EQ(result(nobody_asks), "deadline");
}

TEST_F(Gated, ARequestThatRunsAtItsDeadlineIsAnswered) {
  batcher = std::make_unique<Batcher>(BatcherOptions(), std::ref(gate));
  Pending pending = batcher->submit(1, after(400ms));
  gate.wait_for_batches(1);
  EXPECT_FALSE(pending.wait_until(after(450ms)));
  gate.open();
  EXPECT_EQ(result(pending), "2");
}

TEST_F(Gated, ACancelledRequestIsNotRun) {
  start();
  Pending a = batcher->submit(1), b = batcher->submit(2);
  EXPECT_TRUE(a.cancel());
  EXPECT_FALSE(a.cancel());
  EXPECT_TRUE(a.ready());
  EXPECT_EQ(message(a), "batcher: the request was cancelled");
  gate.open();
  EXPECT_EQ(result(b), "4");
  EXPECT_EQ(gate.batches(), (Batches{{0}, {2}}));
  EXPECT_EQ(batcher->counters().cancelled, 1u);
}

TEST_F(Gated, OneThatRunsIsCancelledAtOnceAndItsAnswerDropped) {
  start();
  EXPECT_FALSE(first.ready());
  EXPECT_TRUE(first.cancel());
  EXPECT_TRUE(first.ready());
  EXPECT_EQ(result(first), "cancelled");
  gate.open();
  Pending next = batcher->submit(1);
  EXPECT_EQ(result(next), "2");
  EXPECT_EQ(batcher->counters().answered, 1u);
  EXPECT_EQ(batcher->counters().running, 0u);
}

TEST(Batcher, OneThatIsDoneIsNotCancelled) {
  Batcher batcher({}, answer_all);
  Pending pending = batcher.submit(4);
  EXPECT_TRUE(pending.wait_until(Moment::max()));
  EXPECT_FALSE(pending.cancel());
  EXPECT_EQ(result(pending), "8");
  EXPECT_FALSE(pending.cancel());
}

TEST(Batcher, AnAnswerIsTakenOnce) {
  Batcher batcher({}, answer_all);
  Pending pending = batcher.submit(4), nothing;
  EXPECT_EQ(result(pending), "8");
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(message(pending), "there is no request, or what it gave was taken");
  EXPECT_EQ(result(nothing), "bad_call");
  BatcherOptions none;
  none.max_batch = 0;
  Batcher refusing(none, answer_all);
  Pending refused = refusing.submit(1);
  EXPECT_EQ(message(refused), "batcher: the option `max_batch` is below 1");
  EXPECT_EQ(message(refused), "there is no request, or what it gave was taken");
}

TEST(Batcher, AFailingRequestFailsAlone) {
  std::promise<void> go;
  Batcher odd({}, [&, ready = go.get_future().share()](Requests &requests) {
    ready.wait();
    for (int i = 0; i < requests.size(); ++i)
      if (requests[i] % 2 == 0)
        requests.answer(i, requests[i]);
      else if (requests[i] == 1)
        requests.fail(i, Status::error(Code::bad_input, "odd"));
      else if (requests[i] == 3)
        requests.fail(i, Status());
  });
  std::vector<Pending> pending;
  for (int i = 0; i < 6; ++i)
    pending.push_back(odd.submit(i));
  go.set_value();
  EXPECT_EQ(result(pending[0]), "0");
  EXPECT_EQ(message(pending[1]), "odd");
  EXPECT_EQ(result(pending[2]), "2");
  EXPECT_EQ(message(pending[3]), "batcher: the batch function gave no answer");
  EXPECT_EQ(result(pending[4]), "4");
  EXPECT_EQ(result(pending[5]), "bad_call");
  EXPECT_EQ(odd.counters().failed, 3u);
  EXPECT_EQ(odd.counters().answered, 3u);
}

TEST(Batcher, WhatIsSaidLastCounts) {
  Batcher batcher({}, [](Requests &requests) {
    requests.fail(0, Status::error(Code::bad_input, "no"));
    if (requests[0] == 1)
      requests.answer(0, 10);
    requests.answer(0, 11);
    if (requests[0] == 2)
      requests.fail(0, Status::error(Code::bad_input, "after all"));
  });
  Pending a = batcher.submit(1);
  EXPECT_EQ(result(a), "11");
  Pending b = batcher.submit(2);
  EXPECT_EQ(message(b), "after all");
}

TEST(Batcher, WhatTheFunctionThrowsFailsTheBatch) {
  Batcher batcher({}, [](Requests &requests) {
    switch (requests[0]) {
    case 0:
      throw std::runtime_error("out of ideas");
    case 1:
      throw 1;
    case 2:
      throw std::bad_alloc();
    case 3:
      requests.answer(1, 0); // there is none
    }
    requests.answer(0, 7);
    throw std::runtime_error("too late");
  });
  Pending a = batcher.submit(0);
  EXPECT_EQ(message(a), "batcher: the batch function threw: out of ideas");
  Pending b = batcher.submit(1);
  EXPECT_EQ(message(b), "batcher: the batch function threw what is no std::exception");
  Pending c = batcher.submit(2);
  EXPECT_EQ(result(c), "limit");
  Pending d = batcher.submit(3);
  EXPECT_EQ(result(d), "bad_call");
  Pending e = batcher.submit(4);
  EXPECT_EQ(result(e), "7");
  Batcher empty({}, nullptr);
  Pending f = empty.submit(1);
  EXPECT_EQ(result(f), "bad_call");
}

TEST_F(Gated, DrainRunsWhatWaits) {
  start();
  Pending a = batcher->submit(1), b = batcher->submit(2);
  std::thread drain([&] { batcher->drain(); });
  gate.open();
  drain.join();
  EXPECT_TRUE(a.ready() && b.ready() && first.ready());
  EXPECT_EQ(result(a) + result(b), "24");
  Pending late = batcher->submit(3);
  EXPECT_EQ(message(late), "batcher: closed, requests are not taken any more");
  batcher->drain();
  batcher->stop();
}

TEST_F(Gated, DrainDoesNotWaitForMore) {
  BatcherOptions options;
  options.max_delay = 24h;
  start(options);
  Pending a = batcher->submit(1), b = batcher->submit(2);
  gate.open();
  EXPECT_EQ(result(a) + result(b), "24");
  Pending alone = batcher->submit(3); // two are waited for
  EXPECT_FALSE(alone.wait_until(after(20ms)));
  batcher->drain();
  EXPECT_EQ(result(alone), "6");
}

TEST_F(Gated, StopCancelsWhatWaits) {
  start();
  Pending a = batcher->submit(1);
  std::thread drain([&] { batcher->drain(); }), stop([&] { batcher->stop(); });
  EXPECT_TRUE(a.wait_until(after(10s)));
  EXPECT_EQ(result(a), "cancelled");
  EXPECT_FALSE(first.ready());
  gate.open();
  stop.join();
  drain.join();
  EXPECT_EQ(result(first), "0");
  EXPECT_EQ(gate.batches(), (Batches{{0}}));
}

TEST_F(Gated, AnswersOutliveTheBatcher) {
  start();
  Pending a = batcher->submit(1);
  gate.open();
  batcher.reset(); // drains
  EXPECT_EQ(result(a), "2");
  EXPECT_FALSE(first.cancel());
}

TEST(Batcher, TheFunctionIsGoneWhenItHasStopped) {
  auto held = std::make_shared<int>(1);
  Batcher batcher({}, [held](Requests &requests) { answer_all(requests); });
  Pending a = batcher.submit(1);
  EXPECT_EQ(result(a), "2");
  batcher.stop();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Batcher, ItsFunctionMayStopIt) {
  Batcher *self = nullptr;
  Batcher batcher({}, [&](Requests &requests) {
    self->stop();
    answer_all(requests);
  });
  self = &batcher;
  Pending a = batcher.submit(1);
  EXPECT_EQ(result(a), "2");
  Pending b = batcher.submit(2);
  EXPECT_EQ(result(b), "unavailable");
}

// Its own thread is who makes room: it does not wait for that.
TEST(Batcher, ItsFunctionDoesNotWaitForRoom) {
  BatcherOptions options;
  options.max_waiting = 1;
  Batcher *self = nullptr;
  std::vector<Pending> more;
  Batcher batcher(options, [&](Requests &requests) {
    for (int i = 0; more.size() < 2; ++i)
      more.push_back(self->submit_waiting(10 + i));
    answer_all(requests);
  });
  self = &batcher;
  Pending first = batcher.submit(1);
  EXPECT_EQ(result(first), "2");
  EXPECT_EQ(result(more[0]), "20");
  EXPECT_EQ(result(more[1]), "unavailable");
}

TEST(Batcher, WrongOptionsAreSaidByEachRequest) {
  const struct {
    int BatcherOptions::*option;
    const char *name;
  } numbers[] = {{&BatcherOptions::max_batch, "max_batch"},
                 {&BatcherOptions::max_waiting, "max_waiting"},
                 {&BatcherOptions::workers, "workers"}};
  for (const auto &number : numbers) {
    BatcherOptions options;
    options.*number.option = 0;
    Batcher batcher(options, answer_all);
    Pending pending = batcher.submit(1);
    EXPECT_EQ(message(pending), std::string("batcher: the option `") + number.name + "` is below 1");
    EXPECT_EQ(batcher.counters().refused, 1u);
  }
  BatcherOptions options;
  options.max_delay = -1ns;
  Batcher batcher(options, answer_all);
  Pending pending = batcher.submit(1);
  EXPECT_EQ(message(pending), "batcher: the option `max_delay` is below 0");
  // The largest ones are none.
  options.max_delay = std::chrono::nanoseconds::max();
  options.max_batch = options.max_waiting = std::numeric_limits<int32_t>::max();
  Batcher unlimited(options, answer_all);
  Pending fine = unlimited.submit(1);
  EXPECT_EQ(result(fine), "2");
}

TEST(Batcher, RequestsAndAnswersAreMovedOnly) {
  using Request = std::unique_ptr<int>;
  using Answer = std::unique_ptr<std::string>;
  dbc::Batcher<Request, Answer> batcher({}, [](dbc::Requests<Request, Answer> &requests) {
    for (int i = 0; i < requests.size(); ++i) {
      Request request = std::move(requests[i]);
      requests.answer(i, std::make_unique<std::string>(std::to_string(*request)));
    }
  });
  dbc::Pending<Answer> pending = batcher.submit(std::make_unique<int>(5));
  dbc::Pending<Answer> moved = std::move(pending);
  Answer answer;
  ASSERT_TRUE(moved.get(&answer).ok());
  EXPECT_EQ(*answer, "5");
  EXPECT_EQ(pending.get(&answer).code, Code::bad_call);
}

TEST(Batcher, SeveralWorkersRunAtOnce) {
  BatcherOptions options;
  options.workers = 3;
  options.max_batch = 1;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> runs(3);
  int inside = 0;
  Batcher batcher(options, [&](Requests &requests) {
    std::unique_lock<std::mutex> lock(mutex);
    ++runs[requests.worker()];
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return inside == 3; });
    answer_all(requests);
  });
  Pending a = batcher.submit(1), b = batcher.submit(2), c = batcher.submit(3);
  EXPECT_EQ(result(a) + result(b) + result(c), "246");
  EXPECT_EQ(runs, (std::vector<int>{1, 1, 1}));
}

} // namespace
