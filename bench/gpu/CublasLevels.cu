// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// cublas ENTRY INPUTS BATCH SECONDS: the binary Tree-LSTM of examples/tree_lstm by hand, level by level:
// cuBLAS for the products, a kernel for the gates of a level. A node writes its state where its parent's
// product reads it, so that a level's operand [h_left, h_right] needs no gather kernel: two launches a level.
// Each size of product takes the faster of two layouts of its matrix, found by timing. In a stream and as a
// CUDA graph (made before anything is timed), in f32 and in tf32. Times as time.cpp's; results are compared
// with the CPU's before. Prints one line of JSON.
#include "TreeLevels.cuh"

#include <chrono>
#include <cmath>
#include <map>

using namespace dbc;
using namespace dbc::gpu;

namespace {

//===-- Kernels -----------------------------------------------------------------------------------------===//

/// Gates, cell and state of leaves; `to` is where a state goes, in halves of rows.
__global__ void leaf_gates(const float *z, const float *bias, const int *to, float *h, float *c, int count,
                           int H) {
  for (int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); n < count * H;
       n += static_cast<int>(gridDim.x * blockDim.x)) {
    const int row = n / H, j = n % H;
    const float *gates = z + static_cast<size_t>(row) * 3 * H + j;
    const float cell = sigmoid(gates[0] + bias[j]) * tanhf(gates[2 * H] + bias[2 * H + j]);
    const size_t at = static_cast<size_t>(to[row]) * H + j;
    c[at] = cell;
    h[at] = sigmoid(gates[H] + bias[H + j]) * tanhf(cell);
  }
}

/// The same of a level's nodes, whose children's cells stand in `cells`, as their states do in the operand.
__global__ void node_gates(const float *z, const float *bias, const float *cells, const int *to, float *h,
                           float *c, int count, int H) {
  for (int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); n < count * H;
       n += static_cast<int>(gridDim.x * blockDim.x)) {
    const int row = n / H, j = n % H;
    const float *gates = z + static_cast<size_t>(row) * 5 * H + j;
    const float *children = cells + static_cast<size_t>(row) * 2 * H + j;
    const float cell = sigmoid(gates[0] + bias[j]) * tanhf(gates[4 * H] + bias[4 * H + j]) +
                       sigmoid(gates[H] + bias[H + j]) * children[0] +
                       sigmoid(gates[2 * H] + bias[2 * H + j]) * children[H];
    const size_t at = static_cast<size_t>(to[row]) * H + j;
    c[at] = cell;
    h[at] = sigmoid(gates[3 * H] + bias[3 * H + j]) * tanhf(cell);
  }
}

/// Softmax of the classes at each root: a warp a tree.
__global__ void classify(const float *h, const float *V, const float *e, float *out, int H, int classes) {
  extern __shared__ float logits[];
  const float *state = h + static_cast<size_t>(blockIdx.x) * H;
  for (int k = 0; k < classes; ++k) {
    float sum = 0;
    for (int j = static_cast<int>(threadIdx.x); j < H; j += 32)
      sum += V[k * H + j] * state[j];
    for (int by = 16; by > 0; by /= 2)
      sum += __shfl_xor_sync(0xffffffff, sum, by);
    if (threadIdx.x == 0)
      logits[k] = sum + e[k];
  }
  __syncwarp();
  float most = logits[0], all = 0;
  for (int k = 1; k < classes; ++k)
    most = fmaxf(most, logits[k]);
  for (int k = 0; k < classes; ++k)
    all += expf(logits[k] - most);
  for (int k = static_cast<int>(threadIdx.x); k < classes; k += 32)
    out[blockIdx.x * classes + k] = expf(logits[k] - most) / all;
}

//===-- The model ---------------------------------------------------------------------------------------===//

/// A matrix [outputs, inputs] in both layouts.
struct Matrix {
  const float *rows, *columns;
  int outputs, inputs;
};

