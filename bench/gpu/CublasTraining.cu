// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// cublas-training LOSS INPUTS BATCH SECONDS: steps of plain SGD of the binary Tree-LSTM of examples/tree_lstm
// by hand, with a loss at every node, level by level: cuBLAS for the products, a kernel for the gates of a
// level and one for their gradients. The gradients of states lie as the states do, so that products of the
// way back add to them where they are. The gradient of a matrix is one product over all rows of the batch,
// which adds the step to the matrix at once. In a stream and as a CUDA graph (made before anything is timed),
// in f32 and in tf32; losses and gradients are compared with the CPU's before. Prints one line of JSON.
#include "TreeLevels.cuh"

#include <cmath>

using namespace dbc;
using namespace dbc::gpu;

namespace {

constexpr float kRate = 1e-4F;
constexpr int kMostClasses = 16;

//===-- Kernels -----------------------------------------------------------------------------------------===//

#define EACH(n, count)                                                                                       \
  for (int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); n < (count);                         \
       n += static_cast<int>(gridDim.x * blockDim.x))

/// Rows of the table that occur several times are added up in any order.
__global__ void add_rows(float *table, const int *word, const float *rows, float rate, int count, int embed) {
  EACH(n, count * embed)
  atomicAdd(&table[static_cast<size_t>(word[n / embed]) * embed + n % embed], -rate * rows[n]);
}

/// z becomes the activated gates; `t` is tanh(c). `to` is where a state goes.
__global__ void leaf_gates(float *z, const float *bias, const int *to, float *h, float *c, float *t,
                           int count, int H) {
  EACH(n, count * H) {
    const int row = n / H, j = n % H;
    float *gates = z + static_cast<size_t>(row) * 3 * H + j;
    const float i = sigmoid(gates[0] + bias[j]), o = sigmoid(gates[H] + bias[H + j]),
                u = tanhf(gates[2 * H] + bias[2 * H + j]), cell = i * u, squashed = tanhf(cell);
    gates[0] = i;
    gates[H] = o;
    gates[2 * H] = u;
    const size_t at = static_cast<size_t>(to[row]) * H + j;
    c[at] = cell;
    t[at] = squashed;
    h[at] = o * squashed;
  }
}

__global__ void node_gates(float *z, const float *bias, const float *cells, const int *to, float *h, float *c,
                           float *t, int count, int H) {
  EACH(n, count * H) {
    const int row = n / H, j = n % H;
    float *gates = z + static_cast<size_t>(row) * 5 * H + j;
    const float *children = cells + static_cast<size_t>(row) * 2 * H + j;
    const float i = sigmoid(gates[0] + bias[j]), l = sigmoid(gates[H] + bias[H + j]),
                r = sigmoid(gates[2 * H] + bias[2 * H + j]), o = sigmoid(gates[3 * H] + bias[3 * H + j]),
                u = tanhf(gates[4 * H] + bias[4 * H + j]), cell = i * u + l * children[0] + r * children[H],
                squashed = tanhf(cell);
    gates[0] = i;
    gates[H] = l;
    gates[2 * H] = r;
    gates[3 * H] = o;
    gates[4 * H] = u;
    const size_t at = static_cast<size_t>(to[row]) * H + j;
    c[at] = cell;
    t[at] = squashed;
    h[at] = o * squashed;
  }
}

/// Scores become their gradients; losses are added up.
__global__ void classify(float *scores, const float *bias, const int *label, float *loss, float weight,
                         int count, int classes) {
  float sum = 0;
  EACH(n, count) {
    float *own = scores + static_cast<size_t>(n) * classes, p[kMostClasses], most = -INFINITY, all = 0;
    for (int k = 0; k < classes; ++k)
      most = fmaxf(most, p[k] = own[k] + bias[k]);
    for (int k = 0; k < classes; ++k)
      all += p[k] = expf(p[k] - most);
    for (int k = 0; k < classes; ++k)
      own[k] = (p[k] / all - (k == label[n] ? 1.0f : 0.0f)) * weight;
    sum -= logf(p[label[n]] / all) * weight;
  }
  for (int by = 16; by > 0; by /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, by);
  if (threadIdx.x % 32 == 0)
    atomicAdd(loss, sum);
}

