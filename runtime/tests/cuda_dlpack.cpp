// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Tensors of other libraries as columns of a batch.
#include "cuda_models.h"

#include <dbc/cuda/dlpack.h>

namespace {

struct Tensor : DLTensor {
  template <class T>
  Tensor(std::vector<T> &values, std::vector<int64_t> extents, int code, DLDeviceType where = kDLCPU)
      : extents(std::move(extents)) {
    data = values.data();
    device = {where, 0};
    ndim = static_cast<int>(this->extents.size());
    dtype = {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * sizeof(T)), 1};
    shape = this->extents.data();
    strides = nullptr;
    byte_offset = 0;
  }
  std::vector<int64_t> extents;
};

class CudaTensors : public CudaContext {
protected:
  /// Flat arrays of one leaf an input; the values are to come.
  void flat(int32_t inputs) {
    batch_.clear();
    batch_.borrow_inputs(inputs);
    kinds_.assign(inputs, Leaf);
    begin_.resize(inputs + 1);
    roots_.resize(inputs);
    values_.resize(inputs);
    for (int32_t i = 0; i <= inputs; ++i)
      begin_[i] = i;
    for (int32_t i = 0; i < inputs; ++i) {
      roots_[i] = i;
      values_[i] = static_cast<float>(i) / 4;
    }
    ASSERT_TRUE(batch_.borrow_nodes(Tree, kinds_.data(), inputs, begin_.data()));
    Tensor roots(roots_, {inputs}, kDLInt);
    ASSERT_TRUE(dbc::borrow_tensor(batch_, batch_.args(), batch_.arg_column(0, 0), roots).ok());
  }
  Status borrow(const DLTensor &tensor) { return dbc::borrow_tensor(batch_, Tree, value, tensor); }
  std::vector<uint8_t> kinds_;
  std::vector<int32_t> begin_, roots_;
  std::vector<float> values_;
};

// A tensor on the host is copied with the rest, one on the device is used where it lies: the same results.
TEST_F(CudaTensors, OnTheHostAndOnTheDevice) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  dbc::Session in_sub_batches(model_);
  in_sub_batches.compute_on(&context);
  in_sub_batches.limit_sub_batch(30);
  size_t needed = 0;
  for (const DLDeviceType where : {kDLCPU, kDLCUDAHost, kDLCUDA, kDLCUDAManaged}) {
    flat(100);
    ASSERT_TRUE(borrow(Tensor(values_, {100, 1}, kDLFloat, where)).ok());
    const Status status = session.run(0, batch_);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_TRUE(right(session));
    if (where == kDLCPU)
      needed = context.needed_bytes();
    const bool there = where == kDLCUDA || where == kDLCUDAManaged;
    EXPECT_EQ(context.needed_bytes(), there ? needed - dbc::cuda::lines(100 * sizeof(float)) : needed);
    ASSERT_TRUE(in_sub_batches.run(0, batch_).ok());
    EXPECT_TRUE(right(in_sub_batches));
  }
  // Where another device computes, or none does, it cannot be read.
  Tensor elsewhere(values_, {100}, kDLFloat, kDLCUDA);
  elsewhere.device.device_id = 3;
  flat(100);
  ASSERT_TRUE(borrow(elsewhere).ok());
  EXPECT_EQ(session.run(0, batch_).message,
            "toy: an array is in the memory of device 3, the model is on device 0");
  session.compute_on(nullptr);
  EXPECT_EQ(session.run(0, batch_).message,
            "toy: `value` is in the memory of a device, which does not compute");
  session.compute_on(&context);
  flat(100);
  ASSERT_TRUE(borrow(Tensor(values_, {100}, kDLFloat)).ok());
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
}

// Compact strides may be given, and an offset in bytes.
TEST_F(CudaTensors, StridesAndOffset) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  flat(10);
  std::vector<float> more = values_;
  more.insert(more.begin(), {-1, -1});
  Tensor tensor(more, {10, 1, 1}, kDLFloat);
  int64_t strides[] = {1, 7, 1}; // of axes of length 1 they say nothing
  tensor.strides = strides;
  tensor.byte_offset = 2 * sizeof(float);
  ASSERT_TRUE(borrow(tensor).ok());
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_TRUE(right(session));
}