class TreeLstm {
public:
  explicit TreeLstm(const Weights &weights);
  /// Room for the largest batch.
  void reserve(const std::vector<Levels> &batches);
  /// Copies the indices in, computes, copies results out; `middle` is called behind the copy and behind the
  /// kernels.
  void copy_in(const Levels &batch);
  void compute(const Levels &batch);
  void copy_out(const Levels &batch);
  void use_tf32(bool on) {
    BLAS(cublasSetMathMode(blas_, on ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
    faster_.clear();
  }
  /// Finds the faster layout for each size of a batch's products.
  void tune(const Levels &batch);

  cudaStream_t stream;
  float *results = nullptr; ///< on the host

private:
  Matrix matrix(const float *values, int outputs, int inputs);
  void multiply(const Matrix &matrix, bool by_columns, const float *x, float *z, int rows);
  void multiply(const Matrix &matrix, const float *x, float *z, int rows) {
    auto known = faster_.find({matrix.outputs, rows});
    multiply(matrix, known != faster_.end() && known->second, x, z, rows);
  }
  void tune(const Matrix &matrix, int rows);

  cublasHandle_t blas_;
  int H_, embed_, classes_;
  float *E_, *b_, *d_, *V_, *e_;
  Matrix W_, U_;
  std::map<std::pair<int, int>, bool> faster_; ///< (outputs, rows) -> by columns
  int *index_ = nullptr, *staged_ = nullptr;
  float *x_ = nullptr, *z_ = nullptr, *h_ = nullptr, *c_ = nullptr, *out_ = nullptr;
};

TreeLstm::TreeLstm(const Weights &weights) {
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  BLAS(cublasCreate(&blas_));
  BLAS(cublasSetStream(blas_, stream));
  constexpr size_t kWorkspace = 32 << 20;
  BLAS(cublasSetWorkspace(blas_, on_device<char>(kWorkspace), kWorkspace));
  auto of = [&](const char *name) {
    const int32_t number = weights.find(name);
    return std::vector<float>(weights.data(number), weights.data(number) + weights.size(number));
  };
  H_ = static_cast<int>(of("d").size() / 5);
  embed_ = static_cast<int>(of("W").size() / of("b").size());
  classes_ = static_cast<int>(of("e").size());
  E_ = on_device(of("E"));
  b_ = on_device(of("b"));
  d_ = on_device(of("d"));
  V_ = on_device(of("V"));
  e_ = on_device(of("e"));
  W_ = matrix(of("W").data(), 3 * H_, embed_);
  U_ = matrix(of("U").data(), 5 * H_, 2 * H_);
}

Matrix TreeLstm::matrix(const float *values, int outputs, int inputs) {
  const std::vector<float> rows(values, values + static_cast<size_t>(outputs) * inputs);
  std::vector<float> columns(rows.size());
  for (int o = 0; o < outputs; ++o)
    for (int k = 0; k < inputs; ++k)
      columns[static_cast<size_t>(k) * outputs + o] = rows[static_cast<size_t>(o) * inputs + k];
  return {on_device(rows), on_device(columns), outputs, inputs};
}

void TreeLstm::reserve(const std::vector<Levels> &batches) {
  size_t index = 0, leaves = 0, level = 0, states = 0, trees = 0;
  for (const Levels &batch : batches) {
    index = std::max(index, batch.index.size());
    leaves = std::max<size_t>(leaves, batch.leaves);
    trees = std::max<size_t>(trees, batch.trees);
    states = std::max<size_t>(states, 2 * static_cast<size_t>(batch.inner) + batch.trees);
    for (size_t l = 0; l + 1 < batch.begin.size(); ++l)
      level = std::max<size_t>(level, batch.begin[l + 1] - batch.begin[l]);
  }
  index_ = on_device<int>(index);
  CHECK(cudaMallocHost(&staged_, index * sizeof(int)));
  x_ = on_device<float>(leaves * embed_);
  z_ = on_device<float>(std::max(leaves * 3, level * 5) * H_);
  h_ = on_device<float>(states * H_);
  c_ = on_device<float>(states * H_);
  out_ = on_device<float>(trees * classes_);
  CHECK(cudaMallocHost(&results, trees * classes_ * sizeof(float)));
}

/// z[row] = matrix x[row], row by row; cuBLAS reads both the other way round.
void TreeLstm::multiply(const Matrix &matrix, bool by_columns, const float *x, float *z, int rows) {
  const float one = 1, zero = 0;
  if (by_columns)
    BLAS(cublasSgemm(blas_, CUBLAS_OP_N, CUBLAS_OP_N, matrix.outputs, rows, matrix.inputs, &one,
                     matrix.columns, matrix.outputs, x, matrix.inputs, &zero, z, matrix.outputs));
  else
    BLAS(cublasSgemm(blas_, CUBLAS_OP_T, CUBLAS_OP_N, matrix.outputs, rows, matrix.inputs, &one, matrix.rows,
                     matrix.inputs, x, matrix.inputs, &zero, z, matrix.outputs));
}

void TreeLstm::tune(const Matrix &matrix, int rows) {
  if (rows == 0 || faster_.count({matrix.outputs, rows}))
    return;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float taken[2] = {};
  for (bool by_columns : {false, true}) {
    const float *x = matrix.outputs == W_.outputs ? x_ : h_;
    for (int n = 0; n < 12; ++n) {
      if (n == 2)
        CHECK(cudaEventRecord(begin, stream));
      multiply(matrix, by_columns, x, z_, rows);
    }
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&taken[by_columns], begin, end));
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  faster_[{matrix.outputs, rows}] = taken[1] < taken[0];
}

void TreeLstm::tune(const Levels &batch) {
  tune(W_, batch.leaves);
  for (size_t l = 0; l + 1 < batch.begin.size(); ++l)
    tune(U_, batch.begin[l + 1] - batch.begin[l]);
}

void TreeLstm::copy_in(const Levels &batch) {
  const size_t bytes = batch.index.size() * sizeof(int);
  std::copy(batch.index.begin(), batch.index.end(), staged_);
  CHECK(cudaMemcpyAsync(index_, staged_, bytes, cudaMemcpyHostToDevice, stream));
}

void TreeLstm::compute(const Levels &batch) {
  const int *to = index_ + batch.leaves;
  gather<<<blocks_of(batch.leaves * embed_), kBlock, 0, stream>>>(E_, index_, x_, batch.leaves, embed_);
  multiply(W_, x_, z_, batch.leaves);
  leaf_gates<<<blocks_of(batch.leaves * H_), kBlock, 0, stream>>>(z_, b_, to, h_, c_, batch.leaves, H_);
  to += batch.leaves;
  for (size_t l = 0; l + 1 < batch.begin.size(); ++l) {
    const int first = batch.begin[l], rows = batch.begin[l + 1] - first;
    const size_t at = static_cast<size_t>(first) * 2 * H_;
    multiply(U_, h_ + at, z_, rows);
    node_gates<<<blocks_of(rows * H_), kBlock, 0, stream>>>(z_, d_, c_ + at, to + first, h_, c_, rows, H_);
  }
  classify<<<batch.trees, 32, classes_ * sizeof(float), stream>>>(
      h_ + static_cast<size_t>(batch.inner) * 2 * H_, V_, e_, out_, H_, classes_);
}

void TreeLstm::copy_out(const Levels &batch) {
  CHECK(
      cudaMemcpyAsync(results, out_, sizeof(float) * batch.trees * classes_, cudaMemcpyDeviceToHost, stream));
}

//===-- Measuring ---------------------------------------------------------------------------------------===//

/// Times batches, interleaved; `compute` is what stands between the copies.
void measure(TreeLstm &model, const std::vector<Levels> &batches, double seconds, const char *path,
             const char *math, double error, const std::function<void(size_t)> &compute, bool first) {
  cudaEvent_t events[4];
  for (cudaEvent_t &event : events)
    CHECK(cudaEventCreate(&event));
  std::vector<double> whole, kernels;
  const auto start = std::chrono::steady_clock::now();
  auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (size_t n = 0; n < kLeast || (spent() < seconds && n < kMost); ++n) {
    const size_t number = n % batches.size();
    CHECK(cudaEventRecord(events[0], model.stream));
    model.copy_in(batches[number]);
    CHECK(cudaEventRecord(events[1], model.stream));
    compute(number);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(events[2], model.stream));
    model.copy_out(batches[number]);
    CHECK(cudaEventRecord(events[3], model.stream));
    CHECK(cudaEventSynchronize(events[3]));
    float all = 0, between = 0;
    CHECK(cudaEventElapsedTime(&all, events[0], events[3]));
    CHECK(cudaEventElapsedTime(&between, events[1], events[2]));
    whole.push_back(1e3 * all);
    kernels.push_back(1e3 * between);
  }
  size_t launches = 0;
  for (const Levels &batch : batches)
    launches += 4 + 2 * (batch.begin.size() - 1);
  std::printf(
      "%s{\"path\": \"%s\", \"math\": \"%s\", \"launches\": %zu, \"runs\": %zu, \"kernels_us\": %.3f, "
      "\"with_copies_us\": %.3f, \"max_error\": %.3g}",
      first ? "" : ", ", path, math, launches / batches.size(), whole.size(), median(kernels), median(whole),
      error);
}

