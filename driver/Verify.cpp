// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc verify`: compares compiled code with the oracle on random inputs, and with itself in several batchings
// and thread counts.

#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/GradientNames.h"
#include "driver/InputGradients.h"
#include "driver/Lines.h"
#include "driver/Spoil.h"
#include "ir/Kernel/Kernel.h"
#include "oracle/Describe.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <dbc/io/instance.h>
#include <dbc/io/safetensors.h>
#include <map>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <tuple>

namespace dbc::driver {

/// A computed value may differ from the oracle's by this much, see max_error; with --gpu-math tf32 by that.
constexpr double kBound = 1e-4, kTf32Bound = 5e-3;
/// And an element of a gradient by this much, beside the larger of it and 1.
constexpr double kGradientBound = 1e-5, kGradientBoundF32 = 1e-3;
/// Inputs with a decision nearer than this are not compared: rounding may turn it.
constexpr double kMargin = 1e-3;
/// Nor are gradients that came by a kink nearer than this, as long as others are to be had.
constexpr double kKink = 1e-4;
/// What losses drop by that are compared with their gradients: each drawn input has a number of its own.
constexpr uint64_t kDropoutSeed = 11;
constexpr int64_t kDropoutStep = 1000;
/// Where too few of those drawn are valid, so many more are drawn for each one asked for, small ones: fewer
/// lists must fit each other there.
constexpr int64_t kSmallDrawsPerInput = 180;
constexpr int64_t kMostDrawsPerInput = kDrawsPerInput + kSmallDrawsPerInput;

namespace {

struct Drawn {
  Instance instance;
  int64_t number = 0; ///< among all drawn, by which it drops
  LineRunner::Line line;
  LineResult expected; ///< the oracle's
  bool near = false;   ///< a decision is too near to call: f32 may take the other one
  bool atKink = false; ///< the gradient came by a kink so near that f32 may take its other side
};

/// What was found about one entry.
struct Finding {
  int64_t tried = 0; ///< inputs that were drawn for the valid ones
  int64_t valid = 0, redrawn = 0;
  int64_t redrawnAtKinks = 0;     ///< of those
  int64_t atKinks = 0;            ///< of the valid ones
  int64_t wrong = 0, several = 0; ///< inputs that the oracle refuses; for which there are several reasons
  int64_t unclear = 0;            ///< of the valid ones: near or at a kink, and something else comes out
  int64_t notFinite = 0;          ///< of the valid ones: results hold an infinity or NaN
  std::vector<size_t> nodes;      ///< of each valid input
  double maxError = 0;
  double gradientError = 0;
  size_t gradients = 0; ///< valid inputs whose gradients were compared
  bool bitsEqual = true;
  bool comparesBits = true; ///< not where cuBLAS computes products
  std::string mismatch;     ///< what is wrong, in words; empty if nothing
  size_t culprit = 0;       ///< if so: the number of the drawn input that shows it
  bool shared = false;      ///< if so: beside a copy of itself, with sharing
  bool ok() const { return mismatch.empty(); }
  int64_t medianNodes() {
    auto middle = nodes.begin() + nodes.size() / 2;
    std::nth_element(nodes.begin(), middle, nodes.end());
    return middle == nodes.end() ? 0 : *middle;
  }
};

DrawOptions largeSizes(DrawOptions sizes) {
  sizes.long_elements = kLongElements;
  return sizes;
}

DrawOptions smallSizes(DrawOptions sizes) {
  sizes.most_nodes = sizes.big_nodes = 6;
  sizes.most_elements = 2;
  sizes.most_arg_elements = 3;
  return sizes;
}

/// Draws input `number` and lets the oracle compute it. One in four has cycles, where the model allows them.
Status drawInput(const ModelInfo &info, const EntryInfo &entry, uint64_t seed, int64_t number,
                 DrawOptions options, bool drops, OracleRunner &oracle, Drawn &drawn) {
  drawn.number = number;
  if (drops)
    oracle.drop(kDropoutSeed, kDropoutStep, {number});
  for (bool cycles : {number % 4 == 3, false}) {
    options.cycles = cycles;
    if (Status status = draw_instance(info, entry, seed, number, drawn.instance, options); !status.ok())
      return status;
    drawn.line = oracle.read(instance_json(info, entry, drawn.instance));
    std::vector<LineResult> results;
    if (Status status = oracle.compute(std::vector{drawn.line}, results); !status.ok())
      return status;
    drawn.expected = std::move(results[0]);
    if (drawn.expected.status.ok())
      break;
  }
  return Status();
}

bool sameFailure(const Status &a, const Status &b) {
  return a.code == b.code && a.node == b.node && a.field == b.field &&
         without_input(a.message) == without_input(b.message);
}

/// Whether two runs of compiled code gave the same bits. The printed form is exact.
bool sameBits(const LineResult &a, const LineResult &b) {
  if (a.status.ok() && b.status.ok())
    return a.json == b.json;
  return a.status.ok() == b.status.ok() && sameFailure(a.status, b.status);
}

class Verifier {
public:
  Verifier(oracle::Interpreter &interpreter, const LoadedModel &loaded, int32_t entry, double bound,
           double gradientBound, bool drops)
      : bound(bound), gradientBound(gradientBound), drops(drops), info(loaded.info()),
        entry(info.entries[entry]), oracle(interpreter, entry), one(loaded.model, entry, 1, loaded.device()),
        two(loaded.model, entry, 2, loaded.device()) {}