/// Activated gates become the gradients of what was activated.
__global__ void leaf_gates_back(float *z, const int *to, const float *t, const float *dh, const float *dc,
                                int count, int H) {
  EACH(n, count * H) {
    const int row = n / H, j = n % H;
    float *gates = z + static_cast<size_t>(row) * 3 * H + j;
    const size_t at = static_cast<size_t>(to[row]) * H + j;
    const float i = gates[0], o = gates[H], u = gates[2 * H],
                cell = dc[at] + dh[at] * o * (1 - t[at] * t[at]);
    gates[0] = cell * u * i * (1 - i);
    gates[H] = dh[at] * t[at] * o * (1 - o);
    gates[2 * H] = cell * i * (1 - u * u);
  }
}

__global__ void node_gates_back(float *z, const float *cells, const int *to, const float *t, const float *dh,
                                const float *dc, float *dcells, int count, int H) {
  EACH(n, count * H) {
    const int row = n / H, j = n % H;
    float *gates = z + static_cast<size_t>(row) * 5 * H + j;
    const size_t at = static_cast<size_t>(to[row]) * H + j, below = static_cast<size_t>(row) * 2 * H + j;
    const float i = gates[0], l = gates[H], r = gates[2 * H], o = gates[3 * H], u = gates[4 * H],
                cell = dc[at] + dh[at] * o * (1 - t[at] * t[at]);
    gates[0] = cell * u * i * (1 - i);
    gates[H] = cell * cells[below] * l * (1 - l);
    gates[2 * H] = cell * cells[below + H] * r * (1 - r);
    gates[3 * H] = dh[at] * t[at] * o * (1 - o);
    gates[4 * H] = cell * i * (1 - u * u);
    dcells[below] = cell * l;
    dcells[below + H] = cell * r;
  }
}

//===-- The model ---------------------------------------------------------------------------------------===//

/// A matrix [outputs, inputs] and a bias, which are trained. cuBLAS reads all the other way round.
struct Layer {
  float *matrix, *bias;
  int outputs, inputs;
};

struct TrainedBatch {
  Levels levels;
  std::vector<int> index; ///< those of the levels, then the label of each slot
};

using Flat = std::vector<float>;

