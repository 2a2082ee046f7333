// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/BatchGraph.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

namespace dbc::driver {

/// Nodes from left to right, as a walk down from the nodes that no other refers to finds them.
static std::vector<double> walked(const InputGraph &input) {
  std::vector<std::vector<int32_t>> targets(input.nodes.size());
  std::vector<bool> referred(input.nodes.size()), seen(input.nodes.size());
  for (const InputGraph::Edge &edge : input.edges) {
    targets[edge.from].push_back(edge.to);
    referred[edge.to] = true;
  }
  std::vector<double> position(input.nodes.size());
  double next = 0;
  for (size_t root = 0; root < input.nodes.size(); ++root) {
    if (referred[root])
      continue;
    for (std::vector<int32_t> stack{static_cast<int32_t>(root)}; !stack.empty();) {
      const int32_t node = stack.back();
      stack.pop_back();
      if (seen[node])
        continue;
      seen[node] = true;
      position[node] = next++;
      for (int32_t target : llvm::reverse(targets[node]))
        stack.push_back(target);
    }
  }
  return position;
}

/// Rows of equal levels, the deepest at the bottom; a node stands above the middle of what it refers to.
static void layOutLevels(InputGraph &input, int32_t levels) {
  std::vector<std::vector<int32_t>> rows(levels), targets(input.nodes.size());
  for (const InputGraph::Edge &edge : input.edges)
    targets[edge.from].push_back(edge.to);
  const std::vector<double> position = walked(input);
  for (size_t node = 0; node < input.nodes.size(); ++node)
    rows[input.nodes[node].level].push_back(static_cast<int32_t>(node));
  const double down = std::clamp(900.0 / levels, 2.2 * kNodeRadius, 44.0);
  double most = 0;
  for (int32_t level = 0; level < levels; ++level) {
    std::vector<int32_t> &row = rows[level];
    llvm::sort(row, [&](int32_t a, int32_t b) { return position[a] < position[b]; });
    double free = 0;
    for (int32_t node : row) {
      double wanted = free;
      if (!targets[node].empty()) {
        double sum = 0;
        for (int32_t target : targets[node])
          sum += input.nodes[target].x;
        wanted = std::max(free, sum / double(targets[node].size()));
      }
      input.nodes[node].x = wanted;
      input.nodes[node].y = (levels - 1 - level) * down;
      free = wanted + kNodeDistance;
      most = std::max(most, wanted);
    }
  }
  input.width = most;
  input.height = (levels - 1) * down;
}

/// In a ring, for what leads into a cycle.
static void layOutRing(InputGraph &input) {
  constexpr double kTurn = 2 * 3.14159265358979;
  const auto count = static_cast<int32_t>(input.nodes.size());
  const double radius = std::max(kNodeDistance, kNodeDistance * count / kTurn);
  input.width = input.height = 2 * radius;
  for (int32_t i = 0; i < count; ++i) {
    input.nodes[i].x = radius + radius * std::sin(kTurn * i / count);
    input.nodes[i].y = radius - radius * std::cos(kTurn * i / count);
  }
}

/// In lines, for what has one level.
static void layOutLines(InputGraph &input) {
  constexpr int32_t kInLine = 30;
  const auto count = static_cast<int32_t>(input.nodes.size());
  for (int32_t i = 0; i < count; ++i) {
    input.nodes[i].x = i % kInLine * kNodeDistance;
    input.nodes[i].y = i / kInLine * kNodeDistance; // NOLINT(bugprone-integer-division): lines
  }
  input.width = std::max(0, std::min(count, kInLine) - 1) * kNodeDistance;
  input.height = std::max(0, (count - 1) / kInLine) * kNodeDistance;
}

void layOut(InputGraph &input) {
  int32_t levels = 0;
  bool cyclic = false;
  for (const InputGraph::Node &node : input.nodes) {
    levels = std::max(levels, node.level + 1);
    cyclic |= node.level < 0;
  }
  if (cyclic)
    layOutRing(input);
  else if (levels > 1)
    layOutLevels(input, levels);
  else
    layOutLines(input);
}

} // namespace dbc::driver
