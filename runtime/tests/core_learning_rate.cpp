// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Learning rates against torch.optim.lr_scheduler. The rates that are compared with are those of PyTorch
// 2.15.0 for an optimizer with lr=.1 and the schedulers that stand beside them.
#include <dbc/learning_rate.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using dbc::LearningRate;
using dbc::Plateau;
using Kind = LearningRate::Kind;
using Rates = std::vector<double>;

LearningRate rate(Kind kind) {
  LearningRate r;
  r.kind = kind;
  r.base = 0.1;
  return r;
}

void near(const LearningRate &rate, const Rates &expected, const char *what) {
  EXPECT_TRUE(check(rate).ok()) << what;
  for (size_t step = 0; step < expected.size(); ++step)
    EXPECT_NEAR(rate_at(rate, static_cast<int64_t>(step)), expected[step], 1e-15) << what << " step " << step;
}

TEST(LearningRates, AreThoseOfTorch) {
  LearningRate constant = rate(Kind::Constant), step = rate(Kind::Step), cosine = rate(Kind::Cosine);
  step.every = 3;
  step.gamma = 0.5;
  cosine.total = 8;
  cosine.floor = 0.01;
  const Rates falls = {0.1,   0.096574578963007904, 0.08681980515339463,  0.072220754456429045,
                       0.055, 0.037779245543570962, 0.023180194846605363, 0.013425421036992097,
                       0.01};
  near(constant, {0.1, 0.1, 0.1}, "");
  near(step, {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125}, "StepLR(3, .5)");
  near(cosine, falls, "CosineAnnealingLR(8, .01)");
  EXPECT_EQ(rate_at(cosine, 8), 0.01); // and stays there
  EXPECT_EQ(rate_at(cosine, 1000), 0.01);

  for (LearningRate *r : {&constant, &step, &cosine})
    r->warm_up = 4;
  cosine.total = 12;
  Rates rises = {0.02, 0.04, 0.06, 0.08};
  Rates warm_cosine = rises;
  warm_cosine.insert(warm_cosine.end(), falls.begin(), falls.end());
  near(constant, {0.02, 0.04, 0.06, 0.08, 0.1, 0.1, 0.1}, "LinearLR(1/5, total_iters=4)");
  near(step, {0.02, 0.04, 0.06, 0.08, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025},
       "SequentialLR([LinearLR(1/5, total_iters=4), StepLR(3, .5)], [4])");
  near(cosine, warm_cosine, "SequentialLR([LinearLR(1/5, total_iters=4), CosineAnnealingLR(8, .01)], [4])");
}

struct PlateauCase {
  const char *what;
  LearningRate rate;
  Rates metrics, rates;
  std::vector<int64_t> no_better;
  double best;
};

