// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Packed products: right to the accuracy of a sum in order, and equal bits for a row wherever it stands. Each
// test runs for every instruction set that this machine has.
#include "ProductKernels.h"

#include <dbc/generated.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

using dbc::Packed;
using dbc::Rows;
using dbc::RowsOut;
using dbc::Segment;

template <class Real> std::vector<Real> drawn(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Real> v(n);
  for (Real &x : v)
    x = static_cast<Real>(random() / 2147483648.0 - 1);
  return v;
}

class Product : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    before_ = dbc::product_kernels();
    ASSERT_TRUE(dbc::choose_product_kernels(GetParam()));
  }
  void TearDown() override { dbc::choose_product_kernels(before_); }

private:
  const char *before_ = nullptr;
};

/// Several segments read through index arrays, a bias, scattered results; against double.
template <class Real>
void against_double(int32_t outputs, const std::vector<int32_t> &lengths, int32_t rows) {
  int32_t inputs = 0;
  for (int32_t l : lengths)
    inputs += l;
  auto w = drawn<Real>(static_cast<size_t>(outputs) * inputs, 1);
  auto bias = drawn<Real>(outputs, 2);
  Packed<Real> packed;
  packed.pack(w.data(), outputs, inputs, bias.data());
  std::vector<std::vector<Real>> x;
  std::vector<std::vector<int32_t>> index;
  std::vector<Segment<Real>> segments;
  for (size_t s = 0; s < lengths.size(); ++s) {
    int32_t stride = lengths[s] + 3;
    x.push_back(drawn<Real>(static_cast<size_t>(rows) * stride, 3 + static_cast<unsigned>(s)));
    index.emplace_back(rows);
    for (int32_t i = 0; i < rows; ++i)
      index.back()[i] = (i * 7 + static_cast<int32_t>(s)) % rows;
    segments.push_back({{x.back().data(), s % 2 ? nullptr : index.back().data(), stride}, lengths[s]});
  }
  std::vector<int32_t> to_row(rows);
  for (int32_t i = 0; i < rows; ++i)
    to_row[i] = rows - 1 - i;
  std::vector<Real> y(static_cast<size_t>(rows) * (outputs + 1), Real(99));
  dbc::product<Real>(rows, segments.data(), static_cast<int32_t>(segments.size()), packed.whole(),
                     {y.data(), to_row.data(), outputs + 1});
  double eps = std::numeric_limits<Real>::epsilon();
  for (int32_t i = 0; i < rows; ++i) {
    for (int32_t o = 0; o < outputs; ++o) {
      double sum = bias[o];
      int32_t k = 0;
      for (const Segment<Real> &s : segments)
        for (int32_t j = 0; j < s.length; ++j, ++k)
          sum += double(s.rows.at(i)[j]) * w[static_cast<size_t>(o) * inputs + k];
      ASSERT_NEAR(y[static_cast<size_t>(to_row[i]) * (outputs + 1) + o], sum, eps * inputs * 2)
          << i << " " << o;
    }
    // What lies behind a row's outputs is not touched.
    ASSERT_EQ(y[static_cast<size_t>(to_row[i]) * (outputs + 1) + outputs], Real(99));
  }
}

TEST_P(Product, RightForOddSizesAndSeveralSegments) {
  for (int32_t outputs : {1, 5, 16, 37, 64, 150, 200})
    for (int32_t rows : {1, 2, 3, 5, 7, 13, 97}) {
      against_double<float>(outputs, {1}, rows);
      against_double<float>(outputs, {37, 1, 20}, rows);
      against_double<double>(outputs, {20, 9}, rows);
    }
}

