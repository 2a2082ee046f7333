// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Trainings by hand: their losses are those of the equations in double precision, and their steps go down the
// gradients of these.
#include "bench/Mode.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/SentenceSteps.h"
#include "bench/baselines/TrainedMatrix.h"
#include "bench/baselines/TreeLstm.h"
#include "bench/tests/OddTrees.h"
#include "bench/workloads/Workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

using namespace dbc::bench;

namespace {

/// The mean loss of the inputs with these parameters.
using Loss = std::function<double(const Parameters &)>;

Parameters trained(Implementation &training, const Parameters &start) {
  Parameters now;
  for (const Parameters::Parameter &parameter : start.all())
    now.set(parameter.name, training.parameter(parameter.name));
  return now;
}

/// `parameters` with one element changed.
Parameters changed(const Parameters &parameters, const std::string &name, size_t element, float by) {
  Parameters now;
  for (Parameters::Parameter parameter : parameters.all()) {
    if (parameter.name == name)
      parameter.values[element] += by;
    now.set(parameter.name, std::move(parameter.values));
  }
  return now;
}

/// The elements that change most, and some others.
std::vector<size_t> some_elements(const std::vector<float> &change) {
  std::vector<size_t> order(change.size());
  std::iota(order.begin(), order.end(), size_t(0));
  const size_t most = std::min<size_t>(order.size(), 8);
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(most), order.end(),
                    [&](size_t a, size_t b) { return std::fabs(change[a]) > std::fabs(change[b]); });
  std::vector<size_t> some(order.begin(), order.begin() + static_cast<ptrdiff_t>(most));
  for (size_t i = 0; i < 8; ++i)
    some.push_back(i * change.size() / 8);
  return some;
}

/// Of a training at rate 1 that has one batch, in two passes: `exchange` puts another batch, no larger, in
/// the place of the first one, of which `first_loss` is. In the second pass, in which buffers are used again,
/// the loss is that of the parameters so far, and parameters move by central differences of it.
void expect_steps(Implementation &training, const Parameters &start, const Loss &first_loss,
                  const std::function<void()> &exchange, const Loss &loss) {
  float out = NAN;
  training.pass(&out);
  EXPECT_NEAR(out, first_loss(start), 2e-5 * std::max(1.0, first_loss(start)));
  const Parameters before = trained(training, start);
  exchange();
  training.pass(&out);
  EXPECT_NEAR(out, loss(before), 2e-5 * std::max(1.0, loss(before)));
  for (const Parameters::Parameter &parameter : before.all()) {
    std::vector<float> after = training.parameter(parameter.name), change(after.size());
    ASSERT_EQ(after.size(), parameter.values.size()) << parameter.name;
    double most = 0;
    for (size_t i = 0; i < after.size(); ++i) {
      change[i] = parameter.values[i] - after[i];
      most = std::max(most, std::fabs(static_cast<double>(change[i])));
    }
    for (size_t element : some_elements(change)) {
      constexpr float kBy = 1e-3F;
      const double gradient = (loss(changed(before, parameter.name, element, kBy)) -
                               loss(changed(before, parameter.name, element, -kBy))) /
                              (2 * kBy);
      EXPECT_NEAR(change[element], gradient, 2e-4 * most + 2e-6) << parameter.name << " " << element;
    }
  }
}

/// Of the Tree-LSTM.
void expect_tree_lstm_steps(const TreeBatch &trees, const TreeBatch &others, int32_t hidden) {
  TreeLstm model(hidden, /*seed=*/1, kTrainedWordBound);
  std::vector<float> TreeLstm::*fields[] = {&TreeLstm::E, &TreeLstm::W, &TreeLstm::b, &TreeLstm::U,
                                            &TreeLstm::d, &TreeLstm::V, &TreeLstm::e};
  const char *names[] = {"E", "W", "b", "U", "d", "V", "e"};
  Parameters start;
  for (int i = 0; i < 7; ++i)
    start.set(names[i], model.*fields[i]);
  std::vector<TreeBatch> batches = {trees};
  auto training = tree_lstm_cblas_training(model, batches, 1);
  auto loss_of = [&](const TreeBatch &some) {
    return [&](const Parameters &parameters) {
      for (int i = 0; i < 7; ++i)
        model.*fields[i] = parameters[names[i]];
      return tree_lstm_loss_reference(model, some);
    };
  };
  expect_steps(
      *training, start, loss_of(trees), [&] { batches[0] = others; }, loss_of(others));
}

TreeBatch labelled(TreeBatch trees) {
  for (size_t n = 0; n < trees.label.size(); ++n)
    trees.label[n] = static_cast<int32_t>(n * 7 % 5);
  return trees;
}

