// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// All launches of an entry as one graph, which a device repeats for batch after batch. A graph holds no
// address of a batch's arrays and no number of rows: its kernels read both from a small block of memory that
// belongs to it.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/cuda/memory.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace dbc::cuda {

/// A stage of an entry, by its number in the table of stages, and its rows begin .. end - 1 in a batch.
struct Node {
  int32_t stage, begin, end;
};

/// An entry's table of stages and its arrays, of types that only the entry knows.
struct GraphSource {
  const void *stages, *arrays;
  size_t bytes;         ///< of the arrays' addresses
  int32_t large_m_from; ///< stages have large-M tiles where rows fill at least so many blocks of threads
  /// Launches a stage that will find these addresses, and the rows rows[0] .. rows[1] - 1, in the device's
  /// memory; with blocks of threads for `expected` rows. What it finds wrong is of launch number `launch`.
  void (*record)(const void *stages, int32_t stage, const void *arrays, const int32_t *rows, int32_t launch,
                 int32_t expected, int32_t large_m_from, void *stream);
};

/// The graphs of a context, the one used last first. Not to be used by two threads at once.
class Graphs {
public:
  /// So many are kept; for one more the one goes that was not used for longest.
  static constexpr size_t kMost = 16;

  Graphs();
  ~Graphs();
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;

  /// Begins to run the stages of `nodes`, in order, as one launch. A graph of the same stages in the same
  /// order is taken, of whichever rows: it is made anew only if a stage has more than twice the rows that it
  /// was made for, as too few blocks of threads would do them, or if source.large_m_from is another. What was
  /// begun before with the same graph has come to its end. Fails with Code::limit where there is no memory,
  /// Code::internal where the device makes no graph.
  Status run(const Backend &backend, const DeviceMemory &memory, void *stream, const GraphSource &source,
             const std::vector<Node> &nodes);
  /// Gives back all memory. What was begun has come to its end.
  void clear(const Backend &backend, const DeviceMemory &memory);

  size_t count() const { return graphs_.size(); }
  /// Graphs made so far, also those that are gone.
  int64_t made() const { return made_; }
  /// Memory held on the device, in bytes.
  size_t bytes() const;

private:
  struct Graph;
  Graph *find(const void *stages, const std::vector<Node> &nodes);
  Status record(const Backend &backend, const GraphSource &source, Graph &graph);

  std::vector<std::unique_ptr<Graph>> graphs_;
  int64_t made_ = 0;
};

} // namespace dbc::cuda
