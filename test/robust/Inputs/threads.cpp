// Two threads in one session: each call is a run of its own or is refused. Part of dbc, under Apache-2.0 WITH
// LLVM-exception; see LICENSE.
#include "rows.h"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace rows = dbc::models::rows;

static void fill(rows::Batch &batch, int inputs) {
  for (int i = 0; i < inputs; ++i) {
    batch.begin_input();
    batch.total(batch.T().rows({1, 2, float(i)}).kids({}), float(inputs));
  }
}

int main() {
  const rows::Weights weights;
  rows::Model model;
  if (!rows::Model::make(weights, &model).ok())
    return 1;
  rows::Session session(model, 2);
  std::atomic<int> ran{0}, refused{0}, wrong{0}, began{0};
  const auto count = [&](const dbc::Status &status) {
    if (status.ok())
      ++ran;
    else if (status.code == dbc::Code::bad_call &&
             (status.message == "rows: the session is in use by another thread" ||
              status.message == "rows: a run has begun that is not finished" ||
              status.message == "rows: no run has begun"))
      ++refused;
    else if (++wrong == 1)
      std::puts(status.message.c_str());
    return status.ok();
  };
  // Until both have run, and one has been refused; a minute is for machines that do much else.
  std::atomic<int> runs[2] = {{0}, {0}};
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const auto seen = [&] { return runs[0] > 0 && runs[1] > 0 && refused > 0 && began > 0; };
  const auto thread = [&](int me) {
    rows::Batch batch;
    fill(batch, 40 + me);
    for (int call = 0; (call < 200 || !seen()) && std::chrono::steady_clock::now() < end; ++call) {
      runs[me] += count(session.total(batch));
      if (me == 0 && count(session.raw().begin(0, batch.raw()))) {
        ++began;
        while (!count(session.raw().finish())) // the other one may be asking
          std::this_thread::yield();
      }
    }
  };
  std::thread first([&] { thread(0); }), second([&] { thread(1); });
  first.join();
  second.join();
  std::puts(wrong == 0 && seen() ? "some runs of both threads, the others refused"
                                 : "no runs, none refused, or other failures");
  rows::Batch batch;
  fill(batch, 3);
  const bool right = session.total(batch).ok() && session.total_result()[2] == 8 && session.failed() == 0;
  std::puts(right ? "results are right" : "wrong results");
}
