// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model and a session on a device: its memory, copies, failures, and what kernels found wrong. Kernels run
// on the CPU; the device counts what it gives, and can refuse.
#include "core_models.h"

#include <dbc/cuda/context.h>
#include <dbc/cuda/kernels.h>

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
using dbc::cuda::FaultRecord;
using dbc::cuda::kThreads;

//===-- A device that counts ----------------------------------------------------------------------------===//

struct Card {
  std::map<void *, size_t> device, host; ///< memory that is held
  size_t bytes = 0;                      ///< of the device
  int32_t allocations = 0, streams = 0;
  int32_t refusing = -1; ///< so many requests are granted, then one is not
  int32_t failing = -1;  ///< so many waits are well, then one is not

  void *give(std::map<void *, size_t> &held, size_t size) {
    ++allocations;
    if (refusing >= 0 && refusing-- == 0)
      return nullptr;
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
Card card;

const Backend &counting() {
  static const Backend made = {
      [](int32_t device, void **stream) {
        const Status status = dbc::cuda::backend().open(device, stream);
        if (status.ok()) {
          ++card.streams;
          *stream = &card;
        }
        return status;
      },
      [](int32_t) {},
      [](void *stream) {
        EXPECT_EQ(stream, &card);
        --card.streams;
      },
      [](size_t bytes) { return card.give(card.device, bytes); },
      [](void *memory) { card.take(card.device, memory); },
      [](size_t bytes) { return card.give(card.host, bytes); },
      [](void *memory) { card.take(card.host, memory); },
      dbc::cuda::backend().copy,
      dbc::cuda::backend().clear,
      [](void *stream) {
        EXPECT_EQ(stream, &card);
        const Status status = dbc::cuda::backend().wait(nullptr);
        if (card.failing >= 0 && card.failing-- == 0)
          return Status::error(Code::internal, "the card is on fire");
        return status;
      },
      dbc::cuda::backend().poison,
  };
  return made;
}

//===-- A model on it -----------------------------------------------------------------------------------===//

/// total(t) of trees that are one leaf, the way generated code is written: W @ [value, value] + b. Values
/// below 0 are wrong, and wrong once more below -1.
struct Arrays {
  const int32_t *leaf = nullptr;
  const float *value = nullptr;
  float *result = nullptr;
  dbc::cuda::Matrix<float> w;
  dbc::cuda::Faults faults;
};

__global__ void weigh(const Arrays arrays, int32_t begin, int32_t end) {
  for (int32_t first = begin + blockIdx.x * 8; first < end; first += gridDim.x * 8) {
    const int32_t count = std::min(8, end - first);
    for (int32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const float value = arrays.value[arrays.leaf[first + i]];
      for (int32_t n = 0; n < 2; ++n)
        if (value < static_cast<float>(-n))
          dbc::cuda::fault(arrays.faults, 7, {first + i, 0, n}, arrays.leaf[first + i]);
    }
    const auto x = dbc::cuda::segment(arrays.value, arrays.leaf + first, 1, 1);
    dbc::cuda::product(count, arrays.w, dbc::cuda::all_of(1), arrays.result + first, x, x);
  }
}
void launch_weigh(const Arrays &arrays, int32_t begin, int32_t end, void *stream) {
  dbc::cuda::launch(weigh, (end - begin + 7) / 8, 0, stream, arrays, begin, end);
}
const dbc::cuda::Stage<Arrays> stages[] = {{"weigh", launch_weigh, 8, 4, 2, 2}};

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
  Status compute_on(dbc::Run &run, Context &device) override {
    Arrays arrays;
    const float *result = nullptr;
    const size_t rows = static_cast<size_t>(run.input_count);
    attempts = 0;
    for (int32_t attempt = 0; attempt == 0 || device.again(); ++attempt) {
      ++attempts;
      device.begin();
      arrays.w = device.matrix<float>(0, 2, 1);
      device.copy_in({{&arrays.leaf, leaf_.data(), rows},
                      {&arrays.value, run.batch.column(Tree, value).f32, size_t(run.batch.rows(Tree))}});
      arrays.result = device.buffer<float>(0, rows);
      device.launch(run, arrays, stages, 0, 0, run.input_count);
      device.copy_out({{&result, arrays.result, rows}});
    }
    if (!device.status().ok())
      return device.status();
    for (int32_t i = 0; i < run.input_count; ++i)
      run.out.values<float>(0)[run.inputs[i]] = result[i];
    return Status();
  }
  static int32_t attempts; ///< of the last run

private:
  dbc::IntColumn leaf_;
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
      dbc::lay_out_parts<float>(model, 0, weights, {{0, 1, 2, 0, 0}}, {1, 2, 1});
    };
    const std::vector<dbc::ColumnRef> reads = {{Tree, value}};
    c->entries = {{0, reads, {0}, false, {}, {"weigh"}, dbc::make_plan<LeafPlan>}};
    c->cuda = counting;
    return c;
  }();
  return *made;
}

