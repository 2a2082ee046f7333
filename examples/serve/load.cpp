// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Latencies of a Batcher under load, without HTTP: requests come at random moments, as those of clients that
// do not know of one another do (a Poisson process), whether or not earlier ones are answered. A latency
// counts from the moment a request was to come, so one that was sent late is not made better.
//
// usage: load [SECONDS [MAX_BATCH]]   prints a table for Markdown
#include "predictor.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

using Clock = std::chrono::steady_clock;
using Trees = dbc::Batcher<Tree, Scores>;

/// A binary tree of so many leaves; the left part is one word as often as in English.
int32_t draw(int32_t leaves, std::mt19937 &random, Tree &tree) {
  if (leaves == 1) {
    tree.push_back({std::uniform_int_distribution<int32_t>(0, 19999)(random), -1, -1});
  } else {
    const bool word = std::bernoulli_distribution(0.56)(random);
    const int32_t of_left = word ? 1 : std::uniform_int_distribution<int32_t>(1, leaves - 1)(random);
    const int32_t left = draw(of_left, random, tree), right = draw(leaves - of_left, random, tree);
    tree.push_back({-1, left, right});
  }
  return static_cast<int32_t>(tree.size()) - 1;
}

/// What came of a load.
struct Measured {
  double per_second = 0;
  std::vector<double> microseconds; ///< sorted
  double batch_size = 0;
  double at(double share) const {
    return microseconds.empty() ? 0 : microseconds[static_cast<size_t>(share * (microseconds.size() - 1))];
  }
};

/// Sends requests for some seconds and waits for their answers, in the order in which they were sent.
class Load {
public:
  Load(Trees &batcher, const std::vector<Tree> &trees) : batcher_(batcher), trees_(trees) {}

  /// So many wait for answers at any time.
  Measured closed(int32_t clients, double seconds) {
    const auto end = begin(seconds);
    for (std::deque<Sent> sent; Clock::now() < end || !sent.empty();) {
      while (Clock::now() < end && sent.size() < static_cast<size_t>(clients))
        sent.push_back(send(Clock::now()));
      if (sent.empty())
        break;
      receive(sent.front());
      sent.pop_front();
    }
    return finish();
  }

  /// So many come in a second, on average.
  Measured open(double per_second, double seconds) {
    const auto end = begin(seconds);
    std::mutex mutex;
    std::condition_variable more;
    std::deque<Sent> sent;
    bool all = false;
    std::thread receiver([&] {
      for (std::unique_lock lock(mutex);;) {
        more.wait(lock, [&] { return all || !sent.empty(); });
        if (sent.empty())
          return;
        Sent first = std::move(sent.front());
        sent.pop_front();
        lock.unlock();
        receive(first);
        lock.lock();
      }
    });
    std::exponential_distribution<double> gap(per_second);
    for (Clock::time_point due = Clock::now(); due < end;
         due += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(gap(random_)))) {
      std::this_thread::sleep_until(due);
      Sent next = send(due);
      std::lock_guard lock(mutex);
      sent.push_back(std::move(next));
      more.notify_one();
    }
    {
      std::lock_guard lock(mutex);
      all = true;
      more.notify_one();
    }
    receiver.join();
    return finish();
  }

private:
  struct Sent {
    Clock::time_point due;
    dbc::Pending<Scores> pending;
  };

  Clock::time_point begin(double seconds) {
    measured_ = {};
    before_ = batcher_.counters();
    began_ = Clock::now();
    return began_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  Sent send(Clock::time_point due) {
    const size_t which = std::uniform_int_distribution<size_t>(0, trees_.size() - 1)(random_);
    return {due, batcher_.submit(trees_[which])};
  }
  void receive(Sent &sent) {
    Scores scores;
    if (dbc::Status status = sent.pending.get(&scores); !status.ok()) {
      std::fprintf(stderr, "%s\n", status.message.c_str());
      std::exit(1);
    }
    measured_.microseconds.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - sent.due).count());
  }
  Measured finish() {
    const dbc::BatcherCounters after = batcher_.counters();
    uint64_t batches = 0;
    for (size_t i = 0; i < after.batch_size.counts.size(); ++i)
      batches += after.batch_size.counts[i] - before_.batch_size.counts[i];
    measured_.batch_size = (after.batch_size.sum - before_.batch_size.sum) / static_cast<double>(batches);
    measured_.per_second = static_cast<double>(measured_.microseconds.size()) /
                           std::chrono::duration<double>(Clock::now() - began_).count();
    std::sort(measured_.microseconds.begin(), measured_.microseconds.end());
    return std::move(measured_);
  }

  Trees &batcher_;
  const std::vector<Tree> &trees_;
  std::mt19937 random_{2};
  Measured measured_;
  dbc::BatcherCounters before_;
  Clock::time_point began_;
};

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  dbc::BatcherOptions options;
  options.max_batch = argc > 2 ? std::atoi(argv[2]) : options.max_batch;
  options.max_waiting = 1 << 20; // what comes too fast waits, and is seen
  if (argc > 3 || !(seconds > 0) || options.max_batch < 1)
    return std::fprintf(stderr, "usage: load [SECONDS [MAX_BATCH]]\n"), 2;

  std::mt19937 random(1);
  std::vector<Tree> trees(2000);
  for (Tree &tree : trees)
    draw(std::uniform_int_distribution<int32_t>(3, 34)(random), random, tree);
  tree_lstm::Weights weights;
  weights.draw(1);
  tree_lstm::Model model;
  if (dbc::Status made = tree_lstm::Model::make(weights, &model); !made.ok())
    return std::fprintf(stderr, "%s\n", made.message.c_str()), 1;
  Predictor predictor(model);
  Trees batcher(options, std::ref(predictor));

  Load load(batcher, trees);
  load.closed(64, seconds / 4); // memory is there, pages are touched
  const Measured alone = load.closed(1, seconds), most = load.closed(128, seconds);
  std::puts("| | requests/s | p50 us | p90 | p99 | p50 of one alone | requests in a batch "
            "|\n|---|---|---|---|---|---|---|");
  const auto print = [&](const char *what, const Measured &m) {
    std::printf("| %s | %.0f | %.0f | %.0f | %.0f | %.1f | %.1f |\n", what, m.per_second, m.at(.5), m.at(.9),
                m.at(.99), m.at(.5) / alone.at(.5), m.batch_size);
    std::fflush(stdout);
  };
  print("one at a time", alone);
  for (int percent : {20, 40, 60, 80, 90}) {
    char what[40];
    std::snprintf(what, sizeof(what), "%d %% of the most", percent);
    // A shared machine changes its speed: the most is what it was a moment before.
    const double now = load.closed(128, seconds / 4).per_second;
    print(what, load.open(now * percent / 100, seconds));
  }
  print("the most: 128 at any time", most);
}
