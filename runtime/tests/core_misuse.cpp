// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Wrong calls of the runtime: each gives an error or nothing, and none reads memory that is not there (clean
// under sanitizers).
#include "core_models.h"

#include <dbc/results.h>

#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <thread>
#include <type_traits>

namespace {

using namespace core_models;
using dbc::Batch;
using dbc::Code;
using dbc::Elem;
using dbc::Model;
using dbc::Outputs;
using dbc::Session;
using dbc::Status;
using dbc::Weights;

struct Handle {
  int32_t id;
};
constexpr int32_t kWrong[] = {-1, INT_MIN, 7, INT_MAX};

/// Inputs of one leaf each, with the numbers 1, 2 ...; the lists have as many elements.
void fill(Batch &batch, int32_t inputs) {
  batch.clear();
  for (int32_t i = 0; i < inputs; ++i) {
    batch.begin_input();
    root(batch, i, leaf(batch, static_cast<float>(i + 1)));
    batch.set_empty(batch.args(), i, batch.arg_column(1, 0));
    for (int32_t n = 0; n <= i; ++n)
      batch.append_int(batch.args(), i, batch.arg_column(1, 0), i);
  }
}

//===-- Results that are not there ----------------------------------------------------------------------===//

struct Views {
  dbc::Scalars<float> numbers;
  dbc::Tensors<float, 1> tensors;
  dbc::Lists<float, 1, 1> lists;
  explicit Views(const Session &session)
      : numbers(session.outputs(0), 0), tensors(session.outputs(0), 0), lists(session.outputs(1), 0) {}
};

void expect_nothing(const Views &views, int64_t input) {
  EXPECT_EQ(views.numbers[input], 0) << input;
  ASSERT_NE(views.tensors[input], nullptr);
  EXPECT_EQ(views.tensors[input][0], 0) << input;
  EXPECT_EQ(views.lists.length(input), 0) << input;
  for (int64_t element : {0, -1, 5}) {
    ASSERT_NE(views.lists.at(input, element), nullptr);
    EXPECT_EQ(*views.lists.at(input, element), 0) << input;
  }
}

TEST(Results, BeforeARun) {
  Model model = sums();
  Session session(model);
  const Views views(session);
  EXPECT_EQ(views.numbers.inputs() + views.tensors.inputs() + views.lists.inputs(), 0);
  EXPECT_EQ(views.lists.offsets(), nullptr);
  for (int64_t input : {int64_t(0), int64_t(-1), int64_t(7), int64_t(1) << 40})
    expect_nothing(views, input);
  for (int32_t input : {0, -1, 7}) {
    EXPECT_EQ(session.status(input).code, Code::bad_call);
    EXPECT_EQ(session.status(input).message, "toy: the session has not run");
  }
  EXPECT_EQ(session.failed(), 0);
}

TEST(Results, OutsideOfTheBatch) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  fill(batch, 4);
  ASSERT_TRUE(session.run(0, batch).ok());
  ASSERT_TRUE(session.run(1, batch).ok());
  const Views views(session);
  for (int32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(views.numbers[i], i + 1);
    EXPECT_EQ(*views.tensors[i], i + 1);
    ASSERT_EQ(views.lists.length(i), i + 1);
    EXPECT_EQ(*views.lists.at(i, i), i + 1);
    for (int64_t element : {int64_t(-1), int64_t(i + 1), int64_t(1) << 40})
      EXPECT_EQ(*views.lists.at(i, element), 0);
    EXPECT_TRUE(session.status(i).ok());
  }
  EXPECT_EQ(views.lists.offsets(1), nullptr);
  EXPECT_EQ(views.lists.offsets(-1), nullptr);
  for (int64_t input : {int64_t(4), int64_t(-1), INT64_MIN, INT64_MAX, (int64_t(1) << 32) + 1})
    expect_nothing(views, input);
  EXPECT_EQ(session.status(7).code, Code::bad_call);
  EXPECT_EQ(session.status(7).message, "toy: input 7 is outside 0..3 of the last run");
  EXPECT_EQ(session.status(-1).message, "toy: input -1 is outside 0..3 of the last run");
  // One expression may ask several times.
  const Status &first = session.status(7), &second = session.status(-1), &third = batch.status(9);
  EXPECT_EQ(first.message, "toy: input 7 is outside 0..3 of the last run");
  EXPECT_EQ(second.message, "toy: input -1 is outside 0..3 of the last run");
  EXPECT_EQ(third.message, "toy: input 9 is outside 0..3 of the batch");
  batch.clear();
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.status(0).message, "toy: input 0 is asked for, but there is none in the last run");
  EXPECT_EQ(batch.status(3).message, "toy: input 3 is asked for, but there is none in the batch");
}

