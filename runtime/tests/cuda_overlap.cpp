// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The host schedules and copies what comes next while a device computes.
#include "cuda_models.h"

namespace {

using CudaOverlap = CudaContext;
using Events = std::vector<std::string>;

// Sub-batches interleaved on two contexts: what sub-batch k + 1 has is copied and launched before k is waited
// for.
TEST_F(CudaOverlap, InterleavedSubBatches) {
  dbc::Session session(model_);
  Context one(on_), other(on_);
  session.compute_on(&one, &other);
  session.limit_sub_batch(10);
  fill(35);
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
  const Events first = {"copy 0", "launch 0", "copy 0"}, second = {"copy 1", "launch 1", "copy 1"};
  Events expected = first;
  for (const auto &[begun, waited] : {std::pair(second, "wait 0"), {first, "wait 1"}, {second, "wait 0"}}) {
    expected.insert(expected.end(), begun.begin(), begun.end());
    expected.push_back(waited);
  }
  expected.push_back("wait 1");
  EXPECT_EQ(gpu.events, expected);
  EXPECT_EQ(session.profile(0).stages[0].rows, 35);
  EXPECT_EQ(session.profile(0).stages[0].launches, 4);

  // In steady state nothing is allocated.
  const int32_t before = gpu.allocations;
  for (int32_t inputs : {35, 12, 3, 0, 31}) {
    fill(inputs);
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_TRUE(right(session)) << inputs;
  }
  EXPECT_EQ(gpu.allocations, before);

  // With one context they come one after the other.
  session.compute_on(&one);
  gpu.events.clear();
  fill(20);
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
  EXPECT_EQ(gpu.events,
            Events({"copy 0", "launch 0", "copy 0", "wait 0", "copy 0", "launch 0", "copy 0", "wait 0"}));
}

// A sub-batch copies the nodes of its own inputs alone, and needs memory for them alone, however large the
// batch is: no more is copied in sub-batches than the sub-batches have.
TEST_F(CudaOverlap, SubBatchesHaveTheirOwnNodes) {
  const auto nodes_of = [](int32_t input) { return 10 <= input && input < 20 ? 40 : 20; };
  for (int32_t input = 0, first = 0; input < 35; first += nodes_of(input++)) {
    batch_.begin_input();
    for (int32_t n = 0; n < nodes_of(input); ++n)
      leaf(batch_, static_cast<float>(first + n));
    root(batch_, input, first + input % 20);
  }
  // Results and the header; the header, leaves and values.
  const auto back = [](int32_t inputs) { return room(inputs * sizeof(float)) + 256; };
  const auto there = [](int32_t inputs, int32_t nodes) {
    return room(256) + room(inputs * sizeof(int32_t)) + room(nodes * sizeof(float));
  };
  const size_t most = room(10 * sizeof(float)) + there(10, 400) + room(256 * sizeof(ErrorRecord));
  for (size_t short_of : {1, 0}) {
    dbc::cuda::ContextOptions options;
    options.limit_bytes = most - short_of;
    Context context(on_, options);
    dbc::Session session(model_);
    session.compute_on(&context);
    session.limit_sub_batch(10);
    gpu.copied = 0;
    const Status status = session.run(0, batch_);
    EXPECT_EQ(status.code, short_of > 0 ? Code::limit : Code::ok) << status.message;
    if (short_of > 0)
      continue;
    EXPECT_EQ(context.bytes(), most);
    EXPECT_EQ(gpu.copied,
              there(10, 200) + there(10, 400) + there(10, 200) + there(5, 100) + 3 * back(10) + back(5));
    for (int32_t input = 0, first = 0; input < 35; first += nodes_of(input++))
      EXPECT_EQ(session.outputs(0).f32(0)[input], 7.f * static_cast<float>(first + input % 20) + 0.5f);
  }
}

// Lists of a sub-batch that was left stand where they stood, though the next sub-batch has begun.
TEST(CudaOutputs, SubBatchesThatAreLeft) {
  dbc::Outputs out;
  out.prepare(info().entries[1], false);
  out.begin(4);
  const int32_t inputs[] = {0, 1, 2, 3}, of_first[] = {0, 0, 0, 1}, of_second[] = {1, 1};
  dbc::Outputs::SubBatch first, second;
  out.begin_sub_batch({0, 2});
  out.list(0, 0, of_first, 4, inputs, 2);
  ASSERT_TRUE(out.commit().ok());
  out.leave_sub_batch(first);
  out.begin_sub_batch({2, 4});
  out.list(0, 0, of_second, 2, inputs + 2, 2);
  ASSERT_TRUE(out.commit().ok());
  out.leave_sub_batch(second);
  out.enter_sub_batch(first);
  EXPECT_EQ(out.values<float>(0), out.f32(0));
  out.enter_sub_batch(second);
  EXPECT_EQ(out.values<float>(0), out.f32(0) + 4);
  EXPECT_EQ(std::vector<int32_t>(out.offsets(0, 0), out.offsets(0, 0) + 5),
            std::vector<int32_t>({0, 3, 4, 4, 6}));
}

// What could not be begun is reported by the run that began it, not by one that is waited for in between.
TEST_F(CudaOverlap, AFailedLaunchIsOfItsOwnRun) {
  dbc::Session first(model_), second(model_);
  Context one(on_), other(on_);
  first.compute_on(&one);
  second.compute_on(&other);
  fill(5);
  ASSERT_TRUE(first.begin(0, batch_).ok());
  gpu.launches_to_go = 0;
  Status status = second.begin(0, batch_);
  ASSERT_TRUE(first.finish().ok());
  EXPECT_TRUE(right(first));
  if (status.ok())
    status = second.finish();
  EXPECT_EQ(status.message, "toy: the kernel could not be begun");
  EXPECT_EQ(second.run(0, batch_).message, "toy: the kernel could not be begun"); // it may be anything
  EXPECT_TRUE(first.run(0, batch_).ok());
}

// Where a sub-batch cannot be begun, the one before is done when the run comes back: the batch may go then.
TEST_F(CudaOverlap, TheOtherSubBatchIsDone) {
  dbc::Session session(model_);
  Context one(on_), other(on_);
  session.compute_on(&one, &other);
  session.limit_sub_batch(10);
  fill(35);
  gpu.refusing = 2; // requests of the first context are granted
  gpu.refusals = 2;
  EXPECT_EQ(session.run(0, batch_).code, Code::limit);
  EXPECT_EQ(gpu.events, Events({"copy 0", "launch 0", "copy 0", "wait 0"}));
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
}

// A context that is given twice is one.
TEST_F(CudaOverlap, OneContextTwice) {
  dbc::Session session(model_);
  Context one(on_);
  session.compute_on(&one, &one);
  session.limit_sub_batch(10);
  fill(35);
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
}

// What is wrong in a sub-batch is found though the next one has begun, and where it is more than there was
// room for the sub-batch alone is computed again.
TEST_F(CudaOverlap, ErrorsOfInterleavedSubBatches) {
  dbc::Session session(model_);
  Context one(on_), other(on_);
  session.compute_on(&one, &other);
  session.limit_sub_batch(300);
  LeafPlan::attempts = 0;
  fill(1200, [](int32_t i) { return i < 300 ? -2.f : i == 700 ? -1.f : 1.f; });
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
  EXPECT_EQ(LeafPlan::attempts, 5);
}

// Two sessions interleaved: what the second has is begun before the first is waited for.
TEST_F(CudaOverlap, InterleavedBatches) {
  dbc::Session sessions[2] = {dbc::Session(model_), dbc::Session(model_)};
  Context one(on_), other(on_);
  sessions[0].compute_on(&one);
  sessions[1].compute_on(&other);
  Batch batches[2] = {Batch(info()), Batch(info())};
  for (int32_t round = 0; round < 6; ++round) {
    Batch &batch = batches[round % 2];
    batch.clear();
    for (int32_t i = 0; i < 5 + round; ++i) {
      batch.begin_input();
      root(batch, i, leaf(batch, static_cast<float>(round + i)));
    }
    ASSERT_TRUE(sessions[round % 2].begin(0, batch).ok());
    EXPECT_EQ(sessions[round % 2].outputs(0).inputs(), 0); // there are none yet
    if (round == 0)
      continue;
    dbc::Session &before = sessions[(round + 1) % 2];
    ASSERT_TRUE(before.finish().ok());
    ASSERT_EQ(before.outputs(0).inputs(), 5 + round - 1);
    for (int32_t i = 0; i < before.outputs(0).inputs(); ++i)
      EXPECT_EQ(before.outputs(0).f32(0)[i], 7 * static_cast<float>(round - 1 + i) + 0.5f);
  }
  ASSERT_TRUE(sessions[1].finish().ok());
  const Events begun = {"copy 0", "launch 0", "copy 0", "copy 1", "launch 1", "copy 1", "wait 0"};
  ASSERT_GE(gpu.events.size(), begun.size());
  EXPECT_EQ(Events(gpu.events.begin(), gpu.events.begin() + begun.size()), begun);
}

// Calls that do not fit are refused, and harm nothing.
TEST_F(CudaOverlap, CallsThatDoNotFit) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(9);
  EXPECT_EQ(session.finish().message, "toy: no run has begun");
  ASSERT_TRUE(session.begin(0, batch_).ok());
  for (const Status &status : {session.begin(0, batch_), session.run(0, batch_)}) {
    EXPECT_EQ(status.code, Code::bad_call);
    EXPECT_EQ(status.message, "toy: a run has begun that is not finished");
  }
  session.compute_on(nullptr); // from the next run on
  ASSERT_TRUE(session.finish().ok());
  EXPECT_TRUE(right(session));
  EXPECT_EQ(session.finish().code, Code::bad_call);
  // On the CPU begin() does all.
  ASSERT_TRUE(session.begin(0, batch_).ok());
  ASSERT_TRUE(session.finish().ok());
  EXPECT_TRUE(right(session));
  // A run that could not begin needs no end.
  EXPECT_EQ(session.begin(7, batch_).message, "toy: there is no entry number 7");
  EXPECT_EQ(session.finish().code, Code::bad_call);
}

