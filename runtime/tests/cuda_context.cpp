// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A session on a device: its memory, copies and failures.
#include "cuda_models.h"

#include <memory>

namespace {

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
  EXPECT_EQ(gpu.streams, 2);
  EXPECT_EQ(for_a.bytes() + for_b.bytes() + on_.bytes(), gpu.bytes);
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
  const int32_t before = gpu.allocations;
  for (int32_t inputs : {100, 3, 99, 100}) {
    fill(inputs);
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_TRUE(right(session));
  }
  EXPECT_EQ(gpu.allocations, before);
}

// bytes() is what the device gave, also when memory has grown; all of it goes back at the end.
TEST_F(CudaContext, BytesAreThoseOfTheDevice) {
  {
    dbc::Session session(model_);
    Context context(on_);
    session.compute_on(&context);
    EXPECT_EQ(context.bytes(), 0u);
    size_t before = 0;
    for (int32_t inputs : {1, 1000, 10000}) {
      fill(inputs);
      ASSERT_TRUE(session.run(0, batch_).ok());
      EXPECT_EQ(context.bytes() + on_.bytes(), gpu.bytes) << inputs;
      EXPECT_GT(context.bytes(), before);
      before = context.bytes();
    }
    EXPECT_GE(before, 3 * 10000 * sizeof(float));
  }
  EXPECT_EQ(gpu.bytes, on_.bytes());
  EXPECT_EQ(gpu.device.size(), 3u);
  EXPECT_TRUE(gpu.host.empty());
  EXPECT_EQ(gpu.streams, 0);
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
        gpu.refusing = granted;
        gpu.refusals = 2; // what is needed and a quarter, and what is needed
        const Status status = session.run(0, batch_);
        done = gpu.refusing >= 0;
        gpu.refusing = -1;
        gpu.refusals = 1;
        if (!done) {
          EXPECT_EQ(status.code, Code::limit);
          const size_t device = status.message.find("toy: not enough memory on the device for the batch: ");
          const size_t host =
              status.message.find("toy: not enough memory of the host that the device can reach: ");
          EXPECT_TRUE(device == 0 || host == 0) << status.message;
          EXPECT_EQ(session.status(3).message, status.message);
          EXPECT_EQ(session.outputs(0).f32(0)[3], 0);
        }
        EXPECT_EQ(context.bytes() + on_.bytes(), gpu.bytes);
        const Status again = session.run(0, batch_);
        ASSERT_TRUE(again.ok()) << again.message << ", after " << granted << " requests";
        EXPECT_TRUE(right(session));
        fill(200);
      }
    }
    EXPECT_EQ(gpu.bytes, on_.bytes());
    EXPECT_TRUE(gpu.host.empty());
  }
}

// What a device fails at it does not get over: every run from then on says what it was, and who.
TEST_F(CudaContext, AFailureOfTheDeviceStays) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(4);
  ASSERT_TRUE(session.run(0, batch_).ok());
  gpu.failing = 0;
  for (int32_t round = 0; round < 3; ++round) {
    const Status status = session.run(0, batch_);
    EXPECT_EQ(status.code, Code::internal);
    EXPECT_EQ(status.message, "toy: the GPU is on fire");
    EXPECT_EQ(session.outputs(0).f32(0)[3], 0);
  }
  Context other(on_);
  session.compute_on(&other);
  EXPECT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
}

//===-- What the application lends ----------------------------------------------------------------------===//

// A batch that needs more than the session may hold says how much; a smaller one runs. More than that is
// never held.
TEST_F(CudaContext, LimitOfBytes) {
  dbc::Session session(model_);
  dbc::cuda::ContextOptions options;
  options.limit_bytes = 40000;
  Context context(on_, options);
  session.compute_on(&context);
  for (int32_t inputs : {1000, 2500, 10000, 2500, 20}) {
    fill(inputs);
    const Status status = session.run(0, batch_);
    if (inputs < 10000) {
      ASSERT_TRUE(status.ok()) << status.message;
      EXPECT_TRUE(right(session));
    } else {
      EXPECT_EQ(status.code, Code::limit);
      const size_t needed = room(256) + room(256 * sizeof(ErrorRecord)) + 3 * room(inputs * sizeof(float));
      EXPECT_EQ(status.message, "toy: not enough memory on the device for the batch: " +
                                    std::to_string(needed) + " bytes are needed, 40000 may be held");
      EXPECT_EQ(session.status(7).message, status.message);
      EXPECT_EQ(session.outputs(0).f32(0)[7], 0);
    }
    EXPECT_LE(context.bytes(), options.limit_bytes);
    EXPECT_EQ(context.bytes() + on_.bytes(), gpu.bytes);
  }
}

