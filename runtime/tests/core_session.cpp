// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Whole runs of a model written by hand: results, failing inputs, outputs of the caller, threads.
#include "core_models.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>

namespace {

using namespace core_models;
using dbc::Batch;
using dbc::Code;
using dbc::Model;
using dbc::Outputs;
using dbc::Pool;
using dbc::Session;
using dbc::Status;

/// A random tree of `leaves` leaves; adds up what they hold.
int32_t grow(Batch &batch, std::mt19937 &random, int leaves, double *sum) {
  std::vector<int32_t> roots;
  for (int i = 0; i < leaves; ++i) {
    float v = static_cast<float>(random() % 16);
    *sum += v;
    roots.push_back(leaf(batch, v));
  }
  while (roots.size() > 1) {
    size_t at = random() % (roots.size() - 1);
    roots[at] = node(batch, roots[at], roots[at + 1]);
    roots.erase(roots.begin() + static_cast<long>(at) + 1);
  }
  return roots[0];
}

std::vector<double> fill(Batch &batch, int inputs, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> sums;
  for (int i = 0; i < inputs; ++i) {
    batch.begin_input();
    sums.push_back(0);
    root(batch, i, grow(batch, random, 1 + static_cast<int>(random() % 30), &sums.back()));
  }
  return sums;
}

TEST(Session, RunsABatch) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  std::vector<double> expected = fill(batch, 50, 1);
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.failed(), 0);
  const Outputs &out = session.outputs(0);
  ASSERT_EQ(out.components(), 1);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(out.f32(0)[i], expected[i]);
  EXPECT_EQ(session.profile(0).rounds, 1);
  EXPECT_EQ(session.profile(0).nodes, batch.rows(Tree));
  EXPECT_GT(session.profile(0).stages[0].launches, 0);
  EXPECT_GT(session.profile(0).schedule_ns, 0);
  EXPECT_STREQ(session.profile(0).stages[0].name, "add");
}

TEST(Session, InputsThatFailLeaveTheOthersAlone) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  std::vector<double> expected = fill(batch, 3, 2);
  batch.begin_input(); // 3: no argument
  batch.begin_input(); // 4: a cycle
  int32_t n = batch.add_node(Tree, Node);
  batch.set_node(Tree, n, left, n);
  batch.set_node(Tree, n, right, n);
  root(batch, 4, n);
  batch.begin_input(); // 5: a missing child
  n = batch.add_node(Tree, Node);
  batch.set_node(Tree, n, left, leaf(batch, 1));
  root(batch, 5, n);
  batch.begin_input(); // 6: a reference to nowhere
  root(batch, 6, node(batch, leaf(batch, 2), 1000000));
  batch.begin_input(); // 7: fine
  root(batch, 7, node(batch, leaf(batch, 2), leaf(batch, 3)));
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.failed(), 4);
  const float *y = session.outputs(0).f32(0);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(y[i], expected[i]);
  for (int i = 3; i < 7; ++i)
    EXPECT_EQ(y[i], 0);
  EXPECT_EQ(y[7], 5);
  EXPECT_EQ(session.status(3).message, "toy: input 3: argument `t` is not given");
  EXPECT_EQ(session.status(4).message,
            "toy: input 4: Tree node 0 (Node): a value needs itself: add(Tree node 0) -> add(Tree node 0)");
  EXPECT_EQ(session.status(5).message, "toy: input 5: Tree node 0 (Node): field `right` is not given");
  EXPECT_EQ(session.status(5).code, Code::bad_input);
  EXPECT_EQ(session.status(6).message.substr(0, 71),
            "toy: input 6: Tree node 1 (Node): field `right`: refers to Tree node 99");
  EXPECT_EQ(session.profile(0).rounds, 2);
  // Again: nothing is left of the failures.
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.failed(), 4);
  batch.clear();
  expected = fill(batch, 3, 3);
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.failed(), 0);
  EXPECT_EQ(session.outputs(0).f32(0)[2], expected[2]);
}

// Inputs that take no memory fit into a sub-batch however many they are, in every run (clean under
// sanitizers).
TEST(Session, InputsOfNothing) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  for (int i = 0; i < 3; ++i) {
    batch.begin_input();
    batch.set_empty(batch.args(), i, batch.arg_column(1, 0));
  }
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(session.run(1, batch).ok());
    EXPECT_EQ(session.outputs(1).component(0).values, 0);
  }
}

