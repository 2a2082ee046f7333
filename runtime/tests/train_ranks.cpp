// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Ranks agree, and a step over ranks is the one down the sum of their gradients in the order of ranks: for
// random sizes, dense and sparse, whoever has a gradient. One that cannot begin ends them all.
#include "GradientSum.h"
#include "Ranks.h"
#include "thread_ranks.h"

#include <dbc/train/trainer.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace dbc;
using namespace dbc::train;

namespace {

using Random = std::mt19937;
size_t below(Random &random, size_t bound) { return random() % bound; }

TEST(Ranks, GatherBroadcastAndAgree) {
  for (int32_t size : {1, 2, 3, 5, 8})
    ThreadRanks::run(size, [&](Communicator &communicator) {
      Ranks ranks(&communicator);
      const int32_t own = 10 * ranks.rank();
      std::vector<int32_t> all(size);
      EXPECT_TRUE(ranks.gather(&own, sizeof own, all.data()).ok());
      for (int32_t r = 0; r < size; ++r)
        EXPECT_EQ(all[r], 10 * r);

      std::vector<std::string> texts;
      EXPECT_TRUE(ranks.gather_texts(std::string(static_cast<size_t>(ranks.rank()), 'x'), texts).ok());
      ASSERT_EQ(texts.size(), static_cast<size_t>(size));
      for (int32_t r = 0; r < size; ++r)
        EXPECT_EQ(texts[r], std::string(static_cast<size_t>(r), 'x'));

      for (size_t bytes : {0, 1, 2, 7, 1000}) {
        std::string text(bytes, ranks.is_first() ? 'y' : '?');
        EXPECT_TRUE(ranks.broadcast(text.data(), bytes).ok());
        EXPECT_EQ(text, std::string(bytes, 'y'));
      }

      EXPECT_TRUE(ranks.agree(Status()).ok());
      EXPECT_EQ(ranks.is_agreed(), size == 1);
      // Of several errors all have that of the first rank with one.
      const Status status = ranks.agree(ranks.rank() + 2 >= size
                                            ? Status::error(Code::io, "rank " + std::to_string(ranks.rank()))
                                            : Status());
      EXPECT_EQ(status.code, Code::io);
      EXPECT_EQ(status.message, "rank " + std::to_string(std::max(size - 2, 0)));
      EXPECT_TRUE(ranks.is_agreed());
    });
}

TEST(Ranks, DistributeGivesEachInputOnceAndLittleMoreToOne) {
  Random random(3);
  for (int turn = 0; turn < 200; ++turn) {
    const auto ranks = static_cast<int32_t>(1 + below(random, 9));
    std::vector<int64_t> sizes(below(random, 50));
    for (int64_t &size : sizes)
      size = static_cast<int64_t>(below(random, 40));
    const auto inputs = distribute(sizes, ranks);
    ASSERT_EQ(inputs.size(), static_cast<size_t>(ranks));
    std::vector<size_t> all;
    std::vector<int64_t> loads;
    for (const auto &each : inputs) {
      EXPECT_TRUE(std::is_sorted(each.begin(), each.end()));
      all.insert(all.end(), each.begin(), each.end());
      loads.push_back(std::accumulate(each.begin(), each.end(), int64_t(0),
                                      [&](int64_t sum, size_t input) { return sum + sizes[input]; }));
    }
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < sizes.size(); ++i)
      ASSERT_EQ(all.at(i), i);
    EXPECT_EQ(all.size(), sizes.size());
    const int64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    EXPECT_LE(*std::max_element(loads.begin(), loads.end()) - *std::min_element(loads.begin(), loads.end()),
              largest);
  }
}

