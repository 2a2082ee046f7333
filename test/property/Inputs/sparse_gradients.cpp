// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Rows that inputs look up, of a table of 100,000, are those of its gradient: by one thread and by two, in
// batch after batch.
#include "sparse_gradients.h"
#include "require.h"

#include <cstring>
#include <dbc/optimizer.h>
#include <random>
#include <set>
#include <vector>

namespace model = dbc::models::sparse_gradients;

/// An input that looks up `ws` and `vs`.
static void add(model::Batch &batch, const std::vector<int32_t> &ws, const std::vector<int32_t> &vs) {
  batch.begin_input();
  batch.bags(ws, vs);
}

/// A model that takes over the rows which a step has changed computes what one does that takes over all.
static void renewals(dbc::OptimizerOptions::Kind kind) {
  model::Weights weights;
  weights.draw(2);
  model::Model by_rows, whole;
  require(model::Model::make(weights, &by_rows).ok() && model::Model::make(weights, &whole).ok(), "no model");
  model::Session one(by_rows), other(whole);
  dbc::OptimizerOptions options;
  options.kind = kind;
  dbc::Optimizer optimizer(options), second(options);
  std::mt19937 random(3);
  for (int step = 0; step < 24; ++step) {
    model::Batch batch;
    for (int i = 0; i < 4; ++i) {
      std::vector<int32_t> ws(step % 5 == 4 ? 0 : random() % 6), vs(ws.size() / 2);
      for (int32_t &w : ws)
        w = static_cast<int32_t>(random() % 40);
      for (int32_t &v : vs)
        v = static_cast<int32_t>(random() % 40 + 20);
      add(batch, ws, vs);
    }
    require(one.bags(batch).ok() && other.bags(batch).ok(), "a run that failed");
    for (int i = 0; i < 4; ++i)
      require(one.bags_result()[i] == other.bags_result()[i], "models differ");
    optimizer.freeze(model::param::W, step % 7 == 3);
    if (step == 9)
      weights.E()[7] += 1; // by hand: counted
    require((step == 13 ? second : optimizer).step(weights, one.bags_gradients().raw()).ok(), "no step");
    if (step == 17) // two steps, one renewal
      require(optimizer.step(weights, one.bags_gradients().raw()).ok(), "no step");
    require(by_rows.renew(weights, step == 13 ? second : optimizer).ok() && whole.renew(weights).ok(),
            "no renewal");
  }
}

/// Nothing but these rows: another one, changed through a pointer from before, is not taken over.
static void rows_alone() {
  model::Weights weights;
  weights.draw(2);
  float *before = weights.E();
  model::Model model;
  require(model::Model::make(weights, &model).ok(), "no model");
  model::Session session(model);
  dbc::Optimizer optimizer{dbc::OptimizerOptions()};
  auto loss = [&](int32_t row) {
    model::Batch batch;
    add(batch, {}, {row});
    require(session.bags(batch).ok(), "a run that failed");
    return session.bags_result()[0];
  };
  const float first = loss(1);
  for (int step = 0; step < 2; ++step) {
    loss(0);
    require(optimizer.step(weights, session.bags_gradients().raw()).ok() &&
                model.renew(weights, optimizer).ok(),
            "no step");
    if (step == 0)
      before[8] += 1;
  }
  require(loss(1) == first, "a row was taken over that no step has changed");
  require(model.renew(weights).ok() && loss(1) == first + 1, "a row was not taken over");
}

/// A model object that is made of other weights in between is renewed as a whole by the next step.
static void made_anew() {
  model::Weights weights, average;
  weights.draw(2);
  average.draw(5);
  model::Model model, whole;
  require(model::Model::make(weights, &model).ok() && model::Model::make(weights, &whole).ok(), "no model");
  model::Session session(model), other(whole);
  dbc::Optimizer optimizer{dbc::OptimizerOptions()};
  model::Batch batch;
  add(batch, {1, 2}, {3});
  model::Batch looked_up;
  add(looked_up, {5}, {6});
  for (int step = 0; step < 4; ++step) {
    require(session.bags(batch).ok(), "a run that failed");
    require(optimizer.step(weights, session.bags_gradients().raw()).ok(), "no step");
    if (step == 2)
      require(model::Model::make(average, &model).ok(), "no model");
    require(model.renew(weights, optimizer).ok() && whole.renew(weights).ok(), "no renewal");
    require(session.bags(looked_up).ok() && other.bags(looked_up).ok(), "a run that failed");
    require(session.bags_result()[0] == other.bags_result()[0], "a model made anew kept rows of before");
  }
}

int main() {
  made_anew();
  for (auto kind : {dbc::OptimizerOptions::Kind::Sgd, dbc::OptimizerOptions::Kind::Adagrad,
                    dbc::OptimizerOptions::Kind::Adam})
    renewals(kind);
  rows_alone();
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
