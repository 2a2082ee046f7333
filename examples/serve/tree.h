// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a request holds: a binary tree over the numbers of words, as text `((17 2) 9)`.
#pragma once

#include <dbc/status.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

struct Node {
  int32_t word, left, right; ///< a leaf's children are -1, as is an inner node's word
};

/// Children stand before their parents, the root is the last.
using Tree = std::vector<Node>;

/// Reads a tree, the number of a word or `(tree tree)`, of any depth. bad_input for any other text.
inline dbc::Status parse(const std::string &text, Tree *tree) {
  const dbc::Status wrong =
      dbc::Status::error(dbc::Code::bad_input, "a tree is the number of a word, or `(tree tree)`");
  tree->clear();
  std::vector<int32_t> open; // trees whose parent is not there yet; -1: a bracket
  for (const char *at = text.data(), *end = at + text.size(); at < end;) {
    if (*at == ' ' || *at == '\n') {
      ++at;
      continue;
    }
    Node node = {-1, -1, -1};
    if (*at == '(') {
      open.push_back(-1);
      ++at;
      continue;
    }
    if (*at == ')') {
      const size_t n = open.size();
      if (n < 3 || open[n - 3] != -1 || open[n - 2] == -1 || open[n - 1] == -1)
        return wrong;
      node = {-1, open[n - 2], open[n - 1]};
      open.resize(n - 3);
      ++at;
    } else {
      const std::from_chars_result number = std::from_chars(at, end, node.word);
      if (number.ec != std::errc())
        return wrong;
      at = number.ptr;
    }
    open.push_back(static_cast<int32_t>(tree->size()));
    tree->push_back(node);
  }
  return open.size() == 1 && open[0] != -1 ? dbc::Status() : wrong;
}