dbc::Model device_model() {
  dbc::Weights weights(info());
  const float numbers[2] = {3, 4}, bias = 0.5f;
  weights.set("W", numbers, 2);
  weights.set("b", &bias, 1);
  dbc::Model model;
  EXPECT_TRUE(dbc::Model::make(device_code(), weights, &model).ok());
  return model;
}

class CudaContext : public ::testing::Test {
protected:
  void SetUp() override {
    card = Card();
    ASSERT_TRUE(dbc::cuda::Model::make(model_, 0, &on_).ok());
  }
  /// One leaf an input; its value by its number.
  void
  fill(int32_t inputs, const std::function<float(int32_t)> &value_of = [](int32_t i) { return i / 4.f; }) {
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
  const dbc::Model model_ = device_model();
  dbc::cuda::Model on_;
  Batch batch_{info()};
};

//===-- Models ------------------------------------------------------------------------------------------===//

// A model that has no kernels says so, by its name; and so does a session that is to use them.
TEST(CudaModel, NeedsKernels) {
  const dbc::Model model = sums();
  dbc::cuda::Model on;
  const Status status = dbc::cuda::Model::make(model, 0, &on);
  EXPECT_EQ(status.code, Code::bad_call);
  EXPECT_EQ(status.message, "toy: compiled without --target cuda");
  EXPECT_TRUE(on.empty());

  dbc::Session session(model);
  Context context(on);
  session.compute_on(&context);
  Batch batch(info());
  batch.begin_input();
  root(batch, 0, leaf(batch, 1));
  const Status run = session.run(0, batch);
  EXPECT_EQ(run.code, Code::bad_call);
  EXPECT_EQ(run.message, "toy: compiled without --target cuda");
  EXPECT_EQ(session.status(0).message, run.message);
  session.compute_on(nullptr);
  EXPECT_TRUE(session.run(0, batch).ok());
}

TEST(CudaModel, OfAModelThatWasNeverMade) {
  dbc::cuda::Model on;
  const dbc::Model none;
  EXPECT_EQ(dbc::cuda::Model::make(none, 0, &on).code, Code::bad_call);
}

TEST(CudaModel, OnADeviceThatIsNotThere) {
  card = Card();
  const dbc::Model model = device_model();
  dbc::cuda::Model on;
  const Status status = dbc::cuda::Model::make(model, 1, &on);
  EXPECT_EQ(status.code, Code::bad_call);
  EXPECT_EQ(status.message, "toy: CUDA on the CPU: there is no device 1, only device 0");
  EXPECT_TRUE(on.empty());
  EXPECT_EQ(card.streams, 0);
}

// Constants arrive as they are, where there are any; bytes() is what the device gave, and all of it goes
// back.
TEST_F(CudaContext, ConstantsOfAModel) {
  EXPECT_EQ(on_.bytes(), card.bytes);
  EXPECT_EQ(on_.bytes(), (3 + 100 + 3) * sizeof(float));
  EXPECT_EQ(on_.device(), 0);
  EXPECT_EQ(&on_.host(), &model_);
  EXPECT_EQ(on_.buffer<float>(0)[2], 0.5f);
  EXPECT_EQ(on_.buffer<float>(1), nullptr);
  EXPECT_EQ(on_.matrix<float>(0)[1], 4);
  EXPECT_EQ(card.streams, 0);
  dbc::cuda::Model other = std::move(on_);
  EXPECT_TRUE(on_.empty());
  EXPECT_EQ(other.bytes(), card.bytes);
  other = dbc::cuda::Model();
  EXPECT_EQ(card.bytes, 0u);
}

// A model that does not fit says so, leaves nothing behind, and can be made when there is room.
TEST_F(CudaContext, ModelsWithoutMemory) {
  on_ = dbc::cuda::Model();
  for (int32_t granted = 0; granted < 3; ++granted) {
    card.refusing = granted;
    const Status status = dbc::cuda::Model::make(model_, 0, &on_);
    EXPECT_EQ(status.code, Code::limit);
    EXPECT_EQ(status.message, "toy: not enough memory on the device for the model");
    EXPECT_TRUE(on_.empty());
    EXPECT_EQ(card.bytes, 0u);
    EXPECT_EQ(card.streams, 0);
  }
  EXPECT_TRUE(dbc::cuda::Model::make(model_, 0, &on_).ok());
}

//===-- Runs --------------------------------------------------------------------------------------------===//

// A session computes the same on a device, batch by batch, and can go back and forth.
TEST_F(CudaContext, RunsAsOnTheCpu) {
  dbc::Session session(model_);
  Context context(on_);
  for (int32_t inputs : {1, 9, 0, 100, 20}) {
    fill(inputs);
    for (Context *where : {&context, static_cast<Context *>(nullptr), &context}) {
      session.compute_on(where);
      const Status status = session.run(0, batch_);
      ASSERT_TRUE(status.ok()) << status.message;
      EXPECT_TRUE(right(session)) << inputs;
    }
    EXPECT_EQ(context.launches(), inputs > 0);
    EXPECT_EQ(session.profile(0).stages[0].launches, inputs > 0);
    EXPECT_EQ(session.profile(0).stages[0].rows, inputs);
    EXPECT_EQ(session.profile(0).stages[0].bytes_read, 8 * inputs);
  }
}

// One model on a device serves any number of sessions.
TEST_F(CudaContext, TwoShareAModel) {
  dbc::Session a(model_), b(model_);
  Context for_a(on_), for_b(on_);
  a.compute_on(&for_a);
  b.compute_on(&for_b);
  for (int32_t inputs : {5, 30}) {
    fill(inputs);
    EXPECT_TRUE(a.run(0, batch_).ok());
    EXPECT_TRUE(b.run(0, batch_).ok());
    EXPECT_TRUE(right(a) && right(b));
  }
  EXPECT_EQ(card.streams, 2);
  EXPECT_EQ(for_a.bytes() + for_b.bytes() + on_.bytes(), card.bytes);
}

// A context of a model that was never made is a wrong call, not a crash.
TEST_F(CudaContext, OfNoModel) {
  dbc::Session session(model_);
  const dbc::cuda::Model none;
  Context context(none);
  session.compute_on(&context);
  fill(3);
  EXPECT_EQ(session.run(0, batch_).code, Code::bad_call);
  EXPECT_EQ(context.bytes(), 0u);
  EXPECT_EQ(context.launches(), 0);
}

// In steady state a run asks the device for nothing, neither a smaller one.
TEST_F(CudaContext, NothingIsAllocatedInSteadyState) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(100);
  ASSERT_TRUE(session.run(0, batch_).ok());
  const int32_t before = card.allocations;
  for (int32_t inputs : {100, 3, 99, 100}) {
    fill(inputs);
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_TRUE(right(session));
  }
  EXPECT_EQ(card.allocations, before);
}

