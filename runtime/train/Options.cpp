// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The options of a training as JSON, and whether they are in their ranges.
#include "../io/JsonText.h"
#include "../io/Nearest.h"
#include "../io/Result.h"
#include "Digits.h"
#include "Json.h"

#include <dbc/session.h>
#include <dbc/train/options.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>

namespace dbc {

using io::failure;
using train::Json;

namespace {

/// All options that travel, each by its name: what is written, and what is read.
template <class Options, class Visit> void for_each_option(Options &o, Visit visit) {
  visit("loss", o.loss);
  visit("train", o.train);
  visit("dev", o.dev);
  visit("metric", o.metric);
  visit("label", o.label);
  visit("weights", o.weights);
  visit("batch", o.batch);
  visit("epochs", o.epochs);
  visit("seed", o.seed);
  visit("threads", o.threads);
  visit("cuda", o.cuda);
  visit("optimizer", o.optimizer.kind);
  visit("momentum", o.optimizer.momentum);
  visit("nesterov", o.optimizer.nesterov);
  visit("beta1", o.optimizer.beta1);
  visit("beta2", o.optimizer.beta2);
  visit("epsilon", o.optimizer.epsilon);
  visit("weight-decay", o.optimizer.weight_decay);
  visit("weight-decay-of", o.decay_of);
  visit("clip-norm", o.optimizer.clip_norm);
  visit("lazy-rows", o.optimizer.lazy_rows);
  visit("shard-optimizer", o.shard_optimizer);
  visit("freeze", o.freeze);
  visit("lr", o.rate.base);
  visit("lr-of", o.rate_of);
  visit("schedule", o.rate.kind);
  visit("warmup", o.rate.warm_up);
  visit("every", o.every_epochs);
  visit("gamma", o.rate.gamma);
  visit("lr-floor", o.rate.floor);
  visit("plateau-patience", o.rate.patience);
  visit("plateau-threshold", o.rate.threshold);
  visit("patience", o.patience);
  visit("checkpoint-every", o.checkpoint_every);
  visit("out", o.out);
  visit("log", o.log);
  visit("plot", o.plot);
  visit("profile", o.profile);
  visit("profile-json", o.profile_json);
  visit("resume", o.resume);
  visit("program", o.program);
  visit("dims", o.dims);
}

// For each type of an option a pair of functions: to JSON, and from it, false where JSON has another type.

Json json_of(bool value) { return value; }
bool read(const Json &json, bool &value) {
  if (!json.is_boolean())
    return false;
  value = json.get<bool>();
  return true;
}

template <class Int> std::enable_if_t<std::is_integral_v<Int>, Json> json_of(Int value) { return value; }
template <class Int> std::enable_if_t<std::is_integral_v<Int>, bool> read(const Json &json, Int &value) {
  using Limits = std::numeric_limits<Int>;
  const bool fits = json.is_number_unsigned() ? json.get<uint64_t>() <= static_cast<uint64_t>(Limits::max())
                                              : json.is_number_integer() && Limits::is_signed &&
                                                    json.get<int64_t>() >= int64_t(Limits::min());
  if (fits)
    value = json.get<Int>();
  return fits;
}

/// JSON has no numbers that are not finite; they are written as in instances.
template <class Real> std::enable_if_t<std::is_floating_point_v<Real>, Json> json_of(Real value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
template <class Real>
std::enable_if_t<std::is_floating_point_v<Real>, bool> read(const Json &json, Real &value) {
  using Limits = std::numeric_limits<Real>;
  if (json.is_number())
    value = json.get<Real>();
  else if (json == "nan")
    value = Limits::quiet_NaN();
  else if (json == "inf" || json == "-inf")
    value = json == "inf" ? Limits::infinity() : -Limits::infinity();
  else
    return false;
  return true;
}

/// With U+FFFD for what is not UTF-8.
std::string in_utf8(const std::string &text) {
  std::string quoted;
  io::append_string(quoted, text);
  return Json::parse(quoted).get<std::string>();
}

Json json_of(const std::string &text) {
  if (in_utf8(text) == text)
    return text;
  Json bytes = Json::array();
  for (unsigned char byte : text)
    bytes.push_back(byte);
  return bytes;
}
bool read(const Json &json, std::string &text) {
  if (json.is_string()) {
    text = json.get<std::string>();
    return true;
  }
  text.clear();
  return json.is_array() && std::all_of(json.begin(), json.end(), [&](const Json &each) {
           unsigned char byte = 0;
           const bool fits = read(each, byte);
           text += static_cast<char>(byte);
           return fits;
         });
}

Json json_of(const std::vector<std::string> &texts) {
  Json list = Json::array();
  for (const std::string &text : texts)
    list.push_back(json_of(text));
  return list;
}
bool read(const Json &json, std::vector<std::string> &texts) {
  texts.clear();
  return json.is_array() && std::all_of(json.begin(), json.end(),
                                        [&](const Json &each) { return read(each, texts.emplace_back()); });
}

/// A name that is not UTF-8 is that of nothing; it need not be kept as it is.
template <class Number> Json json_of(const std::map<std::string, Number> &numbers) {
  Json object = Json::object();
  for (const auto &[name, number] : numbers)
    object[in_utf8(name)] = json_of(number);
  return object;
}
template <class Number> bool read(const Json &json, std::map<std::string, Number> &numbers) {
  numbers.clear();
  const auto items = json.items();
  return json.is_object() && std::all_of(items.begin(), items.end(), [&](const auto &item) {
           return read(item.value(), numbers[item.key()]);
         });
}

template <class Kind> bool read_kind(const Json &json, Kind &kind, std::initializer_list<Kind> kinds) {
  for (Kind each : kinds)
    if (json == name_of(each)) {
      kind = each;
      return true;
    }
  return false;
}
Json json_of(OptimizerOptions::Kind kind) { return name_of(kind); }
bool read(const Json &json, OptimizerOptions::Kind &kind) {
  using Kind = OptimizerOptions::Kind;
  return read_kind(json, kind, {Kind::Sgd, Kind::Adagrad, Kind::Adam, Kind::AdamW});
}
Json json_of(LearningRate::Kind kind) { return name_of(kind); }
bool read(const Json &json, LearningRate::Kind &kind) {
  using Kind = LearningRate::Kind;
  return read_kind(json, kind, {Kind::Constant, Kind::Step, Kind::Cosine, Kind::Plateau});
}

Status bad(const std::string &message) { return failure(message, Code::bad_call); }

Status read_object(std::string_view text, TrainOptions &options) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    return bad("options are a JSON object, as {\"train\": \"lines.jsonl\", \"epochs\": 3}");
  TrainOptions found = options;
  std::vector<std::string> known;
  std::string unfit;
  for_each_option(found, [&](const char *name, auto &value) {
    known.push_back(name);
    if (const auto at = object.find(name); at != object.end() && !read(*at, value))
      unfit = name;
  });
  for (const auto &[name, value] : object.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return bad("there is no option `" + name + "`" + io::hint(name, known, "the options are"));
  if (!unfit.empty())
    return bad("option `" + unfit + "` cannot be " + io::shown(train::to_text(object[unfit])));
  options = std::move(found);
  return Status();
}

} // namespace

std::string to_json(const TrainOptions &options) {
  Json object = Json::object();
  for_each_option(options, [&](const char *name, const auto &value) { object[name] = json_of(value); });
  return object.dump(); // whose numbers read back as the same ones
}

Status parse_options(std::string_view json, TrainOptions &options) {
  return io::guarded([&] { return read_object(json, options); });
}

float usual_epsilon(OptimizerOptions::Kind kind) {
  return kind == OptimizerOptions::Kind::Adagrad ? 1e-10F : OptimizerOptions().epsilon;
}

Status check(const TrainOptions &o) {
  constexpr int64_t most = TrainOptions::most_steps;
  if (o.train.empty())
    return bad("--train, a file to train on, is not given");
  struct Range {
    const char *name;
    int64_t value, least, most;
  };
  for (const Range &range :
       {Range{"--batch", o.batch, 1, most}, Range{"--epochs", o.epochs, 1, most},
        Range{"--threads", o.threads, 1, Session::kMostThreads}, Range{"--every", o.every_epochs, 1, most},
        Range{"--warmup", o.rate.warm_up, 0, most}, Range{"--patience", o.patience, 0, most},
        Range{"--checkpoint-every", o.checkpoint_every, 0, most}})
    if (range.value < range.least || range.value > range.most)
      return bad(std::string(range.name) + " takes " + std::to_string(range.least) + " to " +
                 std::to_string(range.most) + ", not " + std::to_string(range.value));
  // What would change nothing is a mistake.
  const bool sgd = o.optimizer.kind == OptimizerOptions::Kind::Sgd;
  if (!sgd && (o.optimizer.momentum != 0 || o.optimizer.nesterov))
    return bad(std::string("--momentum and --nesterov are those of --optimizer sgd; ") +
               name_of(o.optimizer.kind) + " has none");
  if (o.optimizer.nesterov && o.optimizer.momentum == 0)
    return bad("--nesterov goes with --momentum, which is 0");
  const LearningRate usual;
  if (o.every_epochs != 1 && o.rate.kind != LearningRate::Kind::Step)
    return bad(std::string("--every goes with --schedule step, not ") + name_of(o.rate.kind));
  if (o.rate.gamma != usual.gamma && o.rate.kind != LearningRate::Kind::Step &&
      o.rate.kind != LearningRate::Kind::Plateau)
    return bad(std::string("--gamma goes with --schedule step or plateau, not ") + name_of(o.rate.kind));
  if (o.checkpoint_every > 0 && o.out.empty())
    return bad("--checkpoint-every goes with --out, where checkpoints are kept");
  for (const auto &[flag, numbers] :
       {std::pair("--lr", &o.rate_of), std::pair("--weight-decay", &o.decay_of)})
    for (const auto &[name, number] : *numbers)
      if (!(number >= 0))
        return bad(std::string(flag) + " takes NAME=X, X a number that is not below 0, not `" + name + "=" +
                   train::general(number, 9) + "`");
  return Status();
}

} // namespace dbc
