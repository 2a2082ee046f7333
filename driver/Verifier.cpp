// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What compiled code makes of inputs that are drawn or given, beside the oracle and in several batchings and
// thread counts.
#include "driver/Verifier.h"
#include "driver/Files.h"
#include "driver/Progress.h"
#include "driver/Spoil.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <tuple>

namespace dbc::driver {

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
/// Where the first ones all take more steps than the oracle does, so will the others.
constexpr int64_t kMostOverLimit = 10;

namespace {

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

} // namespace

bool Verifier::usable(const LineResult &result) const {
  return result.status.ok() && !(result.margin < kMargin);
}

void Verifier::countValid(const Drawn &each) {
  ++finding.valid;
  finding.notFinite += each.expected.json.find("inf\"") != std::string::npos ||
                       each.expected.json.find("\"nan\"") != std::string::npos;
  finding.nodes.push_back(each.instance.nodes.size());
  finding.atKinks += each.atKink;
}

Status Verifier::take(const std::vector<std::string> &lines) {
  Progress progress(entry.name + ": inputs interpreted");
  InstanceReader reader(info, entry);
  Batch batch(info);
  for (const std::string &line : lines) {
    progress.show(finding.tried, static_cast<int64_t>(lines.size()));
    Drawn each;
    each.number = finding.tried++;
    each.line = oracle.read(line);
    if (drops)
      oracle.drop(kDropoutSeed, kDropoutStep, {each.number});
    std::vector<LineResult> results;
    if (Status status = oracle.compute(std::vector{each.line}, results); !status.ok())
      return status;
    each.expected = std::move(results[0]);
    reader.clear(batch);
    if (reader.append(*each.line, batch).ok())
      if (Status status = get_instance(entry, batch, 0, each.instance); !status.ok())
        return status;
    each.near = each.expected.status.ok() && !usable(each.expected);
    each.atKink = each.expected.status.ok() && each.expected.gradient.kink < kKink;
    if (each.expected.tooLarge)
      ++finding.leftOut;
    else if (each.expected.status.ok())
      countValid(each);
    else if (finding.refusal.empty())
      finding.refusal = each.expected.status.message;
    keep(std::move(each));
  }
  return Status();
}

bool Verifier::draw(int64_t count, uint64_t seed, const DrawOptions &sizes) {
  std::map<std::string, std::pair<int64_t, std::string>>
      refused; ///< by message without numbers: how often, the first
  static const std::regex digits("[0-9]+");
  std::vector<Drawn> near, atKinks;
  const DrawOptions large = largeSizes(sizes), small = smallSizes(sizes);
  Progress progress(entry.name + ": inputs drawn");
  auto refuse = [&](const std::string &why) {
    progress.clear();
    printError(entry.name + ": " + why);
    return false;
  };
  int64_t overLimit = 0; // of those that are drawn alike, while all are
  for (int64_t number = 0; finding.valid < count && number < kMostDrawsPerInput * count; ++number) {
    const bool isLarge = number < kDrawsPerInput * count;
    if (!isLarge && finding.valid + static_cast<int64_t>(near.size() + atKinks.size()) >= count)
      break; // those with a near decision do then: small ones have one too
    const DrawOptions &wanted = isLarge ? large : small;
    progress.show(finding.valid, count);
    ++finding.tried;
    Drawn each;
    if (Status status = drawInput(info, entry, seed, number, wanted, drops, oracle, each); !status.ok())
      return refuse(status.message);
    if (each.expected.status.code != Code::limit)
      overLimit = -1;
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
      countValid(each);
    } else {
      std::string message = without_input(each.expected.status.message);
      auto &[times, first] = refused[std::regex_replace(message, digits, "N")];
      if (++times == 1)
        first = message;
    }
    if (each.expected.status.ok() || isLarge)
      keep(std::move(each));
    if (overLimit >= 0 && ++overLimit == kMostOverLimit) {
      if (!isLarge)
        break;
      overLimit = 0;
      number = kDrawsPerInput * count - 1;
    }
  }
  // At kinks there are rules too (manual, G1).
  for (size_t i = 0; finding.valid < count && i < atKinks.size(); ++i) {
    countValid(atKinks[i]);
    --finding.redrawn;
    --finding.redrawnAtKinks;
    drawn.push_back(std::move(atKinks[i]));
  }
  // A decision may stand in an arm that is not chosen: where nothing better is to be had, such inputs do.
  for (size_t i = 0; finding.valid < count && i < near.size(); ++i) {
    countValid(near[i]);
    --finding.redrawn;
    drawn.push_back(std::move(near[i]));
  }
  if (finding.valid == count)
    return true;
  auto most = std::max_element(refused.begin(), refused.end(),
                               [](const auto &a, const auto &b) { return a.second.first < b.second.first; });
  return refuse("only " + std::to_string(finding.valid) + " of " + std::to_string(finding.tried) +
                " random inputs are valid; the most frequent error (" + std::to_string(most->second.first) +
                "): " + most->second.second);
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

Status Verifier::drawWrong(int64_t count, uint64_t seed, const DrawOptions &sizes) {
  Progress progress(entry.name + ": inputs drawn with mistakes");
  for (int64_t number = 0; number < count; ++number) {
    progress.show(number, count);
    Drawn each;
    if (Status status = draw_instance(info, entry, seed, number, each.instance, largeSizes(sizes));
        !status.ok())
      return status;
    spoil(info, entry, each.instance, seed, number);
    if (drops)
      oracle.drop(kDropoutSeed, kDropoutStep, {each.number = number});
    each.line = oracle.read(instance_json(info, entry, each.instance));
    std::vector<LineResult> results;
    if (Status status = oracle.compute(std::vector{each.line}, results); !status.ok())
      return status;
    each.expected = std::move(results[0]);
    if (!each.expected.status.ok())
      keep(std::move(each));
  }
  return Status();
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
    if (!words.empty() && drawn[i].near) {
      if (how.empty() && drawn[i].expected.status.ok()) // once an input
        countUnclear(drawn[i]);
    } else if (!words.empty())
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
  const std::vector<Way> all = ways(order, shuffled, twice);
  Progress progress(entry.name + ": ways to run them compared");
  for (const Way &way : all) {
    progress.show(&way - all.data(), static_cast<int64_t>(all.size()));
    way.choose();
    if (Status status = run(way.runner, way.order, way.batch, other); !status.ok())
      return status;
    bool fine = finding.ok();
    compareRuns(first, other, way.how);
    finding.shared |= way.share && fine && !finding.ok();
  }
  return Status();
}

void Verifier::Way::choose() const {
  runner.session.limit_sub_batch(subBatch);
  runner.session.share_subtrees(share);
  if (!runner.context)
    return;
  runner.context->choose_path(path);
  runner.context->limit_blocks(blocks);
  runner.context->use_large_m_from(largeMBlocks);
  runner.context->distribute_to(blockGroups);
  runner.context->choose_waits(waits);
  runner.session.compute_on(&*runner.context, interleaved ? &*runner.next : nullptr);
}

std::vector<Verifier::Way> Verifier::ways(const std::vector<size_t> &order,
                                          const std::vector<size_t> &shuffled,
                                          const std::vector<size_t> &twice) {
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
  return ways;
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
} // namespace dbc::driver