// bytes() is what the device gave, also when memory has grown; all of it goes back at the end.
TEST_F(CudaContext, BytesAreThoseOfTheDevice) {
  {
    dbc::Session session(model_);
    Context context(on_);
    session.compute_on(&context);
    EXPECT_EQ(context.bytes(), 0u);
    size_t before = 0;
    for (int32_t inputs : {1, 100, 1000}) {
      fill(inputs);
      ASSERT_TRUE(session.run(0, batch_).ok());
      EXPECT_EQ(context.bytes() + on_.bytes(), card.bytes) << inputs;
      EXPECT_GT(context.bytes(), before);
      before = context.bytes();
    }
    EXPECT_GE(before, 3 * 1000 * sizeof(float));
  }
  EXPECT_EQ(card.bytes, on_.bytes());
  EXPECT_EQ(card.device.size(), 3u);
  EXPECT_TRUE(card.host.empty());
  EXPECT_EQ(card.streams, 0);
}

// Whichever memory is refused, the run says so and gives zeros; with room again it computes.
TEST_F(CudaContext, RefusedMemoryIsALimit) {
  bool done = false;
  for (int32_t granted = 0; !done; ++granted) {
    {
      dbc::Session session(model_);
      Context context(on_);
      session.compute_on(&context);
      fill(4);
      for (int32_t round = 0; round < 2; ++round) { // memory to begin with, and where it is to grow
        card.refusing = granted;
        const Status status = session.run(0, batch_);
        done = card.refusing >= 0;
        card.refusing = -1;
        if (!done) {
          EXPECT_EQ(status.code, Code::limit);
          EXPECT_TRUE(status.message == "toy: not enough memory on the device for the batch" ||
                      status.message == "toy: not enough memory of the host that the device can reach")
              << status.message;
          EXPECT_EQ(session.status(3).message, status.message);
          EXPECT_EQ(session.outputs(0).f32(0)[3], 0);
        }
        EXPECT_EQ(context.bytes() + on_.bytes(), card.bytes);
        const Status again = session.run(0, batch_);
        ASSERT_TRUE(again.ok()) << again.message << ", after " << granted << " requests";
        EXPECT_TRUE(right(session));
        fill(200);
      }
    }
    EXPECT_EQ(card.bytes, on_.bytes());
    EXPECT_TRUE(card.host.empty());
  }
}

