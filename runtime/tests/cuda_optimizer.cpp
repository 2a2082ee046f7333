// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// An optimizer on a device beside the host's: the same weights, step by step, and a model of them.
#include "cuda_models.h"

#include <dbc/cuda/optimizer.h>
#include <dbc/cuda/optimizer_kernels.h>
#include <dbc/optimizer.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace {

using dbc::Outputs;
using dbc::Weights;
using Kind = dbc::OptimizerOptions::Kind;

enum Param : int32_t { Table, Weight, Bias, Frozen };
constexpr int32_t kRows = 30, kWidth = 70, kOutputs = 40, kInputs = 50;

const dbc::ModelInfo &trained_info() {
  static const dbc::ModelInfo *made = [] {
    auto *m = new dbc::ModelInfo;
    m->name = "trained";
    const auto add = [&](const char *name, std::vector<int64_t> extents) {
      dbc::ParamInfo p;
      p.name = name;
      p.extents = std::move(extents);
      m->params.push_back(p);
    };
    add("table", {kRows, kWidth});
    add("weight", {kOutputs, kInputs});
    add("bias", {kOutputs});
    add("frozen", {5});
    dbc::EntryInfo loss;
    loss.name = "loss";
    loss.result.elem = dbc::Elem::F32;
    loss.gradients = {Table, Weight, Bias, Frozen};
    m->entries = {loss};
    return m;
  }();
  return *made;
}

const dbc::cuda::Backend &training() { return dbc::cuda::backend_that_trains<float>(counting()); }

dbc::ModelCode code_of(void (*make_model)(const Weights &, dbc::Model &)) {
  dbc::ModelCode code;
  code.info = &trained_info();
  code.f64 = false;
  code.make_model = make_model;
  code.cuda = training;
  return code;
}

/// A table as it is; a matrix and its transpose for products; the same for tensor cores, rounded.
const dbc::ModelCode &trained_code() {
  static const dbc::ModelCode made = code_of([](const Weights &weights, dbc::Model &model) {
    model.add_param<float>(0, weights, Table);
    dbc::cuda::lay_out_submatrices<float>(model, 0, weights, {{Weight, kOutputs, kInputs, 0, 0}},
                                          {kOutputs, kInputs, Bias});
    dbc::cuda::lay_out_submatrices<float>(
        model, 1, weights, {{Weight, kInputs, kOutputs, 0, 0, 0, 0, /*turned=*/true}}, {kInputs, kOutputs});
    dbc::cuda::lay_out_fragments(model, 2, weights, {{Weight, kOutputs, kInputs, 0, 0}},
                                 {kOutputs, kInputs, Bias}, 3, {20, 30}, dbc::cuda::Math::tf32);
  });
  return made;
}

/// Gradients of a step: dense ones, and of some rows of the table.
struct Given {
  std::vector<int32_t> rows;
  std::vector<float> numbers[4];

  explicit Given(uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int32_t row = 0; row < kRows; ++row)
      if (random() % 3 == 0)
        rows.push_back(row);
    const size_t sizes[] = {rows.size() * kWidth, kOutputs * kInputs, kOutputs, 5};
    for (int32_t param = 0; param < 4; ++param)
      for (size_t n = 0; n < sizes[param]; ++n)
        numbers[param].push_back(normal(random));
  }
  void leave(Outputs &outputs) const {
    outputs.prepare(trained_info().entries[0], false);
    outputs.begin(1);
    std::copy(numbers[Table].begin(), numbers[Table].end(),
              outputs.sparse_gradient<float>(Table, rows.data(), static_cast<int32_t>(rows.size()), kWidth));
    for (int32_t param : {Weight, Bias, Frozen})
      std::copy(numbers[param].begin(), numbers[param].end(),
                outputs.gradient<float>(param, numbers[param].size()));
  }
  /// In another order than that of the parameters.
  void leave(Context &context) const {
    context.begin({});
    for (int32_t param : {Frozen, Bias, Weight})
      context.keep_gradient(param, numbers[param].data(), numbers[param].size());
    context.keep_gradient(Table, numbers[Table].data(), numbers[Table].size(),
                          {rows.data(), static_cast<int32_t>(rows.size()), kWidth});
  }
};

