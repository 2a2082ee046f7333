// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Rows that inputs look up, of a table of 100,000, are those of its gradient: by one thread and by two, in
// batch after batch.
#include "sparse_gradients.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace model = dbc::models::sparse_gradients;

static void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

/// An input that looks up `ws` and `vs`.
static void add(model::Batch &batch, const std::vector<int32_t> &ws, const std::vector<int32_t> &vs) {
  batch.begin_input();
  batch.bags(ws, vs);
}

int main() {
  model::Weights weights;
  weights.draw(1);
  model::Model compiled;
  require(model::Model::make(weights, &compiled).ok(), "no model");
  model::Session one(compiled), two(compiled, 2);
  require(!one.bags_gradients().E() && one.bags_gradients().E().values == nullptr,
          "a gradient before the first run");

  std::mt19937 random(1);
  for (int inputs : {3, 400, 1, 400}) {
    model::Batch batch;
    std::set<int32_t> expected;
    auto draw = [&](size_t count) {
      std::vector<int32_t> numbers(count);
      for (int32_t &number : numbers)
        expected.insert(number = static_cast<int32_t>(random() % 50000 * 2));
      return numbers;
    };
    for (int i = 0; i < inputs; ++i) {
      const std::vector<int32_t> ws = draw(random() % 200);
      add(batch, ws, draw(random() % 3));
    }
    require(one.bags(batch).ok() && two.bags(batch).ok(), "a run that failed");
    const dbc::SparseGradient<float> gradient = one.bags_gradients().E(), other = two.bags_gradients().E();
    require(gradient && gradient.width == 8, "another width");
    require(std::vector<int32_t>(gradient.rows, gradient.rows + gradient.count) ==
                std::vector<int32_t>(expected.begin(), expected.end()),
            "other rows than were looked up, or in another order");
    require(other.count == gradient.count &&
                std::memcmp(other.values, gradient.values, sizeof(float) * 8 * gradient.count) == 0,
            "two threads give other bits");
  }

  // What is looked up by `vs` alone has its weight, 1 / inputs, in each element; once each time.
  model::Batch batch;
  add(batch, {}, {7, 99999, 7});
  add(batch, {}, {0});
  require(one.bags(batch).ok(), "a run that failed");
  const dbc::SparseGradient<float> gradient = one.bags_gradients().E();
  require(gradient.count == 3 && gradient.rows[0] == 0 && gradient.rows[1] == 7 && gradient.rows[2] == 99999,
          "other rows");
  for (int i = 0; i < 8; ++i)
    require(gradient.values[i] == 0.5F && gradient.values[8 + i] == 1.0F && gradient.values[16 + i] == 0.5F,
            "other numbers");

  // Nothing is looked up: a gradient without rows.
  batch.clear();
  add(batch, {}, {});
  require(one.bags(batch).ok(), "a run that failed");
  require(one.bags_gradients().E() && one.bags_gradients().E().count == 0, "rows that nobody looked up");
  std::vector<float> dense(800000, 3.0F);
  require(one.bags_gradients().raw().add_gradient_to(model::param::E, dense.data(), dense.size()).ok(),
          "no dense gradient");
  require(dense == std::vector<float>(800000, 3.0F), "a gradient that is not 0");
  return 0;
}
