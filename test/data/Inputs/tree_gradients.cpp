// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The gradient of a batch of trees, `(label (label word) ..)` a line, for comparison
// with PyTorch's. usage: tree_gradients TREES WEIGHTS GRADIENTS; writes drawn weights, and the gradient in
// their form; prints the losses.
#include "trees.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dbc/io/safetensors.h>

static void require(const dbc::Status &status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message.c_str());
    std::exit(1);
  }
}

int main(int, char **argv) {
  tree_lstm::Weights weights, gradients;
  weights.draw(3);
  tree_lstm::Model model;
  require(tree_lstm::Model::make(weights, &model));
  require(dbc::save_weights(argv[2], weights));
  tree_lstm::Session session(model, 2);
  tree_lstm::Batch batch;
  for (const std::string &line : lines_of(argv[1])) {
    const char *at = line.c_str();
    batch.begin_input();
    batch.nll(add(batch, at));
  }
  require(session.nll(batch));
  for (int32_t i = 0; i < batch.inputs(); ++i)
    std::printf("%.9g\n", session.nll_result()[i]);
  const dbc::Outputs &outputs = session.nll_gradients().raw();
  for (int32_t p = 0; p < gradients.count(); ++p)
    if (outputs.has_gradient(p)) {
      std::fill_n(gradients.data(p), gradients.size(p), 0.0F);
      require(outputs.add_gradient_to(p, gradients.data(p), gradients.size(p)));
      gradients.mark_given(p);
    }
  require(dbc::save_weights(argv[3], gradients));
  return 0;
}