/// With the epilogue the bits are those of relu of the product, of NaN, infinities and zeros of either sign
/// too.
template <class Real> void with_relu(int32_t outputs, int32_t inputs, int32_t rows) {
  auto w = drawn<Real>(static_cast<size_t>(outputs) * inputs, 1), bias = drawn<Real>(outputs, 2);
  const Real odd[] = {Real(NAN), Real(-NAN), Real(INFINITY), Real(-INFINITY), Real(-0.0), Real(0)};
  for (int32_t o = 1; o < outputs && o <= 6; ++o) {
    bias[o] = odd[o - 1];
    std::fill_n(w.data() + static_cast<size_t>(o) * inputs, inputs, Real(-0.0)); // then the sum is the bias
  }
  Packed<Real> packed;
  packed.pack(w.data(), outputs, inputs, bias.data());
  auto x = drawn<Real>(static_cast<size_t>(rows) * inputs, 3);
  for (Real &number : x)
    number = std::abs(number);
  std::vector<Real> y(static_cast<size_t>(rows) * outputs), wanted = y;
  const Rows<Real> of{x.data(), nullptr, inputs};
  dbc::product<Real>(rows, of, packed.whole(), {y.data(), nullptr, outputs}, dbc::Epilogue::kRelu);
  dbc::product<Real>(rows, of, packed.whole(), {wanted.data(), nullptr, outputs});
  bool lower = false;
  for (Real &number : wanted) {
    lower |= number < 0;
    number = dbc::math::relu(number);
  }
  EXPECT_TRUE(lower || outputs == 1);
  ASSERT_EQ(std::memcmp(y.data(), wanted.data(), y.size() * sizeof(Real)), 0)
      << outputs << " " << inputs << " " << rows;
}

TEST_P(Product, ReluAsItsEpilogue) {
  for (int32_t outputs : {1, 7, 16, 37, 96, 150})
    for (int32_t rows : {1, 2, 7, 36, 97}) {
      with_relu<float>(outputs, 20, rows);
      with_relu<double>(outputs, 9, rows);
    }
}

TEST_P(Product, NoRowsAndNoInputs) {
  Packed<float> packed;
  float w = 0, y[2] = {5, 5}, bias[2] = {1, 2};
  packed.pack(&w, 2, 0, bias);
  dbc::product<float>(0, nullptr, 0, packed.whole(), {y, nullptr, 2});
  EXPECT_EQ(y[0], 5);
  dbc::product<float>(1, nullptr, 0, packed.whole(), {y, nullptr, 2});
  EXPECT_EQ(y[1], 2);
  packed.pack(&w, 2, 0);
  dbc::product<float>(1, nullptr, 0, packed.whole(), {y, nullptr, 2});
  EXPECT_EQ(y[1], 0);
}

template <class Real> void same_bits(int32_t inputs, int32_t outputs) {
  constexpr int32_t kRows = 113;
  auto w = drawn<Real>(static_cast<size_t>(outputs) * inputs, 1);
  auto x = drawn<Real>(static_cast<size_t>(kRows) * inputs, 2);
  auto bias = drawn<Real>(outputs, 3);
  Packed<Real> packed;
  packed.pack(w.data(), outputs, inputs, bias.data());
  std::vector<Real> alone(static_cast<size_t>(kRows) * outputs), y(alone.size());
  for (int32_t i = 0; i < kRows; ++i)
    dbc::product<Real>(1, Rows<Real>{x.data() + i * inputs, nullptr, 0}, packed.whole(),
                       RowsOut<Real>{alone.data() + i * outputs, nullptr, 0});
  std::vector<int32_t> counts;
  for (int32_t n = 1; n <= 40; ++n)
    counts.push_back(n);
  counts.insert(counts.end(), {95, 96, 97, 100, kRows});
  for (int32_t n : counts)
    for (int32_t first : {0, 1, 5, kRows - n}) {
      if (first < 0 || first + n > kRows)
        continue;
      std::fill(y.begin(), y.end(), Real(0));
      dbc::product<Real>(n, Rows<Real>{x.data() + first * inputs, nullptr, inputs}, packed.whole(),
                         RowsOut<Real>{y.data(), nullptr, outputs});
      ASSERT_EQ(std::memcmp(y.data(), alone.data() + first * outputs, sizeof(Real) * n * outputs), 0)
          << n << " rows from " << first;
    }
}

TEST_P(Product, ARowsBitsDoNotDependOnTheOthers) {
  same_bits<float>(300, 75);
  same_bits<float>(37, 150);
  same_bits<double>(61, 75);
}

