// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Allocations are counted: none in steady state. And where there is no memory, a status instead of an
// exception. Under sanitizers the operators are theirs, and these tests are left out.
#include "core_models.h"

#include <dbc/generated.h>
#include <dbc/optimizer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DBC_NO_COUNTING 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define DBC_NO_COUNTING 1
#endif

#ifndef DBC_NO_COUNTING

namespace {
std::atomic<long> allocations{0};
std::atomic<size_t> largest{SIZE_MAX}; ///< requests above it fail
std::atomic<long> failing{-1};         ///< so many requests succeed, then one fails

void *take(size_t bytes, size_t alignment) {
  ++allocations;
  void *memory = nullptr;
  if (bytes > largest || (failing >= 0 && failing-- == 0) ||
      posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes ? bytes : 1))
    throw std::bad_alloc();
  return memory;
}
} // namespace

void *operator new(size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
void *operator new(size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<size_t>(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using namespace core_models;

void fill(dbc::Batch &batch, int inputs) {
  batch.clear();
  for (int i = 0; i < inputs; ++i) {
    batch.begin_input();
    int32_t last = leaf(batch, 1);
    for (int k = 0; k < 1 + i % 17; ++k)
      last = node(batch, last, leaf(batch, 2));
    root(batch, i, last);
    batch.append_int(batch.args(), i, batch.arg_column(1, 0), last);
    int32_t bag = batch.add_node(Bag, 0);
    batch.append_int(Bag, bag, trees, last);
    batch.open_list(Bag, bag, grid);
    batch.open_list(Bag, bag, grid);
    batch.push_int(i);
    batch.close_list();
    batch.close_list();
  }
}

TEST(Memory, NothingIsAllocatedInSteadyState) {
  dbc::Model model = sums();
  dbc::Session session(model, 2);
  dbc::Batch batch(info());
  fill(batch, 300);
  ASSERT_TRUE(session.run(0, batch).ok());
  ASSERT_TRUE(session.run(1, batch).ok());
  long before = allocations;
  for (int inputs : {300, 17, 255, 300}) {
    fill(batch, inputs);
    ASSERT_TRUE(session.run(0, batch).ok());
    ASSERT_TRUE(session.run(1, batch).ok());
  }
  EXPECT_EQ(allocations - before, 0);
}

/// A table, of which `count` rows were looked up, and a parameter with a dense gradient.
dbc::ModelInfo table_model() {
  dbc::ModelInfo m;
  m.name = "toy";
  dbc::ParamInfo table, other;
  table.name = "table";
  table.extents = {1000, 8};
  other.name = "other";
  other.extents = {500};
  m.params = {table, other};
  m.entries.resize(1);
  m.entries[0].result.elem = dbc::Elem::F32;
  m.entries[0].gradients = {0, 1};
  return m;
}
void give_gradients(dbc::Outputs &outputs, int32_t count) {
  outputs.begin(1);
  int32_t rows[100];
  for (int32_t r = 0; r < count; ++r)
    rows[r] = 3 * r;
  std::fill_n(outputs.sparse_gradient<float>(0, rows, count, 8), 8 * count, 1.0F);
  std::fill_n(outputs.gradient<float>(1, 500), 500, 1.0F);
}

TEST(Memory, StepsAllocateNothing) {
  using Kind = dbc::OptimizerOptions::Kind;
  for (Kind kind : {Kind::Sgd, Kind::Adagrad, Kind::Adam, Kind::AdamW})
    for (bool lazy : {false, true}) {
      const dbc::ModelInfo model = table_model();
      dbc::Weights weights(model);
      dbc::Outputs outputs;
      outputs.prepare(model.entries[0], /*f64=*/false);
      dbc::OptimizerOptions options;
      options.kind = kind;
      options.momentum = 0.9F;
      options.weight_decay = 0.1F;
      options.clip_norm = 1;
      options.lazy_rows = lazy;
      dbc::Optimizer optimizer(options);
      give_gradients(outputs, 100);
      ASSERT_TRUE(optimizer.step(weights, outputs).ok());
      const long before = allocations;
      for (int32_t rows : {100, 17, 0, 100}) {
        give_gradients(outputs, rows);
        ASSERT_TRUE(optimizer.step(weights, outputs).ok());
      }
      EXPECT_EQ(allocations - before, 0);
    }
}

// Where there is no memory for an optimizer's state no parameter changes, those before included.
TEST(Memory, AStepWithoutMemoryChangesNothing) {
  const dbc::ModelInfo model = table_model();
  dbc::Weights weights(model);
  dbc::Outputs outputs;
  outputs.prepare(model.entries[0], /*f64=*/false);
  give_gradients(outputs, 100);
  dbc::OptimizerOptions options;
  options.kind = dbc::OptimizerOptions::Kind::Adam;
  int failures = 0;
  for (bool done = false; !done; ++failures) {
    dbc::Optimizer optimizer(options);
    failing = failures;
    const dbc::Status status = optimizer.step(weights, outputs);
    done = failing >= 0;
    failing = -1;
    if (done)
      break;
    EXPECT_EQ(status.code, dbc::Code::limit);
    EXPECT_EQ(optimizer.steps(), 0);
    for (int32_t p = 0; p < weights.count(); ++p)
      for (size_t i = 0; i < weights.size(p); ++i)
        ASSERT_EQ(weights.data(p)[i], 0) << "after " << failures << " allocations";
  }
  EXPECT_EQ(failures, 7); // states and changes of parameters, the rows of one, and two arrays of each
  EXPECT_NE(weights.data(1)[0], 0);
}

TEST(Memory, NoMemoryIsAStatus) {
  dbc::Model model = sums();
  dbc::Session session(model);
  dbc::Batch batch(info());
  fill(batch, 2000);
  largest = 10000;
  dbc::Status s = session.run(0, batch);
  largest = SIZE_MAX;
  EXPECT_EQ(s.code, dbc::Code::limit);
  EXPECT_EQ(s.message, "toy: not enough memory for a batch of 2000 inputs, or more than 2^31 - 1 rows");
  EXPECT_TRUE(session.run(0, batch).ok());

  dbc::Batch unfilled(info());
  largest = 10000;
  fill(unfilled, 2000);
  largest = SIZE_MAX;
  s = session.run(0, unfilled);
  EXPECT_EQ(s.code, dbc::Code::limit);
  EXPECT_EQ(s.message, "toy: not enough memory for the batch, or more than 2^31 - 1 nodes or list elements");

  largest = 8;
  dbc::Weights *none = nullptr;
  try {
    dbc::Weights weights(info());
    none = &weights;
  } catch (const std::bad_alloc &) {
  }
  largest = SIZE_MAX;
  EXPECT_EQ(none, nullptr);
}

// Wherever memory runs out, what is wrong with the batch is found all the same when there is memory again.
TEST(Memory, WrongNumbersAreFoundAfterAnyFailure) {
  dbc::Model model = sums();
  bool done = false;
  for (long n = 0; !done; ++n) {
    dbc::Session session(model);
    dbc::Batch batch(info());
    fill(batch, 3);
    int32_t lefts[] = {9}; // no such node
    int32_t begin[] = {0, 1};
    uint8_t kind = Node;
    dbc::Batch borrowed(info());
    borrowed.borrow_inputs(1);
    borrowed.borrow_nodes(Tree, &kind, 1, begin);
    borrowed.borrow_ints(Tree, left, lefts, 1);
    dbc::InputStatuses statuses;
    dbc::ColumnRef column{Tree, left};
    failing = n;
    try {
      (void)borrowed.validate(&column, 1, statuses);
      done = failing >= 0;
    } catch (const std::bad_alloc &) {
    }
    failing = -1;
    // A batch that could not be finished says so until it is cleared.
    dbc::Status again = borrowed.validate(&column, 1, statuses);
    ASSERT_TRUE(again.code == dbc::Code::limit || (again.ok() && statuses.failed() == 1))
        << "after allocation " << n;
    failing = n;
    (void)session.run(0, batch);
    failing = -1;
    again = session.run(0, batch);
    ASSERT_TRUE(again.code == dbc::Code::limit || (again.ok() && session.failed() == 0))
        << "after allocation " << n;
  }
}

// A setting for which there is no memory is told by the next run, and stays as it was.
TEST(Memory, SettingsThatDoNotFit) {
  dbc::Model model = sums();
  dbc::Session session(model);
  dbc::Batch batch(info());
  fill(batch, 3);
  ASSERT_TRUE(session.run(0, batch).ok());
  const std::vector<float> weights(100, 1);
  const std::vector<int64_t> numbers(100);
  for (bool ofWeights : {true, false}) {
    failing = 0;
    if (ofWeights)
      EXPECT_NO_THROW(session.weigh_losses(weights.data(), 100));
    else
      EXPECT_NO_THROW(session.number_inputs(numbers.data(), 100));
    failing = -1;
    const dbc::Status told = session.run(0, batch);
    EXPECT_EQ(told.code, dbc::Code::bad_call);
    EXPECT_NE(told.message.find("without memory for it: it is as it was"), std::string::npos) << told.message;
    EXPECT_TRUE(session.run(0, batch).ok());
  }
}

// A session is made where there is memory for nothing: it has fewer threads.
TEST(Memory, WithoutThreads) {
  dbc::Model model = sums();
  dbc::Batch batch(info());
  fill(batch, 100);
  for (size_t most : {size_t(8), size_t(24), size_t(1000)}) { // none; no state of a thread; not all of 1,024
    largest = most;
    dbc::Session session(model, 1024);
    largest = SIZE_MAX;
    EXPECT_LT(session.threads(), 1024);
    EXPECT_TRUE(session.run(0, batch).ok());
  }
}

// Rows have numbers of 32 bits: one more is no row, however much memory there is. None of this memory is
// touched.
TEST(Memory, NoMoreRowsThanNumbers) {
  dbc::IndexSet index_set(1);
  dbc::IndexArray &rows = index_set.array(0);
  try {
    rows.reserve(size_t(INT32_MAX) + 2);
  } catch (const std::bad_alloc &) {
    GTEST_SKIP() << "8 GiB cannot be had";
  }
  rows.resize(INT32_MAX - 1);
  dbc::push(index_set, 7);
  EXPECT_EQ(index_set.rows(), INT32_MAX);
  EXPECT_THROW(dbc::push(index_set, 7), std::bad_alloc);
  EXPECT_EQ(index_set.rows(), INT32_MAX);
}

} // namespace

#endif
