// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A device that counts what is asked of it and can refuse, and a model with kernels on it: for tests.
#pragma once

#include "core_models.h"

#include <dbc/cuda/context.h>
#include <dbc/cuda/kernels.h>
#include <dbc/cuda/layout.h>

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace core_models;
using dbc::Batch;
using dbc::Code;
using dbc::Status;
using dbc::cuda::Backend;
using dbc::cuda::Context;
using dbc::cuda::ErrorRecord;
using dbc::cuda::kThreads;

//===-- A device that counts ----------------------------------------------------------------------------===//

struct FakeGpu {
  std::map<void *, size_t> device, host; ///< memory that is held
  size_t bytes = 0;                      ///< of the device
  size_t copied = 0;                     ///< bytes, there and back
  int32_t allocations = 0, streams = 0, opened = 0, copies = 0, waits = 0, graphs = 0, fills = 0;
  int32_t co_resident = 4;      ///< blocks of threads that may wait for each other
  Status no_device;             ///< why none can be opened
  Status graph_failure;         ///< why no graph is made
  size_t free = 1234;           ///< what it says may still be had
  void *lent = nullptr;         ///< the stream that copies are to be on; null: its own
  void *written_down = nullptr; ///< the stream of which a graph is being made
  int32_t refusing = -1;        ///< so many requests are granted, then some are not
  int32_t refusals = 1;
  int32_t failing = -1;        ///< so many waits are well, then one is not
  int32_t rows_beyond = 0;     ///< the last row of a result once more, so many rows further
  int32_t launches_to_go = -1; ///< until one cannot be begun; below 0: all can
  Status begun;                ///< what is reported of it
  Status failed_before;        ///< what the program has done to it
  char stream[4] = {};         ///< their addresses
  /// What was begun and waited for, on which stream: "copy 0", "launch 0", "wait 0".
  std::vector<std::string> events;

  void note(const char *what, void *on) {
    if (on == lent && on != nullptr)
      return;
    const auto number = static_cast<char *>(on) - stream;
    EXPECT_TRUE(number >= 0 && number < 4) << what << " on no stream";
    events.push_back(what + (" " + std::to_string(number)));
  }

  void *give(std::map<void *, size_t> &held, size_t size) {
    ++allocations;
    if (refusing == 0) {
      if (--refusals == 0) {
        refusing = -1;
        refusals = 1;
      }
      return nullptr;
    }
    if (refusing > 0)
      --refusing;
    void *memory = dbc::cuda::backend().allocate(size);
    held[memory] = size;
    if (&held == &device)
      bytes += size;
    return memory;
  }
  void take(std::map<void *, size_t> &held, void *memory) {
    const auto found = held.find(memory);
    ASSERT_NE(found, held.end()) << "was not given, or is back already";
    if (&held == &device)
      bytes -= found->second;
    held.erase(found);
    dbc::cuda::backend().release(memory);
  }
};
FakeGpu gpu;