/// All gates of a channel have the bits that the same outputs have in a matrix packed as a whole, the
/// channels of the last tile, some of which the tile before has too, included; and so have rows of zeros that
/// are not multiplied. It is the same whether outputs or inputs lie side by side in memory.
template <class Real> void tiles(int32_t gates, int32_t channels, int32_t width, int32_t rows) {
  constexpr int32_t kInputs = 29;
  auto w = drawn<Real>(static_cast<size_t>(gates) * channels * kInputs, 1);
  auto bias = drawn<Real>(gates * channels, 2), x = drawn<Real>(rows * kInputs, 3);
  std::vector<int32_t> some(rows, 1); // a row in three is zeros
  for (int32_t i = 1; i < rows; i += 3) {
    some[i] = 0;
    std::fill_n(&x[i * kInputs], kInputs, Real(0));
  }
  const int32_t outputs = gates * channels;
  std::vector<Real> columns(w.size());
  for (int32_t o = 0; o < outputs; ++o)
    for (int32_t k = 0; k < kInputs; ++k)
      columns[k * outputs + o] = w[o * kInputs + k];
  Packed<Real> whole, tiled, whole_of_columns, tiled_of_columns;
  whole.pack(w.data(), outputs, kInputs, bias.data());
  tiled.pack_tiles(w.data(), gates, channels, width, kInputs, bias.data());
  whole_of_columns.pack({columns.data(), 1, outputs}, outputs, kInputs, bias.data());
  tiled_of_columns.pack_tiles({columns.data(), 1, outputs}, gates, channels, width, kInputs, bias.data());
  std::vector<Real> expected(rows * outputs), y(rows * gates * width), y_some = y, y_columns = y,
                                                                       again = expected;
  Rows<Real> in{x.data(), nullptr, kInputs};
  dbc::product<Real>(rows, in, whole.whole(), {expected.data(), nullptr, outputs});
  dbc::product<Real>(rows, in, whole_of_columns.whole(), {again.data(), nullptr, outputs});
  ASSERT_EQ(again, expected);
  for (int32_t t = 0; t * width < channels; ++t) {
    dbc::product<Real>(rows, in, tiled.tile(t), {y.data(), nullptr, gates * width});
    dbc::product_of_some<Real>(rows, in, some.data(), tiled.tile(t), {y_some.data(), nullptr, gates * width});
    ASSERT_EQ(y_some, y) << "tile " << t;
    dbc::product<Real>(rows, in, tiled_of_columns.tile(t), {y_columns.data(), nullptr, gates * width});
    ASSERT_EQ(y_columns, y) << "tile " << t;
    int32_t first = std::min(t * width, channels - width);
    for (int32_t i = 0; i < rows; ++i)
      for (int32_t g = 0; g < gates; ++g)
        ASSERT_EQ(std::memcmp(&y[(i * gates + g) * width], &expected[(i * gates + g) * channels + first],
                              width * sizeof(Real)),
                  0)
            << "row " << i << " gate " << g << " tile " << t;
  }
}

TEST(Packed, TheLastTileHasOnlyItsOwnChannelsWhereThatSavesPanels) {
  auto w = drawn<float>(5 * 150, 1);
  Packed<float> packed;
  packed.pack_tiles(w.data(), 5, 150, 16, 1); // 5 x 6 outputs, 2 panels in place of 5
  EXPECT_EQ(packed.tile(8).outputs, 80);
  EXPECT_EQ(packed.tile(9).outputs, 30);
  EXPECT_EQ(packed.bytes(), (9 * 80 + 32) * 2 * sizeof(float));
  packed.pack_tiles(w.data(), 1, 150, 80, 5); // 70 outputs take as many panels as 80
  EXPECT_EQ(packed.tile(1).outputs, 80);
  EXPECT_EQ(packed.tile(1).last, nullptr);
}

TEST(Packed, TilesOfOneGateThatDoNotOverlapAreTheWholeMatrix) {
  const auto w = drawn<float>(96 * 7, 1), bias = drawn<float>(96, 2), x = drawn<float>(5 * 7, 3);
  for (int32_t width : {16, 32, 48, 96}) {
    Packed<float> tiles, whole;
    tiles.pack_tiles(w.data(), 1, 96, width, 7, bias.data());
    whole.pack(w.data(), 96, 7, bias.data());
    std::vector<float> of_tiles(5 * 96), of_whole(5 * 96);
    dbc::product<float>(5, {x.data(), nullptr, 7}, tiles.whole(), {of_tiles.data(), nullptr, 96});
    dbc::product<float>(5, {x.data(), nullptr, 7}, whole.whole(), {of_whole.data(), nullptr, 96});
    EXPECT_EQ(of_tiles, of_whole) << width;
  }
}

TEST_P(Product, TilesHoldTheSameBits) {
  for (int32_t gates : {1, 2, 3, 5, 6, 7, 12})
    for (int32_t channels : {16, 37, 48, 150})
      for (int32_t rows : {1, 2, 6, 7, 20}) {
        tiles<float>(gates, channels, 16, rows);
        tiles<double>(gates, channels, 16, rows);
        if (channels >= 32)
          tiles<float>(gates, channels, 32, rows);
      }
}

