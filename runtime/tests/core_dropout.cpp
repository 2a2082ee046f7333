// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Masks of dropout: what they are made of, that they look random, and what a session makes of its settings.
#include <dbc/dropout.h>
#include <dbc/generated.h>
#include <dbc/session.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using dbc::Batch;
using dbc::Dropout;
using dbc::Model;
using dbc::Session;

// The masks of a seed are the same for ever: who trains again, with another version too, drops the same. The
// second and third are the first numbers of SplitMix64 from state 1234567.
TEST(Dropout, KnownNumbers) {
  EXPECT_EQ(dbc::mix(0, 0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(dbc::mix(1234567, 0), 6457827717110365317U);
  EXPECT_EQ(dbc::mix(1234567, 1), 3203168211198807973U);
  EXPECT_EQ(dbc::dropout_key(1, 2), dbc::mix(dbc::mix(0, 1), 2));
  EXPECT_EQ(dbc::dropout_key(1, 2, 3), dbc::mix(dbc::dropout_key(1, 2), 3));
}

/// 1 for each of `count` elements that is kept, from `make(element)` on.
template <class Make> std::vector<int> kept(int count, Make make) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i)
    all.push_back(make(i));
  return all;
}

double mean(const std::vector<int> &all) {
  double sum = 0;
  for (int each : all)
    sum += each;
  return sum / static_cast<double>(all.size());
}

/// The correlation of two masks of one rate.
double correlation(const std::vector<int> &a, const std::vector<int> &b, double rate) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - (1 - rate)) * (b[i] - (1 - rate));
  return sum / static_cast<double>(a.size()) / (rate * (1 - rate));
}

// So many elements are kept as the rate says, and whether one is says nothing of its neighbours, nor of the
// same element at the next step, number, key or place: all within five deviations of 2^18 elements.
TEST(Dropout, LooksRandom) {
  constexpr int kCount = 1 << 18;
  const double bound = 5 / std::sqrt(kCount);
  for (double rate : {0.1, 0.5, 0.9}) {
    auto mask = [&](int64_t step, int64_t number, uint64_t place, uint32_t key) {
      return kept(kCount, [&](int element) {
        const uint64_t state = dbc::mix(dbc::mix(dbc::dropout_key(7, step, number), place), key);
        return dbc::keeps(state, element, rate);
      });
    };
    const std::vector<int> first = mask(3, 4, 5, 6);
    EXPECT_NEAR(mean(first), 1 - rate, bound);
    for (const std::vector<int> &other :
         {mask(4, 4, 5, 6), mask(3, 5, 5, 6), mask(3, 4, 6, 6), mask(3, 4, 5, 7)})
      EXPECT_NEAR(correlation(first, other, rate), 0, bound) << rate;
    for (int distance : {1, 2, 64}) {
      std::vector<int> shifted(first.begin() + distance, first.end());
      shifted.insert(shifted.end(), first.begin(), first.begin() + distance);
      EXPECT_NEAR(correlation(first, shifted, rate), 0, bound) << rate << " at distance " << distance;
    }
    // One element of many inputs, and at many steps.
    auto one = [&](int64_t step, int64_t number) {
      return dbc::keeps(dbc::mix(dbc::dropout_key(7, step, number), 5), 0, rate);
    };
    EXPECT_NEAR(mean(kept(kCount, [&](int n) { return one(3, n); })), 1 - rate, bound);
    EXPECT_NEAR(mean(kept(kCount, [&](int n) { return one(n, 3); })), 1 - rate, bound);
  }
}

TEST(Dropout, DividesWhatIsKept) {
  const uint64_t input = dbc::dropout_key(1, 2, 3);
  const Dropout dropout{true, dbc::dropout_key(1, 2), &input}, none;
  int kept = 0;
  for (int32_t element = 0; element < 100; ++element) {
    const float y = dropout.in_input(3.0F, 0.25F, element, 9, 0, element, 4);
    EXPECT_TRUE(y == 0 || y == 4) << y;
    kept += y == 4;
    EXPECT_EQ(dropout.in_input(3.0F, 0.0F, element, 9, 0), 3);
    EXPECT_EQ(none.in_input(3.0F, 0.25F, element, 9, 0), 3);
    EXPECT_EQ(none.in_run(3.0F, 0.25F, element, 9), 3);
  }
  EXPECT_GT(kept, 50);
  EXPECT_LT(kept, 100);
}

