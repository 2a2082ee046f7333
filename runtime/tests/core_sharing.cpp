// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which nodes are alike, and runs that compute them once.
#include "core_models.h"

#include <dbc/sharing.h>

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace core_models;
using dbc::Batch;
using dbc::ColumnRef;
using dbc::InputStatuses;
using dbc::SharedNodes;

const std::vector<ColumnRef> kSums = {{Tree, value}, {Tree, left}, {Tree, right}};
const std::vector<ColumnRef> kBags = {{Tree, value}, {Bag, trees}, {Bag, grid}, {Bag, x}, {Bag, flag}};

/// For each node the first one that is like it, of all inputs that are well.
std::vector<int32_t> alike(Batch &batch, int32_t data, const std::vector<ColumnRef> &fields) {
  InputStatuses statuses;
  EXPECT_TRUE(batch.validate(fields.data(), fields.size(), statuses).ok());
  SharedNodes shared;
  shared.find(batch, fields, statuses);
  return {shared.of(data), shared.of(data) + batch.rows(data)};
}
using Nodes = std::vector<int32_t>;

TEST(Sharing, OverInputsInTheFieldsAskedFor) {
  Batch batch(info());
  batch.begin_input(); // 0 1 2
  int32_t a = leaf(batch, 1);
  node(batch, a, leaf(batch, 2));
  batch.begin_input(); // a parent before its children: 3 4 5
  const int32_t parent = batch.add_node(Tree, Node), one = leaf(batch, 1), two = leaf(batch, 2);
  batch.set_node(Tree, parent, left, one);
  batch.set_node(Tree, parent, right, two);
  node(batch, two, one);              // 6: the other way round
  batch.set_int(Tree, one, label, 3); // is not asked for
  EXPECT_EQ(alike(batch, Tree, kSums), (Nodes{0, 1, 2, 2, 0, 1, 6}));
  EXPECT_EQ(alike(batch, Tree, {{Tree, value}}), (Nodes{0, 1, 2, 2, 0, 1, 2}));
  std::vector<ColumnRef> all = kSums;
  all.push_back({Tree, label});
  EXPECT_EQ(alike(batch, Tree, all), (Nodes{0, 1, 2, 3, 4, 1, 6}));
}

TEST(Sharing, NumbersBitByBit) {
  Batch batch(info());
  batch.begin_input();
  leaf(batch, 0.0f);
  leaf(batch, -0.0f);
  leaf(batch, 1);
  leaf(batch, 1.0000001f);
  batch.add_node(Tree, Leaf); // has no value
  batch.add_node(Tree, Leaf);
  EXPECT_EQ(alike(batch, Tree, kSums), (Nodes{0, 1, 2, 3, 4, 4}));
}

TEST(Sharing, ListsByWhatTheyHoldAndHowLongTheyAre) {
  Batch batch(info());
  batch.begin_input();
  const int32_t leaves[] = {leaf(batch, 1), leaf(batch, 2), leaf(batch, 1)};
  auto bag = [&](std::vector<std::vector<int32_t>> rows, Nodes of, bool is) {
    const int32_t n = batch.add_node(Bag, 0);
    const float numbers[] = {1, 2, 3};
    batch.open_list(Bag, n, grid);
    for (const std::vector<int32_t> &row : rows) {
      batch.open_list(Bag, n, grid);
      for (int32_t number : row)
        batch.push_int(number);
      batch.close_list();
    }
    batch.close_list();
    batch.set_empty(Bag, n, trees);
    for (int32_t each : of)
      batch.append_int(Bag, n, trees, leaves[each]);
    batch.set_f32s(Bag, n, x, numbers, 3);
    batch.set_bool(Bag, n, flag, is);
  };
  bag({{1}, {2}}, {0, 1}, true);
  bag({{1, 2}, {}}, {0, 1}, true);
  bag({{1}, {2}}, {2, 1}, true); // by another leaf that is like it
  bag({{1}, {2}}, {0, 1}, false);
  bag({{1}, {2}}, {0, 1, 1}, true);
  bag({}, {}, true);
  bag({}, {}, true);
  EXPECT_EQ(alike(batch, Bag, kBags), (Nodes{0, 1, 0, 3, 4, 5, 5}));
}

// Ways around stay apart where they close, and so does what leads there only by those nodes.
TEST(Sharing, Cycles) {
  Batch batch(info());
  batch.begin_input();
  for (int32_t copy = 0; copy < 2; ++copy) {
    const int32_t a = batch.add_node(Tree, Node), b = batch.add_node(Tree, Node), c = leaf(batch, 1);
    batch.set_node(Tree, a, left, b);
    batch.set_node(Tree, a, right, c);
    batch.set_node(Tree, b, left, c);
    batch.set_node(Tree, b, right, a);
    node(batch, c, b);
  }
  EXPECT_EQ(alike(batch, Tree, kSums), (Nodes{0, 1, 2, 3, 4, 5, 2, 7}));
}

