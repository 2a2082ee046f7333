// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// No request is lost or answered twice: many of them from several threads, with cancels, deadlines, failing
// inputs, batches that throw, and a queue that is full at times. 10^5 of them, 10^6 where DBC_TEST_FULL is 1.
#include <dbc/batcher.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using dbc::Code;
using Pending = dbc::Pending<int64_t>;
using Requests = dbc::Requests<int, int64_t>;

constexpr int kThreads = 4, kWorkers = 2, kCodes = static_cast<int>(Code::deadline) + 1;
using Counts = std::array<uint64_t, kCodes>; ///< of requests, by what they gave

int requests_in_all() {
  const char *full = std::getenv("DBC_TEST_FULL");
  return full != nullptr && std::strcmp(full, "1") == 0 ? 1000000 : 100000;
}

bool is_bad(int request) { return request % 17 == 0; }
bool breaks_the_batch(int request) { return request % 5003 == 0; }
int64_t answer_to(int request) { return 3 * int64_t(request) + 1; }

/// One thread's requests: first .. first + count - 1, up to 200 of them under way.
class Client {
public:
  Client(dbc::Batcher<int, int64_t> &batcher, std::vector<std::atomic<int>> &runs, int first, int count)
      : batcher_(batcher), runs_(runs), random_(static_cast<unsigned>(first)), first_(first), count_(count) {}

  void run() {
    for (int request = first_; request < first_ + count_; ++request) {
      submit(request);
      if (under_way_.size() > 200 || random_() % 8 == 0)
        finish();
    }
    while (!under_way_.empty())
      finish();
  }
  const Counts &counts() const { return counts_; }
  uint64_t wrong() const { return wrong_; }

private:
  struct Sent {
    int request;
    Pending pending;
    bool cancelled;
  };

  void submit(int request) {
    const auto now = std::chrono::steady_clock::now();
    dbc::Moment deadline = dbc::Moment::max();
    if (random_() % 5 == 0)
      deadline = now + std::chrono::microseconds(random_() % 500);
    Sent sent = {request,
                 random_() % 2 ? batcher_.submit(request, deadline)
                               : batcher_.submit_waiting(request, deadline),
                 false};
    if (random_() % 16 == 0)
      sent.cancelled = sent.pending.cancel();
    under_way_.push_back(std::move(sent));
  }

  /// Looks at one of those that are under way, and counts what is not as it must be.
  void finish() {
    std::swap(under_way_[random_() % under_way_.size()], under_way_.back());
    Sent sent = std::move(under_way_.back());
    under_way_.pop_back();
    if (!sent.cancelled && random_() % 8 == 0)
      sent.cancelled = sent.pending.cancel();
    int64_t answer = -1;
    const dbc::Status status = sent.pending.get(&answer);
    ++counts_[static_cast<size_t>(status.code)];
    const int runs = runs_[static_cast<size_t>(sent.request)].load();
    const bool never_ran = status.code == Code::unavailable || status.code == Code::deadline;
    bool fine = sent.cancelled == (status.code == Code::cancelled) && (never_ran ? runs == 0 : runs <= 1);
    if (status.ok())
      fine = fine && answer == answer_to(sent.request) && !is_bad(sent.request) && runs == 1;
    else
      fine = fine && answer == -1 && !status.message.empty();
    if (status.code == Code::bad_input)
      fine = fine && is_bad(sent.request) && runs == 1;
    wrong_ += fine ? 0 : 1;
  }

  dbc::Batcher<int, int64_t> &batcher_;
  std::vector<std::atomic<int>> &runs_; ///< of each request: how often it was in a batch
  std::mt19937 random_;
  const int first_, count_;
  std::vector<Sent> under_way_;
  Counts counts_{};
  uint64_t wrong_ = 0;
};

TEST(BatcherStress, EveryRequestIsDoneOnce) {
  const int requests = requests_in_all();
  std::vector<std::atomic<int>> runs(static_cast<size_t>(requests));
  dbc::BatcherOptions options;
  options.max_batch = 32;
  options.max_delay = 100us;
  options.max_waiting = 20; // fewer than clients have under way
  options.workers = kWorkers;
  dbc::Batcher<int, int64_t> batcher(options, [&](Requests &batch) {
    for (int i = 0; i < batch.size(); ++i)
      ++runs[static_cast<size_t>(batch[i])];
    for (int i = 0; i < batch.size(); ++i)
      if (breaks_the_batch(batch[i]))
        throw std::runtime_error("broken");
      else if (is_bad(batch[i]))
        batch.fail(i, dbc::Status::error(Code::bad_input, "a multiple of 17"));
      else
        batch.answer(i, answer_to(batch[i]));
  });

  std::deque<Client> clients;
  for (int c = 0; c < kThreads; ++c)
    clients.emplace_back(batcher, runs, c * (requests / kThreads), requests / kThreads);
  std::vector<std::thread> threads;
  for (Client &client : clients)
    threads.emplace_back([&client] { client.run(); });
  for (std::thread &thread : threads)
    thread.join();
  batcher.drain();

  Counts seen{};
  for (const Client &client : clients) {
    EXPECT_EQ(client.wrong(), 0u);
    for (size_t code = 0; code < seen.size(); ++code)
      seen[code] += client.counts()[code];
  }
  const dbc::BatcherCounters counters = batcher.counters();
  const auto of = [&](Code code) { return seen[static_cast<size_t>(code)]; };
  EXPECT_EQ(counters.answered, of(Code::ok));
  EXPECT_EQ(counters.failed, of(Code::bad_input) + of(Code::bad_call));
  EXPECT_EQ(counters.cancelled, of(Code::cancelled));
  EXPECT_EQ(counters.expired, of(Code::deadline));
  EXPECT_EQ(counters.refused, of(Code::unavailable));
  EXPECT_EQ(counters.waiting + counters.running, 0u);
  EXPECT_EQ(counters.answered + counters.failed + counters.cancelled + counters.expired + counters.refused,
            static_cast<uint64_t>(requests));
  for (Code code :
       {Code::ok, Code::bad_input, Code::bad_call, Code::cancelled, Code::deadline, Code::unavailable})
    EXPECT_GT(of(code), 0u) << dbc::code_name(code);
}

/// What is under way when the batcher stops is done too.
TEST(BatcherStress, StoppingLosesNothing) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> ran{0};
    std::vector<Pending> pending[kThreads];
    dbc::Batcher<int, int64_t> batcher({}, [&](Requests &batch) {
      ran += batch.size();
      for (int i = 0; i < batch.size(); ++i)
        batch.answer(i, answer_to(batch[i]));
    });
    std::vector<std::thread> threads;
    for (std::vector<Pending> &mine : pending)
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i)
          mine.push_back(batcher.submit(i));
      });
    round % 2 == 0 ? batcher.stop() : batcher.drain();
    for (std::thread &thread : threads)
      thread.join();
    int answered = 0;
    for (std::vector<Pending> &mine : pending)
      for (Pending &one : mine) {
        ASSERT_TRUE(one.ready());
        int64_t answer = 0;
        answered += one.get(&answer).ok() ? 1 : 0;
      }
    EXPECT_EQ(answered, ran);
  }
}

} // namespace
