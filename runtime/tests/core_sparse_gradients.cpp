// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Gradients of looked-up rows: what outputs give back, and steps of optimizers by them against steps by the
// dense gradients that have zeros in all other rows.
#include <dbc/optimizer.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using dbc::Code;
using dbc::GradientRows;
using dbc::Optimizer;
using dbc::OptimizerOptions;
using dbc::Outputs;
using dbc::Status;
using dbc::Weights;
using Kind = OptimizerOptions::Kind;
using Numbers = std::vector<float>;
using Rows = std::vector<int32_t>;

enum Param : int32_t { Table, Bias };
constexpr int32_t kRows = 37, kWidth = 5, kBias = 3;

/// A table of `rows` rows, and a parameter whose gradient is dense.
dbc::ModelInfo model(int64_t rows, int64_t width) {
  dbc::ModelInfo m;
  m.name = "toy";
  dbc::ParamInfo table, bias;
  table.name = "table";
  table.extents = {rows, width};
  table.init = {dbc::InitInfo::Kind::Normal, 0, 1};
  bias.name = "bias";
  bias.extents = {kBias};
  bias.init = {dbc::InitInfo::Kind::Normal, 0, 1};
  m.params = {table, bias};
  dbc::EntryInfo loss;
  loss.name = "loss";
  loss.result.elem = dbc::Elem::F32;
  loss.gradients = {Table, Bias};
  m.entries = {loss};
  return m;
}
const dbc::ModelInfo &info() {
  static const dbc::ModelInfo made = model(kRows, kWidth);
  return made;
}

struct Training {
  Weights weights;
  Outputs outputs;
  bool f64;

  explicit Training(bool f64 = false, const dbc::ModelInfo &model = info()) : weights(model), f64(f64) {
    weights.draw(11);
    outputs.prepare(model.entries[0], f64);
  }
  void dense(int32_t param, const Numbers &values) {
    if (f64)
      std::copy(values.begin(), values.end(), outputs.gradient<double>(param, values.size()));
    else
      std::copy(values.begin(), values.end(), outputs.gradient<float>(param, values.size()));
  }
  void sparse(const Rows &rows, const Numbers &values, int64_t width = kWidth) {
    const auto count = static_cast<int32_t>(rows.size());
    if (f64)
      std::copy(values.begin(), values.end(),
                outputs.sparse_gradient<double>(Table, rows.data(), count, width));
    else
      std::copy(values.begin(), values.end(),
                outputs.sparse_gradient<float>(Table, rows.data(), count, width));
  }
  Numbers of(int32_t param) const {
    return Numbers(weights.data(param), weights.data(param) + weights.size(param));
  }
  Numbers row(int32_t number) const {
    const float *begin = weights.data(Table) + number * kWidth;
    return Numbers(begin, begin + kWidth);
  }
};

bool same_bits(const Numbers &a, const Numbers &b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}
bool same_bits(const dbc::Array<float> &a, const dbc::Array<float> &b) {
  return same_bits(Numbers(a.begin(), a.end()), Numbers(b.begin(), b.end()));
}

/// Numbers with zeros of both signs among them.
Numbers draw(std::mt19937 &random, size_t count) {
  Numbers numbers(count);
  for (float &x : numbers) {
    x = std::uniform_real_distribution<float>(-1, 1)(random);
    if (random() % 11 == 0)
      x = std::copysign(0.0F, x);
  }
  return numbers;
}

/// Some rows, ascending; at times none or all.
Rows draw_rows(std::mt19937 &random, int step) {
  Rows rows;
  for (int32_t row = 0; row < kRows; ++row)
    if (step % 7 == 5 || (step % 7 != 3 && random() % 4 == 0))
      rows.push_back(row);
  return rows;
}