const Backend &counting() {
  static const Backend made = {
      [](int32_t device, void **stream) {
        const Status status = gpu.no_device.ok() ? dbc::cuda::backend().open(device, stream) : gpu.no_device;
        if (status.ok() && stream != nullptr) {
          *stream = &gpu.stream[gpu.opened++ % 4];
          ++gpu.streams;
        }
        return status;
      },
      [](int32_t) {},
      [](void *stream) {
        gpu.note("close", stream);
        --gpu.streams;
      },
      [](size_t bytes) { return gpu.give(gpu.device, bytes); },
      [](void *memory) { gpu.take(gpu.device, memory); },
      [](size_t bytes) { return gpu.give(gpu.host, bytes); },
      [](void *memory) { gpu.take(gpu.host, memory); },
      [] { return gpu.free; },
      [](void *to, const void *from, size_t size, void *stream) {
        EXPECT_TRUE(gpu.lent == nullptr || stream == gpu.lent || stream == gpu.written_down);
        gpu.note("copy", stream);
        ++gpu.copies;
        gpu.copied += size;
        dbc::cuda::backend().copy(to, from, size, stream);
      },
      [](void *memory, size_t size, void *stream) {
        gpu.note("fill", stream);
        ++gpu.fills;
        dbc::cuda::backend().fill(memory, size, stream);
      },
      [] { return std::exchange(gpu.begun, Status()); },
      [](void *stream) {
        gpu.note("wait", stream);
        ++gpu.waits;
        const Status status = dbc::cuda::backend().wait(nullptr);
        if (gpu.failing >= 0 && gpu.failing-- == 0)
          return Status::error(Code::internal, "the GPU is on fire");
        return status;
      },
      dbc::cuda::backend().poison,
      [](int32_t) { return gpu.co_resident; },
      [](void **stream) {
        const Status status = dbc::cuda::backend().capture(stream);
        *stream = gpu.written_down = &gpu.stream[gpu.opened++ % 4];
        ++gpu.streams;
        return status;
      },
      [](void *stream, void **graph) {
        gpu.written_down = nullptr;
        EXPECT_NE(stream, gpu.lent); // it may be one that cannot be written down
        --gpu.streams;
        Status status = dbc::cuda::backend().end_capture(stream, graph);
        ++gpu.graphs;
        if (!gpu.graph_failure.ok()) {
          counting().release_graph(std::exchange(*graph, nullptr));
          status = gpu.graph_failure;
        }
        return status;
      },
      dbc::cuda::backend().launch_graph,
      [](void *graph) {
        --gpu.graphs;
        dbc::cuda::backend().release_graph(graph);
      },
      dbc::cuda::backend().guard,
      nullptr,
      [](void *) { return gpu.failed_before; },
      dbc::cuda::backend().untouched,
  };
  return made;
}

//===-- A model on it -----------------------------------------------------------------------------------===//

/// total(t) of trees that are one leaf, the way generated code is written: W @ [value, value] + b. Values
/// below 0 are wrong, and wrong once more below -1.
struct Arrays {
  const int32_t *leaf = nullptr;
  dbc::cuda::Column<float> value;
  float *result = nullptr;
  dbc::cuda::Matrix<float> w;
  dbc::cuda::Errors errors;
};

__global__ void weigh(const Arrays arrays, int32_t begin, int32_t end) {
  for (int32_t first = begin + blockIdx.x * 8; first < end; first += gridDim.x * 8) {
    const int32_t count = std::min(8, end - first);
    for (int32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const float value = arrays.value[arrays.leaf[first + i]];
      for (int32_t n = 0; n < 2; ++n)
        if (value < static_cast<float>(-n))
          dbc::cuda::record_error(arrays.errors, arrays.errors.launch, 7, {first + i, 0, n},
                                  arrays.leaf[first + i]);
    }
    const auto x = dbc::cuda::segment(arrays.value, arrays.leaf + first, 1, 1);
    dbc::cuda::product(count, arrays.w, dbc::cuda::all_of(1), arrays.result + first, x, x);
    if (gpu.rows_beyond > 0 && first + count == end && threadIdx.x == 0)
      arrays.result[end - 1 + gpu.rows_beyond] = 1;
  }
}
void launch_weigh(const Arrays &arrays, int32_t begin, int32_t end, int32_t /*large_m_from*/, void *stream) {
  gpu.note("launch", stream);
  if (gpu.launches_to_go >= 0 && gpu.launches_to_go-- == 0) {
    gpu.begun = Status::error(Code::internal, "the kernel could not be begun");
    return;
  }
  dbc::cuda::launch(weigh, (end - begin + 7) / 8, 0, stream, arrays, begin, end);
}
const dbc::cuda::DeviceStage<Arrays> stages[] = {{"weigh", launch_weigh, 8, 4, 2, 2}};