  /// Draws until `count` inputs are valid. Returns false if that does not come about, after saying why.
  bool draw(int64_t count, uint64_t seed, const DrawOptions &sizes);
  /// Draws as many inputs again and makes mistakes in them: those that are refused are compared too.
  bool drawWrong(int64_t count, uint64_t seed, const DrawOptions &sizes);
  Status compare();
  /// The gradients of a loss: of each valid input alone, and of all in one batch.
  Status compareGradients();
  /// Cuts the culprit down as long as it goes on failing.
  Instance shrink();
  const Drawn &culprit() const { return drawn[finding.culprit]; }

  Finding finding;

private:
  Status run(CompiledRunner &runner, const std::vector<size_t> &order, size_t batch,
             std::vector<LineResult> &results);
  Status compute(CompiledRunner &runner, llvm::ArrayRef<size_t> inputs, std::vector<LineResult> &results);
  Status compareGradient(CompiledRunner &runner, const std::vector<size_t> &inputs, const std::string &how);
  std::string gradientDiffers(const CompiledRunner &runner, const std::vector<size_t> &inputs);
  std::vector<std::vector<double>> gradients(CompiledRunner &runner) const;
  std::vector<double> denseGradient(const Outputs &outputs, int32_t param) const;
  void compareWithOracle(const std::vector<LineResult> &results, const std::string &how = "");
  void compareRuns(const std::vector<LineResult> &first, const std::vector<LineResult> &second,
                   const std::string &how);
  void mismatch(size_t culprit, const std::string &words) {
    if (finding.mismatch.empty()) {
      finding.mismatch = words;
      finding.culprit = culprit;
    }
  }
  void keep(Drawn each);
  bool usable(const LineResult &result) const { return result.status.ok() && !(result.margin < kMargin); }
  std::string differs(const LineResult &expected, const LineResult &got);
  bool failsAlone(const Instance &instance);

