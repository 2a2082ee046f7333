// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Trees as they are published, `(label (label word) ..)` a line: read into a batch of the compiled model.
#pragma once

#include "tree_lstm.h"
#include <algorithm>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace tree_lstm = dbc::models::tree_lstm;

/// A word's number: its position among the words seen so far.
inline int32_t number(const std::string &word) {
  static std::unordered_map<std::string, int32_t> known;
  int32_t last = static_cast<int32_t>(tree_lstm::dims::vocab) - 1;
  return known.emplace(word, std::min(static_cast<int32_t>(known.size()), last)).first->second;
}

/// Adds the tree that starts at `at` to the batch's newest input and moves `at` behind it.
inline tree_lstm::Tree add(tree_lstm::Batch &batch, const char *&at) {
  int32_t label = at[1] - '0';
  at += 3; // "(2 "
  tree_lstm::Tree tree;
  if (*at == '(') {
    tree_lstm::Tree left = add(batch, at);
    tree_lstm::Tree right = add(batch, ++at);
    tree = batch.Node().left(left).right(right).label(label);
  } else {
    const char *word = at;
    while (*at != ')')
      ++at;
    tree = batch.Leaf().word(number(std::string(word, at))).label(label);
  }
  ++at; // ')'
  return tree;
}

inline std::vector<std::string> lines_of(const char *file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}