/// Each row with its own matrix has the bits that it has alone.
TEST_P(Product, RowsOfSeveralTables) {
  constexpr int32_t kTables = 5, kOutputs = 21, kFirst = 7, kSecond = 4;
  std::vector<Packed<float>> packed(kTables);
  std::vector<const Packed<float> *> tables;
  for (int32_t t = 0; t < kTables; ++t) {
    auto w = drawn<float>(kOutputs * (kFirst + kSecond), 10 + t), bias = drawn<float>(kOutputs, 20 + t);
    packed[t].pack(w.data(), kOutputs, kFirst + kSecond, bias.data());
    tables.push_back(&packed[t]);
  }
  for (int32_t rows : {1, 2, 63, 64, 65, 150}) {
    auto a = drawn<float>(rows * kFirst, 1), b = drawn<float>(rows * kSecond, 2);
    std::vector<int32_t> table(rows), index(rows), to_row(rows);
    for (int32_t i = 0; i < rows; ++i) {
      table[i] = (i * i + 3 * i) % kTables;
      index[i] = (i * 11) % rows;
      to_row[i] = rows - 1 - i;
    }
    Segment<float> x[] = {{{a.data(), index.data(), kFirst}, kFirst},
                          {{b.data(), nullptr, kSecond}, kSecond}};
    std::vector<float> y(rows * kOutputs), alone(kOutputs);
    dbc::product_of_tables<float>(rows, x, tables.data(), table.data(),
                                  [](const Packed<float> &w) { return w.whole(); },
                                  {y.data(), to_row.data(), kOutputs});
    for (int32_t i = 0; i < rows; ++i) {
      Segment<float> one[] = {{{a.data() + index[i] * kFirst, nullptr, kFirst}, kFirst},
                              {{b.data() + i * kSecond, nullptr, kSecond}, kSecond}};
      dbc::product<float>(1, one, 2, packed[table[i]].whole(), {alone.data(), nullptr, kOutputs});
      ASSERT_EQ(std::memcmp(alone.data(), &y[to_row[i] * kOutputs], kOutputs * sizeof(float)), 0)
          << rows << " " << i;
    }
  }
}

/// A product of matrices that are not packed has the bits of the packed one, whatever slices b comes in. With
/// one column, whose sums are in another order, numbers are chosen so that there is nothing to round.
TEST_P(Product, MatricesThatAreNotPacked) {
  for (int32_t height : {1, 7, 40})
    for (int32_t inputs : {2, 16, 33, 150})
      for (int32_t outputs : {1, 16, 21, 64}) {
        auto a = drawn<float>(height * inputs, 1), b = drawn<float>(inputs * outputs, 2);
        for (auto *numbers : {&a, &b})
          for (float &number : *numbers)
            number = outputs == 1 ? std::round(number * 16) : number;
        std::vector<float> turned(b.size()), y(height * outputs), expected(height * outputs);
        for (int32_t k = 0; k < inputs; ++k)
          for (int32_t j = 0; j < outputs; ++j)
            turned[j * inputs + k] = b[k * outputs + j];
        Packed<float> packed;
        packed.pack(turned.data(), outputs, inputs);
        dbc::product<float>(height, Rows<float>{a.data(), nullptr, inputs}, packed.whole(),
                            RowsOut<float>{expected.data(), nullptr, outputs});
        std::vector<float> memory((inputs + 1) * ((outputs + 15) / 16 * 16));
        for (int32_t first : {inputs, 1}) {
          const dbc::MatrixSlice<float> slices[] = {{b.data(), first},
                                                    {b.data() + first * outputs, inputs - first}};
          dbc::multiply<float>(height, a.data(), slices, first == inputs ? 1 : 2, outputs, memory.data(),
                               y.data());
          ASSERT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)), 0)
              << height << " " << inputs << " " << outputs << " " << first;
        }
      }
}