// Where there is no more memory, what is needed and what is there are said.
TEST_F(CudaContext, NeededAndAvailableBytes) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(10);
  gpu.refusing = 0;
  gpu.refusals = 2;
  const size_t needed = room(256) + room(256 * sizeof(ErrorRecord)) + 3 * room(10 * sizeof(float));
  EXPECT_EQ(session.run(0, batch_).message,
            "toy: not enough memory on the device for the batch: " + std::to_string(needed) +
                " bytes are needed, 1234 are available");
}

// Memory of an application's pool: asked for and given back with the same size; none of the device's own is.
struct Pool {
  std::map<void *, size_t> held;
  int32_t given = 0;
  size_t offset = 0;
  std::vector<std::unique_ptr<unsigned char[]>> memory;
  dbc::cuda::Allocator allocator() {
    dbc::cuda::Allocator made;
    made.user = this;
    made.allocate = [](size_t bytes, void *user) -> void * {
      Pool &pool = *static_cast<Pool *>(user);
      pool.memory.emplace_back(new unsigned char[bytes + 512]);
      const auto at = reinterpret_cast<uintptr_t>(pool.memory.back().get());
      auto *given = reinterpret_cast<void *>((at + 255) / 256 * 256 + pool.offset);
      pool.held[given] = bytes;
      ++pool.given;
      return given;
    };
    made.release = [](void *given, size_t bytes, void *user) {
      Pool &pool = *static_cast<Pool *>(user);
      EXPECT_EQ(pool.held.at(given), bytes);
      pool.held.erase(given);
    };
    return made;
  }
  size_t bytes() const {
    size_t sum = 0;
    for (const auto &[at, size] : held)
      sum += size;
    return sum;
  }
};
TEST_F(CudaContext, MemoryOfAnAllocator) {
  Pool pool;
  on_ = dbc::cuda::Model();
  const int32_t before = gpu.allocations;
  {
    dbc::cuda::Model on;
    ASSERT_TRUE(dbc::cuda::Model::make(model_, 0, &on, pool.allocator()).ok());
    EXPECT_EQ(pool.bytes(), on.bytes());
    dbc::Session session(model_);
    dbc::cuda::ContextOptions options;
    options.allocator = pool.allocator();
    Context context(on, options);
    session.compute_on(&context);
    for (int32_t inputs : {10, 1000, 900}) {
      fill(inputs);
      ASSERT_TRUE(session.run(0, batch_).ok());
      EXPECT_TRUE(right(session));
      EXPECT_EQ(pool.bytes(), on.bytes() + context.bytes());
    }
    EXPECT_EQ(pool.given, 3 + 2);
  }
  EXPECT_TRUE(pool.held.empty());
  EXPECT_EQ(gpu.allocations - before, 2); // of the host
  // What it gives must lie right.
  pool.offset = 16;
  const Status status = dbc::cuda::Model::make(model_, 0, &on_, pool.allocator());
  EXPECT_EQ(status.code, Code::limit);
  EXPECT_EQ(status.message,
            "toy: not enough memory on the device for the model: 432 bytes are needed, which the "
            "allocator does not give, or not at a multiple of 256 bytes");
  EXPECT_TRUE(pool.held.empty());
}

// All that a session begins is on the caller's stream, which stays the caller's.
TEST_F(CudaContext, StreamOfTheCaller) {
  int32_t stream = 0;
  {
    dbc::Session session(model_);
    dbc::cuda::ContextOptions options;
    options.stream = gpu.lent = &stream;
    Context context(on_, options);
    session.compute_on(&context);
    fill(9);
    for (int32_t round = 0; round < 2; ++round) {
      ASSERT_TRUE(session.run(0, batch_).ok());
      EXPECT_TRUE(right(session));
    }
    EXPECT_EQ(gpu.streams, 0);
  }
  EXPECT_EQ(gpu.streams, 0);
}

//===-- Memory and copies -------------------------------------------------------------------------------===//