class Training {
public:
  explicit Training(const Weights &weights);
  void reserve(const std::vector<TrainedBatch> &batches);
  void use_tf32(bool on) {
    BLAS(cublasSetMathMode(blas_, on ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
  }
  /// Weights as they were at first.
  void restore(const Weights &weights);
  Flat weights_of(const Weights &weights);
  void copy_in(const TrainedBatch &batch);
  void compute(const TrainedBatch &batch, float rate);
  void copy_out() { CHECK(cudaMemcpyAsync(loss, loss_, sizeof(float), cudaMemcpyDeviceToHost, stream)); }

  cudaStream_t stream;
  float *loss = nullptr; ///< on the host

private:
  void forward(const Layer &layer, const float *x, float *z, int rows);
  void backward(const Layer &layer, const float *dz, float *dx, int rows, float already);
  void update(Layer &layer, const float *dz, const float *x, int rows, float rate);

  cublasHandle_t blas_;
  int H_, embed_, classes_;
  std::vector<float *> params_; ///< by their numbers
  float *E_;
  Layer W_, U_, V_;
  int *index_ = nullptr, *staged_ = nullptr;
  float *x_ = nullptr, *dx_ = nullptr, *leaf_z_ = nullptr, *node_z_ = nullptr, *scores_ = nullptr,
        *ones_ = nullptr, *loss_ = nullptr;
  float *h_ = nullptr, *c_ = nullptr, *t_ = nullptr, *dh_ = nullptr, *dc_ = nullptr; ///< a slot
};

Training::Training(const Weights &weights) {
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  BLAS(cublasCreate(&blas_));
  BLAS(cublasSetStream(blas_, stream));
  constexpr size_t kWorkspace = 32 << 20;
  BLAS(cublasSetWorkspace(blas_, on_device<char>(kWorkspace), kWorkspace));
  for (int32_t n = 0; n < weights.count(); ++n)
    params_.push_back(on_device<float>(weights.size(n)));
  auto of = [&](const char *name) { return params_[weights.find(name)]; };
  auto size = [&](const char *name) { return static_cast<int>(weights.size(weights.find(name))); };
  H_ = size("d") / 5;
  embed_ = size("W") / size("b");
  classes_ = size("e");
  expect(classes_ <= kMostClasses, "there are too many classes");
  E_ = of("E");
  W_ = {of("W"), of("b"), 3 * H_, embed_};
  U_ = {of("U"), of("d"), 5 * H_, 2 * H_};
  V_ = {of("V"), of("e"), classes_, H_};
  restore(weights);
}

void Training::restore(const Weights &weights) {
  for (int32_t n = 0; n < weights.count(); ++n)
    CHECK(cudaMemcpy(params_[n], weights.data(n), weights.size(n) * sizeof(float), cudaMemcpyHostToDevice));
}

Flat Training::weights_of(const Weights &weights) {
  Flat all;
  for (int32_t n = 0; n < weights.count(); ++n) {
    Flat own(weights.size(n));
    CHECK(cudaMemcpy(own.data(), params_[n], own.size() * sizeof(float), cudaMemcpyDeviceToHost));
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void Training::reserve(const std::vector<TrainedBatch> &batches) {
  size_t index = 0, leaves = 0, inner = 0, slots = 0;
  for (const TrainedBatch &batch : batches) {
    index = std::max(index, batch.index.size());
    leaves = std::max<size_t>(leaves, batch.levels.leaves);
    inner = std::max<size_t>(inner, batch.levels.inner);
    slots = std::max(slots, batch.levels.to.size());
  }
  index_ = on_device<int>(index);
  CHECK(cudaMallocHost(&staged_, index * sizeof(int)));
  CHECK(cudaMallocHost(&loss, sizeof(float)));
  x_ = on_device<float>(leaves * embed_);
  dx_ = on_device<float>(leaves * embed_);
  leaf_z_ = on_device<float>(leaves * 3 * H_);
  node_z_ = on_device<float>(inner * 5 * H_);
  scores_ = on_device<float>(slots * classes_);
  ones_ = on_device(std::vector<float>(slots, 1.0F));
  loss_ = on_device<float>(1);
  for (float **rows : {&h_, &c_, &t_, &dh_, &dc_})
    *rows = on_device<float>(slots * H_);
}

/// z[row] = matrix x[row].
void Training::forward(const Layer &layer, const float *x, float *z, int rows) {
  const float one = 1, zero = 0;
  BLAS(cublasSgemm(blas_, CUBLAS_OP_T, CUBLAS_OP_N, layer.outputs, rows, layer.inputs, &one, layer.matrix,
                   layer.inputs, x, layer.inputs, &zero, z, layer.outputs));
}

/// dx[row] = already dx[row] + dz[row] matrix.
void Training::backward(const Layer &layer, const float *dz, float *dx, int rows, float already) {
  const float one = 1;
  BLAS(cublasSgemm(blas_, CUBLAS_OP_N, CUBLAS_OP_N, layer.inputs, rows, layer.outputs, &one, layer.matrix,
                   layer.inputs, dz, layer.outputs, &already, dx, layer.inputs));
}

void Training::update(Layer &layer, const float *dz, const float *x, int rows, float rate) {
  const float one = 1, down = -rate;
  BLAS(cublasSgemm(blas_, CUBLAS_OP_N, CUBLAS_OP_T, layer.inputs, layer.outputs, rows, &down, x, layer.inputs,
                   dz, layer.outputs, &one, layer.matrix, layer.inputs));
  BLAS(cublasSgemv(blas_, CUBLAS_OP_N, layer.outputs, rows, &down, dz, layer.outputs, ones_, 1, &one,
                   layer.bias, 1));
}

void Training::copy_in(const TrainedBatch &batch) {
  std::copy(batch.index.begin(), batch.index.end(), staged_);
  CHECK(cudaMemcpyAsync(index_, staged_, batch.index.size() * sizeof(int), cudaMemcpyHostToDevice, stream));
}

void Training::compute(const TrainedBatch &batch, float rate) {
  const Levels &levels = batch.levels;
  const int nodes = static_cast<int>(levels.to.size()), leaves = levels.leaves, inner = levels.inner, H = H_;
  const int *leaf_to = index_ + leaves, *node_to = leaf_to + leaves, *label = node_to + inner;
  CHECK(cudaMemsetAsync(loss_, 0, sizeof(float), stream));
  // Nothing is above the roots, whose slots are the last ones.
  CHECK(
      cudaMemsetAsync(dc_ + static_cast<size_t>(2) * inner * H, 0, sizeof(float) * levels.trees * H, stream));
  gather<<<blocks_of(leaves * embed_), kBlock, 0, stream>>>(E_, index_, x_, leaves, embed_);
  forward(W_, x_, leaf_z_, leaves);
  leaf_gates<<<blocks_of(leaves * H), kBlock, 0, stream>>>(leaf_z_, W_.bias, leaf_to, h_, c_, t_, leaves, H);
  for (size_t l = 0; l + 1 < levels.begin.size(); ++l) {
    const int first = levels.begin[l], rows = levels.begin[l + 1] - first;
    const size_t below = static_cast<size_t>(first) * 2 * H, at = static_cast<size_t>(first) * 5 * H;
    forward(U_, h_ + below, node_z_ + at, rows);
    node_gates<<<blocks_of(rows * H), kBlock, 0, stream>>>(node_z_ + at, U_.bias, c_ + below, node_to + first,
                                                           h_, c_, t_, rows, H);
  }
  forward(V_, h_, scores_, nodes);
  classify<<<blocks_of(nodes), kBlock, 0, stream>>>(scores_, V_.bias, label, loss_,
                                                    1.0F / static_cast<float>(levels.trees), nodes, classes_);
  backward(V_, scores_, dh_, nodes, 0);
  for (size_t l = levels.begin.size() - 1; l-- > 0;) {
    const int first = levels.begin[l], rows = levels.begin[l + 1] - first;
    const size_t below = static_cast<size_t>(first) * 2 * H, at = static_cast<size_t>(first) * 5 * H;
    node_gates_back<<<blocks_of(rows * H), kBlock, 0, stream>>>(node_z_ + at, c_ + below, node_to + first, t_,
                                                                dh_, dc_, dc_ + below, rows, H);
    backward(U_, node_z_ + at, dh_ + below, rows, 1);
  }
  leaf_gates_back<<<blocks_of(leaves * H), kBlock, 0, stream>>>(leaf_z_, leaf_to, t_, dh_, dc_, leaves, H);
  backward(W_, leaf_z_, dx_, leaves, 0);
  update(V_, scores_, h_, nodes, rate);
  if (inner > 0)
    update(U_, node_z_, h_, inner, rate);
  update(W_, leaf_z_, x_, leaves, rate);
  add_rows<<<blocks_of(leaves * embed_), kBlock, 0, stream>>>(E_, index_, dx_, rate, leaves, embed_);
}

//===-- Measuring ---------------------------------------------------------------------------------------===//

/// Times batches, interleaved; `compute` is what stands between the copies.
void measure(Training &model, const std::vector<TrainedBatch> &batches, double seconds, const char *path,
             const char *math, double error, const std::function<void(size_t)> &compute, bool first) {
  cudaEvent_t events[2];
  for (cudaEvent_t &event : events)
    CHECK(cudaEventCreate(&event));
  std::vector<double> whole;
  const double end = now_us() + 1e6 * seconds;
  for (size_t n = 0; n < kLeast || (now_us() < end && n < kMost); ++n) {
    const size_t number = n % batches.size();
    CHECK(cudaEventRecord(events[0], model.stream));
    model.copy_in(batches[number]);
    compute(number);
    CHECK(cudaGetLastError());
    model.copy_out();
    CHECK(cudaEventRecord(events[1], model.stream));
    CHECK(cudaEventSynchronize(events[1]));
    float all = 0;
    CHECK(cudaEventElapsedTime(&all, events[0], events[1]));
    whole.push_back(1e3 * all);
  }
  std::printf("%s{\"path\": \"%s\", \"math\": \"%s\", \"runs\": %zu, \"step_us\": %.3f, \"max_error\": %.3g}",
              first ? "" : ", ", path, math, whole.size(), median(whole), error);
}

/// Of each slot the label of its node, behind the indices.
TrainedBatch trained(Batch &batch, int32_t entry) {
  TrainedBatch made{levels_of(batch, entry), {}};
  const int32_t *labels = batch.column(0, field(batch.info(), "label").column).i32;
  made.index = made.levels.index;
  const size_t first = made.index.size();
  made.index.resize(first + made.levels.to.size());
  for (size_t n = 0; n < made.levels.to.size(); ++n)
    made.index[first + made.levels.to[n]] = labels[n];
  return made;
}

/// How far gradients are from the CPU's, each from the largest of its parameter: those of a step at rate 1.
double error_of(Training &model, const Program &program, Session &session, Batch &batch,
                const TrainedBatch &trained) {
  model.restore(program.weights);
  const Flat before = model.weights_of(program.weights);
  model.copy_in(trained);
  model.compute(trained, 1);
  model.copy_out();
  CHECK(cudaStreamSynchronize(model.stream));
  const Flat after = model.weights_of(program.weights);
  model.restore(program.weights);
  expect(session.run(program.entry, batch));
  const Outputs &outputs = session.outputs(program.entry);
  double loss = 0, error = 0;
  for (int32_t n = 0; n < batch.inputs(); ++n)
    loss += outputs.f32(0)[n] / batch.inputs();
  size_t at = 0;
  for (int32_t param = 0; param < program.weights.count(); ++param) {
    Flat expected(program.weights.size(param));
    expect(outputs.add_gradient_to(param, expected.data(), expected.size()));
    double most = 1e-3;
    for (float value : expected)
      most = std::max(most, std::fabs(double(value)));
    for (size_t n = 0; n < expected.size(); ++n, ++at)
      error = std::max(error, std::fabs(double(before[at]) - after[at] - expected[n]) / most);
  }
  return std::max(error, std::fabs(loss - *model.loss) / std::max(1.0, loss));
}

} // namespace

int main(int argc, char **argv) {
  TimedProgram timed(argc, argv, *DBC_GPU_CODE());
  const Program &program = timed.program;
  std::vector<TrainedBatch> batches;
  for (LineBatch &batch : timed.batches)
    batches.push_back(trained(batch.batch, program.entry));
  Training model(program.weights);
  model.reserve(batches);

  std::printf("{\"batch\": %zu, \"batches\": %zu, \"paths\": [", timed.size, batches.size());
  Session session(program.model);
  bool first = true;
  for (const char *math : {"f32", "tf32"}) {
    const bool tf32 = std::string(math) == "tf32";
    model.use_tf32(tf32);
    const double error = error_of(model, program, session, timed.batches[0].batch, batches[0]);
    expect(error <= (tf32 ? 5e-2 : 1e-3), "cublas differs from the CPU by " + std::to_string(error));
    for (const TrainedBatch &batch : batches) {
      model.copy_in(batch);
      model.compute(batch, kRate);
      CHECK(cudaStreamSynchronize(model.stream));
    }
    auto compute = [&](size_t number) { model.compute(batches[number], kRate); };
    measure(model, batches, timed.seconds, "cublas stream", math, error, compute, first);
    first = false;
    const Graphs graphs(model.stream, batches.size(), compute);
    measure(
        model, batches, timed.seconds, "cublas graph", math, error,
        [&](size_t number) { graphs.launch(number); }, false);
  }
  std::printf("]}\n");
  return 0;
}
