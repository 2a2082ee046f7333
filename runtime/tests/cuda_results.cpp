// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Results that stay on the device, also as tensors.
#include "cuda_models.h"

#include <dbc/cuda/dlpack.h>
#include <dbc/generated.h>

namespace {

class CudaResults : public CudaContext {
protected:
  std::vector<float> values(const DLManagedTensor *tensor) {
    const auto *data = static_cast<const float *>(tensor->dl_tensor.data);
    return std::vector<float>(data, data + tensor->dl_tensor.shape[0]);
  }
  std::vector<float> expected(int32_t inputs) {
    std::vector<float> all;
    for (int32_t i = 0; i < inputs; ++i)
      all.push_back(7 * static_cast<float>(i) / 4 + 0.5f);
    return all;
  }
};

// Nothing but what says what was wrong comes to the host, and a tensor stands for itself: neither the next
// run nor the end of the context is felt by it.
TEST_F(CudaResults, StaysAsATensor) {
  DLManagedTensor *tensor = nullptr, *other = nullptr;
  {
    dbc::Session session(model_);
    Context context(on_);
    session.compute_on(&context);
    fill(100);
    gpu.copied = 0;
    ASSERT_TRUE(session.run(0, batch_).ok());
    const size_t with_results = std::exchange(gpu.copied, 0);
    context.keep_results_on_device(true);
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_EQ(gpu.copied + room(100 * sizeof(float)), with_results);
    EXPECT_EQ(session.outputs(0).f32(0), nullptr);
    const size_t before = gpu.bytes;
    ASSERT_TRUE(dbc::get_result_tensor(context, 0, &tensor).ok());
    EXPECT_EQ(gpu.bytes, before + 100 * sizeof(float));
    fill(30, [](int32_t) { return 9.f; });
    ASSERT_TRUE(session.run(0, batch_).ok());
    ASSERT_TRUE(dbc::get_result_tensor(context, 0, &other).ok());
    EXPECT_EQ(values(other), std::vector<float>(30, 63.5f));
    // And back to the host.
    context.keep_results_on_device(false);
    ASSERT_TRUE(session.run(0, batch_).ok());
    EXPECT_TRUE(right(session));
  }
  const DLTensor &made = tensor->dl_tensor;
  EXPECT_EQ(made.device.device_type, kDLCUDA);
  EXPECT_EQ(made.device.device_id, 0);
  EXPECT_EQ(made.ndim, 1);
  EXPECT_EQ(made.strides[0], 1);
  EXPECT_EQ(made.dtype.code, kDLFloat);
  EXPECT_EQ(made.dtype.bits, 32);
  EXPECT_EQ(made.dtype.lanes, 1);
  EXPECT_EQ(values(tensor), expected(100));
  tensor->deleter(tensor);
  other->deleter(other);
  EXPECT_EQ(gpu.bytes, on_.bytes());
}

// Inputs that failed have zeros, whether scheduling or the batch itself was wrong; others stand where they
// would without.
TEST_F(CudaResults, OfInputsThatFailed) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  context.keep_results_on_device(true);
  fill(10);
  for (const int32_t input : {0, 4, 5})
    batch_.fail(input, Status::error(Code::bad_input, "not this one"));
  ASSERT_TRUE(session.run(0, batch_).ok());
  ASSERT_EQ(session.failed(), 3);
  std::vector<float> wanted = expected(10);
  wanted[0] = wanted[4] = wanted[5] = 0;
  DLManagedTensor *tensor = nullptr;
  ASSERT_TRUE(dbc::get_result_tensor(context, 0, &tensor).ok());
  EXPECT_EQ(values(tensor), wanted);
  tensor->deleter(tensor);
}

// What is not there is refused in words.
TEST_F(CudaResults, ThatAreNotThere) {
  dbc::Session session(model_);
  Context context(on_);
  session.compute_on(&context);
  DLManagedTensor *tensor = nullptr;
  EXPECT_EQ(dbc::get_result_tensor(context, 0, &tensor).message, "toy: no results stay on the device");
  fill(35);
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_EQ(dbc::get_result_tensor(context, 0, &tensor).message, "toy: no results stay on the device");
  context.keep_results_on_device(true);
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_EQ(dbc::get_result_tensor(context, 1, &tensor).message, "toy: there is no result number 1");
  EXPECT_EQ(dbc::get_result_tensor(context, -1, &tensor).message, "toy: there is no result number -1");
  gpu.refusing = 0;
  const Status status = dbc::get_result_tensor(context, 0, &tensor);
  EXPECT_EQ(status.code, Code::limit);
  EXPECT_EQ(status.message,
            "toy: not enough memory on the device for a result: 140 bytes are needed, 1234 are available");
  EXPECT_EQ(tensor, nullptr);
  ASSERT_TRUE(dbc::get_result_tensor(context, 0, &tensor).ok()); // the results are still there
  tensor->deleter(tensor);
  // Sub-batches overwrite each other.
  session.limit_sub_batch(10);
  EXPECT_EQ(
      session.run(0, batch_).message,
      "toy: results stay on the device only of a batch that is one sub-batch, not of sub-batches of 10 of 35 "
      "inputs");
  fill(0);
  ASSERT_TRUE(session.run(0, batch_).ok());
  ASSERT_TRUE(dbc::get_result_tensor(context, 0, &tensor).ok());
  EXPECT_EQ(tensor->dl_tensor.shape[0], 0);
  tensor->deleter(tensor);
}

