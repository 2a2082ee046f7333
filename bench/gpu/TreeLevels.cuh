// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the Tree-LSTM by hand is made of, for inference and for training: batches by level, memory, checked
// calls. A node writes its state where its parent's product reads it, so that a level's operand
// [h_left, h_right] needs no gather.
#pragma once

#include "Timing.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace dbc::gpu {

constexpr int kBlock = 256;

#define CHECK(call)                                                                                          \
  expect((call) == cudaSuccess, std::string(#call ": ") + cudaGetErrorString(cudaPeekAtLastError()))
#define BLAS(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call " failed")

template <class T> T *on_device(size_t count) {
  void *memory = nullptr;
  CHECK(cudaMalloc(&memory, std::max<size_t>(count, 1) * sizeof(T)));
  return static_cast<T *>(memory);
}
template <class T> T *on_device(const std::vector<T> &values) {
  T *memory = on_device<T>(values.size());
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

/// Threads that share `count` elements.
inline int blocks_of(int count) { return std::max(1, std::min((count + kBlock - 1) / kBlock, 132 * 16)); }

inline __device__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

/// Rows of a table: of the embedding, for each leaf.
static __global__ void gather(const float *table, const int *word, float *rows, int count, int embed) {
  for (int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); n < count * embed;
       n += static_cast<int>(gridDim.x * blockDim.x))
    rows[n] = table[static_cast<size_t>(word[n / embed]) * embed + n % embed];
}

/// A CUDA graph for each batch, of what `compute` puts into the stream for it.
class Graphs {
public:
  Graphs(cudaStream_t stream, size_t batches, const std::function<void(size_t)> &compute)
      : stream_(stream), graphs_(batches) {
    for (size_t n = 0; n < batches; ++n) {
      cudaGraph_t graph;
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      compute(n);
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&graphs_[n], graph, 0));
      CHECK(cudaGraphDestroy(graph));
      CHECK(cudaGraphUpload(graphs_[n], stream));
    }
  }
  ~Graphs() {
    for (cudaGraphExec_t graph : graphs_)
      CHECK(cudaGraphExecDestroy(graph));
  }
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;
  void launch(size_t batch) const { CHECK(cudaGraphLaunch(graphs_[batch], stream_)); }

private:
  cudaStream_t stream_;
  std::vector<cudaGraphExec_t> graphs_;
};

//===-- Batches -----------------------------------------------------------------------------------------===//

/// A batch in the order in which it is computed. States are numbered in halves of the operand's rows: 2 r and
/// 2 r + 1 are the children of inner node r, and behind them come the roots.
struct Levels {
  std::vector<int> index; ///< words of the leaves, where leaves go, where inner nodes go
  int leaves = 0, inner = 0, trees = 0;
  std::vector<int> begin; ///< inner nodes of level l are begin[l] .. begin[l + 1] - 1
  std::vector<int> to;    ///< where a node of the batch goes
};

inline const FieldInfo &field(const ModelInfo &info, const char *name) {
  for (const ConstructorInfo &constructor : info.datas[0].constructors)
    for (const FieldInfo &each : constructor.fields)
      if (each.name == name)
        return each;
  expect(false, std::string("no field ") + name);
  std::abort();
}

inline Levels levels_of(Batch &batch, int32_t entry) {
  batch.finish();
  const ModelInfo &info = batch.info();
  auto column = [&](const char *name) { return batch.column(0, field(info, name).column).i32; };
  const int32_t *word = column("word"), *left = column("left"), *right = column("right");
  const int32_t *root = batch.column(batch.args(), batch.arg_column(entry, 0)).i32;
  const uint8_t *kind = batch.kinds(0);
  const int nodes = batch.rows(0), trees = batch.inputs();
  Levels levels;
  std::vector<int> height(static_cast<size_t>(nodes), -1), stack;
  int most = 0;
  for (int start = 0; start < nodes; ++start)
    for (stack.assign(1, start); !stack.empty();) {
      const int n = stack.back();
      if (kind[n] == 0) {
        height[n] = 0;
      } else if (height[left[n]] < 0 || height[right[n]] < 0) {
        stack.push_back(height[left[n]] < 0 ? left[n] : right[n]);
        continue;
      } else {
        height[n] = 1 + std::max(height[left[n]], height[right[n]]);
      }
      most = std::max(most, height[n]);
      stack.pop_back();
    }
  levels.trees = trees;
  levels.begin.assign(static_cast<size_t>(most) + 1, 0);
  for (int n = 0; n < nodes; ++n)
    if (height[n] > 0)
      ++levels.begin[height[n]];
    else
      ++levels.leaves;
  for (int l = 1; l <= most; ++l)
    levels.begin[l] += levels.begin[l - 1];
  levels.inner = levels.begin[most];
  std::vector<int> next = levels.begin, row(static_cast<size_t>(nodes)), to(static_cast<size_t>(nodes), -1);
  for (int n = 0; n < nodes; ++n)
    if (height[n] > 0)
      row[n] = next[height[n] - 1]++;
  for (int n = 0; n < nodes; ++n)
    if (height[n] > 0) {
      to[left[n]] = 2 * row[n];
      to[right[n]] = 2 * row[n] + 1;
    }
  for (int t = 0; t < trees; ++t)
    to[root[t]] = 2 * levels.inner + t;
  std::vector<int> inner(static_cast<size_t>(levels.inner)), leaf;
  for (int n = 0; n < nodes; ++n) {
    expect(to[n] >= 0, "a node has no parent");
    if (height[n] > 0) {
      inner[row[n]] = to[n];
    } else {
      levels.index.push_back(word[n]);
      leaf.push_back(to[n]);
    }
  }
  levels.index.insert(levels.index.end(), leaf.begin(), leaf.end());
  levels.index.insert(levels.index.end(), inner.begin(), inner.end());
  levels.to = to;
  return levels;
}

} // namespace dbc::gpu