TEST(Sharing, DeepStructures) {
  Batch batch(info());
  constexpr int32_t kDepth = 300000;
  for (int32_t input = 0; input < 2; ++input) {
    batch.begin_input();
    int32_t below = leaf(batch, 1);
    if (input == 0) { // from the leaf upwards
      for (int32_t n = 0; n < kDepth; ++n)
        below = node(batch, below, below);
      continue;
    }
    const int32_t first = batch.rows(Tree);
    for (int32_t n = 0; n < kDepth; ++n) { // from the root downwards
      const int32_t parent = batch.add_node(Tree, Node), to = n + 1 < kDepth ? first + n + 1 : below;
      batch.set_node(Tree, parent, left, to);
      batch.set_node(Tree, parent, right, to);
    }
  }
  const Nodes same = alike(batch, Tree, kSums);
  EXPECT_EQ(same[kDepth + 1], 0);
  for (int32_t n = 0; n < kDepth; ++n)
    ASSERT_EQ(same[kDepth + 2 + n], kDepth - n);
}

// Results are those without sharing, whatever is alike; the rows that are computed are fewer.
TEST(Sharing, RunsComputeOnce) {
  const dbc::Model model = sums();
  dbc::Session plain(model), sharing(model, 2);
  sharing.share_subtrees(true);
  std::mt19937 random(1);
  Batch batch(info());
  for (int round = 0; round < 20; ++round) {
    batch.clear();
    for (int32_t input = 0; input < 30; ++input) {
      batch.begin_input();
      int32_t top = leaf(batch, static_cast<float>(random() % 2));
      for (uint32_t n = random() % 4; n > 0; --n) {
        const int32_t other = leaf(batch, static_cast<float>(random() % 2));
        top = random() % 2 ? node(batch, top, other) : node(batch, other, top);
      }
      root(batch, input, top);
    }
    ASSERT_TRUE(plain.run(0, batch).ok());
    ASSERT_TRUE(sharing.run(0, batch).ok());
    for (int32_t input = 0; input < 30; ++input)
      EXPECT_EQ(plain.outputs(0).f32(0)[input], sharing.outputs(0).f32(0)[input]);
    EXPECT_LT(2 * sharing.profile(0).stages[0].rows, plain.profile(0).stages[0].rows);
  }
}

// Ways around are found, and reported, as without sharing.
TEST(Sharing, RunsOfCycles) {
  const dbc::Model model = sums();
  dbc::Session plain(model), sharing(model);
  sharing.share_subtrees(true);
  std::mt19937 random(3);
  Batch batch(info());
  int32_t cyclic = 0;
  for (int round = 0; round < 3000; ++round) {
    batch.clear();
    for (int32_t input = 0; input < 2; ++input) {
      batch.begin_input();
      const int32_t first = batch.rows(Tree), nodes = 3 + static_cast<int32_t>(random() % 5);
      leaf(batch, 1);
      for (int32_t n = 1; n < nodes; ++n) { // mostly what came before
        const int32_t l = first + static_cast<int32_t>(random()) % (n + (random() % 4 == 0)),
                      r = first + static_cast<int32_t>(random() % 8 == 0 ? random() % nodes : random() % n);
        node(batch, std::max(l, first), r);
      }
      root(batch, input, first + nodes - 1);
    }
    ASSERT_TRUE(plain.run(0, batch).ok());
    ASSERT_TRUE(sharing.run(0, batch).ok());
    for (int32_t input = 0; input < 2; ++input) {
      cyclic += !plain.status(input).ok();
      ASSERT_EQ(plain.status(input).message, sharing.status(input).message) << round;
      ASSERT_EQ(plain.outputs(0).f32(0)[input], sharing.outputs(0).f32(0)[input]) << round;
    }
  }
  EXPECT_GT(cyclic, 300);
}

// An input fails as it does alone, also at a node that one of another input stands for.
TEST(Sharing, FailuresAreOfEachInput) {
  const dbc::Model model = sums();
  dbc::Session session(model);
  session.share_subtrees(true);
  Batch batch(info());
  for (int32_t input = 0; input < 5; ++input) {
    batch.begin_input();
    const int32_t l = leaf(batch, 1), r = input % 2 ? batch.add_node(Tree, Leaf) : leaf(batch, 2);
    root(batch, input, node(batch, l, r));
  }
  batch.begin_input();
  root(batch, 5, 1000); // to nowhere
  ASSERT_TRUE(session.run(0, batch).ok());
  EXPECT_EQ(session.failed(), 3);
  for (int32_t input : {1, 3})
    EXPECT_EQ(session.status(input).message,
              "toy: input " + std::to_string(input) + ": Tree node 1 (Leaf): field `value` is not given");
  for (int32_t input : {0, 2, 4})
    EXPECT_EQ(session.outputs(0).f32(0)[input], 3);
  EXPECT_EQ(session.profile(0).stages[0].rows, 9);
}

} // namespace