// What a device fails at it does not get over: every run from then on says what it was, and who.
TEST_F(CudaContext, AFailureOfTheDeviceStays) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(4);
  ASSERT_TRUE(session.run(0, batch_).ok());
  card.failing = 0;
  for (int32_t round = 0; round < 3; ++round) {
    const Status status = session.run(0, batch_);
    EXPECT_EQ(status.code, Code::internal);
    EXPECT_EQ(status.message, "toy: the card is on fire");
    EXPECT_EQ(session.outputs(0).f32(0)[3], 0);
  }
  Context other(on_);
  session.compute_on(&other);
  EXPECT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
}

//===-- Copies ------------------------------------------------------------------------------------------===//

// Arrays arrive in one piece each, where any load may begin; one that is not there has no address.
TEST_F(CudaContext, CopiesArrays) {
  Context context(on_);
  const int32_t ints[] = {1, 2, 3};
  const std::vector<double> doubles(77, 1.5);
  const uint8_t byte = 9;
  const int32_t *ints_at = nullptr;
  const double *doubles_at = nullptr;
  const uint8_t *byte_at = nullptr, *none_at = &byte;
  context.begin();
  context.copy_in({{&ints_at, ints, 3},
                   {&none_at, static_cast<const uint8_t *>(nullptr), 5},
                   {&doubles_at, doubles.data(), doubles.size()},
                   {&byte_at, &byte, 1}});
  ASSERT_TRUE(context.status().ok());
  EXPECT_EQ(ints_at[2], 3);
  EXPECT_EQ(std::vector<double>(doubles_at, doubles_at + 77), doubles);
  EXPECT_EQ(*byte_at, 9);
  EXPECT_EQ(none_at, nullptr);
  EXPECT_EQ((reinterpret_cast<const char *>(doubles_at) - reinterpret_cast<const char *>(ints_at)) % 256, 0);

  const double *doubles_back = nullptr;
  const int32_t *ints_back = nullptr;
  context.copy_out({{&doubles_back, doubles_at, 77}, {&ints_back, ints_at, 3}});
  ASSERT_TRUE(context.status().ok());
  EXPECT_NE(doubles_back, doubles_at);
  EXPECT_EQ(std::vector<double>(doubles_back, doubles_back + 77), doubles);
  EXPECT_EQ(std::vector<int32_t>(ints_back, ints_back + 3), std::vector<int32_t>({1, 2, 3}));
}

// What the host decides in the course of a run: it sees bytes, and gives numbers, any number of times. What
// it gave may be gone on the host's side at once.
TEST_F(CudaContext, FetchesAndPuts) {
  Context context(on_);
  for (int32_t run = 0; run < 3; ++run) {
    context.begin();
    std::vector<uint8_t> bytes(300 * (run + 1));
    std::vector<int32_t *> given;
    for (int32_t n = 0; n < 10; ++n) {
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<uint8_t>(i * n);
      const uint8_t *at = nullptr;
      context.copy_in({{&at, bytes.data(), bytes.size()}});
      const uint8_t *found = context.fetch(at, bytes.size());
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(std::vector<uint8_t>(found, found + bytes.size()), bytes);
      std::vector<int32_t> numbers(100 * (n + 1), n);
      given.push_back(context.put(n, numbers.data(), numbers.size()));
      std::fill(numbers.begin(), numbers.end(), -1);
    }
    for (int32_t n = 0; n < 10; ++n)
      EXPECT_EQ(std::vector<int32_t>(given[n], given[n] + 100 * (n + 1)),
                std::vector<int32_t>(100 * (n + 1), n));
    ASSERT_NE(context.put(3, nullptr, 0), nullptr);
    context.copy_out({});
    EXPECT_TRUE(context.status().ok());
  }
}