/// A model of some parameters, of which some have sparse gradients, and the gradients of each rank.
template <class Real> struct Case {
  ModelInfo info;
  std::vector<int64_t> widths; ///< of rows; 0: dense
  OptimizerOptions options;
  int32_t ranks, frozen;
  std::vector<std::vector<bool>> has;                                  ///< by rank and parameter
  std::vector<std::vector<std::map<int32_t, std::vector<Real>>>> rows; ///< a dense one is one row

  explicit Case(Random &random) {
    ranks = static_cast<int32_t>(1 + below(random, 5));
    info.name = "random";
    const size_t params = 1 + below(random, 5);
    frozen = below(random, 4) == 0 ? static_cast<int32_t>(below(random, params)) : -1;
    EntryInfo loss;
    loss.name = "loss";
    loss.is_loss = true;
    for (size_t p = 0; p < params; ++p) {
      ParamInfo param;
      param.name = "p" + std::to_string(p);
      const bool sparse = below(random, 2) == 0;
      const auto count = static_cast<int64_t>(1 + below(random, 30)),
                 width = static_cast<int64_t>(1 + below(random, 5));
      param.extents = {count, width};
      param.init.kind = InitInfo::Kind::Normal;
      param.init.b = 1;
      widths.push_back(sparse ? width : 0);
      info.params.push_back(param);
      loss.gradients.push_back(static_cast<int32_t>(p));
    }
    info.entries.push_back(loss);
    using Kind = OptimizerOptions::Kind;
    options.kind = std::vector<Kind>{Kind::Sgd, Kind::Adagrad, Kind::Adam, Kind::AdamW}[below(random, 4)];
    options.lr = 0.1F;
    options.momentum = options.kind == Kind::Sgd && below(random, 2) == 0 ? 0.9F : 0.0F;
    options.weight_decay = below(random, 2) == 0 ? 0.01F : 0.0F;
    options.clip_norm = below(random, 2) == 0 ? 0.5F : 0.0F;
    options.lazy_rows = below(random, 3) == 0;
  }

  int64_t size(size_t p) const { return info.params[p].extents[0] * info.params[p].extents[1]; }

  /// New gradients of all ranks; a rank may have none, but not all of them.
  void draw(Random &random) {
    std::normal_distribution<double> normal;
    has.assign(ranks, {});
    rows.assign(ranks, {});
    for (int32_t r = 0; r < ranks; ++r) {
      const bool none = r > 0 && below(random, 4) == 0;
      for (size_t p = 0; p < widths.size(); ++p) {
        has[r].push_back(!none);
        auto &of = rows[r].emplace_back();
        const int64_t width = widths[p] > 0 ? widths[p] : size(p);
        for (int64_t row = 0; row < size(p) / width; ++row)
          if (widths[p] == 0 || below(random, 3) == 0)
            for (int64_t i = 0; i < width; ++i)
              of[static_cast<int32_t>(row)].push_back(static_cast<Real>(normal(random)));
      }
    }
  }

  void give(Outputs &outputs, size_t p, const std::map<int32_t, std::vector<Real>> &of) const {
    std::vector<int32_t> numbers;
    std::vector<Real> values;
    for (const auto &[row, numbers_of_row] : of) {
      numbers.push_back(row);
      values.insert(values.end(), numbers_of_row.begin(), numbers_of_row.end());
    }
    const auto param = static_cast<int32_t>(p);
    Real *to = widths[p] == 0 ? outputs.gradient<Real>(param, values.size())
                              : outputs.sparse_gradient<Real>(
                                    param, numbers.data(), static_cast<int32_t>(numbers.size()), widths[p]);
    std::copy(values.begin(), values.end(), to);
  }

  void give_own(Outputs &outputs, int32_t rank) const {
    outputs.prepare(info.entries[0], std::is_same_v<Real, double>);
    outputs.begin(0);
    for (size_t p = 0; p < widths.size(); ++p)
      if (has[rank][p])
        give(outputs, p, rows[rank][p]);
  }

  /// The sum, one rank after the other.
  void give_sum(Outputs &outputs) const {
    outputs.prepare(info.entries[0], std::is_same_v<Real, double>);
    outputs.begin(0);
    for (size_t p = 0; p < widths.size(); ++p) {
      std::map<int32_t, std::vector<Real>> sum;
      for (int32_t r = 0; r < ranks; ++r)
        for (const auto &[row, values] : rows[r][p])
          if (has[r][p]) {
            auto &to = sum[row];
            to.resize(values.size());
            for (size_t i = 0; i < values.size(); ++i)
              to[i] += values[i];
          }
      give(outputs, p, sum);
    }
  }
};

std::vector<float> numbers_of(const Weights &weights) {
  std::vector<float> all;
  for (int32_t p = 0; p < weights.count(); ++p)
    all.insert(all.end(), weights.data(p), weights.data(p) + weights.size(p));
  return all;
}

std::vector<float> state_of(const Optimizer &optimizer, int32_t params) {
  std::vector<float> all;
  for (int32_t p = 0; p < params; ++p) {
    const OptimizerState &state = optimizer.state(p);
    all.push_back(static_cast<float>(state.steps));
    all.insert(all.end(), state.first.begin(), state.first.end());
    all.insert(all.end(), state.second.begin(), state.second.end());
  }
  return all;
}