  const double bound;         ///< of an error
  const double gradientBound; ///< of an error of an element of a gradient, beside the larger of it and 1
  const bool drops;           ///< the model is compiled for training
  const ModelInfo &info;
  const EntryInfo &entry;
  OracleRunner oracle;
  CompiledRunner one, two;  ///< with one thread and with two
  std::vector<Drawn> drawn; ///< valid inputs, and those that the oracle refuses
};

bool Verifier::draw(int64_t count, uint64_t seed, const DrawOptions &sizes) {
  std::map<std::string, std::pair<int64_t, std::string>>
      refused; ///< by message without numbers: how often, the first
  static const std::regex digits("[0-9]+");
  auto take = [&](Drawn &each) {
    ++finding.valid;
    finding.notFinite += each.expected.json.find("inf\"") != std::string::npos ||
                         each.expected.json.find("\"nan\"") != std::string::npos;
    finding.nodes.push_back(each.instance.nodes.size());
    finding.atKinks += each.atKink;
  };
  std::vector<Drawn> near, atKinks;
  const DrawOptions large = largeSizes(sizes), small = smallSizes(sizes);
  for (int64_t number = 0; finding.valid < count && number < kMostDrawsPerInput * count; ++number) {
    const bool isLarge = number < kDrawsPerInput * count;
    if (!isLarge && finding.valid + static_cast<int64_t>(near.size() + atKinks.size()) >= count)
      break; // those with a near decision do then: small ones have one too
    const DrawOptions &wanted = isLarge ? large : small;
    ++finding.tried;
    Drawn each;
    if (Status status = drawInput(info, entry, seed, number, wanted, drops, oracle, each); !status.ok()) {
      printError(entry.name + ": " + status.message);
      return false;
    }
    if (each.expected.status.ok() && !usable(each.expected)) {
      ++finding.redrawn;
      each.near = true;
      if (near.size() < static_cast<size_t>(count))
        near.push_back(std::move(each));
      continue;
    }
    each.atKink = each.expected.status.ok() && each.expected.gradient.kink < kKink;
    if (each.atKink && finding.redrawnAtKinks < count) {
      ++finding.redrawn;
      ++finding.redrawnAtKinks;
      atKinks.push_back(std::move(each));
      continue; // behind `count` of them it seems that all inputs are at kinks
    }
    if (each.expected.status.ok()) {
      take(each);
    } else {
      std::string message = without_input(each.expected.status.message);
      auto &[times, first] = refused[std::regex_replace(message, digits, "N")];
      if (++times == 1)
        first = message;
    }
    if (each.expected.status.ok() || isLarge)
      keep(std::move(each));
  }
  // At kinks there are rules too (manual, G1).
  for (size_t i = 0; finding.valid < count && i < atKinks.size(); ++i) {
    take(atKinks[i]);
    --finding.redrawn;
    --finding.redrawnAtKinks;
    drawn.push_back(std::move(atKinks[i]));
  }
  // A decision may stand in an arm that is not chosen: where nothing better is to be had, such inputs do.
  for (size_t i = 0; finding.valid < count && i < near.size(); ++i) {
    take(near[i]);
    --finding.redrawn;
    drawn.push_back(std::move(near[i]));
  }
  if (finding.valid == count)
    return true;
  auto most = std::max_element(refused.begin(), refused.end(),
                               [](const auto &a, const auto &b) { return a.second.first < b.second.first; });
  printError(entry.name + ": only " + std::to_string(finding.valid) + " of " + std::to_string(finding.tried) +
             " random inputs are valid; most of the others (" + std::to_string(most->second.first) +
             ") fail like this one: " + most->second.second);
  return false;
}

/// An input that the oracle refuses must be refused for the same reason, unless a decision is too near to
/// call, or it is one of memory, which each counts by itself.
void Verifier::keep(Drawn each) {
  if (each.expected.status.code == Code::limit || each.expected.tooLarge)
    return;
  if (!each.expected.status.ok()) {
    each.near = each.expected.margin < kMargin;
    std::set<std::string> reasons;
    for (const Status &failure : each.expected.failures)
      reasons.insert(failure.message);
    ++finding.wrong;
    finding.several += reasons.size() > 1;
  }
  drawn.push_back(std::move(each));
}

bool Verifier::drawWrong(int64_t count, uint64_t seed, const DrawOptions &sizes) {
  for (int64_t number = 0; number < count; ++number) {
    Drawn each;
    if (Status status = draw_instance(info, entry, seed, number, each.instance, largeSizes(sizes));
        !status.ok()) {
      printError(entry.name + ": " + status.message);
      return false;
    }
    spoil(info, entry, each.instance, seed, number);
    if (drops)
      oracle.drop(kDropoutSeed, kDropoutStep, {each.number = number});
    each.line = oracle.read(instance_json(info, entry, each.instance));
    std::vector<LineResult> results;
    if (Status status = oracle.compute(std::vector{each.line}, results); !status.ok()) {
      printError(entry.name + ": " + status.message);
      return false;
    }
    each.expected = std::move(results[0]);
    if (!each.expected.status.ok())
      keep(std::move(each));
  }
  return true;
}

/// Runs some of the drawn inputs as one batch.
Status Verifier::compute(CompiledRunner &runner, llvm::ArrayRef<size_t> inputs,
                         std::vector<LineResult> &results) {
  std::vector<LineRunner::Line> lines;
  std::vector<int64_t> numbers;
  for (size_t input : inputs) {
    lines.push_back(drawn[input].line);
    numbers.push_back(drawn[input].number);
  }
  if (drops)
    runner.drop(kDropoutSeed, kDropoutStep, std::move(numbers));
  return runner.compute(lines, results);
}

/// Runs all drawn inputs in this order and so many at a time; results[i] is that of drawn[i].
Status Verifier::run(CompiledRunner &runner, const std::vector<size_t> &order, size_t batch,
                     std::vector<LineResult> &results) {
  results.assign(drawn.size(), LineResult());
  std::vector<LineResult> some;
  for (size_t begin = 0; begin < order.size(); begin += batch) {
    size_t end = std::min(begin + batch, order.size());
    some.clear();
    if (Status status = compute(runner, llvm::ArrayRef(order).slice(begin, end - begin), some); !status.ok())
      return status;
    for (size_t i = begin; i < end; ++i)
      results[order[i]] = std::move(some[i - begin]);
  }
  return Status();
}

/// What is wrong with a result, in words; empty if nothing.
std::string Verifier::differs(const LineResult &expected, const LineResult &got) {
  if (!expected.status.ok()) {
    if (sameFailure(expected.status, got.status))
      return "";
    return "the oracle says `" + expected.status.message + "`, compiled code " +
           (got.status.ok() ? "gives " + got.json : "says `" + got.status.message + "`");
  }
  if (!got.status.ok())
    return "the oracle gives a value, compiled code says `" + got.status.message + "`";
  if (got.json == expected.json) // also where the double is finite and no f32
    return "";
  double error = max_error(got.value, expected.value);
  finding.maxError = std::max(finding.maxError, error);
  if (error <= bound)
    return "";
  return "the values differ by " + llvm::formatv("{0:e2}", error).str() + ": the oracle gives " +
         expected.json + ", compiled code " + got.json;
}

void Verifier::compareWithOracle(const std::vector<LineResult> &results, const std::string &how) {
  for (size_t i = 0; i < results.size(); ++i) {
    std::string words = differs(drawn[i].expected, results[i]);
    if (!words.empty() && drawn[i].near)
      finding.unclear += how.empty() && drawn[i].expected.status.ok(); // once an input
    else if (!words.empty())
      mismatch(i, how + words);
  }
}

/// The same inputs run in another way: the same bits, or where these may differ the oracle's values again.
void Verifier::compareRuns(const std::vector<LineResult> &first, const std::vector<LineResult> &second,
                           const std::string &how) {
  if (!finding.comparesBits)
    return compareWithOracle(second, how + ": ");
  for (size_t i = 0; i < first.size(); ++i)
    if (!sameBits(first[i], second[i])) {
      finding.bitsEqual = false;
      mismatch(i, "all in one batch gives " + first[i].json + ", " + how + " " + second[i].json);
    }
}

Status Verifier::compare() {
  std::vector<size_t> order(drawn.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<size_t> shuffled = order;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(7));
  std::vector<size_t> twice; // next to each other, so that there is something to share
  for (size_t i : shuffled)
    twice.insert(twice.end(), 2, i);
  std::vector<LineResult> first, other;
  one.session.limit_sub_batch(INT32_MAX);
  if (Status status = run(one, order, drawn.size(), first); !status.ok())
    return status;
  compareWithOracle(first);
  struct Way {
    const char *how;
    CompiledRunner &runner;
    const std::vector<size_t> &order;
    size_t batch;
    int32_t subBatch; ///< inputs of a sub-batch; 0: as the session likes
    bool share = false;
    cuda::Path path = cuda::Path::Persistent; ///< of a device; and blocks of threads
    int32_t blocks = 0, largeMBlocks = 0;
    bool interleaved = false; ///< sub-batches on two contexts
    int32_t blockGroups = 0;  ///< in persistent kernels; 0: as the context likes
    cuda::Waits waits = cuda::Waits::Elements;
  };
  std::vector<Way> ways = {{"one by one", one, order, 1, 0},
                           {"shuffled, with two threads", two, shuffled, drawn.size(), INT32_MAX},
                           {"shuffled, seven at a time", one, shuffled, 7, 0},
                           {"in sub-batches of three", one, order, drawn.size(), 3},
                           {"sharing subtrees", two, twice, 6, 0, true}};
  if (one.context) {
    ways.push_back({"stage by stage", one, order, drawn.size(), 0, false, cuda::Path::Levels});
    ways.push_back({"as a graph, two at a time", one, shuffled, 2, 0, false, cuda::Path::Graph});
    ways.push_back(
        {"in large-M tiles", two, order, drawn.size(), 0, false, cuda::Path::Levels, 0, /*largeMBlocks=*/1});
    ways.push_back(
        {"with one block of threads", two, order, drawn.size(), 0, false, cuda::Path::Persistent, 1});
    ways.push_back({"in sub-batches of one, interleaved on two contexts", one, shuffled, drawn.size(), 1,
                    false, cuda::Path::Persistent, 0, 0, true});
    const std::tuple<const char *, int32_t, cuda::Waits> blockGroups[] = {
        {"as one block group", 1, cuda::Waits::Elements},
        {"as one block group with barriers", 1, cuda::Waits::Barriers},
        {"in two block groups with barriers", 2, cuda::Waits::Barriers}};
    for (auto [how, count, waits] : blockGroups)
      ways.push_back(
          {how, two, shuffled, drawn.size(), 0, false, cuda::Path::Persistent, 0, 0, false, count, waits});
  } else { // a device does not share rows among threads of the host
    ways.push_back({"with two threads", two, order, drawn.size(), 0});
  }
  for (const Way &way : ways) {
    way.runner.session.limit_sub_batch(way.subBatch);
    way.runner.session.share_subtrees(way.share);
    if (way.runner.context) {
      way.runner.context->choose_path(way.path);
      way.runner.context->limit_blocks(way.blocks);
      way.runner.context->use_large_m_from(way.largeMBlocks);
      way.runner.context->distribute_to(way.blockGroups);
      way.runner.context->choose_waits(way.waits);
      way.runner.session.compute_on(&*way.runner.context, way.interleaved ? &*way.runner.next : nullptr);
    }
    if (Status status = run(way.runner, way.order, way.batch, other); !status.ok())
      return status;
    bool fine = finding.ok();
    compareRuns(first, other, way.how);
    finding.shared |= way.share && fine && !finding.ok();
  }
  return Status();
}

/// The gradient of a batch of drawn inputs. One at a kink counts only if it is right: it is near, else.
Status Verifier::compareGradient(CompiledRunner &runner, const std::vector<size_t> &inputs,
                                 const std::string &how) {
  std::vector<LineResult> results;
  if (Status status = compute(runner, inputs, results); !status.ok())
    return status;
  const double largest = finding.gradientError;
  const std::string words = gradientDiffers(runner, inputs);
  if (words.empty())
    return Status();
  if (Drawn &first = drawn[inputs[0]]; inputs.size() == 1 && first.atKink) {
    first.near = true;
    ++finding.unclear;
    finding.gradientError = largest;
    return Status();
  }
  mismatch(inputs[0], how + words);
  return Status();
}

/// What is wrong with the gradient of inputs that weigh the same, beside the mean of the oracle's; empty if
/// nothing.
std::string Verifier::gradientDiffers(const CompiledRunner &runner, const std::vector<size_t> &inputs) {
  const auto number = static_cast<int32_t>(&entry - info.entries.data());
  const Outputs &outputs = runner.session.outputs(number);
  std::string words;
  for (size_t param = 0; param < info.params.size(); ++param) {
    const ParamInfo &each = info.params[param];
    std::vector<double> expected;
    for (size_t input : inputs) {
      const auto &gradients = drawn[input].expected.gradient.parameters;
      auto known = gradients.find(each.name);
      if (known == gradients.end())
        continue;
      expected.resize(std::max(expected.size(), known->second.size()));
      for (size_t i = 0; i < known->second.size(); ++i)
        expected[i] += known->second[i] / static_cast<double>(inputs.size());
    }
    const std::vector<double> gradient = denseGradient(outputs, param);
    for (size_t i = 0; i < expected.size(); ++i) {
      const double want = expected[i], got = gradient.empty() ? 0 : gradient[i];
      if (want == got || (std::isnan(want) && std::isnan(got)))
        continue;
      const double error = std::abs(got - want) / std::max({1.0, std::abs(want), std::abs(got)});
      finding.gradientError = std::max(finding.gradientError, error);
      if (!(error <= gradientBound) && words.empty())
        words = "the gradients of " + each.name + " differ by " +
                llvm::formatv("{0:e2} at element {1}: the oracle gives {2}, compiled code {3}", error, i,
                              want, got)
                    .str();
    }
  }
  std::vector<const oracle::Gradient *> ofInputs;
  for (size_t input : inputs)
    ofInputs.push_back(drawn[input].expected.status.ok() ? &drawn[input].expected.gradient : nullptr);
  std::string ofInput = compareInputGradients(entry, number, runner.inputs(), outputs, ofInputs,
                                              gradientBound, finding.gradientError);
  return words.empty() ? ofInput : words;
}

/// What the last run gave: of parameters, of sparse ones the rows that there are, and of fields and
/// arguments.
std::vector<std::vector<double>> Verifier::gradients(CompiledRunner &runner) const {
  const Outputs &outputs = runner.session.outputs(static_cast<int32_t>(&entry - info.entries.data()));
  std::vector<std::vector<double>> gradients;
  for (int32_t param : entry.gradients) {
    const size_t size = outputs.gradient_size(param);
    if (const double *f64 = outputs.gradient_f64(param))
      gradients.emplace_back(f64, f64 + size);
    else if (const float *f32 = outputs.gradient_f32(param))
      gradients.emplace_back(f32, f32 + size);
    else
      gradients.emplace_back();
  }
  for (const auto &[n, info] : llvm::enumerate(entry.input_gradients)) {
    const auto which = static_cast<int32_t>(n);
    const size_t size = outputs.input_gradient_values(which) * info.width;
    if (const double *f64 = outputs.input_gradient_f64(which))
      gradients.emplace_back(f64, f64 + size);
    else if (const float *f32 = outputs.input_gradient_f32(which))
      gradients.emplace_back(f32, f32 + size);
  }
  return gradients;
}

/// All numbers of the gradient of a parameter that a run gave; none where it gave none.
std::vector<double> Verifier::denseGradient(const Outputs &outputs, int32_t param) const {
  size_t size = 1;
  for (int64_t extent : info.params[param].extents)
    size *= extent;
  std::vector<double> f64(size);
  if (outputs.add_gradient_to(param, f64.data(), size).ok())
    return f64;
  std::vector<float> f32(size);
  if (outputs.add_gradient_to(param, f32.data(), size).ok())
    return std::vector<double>(f32.begin(), f32.end());
  return {};
}

/// Whether two runs gave the same numbers, signs of zeros among them; what is no number is the same as
/// another.
static bool sameBits(const std::vector<std::vector<double>> &a, const std::vector<std::vector<double>> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double left, double right) {
      return (left == right && std::signbit(left) == std::signbit(right)) ||
             (std::isnan(left) && std::isnan(right));
    });
  });
}

