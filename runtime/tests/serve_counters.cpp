// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a batcher counts, and how Prometheus reads it.
#include <dbc/batcher.h>

#include <gtest/gtest.h>

#include <numeric>

namespace {

using dbc::BatcherCounters;

TEST(BatcherCounters, EachRequestIsInTheHistograms) {
  dbc::BatcherOptions options;
  options.max_batch = 6;
  dbc::Batcher<int, int> batcher(options, [](dbc::Requests<int, int> &requests) {
    for (int i = 0; i < requests.size(); ++i)
      if (requests[i] > 0)
        requests.answer(i, 1);
  });
  int answer = 0;
  for (int i = 0; i < 3; ++i) {
    dbc::Pending<int> pending = batcher.submit(i);
    EXPECT_EQ(pending.get(&answer).ok(), i > 0);
  }
  const BatcherCounters counters = batcher.counters();
  EXPECT_EQ(counters.answered, 2u);
  EXPECT_EQ(counters.failed, 1u);
  EXPECT_EQ(counters.batch_size.bounds, (std::vector<double>{1, 2, 4, 6}));
  EXPECT_EQ(counters.batch_size.counts, (std::vector<uint64_t>{3, 0, 0, 0, 0}));
  EXPECT_EQ(counters.batch_size.sum, 3);
  EXPECT_EQ(std::accumulate(counters.seconds.counts.begin(), counters.seconds.counts.end(), uint64_t(0)), 3u);
  EXPECT_GT(counters.seconds.sum, 0);
}

TEST(BatcherCounters, TextForPrometheus) {
  BatcherCounters one, two;
  one.name = "trees";
  one.answered = 5;
  one.failed = 4;
  one.cancelled = 3;
  one.expired = 2;
  one.refused = 1;
  one.waiting = 7;
  one.running = 6;
  one.batch_size = {{1, 2}, {3, 2, 0}, 7};
  one.seconds = {{0.0001, 2.5}, {4, 4, 1}, 12.75};
  two.name = "a \"b\\\n";
  two.batch_size = {{1}, {0, 0}, 0};
  two.seconds = {{1e-5}, {0, 0}, 0};
  EXPECT_EQ(dbc::prometheus_text({one, two}),
            R"(# HELP dbc_requests_total Requests that are done, by what became of them.
# TYPE dbc_requests_total counter
dbc_requests_total{batcher="trees",outcome="answered"} 5
dbc_requests_total{batcher="trees",outcome="failed"} 4
dbc_requests_total{batcher="trees",outcome="cancelled"} 3
dbc_requests_total{batcher="trees",outcome="expired"} 2
dbc_requests_total{batcher="trees",outcome="refused"} 1
dbc_requests_total{batcher="a \"b\\\n",outcome="answered"} 0
dbc_requests_total{batcher="a \"b\\\n",outcome="failed"} 0
dbc_requests_total{batcher="a \"b\\\n",outcome="cancelled"} 0
dbc_requests_total{batcher="a \"b\\\n",outcome="expired"} 0
dbc_requests_total{batcher="a \"b\\\n",outcome="refused"} 0
# HELP dbc_requests_waiting Requests in the queue.
# TYPE dbc_requests_waiting gauge
dbc_requests_waiting{batcher="trees"} 7
dbc_requests_waiting{batcher="a \"b\\\n"} 0
# HELP dbc_requests_running Requests that are computed.
# TYPE dbc_requests_running gauge
dbc_requests_running{batcher="trees"} 6
dbc_requests_running{batcher="a \"b\\\n"} 0
# HELP dbc_batch_size Requests of each batch.
# TYPE dbc_batch_size histogram
dbc_batch_size_bucket{batcher="trees",le="1"} 3
dbc_batch_size_bucket{batcher="trees",le="2"} 5
dbc_batch_size_bucket{batcher="trees",le="+Inf"} 5
dbc_batch_size_sum{batcher="trees"} 7
dbc_batch_size_count{batcher="trees"} 5
dbc_batch_size_bucket{batcher="a \"b\\\n",le="1"} 0
dbc_batch_size_bucket{batcher="a \"b\\\n",le="+Inf"} 0
dbc_batch_size_sum{batcher="a \"b\\\n"} 0
dbc_batch_size_count{batcher="a \"b\\\n"} 0
# HELP dbc_request_seconds Seconds from submission to the end, of requests that were answered or failed.
# TYPE dbc_request_seconds histogram
dbc_request_seconds_bucket{batcher="trees",le="0.0001"} 4
dbc_request_seconds_bucket{batcher="trees",le="2.5"} 8
dbc_request_seconds_bucket{batcher="trees",le="+Inf"} 9
dbc_request_seconds_sum{batcher="trees"} 12.75
dbc_request_seconds_count{batcher="trees"} 9
dbc_request_seconds_bucket{batcher="a \"b\\\n",le="1e-05"} 0
dbc_request_seconds_bucket{batcher="a \"b\\\n",le="+Inf"} 0
dbc_request_seconds_sum{batcher="a \"b\\\n"} 0
dbc_request_seconds_count{batcher="a \"b\\\n"} 0
)");
}

} // namespace
