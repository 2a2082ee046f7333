// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The bounds that math.h states, over samples of all floats; and that a vectorised loop gives the bits of
// single calls.
#include <dbc/math.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace m = dbc::math;

namespace {

#define DBC_LOOP(NAME)                                                                                       \
  DBC_CLONES void loop_##NAME(const float *x, float *y, int n) {                                             \
    for (int i = 0; i < n; ++i)                                                                              \
      y[i] = m::NAME(x[i]);                                                                                  \
  }
DBC_LOOP(exp)
DBC_LOOP(log)
DBC_LOOP(log1p)
DBC_LOOP(tanh)
DBC_LOOP(sigmoid)
DBC_LOOP(softplus)
DBC_LOOP(erf)
DBC_LOOP(gelu)
DBC_LOOP(sin)
DBC_LOOP(cos)
#undef DBC_LOOP
DBC_CLONES void loop_pow(const float *x, float *y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] = m::pow(x[i], 1.7f);
}

using F = float (*)(float);
using D = double (*)(double);

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Distance of `got` from the exact value in units of the last place of the exact value as a float.
double ulps(float got, double exact) {
  float rounded = static_cast<float>(exact);
  if (std::isnan(got) && std::isnan(exact))
    return 0;
  if (std::isinf(rounded) || std::isinf(got))
    return got == rounded ? 0 : std::isinf(rounded) && std::fabs(got) > 3.4e38f ? 1 : 1e30;
  int exponent;
  std::frexp(exact, &exponent);
  double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(got - exact) / unit;
}

/// Every 509th float between low and high, both signs of the bit pattern's order: about 8 million of all.
template <class Fn> void each_float(float low, float high, Fn &&fn) {
  for (uint64_t u = 0; u < (1ull << 32); u += 509) {
    uint32_t bits = static_cast<uint32_t>(u);
    float x;
    std::memcpy(&x, &bits, sizeof x);
    if (x >= low && x <= high)
      fn(x);
  }
}

void check(const char *name, F f, D exact, float low, float high, double bound) {
  double worst = 0;
  float at = 0;
  each_float(low, high, [&](float x) {
    double e = ulps(f(x), exact(static_cast<double>(x)));
    if (e > worst)
      worst = e, at = x;
  });
  ::testing::Test::RecordProperty(name, std::to_string(worst));
  EXPECT_LE(worst, bound) << name << " at " << at << ": " << f(at) << ", exactly "
                          << exact(static_cast<double>(at));
}

double sigmoid64(double x) { return 1 / (1 + std::exp(-x)); }
double softplus64(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// --- bounds ------------------------------------------------------------------------------------------------

TEST(Math, ExpWithinItsBound) {
  check("exp", [](float x) { return m::exp(x); }, [](double x) { return std::exp(x); }, -kInf, kInf, 1.5);
}
TEST(Math, LogWithinItsBound) {
  check("log", [](float x) { return m::log(x); }, [](double x) { return std::log(x); }, 1e-45f, kInf, 1.5);
}
TEST(Math, Log1pWithinItsBound) {
  check(
      "log1p", [](float x) { return m::log1p(x); }, [](double x) { return std::log1p(x); }, -0.99999994f,
      kInf, 4);
}
TEST(Math, TanhWithinItsBound) {
  check("tanh", [](float x) { return m::tanh(x); }, [](double x) { return std::tanh(x); }, -kInf, kInf, 2.5);
}
TEST(Math, SigmoidWithinItsBound) {
  check("sigmoid", [](float x) { return m::sigmoid(x); }, sigmoid64, -88, kInf, 3);
}
TEST(Math, SoftplusWithinItsBound) {
  check("softplus", [](float x) { return m::softplus(x); }, softplus64, -87, kInf, 5);
}
TEST(Math, ErfWithinItsBound) {
  check("erf", [](float x) { return m::erf(x); }, [](double x) { return std::erf(x); }, -kInf, kInf, 8);
}
TEST(Math, GeluWithinItsBound) {
  double worst = 0;
  each_float(-1e30f, 1e30f, [&](float x) {
    double exact = 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    worst = std::max(worst, std::fabs(m::gelu(x) - exact) / std::max(1.0, std::fabs(double(x))));
  });
  EXPECT_LE(worst, 3e-7);
}
TEST(Math, SinAndCosWithinTheirBounds) {
  for (int which = 0; which < 2; ++which) {
    double worst = 0;
    each_float(-1e7f, 1e7f, [&](float x) {
      double exact = which ? std::cos(double(x)) : std::sin(double(x));
      float got = which ? m::cos(x) : m::sin(x);
      double e = std::fabs(got - exact) < 1e-7 && std::fabs(x) > 1 ? 0 : ulps(got, exact);
      worst = std::max(worst, e);
    });
    EXPECT_LE(worst, 2) << (which ? "cos" : "sin");
  }
  each_float(-kInf, kInf, [&](float x) {
    if (std::isinf(x))
      return;
    ASSERT_LE(std::fabs(m::sin(x)), 1.0f) << x;
    ASSERT_LE(std::fabs(m::cos(x)), 1.0f) << x;
  });
}
TEST(Math, PowWithinItsBound) {
  double worst = 0;
  uint64_t state = 1;
  auto any = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint32_t u = static_cast<uint32_t>(state >> 32);
    float x;
    std::memcpy(&x, &u, sizeof x);
    return x;
  };
  for (int i = 0; i < 2000000; ++i) {
    float x = any(), y = any();
    if (i % 2) // exponents of a usual size
      y = std::fmod(y, 8.0f);
    if (i % 4 == 3)
      x = 1 + std::fmod(x, 0.5f);
    double exact = std::pow(double(x), double(y));
    double e = ulps(m::pow(x, y), exact);
    ASSERT_LE(e, 1) << x << " ^ " << y << " = " << m::pow(x, y) << ", exactly " << exact;
    worst = std::max(worst, e);
  }
}

