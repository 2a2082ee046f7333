// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model on a device: made, refused and renewed.
#include "cuda_models.h"

namespace {

class CudaModelConstants : public CudaContext {};

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
  gpu = FakeGpu();
  const dbc::Model model = device_model();
  dbc::cuda::Model on;
  const Status status = dbc::cuda::Model::make(model, 1, &on);
  EXPECT_EQ(status.code, Code::bad_call);
  EXPECT_EQ(status.message, "toy: CUDA on the CPU: there is no device 1, only device 0");
  EXPECT_TRUE(on.empty());
  EXPECT_EQ(gpu.streams, 0);
}

// Constants arrive as they are, where there are any, the bias of a matrix in its place; bytes() is what the
// device gave, and all of it goes back.
TEST_F(CudaModelConstants, ConstantsOfAModel) {
  EXPECT_EQ(on_.bytes(), gpu.bytes);
  EXPECT_EQ(on_.bytes(), (3 + 100 + 5) * sizeof(float));
  EXPECT_EQ(on_.device(), 0);
  EXPECT_EQ(&on_.host(), &model_);
  EXPECT_EQ(on_.buffer<float>(0)[2], 0.5f);
  EXPECT_EQ(on_.buffer<float>(1), nullptr);
  EXPECT_EQ(on_.matrix<float>(0)[1], 4);
  EXPECT_EQ(on_.matrix<float>(0)[dbc::cuda::bias_behind(2)], 0.5f);
  EXPECT_EQ(gpu.streams, 0);
  dbc::cuda::Model other = std::move(on_);
  EXPECT_TRUE(on_.empty());
  EXPECT_EQ(other.bytes(), gpu.bytes);
  other = dbc::cuda::Model();
  EXPECT_EQ(gpu.bytes, 0u);
}

// A model that does not fit says so, leaves nothing behind, and can be made when there is room.
TEST_F(CudaModelConstants, ModelsWithoutMemory) {
  on_ = dbc::cuda::Model();
  for (int32_t granted = 0; granted < 3; ++granted) {
    gpu.refusing = granted;
    const Status status = dbc::cuda::Model::make(model_, 0, &on_);
    EXPECT_EQ(status.code, Code::limit);
    EXPECT_EQ(status.message,
              "toy: not enough memory on the device for the model: 432 bytes are needed, 1234 "
              "are available");
    EXPECT_TRUE(on_.empty());
    EXPECT_EQ(gpu.bytes, 0u);
    EXPECT_EQ(gpu.streams, 0);
  }
  EXPECT_TRUE(dbc::cuda::Model::make(model_, 0, &on_).ok());
}

// What a renewed model has become is copied into the memory that there is; before, no context computes with
// what it was.
TEST_F(CudaModelConstants, RenewedModels) {
  dbc::Model model = device_model();
  dbc::cuda::Model on;
  EXPECT_EQ(on.renew().code, Code::bad_call);
  ASSERT_TRUE(dbc::cuda::Model::make(model, 0, &on).ok());
  Context context(on);
  dbc::Session session(model);
  session.compute_on(&context);
  fill(3);
  EXPECT_TRUE(session.run(0, batch_).ok() && right(session));

  dbc::Weights weights(info());
  const float numbers[2] = {3, 4}, bias = 2;
  must(weights.set("W", numbers, 2));
  must(weights.set("b", &bias, 1));
  ASSERT_TRUE(model.renew(weights).ok());
  EXPECT_FALSE(on.is_current());
  EXPECT_EQ(
      session.run(0, batch_).message,
      "toy: the model was made anew, and the context's is as it was before: dbc::cuda::Model::renew takes "
      "it over");

  const int32_t allocations = gpu.allocations;
  const size_t bytes = on.bytes();
  ASSERT_TRUE(on.renew().ok());
  EXPECT_TRUE(on.is_current());
  EXPECT_EQ(gpu.allocations, allocations);
  EXPECT_EQ(on.bytes(), bytes);
  ASSERT_TRUE(session.run(0, batch_).ok());
  EXPECT_EQ(session.outputs(0).f32(0)[1], 7 * 0.25f + 2);

  gpu.failing = 0;
  EXPECT_EQ(on.renew().code, Code::internal);
  EXPECT_FALSE(on.is_current()); // what is there nobody knows
}

} // namespace