/// How far results are from the CPU's, and how far those are from each other: drawn weights make classes that
/// are all nearly as likely, where a small error may be a mistake.
struct Comparison {
  double error = 0, least = 1, most = 0;

  void add(const TreeLstm &model, const Session &session, int32_t entry, size_t count) {
    const float *expected = session.outputs(entry).f32(0);
    for (size_t n = 0; n < count; ++n) {
      error = std::max(error, std::fabs(double(model.results[n]) - double(expected[n])));
      least = std::min(least, double(expected[n]));
      most = std::max(most, double(expected[n]));
    }
  }
  bool fine(bool tf32) const {
    return error <= std::min(tf32 ? 5e-3 : 1e-4, 1e-6 + (tf32 ? 0.1 : 0.02) * (most - least));
  }
};

} // namespace

int main(int argc, char **argv) {
  TimedProgram timed(argc, argv, *DBC_GPU_CODE());
  const Program &program = timed.program;
  std::vector<Levels> batches;
  for (LineBatch &batch : timed.batches)
    batches.push_back(levels_of(batch.batch, program.entry));
  TreeLstm model(program.weights);
  model.reserve(batches);

  std::printf("{\"batch\": %zu, \"batches\": %zu, \"paths\": [", timed.size, batches.size());
  Session session(program.model);
  bool first = true;
  for (const char *math : {"f32", "tf32"}) {
    const bool tf32 = std::string(math) == "tf32";
    model.use_tf32(tf32);
    Comparison compared;
    for (size_t n = 0; n < batches.size(); ++n) {
      model.copy_in(batches[n]);
      model.tune(batches[n]);
      model.compute(batches[n]);
      model.copy_out(batches[n]);
      CHECK(cudaStreamSynchronize(model.stream));
      expect(session.run(program.entry, timed.batches[n].batch));
      compared.add(model, session, program.entry,
                   timed.size * program.weights.size(program.weights.find("e")));
    }
    expect(compared.fine(tf32), "cublas differs from the CPU by " + std::to_string(compared.error));
    auto compute = [&](size_t number) { model.compute(batches[number]); };
    measure(model, batches, timed.seconds, "cublas stream", math, compared.error, compute, first);
    first = false;
    const Graphs graphs(model.stream, batches.size(), compute);
    measure(
        model, batches, timed.seconds, "cublas graph", math, compared.error,
        [&](size_t number) { graphs.launch(number); }, false);
  }
  std::printf("]}\n");
  return 0;
}
