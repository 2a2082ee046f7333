// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Gradients of fields and arguments. A Tree-RNN stands inside of a network: its leaves come from outside, and
// tanh(up @ h) with a loss stands behind it.
#include "input_gradients.h"
#include "require.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace model = dbc::models::input_gradients;

static bool near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::max({1.0, std::abs(a), std::abs(b)}); }

static std::mt19937 generator(1);
static std::vector<float> numbers(size_t count) {
  std::vector<float> drawn(count);
  for (float &number : drawn)
    number = static_cast<float>(static_cast<double>(generator() % 2000) / 1000 - 1);
  return drawn;
}

/// A tree; sometimes a leaf is in it twice, and one is in none.
static model::Tree tree(model::Batch &batch, int depth) {
  if (depth == 0)
    return batch.Leaf().x(numbers(4));
  const model::Tree left = tree(batch, depth - 1);
  batch.Leaf().x(numbers(4)); // nothing reads it
  return batch.Node().left(left).right(generator() % 3 == 0 ? left : tree(batch, depth - 1)).scale(0.5F);
}

/// The network behind: d loss / d h of sum(square(tanh(up @ h) - y)).
static std::vector<float> behind(const float *up, const float *h, const std::vector<float> &y) {
  std::vector<float> g(4, 0);
  for (int i = 0; i < 3; ++i) {
    double z = 0;
    for (int j = 0; j < 4; ++j)
      z += double(up[i * 4 + j]) * h[j];
    z = std::tanh(z);
    for (int j = 0; j < 4; ++j)
      g[j] += static_cast<float>(2 * (z - y[i]) * (1 - z * z) * up[i * 4 + j]);
  }
  return g;
}

static void compareWithWhole(model::Session &session, model::Weights &weights, int inputs) {
  model::Batch batch;
  std::vector<std::vector<float>> ys;
  std::vector<model::Tree> trees;
  for (int i = 0; i < inputs; ++i) {
    batch.begin_input();
    trees.push_back(tree(batch, i % 5));
    ys.push_back(numbers(3));
    batch.forward(trees.back());
    batch.whole(trees.back(), ys.back());
    batch.backward(trees.back(), {0, 0, 0, 0});
  }
  const std::vector<float> ones(inputs, 1);
  session.weigh_losses(ones.data(), inputs);
  require(session.forward(batch).ok(), "forward failed");
  // The same inputs again, with g.
  model::Batch again;
  generator.seed(1);
  std::vector<model::Tree> others;
  for (int i = 0; i < inputs; ++i) {
    again.begin_input();
    const model::Tree same = tree(again, i % 5);
    numbers(3);
    others.push_back(same);
    again.backward(same, behind(weights.up(), session.forward_result()[i], ys[i]));
    require(same.id == trees[i].id, "another tree");
  }
  require(session.whole(batch).ok() && session.backward(again).ok(), "a run that failed");
  const float *whole = session.whole_gradients().join(), *split = session.backward_gradients().join();
  require(whole != nullptr && split != nullptr && session.backward_gradients().up() == nullptr, "no gradient");
  for (int i = 0; i < 32; ++i)
    require(near(whole[i], split[i]), "the gradient of a parameter differs");
  const dbc::InputGradient<float> ofWhole = session.whole_gradients().Tree_x(),
                                  ofSplit = session.backward_gradients().Tree_x();
  require(ofWhole && ofSplit && ofWhole.width() == 4 && ofWhole.values() == ofSplit.values(), "no gradient of x");
  bool some = false;
  for (int node = 0; node < ofWhole.values(); ++node) {
    require(ofWhole[node].size() == 4, "another width");
    for (int i = 0; i < 4; ++i) {
      require(near(ofWhole[node][i], ofSplit[node][i]), "the gradient of a field differs");
      require(ofWhole[node].data() + i == ofWhole.data() + node * 4 + i, "a node's numbers stand elsewhere");
      some |= ofWhole[node][i] != 0;
    }
  }
  require(some, "all gradients are 0");
  require(ofWhole[trees[inputs - 1].id][0] == 0 || inputs % 5 == 1, "an inner node has a gradient of x");
  require(ofWhole[-1].empty() && ofWhole[ofWhole.values()].empty(), "a node that is not there");
}

static void lists(model::Session &one, model::Session &two) {
  model::Batch batch;
  auto add = [&](const std::vector<float> &xs, int n) {
    batch.begin_input();
    batch.listed(xs, /*s=*/2, /*unused=*/3, n);
  };
  add({1, 2, 3, 4}, 0);
  add({}, 0);
  add({5, 6}, 1);
  const float weights[] = {1, 1, 10};
  for (model::Session *session : {&one, &two}) {
    session->weigh_losses(weights, 3);
    require(session->listed(batch).ok(), "a run that failed");
    const dbc::InputGradient<float> xs = session->listed_gradients().listed_xs();
    require(xs.values() == 3 && xs[0].size() == 4 && xs[1].empty() && xs[2].size() == 2, "other lists");
    const float expected[] = {4, 8, 12, 16, 200, 240}; // 2 x s w
    require(std::memcmp(xs.data(), expected, sizeof expected) == 0, "other gradients of elements");
    const dbc::InputGradient<float> s = session->listed_gradients().listed_s();
    require(s[0][0] == 31 && s[1][0] == 1 && s[2][0] == 620, "other gradients of arguments");
    require(!session->listed_gradients().Tree_x() && session->listed_gradients().Tree_x()[0].empty(),
            "a gradient of what the loss does not read");
  }
  // An input without an argument fails: 0 there, and the others as before.
  batch.begin_input();
  require(one.listed(batch).ok() && one.failed() == 1, "an input without arguments");
  const float four[] = {1, 1, 10, 1};
  one.weigh_losses(four, 4);
  require(one.listed(batch).ok(), "a run that failed");
  const dbc::InputGradient<float> s = one.listed_gradients().listed_s(), xs = one.listed_gradients().listed_xs();
  require(s.values() == 4 && s[3][0] == 0 && s[0][0] == 31 && xs[2][1] == 240 && xs[3].empty(),
          "an input that failed spoils others");
}

/// No input has the list: each fails, and has no elements.
static void without_lists(model::Session &session) {
  model::Batch batch;
  batch.begin_input();
  batch.begin_input();
  require(session.listed(batch).ok() && session.failed() == 2, "inputs without arguments");
  const dbc::InputGradient<float> xs = session.listed_gradients().listed_xs(),
                                  s = session.listed_gradients().listed_s();
  require(xs.values() == 0 && xs[0].empty() && xs[1].empty(), "elements of lists that are not there");
  require(s.values() == 2 && s[1].size() == 1 && s[1][0] == 0, "a gradient of an input that failed");
}

int main() {
  model::Weights weights;
  weights.draw(1);
  model::Model compiled;
  require(model::Model::make(weights, &compiled).ok(), "no model");
  model::Session one(compiled), two(compiled, 2);
  require(!one.whole_gradients().Tree_x() && one.whole_gradients().Tree_x()[0].empty(),
          "a gradient before the first run");
  for (int inputs : {1, 7, 33, 2}) {
    generator.seed(1);
    compareWithWhole(one, weights, inputs);
    generator.seed(1);
    compareWithWhole(two, weights, inputs);
  }
  lists(one, two);
  without_lists(one);
  return 0;
}
