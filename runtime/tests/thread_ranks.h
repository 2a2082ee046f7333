// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Ranks that are threads of one process: the stand-in of tests for MPI.
#pragma once

#include <dbc/train/communicator.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dbc {

/// What the threads of a test share.
class ThreadRanks {
public:
  explicit ThreadRanks(int32_t size) : sent_(size), waits_(size) {}

  /// Calls `body` with a communicator on each of `size` threads.
  template <class Body> static void run(int32_t size, Body body) {
    ThreadRanks ranks(size);
    std::vector<std::thread> threads;
    for (int32_t r = 0; r < size; ++r)
      threads.emplace_back([&ranks, &body, r] {
        One one(ranks, r);
        body(one);
      });
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  class One final : public Communicator {
  public:
    One(ThreadRanks &ranks, int32_t rank) : ranks_(ranks), rank_(rank) {}
    int32_t rank() const override { return rank_; }
    int32_t size() const override { return static_cast<int32_t>(ranks_.sent_.size()); }
    Status exchange(const std::vector<SentBytes> &sent, const std::vector<ReceivedBytes> &received) override {
      if (static_cast<int32_t>(sent.size()) != size() || static_cast<int32_t>(received.size()) != size())
        return Status::error(Code::internal, "not a message a rank");
      ranks_.sent_[rank_] = sent;
      ranks_.meet();
      Status status;
      for (int32_t r = 0; r < size(); ++r) {
        const SentBytes &from = ranks_.sent_[r][rank_];
        if (r != rank_ && from.size != received[r].size)
          status = Status::error(Code::internal, "rank " + std::to_string(r) + " sends " +
                                                     std::to_string(from.size) + " bytes, and " +
                                                     std::to_string(received[r].size) + " are expected");
        else if (r != rank_ && from.size > 0)
          std::memcpy(received[r].data, from.data, from.size);
      }
      ranks_.meet(); // what was sent may change now
      return status;
    }
    [[noreturn]] void abort(int) override { std::abort(); }

  private:
    ThreadRanks &ranks_;
    const int32_t rank_;
  };

  /// Returns when all have called it.
  void meet() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int64_t round = round_;
    if (--waits_ == 0) {
      waits_ = static_cast<int32_t>(sent_.size());
      ++round_;
      all_met_.notify_all();
    }
    all_met_.wait(lock, [&] { return round_ != round; });
  }

  std::vector<std::vector<SentBytes>> sent_; ///< by rank
  std::mutex mutex_;
  std::condition_variable all_met_;
  int32_t waits_;
  int64_t round_ = 0;
};

} // namespace dbc