class CudaOptimizer : public ::testing::Test {
protected:
  void SetUp() override {
    gpu = FakeGpu();
    weights_.draw(3);
    ASSERT_TRUE(dbc::Model::make(trained_code(), weights_, &model_).ok());
    ASSERT_TRUE(dbc::cuda::Model::make(model_, 0, &on_).ok());
  }
  static dbc::Optimizer optimizer(const dbc::OptimizerOptions &options) {
    dbc::Optimizer made(options);
    made.freeze(Frozen);
    made.set_lr_scale(Weight, 0.5F);
    made.set_weight_decay(Bias, 0);
    return made;
  }
  /// How far the weights of one are from those of the other.
  static double distance(const Weights &a, const Weights &b) {
    double most = 0;
    for (int32_t param = 0; param < a.count(); ++param)
      for (size_t n = 0; n < a.size(param); ++n)
        most = std::max(most, std::abs(double(a.data(param)[n]) - double(b.data(param)[n])));
    return most;
  }
  /// Whether the model on the device has the bits of one that is made of these weights.
  bool is_model_of(const Weights &weights) {
    dbc::Model fresh;
    EXPECT_TRUE(dbc::Model::make(trained_code(), weights, &fresh).ok());
    bool same =
        std::memcmp(on_.buffer<float>(0), fresh.raw_buffer(0).data(), fresh.raw_buffer(0).size()) == 0;
    for (int32_t n = 0; n < fresh.matrices(); ++n)
      same &= std::memcmp(on_.matrix<float>(n), fresh.raw_matrix(n).data(), fresh.raw_matrix(n).size()) == 0;
    return same;
  }

  Weights weights_{trained_info()};
  dbc::Model model_;
  dbc::cuda::Model on_;
};

// Every kind, with and without decay and lazy rows, gives the host's bits; where gradients are clipped, but
// for the order in which squares are added. A training goes on on the host with what the device kept, and
// back.
TEST_F(CudaOptimizer, StepsAreTheHosts) {
  for (Kind kind : {Kind::Sgd, Kind::Adagrad, Kind::Adam, Kind::AdamW})
    for (float momentum : {0.F, 0.9F})
      for (float decay : {0.F, 0.1F})
        for (bool lazy : {false, true})
          for (float clip : {0.F, 1.F}) {
            if (kind != Kind::Sgd && momentum != 0)
              continue;
            dbc::OptimizerOptions options;
            options.kind = kind;
            options.lr = 0.1F;
            options.momentum = momentum;
            options.nesterov = lazy && momentum != 0;
            options.weight_decay = decay;
            options.lazy_rows = lazy;
            options.clip_norm = clip;
            SCOPED_TRACE(std::string(name_of(kind)) + (lazy ? ", lazy" : "") + ", momentum " +
                         std::to_string(momentum) + ", decay " + std::to_string(decay) + ", clip " +
                         std::to_string(clip));
            Weights expected{trained_info()}, fetched{trained_info()};
            expected.draw(3);
            fetched.draw(4);
            dbc::Optimizer host = optimizer(options), moved = optimizer(options);
            Context context(on_);
            for (uint32_t step = 0; step < 4; ++step) {
              std::unique_ptr<dbc::cuda::Optimizer> device;
              ASSERT_TRUE(
                  dbc::cuda::Optimizer::make(on_, model_, step == 0 ? weights_ : fetched, moved, &device)
                      .ok());
              for (uint32_t twice : {0U, 1U}) {
                const Given given(2 * step + twice);
                Outputs outputs;
                given.leave(outputs);
                given.leave(context);
                ASSERT_TRUE(host.step(expected, outputs).ok());
                const Status status = device->step(context);
                ASSERT_TRUE(status.ok()) << status.message;
              }
              ASSERT_TRUE(device->fetch(fetched).ok());
              EXPECT_LE(distance(expected, fetched), clip > 0 ? 1e-6 : 0);
              EXPECT_TRUE(is_model_of(fetched));
              EXPECT_EQ(moved.steps(), host.steps());
              EXPECT_EQ(moved.state(Weight).steps, host.state(Weight).steps);
            }
          }
}

// What cannot be done changes nothing, and is said as the host's optimizer says it.
TEST_F(CudaOptimizer, RefusedSteps) {
  dbc::OptimizerOptions options;
  dbc::Optimizer moved = optimizer(options);
  std::unique_ptr<dbc::cuda::Optimizer> device;
  ASSERT_TRUE(dbc::cuda::Optimizer::make(on_, model_, weights_, moved, &device).ok());
  Context context(on_);
  context.begin({});
  EXPECT_EQ(
      device->step(context).message,
      "trained: there is no gradient on the device: the last run of the loss failed, was none, or was to "
      "leave none there");
  Given given(1);
  given.numbers[Bias][7] = std::numeric_limits<float>::quiet_NaN();
  given.numbers[Frozen][0] = std::numeric_limits<float>::infinity();
  given.leave(context);
  EXPECT_EQ(device->step(context).message, "trained: the gradient of `bias` is not finite");
  given.numbers[Table][3] = std::numeric_limits<float>::infinity();
  given.leave(context);
  EXPECT_EQ(device->step(context).message, "trained: the gradient of `table` is not finite");

  moved.options().clip_norm = 1;
  Given large(2);
  for (float &number : large.numbers[Weight])
    number = 3e38F;
  large.leave(context);
  EXPECT_EQ(device->step(context).message, "trained: the norm of the gradients is beyond what a float holds; "
                                           "they cannot be clipped to one");
  moved.options().lr = -1;
  large.leave(context);
  EXPECT_EQ(device->step(context).message,
            "trained: the learning rate must be finite and at least 0, not -1");
  Weights fetched{trained_info()};
  ASSERT_TRUE(device->fetch(fetched).ok());
  EXPECT_EQ(distance(weights_, fetched), 0);
  EXPECT_TRUE(is_model_of(weights_));
  EXPECT_EQ(moved.steps(), 0);
}

