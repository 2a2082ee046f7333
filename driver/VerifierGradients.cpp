// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Gradients that compiled code gives, beside the oracle's.
#include "driver/InputGradients.h"
#include "driver/Progress.h"
#include "driver/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

namespace dbc::driver {

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
    countUnclear(first);
    finding.gradientError = largest;
    return Status();
  }
  mismatch(inputs[0], how + words);
  return Status();
}

static size_t sizeOf(const ParamInfo &param) {
  size_t size = 1;
  for (int64_t extent : param.extents)
    size *= extent;
  return size;
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
    if (llvm::is_contained(entry.gradients, static_cast<int32_t>(param))) // 0 where no input reads it
      expected.resize(sizeOf(each));
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
                llvm::formatv("{0:e2} at element {1}: the oracle gives {2:e8}, compiled code {3:e8}", error,
                              i, want, got)
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
  const size_t size = sizeOf(info.params[param]);
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
  Progress progress(entry.name + ": gradients compared");
  for (size_t i = 0; i < drawn.size(); ++i) {
    progress.show(static_cast<int64_t>(i), static_cast<int64_t>(drawn.size()));
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
  if (Status status = compareGradient(one, all, "all in one batch: "); !status.ok())
    return status;
  return compareGradientBits(all);
}

/// Those of one batch, computed in other ways.
Status Verifier::compareGradientBits(const std::vector<size_t> &inputs) {
  const std::vector<std::vector<double>> expected = gradients(one);
  for (const Way &way : ways(inputs, inputs, inputs)) {
    const bool isWhole = way.batch >= inputs.size() && (way.subBatch == 0 || way.subBatch == INT32_MAX);
    if (!isWhole || way.share || way.interleaved)
      continue;
    way.choose();
    std::vector<LineResult> results;
    if (Status status = compute(way.runner, inputs, results); !status.ok())
      return status;
    if (!finding.comparesBits || sameBits(expected, gradients(way.runner)) || !finding.ok())
      continue;
    finding.bitsEqual = false;
    mismatch(inputs[0], std::string("the gradients of all in one batch have other bits ") + way.how);
  }
  return Status();
}
} // namespace dbc::driver