class LeafPlan : public dbc::EntryPlan {
public:
  void schedule(dbc::Run &run) override {
    leaf_.assign(run.input_count, -1);
    for (int32_t i = 0; i < run.input_count; ++i)
      leaf_[i] = run.arg(0).i32[run.inputs[i]];
  }
  void compute(dbc::Run &run) override {
    const float *value_of = run.batch.column(Tree, value).f32;
    const float *w = run.model.buffer<float>(0);
    for (int32_t i = 0; i < run.input_count; ++i)
      run.out.values<float>(0)[run.inputs[i]] = (w[0] + w[1]) * value_of[leaf_[i]] + w[2];
  }
  Status begin_on(dbc::Run &run, Context &device) override {
    const size_t rows = static_cast<size_t>(run.input_count);
    if (Status status = device.serves(run); !status.ok())
      return status;
    ++attempts;
    sub_batch_ = device.begin({
        dbc::cuda::result(&arrays_.result, rows).named("result", sizeof(float)),
        dbc::cuda::input(&arrays_.leaf, leaf_.data(), rows),
        dbc::cuda::input(&arrays_.value, run.batch.column(Tree, value).f32, run.batch.rows(Tree, run.range),
                         1, run.batch.column(Tree, value).device),
    });
    arrays_.w = device.matrix<float>(0, 2, 1);
    device.launch(run, arrays_, stages, 0, 0, run.input_count);
    device.copy_out();
    return device.status();
  }
  Status finish_on(dbc::Run &run, Context &device) override {
    Status status = device.finish(sub_batch_);
    while (status.ok() && device.again()) {
      status = begin_on(run, device);
      if (status.ok())
        status = device.finish(sub_batch_);
    }
    if (!status.ok())
      return status;
    if (device.keeps_results_on_device()) {
      device.keep_result(run, 0, arrays_.result, run.inputs, run.input_count, 1);
      return Status();
    }
    for (int32_t i = 0; i < run.input_count; ++i)
      run.out.values<float>(0)[run.inputs[i]] = device.on_host(arrays_.result)[i];
    return Status();
  }
  static int32_t attempts; ///< of the last run

private:
  dbc::IndexArray leaf_;
  Arrays arrays_;
  int64_t sub_batch_ = 0;
};
int32_t LeafPlan::attempts = 0;

const dbc::ModelCode &device_code() {
  static const dbc::ModelCode *made = [] {
    auto *c = new dbc::ModelCode;
    c->info = &info();
    c->f64 = false;
    c->make_model = [](const dbc::Weights &weights, dbc::Model &model) {
      float *numbers = model.add_buffer<float>(0, 3);
      std::copy(weights.data(0), weights.data(0) + 2, numbers);
      numbers[2] = *weights.data(1);
      model.add_buffer<float>(2, 100); // there is none of number 1
      dbc::cuda::lay_out_submatrices<float>(model, 0, weights, {{0, 1, 2, 0, 0}}, {1, 2, 1});
    };
    const std::vector<dbc::ColumnRef> reads = {{Tree, value}};
    c->entries = {{0, reads, {0}, false, {}, {"weigh"}, dbc::make_plan<LeafPlan>}};
    c->cuda = counting;
    return c;
  }();
  return *made;
}

dbc::Model device_model(const dbc::ModelCode &code = device_code()) {
  dbc::Weights weights(info());
  const float numbers[2] = {3, 4}, bias = 0.5f;
  must(weights.set("W", numbers, 2));
  must(weights.set("b", &bias, 1));
  dbc::Model model;
  EXPECT_TRUE(dbc::Model::make(code, weights, &model).ok());
  return model;
}

class CudaContext : public ::testing::Test {
protected:
  void SetUp() override {
    gpu = FakeGpu();
    ASSERT_TRUE(dbc::cuda::Model::make(model_, 0, &on_).ok());
    gpu.opened = 0;
    gpu.events.clear();
  }
  /// One leaf an input; its value by its number.
  void fill(
      int32_t inputs, const std::function<float(int32_t)> &value_of = [](int32_t i) { return i / 4.f; }) {
    batch_.clear();
    for (int32_t i = 0; i < inputs; ++i) {
      batch_.begin_input();
      root(batch_, i, leaf(batch_, value_of(i)));
    }
  }
  /// Whether the results of a session's last run of this batch are right.
  bool right(const dbc::Session &session) {
    const float *values = batch_.column(Tree, value).f32;
    for (int32_t i = 0; i < batch_.inputs(); ++i)
      if (session.outputs(0).f32(0)[i] != 7 * values[i] + 0.5f)
        return false;
    return true;
  }
  /// What an array of so many bytes takes; a guard zone stands behind it.
  static size_t room(size_t bytes) { return dbc::cuda::lines(bytes + (counting().guard != nullptr ? 1 : 0)); }
  const dbc::Model model_ = device_model();
  dbc::cuda::Model on_;
  Batch batch_{info()};
};

} // namespace
