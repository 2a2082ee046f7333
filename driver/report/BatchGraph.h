// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The structure of a batch as graphs of nodes, an input each, and where a drawing has them.
#pragma once

#include <dbc/batch.h>
#include <dbc/model.h>
#include <string>
#include <vector>

namespace dbc::driver {

/// The nodes of an input and the references between them.
struct InputGraph {
  struct Node {
    int32_t data = 0, constructor = 0, number = 0; ///< `number` within its data type and the batch
    int32_t level = 0;   ///< references down to a node without any; -1: they lead into a cycle
    double x = 0, y = 0; ///< of its middle, in pixels
    std::string name;    ///< "node 7 (Leaf)"
  };
  struct Edge {
    int32_t from = 0, to = 0; ///< numbers of nodes in their input
    std::string field;
  };
  int64_t number = 0; ///< among all inputs that are drawn or not, from 1
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<int32_t> arguments; ///< numbers of nodes that arguments refer to
  double width = 0, height = 0;   ///< between the middles of nodes, in pixels
};

/// Reads input `number` of a batch, by the fields and arguments that an entry reads. Without levels or
/// places.
InputGraph readInput(const ModelInfo &info, const EntryCode &entry, const Batch &batch, int32_t number);
/// Fills in the nodes' levels. O(nodes + edges), without a stack.
void findLevels(InputGraph &input);
/// Leaves the `most` nodes that are nearest to the arguments, and the references between them.
void keepNearest(InputGraph &input, int64_t most);

/// Pixels between the middles of neighbours.
constexpr double kNodeDistance = 26;
/// Of a node, in pixels.
constexpr double kNodeRadius = 9;
/// Gives nodes that have levels their places, and the input its size.
void layOut(InputGraph &input);

/// An SVG document of inputs that are laid out, with its own colours for a light and a dark page. `words` say
/// what it shows.
std::string drawSvg(const ModelInfo &info, const std::vector<InputGraph> &inputs, const std::string &words);

} // namespace dbc::driver
