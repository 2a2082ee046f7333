// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The metric of a training, on the inputs of --dev.
#pragma once

#include "DataSet.h"
#include "LeftOut.h"
#include "Metric.h"
#include "Ranks.h"

#include <dbc/batch.h>
#include <dbc/io/instances.h>
#include <dbc/model_info.h>
#include <dbc/session.h>
#include <dbc/train/options.h>
#include <optional>
#include <string>
#include <vector>

namespace dbc::train {

class DevMetric {
public:
  /// `info` is borrowed.
  explicit DevMetric(const ModelInfo &info) : info_(info) {}

  /// Takes the metric of --metric, else the loss.
  Status choose(const TrainOptions &options, int32_t loss);
  /// Reads --dev, if there is one.
  Status read(const TrainOptions &options);
  bool has_data() const { return data_.has_value(); }
  const DataSet &data() const { return *data_; }
  const std::string &name() const { return metric_->name(); }
  bool is_better(double a, double b) const { return metric_->is_better(a, b); }

  /// Measures on all inputs of --dev, without dropout and gradients. Ranks compute them in turn, and all add
  /// the results up in the order of lines: so they have the same metric, which is that of one process with
  /// the same weights. `epoch` is for messages.
  Status measure(Session &session, Batch &batch, Ranks &ranks, int64_t epoch, LeftOut &left_out,
                 double &metric);
  /// Lines that were measured last.
  size_t computed() const { return computed_; }

private:
  /// What came of an input.
  struct Result {
    std::string failed; ///< why it could not be computed
    std::vector<double> numbers;
  };
  Status compute(Session &session, Batch &batch, size_t begin, size_t end, std::vector<Result> &results);
  Status compute_round(Session &session, Batch &batch, Ranks &ranks, size_t begin, size_t end,
                       std::vector<Result> &results);
  static void write(const Result &result, std::string &text);
  static Result read(const char *&text);
  const ModelInfo &info_;
  std::optional<Metric> metric_;
  std::optional<DataSet> data_;
  std::optional<InstanceReader> reader_;
  size_t computed_ = 0;
};

} // namespace dbc::train