/// Lists of input % 3 numbers, of which rows are 4 numbers apart; with `masked` only rows 1, 4, 5 are active.
class ListPlan : public dbc::EntryPlan {
public:
  void schedule(dbc::Run &run) override {
    elements_.begin();
    for (int32_t i = 0; i < run.input_count; ++i)
      for (int32_t e = 0; e < run.inputs[i] % 3; ++e)
        dbc::push(elements_, i);
    elements_.time_steps.once(elements_.rows());
    run.out.list(0, 0, elements_[0], elements_.rows(), run.inputs, run.input_count);
  }
  void compute(dbc::Run &) override {}
  Status begin_on(dbc::Run &, Context &device) override {
    const int32_t rows = elements_.rows();
    sub_batch_ = device.begin({dbc::cuda::result(&rows_, size_t(rows) * 4)});
    for (int32_t row = 0; row < rows; ++row)
      rows_[4 * row] = static_cast<float>(row + 1);
    device.copy_out();
    return device.status();
  }
  Status finish_on(dbc::Run &run, Context &device) override {
    if (Status status = device.finish(sub_batch_); !status.ok())
      return status;
    if (masked) {
      const uint8_t alive[] = {0, 1, 0, 0, 1, 1, 0, 0, 0};
      elements_.time_steps.mask(0, alive);
      device.keep_active_result(run, 0, rows_, elements_, run.inputs, 1, 4);
    } else {
      run.errors.fail(Tree + 2, 5, "wrong on the device"); // the table of arguments
      device.keep_result(run, 0, rows_, nullptr, elements_.rows(), 1, 4);
    }
    return Status();
  }
  static bool masked;

private:
  dbc::IndexSet elements_{1};
  float *rows_ = nullptr;
  int64_t sub_batch_ = 0;
};
bool ListPlan::masked = false;

// Lists have their offsets on the host. Rows that are padded stay so, and strides tell; elements of an input
// that failed on the device are zeros, and of a masked list there are none but the active ones.
TEST_F(CudaResults, ListsAndPaddedRows) {
  dbc::ModelCode code = device_code();
  code.entries[0].entry = 1;
  code.entries[0].make_plan = dbc::make_plan<ListPlan>;
  const dbc::Model model = device_model(code);
  dbc::cuda::Model on;
  ASSERT_TRUE(dbc::cuda::Model::make(model, 0, &on).ok());
  dbc::Session session(model);
  Context context(on);
  session.compute_on(&context);
  context.keep_results_on_device(true);
  for (const bool masked : {false, true}) {
    ListPlan::masked = masked;
    batch_.clear();
    for (int32_t i = 0; i < 9; ++i) {
      batch_.begin_input();
      batch_.set_empty(batch_.args(), i, batch_.arg_column(1, 0));
    }
    const Status status = session.run(0, batch_);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(session.failed(), masked ? 0 : 1);
    DLManagedTensor *tensor = nullptr;
    ASSERT_TRUE(dbc::get_result_tensor(context, 0, &tensor).ok());
    const DLTensor &made = tensor->dl_tensor;
    std::vector<float> found;
    for (int64_t row = 0; row < made.shape[0]; ++row)
      found.push_back(static_cast<const float *>(made.data)[row * made.strides[0]]);
    EXPECT_EQ(made.strides[0], 4);
    const std::vector<float> whole = {1, 2, 3, 4, 0, 0, 7, 8, 9}, active = {2, 5, 6};
    EXPECT_EQ(found, masked ? active : whole);
    const int32_t *offsets = session.outputs(0).offsets(0, 0);
    const std::vector<int32_t> of_whole = {0, 0, 1, 3, 3, 4, 6, 6, 7, 9},
                               of_active = {0, 0, 0, 1, 1, 1, 3, 3, 3, 3};
    EXPECT_EQ(std::vector<int32_t>(offsets, offsets + 10), masked ? of_active : of_whole);
    tensor->deleter(tensor);
  }
}

} // namespace
