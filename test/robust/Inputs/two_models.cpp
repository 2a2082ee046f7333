// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Two models in one program: one's results have the same bits before and after the other has run.
#include "treefc.h"
#include "treegru_cortex.h"
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace dbc::models;

/// Prints how many numbers there are and whether all are finite; returns whether they are.
static bool say(const char *name, const float *numbers, size_t count) {
  bool finite = true;
  for (size_t i = 0; i < count; ++i)
    finite &= std::isfinite(numbers[i]);
  std::printf("%s: %zu numbers, %s finite\n", name, count, finite ? "all" : "not all");
  return finite;
}

/// Prints what went wrong, if anything did.
static bool fine(const dbc::Status &status) {
  if (!status.ok())
    std::printf("%s\n", status.message.c_str());
  return status.ok();
}

int main() {
  constexpr size_t size = treefc::dims::hidden, other_size = treegru_cortex::dims::hidden;
  treefc::Weights weights;
  weights.draw(1);
  treefc::Model model;
  treegru_cortex::Weights other_weights;
  other_weights.draw(1);
  treegru_cortex::Model other_model;
  if (!fine(treefc::Model::make(weights, &model)) ||
      !fine(treegru_cortex::Model::make(other_weights, &other_model)))
    return 1;

  treefc::Batch batch;
  batch.begin_input();
  treefc::Tree left = batch.Leaf().word(1), right = batch.Leaf().word(3);
  batch.root(batch.Node().left(left).right(right));
  treefc::Session session(model);
  if (!fine(session.root(batch)) || !say("treefc", session.root_result()[0], size))
    return 1;
  float first[size];
  std::memcpy(first, session.root_result()[0], sizeof(first));

  treegru_cortex::Batch other_batch;
  other_batch.begin_input();
  treegru_cortex::Tree child = other_batch.Tree().word(2).children({});
  other_batch.root(other_batch.Tree().word(4).children({child, child}));
  treegru_cortex::Session other_session(other_model, 2);
  if (!fine(other_session.root(other_batch)) ||
      !say("treegru_cortex", other_session.root_result()[0], other_size))
    return 1;

  if (!fine(session.root(batch)))
    return 1;
  bool same = !std::memcmp(first, session.root_result()[0], sizeof(first));
  std::printf("treefc again: %s bits\n", same ? "same" : "other");
  return same ? 0 : 1;
}
