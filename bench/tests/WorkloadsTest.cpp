// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Inputs as flat arrays, and what every workload promises the harness. The models themselves are compared
// with the references by every run of the benchmarks.
#include "bench/workloads/Workloads.h"
#include "bench/Run.h"
#include "bench/tests/OddTrees.h"
#include "bench/workloads/BinaryTrees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace dbc::bench;

namespace {

/// Two types that refer to each other: input 0 has rows A0 A1 and B0, input 1 has A2 and B1 B2.
Inputs sample() {
  Inputs inputs({{"A", {lists("bs", 1), vectors("x", 2)}}, {"B", {numbers("a", 0), numbers("n")}}},
                {numbers("root", 0)});
  std::vector<Column> &a = inputs.table(0).columns, &b = inputs.table(1).columns;
  a[0].ints = {0, 0, 2, 1};
  a[0].offsets = {0, 1, 2, 4};
  a[1].floats = {1, 2, 3, 4, 5, 6};
  b[0].ints = {1, 2, 2};
  b[1].ints = {7, 8, 9};
  inputs.arguments().columns[0].ints = {0, 2};
  inputs.end_input({2, 1});
  inputs.end_input({1, 2});
  return inputs;
}

// References and offsets count from the start of a batch; other numbers stay.
TEST(Inputs, Cut) {
  std::vector<Inputs> batches = sample().cut(1);
  ASSERT_EQ(batches.size(), 2u);
  const Inputs &second = batches[1];
  EXPECT_EQ(second.count(), 1);
  EXPECT_EQ(second.table(0).begin, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(second.table(1).begin, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(second.table(0).columns[0].offsets, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(second.table(0).columns[0].ints, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(second.table(0).columns[1].floats, (std::vector<float>{5, 6}));
  EXPECT_EQ(second.table(1).columns[0].ints, (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(second.table(1).columns[1].ints, (std::vector<int32_t>{8, 9}));
  EXPECT_EQ(second.arguments().columns[0].ints, (std::vector<int32_t>{0}));
}

TEST(Inputs, WholeBatches) {
  EXPECT_EQ(sample().whole_batches(1).count(), 2);
  EXPECT_EQ(sample().whole_batches(2).count(), 2);
  Inputs five = sample().whole_batches(5);
  EXPECT_EQ(five.count(), 5);
  EXPECT_EQ(five.arguments().columns[0].ints, (std::vector<int32_t>{0, 2, 3, 5, 6}));
  EXPECT_EQ(five.table(1).columns[0].ints, (std::vector<int32_t>{1, 2, 2, 4, 5, 5, 7}));
  EXPECT_EQ(five.table(0).columns[0].offsets.back(), 10);
}

TEST(Inputs, TreesAndBack) {
  TreeBatch trees = generate_trees(5, 50, 3), back = tree_batch(tree_inputs(trees));
  EXPECT_EQ(back.kind, trees.kind);
  EXPECT_EQ(back.left, trees.left);
  EXPECT_EQ(back.right, trees.right);
  EXPECT_EQ(back.word, trees.word);
  EXPECT_EQ(back.root, trees.root);
}

/// Each workload with generated inputs, as there are no data in that folder.
class WorkloadsTest : public testing::TestWithParam<WorkloadInfo> {};

TEST_P(WorkloadsTest, GeneratedInputs) {
  std::unique_ptr<Workload> workload = GetParam().make(6);
  std::string error;
  Data data = workload->load("/nonexistent", error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(data.name, "generated");
  EXPECT_GE(data.inputs.count(), 100);
  // Every reference of an input stays inside of it.
  for (const Inputs &one : data.inputs.cut(1))
    for (const Table &table : one.tables())
      for (const Column &column : table.columns) {
        if (column.is_list()) {
          ASSERT_EQ(static_cast<int32_t>(column.offsets.size()), table.rows() + 1);
          ASSERT_EQ(static_cast<size_t>(column.offsets.back()), column.ints.size());
        }
        if (column.target >= 0)
          for (size_t i = 0; i < column.ints.size(); ++i) {
            if (!table.kinds.empty() && table.kinds[i] == TreeBatch::kLeaf)
              continue; // a leaf has no references
            ASSERT_GE(column.ints[i], 0) << column.name;
            ASSERT_LT(column.ints[i], one.table(column.target).rows()) << column.name;
          }
      }
}

// A batch's results are those of its inputs one after the other; they differ between inputs and are in a
// range in which differences show.
TEST_P(WorkloadsTest, Reference) {
  std::unique_ptr<Workload> workload = GetParam().make(6);
  std::string error;
  Inputs some = workload->load("/nonexistent", error).inputs.first(4);
  std::vector<double> all = workload->reference(some), one_by_one;
  EXPECT_EQ(static_cast<int64_t>(all.size()), workload->values(some));
  int64_t instances = 0;
  double flops = 0, most = 0;
  for (const Inputs &one : some.cut(1)) {
    std::vector<double> results = workload->reference(one);
    one_by_one.insert(one_by_one.end(), results.begin(), results.end());
    instances += workload->instances(one);
    flops += workload->flops(one);
  }
  EXPECT_EQ(all, one_by_one);
  EXPECT_EQ(instances, workload->instances(some));
  EXPECT_NEAR(flops, workload->flops(some), 1e-6 * flops);
  for (double value : all) {
    ASSERT_TRUE(std::isfinite(value));
    most = std::max(most, std::fabs(value));
  }
  EXPECT_GT(most, 0.1);
  EXPECT_LT(most, 1000);
  EXPECT_NE(std::vector<double>(all.begin(), all.begin() + workload->values(some.first(1))),
            workload->reference(some.cut(1)[1]));
}

/// What there is by hand computes the numbers of the reference, in batches of `size` inputs, and twice,
/// because buffers are used again.
void expect_by_hand(const Workload &workload, const Inputs &inputs, int32_t size) {
  std::vector<double> expected = workload.reference(inputs);
  std::vector<Inputs> batches = inputs.cut(size);
  for (Contestant &one : workload.by_hand(batches))
    for (int pass = 0; pass < 2; ++pass) {
      std::vector<float> out(expected.size(), NAN);
      one.implementation->pass(out.data());
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_NEAR(out[i], expected[i], 2e-5 * std::max(1.0, std::fabs(expected[i])))
            << one.impl << ", hidden " << workload.hidden << ", batches of " << size << ", number " << i;
    }
}

TEST_P(WorkloadsTest, ByHand) {
  for (int32_t hidden : {6, 37}) {
    std::unique_ptr<Workload> workload = GetParam().make(hidden);
    std::string error;
    Inputs some = workload->load("/nonexistent", error).inputs.first(7);
    for (int32_t size : {1, 3, 7})
      expect_by_hand(*workload, some, size);
  }
}

// A tree of one leaf, whose matrix is a word's, and a chain to each side.
TEST(MvRnn, OddTrees) {
  std::unique_ptr<Workload> workload = make_mv_rnn(9);
  for (int32_t size : {1, 3})
    expect_by_hand(*workload, tree_inputs(odd_trees(8)), size);
}

// A sentence of one character, one without words, and one in which several words begin or end together.
TEST(Lattice, OddSentences) {
  std::string folder = testing::TempDir() + "/odd_lattices", error;
  std::filesystem::create_directories(folder + "/lattice_ner");
  std::ofstream(folder + "/lattice_ner/edbatch_lattice.dev.txt")
      << "3\n"
         "2  0 0  0  1 0 5\n"
         "4  0 0 0 0  0  1 0 5  1 1 6  1 2 7\n"
         "5  0 0 0 0 0  0  1 0 7  2 1 8 0 3  3 2 9 1 4 0 6  1 3 2\n";
  std::unique_ptr<Workload> workload = make_lattice(9);
  Inputs inputs = workload->load(folder, error).inputs;
  std::filesystem::remove_all(folder);
  EXPECT_EQ(error, "");
  ASSERT_EQ(inputs.count(), 3);
  EXPECT_EQ(inputs.table(1).rows(), 2 * 3); // words, in both directions
  for (int32_t size : {1, 2, 3})
    expect_by_hand(*workload, inputs, size);
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadsTest, testing::ValuesIn(workloads()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