TEST(Results, OfARunThatFailed) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  fill(batch, 3);
  ASSERT_TRUE(session.run(0, batch).ok());
  ASSERT_TRUE(session.run(1, batch).ok());
  dbc::ModelInfo other = info();
  other.name = "other";
  Batch foreign(other);
  fill(foreign, 2);
  for (int32_t entry : {0, 1}) {
    const Status ran = session.run(entry, foreign);
    EXPECT_EQ(ran.code, Code::bad_call);
    EXPECT_EQ(session.failed(), 2);
    EXPECT_EQ(session.status(1).message, ran.message);
    EXPECT_EQ(session.status(2).message, "toy: input 2 is outside 0..1 of the last run");
  }
  const Views views(session);
  for (int64_t input : {-1, 0, 1, 2, 3})
    expect_nothing(views, input);
  EXPECT_EQ(session.run(7, batch).code, Code::bad_call);
  EXPECT_EQ(session.status(2).message, "toy: there is no entry number 7");
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_TRUE(session.status(2).ok());
  EXPECT_EQ(Views(session).numbers[2], 3);
}

// Outputs know whose they are: those of another entry or type show nothing.
TEST(Results, OfAnotherEntryOrType) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  fill(batch, 3);
  Outputs out;
  EXPECT_EQ(&out.of(info().entries[0]) == &out, false);
  ASSERT_TRUE(session.run(0, batch, out).ok());
  EXPECT_EQ(&out.of(info().entries[0]), &out);
  EXPECT_EQ(out.of(info().entries[1]).components(), 0);
  EXPECT_EQ(out.f64(0), nullptr);
  EXPECT_EQ(out.i32(0), nullptr);
  EXPECT_EQ(out.offsets(0, 0), nullptr);
  for (int32_t wrong : kWrong) {
    EXPECT_EQ(out.f32(wrong), nullptr);
    EXPECT_EQ(out.component(wrong).values, 0);
    EXPECT_EQ(out.offsets(wrong, 0), nullptr);
    EXPECT_EQ(out.offsets(0, wrong), nullptr);
    EXPECT_EQ(out.lists(wrong, 0) + out.lists(0, wrong), 0);
    EXPECT_EQ(out.number(wrong, 0), 0);
    EXPECT_EQ(session.outputs(wrong).components(), 0);
    EXPECT_EQ(session.profile(wrong).stages.size(), 0u);
  }
  EXPECT_EQ(out.number(0, 3), 0);
  EXPECT_EQ(out.number(0, SIZE_MAX), 0);
  // What it was moved from has nothing, and can be used again.
  Outputs moved = std::move(out);
  EXPECT_EQ(moved.number(0, 2), 3);
  EXPECT_EQ(out.components() + out.inputs(), 0);
  EXPECT_EQ(out.f32(0), nullptr);
  ASSERT_TRUE(session.run(0, batch, out).ok());
  EXPECT_EQ(out.number(0, 2), 3);
}

