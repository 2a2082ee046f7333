// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Trains the model, compiled with `dbc compile --mode train`, on sentences as trees, `(label (label word)
// ..)` a line: Adagrad, batches of 25 (Tai et al. 2015). usage: tree_lstm_train FILE [EPOCHS]
#include "trees.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dbc/optimizer.h>

/// Stops where something is wrong.
void require(const dbc::Status &status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message.c_str());
    std::exit(1);
  }
}

int main(int argc, char **argv) {
  const std::vector<std::string> lines = lines_of(argc > 1 ? argv[1] : "/dev/stdin");
  tree_lstm::Weights weights;
  weights.draw(1);
  tree_lstm::Model model;
  require(tree_lstm::Model::make(weights, &model));
  tree_lstm::Session session(model, 2);
  dbc::OptimizerOptions options;
  options.kind = dbc::OptimizerOptions::Kind::Adagrad;
  options.lr = 0.05F;
  options.weight_decay = 1e-4F;
  options.epsilon = 1e-10F;
  dbc::Optimizer optimizer(options);
  optimizer.set_weight_decay(tree_lstm::param::E, 0);
  tree_lstm::Batch batch;
  for (int epoch = 1, epochs = argc > 2 ? std::atoi(argv[2]) : 3; epoch <= epochs; ++epoch) {
    double sum = 0, seconds = 0;
    for (size_t begin = 0; begin < lines.size(); begin += 25) {
      batch.clear();
      for (size_t i = begin; i < std::min(begin + 25, lines.size()); ++i) {
        const char *at = lines[i].c_str();
        batch.begin_input();
        batch.nll(add(batch, at));
      }
      auto start = std::chrono::steady_clock::now();
      require(session.nll(batch)); // the losses, and the gradient of their mean
      require(optimizer.step(weights, session.nll_gradients().raw()));
      require(model.renew(weights, optimizer));
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      for (int32_t i = 0; i < batch.inputs(); ++i)
        sum += session.nll_result()[i];
    }
    const auto all = static_cast<double>(lines.size());
    std::printf("epoch %d: loss %.4f, %.0f sentences/s\n", epoch, sum / all, all / seconds);
  }
  return 0;
}
