// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Optimizers against torch.optim. The numbers that weights are compared with are those of PyTorch 2.15.0,
// with parameters of float32 on the CPU, the same weights and gradients, and the options that stand beside
// them; they are printed with 9 digits.
#include <dbc/optimizer.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

using dbc::Code;
using dbc::Optimizer;
using dbc::OptimizerOptions;
using dbc::Outputs;
using dbc::Status;
using dbc::Weights;
using Kind = OptimizerOptions::Kind;
using Numbers = std::vector<float>;

enum Param : int32_t { W, V, None };

constexpr int kSteps = 5;
const Numbers kW = {0.5F, -1.25F, 2.0F, -0.75F}, kV = {1.5F, -0.5F}, kNone = {3.0F};
const Numbers kGradientsW[kSteps] = {{0.1F, -0.2F, 0.3F, 0.4F},
                                     {-0.5F, 0.25F, 0.125F, -0.6F},
                                     {0.7F, 0.05F, -0.9F, 0.3F},
                                     {0.2F, -0.15F, 0.45F, -0.35F},
                                     {-0.3F, 0.6F, 0.2F, 0.8F}};
const Numbers kGradientsV[kSteps] = {
    {0.3F, -0.1F}, {2.0F, 1.0F}, {-0.05F, 0.2F}, {0.6F, -0.7F}, {0.01F, 0.02F}};

/// Three parameters, the last of which no loss gives a gradient of.
const dbc::ModelInfo &info() {
  static const dbc::ModelInfo *made = [] {
    auto *m = new dbc::ModelInfo;
    m->name = "toy";
    const auto add = [&](const char *name, const Numbers &numbers) {
      dbc::ParamInfo p;
      p.name = name;
      p.extents = {static_cast<int64_t>(numbers.size())};
      m->params.push_back(p);
    };
    add("weight", kW);
    add("vector", kV);
    add("unused", kNone);
    dbc::EntryInfo loss;
    loss.name = "loss";
    loss.result.elem = dbc::Elem::F32;
    loss.gradients = {W, V};
    m->entries = {loss};
    return m;
  }();
  return *made;
}

/// Weights, and outputs with gradients as a run leaves them, of float or double.
struct Training {
  Weights weights{info()};
  Outputs outputs;
  bool f64;

  explicit Training(bool f64 = false) : f64(f64) {
    EXPECT_TRUE(weights.set("weight", kW.data(), kW.size()).ok());
    EXPECT_TRUE(weights.set("vector", kV.data(), kV.size()).ok());
    EXPECT_TRUE(weights.set("unused", kNone.data(), kNone.size()).ok());
    outputs.prepare(info().entries[0], f64);
  }
  void give(int32_t param, const Numbers &gradient) {
    if (f64)
      std::copy(gradient.begin(), gradient.end(), outputs.gradient<double>(param, gradient.size()));
    else
      std::copy(gradient.begin(), gradient.end(), outputs.gradient<float>(param, gradient.size()));
  }
  Status step(Optimizer &optimizer, int number, bool with_v = true) {
    give(W, kGradientsW[number]);
    if (with_v)
      give(V, kGradientsV[number]);
    return optimizer.step(weights, outputs);
  }
  void steps(Optimizer &optimizer, bool with_v = true) {
    for (int s = 0; s < kSteps; ++s) {
      const Status status = step(optimizer, s, with_v);
      EXPECT_TRUE(status.ok()) << status.message;
    }
    EXPECT_EQ(optimizer.steps(), kSteps);
  }
  Numbers of(int32_t param) const {
    return Numbers(weights.data(param), weights.data(param) + weights.size(param));
  }
  /// All weights, to compare bits.
  Numbers all() const {
    Numbers numbers;
    for (int32_t p = 0; p < weights.count(); ++p)
      numbers.insert(numbers.end(), weights.data(p), weights.data(p) + weights.size(p));
    return numbers;
  }
};

void near(const Numbers &weights, const Numbers &expected, const std::string &what) {
  ASSERT_EQ(weights.size(), expected.size()) << what;
  for (size_t i = 0; i < weights.size(); ++i)
    EXPECT_NEAR(weights[i], expected[i], 1e-6 * std::fabs(expected[i])) << what << " " << i;
}

