// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How inputs are distributed to block groups.
#include "core_models.h"

#include <dbc/cuda/block_groups.h>

#include <gtest/gtest.h>

namespace {

using namespace core_models;

// Time steps without rows, as a tree's first level where leaves are another stage, end no prefix of those
// that fill large-M tiles; one with a few rows does.
TEST(CudaLoops, LargeMPrefix) {
  using Rows = dbc::cuda::TimeStepRows;
  constexpr Rows kNone = Rows::None, kFew = Rows::Few, kLarge = Rows::LargeM;
  const auto prefix = [](const std::vector<Rows> &loop) {
    return dbc::cuda::large_m_prefix(static_cast<int32_t>(loop.size()), [&](int32_t n) { return loop[n]; });
  };
  EXPECT_EQ(prefix({}), 0);
  EXPECT_EQ(prefix({kNone, kNone}), 0);
  EXPECT_EQ(prefix({kFew, kLarge}), 0);
  EXPECT_EQ(prefix({kLarge, kLarge, kFew, kLarge}), 2);
  EXPECT_EQ(prefix({kNone, kLarge, kNone, kLarge, kNone, kFew}), 4);
  EXPECT_EQ(prefix({kNone, kLarge, kLarge}), 3);
}

// Few rows of a wide matrix have as many blocks as many rows of a narrow one, but fill no more of them than
// there are numbers to compute.
TEST(CudaLoops, FilledLargeMBlocks) {
  using dbc::cuda::filled_large_m_blocks;
  EXPECT_EQ(dbc::cuda::blocks_of(7, 8, dbc::cuda::kLargeMRows, 64), 64);
  EXPECT_EQ(filled_large_m_blocks(7, 8, 64), 1);
  EXPECT_EQ(filled_large_m_blocks(0, 128, 64), 64);
  EXPECT_EQ(filled_large_m_blocks(0, 8192, 1), 64);
  EXPECT_EQ(filled_large_m_blocks(0, 8191, 1), 64);
  EXPECT_EQ(filled_large_m_blocks(0, 8064, 1), 63);
  EXPECT_EQ(filled_large_m_blocks(0, 0, 5), 0);
  EXPECT_EQ(filled_large_m_blocks(0, INT32_MAX, 1000), 1 << 20);
}

/// A plan that also distributes the nodes of all inputs, as one time step.
struct DealingPlan : Plan {
  static int32_t most;
  static std::vector<int32_t> bounds; ///< of the groups' nodes

  DealingPlan() : Plan(false) {}
  void schedule(dbc::Run &run) override {
    Plan::schedule(run);
    nodes_.once(run.batch.rows(Tree));
    block_groups_.begin(run, most);
    block_groups_.distribute(nodes_, Tree, [](int32_t row) { return row; });
    bounds.assign(block_groups_.bounds(0), block_groups_.bounds(0) + block_groups_.count() + 1);
  }

private:
  dbc::TimeSteps nodes_;
  dbc::cuda::BlockGroups block_groups_;
};
int32_t DealingPlan::most = 0;
std::vector<int32_t> DealingPlan::bounds;

/// Where the nodes of at most `most` groups begin and end, of inputs with so many leaves.
std::vector<int32_t> distributed(int32_t most, const std::vector<int32_t> &leaves) {
  static const dbc::ModelCode distributing = [] {
    dbc::ModelCode own = code();
    own.entries[0].make_plan = [] { return std::unique_ptr<dbc::EntryPlan>(new DealingPlan); };
    return own;
  }();
  dbc::Weights weights(info());
  weights.draw(0);
  dbc::Model model;
  must(dbc::Model::make(distributing, weights, &model));
  dbc::Session session(model);
  dbc::Batch batch(info());
  for (size_t input = 0; input < leaves.size(); ++input) {
    batch.begin_input();
    int32_t tree = leaf(batch, 1);
    for (int32_t n = 1; n < leaves[input]; ++n)
      tree = node(batch, tree, leaf(batch, 1));
    root(batch, static_cast<int32_t>(input), tree);
  }
  DealingPlan::most = most;
  EXPECT_TRUE(session.run(0, batch).ok());
  return DealingPlan::bounds;
}

using Bounds = std::vector<int32_t>;

// A tree of n leaves has 2 n - 1 nodes.
TEST(BlockGroups, HaveAboutAsManyNodes) {
  EXPECT_EQ(distributed(1, {5, 5}), (Bounds{0, 18}));
  EXPECT_EQ(distributed(2, {5, 5, 5, 5}), (Bounds{0, 18, 36}));
  EXPECT_EQ(distributed(4, {5, 5, 5, 5}), (Bounds{0, 9, 18, 27, 36}));
  EXPECT_EQ(distributed(2, {10, 3, 3, 3, 2}), (Bounds{0, 19, 37}));
  EXPECT_EQ(distributed(3, {1, 1, 1, 1, 10, 1, 1, 1, 1}), (Bounds{0, 4, 23, 27}));
}

// One input may be more than a group's share: the next one has none.
TEST(BlockGroups, MayHaveNone) {
  EXPECT_EQ(distributed(3, {50, 1, 1}), (Bounds{0, 0, 99, 101}));
  EXPECT_EQ(distributed(3, {1, 1, 50}), (Bounds{0, 2, 101, 101}));
}

} // namespace
