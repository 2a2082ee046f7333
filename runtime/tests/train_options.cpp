// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The options of a training as JSON: each comes back as it went, and what is none is refused.
#include <cmath>
#include <dbc/train/options.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <tuple>

using namespace dbc;

namespace {

// All members, by structured bindings: who adds one has to name it here, and then in Options.cpp.
auto all(const OptimizerOptions &o) {
  const auto &[kind, lr, momentum, nesterov, beta1, beta2, epsilon, weight_decay, clip_norm, lazy_rows] = o;
  return std::tie(kind, momentum, nesterov, beta1, beta2, epsilon, weight_decay, clip_norm, lazy_rows);
}
auto all(const LearningRate &r) {
  const auto &[kind, base, warm_up, every, gamma, total, floor, patience, threshold, more_is_better] = r;
  return std::tie(kind, base, warm_up, gamma, floor, patience, threshold);
}
auto all(const TrainOptions &o) {
  const auto &[loss, train, dev, metric, target, weights, batch, epochs, seed, threads, cuda, optimizer, rate,
               every_epochs, rate_of, decay_of, freeze, patience, checkpoint_every, out, log, plot, profile,
               profile_json, resume, shard_optimizer, program, dims] = o;
  return std::tuple_cat(
      std::tie(loss, train, dev, metric, target, weights, batch, epochs, seed, threads, cuda), all(optimizer),
      all(rate),
      std::tie(every_epochs, rate_of, decay_of, freeze, patience, checkpoint_every, out, log, plot, profile,
               profile_json, resume, shard_optimizer, program, dims));
}

/// No member has its default.
TrainOptions unusual() {
  TrainOptions o;
  o.loss = "nll";
  o.train = "a file \"of\" {lines}\n\\";
  o.dev = "\xE4\xF6.jsonl"; // a file's name in Latin-1
  o.metric = "accuracy:\xC3\xA4";
  o.label = "tag";
  o.weights = "w.safetensors";
  o.batch = std::numeric_limits<int32_t>::max();
  o.epochs = int64_t(1) << 40;
  o.seed = std::numeric_limits<uint64_t>::max();
  o.threads = 7;
  o.cuda = true;
  o.optimizer.kind = OptimizerOptions::Kind::AdamW;
  o.optimizer.momentum = 0.1F;
  o.optimizer.nesterov = true;
  o.optimizer.beta1 = 0.3F;
  o.optimizer.beta2 = std::nextafter(1.0F, 0.0F);
  o.optimizer.epsilon = 1e-10F;
  o.optimizer.weight_decay = 1e-45F;
  o.optimizer.clip_norm = std::numeric_limits<float>::infinity();
  o.optimizer.lazy_rows = true;
  o.rate.kind = LearningRate::Kind::Plateau;
  o.rate.base = 0.1;
  o.rate.warm_up = 3;
  o.rate.gamma = -std::numeric_limits<double>::infinity();
  o.rate.floor = 5e-324;
  o.rate.patience = -4;
  o.rate.threshold = 1.0 / 3;
  o.every_epochs = 5;
  o.rate_of = {{"net", 0.1}, {"table.W", 0}};
  o.decay_of = {{"b", 1e300}};
  o.freeze = {"table", ""};
  o.patience = 6;
  o.checkpoint_every = 8;
  o.out = "out";
  o.log = "log.csv";
  o.plot = "plot.svg";
  o.profile = true;
  o.profile_json = "profile.json";
  o.resume = true;
  o.shard_optimizer = true;
  o.program = "00ff";
  o.dims = {{"d", 3}, {"vocab", -1}};
  return o;
}

TEST(TrainOptions, EveryOneSurvivesTheRoundTrip) {
  const TrainOptions asked = unusual();
  TrainOptions read;
  const Status status = parse_options(to_json(asked), read);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(all(read), all(asked));
  // And back to the defaults, which are written too.
  ASSERT_TRUE(parse_options(to_json(TrainOptions()), read).ok());
  EXPECT_EQ(all(read), all(TrainOptions()));
}

TEST(TrainOptions, NanAndMinusZeroSurvive) {
  TrainOptions asked, read;
  asked.rate.gamma = std::numeric_limits<double>::quiet_NaN();
  asked.rate.base = -0.0;
  ASSERT_TRUE(parse_options(to_json(asked), read).ok());
  EXPECT_TRUE(std::isnan(read.rate.gamma));
  EXPECT_TRUE(read.rate.base == 0 && std::signbit(read.rate.base));
}

TEST(TrainOptions, WhatIsNotSaidStays) {
  TrainOptions read;
  read.epochs = 4;
  ASSERT_TRUE(parse_options(R"({"batch": 3})", read).ok());
  EXPECT_EQ(read.epochs, 4);
  EXPECT_EQ(read.batch, 3);
}

TEST(TrainOptions, WhatIsWrongIsSaidAndChangesNothing) {
  const auto said = [](const char *json) {
    TrainOptions read = unusual();
    const Status status = parse_options(json, read);
    EXPECT_EQ(all(read), all(unusual())) << json;
    EXPECT_EQ(status.code, Code::bad_call) << json;
    return status.message;
  };
  EXPECT_EQ(said("{\"batch\": 3"),
            "options are a JSON object, as {\"train\": \"lines.jsonl\", \"epochs\": 3}");
  EXPECT_EQ(said("[]"), said("{\"batch\": 3"));
  EXPECT_EQ(said(R"({"batsh": 3, "epochs": 1})"), "there is no option `batsh`; did you mean `batch`?");
  for (const char *value :
       {"2147483648", "-2147483649", "1.5", "\"3\"", "null", "true", "[3]", "18446744073709551615"})
    EXPECT_EQ(said((std::string("{\"epochs\": 1, \"batch\": ") + value + "}").c_str()),
              std::string("option `batch` cannot be ") + value);
  for (const char *option : {"\"seed\": -1", "\"epochs\": 9223372036854775808", "\"lr\": \"fast\"",
                             "\"resume\": 1", "\"optimizer\": \"adams\"", "\"schedule\": 0", "\"train\": 7",
                             "\"train\": [256]", "\"freeze\": \"net\"", "\"freeze\": [7]", "\"lr-of\": [1]",
                             "\"lr-of\": {\"net\": true}", "\"dims\": {\"d\": 1.5}"})
    EXPECT_NE(said(("{\"epochs\": 1, " + std::string(option) + "}").c_str()).find(" cannot be "),
              std::string::npos);
}

TEST(TrainOptions, RangesAreChecked) {
  const auto said = [](auto change) {
    TrainOptions o;
    o.train = "lines.jsonl";
    change(o);
    return check(o).message;
  };
  EXPECT_EQ(said([](TrainOptions &) {}), "");
  EXPECT_EQ(said([](TrainOptions &o) { o.train = ""; }), "--train, a file to train on, is not given");
  EXPECT_EQ(said([](TrainOptions &o) { o.batch = 0; }), "--batch takes 1 to 1073741824, not 0");
  EXPECT_EQ(said([](TrainOptions &o) { o.epochs = 0; }), "--epochs takes 1 to 1073741824, not 0");
  EXPECT_EQ(said([](TrainOptions &o) { o.threads = 1025; }), "--threads takes 1 to 1024, not 1025");
  EXPECT_EQ(said([](TrainOptions &o) { o.checkpoint_every = -1; }),
            "--checkpoint-every takes 0 to 1073741824, not -1");
  EXPECT_EQ(said([](TrainOptions &o) { o.rate_of["W"] = -0.5; }),
            "--lr takes NAME=X, X a number that is not below 0, not `W=-0.5`");
}

} // namespace