// After a failure nothing more is asked of the device, and nobody gets an address.
TEST_F(CudaContext, NothingHappensAfterAFailure) {
  Context context(on_);
  context.begin();
  card.refusing = 0;
  EXPECT_EQ(context.buffer<float>(0, 10), nullptr);
  const int32_t before = card.allocations, number = 1;
  const int32_t *at = nullptr;
  const uint8_t byte = 0;
  context.copy_in({{&at, &number, 1}});
  EXPECT_EQ(at, nullptr);
  EXPECT_EQ(context.buffer<float>(1, 10), nullptr);
  EXPECT_EQ(context.scratch(10), nullptr);
  EXPECT_EQ(context.put(0, &number, 1), nullptr);
  EXPECT_EQ(context.fetch(&byte, 1), nullptr);
  EXPECT_EQ(context.constant<float>(0), nullptr);
  EXPECT_EQ(context.matrix<float>(0, 2, 1).weights, nullptr);
  EXPECT_EQ(context.faults().records, nullptr);
  context.copy_out({{&at, &number, 1}});
  EXPECT_EQ(at, nullptr);
  EXPECT_EQ(card.allocations, before);
  EXPECT_EQ(context.status().message, "toy: not enough memory on the device for the batch");
  EXPECT_FALSE(context.again());
}

// A list column has as many elements as its lists reach, at each depth; rows without one do not count.
TEST(CudaElements, OfListColumns) {
  Batch batch(info());
  batch.begin_input();
  const std::vector<std::vector<int32_t>> grids[] = {{{1, 2}, {}, {3}}, {}, {{4, 5, 6, 7}}};
  for (const auto &rows : grids) {
    const int32_t bag = batch.add_node(Bag, 0);
    batch.open_list(Bag, bag, grid);
    for (const std::vector<int32_t> &row : rows) {
      batch.open_list(Bag, bag, grid);
      for (int32_t number : row)
        batch.push_int(number);
      batch.close_list();
    }
    batch.close_list();
    for (size_t n = 0; n < rows.size(); ++n)
      batch.append_int(Bag, bag, trees, leaf(batch, 1));
  }
  batch.add_node(Bag, 0); // has no lists
  dbc::InputStatuses statuses;
  const dbc::ColumnRef columns[] = {{Bag, grid}, {Bag, trees}, {Bag, flag}};
  ASSERT_TRUE(batch.validate(columns, 3, statuses).ok());
  const int32_t rows = batch.rows(Bag);
  EXPECT_EQ(dbc::cuda::elements(batch.column(Bag, grid), rows, 0), 4u);
  EXPECT_EQ(dbc::cuda::elements(batch.column(Bag, grid), rows, 1), 4u); // lists in the lists: 3 + 0 + 1
  EXPECT_EQ(dbc::cuda::elements(batch.column(Bag, grid), rows), 7u);
  EXPECT_EQ(dbc::cuda::elements(batch.column(Bag, grid), 1), 3u);
  EXPECT_EQ(dbc::cuda::elements(batch.column(Bag, trees), rows), 4u);
  EXPECT_EQ(dbc::cuda::elements(batch.column(Bag, trees), 0), 0u);
  EXPECT_EQ(dbc::cuda::elements(batch.column(Bag, flag), rows), 0u); // nobody gave it
  const int32_t begins[] = {0, 50, 3}, ends[] = {3, 99, 7};
  const uint8_t present[] = {1, 0, 1};
  dbc::ColumnView lent; // anything may stand where there is no list
  lent.given = true;
  lent.present = present;
  lent.lists[0] = {begins, ends};
  EXPECT_EQ(dbc::cuda::elements(lent, 3), 7u);
}

//===-- What kernels find wrong -------------------------------------------------------------------------===//

__global__ void write_faults(dbc::cuda::Faults faults, const dbc::cuda::Place *places, int32_t count) {
  for (int32_t n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x)
    dbc::cuda::fault(faults, n, places[n], n + 1);
}

bool before(const FaultRecord &a, const FaultRecord &b) {
  return std::tie(a.launch, a.place.row, a.place.loop, a.place.iteration) <
         std::tie(b.launch, b.place.row, b.place.loop, b.place.iteration);
}

