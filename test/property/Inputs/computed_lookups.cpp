// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Rows that a batch looks up by numbers it computes are those of the gradient: no more, in order, once each.
// An input whose number is that of no row fails, and has no part in it.
#include "computed_lookups.h"
#include "require.h"

#include <cmath>
#include <map>
#include <random>

namespace model = dbc::models::computed_lookups;

int main() {
  model::Weights weights;
  weights.draw(3);
  model::Model compiled;
  require(model::Model::make(weights, &compiled).ok(), "no model");
  model::Session one(compiled), two(compiled, 2);
  std::mt19937 random(1);
  for (int inputs : {5, 300, 1, 300, 4}) {
    model::Batch batch;
    std::map<int32_t, float> expected; // what is summed for each row
    std::vector<std::pair<float, float>> all;
    for (int i = 0; i < inputs; ++i) {
      float x = static_cast<float>(random() % 400) - 50;
      if (random() % 20 == 0)
        x = random() % 2 ? 2e9f : -2e9f;
      all.push_back({x, static_cast<float>(random() % 16) / 16});
    }
    all[0].first = 7;
    for (auto [x, y] : all) {
      batch.begin_input();
      batch.numbered(x, y);
      if (x >= 0 && x < 300)
        expected[static_cast<int32_t>(x)] += y / static_cast<float>(inputs);
    }
    require(one.numbered(batch).ok() && two.numbered(batch).ok(), "a run that failed");
    for (int i = 0; i < inputs; ++i)
      require(one.status(i).ok() == (all[i].first >= 0 && all[i].first < 300),
              "a number of no row, and no error, or the other way round");
    for (model::Session *session : {&one, &two}) {
      const dbc::SparseGradient<float> gradient = session->numbered_gradients().K();
      require(gradient && gradient.count == static_cast<int32_t>(expected.size()) && gradient.width == 6,
              "other rows than those that are looked up");
      int32_t row = 0;
      for (auto [number, sum] : expected) {
        require(gradient.rows[row] == number, "rows are not in order");
        for (int j = 0; j < 6; ++j)
          require(std::abs(gradient.values[row * 6 + j] - sum) <= 1e-6f, "a wrong sum");
        ++row;
      }
    }
  }

  // Steps after the last one that is taken look nothing up, and neither does an empty list.
  for (int steps : {1, 40, 0}) {
    model::Batch batch;
    const std::vector<float> xs(steps, 0.5f);
    batch.begin_input();
    batch.decoder(xs);
    require(one.decoder(batch).ok() && one.status(0).ok(), "a run that failed");
    const dbc::SparseGradient<float> gradient = one.decoder_gradients().G();
    require(gradient && gradient.count <= steps && gradient.count < 40 && (gradient.count > 0) == (steps > 0),
            "rows that no step has looked up");
  }
}