Status Verifier::compareGradients() {
  std::vector<size_t> valid, all; // those that fail have no part in the gradient
  one.session.limit_sub_batch(0);
  for (size_t i = 0; i < drawn.size(); ++i) {
    const bool isValid = drawn[i].expected.status.ok();
    if (!drawn[i].near && isValid)
      if (Status status = compareGradient(one, {i}, ""); !status.ok())
        return status;
    if (drawn[i].near)
      continue;
    all.push_back(i);
    if (isValid)
      valid.push_back(i);
  }
  finding.gradients = valid.size();
  if (valid.empty())
    return Status();
  if (Status status = compareGradient(two, all, "all in one batch: "); !status.ok())
    return status;
  const std::vector<std::vector<double>> ofTwo = gradients(two);
  if (Status status = compareGradient(one, all, "all in one batch: "); !status.ok())
    return status;
  if (!sameBits(gradients(one), ofTwo) && finding.ok()) {
    finding.bitsEqual = false;
    mismatch(valid[0], "gradients of one thread and of two have other bits");
  }
  return Status();
}

/// Whether the input shows a mismatch by itself: alone, or beside a copy of itself.
bool Verifier::failsAlone(const Instance &instance) {
  LineRunner::Line line = oracle.read(instance_json(info, entry, instance));
  std::vector<LineResult> expected, alone, beside;
  two.session.share_subtrees(finding.shared);
  if (drops)
    for (LineRunner *runner : std::initializer_list<LineRunner *>{&oracle, &one, &two})
      runner->drop(kDropoutSeed, kDropoutStep, {culprit().number, culprit().number});
  if (!oracle.compute(std::vector{line}, expected).ok() || !one.compute(std::vector{line}, alone).ok() ||
      !two.compute(std::vector{line, line}, beside).ok())
    return false;
  if (expected[0].tooLarge || (expected[0].status.ok() && !usable(expected[0])))
    return false;
  auto isWrong = [&](const LineResult &other) {
    return finding.comparesBits ? !sameBits(alone[0], other) : !differs(expected[0], other).empty();
  };
  return !differs(expected[0], alone[0]).empty() || isWrong(beside[0]) || isWrong(beside[1]);
}

