// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "DevMetric.h"
#include "../io/Result.h"

#include <algorithm>
#include <cstring>
#include <dbc/io/value.h>

namespace dbc::train {

using io::failure;

constexpr size_t kDevBatch = 64;

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
  if (!options.label.empty())
    target = {options.label, /*given=*/true};
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

Status DevMetric::measure(Session &session, Batch &batch, Ranks &ranks, int64_t epoch, LeftOut &left_out,
                          double &metric) {
  metric_->clear();
  computed_ = 0;
  std::vector<Result> results;
  const size_t round = kDevBatch * static_cast<size_t>(ranks.size());
  for (size_t begin = 0; begin < data_->size(); begin += round) {
    session.drop_elements(false);
    session.give_gradients(false);
    const Status status =
        compute_round(session, batch, ranks, begin, std::min(begin + round, data_->size()), results);
    session.drop_elements(true);
    session.give_gradients(true);
    if (!status.ok())
      return status;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].failed.empty()) {
        left_out.add(*data_, begin + i, results[i].failed);
        continue;
      }
      ++computed_;
      if (std::string wrong = metric_->add(results[i].numbers, data_->target(begin + i)); !wrong.empty())
        return ranks.agreed(failure("epoch " + std::to_string(epoch) + ": " + data_->name(begin + i) + ": `" +
                                        info_.entries[metric_->entry()].name + "` " + wrong +
                                        "; training ends, and what was saved stays",
                                    Code::bad_input));
    }
  }
  if (metric_->count() == 0)
    return ranks.agreed(failure(data_->file() + ": no line could be computed", Code::bad_input));
  metric = metric_->value();
  return Status();
}

/// The results of some lines, of which each rank computes a batch.
Status DevMetric::compute_round(Session &session, Batch &batch, Ranks &ranks, size_t begin, size_t end,
                                std::vector<Result> &results) {
  const size_t own = std::min(begin + kDevBatch * static_cast<size_t>(ranks.rank()), end);
  if (Status status =
          ranks.agree(compute(session, batch, own, std::min<size_t>(own + kDevBatch, end), results));
      !status.ok() || ranks.is_alone())
    return status;
  std::string text;
  for (const Result &result : results)
    write(result, text);
  std::vector<std::string> texts;
  if (Status status = ranks.gather_texts(text, texts); !status.ok())
    return status;
  results.clear();
  for (const std::string &each : texts)
    for (const char *at = each.data(); at != each.data() + each.size();)
      results.push_back(read(at));
  return Status();
}

Status DevMetric::compute(Session &session, Batch &batch, size_t begin, size_t end,
                          std::vector<Result> &results) {
  const EntryInfo &entry = info_.entries[metric_->entry()];
  results.assign(end - begin, {});
  if (begin == end)
    return Status();
  reader_->clear(batch);
  for (size_t i = begin; i < end; ++i)
    if (Status status = reader_->append(data_->line(i), batch); !status.ok())
      return status;
  if (Status status = session.run(metric_->entry(), batch); !status.ok())
    return status;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto input = static_cast<int32_t>(i);
    if (const Status &status = session.status(input); !status.ok())
      results[i].failed = status.message;
    else
      results[i].numbers = metric_->numbers_of(output_value(session.outputs(metric_->entry()), entry, input));
  }
  return Status();
}

/// As bytes: two lengths, the reason, the numbers.
void DevMetric::write(const Result &result, std::string &text) {
  const uint64_t lengths[] = {result.failed.size(), result.numbers.size()};
  text.append(reinterpret_cast<const char *>(lengths), sizeof lengths);
  text += result.failed;
  text.append(reinterpret_cast<const char *>(result.numbers.data()), lengths[1] * sizeof(double));
}

/// Reads what write() wrote, and goes behind it.
DevMetric::Result DevMetric::read(const char *&text) {
  uint64_t lengths[2];
  std::memcpy(lengths, text, sizeof lengths);
  text += sizeof lengths;
  Result result;
  result.failed.assign(text, lengths[0]);
  text += lengths[0];
  result.numbers.resize(lengths[1]);
  if (lengths[1] > 0)
    std::memcpy(result.numbers.data(), text, lengths[1] * sizeof(double));
  text += lengths[1] * sizeof(double);
  return result;
}

} // namespace dbc::train
