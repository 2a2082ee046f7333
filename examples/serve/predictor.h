// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The batch function of a worker: trees in, the probabilities of the classes out.
#pragma once

#include "tree.h"
#include "tree_lstm.h"

#include <dbc/batcher.h>

#include <algorithm>
#include <array>

namespace tree_lstm = dbc::models::tree_lstm;

using Scores = std::array<float, tree_lstm::dims::classes>;

/// One worker's session and the batch that it fills anew each time.
class Predictor {
public:
  explicit Predictor(const tree_lstm::Model &model) : session_(model) {}

  void operator()(dbc::Requests<Tree, Scores> &requests) {
    batch_.clear();
    for (int32_t i = 0; i < requests.size(); ++i)
      add(requests[i]);
    const dbc::Status ran = session_.sentiment(batch_);
    for (int32_t i = 0; i < requests.size(); ++i)
      if (ran.ok() && session_.status(i).ok()) {
        Scores scores;
        std::copy_n(session_.sentiment_result()[i], scores.size(), scores.begin());
        requests.answer(i, scores);
      } else {
        requests.fail(i, session_.status(i)); // the run's, where that failed
      }
  }

private:
  void add(const Tree &tree) {
    batch_.begin_input();
    nodes_.clear();
    for (const Node &node : tree)
      if (node.left < 0)
        nodes_.push_back(batch_.Leaf().word(node.word));
      else
        nodes_.push_back(batch_.Node().left(nodes_[node.left]).right(nodes_[node.right]));
    batch_.sentiment(nodes_.back());
  }

  tree_lstm::Session session_;
  tree_lstm::Batch batch_;
  std::vector<tree_lstm::Tree> nodes_;
};