Numbers spread(const Rows &rows, const Numbers &values) {
  Numbers dense(kRows * kWidth, 0.0F);
  for (size_t r = 0; r < rows.size(); ++r)
    std::copy_n(values.begin() + r * kWidth, kWidth, dense.begin() + rows[r] * kWidth);
  return dense;
}

OptimizerOptions options(Kind kind, float momentum = 0, bool nesterov = false) {
  OptimizerOptions o;
  o.kind = kind;
  o.lr = 0.1F;
  o.momentum = momentum;
  o.nesterov = nesterov;
  return o;
}
const std::vector<OptimizerOptions> &kinds() {
  static const auto *made = new std::vector<OptimizerOptions>{
      options(Kind::Sgd),     options(Kind::Sgd, 0.9F), options(Kind::Sgd, 0.9F, true),
      options(Kind::Adagrad), options(Kind::Adam),      options(Kind::AdamW)};
  return *made;
}
std::string name_of(const OptimizerOptions &o) {
  return "kind " + std::to_string(static_cast<int>(o.kind)) + " momentum " + std::to_string(o.momentum) +
         " weight decay " + std::to_string(o.weight_decay) + " norm " + std::to_string(o.clip_norm);
}

/// What a plan gives is what readers get; a later run, and a later gradient of the same run, replace it.
TEST(SparseGradients, AreReadBack) {
  for (const bool f64 : {false, true}) {
    Training t(f64);
    EXPECT_FALSE(t.outputs.has_gradient(Table));
    EXPECT_FALSE(t.outputs.gradient_rows(Table));
    EXPECT_FALSE(t.outputs.gradient_rows(-1));
    Rows rows = {2, 3, 30};
    Numbers values(rows.size() * kWidth);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i);
    t.sparse(rows, values);
    rows.assign(rows.size(), -1); // they were copied
    const GradientRows read = t.outputs.gradient_rows(Table);
    ASSERT_TRUE(read);
    EXPECT_EQ(Rows(read.rows, read.rows + read.count), (Rows{2, 3, 30}));
    EXPECT_EQ(read.width, kWidth);
    EXPECT_EQ(t.outputs.gradient_size(Table), values.size());
    EXPECT_EQ(t.outputs.gradient_f32(Table) == nullptr, f64);
    EXPECT_EQ(t.outputs.gradient_f64(Table) == nullptr, !f64);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(f64 ? t.outputs.gradient_f64(Table)[i] : t.outputs.gradient_f32(Table)[i], values[i]);

    t.sparse({}, {}); // nothing was looked up: there is a gradient
    EXPECT_TRUE(t.outputs.has_gradient(Table));
    EXPECT_TRUE(t.outputs.gradient_rows(Table));
    EXPECT_EQ(t.outputs.gradient_rows(Table).count, 0);
    EXPECT_EQ(t.outputs.gradient_size(Table), 0U);
    EXPECT_NE(f64 ? static_cast<const void *>(t.outputs.gradient_f64(Table)) : t.outputs.gradient_f32(Table),
              nullptr);

    t.dense(Table, Numbers(kRows * kWidth, 1.0F));
    EXPECT_FALSE(t.outputs.gradient_rows(Table));
    EXPECT_EQ(t.outputs.gradient_size(Table), static_cast<size_t>(kRows * kWidth));

    t.sparse({1}, Numbers(kWidth, 1.0F));
    t.outputs.begin(1);
    EXPECT_FALSE(t.outputs.has_gradient(Table));
    EXPECT_FALSE(t.outputs.gradient_rows(Table));
    EXPECT_EQ(t.outputs.gradient_f32(Table), nullptr);
    EXPECT_EQ(t.outputs.gradient_size(Table), 0U);
  }
}