//   loss l() { sum over 64 elements of dropout(2^element, 0.5) }, as a number that says which were kept
constexpr int32_t kElements = 20;

const dbc::ModelInfo &info() {
  static const dbc::ModelInfo *made = [] {
    auto *m = new dbc::ModelInfo;
    m->name = "drops";
    dbc::EntryInfo loss;
    loss.name = "l";
    loss.result = dbc::types::value(dbc::Elem::F32);
    loss.is_loss = true;
    m->entries = {loss};
    return m;
  }();
  return *made;
}

class Plan : public dbc::EntryPlan {
public:
  void schedule(dbc::Run &) override {}
  void compute(dbc::Run &run) override {
    for (int32_t i = 0; i < run.input_count; ++i) {
      float sum = 0;
      for (int32_t element = 0; element < kElements; ++element)
        sum += run.dropout.in_input(static_cast<float>(1 << element) / 2, 0.5F, element, 1, run.inputs[i]);
      run.out.values<float>(0)[run.inputs[i]] = sum;
    }
  }
};

Model model() {
  static const dbc::ModelCode *code = [] {
    auto *c = new dbc::ModelCode();
    c->info = &info();
    c->make_model = [](const dbc::Weights &, Model &) {};
    c->entries = {{0, {}, {}, false, {}, {}, [] { return std::unique_ptr<dbc::EntryPlan>(new Plan); }}};
    return c;
  }();
  dbc::Weights weights(info());
  Model made;
  EXPECT_TRUE(Model::make(*code, weights, &made).ok());
  return made;
}

class SessionDrops : public testing::Test {
protected:
  /// What a run of so many inputs keeps of each.
  std::vector<float> run(Session &session, int inputs) {
    batch_.clear();
    for (int i = 0; i < inputs; ++i)
      batch_.begin_input();
    EXPECT_TRUE(session.run(0, batch_).ok());
    const float *y = session.outputs(0).f32(0);
    return std::vector<float>(y, y + inputs);
  }
  std::vector<float> run(int inputs) { return run(session_, inputs); }

  Model model_ = model();
  Session session_{model_};
  Batch batch_{info()};
};

// Each run is a step; a seed and a step say what it drops.
TEST_F(SessionDrops, StepsCount) {
  const std::vector<float> first = run(3), second = run(3);
  EXPECT_NE(first, second);
  EXPECT_NE(first[0], first[1]);
  session_.set_dropout(0, 1);
  EXPECT_EQ(run(3), second);
  session_.set_dropout(0, 0);
  EXPECT_EQ(run(3), first);
  session_.set_dropout(1, 0);
  EXPECT_NE(run(3), first);
}

// A run that does not drop gives x, and is no step.
TEST_F(SessionDrops, Off) {
  const std::vector<float> first = run(2), second = run(2);
  session_.set_dropout(0, 1);
  session_.drop_elements(false);
  const float all = static_cast<float>((1 << kElements) - 1) / 2;
  EXPECT_EQ(run(2), std::vector<float>(2, all));
  EXPECT_EQ(run(2), std::vector<float>(2, all));
  session_.drop_elements(true);
  EXPECT_EQ(run(2), second);
}

// An input drops by its own number, wherever in a batch it stands and however that is cut.
TEST_F(SessionDrops, NumbersOfInputs) {
  const std::vector<float> all = run(9);
  const int64_t numbers[] = {8, 2, 5, 0};
  session_.number_inputs(numbers, 4);
  for (int32_t inputs_of_a_sub_batch : {0, 1, 3}) {
    session_.limit_sub_batch(inputs_of_a_sub_batch);
    session_.set_dropout(0, 0);
    // The last one has none: it is input 4.
    EXPECT_EQ(run(5), (std::vector<float>{all[8], all[2], all[5], all[0], all[4]}));
  }
  session_.number_inputs(nullptr, 0);
  session_.set_dropout(0, 0);
  EXPECT_EQ(run(9), all);
  session_.set_dropout(0, 0);
  Session other(std::move(session_));
  EXPECT_EQ(run(other, 9), all);
}

// A run that does not come about is no step.
TEST_F(SessionDrops, RefusedRuns) {
  const std::vector<float> first = run(2);
  session_.set_dropout(0, 0);
  EXPECT_FALSE(session_.run(1, batch_).ok());
  EXPECT_EQ(run(2), first);
}

} // namespace
