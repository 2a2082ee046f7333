// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "DevMetric.h"
#include "../io/Result.h"

#include <algorithm>
#include <dbc/io/value.h>

namespace dbc::train {

using io::failure;

constexpr int32_t kDevBatch = 64;

Status DevMetric::choose(const TrainOptions &options, int32_t loss) {
  if (!options.metric.empty())
    return Metric::parse(options.metric, info_, metric_);
  metric_ = Metric::of_loss(loss);
  return Status();
}

Status DevMetric::read(const TrainOptions &options) {
  if (options.dev.empty())
    return Status();
  const EntryInfo &measured = info_.entries[metric_->entry()];
  TargetPath target;
  if (!options.target.empty())
    target = {options.target, /*given=*/true};
  reader_.emplace(info_, measured);
  if (Status status =
          DataSet::read(options.dev, info_, measured, metric_->needs_target() ? &target : nullptr, data_);
      !status.ok())
    return status;
  for (size_t i = 0; i < data_->size(); ++i)
    if (std::string wrong = metric_->misfit(data_->target(i)); !wrong.empty())
      return failure(data_->name(i) + ": what `" + measured.name + "` is compared with: " + wrong,
                     Code::bad_input);
  return Status();
}

Status DevMetric::measure(Session &session, Batch &batch, int64_t epoch, LeftOut &left_out, double &metric) {
  metric_->clear();
  computed_ = 0;
  session.drop_elements(false);
  session.give_gradients(false);
  Status status;
  for (size_t begin = 0; begin < data_->size() && status.ok(); begin += kDevBatch)
    status =
        measure_batch(session, batch, begin, std::min(begin + kDevBatch, data_->size()), epoch, left_out);
  session.drop_elements(true);
  session.give_gradients(true);
  if (status.ok() && metric_->count() == 0)
    return failure(data_->file() + ": no line could be computed", Code::bad_input);
  metric = metric_->value();
  return status;
}

Status DevMetric::measure_batch(Session &session, Batch &batch, size_t begin, size_t end, int64_t epoch,
                                LeftOut &left_out) {
  const EntryInfo &entry = info_.entries[metric_->entry()];
  reader_->clear(batch);
  for (size_t i = begin; i < end; ++i)
    if (Status status = reader_->append(data_->line(i), batch); !status.ok())
      return status;
  if (Status status = session.run(metric_->entry(), batch); !status.ok())
    return status;
  for (size_t i = begin; i < end; ++i) {
    const auto input = static_cast<int32_t>(i - begin);
    if (const Status &status = session.status(input); !status.ok()) {
      left_out.add(*data_, i, status.message);
      continue;
    }
    ++computed_;
    const Value found = output_value(session.outputs(metric_->entry()), entry, input);
    if (std::string wrong = metric_->add(found, data_->target(i)); !wrong.empty())
      return failure("epoch " + std::to_string(epoch) + ": " + data_->name(i) + ": `" + entry.name + "` " +
                         wrong + "; training ends, and what was saved stays",
                     Code::bad_input);
  }
  return Status();
}

} // namespace dbc::train