// However the batch is cut into sub-batches; the input that fails stands at the end of one, at its start, or
// alone.
TEST(Session, ListsOfResults) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  int32_t column = batch.arg_column(1, 0);
  for (int i = 0; i < 4; ++i) {
    batch.begin_input();
    batch.set_empty(batch.args(), i, column);
    for (int k = 0; k < i; ++k)
      batch.append_int(batch.args(), i, column, leaf(batch, static_cast<float>(10 * i + k)));
  }
  batch.begin_input();
  batch.append_int(batch.args(), 4, column, batch.add_node(Tree, Leaf)); // no value
  batch.begin_input();
  batch.append_int(batch.args(), 5, column, leaf(batch, 7));
  for (int32_t sub_batch : {0, 5, 4, 2, 1}) {
    session.limit_sub_batch(sub_batch);
    ASSERT_TRUE(session.run(1, batch).ok());
    const Outputs &out = session.outputs(1);
    EXPECT_EQ(out.lists(0, 0), 6);
    EXPECT_EQ(std::vector<int32_t>(out.offsets(0, 0), out.offsets(0, 0) + 7),
              (std::vector<int32_t>{0, 0, 1, 3, 6, 6, 7}));
    EXPECT_EQ(out.component(0).values, 7);
    EXPECT_EQ(std::vector<float>(out.f32(0), out.f32(0) + 7),
              (std::vector<float>{10, 20, 21, 30, 31, 32, 7}));
    EXPECT_EQ(out.number(0, 3), 30);
    EXPECT_FALSE(session.status(4).ok());
    EXPECT_EQ(session.profile(1).rounds, 2);
  }
}

// Lists that go to the caller's memory go there as a whole or not at all, however small the sub-batches
// should be.
TEST(Session, CallersLists) {
  Model model = sums();
  Session session(model);
  session.limit_sub_batch(1);
  Batch batch(info());
  int32_t column = batch.arg_column(1, 0);
  for (int i = 0; i < 3; ++i) {
    batch.begin_input();
    batch.append_int(batch.args(), i, column, leaf(batch, static_cast<float>(i)));
  }
  float y[3] = {-1, -1, -1};
  int32_t offsets[4] = {-1, -1, -1, -1};
  Outputs out;
  out.prepare(info().entries[1], false);
  out.use_values(0, y, 2);
  out.use_offsets(0, 0, offsets, 4);
  EXPECT_EQ(session.run(1, batch, out).message, "toy: the output needs room for 3 numbers, 2 were given");
  EXPECT_EQ(y[0], -1);
  out.use_values(0, y, 3);
  ASSERT_TRUE(session.run(1, batch, out).ok());
  EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(std::vector<int32_t>(offsets, offsets + 4), (std::vector<int32_t>{0, 1, 2, 3}));
}

// A sub-batch is as large as its buffers allow, once it is known what an input takes in them.
TEST(Session, SubBatchesOfALargeBatch) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  std::vector<double> expected = fill(batch, 5000, 4);
  auto launches = [&] {
    EXPECT_TRUE(session.run(0, batch).ok());
    for (int i = 0; i < 5000; ++i)
      EXPECT_EQ(session.outputs(0).f32(0)[i], expected[i]);
    return session.profile(0).stages[0].launches;
  };
  session.limit_sub_batch(5000);
  const int64_t whole = launches();
  session.limit_sub_batch(0);
  EXPECT_EQ(launches(), whole); // a number a node: all fits
  session.limit_sub_batch(50);
  EXPECT_GT(launches(), 50 * whole);
}

// The first run knows after one input how large sub-batches should be: it does not take the memory of the
// whole batch.
TEST(Session, TheFirstRunIsInSubBatches) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  const int inputs = 200000;
  std::vector<double> expected = fill(batch, inputs, 4);
  EXPECT_TRUE(session.run(0, batch).ok());
  const int64_t first = session.profile(0).buffer_bytes;
  EXPECT_EQ(session.outputs(0).f32(0)[0], expected[0]);
  EXPECT_EQ(session.outputs(0).f32(0)[inputs - 1], expected[inputs - 1]);
  session.limit_sub_batch(inputs);
  EXPECT_TRUE(session.run(0, batch).ok());
  EXPECT_GT(first, 0);
  EXPECT_LT(2 * first, session.profile(0).buffer_bytes);
}