// --- special values ----------------------------------------------------------------------------------------

TEST(Math, LimitsAndNaN) {
  EXPECT_EQ(m::exp(kInf), kInf);
  EXPECT_EQ(m::exp(-kInf), 0);
  EXPECT_EQ(m::exp(0.0f), 1);
  EXPECT_EQ(m::log(0.0f), -kInf);
  EXPECT_EQ(m::log(-0.0f), -kInf);
  EXPECT_EQ(m::log(kInf), kInf);
  EXPECT_EQ(m::log(1.0f), 0);
  EXPECT_TRUE(std::isnan(m::log(-1.0f)));
  EXPECT_TRUE(std::isnan(m::log(-kInf)));
  EXPECT_EQ(m::log1p(-1.0f), -kInf);
  EXPECT_EQ(m::log1p(kInf), kInf);
  EXPECT_EQ(m::log1p(0.0f), 0);
  EXPECT_TRUE(std::isnan(m::log1p(-2.0f)));
  EXPECT_EQ(m::tanh(kInf), 1);
  EXPECT_EQ(m::tanh(-kInf), -1);
  EXPECT_TRUE(std::signbit(m::tanh(-0.0f)));
  EXPECT_EQ(m::sigmoid(kInf), 1);
  EXPECT_EQ(m::sigmoid(-kInf), 0);
  EXPECT_EQ(m::sigmoid(0.0f), 0.5f);
  EXPECT_EQ(m::softplus(kInf), kInf);
  EXPECT_EQ(m::erf(kInf), 1);
  EXPECT_EQ(m::erf(-kInf), -1);
  EXPECT_EQ(m::gelu(kInf), kInf);
  EXPECT_EQ(m::gelu(-kInf), 0);
  EXPECT_TRUE(std::isnan(m::sin(kInf)));
  EXPECT_TRUE(std::isnan(m::cos(-kInf)));
  for (F f : {+[](float x) { return m::exp(x); }, +[](float x) { return m::log(x); },
              +[](float x) { return m::log1p(x); }, +[](float x) { return m::tanh(x); },
              +[](float x) { return m::sigmoid(x); }, +[](float x) { return m::softplus(x); },
              +[](float x) { return m::erf(x); }, +[](float x) { return m::gelu(x); },
              +[](float x) { return m::sin(x); }, +[](float x) { return m::cos(x); },
              +[](float x) { return m::sqrt(x); }, +[](float x) { return m::relu(x); }})
    for (float nan : {kNan, -kNan})
      EXPECT_TRUE(std::isnan(f(nan)));
}