// Memory for what is not there is refused by the run, not dropped.
TEST(Results, MemoryForNoOutput) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  fill(batch, 3);
  float y[8] = {};
  int32_t offsets[8] = {};
  Outputs early;
  early.use_values(0, y, 8); // before prepare()
  const Status ran = session.run(0, batch, early);
  EXPECT_EQ(ran.code, Code::bad_call);
  EXPECT_EQ(ran.message,
            "toy: memory was handed in for output number 0, which there is not (or not before prepare)");
  EXPECT_EQ(dbc::Scalars<float>(early, 0)[0], 0);
  for (int32_t wrong : kWrong) {
    Outputs values, lists, depths;
    for (Outputs *out : {&values, &lists, &depths})
      out->prepare(info().entries[1], false);
    values.use_values(wrong, y, 8);
    lists.use_offsets(wrong, 0, offsets, 8);
    depths.use_offsets(0, wrong, offsets, 8);
    for (Outputs *out : {&values, &lists, &depths})
      EXPECT_EQ(session.run(1, batch, *out).code, Code::bad_call);
  }
}

//===-- Models, weights, batches ------------------------------------------------------------------------===//

TEST(Misuse, ModelsThatAreNotThere) {
  Weights weights(info());
  weights.draw(1);
  EXPECT_EQ(Model::make(code(), weights, nullptr).code, Code::bad_call);
  Model none;
  EXPECT_TRUE(none.info().name.empty());
  EXPECT_TRUE(none.code().entries.empty());
  Session session(none);
  Batch batch(info());
  fill(batch, 2);
  EXPECT_EQ(session.run(0, batch).message, "the session's model was never made");
  EXPECT_EQ(session.status(1).message, "the session's model was never made");
  EXPECT_EQ(session.status(2).message, "input 2 is outside 0..1 of the last run");

  // Moved from, a model is as if it had never been made; its sessions say so.
  Model model = sums();
  Session first(model);
  ASSERT_TRUE(first.run(0, batch).ok());
  Model there = std::move(model);
  EXPECT_TRUE(model.empty());
  EXPECT_EQ(first.run(0, batch).code, Code::bad_call);
  Session second(there);
  EXPECT_TRUE(second.run(0, batch).ok());
  model = std::move(there);
  EXPECT_TRUE(first.run(0, batch).ok());
  EXPECT_EQ(second.run(0, batch).code, Code::bad_call);
  // Made of other code, it is not what the session has plans for.
  static const dbc::ModelCode copy = code();
  ASSERT_TRUE(Model::make(copy, weights, &model).ok());
  EXPECT_EQ(first.run(0, batch).message,
            "toy: the session has run another model, which this one was made in place of");
}

TEST(Misuse, WeightsThatAreNotThere) {
  Weights weights(info());
  for (int32_t wrong : kWrong) {
    EXPECT_EQ(weights.data(wrong), nullptr);
    EXPECT_EQ(weights.size(wrong), 0u);
    weights.mark_given(wrong);
    EXPECT_FALSE(weights.given(wrong));
    weights.round_to_bf16(wrong);
  }
  EXPECT_EQ(weights.data("none"), nullptr);
  EXPECT_EQ(weights.set("W", nullptr, 2).code, Code::bad_weights);
  weights.draw(1);
  Weights moved = std::move(weights);
  EXPECT_TRUE(moved.check().ok());
  EXPECT_EQ(weights.check().code, Code::bad_weights);
  weights.draw(1);
  EXPECT_EQ(weights.data(0), nullptr);
  Model model;
  EXPECT_EQ(Model::make(code(), weights, &model).code, Code::bad_weights);
}