using dbc::cuda::decided;
using dbc::cuda::input;
using dbc::cuda::kUnset;
using dbc::cuda::lines;
using dbc::cuda::result;
using dbc::cuda::rows;
using dbc::cuda::synced;
using dbc::cuda::zeros;

// All memory is one reservation on the device and one on the host, a quarter more than is needed: batches
// that grow slowly do not make it grow. What is needed is a sum over arrays, each in whole lines.
TEST_F(CudaContext, OneReservationThatGrowsBetweenBatches) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  // The header and room for errors; results, leaves and values.
  const auto sum = [](int32_t inputs, size_t (*size)(size_t)) {
    return size(256) + size(256 * sizeof(ErrorRecord)) + size(inputs * sizeof(float)) +
           2 * size(inputs * sizeof(int32_t));
  };
  for (int32_t inputs : {100, 125, 1000, 1240, 1600}) {
    const size_t held = context.bytes(), needed = sum(inputs, room);
    const int32_t before = gpu.allocations;
    fill(inputs);
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_EQ(context.needed_bytes(), sum(inputs, [](size_t bytes) { return lines(bytes); })) << inputs;
    EXPECT_EQ(context.bytes(), needed <= held ? held : lines(needed + needed / 4)) << inputs;
    EXPECT_EQ(gpu.allocations - before, needed <= held ? 0 : 2) << inputs;
    EXPECT_EQ(gpu.device.size(), 3u + 1u);
    EXPECT_EQ(gpu.host.size(), 1u);
  }
}

// What goes there is one copy, what comes back is another.
TEST_F(CudaContext, TwoCopies) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  for (int32_t inputs : {1, 100, 0}) {
    fill(inputs);
    gpu.copies = 0;
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_EQ(gpu.copies, 2);
  }
}

// Where there is no room for more than is needed, what is needed does.
TEST_F(CudaContext, NoRoomForMoreThanIsNeeded) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(100);
  gpu.refusing = 0;
  ASSERT_TRUE(session.run(0, batch_).ok());
  const size_t guard_zones =
      counting().guard == nullptr ? 0 : 3 * 256; // behind the header, two arrays, records
  EXPECT_LE(context.bytes(), context.needed_bytes() + guard_zones);
}

// Arrays arrive in one piece each, where any load may begin; one that is not there has no address. Results
// are had by their addresses.
TEST_F(CudaContext, CopiesArrays) {
  Context context(on_);
  const int32_t ints[] = {1, 2, 3};
  const std::vector<double> doubles(77, 1.5);
  const uint8_t byte = 9;
  const int32_t *ints_at = nullptr;
  const double *doubles_at = nullptr;
  const uint8_t *byte_at = nullptr, *none_at = &byte;
  double *sums = nullptr, *between = nullptr;
  uint8_t *flags = nullptr;
  int32_t *counters = nullptr;
  float *first = nullptr, *second = nullptr;
  const int64_t sub_batch =
      context.begin({result(&sums, 40), result(&flags, 3), input(&ints_at, ints, 3),
                     input(&none_at, static_cast<const uint8_t *>(nullptr), 5), rows(&between, 10),
                     input(&doubles_at, doubles.data(), doubles.size()), input(&byte_at, &byte, 1),
                     zeros(&counters, 1000), synced(rows(&first, 7)), synced(rows(&second, 300))});
  ASSERT_TRUE(context.status().ok());
  EXPECT_EQ(ints_at[2], 3);
  EXPECT_EQ(std::vector<double>(doubles_at, doubles_at + 77), doubles);
  EXPECT_EQ(*byte_at, 9);
  EXPECT_EQ(none_at, nullptr);
  const void *all[] = {sums,     flags, ints_at, doubles_at, byte_at, between, context.errors().records,
                       counters, first, second};
  for (const void *at : all)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 256, 0u);
  EXPECT_EQ(std::count(counters, counters + 1000, 0), 1000);
  EXPECT_EQ(*context.errors().count, 0);
  const std::vector<uint32_t> unset(300, kUnset); // arrays behind each other are filled at once
  EXPECT_EQ(std::memcmp(first, unset.data(), 7 * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(second, unset.data(), 300 * sizeof(float)), 0);
  EXPECT_EQ(gpu.fills, counting().guard != nullptr || second - first == 64 ? 1 : 2);

  std::fill(sums, sums + 40, 2.5);
  std::fill(flags, flags + 3, uint8_t(7));
  std::fill(between, between + 10, 3.5);
  EXPECT_EQ(std::vector<double>(doubles_at, doubles_at + 77), doubles); // none lies in another one
  context.copy_out();
  (void)context.finish(sub_batch);
  ASSERT_TRUE(context.status().ok());
  EXPECT_NE(context.on_host(sums), sums);
  EXPECT_EQ(std::vector<double>(context.on_host(sums), context.on_host(sums) + 40),
            std::vector<double>(40, 2.5));
  EXPECT_EQ(context.on_host(flags)[2], 7);
}

