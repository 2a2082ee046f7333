// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The Tree-LSTM in double precision, written from the equations and sharing nothing with the other baselines.
#include "bench/baselines/Reference.h"
#include "bench/baselines/TreeLstm.h"

#include <cmath>

namespace dbc::bench {

using namespace naive;

/// h of all nodes.
static std::vector<Vector> states(const TreeLstm &model, const TreeBatch &trees) {
  const size_t H = model.hidden;
  std::vector<Vector> h(trees.nodes()), c(trees.nodes());
  for (int32_t n = 0; n < trees.nodes(); ++n) {
    h[n].resize(H);
    c[n].resize(H);
    if (trees.kind[n] == TreeBatch::kLeaf) {
      auto word = model.E.begin() + static_cast<int64_t>(trees.word[n]) * TreeLstm::kEmbed;
      Vector y = affine(model.W, Vector(word, word + TreeLstm::kEmbed), model.b);
      const double *i = &y[0], *o = &y[H], *u = &y[2 * H];
      for (size_t j = 0; j < H; ++j) {
        c[n][j] = sigmoid(i[j]) * std::tanh(u[j]);
        h[n][j] = sigmoid(o[j]) * std::tanh(c[n][j]);
      }
    } else {
      const int32_t l = trees.left[n], r = trees.right[n];
      Vector children = h[l];
      children.insert(children.end(), h[r].begin(), h[r].end());
      Vector y = affine(model.U, children, model.d);
      const double *i = &y[0], *fl = &y[H], *fr = &y[2 * H], *o = &y[3 * H], *u = &y[4 * H];
      for (size_t j = 0; j < H; ++j) {
        c[n][j] = sigmoid(i[j]) * std::tanh(u[j]) + sigmoid(fl[j]) * c[l][j] + sigmoid(fr[j]) * c[r][j];
        h[n][j] = sigmoid(o[j]) * std::tanh(c[n][j]);
      }
    }
  }
  return h;
}

std::vector<double> tree_lstm_reference(const TreeLstm &model, const TreeBatch &trees) {
  std::vector<Vector> h = states(model, trees);
  Vector out;
  for (int32_t root : trees.root) {
    Vector result = softmax(affine(model.V, h[root], model.e));
    out.insert(out.end(), result.begin(), result.end());
  }
  return out;
}

double tree_lstm_loss_reference(const TreeLstm &model, const TreeBatch &trees) {
  std::vector<Vector> h = states(model, trees);
  double sum = 0;
  for (int32_t n = 0; n < trees.nodes(); ++n)
    sum -= std::log(softmax(affine(model.V, h[n], model.e))[trees.label[n]]);
  return sum / trees.trees();
}

} // namespace dbc::bench