TEST(Misuse, BatchesThatWereMovedFrom) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  fill(batch, 2);
  Batch moved = std::move(batch);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.inputs(), 0);
  EXPECT_EQ(batch.begin_input(), -1);
  EXPECT_EQ(batch.add_node(Tree, Leaf), -1);
  batch.set_f32(Tree, 0, value, 1);
  batch.set_list(batch.args(), 0, 1, static_cast<const int32_t *>(nullptr), 0);
  batch.open_list(Bag, 0, grid);
  batch.push_int(1);
  batch.close_list();
  batch.number_node(Tree, 0, 1);
  batch.borrow_inputs(1);
  EXPECT_FALSE(batch.borrow_nodes(Tree, nullptr, 0, nullptr));
  batch.borrow_ints(Tree, left, nullptr, 0);
  batch.finish();
  EXPECT_EQ(batch.columns(Tree) + batch.rows(Tree), 0);
  EXPECT_EQ(batch.begin(Tree), nullptr);
  EXPECT_FALSE(batch.column(Tree, value).given);
  EXPECT_EQ(batch.status(0).code, Code::bad_call);
  const Status ran = session.run(0, batch);
  EXPECT_EQ(ran.code, Code::bad_call);
  EXPECT_EQ(ran.message, "toy: the batch was moved from");
  ASSERT_TRUE(session.run(0, moved).ok());
  EXPECT_EQ(session.outputs(0).number(0, 1), 2);
  batch = std::move(moved);
  ASSERT_TRUE(session.run(0, batch).ok());
}

// Tables, columns, rows and inputs that are not there.
TEST(Misuse, PlacesOfABatch) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  const auto refused = [&](Code code) {
    const Status ran = session.run(0, batch);
    EXPECT_TRUE(ran.code == code || (ran.ok() && session.status(batch.inputs() - 1).code == code))
        << ran.message;
    fill(batch, 2);
  };
  fill(batch, 2);
  const float number = 1;
  const int32_t whole = 1;
  const uint8_t flag_on = 1;
  for (int32_t wrong : kWrong) {
    EXPECT_EQ(batch.columns(wrong), 0);
    EXPECT_EQ(batch.column_info(wrong, 0).name, "");
    EXPECT_EQ(batch.column_info(Tree, wrong).name, "");
    EXPECT_EQ(batch.arg_column(wrong, 0), -1);
    EXPECT_EQ(batch.arg_column(0, wrong), -1);
    EXPECT_EQ(batch.arg_components(wrong), 0);
    EXPECT_EQ(batch.rows(wrong), 0);
    EXPECT_EQ(batch.begin(wrong), nullptr);
    EXPECT_EQ(batch.kinds(wrong), nullptr);
    EXPECT_FALSE(batch.column(wrong, 0).given);
    EXPECT_FALSE(batch.column(Tree, wrong).given);
    EXPECT_EQ(batch.input_of(wrong, 0), -1);
    EXPECT_EQ(batch.node_name(wrong, 0), "no node");
    EXPECT_EQ(batch.node_name(Tree, wrong), "no node");
    EXPECT_EQ(batch.describe(Code::bad_input, wrong, 0, 0, "no").message, "toy: no");
    EXPECT_EQ(batch.describe(Code::bad_input, Tree, wrong, wrong, "no").message, "toy: no");
    EXPECT_EQ(batch.status(wrong).code, Code::bad_call);
    for (int32_t table : {wrong, static_cast<int32_t>(Tree)})
      for (int32_t row : {wrong, 0})
        for (int32_t column : {wrong, static_cast<int32_t>(value)}) {
          if (table != wrong && row != wrong && column != wrong)
            continue;
          batch.set_f32(table, row, column, 1);
          refused(row == -1 && table == Tree && column == value ? Code::bad_input : Code::bad_call);
          batch.append_f32s(table, row, column, &number, 1);
          refused(row == -1 && table == Tree && column == value ? Code::bad_input : Code::bad_call);
          batch.open_list(table, row, column);
          refused(row == -1 && table == Tree && column == value ? Code::bad_input : Code::bad_call);
        }
    batch.borrow_f32s(Tree, wrong, &number, 1);
    refused(Code::bad_call);
    batch.borrow_offsets(Bag, trees, wrong, &whole, 1);
    refused(Code::bad_call);
    batch.fail(wrong, Status::error(Code::bad_input, "no"));
    refused(Code::bad_call);
    EXPECT_EQ(batch.add_node(wrong, 0), -1);
    refused(Code::bad_call);
    EXPECT_EQ(batch.add_node(Tree, wrong), -1);
    fill(batch, 2);
  }
  // Null pointers, and counts of numbers that do not fit.
  for (int32_t way = 0; way < 8; ++way) {
    batch.clear();
    batch.begin_input();
    root(batch, 0, leaf(batch, 1));
    const int32_t row = batch.add_node(Bag, 0);
    switch (way) {
    case 0:
      batch.set_f32s(Bag, row, x, nullptr, 3);
      break;
    case 1:
      batch.set_f32s(Bag, row, x, &number, 1);
      break;
    case 2:
      batch.set_list(Bag, row, trees, static_cast<const int32_t *>(nullptr), 4);
      break;
    case 3:
      batch.append_ints(Bag, row, trees, nullptr, 1);
      break;
    case 4:
      batch.set_bools(Bag, row, flag, nullptr, 1);
      break;
    case 5:
      batch.set_list(Bag, row, trees, &flag_on, 1); // of another type
      break;
    case 6:
      batch.open_list(Bag, row, grid);
      batch.open_list(Bag, row, grid);
      batch.push_ints(nullptr, 1);
      break;
    default:
      batch.set_nodes(Bag, row, trees, static_cast<const Handle *>(nullptr), 2);
    }
    const Status ran = session.run(0, batch);
    EXPECT_TRUE(ran.code == Code::bad_call || session.status(0).code == Code::bad_input) << way;
  }
}