template <class Real> void check_steps(uint32_t seed) {
  Random random(seed);
  Case<Real> drawn(random);
  std::vector<Case<Real>> steps(3, drawn);
  for (Case<Real> &each : steps)
    each.draw(random);
  const auto params = static_cast<int32_t>(drawn.widths.size());
  const auto optimizer_of = [&] {
    Optimizer optimizer(drawn.options);
    if (drawn.frozen >= 0)
      optimizer.freeze(drawn.frozen);
    return optimizer;
  };

  // One process on the sum.
  Weights alone(drawn.info);
  alone.draw(1);
  Optimizer optimizer_alone = optimizer_of();
  const bool all_frozen = params == 1 && drawn.frozen == 0;
  for (const Case<Real> &each : steps) {
    Outputs sum;
    each.give_sum(sum);
    if (!all_frozen) {
      EXPECT_TRUE(optimizer_alone.step(alone, sum).ok());
    }
  }

  std::vector<float> bits[2], states[2];
  for (bool sharded : {false, true})
    ThreadRanks::run(drawn.ranks, [&](Communicator &communicator) {
      Ranks ranks(&communicator);
      Weights weights(drawn.info);
      weights.draw(1);
      Optimizer optimizer = optimizer_of();
      GradientSum sum(ranks, std::is_same_v<Real, double>, sharded);
      for (const Case<Real> &each : steps) {
        Outputs own;
        each.give_own(own, ranks.rank());
        const Status status = sum.step(optimizer, weights, drawn.info.entries[0], own);
        EXPECT_TRUE(status.ok()) << status.message;
      }
      // With a norm that is clipped squares are summed in another order.
      const std::vector<float> have = numbers_of(weights), want = numbers_of(alone);
      for (size_t i = 0; i < want.size(); ++i) {
        if (drawn.options.clip_norm == 0)
          EXPECT_EQ(have[i], want[i]) << "seed " << seed;
        else
          EXPECT_NEAR(have[i], want[i], 1e-6 * std::max(1.0F, std::fabs(want[i]))) << "seed " << seed;
      }
      for (int32_t p = 0; p < params && drawn.options.clip_norm == 0; ++p) {
        const ParamChange &change = optimizer.change(p), &changed = optimizer_alone.change(p);
        EXPECT_EQ(change.kind, changed.kind);
        EXPECT_TRUE(
            std::equal(change.rows.begin(), change.rows.end(), changed.rows.begin(), changed.rows.end()))
            << "seed " << seed;
      }
      std::optional<Optimizer> whole;
      EXPECT_TRUE(sum.gather_state(optimizer, weights, whole).ok());
      EXPECT_EQ(whole.has_value(), sharded && !all_frozen && ranks.is_first());
      if (ranks.is_first()) {
        bits[sharded] = have;
        states[sharded] = state_of(whole ? *whole : optimizer, params);
      }
    });
  EXPECT_EQ(bits[0], bits[1]) << "seed " << seed;
  EXPECT_EQ(states[0], states[1]) << "seed " << seed;
}

TEST(GradientSum, StepsAreThoseDownTheSum) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    check_steps<float>(seed);
    check_steps<double>(seed);
  }
}

TEST(GradientSum, OneThatIsNotFiniteChangesNothing) {
  for (float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Random random(7);
    Case<float> drawn(random);
    drawn.ranks = 3;
    drawn.frozen = -1;
    drawn.draw(random);
    drawn.has[2].assign(drawn.widths.size(), true);
    drawn.rows[2][0][0].assign(static_cast<size_t>(drawn.widths[0] > 0 ? drawn.widths[0] : drawn.size(0)),
                               wrong);
    for (bool sharded : {false, true})
      ThreadRanks::run(drawn.ranks, [&](Communicator &communicator) {
        Ranks ranks(&communicator);
        Weights weights(drawn.info);
        weights.draw(1);
        const std::vector<float> before = numbers_of(weights);
        Optimizer optimizer(drawn.options);
        GradientSum sum(ranks, false, sharded);
        Outputs own;
        drawn.give_own(own, ranks.rank());
        const Status status = sum.step(optimizer, weights, drawn.info.entries[0], own);
        EXPECT_EQ(status.code, Code::bad_call);
        EXPECT_EQ(status.message, "random: the gradient is not finite");
        EXPECT_EQ(numbers_of(weights), before);
        EXPECT_EQ(optimizer.steps(), 0);
      });
  }
}

/// Rank 1 of two. The other one waits for it.
class Second final : public Communicator {
public:
  int32_t rank() const override { return 1; }
  int32_t size() const override { return 2; }
  Status exchange(const std::vector<SentBytes> &, const std::vector<ReceivedBytes> &) override {
    return Status::error(Code::io, "the other rank is not there");
  }
  [[noreturn]] void abort(int code) override { std::_Exit(100 + code); }
};

TEST(RanksDeathTest, WithoutMemoryForItsWeightsARankEndsAll) {
  ModelInfo info;
  info.name = "large";
  info.params.emplace_back();
  info.params.back().name = "W";
  info.params.back().extents = {int64_t(1) << 62};
  ModelCode code{};
  code.info = &info;
  EXPECT_EXIT(
      {
        Second second;
        train_main(TrainOptions(), code, &second);
      },
      testing::ExitedWithCode(101), "dbc: error: out of memory");
}

} // namespace
