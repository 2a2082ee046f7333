// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include <dbc/cuda/graphs.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace dbc::cuda {

/// Its memory, here and on the device: the arrays' addresses, and behind them two numbers a launch, the first
/// row and the one behind the last.
struct Graphs::Graph {
  const void *stages = nullptr;  ///< the entry's table
  std::vector<int32_t> numbers;  ///< of each launch: the stage
  std::vector<int32_t> expected; ///< and for how many rows it has blocks of threads
  size_t rows = 0, bytes = 0;    ///< where the rows begin; all of it
  unsigned char *host = nullptr; ///< staging
  unsigned char *device = nullptr;
  int32_t large_m_from = 0; ///< as its source has it
  void *made = nullptr;     ///< the backend's

  void release(const Backend &backend, const DeviceMemory &memory) {
    if (made != nullptr)
      backend.release_graph(made);
    if (device != nullptr)
      memory.release(device, bytes);
    if (host != nullptr)
      backend.release_host(host);
  }
};

Graphs::Graphs() = default;
Graphs::~Graphs() = default;

void Graphs::clear(const Backend &backend, const DeviceMemory &memory) {
  for (auto &graph : graphs_)
    graph->release(backend, memory);
  graphs_.clear();
}

size_t Graphs::bytes() const {
  size_t sum = 0;
  for (const auto &graph : graphs_)
    sum += graph->bytes;
  return sum;
}

/// Puts it first.
Graphs::Graph *Graphs::find(const void *stages, const std::vector<Node> &nodes) {
  const auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const auto &graph) {
    return graph->stages == stages &&
           std::equal(nodes.begin(), nodes.end(), graph->numbers.begin(), graph->numbers.end(),
                      [](const Node &node, int32_t number) { return node.stage == number; });
  });
  if (found == graphs_.end())
    return nullptr;
  std::rotate(graphs_.begin(), found, found + 1);
  return graphs_.front().get();
}

/// The least power of two that is no less; for no rows there is a block of threads too.
static int32_t rounded(int32_t rows) {
  int32_t power = 1;
  while (power < rows && power < 1 << 30)
    power *= 2;
  return power;
}

Status Graphs::record(const Backend &backend, const GraphSource &source, Graph &graph) {
  if (graph.made != nullptr)
    backend.release_graph(std::exchange(graph.made, nullptr));
  void *stream = nullptr;
  if (Status status = backend.capture(&stream); !status.ok())
    return status;
  backend.copy(graph.device, graph.host, graph.bytes, stream);
  const auto *rows = reinterpret_cast<const int32_t *>(graph.device + graph.rows);
  for (size_t n = 0; n < graph.numbers.size(); ++n)
    source.record(source.stages, graph.numbers[n], graph.device, rows + 2 * n, static_cast<int32_t>(n),
                  graph.expected[n], source.large_m_from, stream);
  ++made_;
  return backend.end_capture(stream, &graph.made);
}

Status Graphs::run(const Backend &backend, const DeviceMemory &memory, void *stream,
                   const GraphSource &source, const std::vector<Node> &nodes) {
  Graph *graph = find(source.stages, nodes);
  if (graph == nullptr) {
    auto fresh = std::make_unique<Graph>();
    fresh->stages = source.stages;
    for (const Node &node : nodes)
      fresh->numbers.push_back(node.stage);
    fresh->expected.resize(nodes.size(), 0);
    graphs_.reserve(kMost + 1);
    if (graphs_.size() == kMost) {
      graphs_.back()->release(backend, memory);
      graphs_.pop_back();
    }
    graphs_.insert(graphs_.begin(), std::move(fresh));
    graph = graphs_.front().get();
    graph->rows = (source.bytes + 15) / 16 * 16;
    const size_t bytes = graph->rows + nodes.size() * 2 * sizeof(int32_t);
    graph->device = static_cast<unsigned char *>(memory.allocate(bytes));
    graph->host = static_cast<unsigned char *>(backend.allocate_host(bytes));
    graph->bytes = graph->device != nullptr ? bytes : 0;
  }
  const auto forget = [&](Status status) {
    graphs_.front()->release(backend, memory);
    graphs_.erase(graphs_.begin());
    return status;
  };
  if (graph->device == nullptr || graph->host == nullptr)
    return forget(Status::error(Code::limit, "not enough memory for a graph of launches"));

  std::memcpy(graph->host, source.arrays, source.bytes);
  auto *rows = reinterpret_cast<int32_t *>(graph->host + graph->rows);
  const bool as_large = std::exchange(graph->large_m_from, source.large_m_from) == source.large_m_from;
  bool roomy = graph->made != nullptr && as_large;
  for (size_t n = 0; n < nodes.size(); ++n) {
    rows[2 * n] = nodes[n].begin;
    rows[2 * n + 1] = nodes[n].end;
    roomy = roomy && (nodes[n].end - nodes[n].begin) / 2 <= graph->expected[n];
  }
  if (!roomy) {
    for (size_t n = 0; n < nodes.size(); ++n)
      graph->expected[n] = std::max(graph->expected[n], rounded(nodes[n].end - nodes[n].begin));
    if (Status status = record(backend, source, *graph); !status.ok())
      return forget(std::move(status));
  }
  backend.launch_graph(graph->made, stream);
  return Status();
}

} // namespace dbc::cuda