// A log has when each sub-batch of the last run was scheduled.
TEST(Session, SubBatchesAreWrittenDown) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  fill(batch, 30, 4);
  session.limit_sub_batch(10);
  dbc::LaunchLog log;
  session.log_launches(&log);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(session.run(0, batch).ok());
    ASSERT_EQ(log.sub_batches.size(), 3u);
    int64_t end = 1;
    for (const dbc::LaunchLog::SubBatch &sub_batch : log.sub_batches) {
      EXPECT_LE(end, sub_batch.schedule.begin);
      EXPECT_LT(0, sub_batch.schedule.length);
      end = sub_batch.schedule.begin + sub_batch.schedule.length;
    }
  }
  session.log_launches(nullptr);
  session.limit_sub_batch(30);
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(log.sub_batches.size(), 3u);
}

TEST(Session, CallersOutputs) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  std::vector<double> expected = fill(batch, 5, 4);
  float y[5] = {-1, -1, -1, -1, -1};
  Outputs out;
  out.prepare(info().entries[0], false);
  out.use_values(0, y, 4);
  Status s = session.run(0, batch, out);
  EXPECT_EQ(s.code, Code::bad_call);
  EXPECT_EQ(s.message, "toy: the output needs room for 5 numbers, 4 were given");
  EXPECT_EQ(y[0], -1);
  out.use_values(0, y, 5);
  ASSERT_TRUE(session.run(0, batch, out).ok());
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(y[i], expected[i]);
  EXPECT_EQ(out.f32(0), y);
}

TEST(Session, WrongCalls) {
  Model model = sums(), none;
  Session session(model), empty(none);
  Batch batch(info());
  // Results before the first run: there are none.
  EXPECT_EQ(session.outputs(0).components(), 0);
  EXPECT_EQ(session.outputs(7).inputs(), 0);
  EXPECT_EQ(session.profile(0).stages.size(), 0u);
  EXPECT_EQ(session.run(7, batch).message, "toy: there is no entry number 7");
  EXPECT_EQ(empty.run(0, batch).code, Code::bad_call);
  EXPECT_EQ(empty.outputs(0).components(), 0);
  dbc::ModelInfo other = info();
  other.name = "other";
  Batch foreign(other);
  EXPECT_EQ(session.run(0, foreign).message, "toy: the batch is of another model, other");
  // A batch without inputs is fine.
  EXPECT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.outputs(0).inputs(), 0);
}

TEST(Session, SameBitsAloneInAnyBatchAtAnyThreadCount) {
  dbc::Weights weights(info());
  weights.draw(5);
  Model model;
  ASSERT_TRUE(Model::make(code(), weights, &model).ok());
  constexpr int kInputs = 400;
  Session one(model, 1), three(model, 3);
  Batch batch(info()), reversed(info());
  fill(batch, kInputs, 6);
  ASSERT_TRUE(one.run(0, batch).ok());
  std::vector<float> y(one.outputs(0).f32(0), one.outputs(0).f32(0) + kInputs);
  ASSERT_TRUE(three.run(0, batch).ok());
  EXPECT_EQ(std::memcmp(y.data(), three.outputs(0).f32(0), sizeof(float) * kInputs), 0);
  // Each input alone.
  std::mt19937 random(6);
  for (int i = 0; i < kInputs; ++i) {
    Batch alone(info());
    alone.begin_input();
    double sum = 0;
    root(alone, 0, grow(alone, random, 1 + static_cast<int>(random() % 30), &sum));
    ASSERT_TRUE(one.run(0, alone).ok());
    ASSERT_EQ(std::memcmp(&y[i], one.outputs(0).f32(0), sizeof(float)), 0) << i;
  }
}

TEST(Session, AMillionNodesInAChain) {
  Model model = sums();
  Session session(model);
  Batch batch(info());
  batch.begin_input();
  int32_t last = leaf(batch, 1), zero = leaf(batch, 0);
  for (int i = 0; i < 1000000; ++i)
    last = node(batch, last, zero);
  root(batch, 0, last);
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.outputs(0).f32(0)[0], 1);
}