// With a sanitizer a kernel that leaves its array is found, though all are one piece of memory.
TEST_F(CudaContext, GuardZonesBetweenArrays) {
  if (counting().untouched != nullptr)
    GTEST_SKIP() << "no sanitizer";
  Context context(on_);
  const std::vector<float> numbers(64, 1);
  const float *in = nullptr;
  float *sums = nullptr, *values = nullptr;
  const int64_t sub_batch =
      context.begin({result(&sums, 3), input(&in, numbers.data(), 64), rows(&values, 64)});
  values[63] = in[63] + 1;
  const void *const ends[] = {sums + 3, in + 64, values + 64, context.errors().count + 64};
  for (const void *end : ends)
    EXPECT_DEATH(values[0] = *static_cast<const volatile float *>(end), "use-after-poison");
  context.copy_out();
  (void)context.finish(sub_batch);
  EXPECT_TRUE(context.status().ok());
}

// Without one a kernel that has written behind its array is reported at once, with the array's name and the
// row; the run is a mistake in dbc, and has no results.
TEST_F(CudaContext, WritesBehindAnArray) {
  if (counting().untouched == nullptr)
    GTEST_SKIP() << "the sanitizer looks";
  dbc::Session session(model_);
  fill(9);
  for (int32_t beyond : {0, 1, 2}) {
    Context context(on_);
    session.compute_on(&context);
    gpu.rows_beyond = beyond;
    const Status ran = session.run(0, batch_);
    gpu.rows_beyond = 0;
    EXPECT_EQ(ran.ok(), beyond == 0);
    if (beyond == 0)
      continue;
    EXPECT_EQ(ran.code, Code::internal);
    EXPECT_EQ(ran.message, "toy: kernel `weigh` has written row " + std::to_string(8 + beyond) +
                               " of array `result`, which has 9");
    EXPECT_EQ(session.outputs(0).number(0, 3), 0);
  }
  // Any byte behind any array.
  for (int32_t way = 0; way < 5; ++way) {
    Context context(on_);
    const std::vector<int32_t> ints(64, 1);
    const int32_t *in = nullptr;
    double *sums = nullptr;
    unsigned char *flags = nullptr;
    const int64_t sub_batch = context.begin(
        {result(&sums, 3).named("sums", 8), input(&in, ints.data(), 64), rows(&flags, 70).named("flags", 7)});
    unsigned char *const at[] = {reinterpret_cast<unsigned char *>(sums + 3) + 1,
                                 reinterpret_cast<unsigned char *>(const_cast<int32_t *>(in + 64)),
                                 flags + 70, flags + 70 + 9,
                                 reinterpret_cast<unsigned char *>(context.errors().count) + 256};
    *at[way] ^= 1;
    context.check_guard_zones("mend");
    context.copy_out();
    (void)context.finish(sub_batch);
    const char *const words[] = {"row 3 of array `sums`, which has 3", "0 bytes behind an array",
                                 "row 10 of array `flags`, which has 10",
                                 "row 11 of array `flags`, which has 10",
                                 "0 bytes behind array `number of errors`"};
    EXPECT_EQ(context.status().message, std::string("toy: kernel `mend` has written ") + words[way]);
  }
}

// A device that the program broke before is no failure of the model's kernels, and may come back.
TEST_F(CudaContext, AFailureFromBefore) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  fill(4);
  ASSERT_TRUE(session.run(0, batch_).ok());
  gpu.failed_before = Status::error(Code::limit, "the GPU was on fire");
  for (int32_t round = 0; round < 2; ++round) {
    const Status status = session.run(0, batch_);
    EXPECT_EQ(status.code, Code::limit);
    EXPECT_EQ(status.message, "toy: the GPU was on fire");
    float number = 0;
    EXPECT_EQ(context.copy_to_host(&number, &number, 0).message, status.message);
  }
  gpu.failed_before = Status();
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
}