// Anything else is refused in words.
TEST_F(CudaTensors, ThatDoNotFit) {
  flat(10);
  std::vector<double> doubles(10);
  std::vector<int32_t> ints(10);
  EXPECT_EQ(borrow(Tensor(doubles, {10}, kDLFloat)).message,
            "toy: the tensor for `value` does not hold 32-bit floats");
  EXPECT_EQ(borrow(Tensor(ints, {10}, kDLInt)).message,
            "toy: the tensor for `value` does not hold 32-bit floats");
  EXPECT_EQ(borrow(Tensor(values_, {9}, kDLFloat)).message, "toy: the tensor for `value` has 9 rows, not 10");
  EXPECT_EQ(borrow(Tensor(values_, {}, kDLFloat)).message, "toy: the tensor for `value` has 1 row, not 10");
  EXPECT_EQ(borrow(Tensor(values_, {10, 2}, kDLFloat)).message,
            "toy: the tensor for `value` has 2 elements a row, not 1");
  EXPECT_EQ(borrow(Tensor(values_, {10}, kDLFloat, kDLVulkan)).message,
            "toy: the tensor for `value` is neither on the host nor on a CUDA device");
  Tensor odd(values_, {9}, kDLFloat);
  odd.shape[0] = 10;
  odd.byte_offset = 2;
  EXPECT_EQ(borrow(odd).message, "toy: the tensor for `value` begins at no multiple of 4 bytes");
  EXPECT_EQ(borrow(Tensor(values_, {10, -1, -1}, kDLFloat)).message,
            "toy: the tensor for `value` has an axis of length -1");
  Tensor nowhere(values_, {10}, kDLFloat, kDLCUDA);
  nowhere.device.device_id = -1;
  EXPECT_EQ(borrow(nowhere).message, "toy: the tensor for `value` is on device -1");
  Tensor strided(values_, {10}, kDLFloat);
  int64_t two = 2;
  strided.strides = &two;
  EXPECT_EQ(borrow(strided).message, "toy: the tensor for `value` is not compact: stride 2 of axis 0, not 1");
  EXPECT_EQ(dbc::borrow_tensor(batch_, Tree, label, Tensor(ints, {10}, kDLInt, kDLCUDA)).message,
            "toy: the tensor for `label` must be on the host, which reads it: fetch_tensor copies it there");
  EXPECT_EQ(dbc::borrow_tensor(batch_, Bag, trees, Tensor(ints, {10}, kDLInt)).message,
            "toy: the tensor for `trees` would have to be a list");
  EXPECT_EQ(dbc::borrow_tensor(batch_, Bag, flag, Tensor(ints, {0}, kDLInt)).message,
            "toy: the tensor for `flag` does not hold bools");
  EXPECT_EQ(dbc::borrow_tensor(batch_, 9, 0, strided).message, "toy: there is no such column for a tensor");
}