TEST(Trainings, TreeLstm) {
  const TreeBatch trees = labelled(generate_trees(3, 60, 3));
  for (int32_t hidden : {1, 6, 17})
    expect_tree_lstm_steps(trees, first(trees, 2), hidden);
}

// A tree of one leaf, alone and beside others, and a chain to each side.
TEST(Trainings, OddTrees) {
  const TreeBatch trees = labelled(odd_trees(6));
  expect_tree_lstm_steps(trees, first(trees, 1), 5);
  expect_tree_lstm_steps(trees, first(trees, 2), 5);
}

/// Of the tagger, with the first sentences that are generated, and then with fewer.
void expect_tagger_steps(int32_t sentences, int32_t fewer, int32_t hidden) {
  std::unique_ptr<Workload> workload = make_tagger_training(hidden);
  std::string error;
  const Inputs some = workload->load("/nonexistent", error).inputs.first(sentences);
  std::vector<Inputs> batches = {some};
  const Parameters start = workload->parameters;
  auto training = tagger_cblas_training(start, hidden, 128, 9, batches, 1);
  auto loss_of = [&](const Inputs &inputs) {
    return [&workload, inputs](const Parameters &parameters) {
      workload->parameters = parameters;
      return workload->reference(inputs)[0];
    };
  };
  expect_steps(
      *training, start, loss_of(some), [&] { batches[0] = some.first(fewer); }, loss_of(some.first(fewer)));
}

TEST(Trainings, Tagger) {
  expect_tagger_steps(3, 1, 5);
  expect_tagger_steps(4, 3, 6);
}

// Batch after batch: each loss is that of the parameters which the steps so far have left.
TEST(Trainings, BatchAfterBatch) {
  for (const WorkloadInfo &info : workloads()) {
    if (!info.has(Mode::Train))
      continue;
    std::unique_ptr<Workload> workload = info.make_for(Mode::Train, 8);
    std::string error;
    const Inputs some = workload->load("/nonexistent", error).inputs.first(7);
    const std::vector<Inputs> batches = some.cut(3);
    std::vector<Contestant> by_hand = workload->by_hand(batches);
    ASSERT_EQ(by_hand.size(), 1u);
    std::vector<float> losses(batches.size());
    by_hand[0].implementation->pass(losses.data());
    EXPECT_NEAR(losses[0], workload->reference(batches[0])[0], 2e-5 * losses[0]) << info.name;
    const float start = losses[0];
    for (int pass = 0; pass < 20; ++pass)
      by_hand[0].implementation->pass(losses.data());
    EXPECT_LT(losses[0], 0.95 * start) << info.name;
    EXPECT_EQ(workload->values(batches[0]), 1) << info.name;
  }
}

// Few rows go by another call than many.
TEST(TrainedMatrix, EveryNumberOfRows) {
  constexpr int32_t n = 30, k = 20;
  std::vector<float> a(n * k);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(i % 7) - 3;
  for (int32_t rows : {0, 1, 2, 7, 17, 40}) {
    TrainedMatrix matrix(a, n, k);
    std::vector<float> x(rows * k), dy(rows * n), y(rows * n, NAN), dx(rows * k, 1);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i % 5) - 2;
    for (size_t i = 0; i < dy.size(); ++i)
      dy[i] = static_cast<float>(i % 3) - 1;
    matrix.forward(x.data(), rows, y.data());
    matrix.add_backward(dy.data(), rows, dx.data());
    matrix.step(0.5F, dy.data(), x.data(), rows);
    std::vector<float> stepped = a;
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t i = 0; i < n; ++i) {
        float sum = 0;
        for (int32_t j = 0; j < k; ++j) {
          sum += a[i * k + j] * x[r * k + j];
          dx[r * k + j] -= dy[r * n + i] * a[i * k + j];
          stepped[i * k + j] -= 0.5F * dy[r * n + i] * x[r * k + j];
        }
        EXPECT_EQ(y[r * n + i], sum) << rows; // small integers: exact
      }
    EXPECT_EQ(dx, std::vector<float>(dx.size(), 1)) << rows;
    EXPECT_EQ(matrix.values(), stepped) << rows;
  }
}

TEST(SentenceSteps, LongestFirst) {
  SentenceSteps steps;
  steps.reserve(4, 3);
  for (int time = 0; time < 2; ++time) {
    steps.make({0, 1, 4, 4, 6}); // 1, 3, 0 and 2 words
    EXPECT_EQ(steps.steps, 3);
    EXPECT_EQ(steps.order, (std::vector<int32_t>{1, 3, 0, 2}));
    EXPECT_EQ(std::vector<int32_t>(steps.count.begin(), steps.count.begin() + 3),
              (std::vector<int32_t>{3, 2, 1}));
    EXPECT_EQ(steps.row(3, 1), 4);
  }
}

} // namespace