/// Infinities in either operand of a product with a vector are seen once, and nothing else is NaN.
TEST_P(Product, InfinitiesTimesAVector) {
  constexpr int32_t kInputs = 21;
  for (int32_t at : {0, 7, 15, 16, 20}) {
    std::vector<float> a(2 * kInputs, 1.0f), b(kInputs, 2.0f), y(2), memory(2 * 16 * (kInputs + 1));
    a[at] = INFINITY;
    const dbc::MatrixSlice<float> slice{b.data(), kInputs};
    dbc::multiply<float>(2, a.data(), &slice, 1, 1, memory.data(), y.data());
    EXPECT_EQ(y[0], INFINITY) << at;
    EXPECT_EQ(y[1], 2.0f * kInputs) << at;
    a[at] = 1;
    b[at] = -INFINITY;
    dbc::multiply<float>(2, a.data(), &slice, 1, 1, memory.data(), y.data());
    EXPECT_EQ(y[0], -INFINITY) << at;
    EXPECT_EQ(y[1], -INFINITY) << at;
  }
}

/// Rows of zeros are the bias, whether they are multiplied or not; infinities in the matrix make them NaN.
TEST_P(Product, RowsOfNothing) {
  constexpr int32_t kOutputs = 21, kInputs = 5;
  auto w = drawn<float>(kOutputs * kInputs, 1), bias = drawn<float>(kOutputs, 2);
  for (bool finite : {true, false}) {
    if (!finite)
      w[3 * kInputs] = INFINITY;
    Packed<float> packed;
    packed.pack(w.data(), kOutputs, kInputs, bias.data());
    for (int32_t rows : {1, 6, 64, 150}) {
      auto x = drawn<float>(rows * kInputs, 3);
      std::vector<int32_t> some(rows), to_row(rows);
      for (int32_t i = 0; i < rows; ++i) {
        some[i] = i % 3;
        to_row[i] = rows - 1 - i;
        if (some[i] == 0)
          std::fill_n(x.data() + i * kInputs, kInputs, 0.0f);
      }
      std::vector<float> y(rows * kOutputs), all(rows * kOutputs);
      RowsOut<float> to{y.data(), to_row.data(), kOutputs};
      dbc::product_of_some<float>(rows, {x.data(), nullptr, kInputs}, some.data(), packed.whole(), to);
      to.base = all.data();
      dbc::product<float>(rows, Rows<float>{x.data(), nullptr, kInputs}, packed.whole(), to);
      ASSERT_EQ(std::memcmp(y.data(), all.data(), y.size() * sizeof(float)), 0) << rows << " " << finite;
      EXPECT_EQ(std::isnan(y[to_row[0] * kOutputs + 3]), !finite);
    }
  }
}

TEST_P(Product, InfinitiesAndNaNStayInTheirOutput) {
  std::vector<float> w(17 * 3, 1.0f), x = {1, 2, 3}, y(17);
  w[5 * 3] = INFINITY;
  w[6 * 3] = NAN;
  Packed<float> packed;
  packed.pack(w.data(), 17, 3);
  dbc::product<float>(1, Rows<float>{x.data(), nullptr, 3}, packed.whole(),
                      RowsOut<float>{y.data(), nullptr, 17});
  for (int o = 0; o < 17; ++o)
    if (o == 5)
      EXPECT_TRUE(std::isinf(y[o]));
    else if (o == 6)
      EXPECT_TRUE(std::isnan(y[o]));
    else
      EXPECT_EQ(y[o], 6);
}

/// add_outer_products with scratch memory of just the size that it asks for; what lies behind is not touched.
template <class Real>
void add_outer(int32_t rows, Rows<Real> a, int32_t height, Rows<Real> x, int32_t outputs,
               std::vector<Real> &sum) {
  const auto size = static_cast<size_t>(dbc::outer_products_memory<Real>(rows, height, outputs));
  dbc::Array<Real> memory;
  memory.assign(size + 64, Real(99)); // nor does it matter what is there before
  dbc::add_outer_products<Real>(rows, a, height, x, outputs, memory.data(), sum.data());
  for (size_t i = size; i < memory.size(); ++i)
    ASSERT_EQ(memory[i], Real(99)) << i - size << " behind the memory";
  ASSERT_EQ(sum.size(), static_cast<size_t>(height) * outputs);
}

