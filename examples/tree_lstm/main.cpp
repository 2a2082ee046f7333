// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reads sentences as trees, `(label (label word) ..)` a line, and predicts their sentiment with the compiled
// model: on an NVIDIA GPU where there is one, else on the CPU. usage: tree_lstm_demo FILE
#include "trees.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <dbc/cuda/context.h>
#include <string>

/// Predicts all sentences, `size` at a time; returns sentences per second. Prints the first ones if asked to.
double run(tree_lstm::Session &session, const std::vector<std::string> &lines, size_t size, int print) {
  tree_lstm::Batch batch;
  double seconds = 0;
  for (size_t begin = 0; begin < lines.size(); begin += size) {
    batch.clear();
    for (size_t i = begin; i < std::min(begin + size, lines.size()); ++i) {
      const char *at = lines[i].c_str();
      batch.begin_input();
      batch.sentiment(add(batch, at));
    }
    auto start = std::chrono::steady_clock::now();
    dbc::Status status = session.sentiment(batch);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!status.ok())
      std::fprintf(stderr, "%s\n", status.message.c_str());
    for (int32_t i = 0; i < batch.inputs() && print > 0; ++i, --print) {
      const float *p = session.sentiment_result()[i];
      std::printf("%.40s..  class %td  (%.3f %.3f %.3f %.3f %.3f)\n", lines[begin + i].c_str(),
                  std::max_element(p, p + 5) - p, p[0], p[1], p[2], p[3], p[4]);
    }
  }
  return static_cast<double>(lines.size()) / seconds;
}

int main(int argc, char **argv) {
  const std::vector<std::string> lines = lines_of(argc > 1 ? argv[1] : "/dev/stdin");
  tree_lstm::Weights weights;
  weights.draw(1); // or dbc::load_weights("weights.safetensors", weights) of <dbc/io/safetensors.h>
  tree_lstm::Model model;
  if (dbc::Status status = tree_lstm::Model::make(weights, &model); !status.ok())
    return std::fprintf(stderr, "%s\n", status.message.c_str()), 1;
  tree_lstm::Session session(model);
  dbc::cuda::Model on_device;
  dbc::Status device = dbc::cuda::Model::make(model, /*device=*/0, &on_device);
  dbc::cuda::Context context(on_device);
  if (device.ok())
    session.raw().compute_on(&context);
  else
    std::fprintf(stderr, "on the CPU: %s\n", device.message.c_str());
  run(session, lines, 64, 5); // the first run makes room; later ones allocate nothing
  std::printf("%zu sentences: %.0f a second in batches of 64, %.0f one by one\n", lines.size(),
              run(session, lines, 64, 0), run(session, lines, 1, 0));
}
