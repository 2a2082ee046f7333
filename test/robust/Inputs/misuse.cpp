// Wrong calls of a generated interface: each is said by the run, none is dropped or read past its end. Part
// of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "rows.h"
#include <cstdio>
#include <utility>
#include <vector>

namespace rows = dbc::models::rows;

static rows::Model made() {
  rows::Weights weights;
  rows::Model model;
  if (dbc::Status status = rows::Model::make(weights, &model); !status.ok())
    std::puts(status.message.c_str());
  return model;
}
static void say(const dbc::Status &status) { std::puts(status.ok() ? "fine" : status.message.c_str()); }
static void expect(bool holds, const char *what) {
  if (!holds)
    std::puts(what);
}

/// Some inputs; number i has i elements in its lists.
static void fill(rows::Batch &batch, int inputs) {
  batch.clear();
  for (int i = 0; i < inputs; ++i) {
    batch.begin_input();
    const std::vector<float> numbers(static_cast<size_t>(3 * i), 1.f);
    batch.total(batch.T().rows(numbers).kids({}), float(i));
    batch.copy(numbers);
  }
}

// Null pointers with a count.
static void null_pointers() {
  const rows::Model model = made();
  rows::Session session(model);
  rows::Batch batch;
  for (int way = 0; way < 3; ++way) {
    batch.begin_input();
    const rows::T t = batch.T();
    batch.total(t, 1);
    batch.T(t).rows({});
    batch.T(t).kids({});
    if (way == 0)
      batch.T(t).rows({static_cast<const float *>(nullptr), 6});
    else if (way == 1)
      batch.T(t).kids({static_cast<const rows::T *>(nullptr), 2});
    else
      batch.copy({static_cast<const float *>(nullptr), 6});
    if (dbc::Status ran = way < 2 ? session.total(batch) : session.copy(batch); ran.ok())
      say(session.status(0));
    else
      say(ran);
    batch.clear();
  }
  say(rows::Model::make(rows::Weights(), nullptr));
}

// Results and statuses that are not there: before a run, of an input or element beyond, after a failed run.
static void results() {
  const rows::Model model = made();
  rows::Session session(model);
  rows::Batch batch;
  auto nothing = [&](int input) {
    expect(session.total_result()[input] == 0, "a number of nowhere");
    expect(session.copy_result().length(input) == 0, "a length of nowhere");
    for (int element : {0, -1, 9}) {
      const float *at = session.copy_result().at(input, element);
      expect(at && at[0] == 0 && at[2] == 0, "an element of nowhere");
    }
    const float *pair = session.pair_result().left[input];
    expect(pair && pair[0] == 0 && pair[1] == 0, "a tensor of nowhere");
  };
  auto all_of_nothing = [&] {
    for (int input : {0, -1, 4, 1 << 30})
      nothing(input);
  };
  all_of_nothing();
  say(session.status(0));
  fill(batch, 4);
  for (int entry = 0; entry < 3; ++entry) {
    const dbc::Status ran = session.raw().run(entry, batch.raw());
    expect(ran.ok(), ran.message.c_str());
  }
  expect(session.total_result()[3] == 12 && session.pair_result().left[3][1] == 3, "wrong results");
  expect(session.copy_result().length(3) == 3 && session.copy_result().at(3, 2)[2] == 1, "wrong lists");
  for (int input : {-1, 4, 1 << 30})
    nothing(input);
  expect(session.copy_result().at(3, 3)[0] == 0 && session.copy_result().at(3, -1)[0] == 0, "beyond a list");
  say(session.status(7));
  // Outputs of the caller, of another entry.
  dbc::Outputs out;
  expect(session.total(batch, out).ok() && rows::total_result(out)[3] == 12, "no outputs of the caller");
  expect(rows::copy_result(out).length(3) == 0 && rows::pair_result(out).left[3][1] == 0, "another entry's");
  // A run that fails as a whole.
  batch.borrow_inputs(3);
  for (int entry = 0; entry < 3; ++entry)
    expect(!session.raw().run(entry, batch.raw()).ok(), "a mistake that was dropped");
  all_of_nothing();
  say(session.status(3));
  rows::Session none(model, 0);
  say(none.total(batch));
}

// What was moved from says so, what it was moved to goes on.
static void moved() {
  rows::Model model = made();
  rows::Session session(model), other = std::move(session);
  rows::Batch batch, refilled;
  fill(batch, 2);
  say(session.total(batch));
  say(session.status(0));
  expect(session.total_result()[0] == 0 && session.failed() == 0, "results of what was moved");
  say(other.raw().begin(1, batch.raw()));
  session = std::move(other);
  say(session.status(0));
  say(session.raw().finish());
  expect(session.copy_result().length(1) == 1, "lost results");
  refilled = std::move(batch);
  batch.begin_input();
  batch.total(batch.T().rows({1, 2, 3}).kids({}), 1);
  say(session.total(batch));
  say(session.total(refilled));
  expect(session.total_result()[1] == 4, "wrong after a move");
  rows::Model there = std::move(model);
  say(session.total(refilled));
  model = std::move(there);
  say(session.total(refilled));
}

int main() {
  rows::Weights weights;
  rows::Model model;
  if (!rows::Model::make(weights, &model).ok())
    return 1;
  rows::Session session(model);
  rows::Batch batch;
  auto run = [&] {
    dbc::Status ran = session.total(batch);
    if (!ran.ok()) {
      std::puts(ran.message.c_str());
      // Then no input is fine, and no result is one of an earlier run.
      if (batch.inputs() > 0 && (session.status(0).ok() || session.total_result()[0] != 0))
        std::puts("results of a run that failed");
    } else if (!session.status(0).ok())
      std::puts(session.status(0).message.c_str());
    else
      std::printf("%g\n", double(session.total_result()[0]));
    batch.clear();
  };

  // Numbers of two elements, and of two and a third.
  std::vector<float> numbers = {1, 2, 3, 4, 5, 6, 7};
  for (size_t count : {6, 7}) {
    batch.begin_input();
    batch.total(batch.T().rows({numbers.data(), count}).kids({}), 0.5f);
    run();
  }
  // No input was begun.
  batch.total(rows::T(), 0.5f);
  run();
  // Flat arrays whose number of nodes is refused are not looked into.
  std::vector<int32_t> begin = {0, 1}, offsets = {0, 2}, none = {0, 0}, first = {0};
  rows::TArrays arrays;
  arrays.begin = begin.data();
  arrays.rows = numbers.data();
  arrays.rows_offsets = offsets.data();
  arrays.kids = first.data();
  arrays.kids_offsets = none.data();
  rows::TotalArrays arguments;
  arguments.t = first.data();
  arguments.x = numbers.data();
  for (int32_t count : {1, -1}) {
    batch.borrow_inputs(1);
    arrays.count = count;
    batch.borrow(arrays);
    batch.borrow(arguments);
    run();
  }
  null_pointers();
  results();
  moved();
}