Instance Verifier::shrink() {
  if (!failsAlone(culprit().instance))
    return culprit().instance; // only its company makes it fail
  double error = finding.maxError;
  Instance small = shrink_instance(info, entry, culprit().instance,
                                   [this](const Instance &each) { return failsAlone(each); });
  finding.maxError = error;
  return small;
}

} // namespace

/// Says what is wrong and leaves the input that shows it behind, and the weights that were drawn.
static Exit reportMismatch(Verifier &verifier, const Options &options, const Weights &weights,
                           const EntryInfo &entry) {
  const ModelInfo &info = weights.info();
  std::string words = verifier.finding.mismatch;
  std::string file = info.name + "-" + entry.name + "-failure.jsonl";
  printError(entry.name + ": " + words);
  std::string line = instance_json(info, entry, verifier.shrink()) + "\n";
  if (llvm::Error error = writeFile(file, verifier.finding.shared ? line + line : line))
    return fail(std::move(error));
  std::string loaded = options.weights;
  if (loaded.empty()) {
    loaded = info.name + "-" + entry.name + "-failure.safetensors";
    if (Status status = save_weights(loaded, weights); !status.ok())
      return fail(status);
  }
  llvm::errs() << "a small input that shows it is in " << file << "; compare\n";
  ModelOptions shown = options.model; // without gradients, which `run` does not print
  shown.train = false;
  shown.gradients.clear();
  shown.recompute = "none";
  for (bool first : {true, false}) { // with what it shared the compiled code differs from itself
    bool compiled = first || verifier.finding.shared;
    llvm::errs() << "  dbc " << (compiled ? "run " : "interpret ") << commandLine(shown, compiled)
                 << " --entry " << entry.name << " --weights " << loaded << " --input " << file
                 << (first && verifier.finding.shared ? " --share\n" : "\n");
  }
  return kUserError;
}