// Structure that lies on the device is fetched, and is then like any other: node references, constructors,
// lists and their bounds.
TEST_F(CudaTensors, FetchedFromTheDevice) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  flat(100);
  std::vector<DLManagedTensor *> fetched;
  const auto fetch = [&](const DLTensor &tensor) -> const DLTensor & {
    DLManagedTensor *copy = nullptr;
    const Status status = dbc::fetch_tensor(context, tensor, &copy);
    EXPECT_TRUE(status.ok()) << status.message;
    fetched.push_back(copy);
    return copy->dl_tensor;
  };
  std::vector<int32_t> offsets(begin_), roots(roots_);
  std::vector<uint8_t> kinds(kinds_);
  const DLTensor &begin = fetch(Tensor(offsets, {101}, kDLInt, kDLCUDA));
  const DLTensor &kind = fetch(Tensor(kinds, {100}, kDLUInt, kDLCUDAManaged));
  const DLTensor &root = fetch(Tensor(roots, {100, 1}, kDLInt, kDLCUDA));
  EXPECT_EQ(root.device.device_type, kDLCPU);
  EXPECT_EQ(root.ndim, 2);
  EXPECT_EQ(root.shape[0], 100);
  EXPECT_EQ(root.shape[1], 1);
  EXPECT_EQ(root.strides, nullptr);
  EXPECT_EQ(root.byte_offset, 0u);
  EXPECT_EQ(root.dtype.code, kDLInt);
  EXPECT_EQ(root.dtype.bits, 32);
  EXPECT_EQ(root.dtype.lanes, 1);
  // It is a copy: what becomes of the device's is not felt.
  std::fill(offsets.begin(), offsets.end(), -1);
  std::fill(kinds.begin(), kinds.end(), uint8_t(9));
  std::fill(roots.begin(), roots.end(), -1);
  batch_.clear();
  batch_.borrow_inputs(100);
  ASSERT_TRUE(batch_.borrow_nodes(Tree, static_cast<const uint8_t *>(kind.data), 100,
                                  static_cast<const int32_t *>(begin.data)));
  ASSERT_TRUE(dbc::borrow_tensor(batch_, batch_.args(), batch_.arg_column(0, 0), root).ok());
  ASSERT_TRUE(borrow(Tensor(values_, {100}, kDLFloat, kDLCUDA)).ok());
  Status status = session.run(0, batch_);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(session.failed(), 0);
  EXPECT_TRUE(right(session));
  // Checked as what the host has: a reference out of its input, an index out of its range.
  std::vector<int32_t> wrong(roots_);
  wrong[7] = 8;
  ASSERT_TRUE(dbc::borrow_tensor(batch_, batch_.args(), batch_.arg_column(0, 0),
                                 fetch(Tensor(wrong, {100}, kDLInt, kDLCUDA)))
                  .ok());
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_EQ(session.failed(), 1);
  EXPECT_EQ(session.status(7).code, Code::bad_input);
  // An offset in bytes is the tensor's own, and what is of any other shape says so afterwards.
  Tensor some(roots_, {10}, kDLInt, kDLCUDA);
  some.byte_offset = 40;
  const DLTensor &later = fetch(some);
  EXPECT_EQ(static_cast<const int32_t *>(later.data)[9], 19);
  EXPECT_EQ(dbc::borrow_tensor(batch_, batch_.args(), batch_.arg_column(0, 0), later).message,
            "toy: the tensor for `t` has 10 rows, not 100");
  EXPECT_EQ(dbc::borrow_tensor(batch_, Tree, value, root).message,
            "toy: the tensor for `value` does not hold 32-bit floats");
  // Of no elements nothing is read.
  std::vector<int32_t> none;
  EXPECT_EQ(fetch(Tensor(none, {0, 5}, kDLInt, kDLCUDA)).shape[1], 5);
  batch_.clear();
  for (DLManagedTensor *copy : fetched)
    copy->deleter(copy);
}

// The copy is waited for, in the order of the application's stream; also while a batch is computed there.
TEST_F(CudaTensors, FetchedInTheOrderOfTheStream) {
  char lent = 0;
  dbc::cuda::ContextOptions options;
  options.stream = gpu.lent = &lent;
  Context context(on_, options);
  dbc::Session session(model_);
  session.compute_on(&context);
  const auto fetch = [&] {
    DLManagedTensor *copy = nullptr;
    const int32_t copies = gpu.copies, waits = gpu.waits;
    const Status status = dbc::fetch_tensor(context, Tensor(roots_, {100}, kDLInt, kDLCUDA), &copy);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(gpu.copies, copies + 1);
    EXPECT_EQ(gpu.waits, waits + 1);
    EXPECT_TRUE(
        std::equal(roots_.begin(), roots_.begin() + 100, static_cast<int32_t *>(copy->dl_tensor.data)));
    copy->deleter(copy);
  };
  flat(100);
  fetch(); // before any run
  ASSERT_TRUE(borrow(Tensor(values_, {100}, kDLFloat)).ok());
  ASSERT_TRUE(session.begin(0, batch_).ok());
  fetch();
  ASSERT_TRUE(session.finish().ok());
  EXPECT_TRUE(right(session));
  // A batch that was too large is no reason.
  gpu.refusing = 0;
  gpu.refusals = 2;
  flat(10000);
  ASSERT_TRUE(borrow(Tensor(values_, {10000}, kDLFloat)).ok());
  EXPECT_EQ(session.run(0, batch_).code, Code::limit);
  fetch();
}