/// Gradients of both kinds are added to dense arrays, or nothing is.
TEST(SparseGradients, AreAddedToDenseOnes) {
  Training t;
  Numbers dense(kRows * kWidth, 1.0F), expected = dense;
  EXPECT_EQ(t.outputs.add_gradient_to(Table, dense.data(), dense.size()).code, Code::bad_call); // none yet
  t.sparse({0, 36}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  ASSERT_TRUE(t.outputs.add_gradient_to(Table, dense.data(), dense.size()).ok());
  for (int i = 0; i < kWidth; ++i) {
    expected[i] += static_cast<float>(1 + i);
    expected[36 * kWidth + i] += static_cast<float>(6 + i);
  }
  EXPECT_TRUE(same_bits(dense, expected));
  // Of a smaller table, of one with other rows, of numbers of another type.
  EXPECT_EQ(t.outputs.add_gradient_to(Table, dense.data(), dense.size() - kWidth).code, Code::bad_call);
  EXPECT_EQ(t.outputs.add_gradient_to(Table, dense.data(), dense.size() - 1).code, Code::bad_call);
  double wide = 0;
  EXPECT_EQ(t.outputs.add_gradient_to(Table, &wide, 1).code, Code::bad_call);
  EXPECT_TRUE(same_bits(dense, expected));

  Numbers bias(kBias, 1.0F);
  t.dense(Bias, {1, 2, 3});
  ASSERT_TRUE(t.outputs.add_gradient_to(Bias, bias.data(), bias.size()).ok());
  EXPECT_TRUE(same_bits(bias, {2, 3, 4}));
  EXPECT_EQ(t.outputs.add_gradient_to(Bias, bias.data(), bias.size() - 1).code, Code::bad_call);
  EXPECT_TRUE(same_bits(bias, {2, 3, 4}));
}

/// Weights and state have the bits of the dense step, with every kind, with and without weight decay and
/// clipping, of float and double; also of rows that come and go, and where none is looked up.
TEST(SparseGradients, StepsAreThoseOfDenseGradients) {
  for (OptimizerOptions o : kinds())
    for (const float decay : {0.0F, 0.1F})
      for (const float norm : {0.0F, 0.5F})
        for (const bool f64 : {false, true}) {
          o.weight_decay = decay;
          o.clip_norm = norm;
          std::mt19937 random(3);
          Training of_rows(f64), of_all(f64);
          Optimizer by_rows(o), by_all(o);
          for (int step = 0; step < 20; ++step) {
            const Rows rows = draw_rows(random, step);
            const Numbers values = draw(random, rows.size() * kWidth), bias = draw(random, kBias);
            of_rows.sparse(rows, values);
            of_all.dense(Table, spread(rows, values));
            of_rows.dense(Bias, bias);
            of_all.dense(Bias, bias);
            ASSERT_TRUE(by_rows.step(of_rows.weights, of_rows.outputs).ok());
            ASSERT_TRUE(by_all.step(of_all.weights, of_all.outputs).ok());
            for (const int32_t param : {Table, Bias}) {
              ASSERT_TRUE(same_bits(of_rows.of(param), of_all.of(param))) << name_of(o) << " step " << step;
              ASSERT_TRUE(same_bits(by_rows.state(param).first, by_all.state(param).first)) << name_of(o);
              ASSERT_TRUE(same_bits(by_rows.state(param).second, by_all.state(param).second)) << name_of(o);
              ASSERT_EQ(by_rows.state(param).steps, step + 1);
            }
          }
        }
}

/// The norm has the bits of the dense one, though it is a sum in another order than that of the numbers
/// given. Its square here is 1 + 2^-23 + 2^-48, half way between those of two floats; the eight smallest
/// numbers count or not by what they are added to.
TEST(SparseGradients, NormsAreThoseOfDenseGradients) {
  Numbers dense(kRows * kWidth, 0.0F), values;
  dense[0] = 1;
  dense[1] = dense[2] = std::ldexp(1.0F, -12);
  dense[3] = std::ldexp(1.0F, -24);
  for (int i : {8, 16, 24, 32, 48, 56, 64, 72}) // each in another row
    dense[i] = std::ldexp(0.7F, -26);
  const Rows rows = {0, 1, 3, 4, 6, 9, 11, 12, 14};
  for (int32_t row : rows)
    values.insert(values.end(), dense.begin() + row * kWidth, dense.begin() + (row + 1) * kWidth);
  ASSERT_EQ(spread(rows, values), dense);
  OptimizerOptions o = options(Kind::Sgd);
  o.clip_norm = 0.5F;
  Training of_rows, of_all;
  for (Training *t : {&of_rows, &of_all}) // from 0, so that no bit of the step is lost
    std::fill_n(t->weights.data(Table), kRows * kWidth, 0.0F);
  Optimizer by_rows(o), by_all(o);
  of_rows.sparse(rows, values);
  of_all.dense(Table, dense);
  ASSERT_TRUE(by_rows.step(of_rows.weights, of_rows.outputs).ok());
  ASSERT_TRUE(by_all.step(of_all.weights, of_all.outputs).ok());
  EXPECT_TRUE(same_bits(of_rows.of(Table), of_all.of(Table)));
}

/// With lazy rows those without a gradient stay, weights and state. Where the rule has no count of steps a
/// row then goes as if it were a parameter of its own.
TEST(SparseGradients, LazyRowsStay) {
  for (OptimizerOptions o : kinds())
    for (const float decay : {0.0F, 0.1F}) {
      o.weight_decay = decay;
      o.lazy_rows = true;
      std::mt19937 random(5);
      Training t;
      Optimizer lazy(o);
      const dbc::ModelInfo one_row = model(1, kWidth);
      std::vector<Training> alone;
      std::vector<Optimizer> of_alone;
      for (int32_t row = 0; row < kRows; ++row) {
        alone.emplace_back(false, one_row);
        std::copy_n(t.weights.data(Table) + row * kWidth, kWidth, alone.back().weights.data(Table));
        of_alone.emplace_back(o);
      }
      for (int step = 0; step < 20; ++step) {
        const Rows rows = draw_rows(random, step);
        const Numbers values = draw(random, rows.size() * kWidth), before = t.of(Table);
        t.sparse(rows, values);
        const dbc::Array<float> &first = lazy.state(Table).first, &second = lazy.state(Table).second;
        const Numbers first_before(first.begin(), first.end()), second_before(second.begin(), second.end());
        ASSERT_TRUE(lazy.step(t.weights, t.outputs).ok());
        for (size_t r = 0; r < rows.size(); ++r) {
          Training &own = alone[rows[r]];
          own.dense(Table, Numbers(values.begin() + r * kWidth, values.begin() + (r + 1) * kWidth));
          ASSERT_TRUE(of_alone[rows[r]].step(own.weights, own.outputs).ok());
        }
        for (int32_t row = 0; row < kRows; ++row) {
          if (o.kind == Kind::Sgd || o.kind == Kind::Adagrad) {
            ASSERT_TRUE(same_bits(t.row(row), alone[row].of(Table))) << name_of(o) << " row " << row;
          }
          const bool has_gradient = std::binary_search(rows.begin(), rows.end(), row);
          for (int i = row * kWidth; i < (row + 1) * kWidth; ++i) {
            const size_t at = static_cast<size_t>(i);
            if (!has_gradient) {
              ASSERT_EQ(t.weights.data(Table)[at], before[at]) << name_of(o);
              if (!first_before.empty()) {
                ASSERT_EQ(lazy.state(Table).first[at], first_before[at]) << name_of(o);
              }
              if (!second_before.empty()) {
                ASSERT_EQ(lazy.state(Table).second[at], second_before[at]) << name_of(o);
              }
            }
          }
        }
      }
    }
}

/// Lazy Adam is torch.optim.SparseAdam(lr=.1, eps=1e-12) of PyTorch 2.15.0: so small an epsilon does not
/// matter. The last row never has a gradient.
TEST(SparseGradients, LazyAdamIsSparseAdam) {
  const dbc::ModelInfo small = model(4, 2);
  Training t(false, small);
  const Numbers start = {0.5F, -1.25F, 2.0F, -0.75F, 1.5F, -0.5F, -2.0F, 0.25F},
                expected = {0.324624807F, -1.07326651F,  1.9361186F, -0.813881338F,
                            1.49531209F,  -0.793344617F, -2.0F,      0.25F};
  ASSERT_TRUE(t.weights.set("table", start.data(), start.size()).ok());
  OptimizerOptions o = options(Kind::Adam);
  o.epsilon = 1e-12F;
  o.lazy_rows = true;
  Optimizer optimizer(o);
  const std::pair<Rows, Numbers> steps[] = {{{0, 2}, {0.1F, -0.2F, 0.3F, 0.4F}},
                                            {{2}, {-0.5F, 0.25F}},
                                            {{1, 2}, {0.7F, 0.05F, -0.9F, 0.3F}},
                                            {{0}, {0.2F, -0.15F}}};
  for (const auto &[rows, values] : steps) {
    t.sparse(rows, values, 2);
    ASSERT_TRUE(optimizer.step(t.weights, t.outputs).ok());
  }
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(t.weights.data(Table)[i], expected[i], 1e-6F * std::fabs(expected[i])) << i;
}

/// A gradient that is not finite, is of rows that the table does not have, or of rows of another width,
/// changes nothing and is named.
TEST(SparseGradients, RefusalsChangeNothing) {
  for (const OptimizerOptions &o : kinds())
    for (const bool f64 : {false, true}) {
      Training t(f64);
      Optimizer optimizer(o);
      t.dense(Bias, {1, 2, 3});
      t.sparse({1, 2}, Numbers(2 * kWidth, 0.5F));
      ASSERT_TRUE(optimizer.step(t.weights, t.outputs).ok());
      const Numbers table = t.of(Table), bias = t.of(Bias);
      const auto refused = [&](const std::string &why) {
        const Status status = optimizer.step(t.weights, t.outputs);
        EXPECT_EQ(status.code, Code::bad_call);
        EXPECT_EQ(status.message, "toy: the gradient of `table` " + why);
        EXPECT_TRUE(same_bits(t.of(Table), table) && same_bits(t.of(Bias), bias));
        EXPECT_EQ(optimizer.steps(), 1);
        EXPECT_EQ(optimizer.state(Bias).steps, 1);
      };
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF}) {
        t.sparse({4, 36}, {0, 0, 0, 0, 0, 0, 0, 0, 0, bad});
        refused("is not finite");
      }
      t.sparse({4, 37}, Numbers(2 * kWidth, 0.5F));
      refused("is of another model");
      t.sparse({0}, Numbers(4, 0.5F), 4);
      refused("is of another model");
      // Frozen, the table may have what it likes.
      t.sparse({36}, Numbers(kWidth, HUGE_VALF));
      optimizer.freeze(Table);
      EXPECT_TRUE(optimizer.step(t.weights, t.outputs).ok());
      EXPECT_TRUE(same_bits(t.of(Table), table));
      EXPECT_FALSE(same_bits(t.of(Bias), bias));
    }
}

/// A gradient without rows is one: a step is made, by which momentum and weight decay act.
TEST(SparseGradients, NoRowsAreAGradient) {
  for (const bool lazy : {false, true}) {
    OptimizerOptions o = options(Kind::Sgd);
    o.weight_decay = 0.1F;
    o.lazy_rows = lazy;
    Training t;
    Optimizer optimizer(o);
    const Numbers before = t.of(Table);
    t.sparse({}, {});
    ASSERT_TRUE(optimizer.step(t.weights, t.outputs).ok());
    EXPECT_EQ(optimizer.state(Table).steps, 1);
    EXPECT_EQ(same_bits(t.of(Table), before), lazy);
  }
}

} // namespace