// Weights that the model was given otherwise are not undone by a step: whether they come from the host, or
// with another optimizer. One that is made again goes on from them.
TEST_F(CudaOptimizer, OtherWeightsOnTheDevice) {
  dbc::OptimizerOptions options;
  dbc::Optimizer moved = optimizer(options);
  std::unique_ptr<dbc::cuda::Optimizer> device, another;
  ASSERT_TRUE(dbc::cuda::Optimizer::make(on_, model_, weights_, moved, &device).ok());
  Context context(on_);
  const Given given(1);
  given.leave(context);
  ASSERT_TRUE(device->step(context).ok());

  weights_.draw(8);
  ASSERT_TRUE(model_.renew(weights_).ok());
  ASSERT_TRUE(on_.renew().ok());
  given.leave(context);
  const char *refused =
      "trained: the model on the device has been given other weights; make the optimizer again";
  EXPECT_EQ(device->step(context).message, refused);
  EXPECT_TRUE(is_model_of(weights_));

  ASSERT_TRUE(dbc::cuda::Optimizer::make(on_, model_, weights_, moved, &device).ok());
  ASSERT_TRUE(dbc::cuda::Optimizer::make(on_, model_, weights_, moved, &another).ok());
  given.leave(context);
  EXPECT_EQ(device->step(context).message, refused);
  given.leave(context);
  EXPECT_TRUE(another->step(context).ok());
}

// A model of which something is computed of weights cannot be trained there, and says so; nor one without
// kernels for it, nor with other weights.
TEST_F(CudaOptimizer, ModelsThatCannotBeTrained) {
  static const dbc::ModelCode computed = code_of([](const Weights &weights, dbc::Model &model) {
    model.add_buffer<float>(0, 1)[0] = 2 * weights.data(Bias)[0];
  });
  dbc::Optimizer moved = optimizer({});
  std::unique_ptr<dbc::cuda::Optimizer> device;
  dbc::Model model;
  dbc::cuda::Model on;
  ASSERT_TRUE(dbc::Model::make(computed, weights_, &model).ok());
  ASSERT_TRUE(dbc::cuda::Model::make(model, 0, &on).ok());
  EXPECT_EQ(dbc::cuda::Optimizer::make(on, model, weights_, moved, &device).message,
            "trained: something is computed of its weights once for all runs");
  EXPECT_EQ(dbc::cuda::Optimizer::make(on_, model, weights_, moved, &device).message,
            "there is no model on a device, or it is of another model");
  Weights others(info());
  EXPECT_EQ(dbc::cuda::Optimizer::make(on_, model_, others, moved, &device).message,
            "trained: the weights are of another model, toy");
  dbc::Model plain = device_model();
  ASSERT_TRUE(dbc::cuda::Model::make(plain, 0, &on).ok());
  others.draw(1);
  EXPECT_EQ(dbc::cuda::Optimizer::make(on, plain, others, moved, &device).message,
            "toy: the model was compiled without losses for a device");
}

// Memory that is not there is a limit, and nothing is left behind.
TEST_F(CudaOptimizer, WithoutMemory) {
  dbc::OptimizerOptions options;
  options.kind = Kind::Adam;
  const size_t before = gpu.bytes;
  for (int32_t granted = 0; granted < 8; ++granted) {
    dbc::Optimizer moved = optimizer(options);
    std::unique_ptr<dbc::cuda::Optimizer> device;
    gpu.refusing = granted;
    EXPECT_EQ(dbc::cuda::Optimizer::make(on_, model_, weights_, moved, &device).code, Code::limit) << granted;
    EXPECT_EQ(device, nullptr);
    EXPECT_EQ(gpu.bytes, before);
    EXPECT_EQ(gpu.streams, 0);
  }
}

} // namespace