// What the host decides in the course of a run: it sees bytes, and gives numbers, any number of times. What
// it gave may be gone on the host's side at once.
TEST_F(CudaContext, FetchesAndPuts) {
  Context context(on_);
  for (int32_t run = 0; run < 3; ++run) {
    std::vector<uint8_t> bytes(300 * (run + 1));
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(i * 7);
    const uint8_t *at = nullptr;
    int32_t *one = nullptr, *other = nullptr;
    const int64_t sub_batch =
        context.begin({input(&at, bytes.data(), bytes.size()), decided(&one, 1000), decided(&other, 500)});
    const int32_t before = gpu.allocations;
    for (int32_t n = 0; n < 10; ++n) {
      const uint8_t *found = context.fetch(at, bytes.size());
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(std::vector<uint8_t>(found, found + bytes.size()), bytes);
      std::vector<int32_t> numbers(100 * (n + 1), n), others(500, -n);
      EXPECT_EQ(context.put(one, numbers.data(), numbers.size()), one);
      std::fill(numbers.begin(), numbers.end(), -1);
      EXPECT_EQ(context.put(other, others.data(), others.size()), other);
      EXPECT_EQ(std::vector<int32_t>(one, one + 100 * (n + 1)), std::vector<int32_t>(100 * (n + 1), n));
      EXPECT_EQ(std::vector<int32_t>(other, other + 500), others);
    }
    EXPECT_EQ(context.put(one, nullptr, 0), one);
    // What is staged for one is not overwritten by the next while its copy may be under way.
    ASSERT_NE(context.fetch(at, bytes.size()), nullptr);
    gpu.events.clear();
    const int32_t number = 5;
    for (int32_t n = 0; n < 3; ++n)
      EXPECT_EQ(context.put(one, &number, 1), one);
    EXPECT_EQ(gpu.events, std::vector<std::string>({"copy 0", "wait 0", "copy 0", "wait 0", "copy 0"}));
    EXPECT_EQ(gpu.allocations, before); // never inside a batch
    context.copy_out();
    (void)context.finish(sub_batch);
    EXPECT_TRUE(context.status().ok());
  }
  // More than was reserved is a mistake in dbc.
  int32_t *one = nullptr;
  context.begin({decided(&one, 64)});
  const std::vector<int32_t> numbers(65);
  EXPECT_EQ(context.put(one, numbers.data(), 65), nullptr);
  EXPECT_EQ(context.status().message, "toy: more is put than was reserved");
}

// After a failure nothing more is asked of the device, and nobody gets an address.
TEST_F(CudaContext, NothingHappensAfterAFailure) {
  Context context(on_);
  gpu.refusing = 0;
  gpu.refusals = 2;
  const int32_t number = 1;
  const int32_t *at = &number;
  float *value = nullptr, *sum = nullptr;
  int32_t *one = nullptr;
  const int64_t sub_batch =
      context.begin({result(&sum, 10), input(&at, &number, 1), rows(&value, 10), decided(&one, 1)});
  const int32_t before = gpu.allocations, copies = gpu.copies;
  const uint8_t byte = 0;
  EXPECT_EQ(at, nullptr);
  EXPECT_EQ(value, nullptr);
  EXPECT_EQ(sum, nullptr);
  EXPECT_EQ(context.put(one, &number, 1), nullptr);
  EXPECT_EQ(context.fetch(&byte, 1), nullptr);
  EXPECT_EQ(context.constant<float>(0), nullptr);
  EXPECT_EQ(context.matrix<float>(0, 2, 1).weights, nullptr);
  EXPECT_EQ(context.errors().records, nullptr);
  context.copy_out();
  (void)context.finish(sub_batch);
  EXPECT_EQ(context.on_host(sum), nullptr);
  EXPECT_EQ(gpu.allocations, before);
  EXPECT_EQ(gpu.copies, copies);
  EXPECT_EQ(context.status().message.rfind("toy: not enough memory on the device for the batch: ", 0), 0u);
  EXPECT_FALSE(context.again());
}

} // namespace
