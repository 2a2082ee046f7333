// Strongly connected components: what in a graph of calls reaches itself.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_COMPONENTS_H
#define DBC_FRONTEND_COMPONENTS_H

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace dbc::frontend {

/// A directed graph over objects; they are numbered in the order in which they are first named, so that what
/// is found does not hang on where objects lie. Edges may be given twice.
template <typename T> class Graph {
public:
  void node(T *object) { numberOf(object); }
  void edge(T *from, T *to) {
    size_t source = numberOf(from), target = numberOf(to);
    next_[source].push_back(target);
  }

  /// The strongly connected components, each behind those that it has edges to. Time O(nodes + edges), and
  /// no recursion on the machine stack.
  std::vector<std::vector<T *>> components() const;
  /// Those that reach themselves: components of several, or of one with an edge to itself.
  std::vector<std::vector<T *>> circles() const;
  /// Of each that reaches itself, which of the circles it lies in.
  std::map<T *, size_t> circleNumbers() const;

private:
  size_t numberOf(T *object) {
    auto [at, isNew] = numbers_.try_emplace(object, objects_.size());
    if (isNew) {
      objects_.push_back(object);
      next_.emplace_back();
    }
    return at->second;
  }

  std::map<T *, size_t> numbers_;
  std::vector<T *> objects_;
  std::vector<std::vector<size_t>> next_;
};

/// Tarjan (1972), with an explicit stack.
template <typename T> std::vector<std::vector<T *>> Graph<T>::components() const {
  constexpr size_t kUnseen = -1;
  struct Frame {
    size_t node, edge;
  };
  std::vector<size_t> index(objects_.size(), kUnseen), low(objects_.size());
  std::vector<bool> isOpen(objects_.size());
  std::vector<size_t> open;
  std::vector<Frame> frames;
  std::vector<std::vector<T *>> result;
  size_t count = 0;
  auto enter = [&](size_t node) {
    index[node] = low[node] = count++;
    isOpen[node] = true;
    open.push_back(node);
    frames.push_back({node, 0});
  };
  auto close = [&](size_t node) {
    std::vector<T *> &component = result.emplace_back();
    for (size_t member = kUnseen; member != node;) {
      member = open.back();
      open.pop_back();
      isOpen[member] = false;
      component.push_back(objects_[member]);
    }
  };
  for (size_t start = 0; start < objects_.size(); ++start) {
    if (index[start] == kUnseen)
      enter(start);
    while (!frames.empty()) {
      auto &[node, edge] = frames.back();
      if (edge < next_[node].size()) {
        size_t to = next_[node][edge++];
        if (index[to] == kUnseen)
          enter(to);
        else if (isOpen[to])
          low[node] = std::min(low[node], index[to]);
        continue;
      }
      size_t done = node;
      frames.pop_back();
      if (low[done] == index[done])
        close(done);
      if (!frames.empty())
        low[frames.back().node] = std::min(low[frames.back().node], low[done]);
    }
  }
  return result;
}

template <typename T> std::vector<std::vector<T *>> Graph<T>::circles() const {
  std::vector<std::vector<T *>> result;
  for (std::vector<T *> &component : components()) {
    size_t number = numbers_.at(component.front());
    const std::vector<size_t> &next = next_[number];
    if (component.size() > 1 || std::find(next.begin(), next.end(), number) != next.end())
      result.push_back(std::move(component));
  }
  return result;
}

template <typename T> std::map<T *, size_t> Graph<T>::circleNumbers() const {
  std::map<T *, size_t> result;
  std::vector<std::vector<T *>> found = circles();
  for (size_t i = 0; i < found.size(); ++i)
    for (T *member : found[i])
      result[member] = i;
  return result;
}

} // namespace dbc::frontend

#endif // DBC_FRONTEND_COMPONENTS_H