bool same_bits(const Numbers &a, const Numbers &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

OptimizerOptions with(Kind kind, float weight_decay = 0) {
  OptimizerOptions o;
  o.kind = kind;
  o.lr = 0.1F;
  o.weight_decay = weight_decay;
  if (kind == Kind::Adagrad)
    o.epsilon = 1e-10F;
  return o;
}

OptimizerOptions sgd(float momentum, bool nesterov, float weight_decay = 0) {
  OptimizerOptions o = with(Kind::Sgd, weight_decay);
  o.momentum = momentum;
  o.nesterov = nesterov;
  return o;
}

OptimizerOptions other_betas(Kind kind, float weight_decay) {
  OptimizerOptions o = with(kind, weight_decay);
  o.beta1 = 0.8F;
  o.beta2 = 0.95F;
  o.epsilon = 1e-3F;
  return o;
}

struct Case {
  const char *name;
  OptimizerOptions options;
  Numbers expected; ///< `weight` after five steps
};

const std::vector<Case> &cases() {
  static const auto *made = new std::vector<Case>{
      {"SGD(lr=.1)", sgd(0, false), {0.480000019F, -1.30500007F, 1.98249984F, -0.805000007F}},
      {"SGD(lr=.1, weight_decay=.1)",
       sgd(0, false, 0.1F),
       {0.45599699F, -1.24383354F, 1.88469255F, -0.76820147F}},
      {"SGD(lr=.1, momentum=.9)", sgd(0.9F, false), {0.433299005F, -1.29912293F, 1.97255957F, -0.802264035F}},
      {"SGD(lr=.1, momentum=.9, weight_decay=.1)",
       sgd(0.9F, false, 0.1F),
       {0.369181156F, -1.13978016F, 1.71908438F, -0.703791559F}},
      {"SGD(lr=.1, momentum=.9, nesterov=True)",
       sgd(0.9F, true),
       {0.419969112F, -1.34921074F, 1.95780337F, -0.852037549F}},
      {"SGD(lr=.1, momentum=.9, nesterov=True, weight_decay=.1)",
       sgd(0.9F, true, 0.1F),
       {0.340353727F, -1.14894497F, 1.63964331F, -0.727768004F}},
      {"Adagrad(lr=.1)", with(Kind::Adagrad), {0.426707327F, -1.28744256F, 1.89445257F, -0.832597971F}},
      {"Adagrad(lr=.1, weight_decay=.1)",
       with(Kind::Adagrad, 0.1F),
       {0.412195981F, -1.18326616F, 1.8344543F, -0.803123474F}},
      {"Adam(lr=.1)", with(Kind::Adam), {0.394219071F, -1.22419345F, 1.83975828F, -0.83922559F}},
      {"Adam(lr=.1, weight_decay=.1)",
       with(Kind::Adam, 0.1F),
       {0.358097434F, -1.03033745F, 1.7322824F, -0.7756989F}},
      {"Adam(lr=.1, betas=(.8, .95), eps=1e-3)",
       other_betas(Kind::Adam, 0),
       {0.391705215F, -1.2406199F, 1.84758043F, -0.835154116F}},
      {"Adam(lr=.1, betas=(.8, .95), eps=1e-3, weight_decay=.1)",
       other_betas(Kind::Adam, 0.1F),
       {0.356519848F, -1.04781067F, 1.74126887F, -0.772821963F}},
      {"AdamW(lr=.1, weight_decay=0)",
       with(Kind::AdamW),
       {0.394219071F, -1.22419345F, 1.83975828F, -0.83922559F}},
      {"AdamW(lr=.1, weight_decay=.1)",
       with(Kind::AdamW, 0.1F),
       {0.372689009F, -1.16602325F, 1.74762058F, -0.799313128F}}};
  return *made;
}

TEST(Optimizer, StepsAsTorchDoes) {
  for (const Case &c : cases()) {
    Training training;
    Optimizer optimizer(c.options);
    training.steps(optimizer, /*with_v=*/false);
    near(training.of(W), c.expected, c.name);
  }
}

/// A model of doubles gives gradients of doubles; weights stay float. Gradients that are floats give the same
/// bits.
TEST(Optimizer, GradientsOfDoubles) {
  for (const Case &c : cases()) {
    Training narrow, wide(/*f64=*/true);
    Optimizer of_narrow(c.options), of_wide(c.options);
    narrow.steps(of_narrow);
    wide.steps(of_wide);
    near(wide.of(W), c.expected, c.name);
    EXPECT_TRUE(same_bits(wide.all(), narrow.all())) << c.name;
  }
}

/// A parameter without a gradient stays as it is, whatever the weight decay.
TEST(Optimizer, ParametersWithoutAGradientStay) {
  for (const Case &c : cases()) {
    Training training;
    Optimizer optimizer(c.options);
    training.steps(optimizer, /*with_v=*/false);
    EXPECT_TRUE(same_bits(training.of(V), kV)) << c.name;
    EXPECT_TRUE(same_bits(training.of(None), kNone)) << c.name;
  }
}

/// A schedule changes the learning rate between steps: torch's ExponentialLR, gamma=.5.
TEST(Optimizer, OptionsChangeBetweenSteps) {
  Training training;
  Optimizer optimizer(with(Kind::Adam));
  for (int s = 0; s < kSteps; ++s) {
    EXPECT_TRUE(training.step(optimizer, s, /*with_v=*/false).ok());
    optimizer.options().lr *= 0.5F;
  }
  near(training.of(W), {0.419202F, -1.16544461F, 1.86360407F, -0.838613093F}, "Adam(lr=.1)");
}

/// A parameter's first step is its own: where it gets its first gradient later than others do, its state
/// begins then.
TEST(Optimizer, AParametersStepsAreItsOwn) {
  for (const Case &c : cases()) {
    Training late, alone;
    Optimizer of_late(c.options), of_alone(c.options);
    late.give(V, kGradientsV[0]);
    EXPECT_TRUE(of_late.step(late.weights, late.outputs).ok());
    for (int s = 0; s < kSteps; ++s) {
      EXPECT_TRUE(late.step(of_late, s).ok());
      EXPECT_TRUE(alone.step(of_alone, s, /*with_v=*/false).ok());
    }
    EXPECT_TRUE(same_bits(late.of(W), alone.of(W))) << c.name;
    EXPECT_EQ(of_late.steps(), kSteps + 1);
  }
}

/// The norm is that of all gradients together, as torch.nn.utils.clip_grad_norm_([weight, vector], max_norm)
/// has it; with a norm of 5 no gradient is scaled. Weight decay comes after it.
TEST(Optimizer, ClipsTheNormOfAllGradients) {
  struct Clip {
    const char *name;
    OptimizerOptions options;
    float norm;
    Numbers w, v;
  };
  const Clip clips[] = {{"max_norm=.5, SGD(lr=.1, momentum=.9)",
                         sgd(0.9F, false),
                         0.5F,
                         {0.421522737F, -1.22433639F, 1.94783151F, -0.877904892F},
                         {1.21262848F, -0.503506601F}},
                        {"max_norm=5, SGD(lr=.1, momentum=.9)",
                         sgd(0.9F, false),
                         5,
                         {0.433299005F, -1.29912293F, 1.97255957F, -0.802264035F},
                         {0.587897003F, -0.726148963F}},
                        {"max_norm=.5, SGD(lr=.1, weight_decay=.1)",
                         sgd(0, false, 0.1F),
                         0.5F,
                         {0.454644084F, -1.2022208F, 1.88404369F, -0.765733123F},
                         {1.33789563F, -0.466216922F}}};
  for (const Clip &c : clips)
    for (bool f64 : {false, true}) {
      Training training(f64);
      Optimizer optimizer(c.options);
      optimizer.options().clip_norm = c.norm;
      training.steps(optimizer);
      near(training.of(W), c.w, c.name);
      near(training.of(V), c.v, c.name);
    }
}

/// A gradient of zeros has a norm of 0, which nothing is divided by.
TEST(Optimizer, ClipsZeros) {
  Training training;
  Optimizer optimizer(sgd(0, false));
  optimizer.options().clip_norm = 0.5F;
  training.give(W, Numbers(kW.size(), 0.0F));
  EXPECT_TRUE(optimizer.step(training.weights, training.outputs).ok());
  EXPECT_TRUE(same_bits(training.of(W), kW));
}

/// What has no norm cannot be clipped, and is not taken for nothing.
TEST(Optimizer, DoesNotClipToAnInfiniteNorm) {
  Training training;
  Optimizer optimizer(sgd(0, false));
  optimizer.options().clip_norm = 0.5F;
  training.give(W, Numbers(kW.size(), 3e38F));
  const Status status = optimizer.step(training.weights, training.outputs);
  EXPECT_EQ(status.code, Code::bad_call);
  EXPECT_NE(status.message.find("the norm of the gradients is beyond what a float holds"), std::string::npos)
      << status.message;
  EXPECT_TRUE(same_bits(training.of(W), kW));
  EXPECT_EQ(optimizer.steps(), 0);
  EXPECT_EQ(optimizer.step(training.weights, training.outputs, INFINITY).code, Code::bad_call);
  // What is not clipped needs no norm.
  optimizer.options().clip_norm = 0;
  EXPECT_TRUE(optimizer.step(training.weights, training.outputs, INFINITY).ok());
}

/// A frozen parameter stays as it is and does not count in the norm: torch's with `weight` alone.
TEST(Optimizer, FrozenParametersStay) {
  Training training;
  Optimizer optimizer(sgd(0, false));
  optimizer.options().clip_norm = 0.5F;
  optimizer.freeze(V);
  training.steps(optimizer);
  near(training.of(W), {0.489395231F, -1.26510322F, 1.95766163F, -0.772577465F}, "max_norm=.5, SGD(lr=.1)");
  EXPECT_TRUE(same_bits(training.of(V), kV));
  // Nor does what is in its gradient matter.
  training.give(V, {NAN, INFINITY});
  EXPECT_TRUE(optimizer.step(training.weights, training.outputs).ok());
  EXPECT_TRUE(same_bits(training.of(V), kV));
  // It can be thawed.
  optimizer.freeze(V, false);
  EXPECT_TRUE(training.step(optimizer, 0).ok());
  EXPECT_FALSE(same_bits(training.of(V), kV));
}

/// A weight decay of a parameter is in place of that of the options: torch's with a group for each parameter,
/// AdamW(lr=.1), weight_decay=.1 and 0.
TEST(Optimizer, WeightDecayOfOneParameter) {
  const Numbers w = {0.372689009F, -1.16602325F, 1.74762058F, -0.799313128F},
                v = {1.13149238F, -0.550588965F};
  Training less, more;
  Optimizer of_less(with(Kind::AdamW, 0.1F)), of_more(with(Kind::AdamW, 0));
  of_less.set_weight_decay(V, 0);
  less.steps(of_less);
  of_more.set_weight_decay(W, 0.1F);
  more.steps(of_more);
  for (const Training *training : {&less, &more}) {
    near(training->of(W), w, "weight");
    near(training->of(V), v, "vector");
  }
}

/// The learning rate of a parameter is that of the options times a factor: torch's with a group for `vector`
/// with lr=.025, which is .1 * .25. AdamW's weight decay goes by it too.
TEST(Optimizer, LearningRateOfOneParameter) {
  struct Rate {
    OptimizerOptions options;
    Numbers w, v;
  };
  const Rate rates[] = {{sgd(0.9F, false),
                         {0.433299005F, -1.29912293F, 1.97255957F, -0.802264035F},
                         {1.27197421F, -0.556537271F}},
                        {with(Kind::AdamW, 0.1F),
                         {0.372689009F, -1.16602325F, 1.74762058F, -0.799313128F},
                         {1.3897419F, -0.506465733F}}};
  for (const Rate &rate : rates) {
    Training training;
    Optimizer optimizer(rate.options);
    optimizer.set_lr_scale(V, 0.25F);
    training.steps(optimizer);
    near(training.of(W), rate.w, "weight");
    near(training.of(V), rate.v, "vector");
  }
}

/// Options out of their range are refused by name, before anything changes.
TEST(Optimizer, OptionsOutOfRange) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto says = [](const OptimizerOptions &o, float lr_scale = 1, float weight_decay = -1) {
    Training training;
    Optimizer optimizer(o);
    optimizer.set_lr_scale(V, lr_scale);
    optimizer.set_weight_decay(V, weight_decay);
    const Numbers before = training.all();
    const Status status = training.step(optimizer, 0);
    EXPECT_EQ(status.code, Code::bad_call);
    EXPECT_TRUE(same_bits(training.all(), before));
    EXPECT_EQ(optimizer.steps(), 0);
    return status.message;
  };
  const auto changed = [](Kind kind, float OptimizerOptions::*option, float value) {
    OptimizerOptions o = with(kind);
    o.*option = value;
    return o;
  };
  using O = OptimizerOptions;
  EXPECT_EQ(says(changed(Kind::Sgd, &O::lr, -0.5F)),
            "toy: the learning rate must be finite and at least 0, not -0.5");
  EXPECT_EQ(says(changed(Kind::Sgd, &O::lr, nan)),
            "toy: the learning rate must be finite and at least 0, not nan");
  EXPECT_EQ(says(changed(Kind::Sgd, &O::momentum, -1)),
            "toy: the momentum must be finite and at least 0, not -1");
  EXPECT_EQ(says(changed(Kind::Adagrad, &O::weight_decay, -1)),
            "toy: the weight decay must be finite and at least 0, not -1");
  EXPECT_EQ(says(changed(Kind::Adagrad, &O::clip_norm, nan)),
            "toy: the norm that gradients are clipped to must be finite and at least 0, not nan");
  EXPECT_EQ(says(changed(Kind::Adagrad, &O::epsilon, 0)), "toy: epsilon must be finite and above 0, not 0");
  EXPECT_EQ(says(changed(Kind::Adam, &O::beta1, 1)), "toy: beta1 must be at least 0 and below 1, not 1");
  EXPECT_EQ(says(changed(Kind::AdamW, &O::beta2, -0.5F)),
            "toy: beta2 must be at least 0 and below 1, not -0.5");
  EXPECT_EQ(says(with(Kind::Sgd), -1), "toy: the learning rate of `vector` is negative or not finite");
  EXPECT_EQ(says(with(Kind::Sgd), nan), "toy: the learning rate of `vector` is negative or not finite");
  EXPECT_EQ(says(with(Kind::Sgd), 1, nan), "toy: the weight decay of `vector` is not finite");
}

