// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "driver/InputGradients.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dbc::driver {

static ColumnRef columnOf(const InputGradientInfo &info, int32_t entry, const Batch &batch) {
  return info.data < 0 ? ColumnRef{batch.args(), batch.arg_column(entry, info.column)}
                       : ColumnRef{info.data, info.column};
}

/// What the oracle has a gradient of other than 0, and the entry none; empty: nothing.
static std::string missing(const EntryInfo &entry, int32_t number, const Batch &batch,
                           llvm::ArrayRef<const oracle::Gradient *> expected) {
  for (const oracle::Gradient *each : expected) {
    if (each == nullptr)
      continue;
    for (const auto &[column, values] : each->inputs) {
      auto isGiven = [&, column = column](const InputGradientInfo &info) {
        const ColumnRef given = columnOf(info, number, batch);
        return given.table == column.first && given.column == column.second;
      };
      auto isZero = [](const auto &value) {
        return llvm::all_of(value.second, [](double x) { return x == 0; });
      };
      if (llvm::none_of(entry.input_gradients, isGiven) && !llvm::all_of(values, isZero))
        return "compiled code gives no gradient of `" + batch.column_info(column.first, column.second).name +
               "`";
    }
  }
  return "";
}

/// The position of the first value in a column that belongs to an input. A reader of lines fills a batch
/// input by input, so those of the others stand before and behind.
static int32_t firstValue(const Batch &batch, ColumnRef column, int32_t input) {
  const Range owners =
      column.table == batch.args() ? Range{input, input + 1} : batch.rows(column.table, {input, input + 1});
  if (batch.column_info(column.table, column.column).depth == 0)
    return owners.begin;
  const ColumnView::Lists &lists = batch.column(column.table, column.column).lists[0];
  int32_t first = batch.values(column.table, column.column);
  for (int32_t owner = owners.begin; owner < owners.end; ++owner)
    if (lists.begin[owner] < lists.end[owner])
      first = std::min(first, lists.begin[owner]);
  return first;
}

/// The mean of what the oracle gives, as the run should have it.
static std::vector<double> meanOf(llvm::ArrayRef<const oracle::Gradient *> expected, const Batch &batch,
                                  ColumnRef column, int64_t width) {
  std::vector<double> mean(batch.values(column.table, column.column) * width);
  for (size_t input = 0; input < expected.size(); ++input) {
    if (expected[input] == nullptr)
      continue;
    auto known = expected[input]->inputs.find({column.table, column.column});
    if (known == expected[input]->inputs.end())
      continue;
    const int64_t first = firstValue(batch, column, static_cast<int32_t>(input));
    for (const auto &[position, numbers] : known->second)
      for (size_t i = 0; i < numbers.size(); ++i)
        mean.at((first + position) * width + i) += numbers[i] / static_cast<double>(expected.size());
  }
  return mean;
}

std::string compareInputGradients(const EntryInfo &entry, int32_t number, const Batch &batch,
                                  const Outputs &outputs, llvm::ArrayRef<const oracle::Gradient *> expected,
                                  double bound, double &largest) {
  if (std::string words = missing(entry, number, batch, expected); !words.empty())
    return words;
  for (const auto &[n, info] : llvm::enumerate(entry.input_gradients)) {
    const auto which = static_cast<int32_t>(n);
    const ColumnRef column = columnOf(info, number, batch);
    const std::vector<double> mean = meanOf(expected, batch, column, info.width);
    const float *f32 = outputs.input_gradient_f32(which);
    const double *f64 = outputs.input_gradient_f64(which);
    if (outputs.input_gradient_values(which) * info.width != static_cast<int64_t>(mean.size()))
      return llvm::formatv("the gradient of {0} has {1} values, not {2}", info.name,
                           outputs.input_gradient_values(which), mean.size() / info.width);
    for (size_t i = 0; i < mean.size(); ++i) {
      const double want = mean[i], got = f64 ? f64[i] : f32[i];
      if (want == got || (std::isnan(want) && std::isnan(got)))
        continue;
      const double error = std::abs(got - want) / std::max({1.0, std::abs(want), std::abs(got)});
      largest = std::max(largest, error);
      if (!(error <= bound))
        return llvm::formatv("the gradients of {0} differ by {1:e2} at number {2} of value {3}: the oracle "
                             "gives {4}, compiled code {5}",
                             info.name, error, i % info.width, i / info.width, want, got);
    }
  }
  return "";
}

} // namespace dbc::driver