//===-- Sessions ----------------------------------------------------------------------------------------===//

static_assert(std::is_nothrow_move_constructible_v<Session> && std::is_nothrow_move_assignable_v<Session>);
static_assert(!std::is_copy_constructible_v<Session>);
static_assert(!std::is_constructible_v<Session, Model>, "a model that is gone before the first run");
static_assert(std::is_nothrow_move_constructible_v<Batch> && std::is_nothrow_move_constructible_v<Model> &&
              std::is_nothrow_move_constructible_v<Outputs>);

TEST(Misuse, NumbersOfThreads) {
  Model model = sums();
  Batch batch(info());
  fill(batch, 2);
  for (int32_t threads : {0, -3, INT_MIN, 1025, INT_MAX}) {
    Session session(model, threads);
    for (int32_t run = 0; run < 2; ++run) {
      const Status ran = session.run(0, batch);
      EXPECT_EQ(ran.code, Code::bad_call);
      EXPECT_EQ(ran.message, "toy: a session of " + std::to_string(threads) + " threads; it has " +
                                 (threads < 1 ? "one at least" : "1024 at most"));
    }
    EXPECT_EQ(session.status(1).code, Code::bad_call);
  }
}

// A session goes on where it is moved to, with its settings and results; what it was moved from says so.
TEST(Misuse, MovedSessions) {
  Model model = sums();
  Batch batch(info());
  fill(batch, 3);
  Session session(model, 2);
  session.limit_sub_batch(1);
  ASSERT_TRUE(session.run(0, batch).ok());
  const float *results = session.outputs(0).f32(0);
  Session moved = std::move(session);
  EXPECT_EQ(moved.outputs(0).f32(0), results);
  EXPECT_TRUE(moved.status(2).ok());
  EXPECT_EQ(moved.threads(), 2);
  EXPECT_EQ(session.run(0, batch).message, "the session was moved from");
  EXPECT_EQ(session.begin(0, batch).code, Code::bad_call);
  EXPECT_EQ(session.finish().code, Code::bad_call);
  EXPECT_EQ(session.status(0).message, "the session was moved from");
  EXPECT_EQ(session.outputs(0).components() + session.failed() + session.threads(), 0);
  EXPECT_TRUE(session.profile(0).stages.empty());
  EXPECT_TRUE(session.model().empty());
  session.limit_sub_batch(3);
  // Between begin() and finish().
  ASSERT_TRUE(moved.begin(1, batch).ok());
  EXPECT_EQ(moved.status(0).message, "toy: a run has begun that is not finished");
  EXPECT_EQ(Views(moved).lists.length(0), 0);
  session = std::move(moved);
  EXPECT_EQ(moved.finish().code, Code::bad_call);
  ASSERT_TRUE(session.finish().ok());
  EXPECT_EQ(Views(session).lists.length(2), 3);
  EXPECT_EQ(session.finish().message, "toy: no run has begun");
  EXPECT_TRUE(session.status(2).ok()); // refusing it changed nothing
  ASSERT_TRUE(session.run(0, batch).ok());
}

