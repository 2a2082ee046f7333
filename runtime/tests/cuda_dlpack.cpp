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
  EXPECT_EQ(borrow(Tensor(values_, {}, kDLFloat)).message, "toy: the tensor for `value` has 1 rows, not 10");
  EXPECT_EQ(borrow(Tensor(values_, {10, 2}, kDLFloat)).message,
            "toy: the tensor for `value` has 2 numbers a row, not 1");
  EXPECT_EQ(borrow(Tensor(values_, {10}, kDLFloat, kDLVulkan)).message,
            "toy: the tensor for `value` is neither on the host nor on a CUDA device");
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
            "toy: the tensor for `label` must be on the host, which reads it");
  EXPECT_EQ(dbc::borrow_tensor(batch_, Bag, trees, Tensor(ints, {10}, kDLInt)).message,
            "toy: the tensor for `trees` would have to be a list");
  EXPECT_EQ(dbc::borrow_tensor(batch_, Bag, flag, Tensor(ints, {0}, kDLInt)).message,
            "toy: the tensor for `flag` does not hold bools");
  EXPECT_EQ(dbc::borrow_tensor(batch_, 9, 0, strided).message, "toy: there is no such column for a tensor");
}

// What kernels load 16 bytes at a time must lie so, wherever it comes from.
TEST_F(CudaTensors, ThatLieAnywhere) {
  Context context(on_);
  alignas(16) const float numbers[12] = {};
  const float *at = nullptr;
  for (int32_t from : {0, 4, 1, 3, 0}) {
    context.begin({dbc::cuda::input(&at, &numbers[from], 8, 0, /*align=*/16)});
    EXPECT_EQ(at, from % 4 == 0 ? &numbers[from] : nullptr);
    EXPECT_EQ(context.status().message,
              from % 4 == 0 ? ""
                            : "toy: an array in the memory of the device begins at no multiple of 16 bytes, "
                              "which its rows are loaded by");
    context.begin({dbc::cuda::input(&at, &numbers[from], 8, 0)});
    EXPECT_EQ(at, &numbers[from]);
  }
}

} // namespace
