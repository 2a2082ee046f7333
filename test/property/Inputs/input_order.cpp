// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Gradients of a batch of chains, deep and flat ones in turn, have the bits of sums that go from input to
// input. The numbers are of so different size that any other order has other bits.
#include "input_order.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace model = dbc::models::input_order;

static void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

constexpr int kInputs = 8; // what a loss weighs, 1/8, rounds nothing

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
  for (int again = 0; again < 20; ++again) {
    model::Batch batch;
    float p = 0, w = 0, e[3] = {}, q = 0, r = 0, s = 0;
    for (int i = 0; i < kInputs; ++i) {
      batch.begin_input();
      std::vector<model::Chain> next;
      for (int length = 1 + i * 5 % 7; length > 0; --length) {
        const float x = draw();
        const int32_t word = static_cast<int32_t>(random() % 3);
        std::vector<float> xs(random() % 4);
        for (float &each : xs)
          q += (each = draw()) / kInputs;
        p += x / kInputs;
        w += x / kInputs;
        e[word] += x / kInputs;
        next = {batch.Chain().x(x).word(word).xs(xs).next(next)};
      }
      batch.chains(next[0]);
      std::vector<float> xs(random() % 6);
      bool go = true;
      for (float &each : xs) {
        r += (each = draw()) / kInputs;
        s += go ? each / kInputs : 0;
        go = go && each < 1000;
      }
      batch.scans(xs);
    }
    require(session.chains(batch).ok() && session.scans(batch).ok() && session.ended(batch).ok(),
            "a run that failed");
    const model::Gradients of_chains = session.chains_gradients();
    require(of_chains.p()[0] == p, "a number's gradient is summed in another order");
    require(of_chains.W()[0] == w && of_chains.W()[2] == w, "a matrix's gradient is summed in another order");
    const dbc::SparseGradient<float> of_table = of_chains.E();
    for (int32_t row = 0; row < of_table.count; ++row)
      require(of_table.values[row] == e[of_table.rows[row]], "a table's gradient is summed in another order");
    require(of_chains.q()[0] == q, "the gradient of a scan inside is summed in another order");
    require(session.scans_gradients().r()[0] == r, "a scan's gradient is summed in another order");
    require(session.ended_gradients().s()[0] == s,
            "the gradient of a scan that ends is summed in another order");
  }
}