// A batch that is filled anew under a run that has begun.
TEST(Misuse, BatchesThatChangeUnderARun) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  for (int32_t way = 0; way < 4; ++way) {
    fill(batch, 3);
    Batch elsewhere(info());
    ASSERT_TRUE(session.begin(0, batch).ok());
    if (way == 0)
      batch.clear();
    else if (way == 1)
      batch.begin_input();
    else if (way == 2)
      elsewhere = std::move(batch);
    else {
      fill(batch, 5);
      batch.finish();
    }
    const Status finished = session.finish();
    EXPECT_EQ(finished.code, Code::bad_call);
    EXPECT_EQ(finished.message, "toy: the batch was changed between begin() and finish()");
    EXPECT_EQ(session.status(2).message, finished.message);
    EXPECT_EQ(session.outputs(0).number(0, 2), 0);
    if (way == 2)
      batch = std::move(elsewhere);
  }
}

/// Computes nothing, but lets others at the session while it does.
struct Meeting {
  std::atomic<bool> in{false}, out{false};
};
Meeting *meeting = nullptr;
class MeetingPlan : public dbc::EntryPlan {
  void schedule(dbc::Run &) override {
    meeting->in = true;
    while (!meeting->out)
      std::this_thread::yield();
  }
  void compute(dbc::Run &) override {}
};

// The second thread in a session gets an error, and changes nothing.
TEST(Misuse, TwoThreadsInASession) {
  dbc::ModelCode waiting = code();
  waiting.entries[0].make_plan = dbc::make_plan<MeetingPlan>;
  Weights weights(info());
  weights.draw(1);
  Model model;
  ASSERT_TRUE(Model::make(waiting, weights, &model).ok());
  Session session(model);
  Batch batch(info()), other(info());
  fill(batch, 3);
  fill(other, 1);
  Meeting here;
  meeting = &here;
  Status first;
  std::thread thread([&] { first = session.run(0, batch); });
  while (!here.in)
    std::this_thread::yield();
  const char *why = "toy: the session is in use by another thread";
  EXPECT_EQ(session.run(0, other).message, why);
  EXPECT_EQ(session.run(0, other).code, Code::bad_call);
  EXPECT_EQ(session.begin(1, other).message, why);
  EXPECT_EQ(session.finish().message, why);
  EXPECT_EQ(session.status(0).message, why);
  EXPECT_EQ(session.outputs(0).components() + session.failed(), 0);
  EXPECT_TRUE(session.profile(0).stages.empty());
  session.limit_sub_batch(1);
  here.out = true;
  thread.join();
  EXPECT_TRUE(first.ok()) << first.message;
  EXPECT_TRUE(session.status(2).ok());
  // The setting was not made, which is said once.
  EXPECT_EQ(session.run(0, other).message,
            "toy: a setting was changed while another thread used the session, or "
            "without memory for it: it is as it was");
  EXPECT_TRUE(session.run(0, other).ok());
  // One after the other is fine.
  std::thread([&] { first = session.begin(0, batch); }).join();
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(session.finish().ok());
}

} // namespace