TEST(Math, TanhAndErfStayWithinOne) {
  // What is made of them, 1 - y^2 under a root for one, relies on it.
  float least = 0, most = 0;
  each_float(-kInf, kInf, [&](float x) {
    least = std::min({least, m::tanh(x), m::erf(x)});
    most = std::max({most, m::tanh(x), m::erf(x)});
  });
  EXPECT_EQ(least, -1);
  EXPECT_EQ(most, 1);
}

TEST(Math, PowOfSpecialValuesAsInC) {
  const float values[] = {0.0f,  -0.0f, 1,     -1,   2,     -2,     3,      -3,      0.5f,
                          -0.5f, kInf,  -kInf, kNan, 1e38f, -1e38f, 1e-40f, -1e-40f, 16777215};
  for (float x : values)
    for (float y : values) {
      float exact = static_cast<float>(std::pow(double(x), double(y))), got = m::pow(x, y);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(got)) << x << " ^ " << y << " = " << got;
      } else {
        EXPECT_EQ(got, exact) << x << " ^ " << y;
        EXPECT_EQ(std::signbit(got), std::signbit(exact)) << x << " ^ " << y;
      }
    }
}

TEST(Math, TheFirstOfEquals) {
  EXPECT_FALSE(std::signbit(m::maximum(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(m::minimum(-0.0f, 0.0f)));
  EXPECT_EQ(m::clip(5.0f, 0.0f, 1.0f), 1.0f);
  EXPECT_EQ(m::clip(-5.0f, 0.0f, 1.0f), 0.0f);
  EXPECT_EQ(m::relu(-3.0f), 0.0f);
}

// --- vector loops ------------------------------------------------------------------------------------------

TEST(Math, LoopsHaveTheBitsOfSingleCalls) {
  std::vector<float> x = {0.0f, -0.0f, kInf, -kInf, kNan, -kNan, 1e-45f, -1e-45f, 8.24f, 89, -89, 3.4e38f};
  int32_t number = 0;
  each_float(-kInf, kInf, [&](float v) {
    if (++number % 8 == 0)
      x.push_back(v);
  });
  for (float v = -100; v < 100; v += 0.0013f)
    x.push_back(v);
  struct {
    const char *name;
    void (*loop)(const float *, float *, int);
    F single;
  } all[] = {
      {"exp", [](const float *x, float *y, int n) { loop_exp(x, y, n); }, [](float v) { return m::exp(v); }},
      {"log", [](const float *x, float *y, int n) { loop_log(x, y, n); }, [](float v) { return m::log(v); }},
      {"log1p", [](const float *x, float *y, int n) { loop_log1p(x, y, n); },
       [](float v) { return m::log1p(v); }},
      {"tanh", [](const float *x, float *y, int n) { loop_tanh(x, y, n); },
       [](float v) { return m::tanh(v); }},
      {"sigmoid", [](const float *x, float *y, int n) { loop_sigmoid(x, y, n); },
       [](float v) { return m::sigmoid(v); }},
      {"softplus", [](const float *x, float *y, int n) { loop_softplus(x, y, n); },
       [](float v) { return m::softplus(v); }},
      {"erf", [](const float *x, float *y, int n) { loop_erf(x, y, n); }, [](float v) { return m::erf(v); }},
      {"gelu", [](const float *x, float *y, int n) { loop_gelu(x, y, n); },
       [](float v) { return m::gelu(v); }},
      {"sin", [](const float *x, float *y, int n) { loop_sin(x, y, n); }, [](float v) { return m::sin(v); }},
      {"cos", [](const float *x, float *y, int n) { loop_cos(x, y, n); }, [](float v) { return m::cos(v); }},
      {"pow", [](const float *x, float *y, int n) { loop_pow(x, y, n); },
       [](float v) { return m::pow(v, 1.7f); }}};
  std::vector<float> y(x.size());
  for (auto &each : all) {
    each.loop(x.data(), y.data(), static_cast<int>(x.size()));
    size_t different = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      float one = each.single(x[i]);
      different += std::memcmp(&one, &y[i], sizeof one) != 0 && !(std::isnan(one) && std::isnan(y[i]));
    }
    EXPECT_EQ(different, 0u) << each.name;
  }
}

} // namespace