// What cannot be fetched is said in words, and there is no copy then.
TEST_F(CudaTensors, ThatAreNotFetched) {
  Context context(on_);
  std::vector<int32_t> ints(10);
  DLManagedTensor *copy = nullptr;
  const auto said = [&](const DLTensor &tensor, Context *of = nullptr) {
    copy = reinterpret_cast<DLManagedTensor *>(&ints);
    const Status status = dbc::fetch_tensor(of != nullptr ? *of : context, tensor, &copy);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(copy, nullptr);
    return status.message;
  };
  EXPECT_EQ(said(Tensor(ints, {10}, kDLInt)), "toy: the tensor is not on a CUDA device");
  Tensor elsewhere(ints, {10}, kDLInt, kDLCUDA);
  elsewhere.device.device_id = 3;
  EXPECT_EQ(said(elsewhere), "toy: the tensor is in the memory of device 3, the model is on device 0");
  Tensor strided(ints, {5, 1}, kDLInt, kDLCUDA);
  int64_t strides[] = {2, 1};
  strided.strides = strides;
  EXPECT_EQ(said(strided), "toy: the tensor is not compact: stride 2 of axis 0, not 1");
  EXPECT_EQ(said(Tensor(ints, {10, -1}, kDLInt, kDLCUDA)), "toy: the tensor has an axis of length -1");
  EXPECT_EQ(said(Tensor(ints, {INT64_MAX / 2, 4}, kDLInt, kDLCUDA)),
            "toy: the tensor has more elements than there can be");
  Tensor halves(ints, {10}, kDLInt, kDLCUDA);
  halves.dtype.bits = 4;
  EXPECT_EQ(said(halves), "toy: the tensor holds elements that are no whole bytes");
  const Tensor fine(ints, {10}, kDLInt, kDLCUDA);
  const dbc::cuda::Model never;
  Context of_none(never);
  EXPECT_EQ(said(fine, &of_none), "the context's model was never made");
  gpu.no_device = Status::error(Code::limit, "there is no driver");
  EXPECT_EQ(said(fine), "toy: there is no driver");
  EXPECT_EQ(said(fine), "toy: there is no driver");
  gpu.no_device = Status();
  // What the device fails at it does not get over.
  Context failing(on_);
  gpu.failing = 0;
  EXPECT_EQ(said(fine, &failing), "toy: the GPU is on fire");
  EXPECT_EQ(said(fine, &failing), "toy: the GPU is on fire");
  dbc::Session session(model_);
  session.compute_on(&failing);
  flat(10);
  ASSERT_TRUE(borrow(Tensor(values_, {10}, kDLFloat)).ok());
  EXPECT_EQ(session.run(0, batch_).message, "toy: the GPU is on fire");
}

// What kernels load 16 bytes at a time must lie so, wherever it comes from.
TEST_F(CudaTensors, ThatLieAnywhere) {
  Context context(on_);
  alignas(16) const float numbers[12] = {};
  dbc::cuda::Column<float> at;
  for (int32_t from : {0, 4, 1, 3, 0}) {
    context.begin({dbc::cuda::input(&at, &numbers[from], {0, 2}, 4, /*device=*/0, /*align=*/16)});
    EXPECT_EQ(at.data, from % 4 == 0 ? &numbers[from] : nullptr);
    EXPECT_EQ(context.status().message,
              from % 4 == 0 ? ""
                            : "toy: an array in the memory of the device begins at no multiple of 16 bytes, "
                              "which its rows are loaded by");
    context.begin({dbc::cuda::input(&at, &numbers[from], {0, 2}, 4, /*device=*/0)});
    EXPECT_EQ(at.data, &numbers[from]);
  }
}

} // namespace