/// An infinite weight, as of a mask, stays infinite under a gradient of 0: 0 times it is not added.
TEST(Optimizer, InfiniteWeightsStay) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Case &c : cases()) {
    if (c.options.weight_decay != 0 && c.options.kind != Kind::AdamW)
      continue;
    Training training;
    training.weights.data(W)[1] = -infinity;
    training.give(W, {1, 0, 1, 1});
    Optimizer optimizer(c.options);
    ASSERT_TRUE(optimizer.step(training.weights, training.outputs).ok());
    EXPECT_EQ(training.weights.data(W)[1], -infinity) << c.name;
  }
}

/// A gradient that is not finite changes nothing: neither weights, those of parameters before it included,
/// nor the optimizer's state. The message names the first parameter with one.
TEST(Optimizer, GradientsThatAreNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Case &c : cases())
    for (float clip : {0.0F, 0.5F})
      for (bool f64 : {false, true})
        for (float bad : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
          Training training(f64), expected(f64);
          Optimizer optimizer(c.options), undisturbed(c.options);
          optimizer.options().clip_norm = undisturbed.options().clip_norm = clip;
          for (int s = 0; s < kSteps; ++s) {
            EXPECT_TRUE(expected.step(undisturbed, s).ok());
            const Numbers before = training.all();
            training.give(W, kGradientsW[s]);
            training.give(V, {1, bad});
            Status status = optimizer.step(training.weights, training.outputs);
            EXPECT_EQ(status.code, Code::bad_call);
            EXPECT_NE(status.message.find("vector"), std::string::npos) << status.message;
            EXPECT_EQ(status.message.find("weight"), std::string::npos) << status.message;
            training.give(W, {1, 1, bad, 1});
            status = optimizer.step(training.weights, training.outputs);
            EXPECT_EQ(status.code, Code::bad_call);
            EXPECT_NE(status.message.find("weight"), std::string::npos) << status.message;
            EXPECT_EQ(status.message.find("vector"), std::string::npos) << status.message;
            EXPECT_TRUE(same_bits(training.all(), before)) << c.name;
            EXPECT_EQ(optimizer.steps(), s);
            EXPECT_TRUE(training.step(optimizer, s).ok());
            EXPECT_TRUE(same_bits(training.all(), expected.all())) << c.name << " step " << s;
          }
        }
}