// Blocks write in any order; the host sees launches, rows, loops and iterations in theirs, whatever the
// turns.
TEST_F(CudaContext, FaultsAreInOrder) {
  Context context(on_);
  std::vector<dbc::cuda::Place> places; // each combination once, the last of all first
  for (int32_t n = 124; n >= 0; --n)
    places.push_back({n / 25, n / 5 % 5, n % 5});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    dbc::cuda::shim::Machine::own().seed(seed);
    context.begin();
    for (int32_t launch : {1, 0}) {
      dbc::cuda::Faults faults = context.faults();
      faults.launch = launch;
      dbc::cuda::launch(write_faults, 3, 0, nullptr, faults,
                        static_cast<const dbc::cuda::Place *>(places.data()), 125);
    }
    context.copy_out({});
    ASSERT_TRUE(context.status().ok());
    EXPECT_FALSE(context.again());
    ASSERT_EQ(context.found().size(), 250u);
    for (int32_t n = 0; n < 250; ++n) {
      const FaultRecord &record = context.found()[n];
      EXPECT_EQ(record.launch, n / 125);
      EXPECT_EQ(record.site, 124 - n % 125); // which wrote this place
      EXPECT_EQ(record.numbers[0], record.site + 1);
      EXPECT_TRUE(n == 0 || before(context.found()[n - 1], record)) << n;
    }
  }
}

__global__ void write_at_one_place(dbc::cuda::Faults faults) {
  if (threadIdx.x == 5)
    for (int32_t n = 0; n < 100; ++n)
      dbc::cuda::fault(faults, 100 - n, {4, 3, 2});
}

// What a thread finds at one place stays in the order in which it was found.
TEST_F(CudaContext, FaultsOfOnePlaceStayInOrder) {
  Context context(on_);
  context.begin();
  dbc::cuda::launch(write_at_one_place, 1, 0, nullptr, context.faults());
  context.copy_out({});
  ASSERT_EQ(context.found().size(), 100u);
  for (int32_t n = 0; n < 100; ++n)
    EXPECT_EQ(context.found()[n].site, 100 - n);
}

// More is wrong than there was room for: the part is computed once more, and all of it is found. There is
// room from then on, and a run in which all is well finds nothing.
TEST_F(CudaContext, MoreFaultsThanRoom) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  const auto wrong = [](int32_t i) { return i % 3 == 0 ? -2.f : i % 3 == 1 ? -1.f : 1.f; };
  const auto find = [&](int32_t inputs, int32_t attempts) {
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_EQ(LeafPlan::attempts, attempts) << inputs;
    EXPECT_FALSE(context.again());
    ASSERT_EQ(context.found().size(), static_cast<size_t>(inputs));
    for (int32_t n = 0; n < inputs; ++n) { // two of input 0, one of 1, two of 3 ...
      EXPECT_EQ(context.found()[n].place.row, n / 3 * 3 + n % 3 / 2);
      EXPECT_EQ(context.found()[n].place.iteration, n % 3 == 1);
    }
    EXPECT_TRUE(right(session));
    EXPECT_EQ(context.bytes() + on_.bytes(), card.bytes);
  };
  fill(30, wrong);
  find(30, 1);
  fill(300, wrong);
  find(300, 2);
  find(300, 1);
  fill(900, wrong);
  find(900, 2);
  fill(900);
  find(0, 1);
  fill(300, wrong);
  find(300, 1);
}

// No room for what is wrong is a limit too, and passes.
TEST_F(CudaContext, NoMemoryForFaults) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(300);
  ASSERT_TRUE(session.run(0, batch_).ok());
  fill(300, [](int32_t) { return -2.f; });
  card.refusing = 0;
  EXPECT_EQ(session.run(0, batch_).code, Code::limit);
  EXPECT_EQ(card.refusing, -1);
  EXPECT_TRUE(context.found().empty());
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_EQ(context.found().size(), 600u);
}

// A kernel that is broken is a mistake in dbc: no results, and words with the model's name.
__global__ void end_early() {
  if (threadIdx.x > 0)
    __syncthreads();
}
TEST_F(CudaContext, BrokenKernels) {
  Context context(on_);
  context.begin();
  dbc::cuda::launch(end_early, 1, 0, nullptr);
  const int32_t *at = nullptr;
  context.copy_out({{&at, static_cast<const int32_t *>(context.buffer<int32_t>(0, 1)), 1}});
  EXPECT_EQ(context.status().code, Code::internal);
  EXPECT_EQ(context.status().message.rfind("toy: CUDA on the CPU: 1 threads of a block end", 0), 0u)
      << context.status().message;
}

} // namespace