template <class Real> bool same(const std::vector<Real> &a, const std::vector<Real> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

struct OuterShape {
  int32_t rows, height, outputs;
};
constexpr OuterShape kOuterShapes[] = {{0, 3, 2},  {1, 1, 1},     {2, 1, 17},     {3, 5, 7},     {9, 33, 1},
                                       {7, 32, 8}, {128, 33, 17}, {128, 70, 100}, {100, 40, 16}, {5, 64, 65}};

/// Against a plain sum in double, of rows that lie one behind the other, with a stride, behind an index
/// array, or are all the same row. It is added to what is there, at once; and again it has the same bits.
template <class Real> void outer_products(OuterShape shape) {
  const auto [rows, height, outputs] = shape;
  const double eps = std::numeric_limits<Real>::epsilon();
  std::vector<int32_t> index(rows), other(rows);
  for (int32_t r = 0; r < rows; ++r) {
    index[r] = (r * 7 + 3) % rows; // some rows of a more than once, where 7 divides their number
    other[r] = rows - 1 - r;
  }
  const int32_t stride_a = height + 3, stride_x = outputs + 1;
  auto a = drawn<Real>(static_cast<size_t>(rows) * stride_a + height, 1),
       x = drawn<Real>(static_cast<size_t>(rows) * stride_x + outputs, 2);
  auto there = drawn<Real>(static_cast<size_t>(height) * outputs, 3);
  const struct {
    Rows<Real> a, x;
  } layouts[] = {{{a.data(), nullptr, height}, {x.data(), nullptr, outputs}},
                 {{a.data(), nullptr, stride_a}, {x.data(), other.data(), stride_x}},
                 {{a.data(), index.data(), stride_a}, {x.data(), nullptr, stride_x}},
                 {{a.data(), nullptr, 0}, {x.data(), other.data(), outputs}},
                 {{a.data(), index.data(), height}, {x.data(), nullptr, 0}}};
  for (const auto &layout : layouts) {
    std::vector<Real> sum(there.size()), added = there, again(there.size());
    add_outer(rows, layout.a, height, layout.x, outputs, sum);
    add_outer(rows, layout.a, height, layout.x, outputs, added);
    add_outer(rows, layout.a, height, layout.x, outputs, again);
    ASSERT_TRUE(same(sum, again));
    for (int32_t i = 0; i < height; ++i)
      for (int32_t j = 0; j < outputs; ++j) {
        double expected = 0;
        for (int32_t r = 0; r < rows; ++r)
          expected += double(layout.a.at(r)[i]) * layout.x.at(r)[j];
        const size_t at = static_cast<size_t>(i) * outputs + j;
        ASSERT_NEAR(sum[at], expected, eps * rows * 2) << i << " " << j;
        ASSERT_EQ(added[at], there[at] + sum[at]) << i << " " << j;
      }
  }
}

TEST_P(Product, OuterProductsAddUp) {
  for (OuterShape shape : kOuterShapes) {
    SCOPED_TRACE(std::to_string(shape.rows) + " " + std::to_string(shape.height) + " " +
                 std::to_string(shape.outputs));
    outer_products<float>(shape);
    outer_products<double>(shape);
  }
}

/// Shares of the sum's rows, however many, make it whole, with the same bits; each knows of a row that is
/// zeros, in a, that it adds nothing, though it has only a part of it.
template <class Real> void shared_outer_products(OuterShape shape) {
  const auto [rows, height, outputs] = shape;
  auto a = drawn<Real>(static_cast<size_t>(rows) * height, 1),
       x = drawn<Real>(static_cast<size_t>(rows) * outputs, 2);
  if (rows > 2) { // zeros but for the last number of the row, and an infinity: all of the sum is spoilt but
                  // that row of it
    std::fill_n(&a[height], height - 1, Real(0));
    x[outputs] = std::numeric_limits<Real>::infinity();
  }
  auto whole = drawn<Real>(static_cast<size_t>(height) * outputs, 3), there = whole;
  add_outer<Real>(rows, {a.data(), nullptr, height}, height, {x.data(), nullptr, outputs}, outputs, whole);
  const auto size = static_cast<size_t>(dbc::outer_products_memory<Real>(rows, height, outputs));
  for (int32_t of : {1, 2, 3, 5, 9})
    for (int32_t step : {1, 2, of}) {
      std::vector<Real> sum = there;
      for (int32_t tile = 0; tile < of; tile += step) {
        dbc::Array<Real> memory;
        memory.resize(size);
        dbc::add_outer_products<Real>(rows, {a.data(), nullptr, height}, height, {x.data(), nullptr, outputs},
                                      outputs, memory.data(), sum.data(),
                                      {tile, std::min(of, tile + step), of});
      }
      ASSERT_TRUE(same(sum, whole)) << step << " of " << of;
    }
}

TEST_P(Product, OuterProductsInShares) {
  for (OuterShape shape : kOuterShapes) {
    SCOPED_TRACE(std::to_string(shape.rows) + " " + std::to_string(shape.height) + " " +
                 std::to_string(shape.outputs));
    shared_outer_products<float>(shape);
    shared_outer_products<double>(shape);
  }
}

/// Rows that are all zeros in a or in x add nothing, also where the other one is infinite or NaN: the bits
/// are those without these rows.
template <class Real> void outer_products_of_zeros(OuterShape shape) {
  const auto [rows, height, outputs] = shape;
  for (int32_t every : {1, 2, 3, rows}) { // so many rows are nothing but one
    auto a = drawn<Real>(static_cast<size_t>(rows) * height, 1),
         x = drawn<Real>(static_cast<size_t>(rows) * outputs, 2);
    std::vector<int32_t> kept;
    for (int32_t r = 0; r < rows; ++r) {
      if (every > 1 && r % every == 0) {
        kept.push_back(r);
        continue;
      }
      const bool is_a = r % 2 == 0;
      Real *zeros = is_a ? &a[r * height] : &x[r * outputs], *wild = is_a ? &x[r * outputs] : &a[r * height];
      const int32_t zero_count = is_a ? height : outputs, wild_count = is_a ? outputs : height;
      std::fill_n(zeros, zero_count, r % 3 == 0 ? Real(-0.0) : Real(0));
      wild[r % wild_count] = std::numeric_limits<Real>::infinity();
      wild[(r + 1) % wild_count] = std::numeric_limits<Real>::quiet_NaN();
    }
    auto sum = drawn<Real>(static_cast<size_t>(height) * outputs, 3), expected = sum;
    add_outer(rows, {a.data(), nullptr, height}, height, {x.data(), nullptr, outputs}, outputs, sum);
    add_outer(static_cast<int32_t>(kept.size()), {a.data(), kept.data(), height}, height,
              {x.data(), kept.data(), outputs}, outputs, expected);
    for (Real number : sum)
      ASSERT_TRUE(std::isfinite(number)) << every;
    ASSERT_TRUE(same(sum, expected)) << every;
  }
}

TEST_P(Product, OuterProductsOfZerosAddNothing) {
  for (OuterShape shape : kOuterShapes) {
    SCOPED_TRACE(std::to_string(shape.rows) + " " + std::to_string(shape.height) + " " +
                 std::to_string(shape.outputs));
    if (shape.rows == 0)
      continue;
    outer_products_of_zeros<float>(shape);
    outer_products_of_zeros<double>(shape);
  }
}

/// A row with a number that is not zero is multiplied as it is: NaN and infinities stay in their columns.
TEST_P(Product, OuterProductsOfInfinities) {
  std::vector<float> a = {0, 2, 0, 1}, x(2 * 17, 1.0f), sum(2 * 17);
  x[3] = INFINITY;
  x[5] = NAN;
  add_outer<float>(2, {a.data(), nullptr, 2}, 2, {x.data(), nullptr, 17}, 17, sum);
  for (int j = 0; j < 17; ++j) {
    if (j == 3) { // zero times infinity
      EXPECT_TRUE(std::isnan(sum[j]));
      EXPECT_EQ(sum[17 + j], INFINITY);
    } else if (j == 5) {
      EXPECT_TRUE(std::isnan(sum[j]) && std::isnan(sum[17 + j]));
    } else {
      EXPECT_EQ(sum[j], 0);
      EXPECT_EQ(sum[17 + j], 3);
    }
  }
}

std::vector<const char *> runnable() {
  const char *best = dbc::product_kernels();
  std::vector<const char *> names;
  for (const char *name : {"avx512", "avx2", "neon", "baseline"})
    if (dbc::choose_product_kernels(name))
      names.push_back(name);
  dbc::choose_product_kernels(best);
  return names;
}

TEST_P(Product, Bf16GivesTheBitsOfRoundedWeights) {
  for (int32_t outputs : {1, 37, 96, 150})
    for (int32_t rows : {1, 2, 7, 40}) {
      constexpr int32_t kInputs = 53;
      auto w = drawn<float>(static_cast<size_t>(outputs) * kInputs, 1);
      auto x = drawn<float>(static_cast<size_t>(rows) * kInputs, 2);
      auto bias = drawn<float>(outputs, 3);
      Packed<float> half, full;
      half.pack(w.data(), outputs, kInputs, bias.data());
      size_t before = half.bytes();
      half.round_to_bf16();
      EXPECT_LT(half.bytes(), before * 6 / 10);
      for (float &number : w)
        number = dbc::to_float(dbc::to_bf16(number));
      full.pack(w.data(), outputs, kInputs, bias.data());
      std::vector<float> a(static_cast<size_t>(rows) * outputs), b(a.size());
      // Pairs of weights lie across segments of odd lengths.
      std::vector<Segment<float>> segments;
      int32_t from = 0;
      for (int32_t length : {7, 0, 1, 20, 1, 3, 21}) {
        segments.push_back({{x.data() + from, nullptr, kInputs}, length});
        from += length;
      }
      ASSERT_EQ(from, kInputs);
      const auto count = static_cast<int32_t>(segments.size());
      dbc::product<float>(rows, segments.data(), count, half.whole(), {a.data(), nullptr, outputs});
      dbc::product<float>(rows, segments.data(), count, full.whole(), {b.data(), nullptr, outputs});
      ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << outputs << " " << rows;
    }
  // Tiles, and what was packed before is forgotten.
  auto w = drawn<float>(size_t(2) * 20 * 8, 1);
  Packed<float> packed;
  packed.pack_tiles(w.data(), 2, 20, 16, 8);
  packed.round_to_bf16();
  EXPECT_EQ(packed.tile(1).weights, nullptr);
  EXPECT_EQ(packed.tile(1).bf16 - packed.tile(0).bf16, 32 * 8 / 2);
  packed.pack(w.data(), 40, 8);
  EXPECT_EQ(packed.whole().bf16, nullptr);
  // A last tile of its own channels only, and of an odd number of inputs.
  constexpr int32_t kGates = 5, kChannels = 22, kIn = 7, kRows = 9;
  auto exact = drawn<float>(kGates * kChannels * kIn, 3), rows = drawn<float>(kRows * kIn, 4);
  Packed<float> a, b;
  a.pack_tiles(exact.data(), kGates, kChannels, 16, kIn);
  a.round_to_bf16();
  for (float &weight : exact)
    weight = dbc::to_float(dbc::to_bf16(weight));
  b.pack_tiles(exact.data(), kGates, kChannels, 16, kIn);
  EXPECT_NE(a.tile(1).last, nullptr);
  std::vector<float> of_a(kRows * kGates * 16), of_b = of_a;
  for (int32_t t = 0; t < 2; ++t) {
    dbc::product<float>(kRows, {rows.data(), nullptr, kIn}, a.tile(t), {of_a.data(), nullptr, kGates * 16});
    dbc::product<float>(kRows, {rows.data(), nullptr, kIn}, b.tile(t), {of_b.data(), nullptr, kGates * 16});
    EXPECT_EQ(of_a, of_b);
  }
}

TEST(Bf16, RoundsToNearestAndTiesToEven) {
  auto rounded = [](float x) { return dbc::to_float(dbc::to_bf16(x)); };
  const float step = 0x1p-7f;
  for (float exact : {0.0f, 1.0f, -1.0f - step, 0x1p-133f, 0x1.fep127f})
    EXPECT_EQ(rounded(exact), exact);
  EXPECT_EQ(rounded(1 + 0.49f * step), 1);
  EXPECT_EQ(rounded(1 + 0.51f * step), 1 + step);
  EXPECT_EQ(rounded(1 + 0.5f * step), 1);
  EXPECT_EQ(rounded(1 + 1.5f * step), 1 + 2 * step);
  EXPECT_EQ(rounded(-1 - 1.5f * step), -1 - 2 * step);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(-std::numeric_limits<float>::infinity()), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
  uint32_t least = 0x7f800001; // a NaN whose upper half alone would be infinity
  float nan;
  std::memcpy(&nan, &least, sizeof nan);
  EXPECT_TRUE(std::isnan(rounded(nan)));
  // Numbers that are finite before may not be after: then zeros times the matrix are no zeros.
  Packed<float> packed;
  float w = std::numeric_limits<float>::max();
  packed.pack(&w, 1, 1);
  EXPECT_TRUE(packed.whole().finite);
  packed.round_to_bf16();
  EXPECT_FALSE(packed.whole().finite);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Product, ::testing::ValuesIn(runnable()),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
