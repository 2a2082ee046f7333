// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What kernels find wrong: in order, and all of it.
#include "cuda_models.h"

namespace {

using CudaFound = CudaContext;

//===-- What kernels find wrong -------------------------------------------------------------------------===//

__global__ void write_errors(dbc::cuda::Errors errors, const dbc::cuda::Position *positions, int32_t count) {
  for (int32_t n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x)
    dbc::cuda::record_error(errors, errors.launch, n, positions[n], n + 1);
}

bool before(const ErrorRecord &a, const ErrorRecord &b) {
  return std::tie(a.launch, a.position.row, a.position.loop, a.position.iteration) <
         std::tie(b.launch, b.position.row, b.position.loop, b.position.iteration);
}

// Blocks write in any order; the host sees launches, rows, loops and iterations in theirs, whatever the
// interleaving.
TEST_F(CudaFound, ErrorsAreInOrder) {
  Context context(on_);
  std::vector<dbc::cuda::Position> positions; // each combination once, the last of all first
  for (int32_t n = 124; n >= 0; --n)
    positions.push_back({n / 25, n / 5 % 5, n % 5});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    dbc::cuda::shim::Machine::own().seed(seed);
    const int64_t sub_batch = context.begin({});
    for (int32_t launch : {1, 0}) {
      dbc::cuda::Errors errors = context.errors();
      errors.launch = launch;
      dbc::cuda::launch(write_errors, 3, 0, nullptr, errors,
                        static_cast<const dbc::cuda::Position *>(positions.data()), 125);
    }
    context.copy_out();
    (void)context.finish(sub_batch);
    ASSERT_TRUE(context.status().ok());
    EXPECT_FALSE(context.again());
    ASSERT_EQ(context.found().size(), 250u);
    for (int32_t n = 0; n < 250; ++n) {
      const ErrorRecord &record = context.found()[n];
      EXPECT_EQ(record.launch, n / 125);
      EXPECT_EQ(record.site, 124 - n % 125); // which wrote this position
      EXPECT_EQ(record.numbers[0], record.site + 1);
      EXPECT_TRUE(n == 0 || before(context.found()[n - 1], record)) << n;
    }
  }
}

__global__ void write_at_one_position(dbc::cuda::Errors errors) {
  if (threadIdx.x == 5)
    for (int32_t n = 0; n < 100; ++n)
      dbc::cuda::record_error(errors, errors.launch, 100 - n, {4, 3, 2});
}

// What a thread finds at one position stays in the order in which it was found.
TEST_F(CudaFound, ErrorsOfOnePositionStayInOrder) {
  Context context(on_);
  const int64_t sub_batch = context.begin({});
  dbc::cuda::launch(write_at_one_position, 1, 0, nullptr, context.errors());
  context.copy_out();
  (void)context.finish(sub_batch);
  ASSERT_EQ(context.found().size(), 100u);
  for (int32_t n = 0; n < 100; ++n)
    EXPECT_EQ(context.found()[n].site, 100 - n);
}

// More is wrong than there was room for: the sub-batch is computed once more, and all of it is found. There
// is room from then on, and a run in which all is well finds nothing.
TEST_F(CudaFound, MoreErrorsThanRoom) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  const auto wrong = [](int32_t i) { return i % 3 == 0 ? -2.f : i % 3 == 1 ? -1.f : 1.f; };
  const auto find = [&](int32_t inputs, int32_t attempts) {
    LeafPlan::attempts = 0;
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_EQ(LeafPlan::attempts, attempts) << inputs;
    EXPECT_FALSE(context.again());
    ASSERT_EQ(context.found().size(), static_cast<size_t>(inputs));
    for (int32_t n = 0; n < inputs; ++n) { // two of input 0, one of 1, two of 3 ...
      EXPECT_EQ(context.found()[n].position.row, n / 3 * 3 + n % 3 / 2);
      EXPECT_EQ(context.found()[n].position.iteration, n % 3 == 1);
    }
    EXPECT_TRUE(right(session));
    EXPECT_EQ(context.bytes() + on_.bytes(), gpu.bytes);
    EXPECT_EQ(session.profile(0).stages[0].rows, batch_.inputs()) << "counted once";
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
TEST_F(CudaFound, NoMemoryForErrors) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(300);
  ASSERT_TRUE(session.run(0, batch_).ok());
  fill(300, [](int32_t) { return -2.f; });
  gpu.refusing = 0;
  gpu.refusals = 2;
  EXPECT_EQ(session.run(0, batch_).code, Code::limit);
  EXPECT_EQ(gpu.refusing, -1);
  EXPECT_TRUE(context.found().empty());
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_EQ(context.found().size(), 600u);
}

// What one context failed at another one that waits on the same thread does not find.
TEST_F(CudaFound, FailuresStayWithTheirContext) {
  Context one(on_), other(on_);
  const int64_t of_other = other.begin({});
  other.copy_out();
  gpu.refusing = 0;
  gpu.refusals = 1;
  const int64_t of_one = one.begin({});
  gpu.begun = Status::error(Code::internal, "a kernel could not be begun");
  one.copy_out();
  EXPECT_FALSE(one.finish(of_one).ok());
  const Status status = other.finish(of_other);
  EXPECT_TRUE(status.ok()) << status.message;
  gpu.begun = Status();
  gpu.refusing = -1;
}

// What is wrong does not count for the limit that a batch fits: there is memory for it besides.
TEST_F(CudaFound, ErrorsBesideALimit) {
  dbc::Session session(model_);
  dbc::cuda::ContextOptions options;
  size_t needed = 0;
  {
    Context context(on_);
    session.compute_on(&context);
    fill(300);
    ASSERT_TRUE(session.run(0, batch_).ok());
    options.limit_bytes = context.bytes(); // with the guard zones of a sanitizer
    needed = context.needed_bytes();
  }
  Context context(on_, options);
  session.compute_on(&context);
  fill(300, [](int32_t row) { return row == 7 ? 1.f : -2.f; });
  for (int32_t run = 0; run < 2; ++run) {
    const Status ran = session.run(0, batch_);
    ASSERT_TRUE(ran.ok()) << ran.message;
    EXPECT_EQ(context.found().size(), 598u);
    EXPECT_EQ(context.needed_bytes(), needed);
  }
  EXPECT_GT(context.bytes(), options.limit_bytes);
}

// A kernel that is broken is a mistake in dbc: no results, and words with the model's name.
__global__ void end_early() {
  if (threadIdx.x > 0)
    __syncthreads();
}
TEST_F(CudaFound, BrokenKernels) {
  Context context(on_);
  const int64_t sub_batch = context.begin({});
  dbc::cuda::launch(end_early, 1, 0, nullptr);
  context.copy_out();
  (void)context.finish(sub_batch);
  EXPECT_EQ(context.status().code, Code::internal);
  EXPECT_EQ(context.status().message.rfind("toy: CUDA on the CPU: 1 thread of a block ends", 0), 0u)
      << context.status().message;
}

} // namespace