// A context whose results another session has overwritten gives none.
TEST_F(CudaOverlap, AContextOfTwoSessions) {
  dbc::Session one(model_), other(model_);
  Context context(on_);
  one.compute_on(&context);
  other.compute_on(&context);
  fill(9);
  ASSERT_TRUE(one.begin(0, batch_).ok());
  ASSERT_TRUE(other.begin(0, batch_).ok());
  const Status status = one.finish();
  EXPECT_EQ(status.code, Code::bad_call);
  EXPECT_EQ(status.message, "toy: another run has begun on the context in between");
  EXPECT_EQ(one.status(3).message, status.message);
  EXPECT_EQ(one.outputs(0).f32(0)[3], 0);
  ASSERT_TRUE(other.finish().ok());
  EXPECT_TRUE(right(other));
  // What is staged is not overwritten while a copy of it is under way, also of a run that nobody finishes.
  gpu.events.clear();
  {
    dbc::Session third(model_);
    third.compute_on(&context);
    ASSERT_TRUE(third.begin(0, batch_).ok());
  }
  ASSERT_TRUE(one.run(0, batch_).ok());
  EXPECT_TRUE(right(one));
  EXPECT_EQ(gpu.events,
            Events({"copy 0", "launch 0", "copy 0", "wait 0", "copy 0", "launch 0", "copy 0", "wait 0"}));
}

// A failure of the device is reported by finish(), and stays.
TEST_F(CudaOverlap, FailuresAreReportedAtTheEnd) {
  dbc::Session session(model_);
  Context context(on_), other(on_);
  session.compute_on(&context);
  fill(9);
  gpu.failing = 0;
  ASSERT_TRUE(session.begin(0, batch_).ok());
  EXPECT_EQ(session.finish().message, "toy: the GPU is on fire");
  EXPECT_EQ(session.status(3).message, "toy: the GPU is on fire");
  EXPECT_EQ(session.begin(0, batch_).message, "toy: the GPU is on fire");
  session.compute_on(&other);
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
}

} // namespace
