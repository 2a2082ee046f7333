// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What tells one epoch from a better one: a number over all inputs of a data set.
#pragma once

#include <dbc/io/value.h>
#include <dbc/model_info.h>
#include <dbc/status.h>
#include <optional>
#include <string>
#include <vector>

namespace dbc::train {

/// mean:ENTRY, accuracy:ENTRY or pearson:ENTRY.
class Metric {
public:
  enum class Kind {
    Mean,     ///< of all numbers that the entry gives; lower is better
    Accuracy, ///< share of positions at which the entry's class is the target; higher is better
    Pearson   ///< correlation of the entry's number with the target; higher is better
  };

  /// From what --metric says. An error if there is no such metric or entry, or if the entry's result is
  /// nothing that it can be computed of. `info` is borrowed.
  static Status parse(const std::string &text, const ModelInfo &info, std::optional<Metric> &metric);
  /// The mean of a loss.
  static Metric of_loss(int32_t loss) { return Metric(Kind::Mean, loss, "loss"); }

  int32_t entry() const { return entry_; }
  /// "accuracy", or "loss".
  const std::string &name() const { return name_; }
  bool needs_target() const { return kind_ != Kind::Mean; }
  bool is_better(double a, double b) const { return kind_ == Kind::Mean ? a < b : a > b; }

  /// What is wrong with what an input is to be compared with, in words; empty: nothing.
  std::string misfit(const std::vector<double> &target) const;

  /// Begins anew.
  void clear();
  /// What is measured of what the entry gave for an input: all numbers, or classes, in order.
  std::vector<double> numbers_of(const Value &result) const;
  /// Adds the numbers of an input. What is wrong, in words, if one is none, or if there are others than in
  /// `target`; then nothing is added.
  std::string add(const std::vector<double> &found, const std::vector<double> &target);
  /// Numbers so far.
  double count() const { return count_; }
  /// NaN without inputs, and for pearson where either side is constant. An accuracy is a quotient of two
  /// integers, so that equal ones are equal.
  double value() const;

private:
  Metric(Kind kind, int32_t entry, std::string name) : kind_(kind), entry_(entry), name_(std::move(name)) {}
  Kind kind_;
  int32_t entry_;
  std::string name_;
  int64_t classes_ = 0; ///< of an accuracy: they are 0 .. classes_ - 1; 0: any integers
  double hits_ = 0;     ///< of an accuracy: positions that are right
  /// Of numbers x and targets y, in the order of inputs: means, and sums of products of distances from them.
  double count_ = 0, mean_x_ = 0, mean_y_ = 0, moment_xx_ = 0, moment_xy_ = 0, moment_yy_ = 0;
};

} // namespace dbc::train
