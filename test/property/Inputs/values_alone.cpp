// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Runs a loss with gradients, without, and with them again.
#include "values_alone.h"
#include "require.h"
#include <random>
#include <vector>

namespace model = dbc::models::values_alone;

static std::mt19937 numbers(7);
static std::vector<float> vector() {
  std::vector<float> x(4);
  for (float &each : x)
    each = std::normal_distribution<float>()(numbers);
  return x;
}

static model::Tree tree(model::Batch &batch, int depth) {
  if (depth == 0 || numbers() % 4 == 0)
    return batch.Leaf().word(static_cast<int32_t>(numbers() % 9)).x(vector());
  const model::Tree left = tree(batch, depth - 1), right = tree(batch, depth - 1);
  return batch.Node().left(left).right(right);
}

/// All numbers of gradients, one after the other; none where there are no gradients.
static std::vector<float> gradients(const model::Session &session) {
  std::vector<float> all;
  const model::Gradients given = session.nll_gradients();
  const auto add = [&](const float *from, size_t count) {
    if (from != nullptr)
      all.insert(all.end(), from, from + count);
  };
  add(given.U(), 16);
  add(given.a(), 4);
  if (const auto rows = given.E())
    for (int32_t row = 0; row < rows.count; ++row)
      add(rows.values + static_cast<size_t>(row) * 4, 4);
  if (const auto ofX = given.Tree_x())
    for (int32_t node = 0; node < ofX.values(); ++node)
      add(ofX[node].data(), ofX[node].size());
  return all;
}

static std::vector<float> values(const model::Session &session, int inputs) {
  std::vector<float> all;
  for (int i = 0; i < inputs; ++i) {
    const auto result = session.nll_result();
    all.push_back(result.element0[i]);
    all.insert(all.end(), &result.element1[i][0], &result.element1[i][0] + 4);
  }
  return all;
}

int main() {
  model::Weights weights;
  weights.draw(1);
  model::Model made;
  require(model::Model::make(weights, &made).ok(), "no model");
  for (int32_t threads : {1, 2}) {
    model::Session session(made, threads);
    for (int round = 0; round < 20; ++round) {
      model::Batch batch;
      const int inputs = round * 3 % 13 + 1;
      for (int i = 0; i < inputs; ++i) {
        batch.begin_input();
        const model::Tree t = tree(batch, 4);
        std::vector<std::vector<float>> lists(numbers() % 5);
        std::vector<float> xs;
        for (auto &x : lists) {
          x = vector();
          xs.insert(xs.end(), x.begin(), x.end());
        }
        batch.nll(t, static_cast<int32_t>(numbers() % 4), xs);
      }
      require(session.nll(batch).ok(), "a run that failed");
      const std::vector<float> before = gradients(session), expected = values(session, inputs);
      require(!before.empty(), "no gradients");
      session.give_gradients(false);
      require(session.nll(batch).ok(), "a run that failed");
      require(values(session, inputs) == expected, "other values without gradients");
      require(gradients(session).empty(), "gradients that nobody has asked for");
      require(session.nll_gradients().Tree_x()[0][0] == 0, "numbers of a gradient that is not there");
      session.give_gradients(true);
      require(session.nll(batch).ok(), "a run that failed");
      require(values(session, inputs) == expected && gradients(session) == before, "other gradients afterwards");
    }
  }
  return 0;
}
