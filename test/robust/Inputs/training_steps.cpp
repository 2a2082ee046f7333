// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Counts what steps of a training allocate when all batches have been there once. usage: training_steps TREES
#include "allocations.h"
#include "trees.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dbc/optimizer.h>

static void require(const dbc::Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.message.c_str());
  std::exit(1);
}

/// Words have their numbers, so that filling a batch looks nothing up: `add` of trees.h allocates strings.
static tree_lstm::Tree fill(tree_lstm::Batch &batch, const char *&at) {
  const int32_t label = at[1] - '0';
  at += 3;
  tree_lstm::Tree tree;
  if (*at == '(') {
    const tree_lstm::Tree left = fill(batch, at), right = fill(batch, ++at);
    tree = batch.Node().left(left).right(right).label(label);
  } else {
    uint32_t hash = 0;
    for (; *at != ')'; ++at)
      hash = hash * 31 + static_cast<unsigned char>(*at);
    tree = batch.Leaf().word(static_cast<int32_t>(hash % tree_lstm::dims::vocab)).label(label);
  }
  ++at;
  return tree;
}

static void train(const std::vector<std::string> &lines, dbc::OptimizerOptions::Kind kind, int32_t threads) {
  constexpr size_t kBatch = 20;
  tree_lstm::Weights weights;
  weights.draw(1);
  tree_lstm::Model model;
  require(tree_lstm::Model::make(weights, &model));
  tree_lstm::Session session(model, threads);
  dbc::OptimizerOptions options;
  options.kind = kind;
  options.lr = 0.01F;
  options.clip_norm = 5;
  dbc::Optimizer optimizer(options);
  tree_lstm::Batch batch;
  long before = 0;
  int steps = 0;
  for (int epoch = 0; epoch < 8; ++epoch) {
    if (epoch == 2) // all batches have been there
      before = allocations, steps = 0;
    for (size_t begin = 0; begin < lines.size(); begin += kBatch, ++steps) {
      batch.clear();
      for (size_t i = begin; i < std::min(begin + kBatch, lines.size()); ++i) {
        const char *at = lines[i].c_str();
        batch.begin_input();
        batch.nll(fill(batch, at));
      }
      require(session.nll(batch));
      require(optimizer.step(weights, session.nll_gradients().raw()));
      require(model.renew(weights));
    }
  }
  const long counted = allocations - before;
  uint64_t bits = 0;
  for (int32_t param = 0; param < static_cast<int32_t>(weights.info().params.size()); ++param)
    for (size_t i = 0; i < weights.size(param); ++i) {
      uint32_t word;
      std::memcpy(&word, weights.data(param) + i, sizeof word);
      bits = bits * 1099511628211U + word;
    }
  std::printf("%d steps, %ld allocations, weights %016llx\n", steps, counted, static_cast<unsigned long long>(bits));
}

int main(int, char **argv) {
  using Kind = dbc::OptimizerOptions::Kind;
  const std::vector<std::string> lines = lines_of(argv[1]);
  for (Kind kind : {Kind::Sgd, Kind::Adagrad, Kind::Adam, Kind::AdamW}) {
    train(lines, kind, 1);
    train(lines, kind, 2);
  }
  return 0;
}