/// Large gradients are no infinite ones: their squares fit into double. A double that fits into no float is.
TEST(Optimizer, LargeGradients) {
  Training training;
  Optimizer optimizer(sgd(0, false));
  optimizer.options().clip_norm = 1;
  training.give(W, {3e38F, 0, 0, 0});
  EXPECT_TRUE(optimizer.step(training.weights, training.outputs).ok());
  near(training.of(W), {0.4F, -1.25F, 2.0F, -0.75F}, "one large gradient");

  Training wide(/*f64=*/true);
  const Numbers before = wide.all();
  wide.give(W, kGradientsW[0]);
  wide.outputs.gradient<double>(W, kW.size())[1] = 1e300;
  EXPECT_EQ(optimizer.step(wide.weights, wide.outputs).code, Code::bad_call);
  EXPECT_TRUE(same_bits(wide.all(), before));
}

/// Another kind, or momentum where there was none, begins with a state of its own.
TEST(Optimizer, KindsChangeBetweenSteps) {
  Training training;
  training.give(W, kGradientsW[0]);
  training.give(V, kGradientsV[0]);
  Optimizer optimizer({});
  ASSERT_TRUE(optimizer.step(training.weights, training.outputs).ok());
  optimizer.options().momentum = 0.9F;
  for (int step = 0; step < 2; ++step)
    ASSERT_TRUE(optimizer.step(training.weights, training.outputs).ok());
  // 0.01 of g, then of g, then of 1.9 g.
  EXPECT_NEAR(training.weights.data(W)[0], 0.5F - 0.01F * 3.9F * 0.1F, 1e-6F);
  for (Kind kind : {Kind::Adam, Kind::Adagrad, Kind::AdamW, Kind::Sgd}) {
    optimizer.options().kind = kind;
    ASSERT_TRUE(optimizer.step(training.weights, training.outputs).ok());
    for (size_t i = 0; i < kW.size(); ++i)
      EXPECT_TRUE(std::isfinite(training.weights.data(W)[i]));
  }
}

