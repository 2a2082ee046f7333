// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model and a session on a device: its memory, copies and failures.
#include "cuda_models.h"

namespace {

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

} // namespace