TEST(Session, AMillionTreesOfOneNode) {
  Model model = sums();
  Session session(model, 2);
  Batch batch(info());
  for (int i = 0; i < 1000000; ++i) {
    batch.begin_input();
    root(batch, i, leaf(batch, static_cast<float>(i % 100)));
  }
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.failed(), 0);
  EXPECT_EQ(session.outputs(0).f32(0)[999999], 99);
}

// --- Pool
// -----------------------------------------------------------------------------------------------------------

TEST(Pool, EveryChunkOnceOnItsWorker) {
  for (int32_t threads : {0, 1, 2, 5}) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), std::max(threads, 1));
    for (int round = 0; round < 300; ++round) {
      int32_t chunks = round % 13;
      std::vector<std::atomic<int>> done(13);
      std::atomic<int> wrong{0};
      pool.run(chunks, [&](int32_t chunk, int32_t worker) {
        ++done[chunk];
        wrong += worker < 0 || worker >= pool.threads();
      });
      for (int32_t c = 0; c < 13; ++c)
        ASSERT_EQ(done[c], c < chunks);
      ASSERT_EQ(wrong, 0);
    }
  }
}

// --- sharing a launch

TEST(Shares, EveryTileOfEveryRowOnce) {
  for (int32_t rows : {1, 2, 5, 36, 37, 1000})
    for (int32_t tiles : {1, 4, 5, 10, 17})
      for (int32_t threads : {1, 2, 3, 4, 7, 16}) {
        const dbc::Shares shares = dbc::share_out(rows, tiles, threads);
        ASSERT_LE(shares.rows * shares.tiles, threads);
        std::vector<int> done(static_cast<size_t>(rows) * tiles);
        for (int32_t item = 0; item < shares.rows * shares.tiles; ++item) {
          const dbc::Share share = dbc::share_of(shares, item, 100, 100 + rows, tiles);
          // The last two tiles may overlap: one thread has both.
          EXPECT_TRUE(tiles == 1 || share.tile_end - share.tile_begin >= 2);
          for (int32_t row = share.begin; row < share.end; ++row)
            for (int32_t tile = share.tile_begin; tile < share.tile_end; ++tile)
              ++done[static_cast<size_t>(row - 100) * tiles + tile];
        }
        for (int count : done)
          ASSERT_EQ(count, 1) << rows << " rows, " << tiles << " tiles, " << threads << " threads";
      }
}

TEST(Shares, ThreadsKeepTheirTilesAndAllHaveWork) {
  // The weights of a thread's tiles stay in its cache: no tile changes hands from launch to launch.
  for (int32_t rows : {1, 3, 20, 500})
    EXPECT_EQ(dbc::share_out(rows, 16, 2).tiles, 2) << rows;
  // Five threads for ten rows of three tiles: what cannot be cut in tiles is cut in rows.
  EXPECT_EQ(dbc::share_out(10, 3, 5).rows, 5);
  EXPECT_EQ(dbc::share_out(10, 1, 5).rows, 5);
  EXPECT_EQ(dbc::share_out(3, 1, 5).rows, 3);
  // Eight threads for eight tiles: two tiles each are four items, so there are two of the rows.
  EXPECT_EQ(dbc::share_out(100, 8, 8).rows, 2);
  EXPECT_EQ(dbc::share_out(100, 8, 8).tiles, 4);
}

TEST(Shares, LoopsRunConcurrentlyWhereThatIsSooner) {
  auto concurrent = [](std::initializer_list<dbc::LoopWork> works, int32_t threads) {
    return dbc::worth_concurrent(works.begin(), static_cast<int32_t>(works.size()), threads);
  };
  const dbc::LoopWork small{50, 50 * int64_t(100'000)}, large{50, 50 * int64_t(100'000'000)};
  EXPECT_FALSE(concurrent({small, small}, 1));
  EXPECT_TRUE(concurrent({small, small}, 2));
  EXPECT_TRUE(concurrent({large, large}, 2));
  // Steps too small to be shared leave the other threads idle either way; large ones would not.
  EXPECT_TRUE(concurrent({small, small}, 8));
  EXPECT_FALSE(concurrent({large, large}, 8));
  // One large loop is shared by both threads rather than left to one.
  EXPECT_FALSE(concurrent({small, large}, 2));
  EXPECT_FALSE(concurrent({large, large, large}, 2));
  EXPECT_TRUE(concurrent({large, large, large, large}, 2));
}

} // namespace