/// Without a gradient there is no step: before a run, and after one that failed.
TEST(Optimizer, NoGradientIsNoStep) {
  Training training;
  Optimizer optimizer({});
  EXPECT_EQ(optimizer.step(training.weights, training.outputs).code, Code::bad_call);
  training.give(W, kGradientsW[0]);
  ASSERT_TRUE(optimizer.step(training.weights, training.outputs).ok());
  training.outputs.begin(1); // another run begins
  EXPECT_EQ(training.outputs.gradient_f32(W), nullptr);
  EXPECT_EQ(training.outputs.gradient_size(W), 0U);
  const Numbers before = training.of(W);
  EXPECT_EQ(optimizer.step(training.weights, training.outputs).code, Code::bad_call);
  EXPECT_TRUE(same_bits(training.of(W), before));
  EXPECT_EQ(optimizer.steps(), 1);
}

/// Gradients of another model are refused by their size.
TEST(Optimizer, GradientsOfAnotherModel) {
  Training training;
  training.give(W, {1.0F});
  Optimizer optimizer({});
  const Status status = optimizer.step(training.weights, training.outputs);
  EXPECT_EQ(status.code, Code::bad_call);
  EXPECT_NE(status.message.find("weight"), std::string::npos) << status.message;
  EXPECT_TRUE(same_bits(training.of(W), kW));
}

} // namespace