/// Biases of 0 and gains of 1, which a model starts from, would hide what is done with them.
static void disturb(Weights &weights) {
  std::mt19937 random(7);
  const ModelInfo &info = weights.info();
  for (int32_t param = 0; param < weights.count(); ++param)
    if (info.params[param].init.kind == InitInfo::Kind::Constant)
      for (size_t i = 0; i < weights.size(param); ++i)
        weights.data(param)[i] += static_cast<float>(random() % 1001) / 1000 - 0.5f;
}

/// Entries of which cuBLAS computes a product: what it adds up in which order may depend on the batch.
static Exit findBlas(const Options &options, ModelUnit &unit, std::set<std::string> &entries) {
  if (options.model.gpuBlas == "never")
    return kFine;
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  if (Exit exit = unit.transform("kernel", kernels, {}, /*device=*/true))
    return exit;
  kernels->walk([&](kernel::GemmOp gemm) {
    entries.insert(gemm->getParentOfType<kernel::ProgramOp>().getSymName().str());
  });
  return kFine;
}

Exit verifyCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  if (!hasEntry(oracle::describe(unit.meaning()), options.entry))
    return kUserError;
  LoadedModel loaded;
  if (Exit exit = load(options, unit, loaded, disturb))
    return exit;
  const ModelInfo &info = loaded.info();
  oracle::Interpreter interpreter(unit.meaning(), weightsView(*loaded.weights));
  interpreter.setLimit(kSteps);
  interpreter.setDifferentiates(options.model.train);
  llvm::Expected<std::vector<std::string>> gradients = gradientNames(unit.meaning(), options.model.gradients);
  if (!gradients)
    return fail(gradients.takeError());
  std::set<std::string> byBlas;
  if (Exit exit = findBlas(options, unit, byBlas))
    return exit;

  Exit exit = kFine;
  llvm::json::Array rows;
  for (size_t number = 0; number < info.entries.size(); ++number) {
    const EntryInfo &entry = info.entries[number];
    if (!options.entry.empty() && entry.name != options.entry)
      continue;
    interpreter.differentiateColumns(gradientColumns(info, static_cast<int32_t>(number), gradients.get()));
    Verifier verifier(interpreter, loaded, static_cast<int32_t>(number),
                      options.model.tf32 ? kTf32Bound : kBound,
                      options.model.f64 ? kGradientBound : kGradientBoundF32, options.model.train);
    verifier.finding.comparesBits = loaded.device() == nullptr || !byBlas.count(entry.name);
    if (!verifier.draw(options.count, options.seed, options.sizes) ||
        !verifier.drawWrong(options.count, options.seed, options.sizes)) {
      exit = kUserError;
      continue;
    }
    if (Status status = verifier.compare(); !status.ok())
      return fail(status);
    if (options.model.train && entry.is_loss && verifier.finding.ok())
      if (Status status = verifier.compareGradients(); !status.ok())
        return fail(status);
    Finding &finding = verifier.finding;
    if (!finding.ok())
      exit = reportMismatch(verifier, options, *loaded.weights, entry);
    if (finding.unclear) {
      printError(entry.name + ": only " + std::to_string(finding.valid - finding.unclear) + " of " +
                 std::to_string(finding.tried) +
                 " random inputs are valid; the others have a decision or a kink too near to call");
      exit = kUserError;
    }
    rows.push_back(
        llvm::json::Object{{"entry", entry.name},
                           {"valid", finding.valid},
                           {"redrawn", finding.redrawn},
                           {"wrong", finding.wrong},
                           {"several_errors", finding.several},
                           {"not_finite", finding.notFinite},
                           {"median_nodes", finding.medianNodes()},
                           {"max_error", std::isfinite(finding.maxError) ? llvm::json::Value(finding.maxError)
                                                                         : llvm::json::Value("inf")},
                           {"bits_equal", finding.comparesBits ? llvm::json::Value(finding.bitsEqual)
                                                               : llvm::json::Value(nullptr)}});
    const bool hasGradient = options.model.train && entry.is_loss;
    if (hasGradient) {
      (*rows.back().getAsObject())["gradients"] = static_cast<int64_t>(finding.gradients);
      (*rows.back().getAsObject())["at_kinks"] = finding.atKinks;
      (*rows.back().getAsObject())["redrawn_at_kinks"] = finding.redrawnAtKinks;
    }
    if (!options.json)
      llvm::outs() << entry.name << ": " << finding.valid << " valid"
                   << (finding.notFinite ? " (" + std::to_string(finding.notFinite) + " with inf or nan)"
                                         : "")
                   << (finding.atKinks ? " (" + std::to_string(finding.atKinks) + " at kinks)" : "") << ", "
                   << finding.redrawn << " redrawn"
                   << (finding.redrawnAtKinks ? " (" + std::to_string(finding.redrawnAtKinks) + " at kinks)"
                                              : "")
                   << ", largest error " << llvm::format("%.2g", finding.maxError)
                   << (!hasGradient ? ""
                       : finding.gradients == 0
                           ? ", gradients not compared: each input has a decision too near to call"
                           : llvm::formatv(", of gradients {0:e1}", finding.gradientError).str())
                   << ", bits "
                   << (!finding.comparesBits ? "not compared, as cuBLAS computes products"
                       : finding.bitsEqual   ? "equal"
                                             : "differ")
                   << (finding.ok() && !finding.unclear ? "" : ": FAILED") << "\n";
  }
  if (options.json)
    llvm::outs() << llvm::json::Value(std::move(rows)) << "\n";
  return exit;
}

} // namespace dbc::driver
