// Arithmetic on symbolic extents.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Shape.h"

#include <gtest/gtest.h>

using namespace dbc::frontend;

namespace {

struct Shapes : ::testing::Test {
  DimVar n{"n", 1, {}, {}}, m{"m", 2, {}, {}};
  Shape N{&n}, M{&m};
};

} // namespace

TEST_F(Shapes, SameWhateverTheOrder) {
  EXPECT_EQ(N * M + Shape(2) * N, N + M * N + N);
  EXPECT_EQ((N + M) * (N - M), N * N - M * M);
  EXPECT_EQ(N - N, Shape());
  EXPECT_NE(N, M);
}

TEST_F(Shapes, Printed) {
  EXPECT_EQ((N + M * Shape(3) - Shape(1)).str(), "n + 3 * m - 1");
  EXPECT_EQ((Shape(2) * M * N * N).str(), "2 * n * n * m");
  EXPECT_EQ((Shape(1) - N).str(), "-n + 1");
  EXPECT_EQ(Shape().str(), "0");
  EXPECT_EQ(Shape(INT64_MIN).str(), "-9223372036854775808");
}

// T1: `/` divides by a product of dims and numbers, term by term.
TEST_F(Shapes, Divided) {
  EXPECT_EQ((Shape(4) * N * M + Shape(2) * N).dividedBy(Shape(2) * N), Shape(2) * M + Shape(1));
  EXPECT_FALSE(N.dividedBy(Shape(2)));
  EXPECT_FALSE(N.dividedBy(M));
  EXPECT_FALSE((N + M).dividedBy(N + M));
  EXPECT_FALSE(N.dividedBy(Shape()));
}

// Every dim is at least 1.
TEST_F(Shapes, ProvenNonNegative) {
  EXPECT_TRUE((N - Shape(1)).provenNonNegative());
  EXPECT_TRUE((N + M - Shape(2)).provenNonNegative());
  EXPECT_FALSE((N - Shape(2)).provenNonNegative());
  EXPECT_FALSE((N - M).provenNonNegative());
  EXPECT_TRUE((N + M).noNegativeTerm());
  EXPECT_FALSE((N - Shape(1)).noNegativeTerm());
}

TEST_F(Shapes, SubstitutedAndEvaluated) {
  EXPECT_EQ((N * N + M).substitute({{&n, M + Shape(1)}}), M * M + Shape(3) * M + Shape(1));
  EXPECT_EQ((N * N + M).evaluate({{&n, 3}, {&m, 4}}), 13);
  EXPECT_FALSE(N.evaluate({{&m, 4}}));
  EXPECT_FALSE((N * N * N).evaluate({{&n, int64_t(1) << 31}}));
  EXPECT_EQ((N * M).singleDim(), nullptr);
  EXPECT_EQ(N.singleDim(), &n);
}

// What leaves 64 bits is no shape that could pass for another.
TEST_F(Shapes, Overflow) {
  Shape big(int64_t(1) << 32), most(INT64_MAX);
  for (const Shape &shape : {big * big * N + Shape(5), most + Shape(1), Shape() - Shape(INT64_MIN),
                             (most * N + M).substitute({{&n, Shape(2)}})}) {
    EXPECT_TRUE(shape.overflowed());
    EXPECT_NE(shape, Shape());
    EXPECT_NE(shape, Shape(5));
    EXPECT_EQ(shape.constant(), std::nullopt);
    EXPECT_EQ(shape.evaluate({{&n, 1}, {&m, 1}}), std::nullopt);
    EXPECT_FALSE(shape.provenNonNegative());
    EXPECT_FALSE(shape.noNegativeTerm());
    EXPECT_TRUE((shape - shape).overflowed());
  }
}

// What no extent is meant to be is no shape either: without a bound, a short product of sums has 2^n terms.
TEST_F(Shapes, TooManyTermsAndFactors) {
  std::vector<DimVar> dims(Shape::kMostTerms + 1);
  Shape sum, power = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    EXPECT_FALSE(sum.overflowed() || power.overflowed());
    dims[i].serial = 10 + i;
    sum = sum + Shape(&dims[i]);
    power = power * N;
  }
  EXPECT_EQ(sum.excess(), "has more than 64 terms");
  EXPECT_EQ(power.excess(), "multiplies more than 64 dims");
  EXPECT_EQ((sum * power + N).excess(), sum.excess());
  EXPECT_EQ((power * sum - power).excess(), power.excess());
  EXPECT_EQ(N.excess(), "");
  Shape square = N + M;
  for (int i = 0; i < 5; ++i)
    square = square * square;
  EXPECT_EQ(square.terms().size(), 33u);
  EXPECT_TRUE((square * square * square).overflowed());
  EXPECT_EQ((N * N).substitute({{&n, square * N}}).excess(), "multiplies more than 64 dims");
}
