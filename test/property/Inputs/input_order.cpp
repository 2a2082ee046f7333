// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Gradients of a batch of chains, deep and flat ones in turn, have the bits of sums that go from input to
// input. The numbers are of so different size that any other order has other bits.
#include "input_order.h"
#include "require.h"

#include <dbc/generated.h>
#include <random>
#include <vector>

namespace model = dbc::models::input_order;

constexpr int kInputs = 64; // what a loss weighs, 1/64, rounds nothing

/// A sum as a matrix's gradient is: so many rows at once, in even blocks.
static float by_blocks(const std::vector<float> &xs) {
  const int rows = static_cast<int>(xs.size()), block = dbc::even_block(rows, 128);
  float sum = 0;
  for (int first = 0; first < rows; first += block) {
    float of_block = 0;
    for (int i = first; i < rows && i < first + block; ++i)
      of_block += xs[i];
    sum += of_block;
  }
  return sum;
}

int main() {
  std::mt19937 random(4);
  auto draw = [&] {
    const float sign = random() % 2 ? 1.0f : -1.0f, size = static_cast<float>(1 << random() % 24);
    return sign * size * (1 + static_cast<float>(random() % 1024) / 1024);
  };
  model::Weights weights;
  weights.draw(1);
  model::Model compiled;
  require(model::Model::make(weights, &compiled).ok(), "no model");
  model::Session session(compiled, 2);
  for (int again = 0; again < 10; ++again) {
    model::Batch batch;
    float p = 0, e[3] = {}, q = 0, r = 0, s = 0, t = 0, u = 0, v = 0;
    std::vector<float> w;
    auto add_until = [&](const std::vector<float> &xs, float &sum) {
      for (float x : xs) {
        sum += x / kInputs;
        if (!(x < 1000))
          break;
      }
    };
    for (int i = 0; i < kInputs; ++i) {
      batch.begin_input();
      std::vector<model::Chain> next;
      for (int length = 1 + i * 5 % 7; length > 0; --length) {
        const float x = draw();
        const int32_t word = static_cast<int32_t>(random() % 3);
        std::vector<float> xs(random() % 4);
        for (float &each : xs)
          q += (each = draw()) / kInputs;
        add_until(xs, t);
        p += x / kInputs;
        w.push_back(x / kInputs);
        e[word] += x / kInputs;
        next = {batch.Chain().x(x).word(word).xs(xs).next(next)};
      }
      batch.chains(next[0]);

      std::vector<model::Bush> kids;
      for (int depth = 1 + i * 3 % 5; depth > 0; --depth) {
        const float x = draw(), y = draw();
        u += x / kInputs;
        v += y / kInputs;
        kids.push_back(batch.Twig().x(x));
        kids = {batch.Branch().x(y).kids(kids)};
      }
      batch.bushes(kids[0]);

      std::vector<float> xs(random() % 6);
      for (float &each : xs)
        r += (each = draw()) / kInputs;
      add_until(xs, s);
      batch.scans(xs);
    }
    require(session.chains(batch).ok() && session.bushes(batch).ok() && session.scans(batch).ok() &&
                session.ended(batch).ok(),
            "a run that failed");
    const model::Gradients of_chains = session.chains_gradients(), of_bushes = session.bushes_gradients();
    require(of_chains.p()[0] == p, "a number's gradient is summed in another order");
    require(w.size() > 128 && of_chains.W()[0] == by_blocks(w) && of_chains.W()[2] == by_blocks(w),
            "a matrix's gradient is summed in another order");
    const dbc::SparseGradient<float> of_table = of_chains.E();
    for (int32_t row = 0; row < of_table.count; ++row)
      require(of_table.values[row] == e[of_table.rows[row]], "a table's gradient is summed in another order");
    require(of_chains.q()[0] == q, "the gradient of a scan inside is summed in another order");
    require(of_chains.t()[0] == t, "the gradient of a scan inside that ends is summed in another order");
    require(of_bushes.u()[0] == u && of_bushes.v()[0] == v, "an arm's gradient is summed in another order");
    require(session.scans_gradients().r()[0] == r, "a scan's gradient is summed in another order");
    require(session.ended_gradients().s()[0] == s,
            "the gradient of a scan that ends is summed in another order");
  }
}