const std::vector<PlateauCase> &plateaus() {
  const auto made = [](bool more_is_better, double gamma, int64_t patience, double threshold,
                       double floor = 0) {
    LearningRate r = rate(Kind::Plateau);
    r.more_is_better = more_is_better;
    r.gamma = gamma;
    r.patience = patience;
    r.threshold = threshold;
    r.floor = floor;
    return r;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Rates losses = {1.0, .9, .9, .8999, .8998, .95, nan, .5, .6, .6, .6, .6, .6};
  static const auto *cases = new std::vector<PlateauCase>{
      {"ReduceLROnPlateau(mode='min', factor=.5, patience=2, threshold=1e-3)",
       made(false, .5, 2, 1e-3),
       losses,
       {.1, .1, .1, .1, .05, .05, .05, .05, .05, .05, .025, .025, .025},
       {0, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2},
       .5},
      {"ReduceLROnPlateau(mode='min', factor=.1, patience=0, threshold=1e-4, min_lr=.003)",
       made(false, .1, 0, 1e-4, .003),
       losses,
       {.1, .1, .01, .01, .01, .003, .003, .003, .003, .003, .003, .003, .003},
       {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
       .5},
      {"ReduceLROnPlateau(mode='max', factor=.5, patience=1, threshold=1e-2)",
       made(true, .5, 1, 1e-2),
       {.5, .6, .6, .6005, .59, .7, .7, .7, .7, .71, .70},
       {.1, .1, .1, .05, .05, .05, .05, .025, .025, .025, .025},
       {0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
       .71},
      {"ReduceLROnPlateau(mode='max', factor=.5, patience=0, threshold=1e-4)",
       made(true, .5, 0, 1e-4),
       {-1, -1.00005, -1.0002, -.9, -1.0002},
       {.1, .1, .05, .05, .025},
       {0, 0, 0, 0, 0},
       -.9}};
  return *cases;
}

TEST(LearningRates, PlateausAreThoseOfTorch) {
  for (const PlateauCase &c : plateaus()) {
    EXPECT_TRUE(check(c.rate).ok()) << c.what;
    Plateau plateau;
    EXPECT_EQ(rate_at(c.rate, 0, plateau), 0.1);
    for (size_t i = 0; i < c.metrics.size(); ++i) {
      observe(c.rate, c.metrics[i], plateau);
      EXPECT_NEAR(rate_at(c.rate, static_cast<int64_t>(i), plateau), c.rates[i], 1e-15) << c.what << " " << i;
      EXPECT_EQ(plateau.no_better, c.no_better[i]) << c.what << " " << i;
    }
    EXPECT_EQ(plateau.best, c.best) << c.what;
  }
}

/// A plateau goes on from its numbers, wherever it was interrupted.
TEST(LearningRates, PlateausGoOn) {
  for (const PlateauCase &c : plateaus()) {
    Plateau through;
    for (const double metric : c.metrics) {
      const Plateau saved{through.best, through.metrics, through.no_better, through.scale};
      Plateau resumed = saved;
      observe(c.rate, metric, through);
      observe(c.rate, metric, resumed);
      EXPECT_EQ(resumed.best, through.best);
      EXPECT_EQ(resumed.metrics, through.metrics);
      EXPECT_EQ(resumed.no_better, through.no_better);
      EXPECT_EQ(rate_at(c.rate, 0, resumed), rate_at(c.rate, 0, through));
    }
  }
}

/// A plateau's first metric may be a NaN: what comes next is better. A warm-up leads to the rate that it has.
TEST(LearningRates, PlateausWithNaNsAndWarmUp) {
  LearningRate r = rate(Kind::Plateau);
  r.gamma = 0.5;
  r.patience = 1;
  r.warm_up = 4;
  Plateau plateau;
  observe(r, std::numeric_limits<double>::quiet_NaN(), plateau);
  EXPECT_EQ(plateau.no_better, 1);
  observe(r, 1e30, plateau);
  EXPECT_EQ(plateau.no_better, 0);
  EXPECT_EQ(plateau.best, 1e30);
  EXPECT_NEAR(rate_at(r, 1, plateau), 0.04, 1e-15);
  observe(r, 1e30, plateau);
  observe(r, 1e30, plateau);
  EXPECT_NEAR(rate_at(r, 1, plateau), 0.02, 1e-15);
  EXPECT_NEAR(rate_at(r, 4, plateau), 0.05, 1e-15);
}

/// Numbers out of range are refused, those that the kind does not use are not looked at.
TEST(LearningRates, NumbersOutOfRange) {
  const auto says = [](Kind kind, auto change) {
    LearningRate r = rate(kind);
    r.total = 100;
    EXPECT_TRUE(check(r).ok());
    change(r);
    return check(r).message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(says(Kind::Constant, [](LearningRate &r) { r.base = -1; }),
            "the learning rate must be finite and at least 0, not -1");
  EXPECT_EQ(says(Kind::Constant, [&](LearningRate &r) { r.base = nan; }),
            "the learning rate must be finite and at least 0, not nan");
  EXPECT_EQ(says(Kind::Constant, [](LearningRate &r) { r.warm_up = -1; }),
            "the steps of the warm-up must be at least 0, not -1");
  EXPECT_EQ(says(Kind::Step, [](LearningRate &r) { r.every = 0; }),
            "the steps of one rate must be at least 1, not 0");
  EXPECT_EQ(says(Kind::Step, [](LearningRate &r) { r.gamma = -1; }),
            "the factor of the learning rate must be finite and at least 0, not -1");
  EXPECT_EQ(says(Kind::Cosine, [](LearningRate &r) { r.total = r.warm_up = 4; }),
            "the steps of a cosine must be more than those of its warm-up, not 4");
  EXPECT_EQ(says(Kind::Cosine, [](LearningRate &r) { r.floor = 0.2; }),
            "the lowest learning rate must be at least 0 and at most the first one, not 0.2");
  EXPECT_EQ(says(Kind::Plateau, [](LearningRate &r) { r.gamma = 1; }),
            "the factor of a plateau must be below 1, not 1");
  EXPECT_EQ(says(Kind::Plateau, [](LearningRate &r) { r.patience = -1; }),
            "the patience must be at least 0, not -1");
  EXPECT_EQ(says(Kind::Plateau, [&](LearningRate &r) { r.threshold = nan; }),
            "the threshold must be finite and at least 0, not nan");
  EXPECT_EQ(says(Kind::Constant, [](LearningRate &r) { r.every = 0, r.gamma = -1, r.patience = -1; }), "");
}

} // namespace
