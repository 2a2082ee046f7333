// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/train/Trainer.h"
#include "driver/Files.h"
#include "driver/Lines.h"
#include "driver/train/Curves.h"
#include "driver/train/Digits.h"
#include "driver/train/Errors.h"
#include "frontend/syntax/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <dbc/io/safetensors.h>
#include <numeric>
#include <random>

namespace dbc::driver {

namespace json = llvm::json;

namespace {

constexpr size_t kMostWarned = 10; ///< lines that could not be computed are named
constexpr int32_t kDevBatch = 64;

/// The inputs of an epoch in the order in which they are trained on: any order is as likely.
std::vector<size_t> shuffled(size_t count, uint64_t seed, int64_t epoch) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t(0));
  std::seed_seq from{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                     static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32)};
  std::mt19937_64 random(from); // the same numbers everywhere, which std::shuffle does not promise
  for (size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  return order;
}

json::Object toJson(const std::map<std::string, double> &values) {
  json::Object object;
  for (const auto &[name, value] : values)
    object[name] = value;
  return object;
}

} // namespace

llvm::Expected<int32_t> findLoss(const ModelInfo &info, const std::string &name) {
  std::vector<std::string> losses;
  int32_t found = -1;
  for (size_t i = 0; i < info.entries.size(); ++i)
    if (info.entries[i].is_loss) {
      losses.push_back(info.entries[i].name);
      if (name.empty() || info.entries[i].name == name)
        found = static_cast<int32_t>(i);
    }
  if (losses.empty())
    return error("model `" + info.name + "` has no loss: there is nothing to train by");
  if (found < 0) {
    std::string near = frontend::didYouMean(name, losses);
    return error("model `" + info.name + "` has no loss `" + name + "`" + (near.empty() ? "" : "; ") + near);
  }
  if (name.empty() && losses.size() > 1) {
    std::string list;
    for (const std::string &each : losses)
      list += (list.empty() ? "`" : ", `") + each + "`";
    return error("which one? --loss takes one of " + list);
  }
  return found;
}

Trainer::Trainer(const TrainOptions &options, LoadedModel &loaded, const std::map<std::string, int64_t> &dims)
    : options_(options), loaded_(loaded), dims_(dims), info_(loaded.info()), batch_(info_),
      session_(loaded.model, options.threads), optimizer_(options.optimizer), rate_(options.rate) {
  if (!options.out.empty())
    folder_.emplace(options.out);
}

llvm::Error Trainer::setEach(const std::string &option, const std::string &name,
                             llvm::function_ref<void(int32_t)> set) const {
  bool found = false;
  std::vector<std::string> names;
  for (size_t i = 0; i < info_.params.size(); ++i) {
    const ParamInfo &param = info_.params[i];
    if (param.is_const)
      continue;
    names.push_back(param.name);
    if (param.name != name && !llvm::StringRef(param.name).starts_with(name + "."))
      continue;
    set(static_cast<int32_t>(i));
    found = true;
  }
  if (found)
    return llvm::Error::success();
  std::string near = frontend::didYouMean(name, names);
  return error(option + ": model `" + info_.name + "` has no param `" + name + "`" +
               (near.empty() ? "" : "; ") + near);
}

llvm::Error Trainer::setParameters() {
  for (const std::string &name : options_.freeze)
    if (llvm::Error failed = setEach("--freeze", name, [&](int32_t param) { optimizer_.freeze(param); }))
      return failed;
  if (!options_.rateOf.empty() && !(options_.rate.base > 0))
    return error(
        "--lr NAME=X is a part of the rate of all, which is 0; --freeze keeps parameters as they are");
  for (const auto &[name, rate] : options_.rateOf) {
    const auto scale = static_cast<float>(rate / options_.rate.base);
    if (llvm::Error failed =
            setEach("--lr", name, [&](int32_t param) { optimizer_.set_lr_scale(param, scale); }))
      return failed;
  }
  for (const auto &[name, each] : options_.decayOf) {
    const auto decay = static_cast<float>(each);
    if (llvm::Error failed = setEach("--weight-decay", name,
                                     [&](int32_t param) { optimizer_.set_weight_decay(param, decay); }))
      return failed;
  }
  return llvm::Error::success();
}

/// By the names of the options, but for the model and its dims: all that the bits depend on.
json::Object Trainer::asked() const {
  const OptimizerOptions &optimizer = options_.optimizer;
  std::vector<std::string> frozen = options_.freeze;
  llvm::sort(frozen);
  json::Object dims;
  for (const auto &[name, value] : dims_)
    dims[name] = value;
  json::Object object{
      {"model", info_.name},
      {"dims", std::move(dims)},
      {"program", "with hash " + loaded_.hash},
      {"--loss", info_.entries[loss_].name},
      {"--train", "a file with hash " + train_->hash()},
      {"--dev", dev_ ? json::Value("a file with hash " + dev_->hash()) : json::Value(nullptr)},
      {"--metric", options_.metric},
      {"--target", options_.target},
      {"--batch", options_.batch},
      {"--seed", static_cast<int64_t>(options_.seed)},
      {"--weights", weightsHash_},
      {"--real", loaded_.model.code().f64 ? "f64" : "f32"},
      {"--optimizer", name_of(optimizer.kind)},
      {"--lr", rate_.base},
      {"--lr of parameters", toJson(options_.rateOf)},
      {"--momentum", optimizer.momentum},
      {"--nesterov", optimizer.nesterov},
      {"--weight-decay", optimizer.weight_decay},
      {"--weight-decay of parameters", toJson(options_.decayOf)},
      {"--clip-norm", optimizer.clip_norm},
      {"--freeze", json::Array(frozen)},
      {"--schedule", name_of(rate_.kind)},
      {"--warmup", rate_.warm_up},
      {"--gamma", rate_.gamma},
      {"--every", options_.everyEpochs},
  };
  if (rate_.kind == LearningRate::Kind::Cosine)
    object["--epochs"] = options_.epochs;
  return object;
}

llvm::Error Trainer::prepare() {
  llvm::Expected<int32_t> loss = findLoss(info_, options_.loss);
  if (!loss)
    return loss.takeError();
  loss_ = *loss;
  if (info_.entries[loss_].gradients.empty())
    return error("loss `" + info_.entries[loss_].name + "` depends on no param: there is nothing to train");
  if (llvm::Error failed = setParameters())
    return failed;
  if (!options_.metric.empty() && options_.dev.empty())
    return error("--metric is measured on the inputs of --dev, which is not given");
  for (const auto &[flag, written] : {std::pair("--log", options_.log), std::pair("--plot", options_.plot)})
    for (const auto &[other, read] : {std::pair("--train", options_.train), std::pair("--dev", options_.dev)})
      if (!written.empty() && !read.empty() && llvm::sys::fs::equivalent(written, read))
        return error(llvm::Twine(flag) + " would replace the file of " + other);
  if (!options_.plot.empty() && options_.log.empty() && !folder_)
    return error("--plot draws the log, which --out or --log keep");
  if (options_.metric.empty()) {
    metric_ = Metric::ofLoss(loss_);
  } else {
    llvm::Expected<Metric> metric = Metric::parse(options_.metric, info_);
    if (!metric)
      return metric.takeError();
    metric_ = std::move(*metric);
  }
  llvm::Expected<DataSet> train = DataSet::read(options_.train, info_, info_.entries[loss_]);
  if (!train)
    return train.takeError();
  train_ = std::move(*train);
  reader_.emplace(info_, info_.entries[loss_]);
  if (!options_.dev.empty()) {
    const EntryInfo &entry = info_.entries[metric_->entry()];
    TargetPath target;
    if (!options_.target.empty())
      target.name = options_.target;
    llvm::Expected<DataSet> dev =
        DataSet::read(options_.dev, info_, entry, metric_->needsTarget() ? &target : nullptr);
    if (!dev)
      return dev.takeError();
    dev_ = std::move(*dev);
    devReader_.emplace(info_, entry);
  }
  const auto batch = static_cast<size_t>(options_.batch);
  const auto steps = static_cast<int64_t>((train_->size() + batch - 1) / batch);
  rate_.every = options_.everyEpochs * steps;
  rate_.total = options_.epochs * steps;
  rate_.more_is_better = !metric_->isBetter(0, 1);
  if (Status status = check(rate_); !status.ok())
    return toError(status);

  if (!options_.weights.empty()) {
    llvm::Expected<std::string> text = readFile(options_.weights);
    if (!text)
      return text.takeError();
    weightsHash_ = "a file with hash " + hashOf({*text});
  }
  if (folder_) {
    if (llvm::Error failed = folder_->open())
      return failed;
    if (folder_->exists() && !options_.resume)
      return error(options_.out +
                   ": holds a training already; --resume goes on with it, another --out begins "
                   "another one");
    if (folder_->exists()) {
      if (llvm::Error failed = folder_->load(*loaded_.weights, optimizer_, progress_, asked()))
        return failed;
      if (llvm::Error failed = toError(loaded_.model.renew(*loaded_.weights)))
        return failed;
      meter_.say(llvm::formatv("resumes after epoch {0}, step {1}", progress_.epoch, progress_.step));
    } else if (options_.resume) {
      meter_.say(options_.out + ": holds no training yet, begins one");
    }
  } else if (!options_.resume) {
    meter_.say("without --out nothing is kept");
  } else {
    return error("--resume goes on with what lies in the folder of --out, which is not given");
  }
  const std::string file = !options_.log.empty() ? options_.log : folder_ ? folder_->file("log.csv") : "";
  if (!file.empty()) {
    llvm::Expected<Log> log = Log::open(file, progress_.logBytes);
    if (!log)
      return log.takeError();
    log_ = std::move(*log);
  }
  return plot(); // if it cannot be written, that is said before anything is trained
}

llvm::Error Trainer::fill(const std::vector<size_t> &order, size_t begin, size_t end) {
  reader_->clear(batch_);
  inputNumbers_.clear();
  for (size_t i = begin; i < end; ++i) {
    if (Status status = reader_->append(train_->line(order[i]), batch_); !status.ok())
      return toError(status); // it was right when it was read: there is no memory
    inputNumbers_.push_back(static_cast<int64_t>(order[i]));
  }
  // The mean over the batch of each input's own weight times its loss.
  inputWeights_ = reader_->weights();
  for (float &weight : inputWeights_)
    weight /= static_cast<float>(end - begin);
  return llvm::Error::success();
}

void Trainer::warn(const DataSet &data, size_t line, const Status &status) {
  if (!warned_.insert({&data, line}).second)
    return;
  if (warned_.size() <= kMostWarned)
    meter_.say("warning: " + data.name(line) + ": is left out: " + withoutInput(status.message));
  else if (warned_.size() == kMostWarned + 1)
    meter_.say("warning: more lines are left out; they are not named");
}

/// The first parameter whose gradient has an infinity or NaN.
std::optional<std::string> Trainer::notFiniteGradient() const {
  const Outputs &outputs = session_.outputs(loss_);
  for (size_t param = 0; param < info_.params.size(); ++param) {
    const auto number = static_cast<int32_t>(param);
    const size_t size = outputs.gradient_size(number);
    const float *f32 = outputs.gradient_f32(number);
    const double *f64 = outputs.gradient_f64(number);
    for (size_t i = 0; i < size; ++i)
      if (!std::isfinite(f32 ? f32[i] : f64[i]))
        return info_.params[param].name;
  }
  return std::nullopt;
}

std::optional<std::string> Trainer::findNotFinite(const std::vector<size_t> &order, size_t begin,
                                                  size_t end) {
  const Outputs &outputs = session_.outputs(loss_);
  bool finite = true;
  for (size_t i = begin; i < end && finite; ++i)
    finite = std::isfinite(outputs.number(0, i - begin));
  std::optional<std::string> param = notFiniteGradient();
  if (finite && !param)
    return std::nullopt;
  // Which input is it: each by itself.
  for (size_t i = begin; i < end; ++i) {
    if (llvm::Error failed = fill(order, i, i + 1)) {
      llvm::consumeError(std::move(failed)); // then it is not found
      continue;
    }
    session_.weigh_losses(inputWeights_.data(), 1);
    session_.set_dropout(options_.seed, progress_.step);
    session_.number_inputs(inputNumbers_.data(), 1);
    if (!session_.run(loss_, batch_).ok() || !session_.status(0).ok())
      continue;
    const double loss = session_.outputs(loss_).number(0, 0);
    std::optional<std::string> own = notFiniteGradient();
    if (std::isfinite(loss) && !own)
      continue;
    if (own)
      param = own;
    return llvm::formatv("step {0}: {1} has the loss {2}{3}", progress_.step + 1, train_->name(order[i]),
                         general(loss, 6),
                         own ? ", and the gradient of `" + *own + "` is not finite" : std::string())
        .str();
  }
  return llvm::formatv(
             "step {0}: the gradient of `{1}` over the batch is not finite, though each input's is; "
             "the batch begins with {2}",
             progress_.step + 1, param.value_or("?"), train_->name(order[begin]))
      .str();
}

llvm::Error Trainer::step(const std::vector<size_t> &order, size_t begin, size_t end) {
  const auto start = std::chrono::steady_clock::now();
  if (llvm::Error failed = fill(order, begin, end))
    return failed;
  session_.weigh_losses(inputWeights_.data(), static_cast<int32_t>(inputWeights_.size()));
  // What is dropped depends on neither the batch nor on when the training was begun.
  session_.set_dropout(options_.seed, progress_.step);
  session_.number_inputs(inputNumbers_.data(), static_cast<int32_t>(inputNumbers_.size()));
  if (Status status = session_.run(loss_, batch_); !status.ok())
    return toError(status);
  if (session_.failed() == static_cast<int32_t>(end - begin)) {
    for (size_t i = begin; i < end; ++i)
      warn(*train_, order[i], session_.status(static_cast<int32_t>(i - begin)));
    return llvm::Error::success(); // there is nothing to learn from
  }
  double lossSum = 0;
  int64_t inputs = 0;
  for (size_t i = begin; i < end; ++i) {
    const Status &status = session_.status(static_cast<int32_t>(i - begin));
    if (!status.ok()) {
      warn(*train_, order[i], status);
      continue;
    }
    lossSum += session_.outputs(loss_).number(0, i - begin);
    ++inputs;
  }
  auto notFinite = [&](const Status &status) {
    std::optional<std::string> found = findNotFinite(order, begin, end);
    const std::string what =
        found         ? *found
        : status.ok() ? llvm::formatv("step {0}: the losses' sum is not finite", progress_.step + 1).str()
                      : status.message;
    return error(what + "; training ends, and what was saved stays");
  };
  if (!std::isfinite(lossSum))
    return notFinite(Status());
  optimizer_.options().lr = static_cast<float>(rate_at(rate_, progress_.step, progress_.plateau));
  if (Status status = optimizer_.step(*loaded_.weights, session_.outputs(loss_)); !status.ok())
    return notFinite(status);
  if (Status status = loaded_.model.renew(*loaded_.weights, optimizer_); !status.ok())
    return toError(status);
  progress_.lossSum += lossSum;
  progress_.inputs += inputs;
  progress_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return llvm::Error::success();
}

llvm::Error Trainer::runEpoch() {
  const std::vector<size_t> order = shuffled(train_->size(), options_.seed, progress_.epoch + 1);
  const auto batch = static_cast<size_t>(options_.batch);
  const double before = progress_.seconds;
  const int64_t inputsBefore = progress_.inputs;
  const std::string metric =
      log_ && !log_->rows().empty() ? metric_->name() + " " + fixed(log_->rows().back().metric, 4) : "";
  for (size_t begin = static_cast<size_t>(progress_.batch) * batch; begin < order.size(); begin += batch) {
    if (llvm::Error failed = step(order, begin, std::min(begin + batch, order.size())))
      return failed;
    ++progress_.step;
    ++progress_.batch;
    const double seconds = progress_.seconds - before;
    meter_.show(progress_.epoch + 1, options_.epochs, progress_.inputs, static_cast<int64_t>(order.size()),
                progress_.lossSum / static_cast<double>(std::max<int64_t>(progress_.inputs, 1)),
                seconds > 0 ? static_cast<double>(progress_.inputs - inputsBefore) / seconds : 0, metric);
    if (options_.checkpointEvery > 0 && progress_.step % options_.checkpointEvery == 0)
      if (llvm::Error failed = checkpoint())
        return failed;
  }
  epochRate_ = progress_.seconds > before
                   ? static_cast<double>(progress_.inputs - inputsBefore) / (progress_.seconds - before)
                   : 0;
  return finishEpoch();
}

llvm::Expected<double> Trainer::measure() {
  if (!dev_)
    return progress_.lossSum / static_cast<double>(progress_.inputs);
  metric_->clear();
  session_.drop_elements(false);
  session_.give_gradients(false);
  const llvm::scope_exit again([&] {
    session_.drop_elements(true);
    session_.give_gradients(true);
  });
  const EntryInfo &entry = info_.entries[metric_->entry()];
  for (size_t begin = 0; begin < dev_->size(); begin += kDevBatch) {
    const size_t end = std::min(begin + kDevBatch, dev_->size());
    devReader_->clear(batch_);
    for (size_t i = begin; i < end; ++i)
      if (Status status = devReader_->append(dev_->line(i), batch_); !status.ok())
        return toError(status);
    if (Status status = session_.run(metric_->entry(), batch_); !status.ok())
      return toError(status);
    for (size_t i = begin; i < end; ++i) {
      const auto input = static_cast<int32_t>(i - begin);
      if (const Status &status = session_.status(input); !status.ok()) {
        warn(*dev_, i, status);
        continue;
      }
      const std::vector<double> &target = dev_->target(i);
      if (!metric_->add(output_value(session_.outputs(metric_->entry()), entry, input), target))
        return error(dev_->name(i) + ": `" + entry.name + "` does not give as many numbers as the " +
                     llvm::Twine(target.size()) + " to compare with");
    }
  }
  if (metric_->count() == 0)
    return error(dev_->file() + ": no line could be computed");
  return metric_->value();
}

llvm::Error Trainer::finishEpoch() {
  if (progress_.inputs == 0)
    return error(train_->file() + ": no line could be computed");
  const double loss = progress_.lossSum / static_cast<double>(progress_.inputs);
  llvm::Expected<double> found = measure();
  if (!found)
    return found.takeError();
  const double metric = *found;
  const double lastRate = rate_at(rate_, progress_.step - 1, progress_.plateau);
  ++progress_.epoch;
  progress_.batch = 0;
  progress_.lossSum = 0;
  progress_.inputs = 0;
  observe(rate_, metric, progress_.plateau);
  // No number, such as the correlation with a constant, is better than none.
  const bool better =
      !std::isnan(metric) && (progress_.best.epoch == 0 || metric_->isBetter(metric, progress_.best.metric));
  progress_.sinceBest = better ? 0 : progress_.sinceBest + 1;
  if (better) {
    progress_.best = {progress_.epoch, loss, metric};
    if (folder_)
      if (llvm::Error failed = toError(save_weights(folder_->file("best.safetensors"), *loaded_.weights)))
        return failed;
  }
  if (log_) {
    if (llvm::Error failed = log_->add(
            {progress_.epoch, progress_.step, loss, metric, lastRate, epochRate_, progress_.seconds}))
      return failed;
    progress_.logBytes = log_->bytes();
  }
  const std::string measured = dev_ ? ", dev " + metric_->name() + " " + fixed(metric, 4) : "";
  meter_.say(llvm::formatv("epoch {0}: loss {1}{2}{3}, {4:f0} inputs/s", progress_.epoch, fixed(loss, 4),
                           measured, better ? " (best)" : "", epochRate_));
  if (llvm::Error failed = checkpoint())
    return failed;
  return plot();
}

llvm::Error Trainer::checkpoint() {
  return folder_ ? folder_->save(*loaded_.weights, optimizer_, progress_, asked()) : llvm::Error::success();
}

llvm::Error Trainer::plot() const {
  if (options_.plot.empty())
    return llvm::Error::success();
  return writeFile(options_.plot, drawCurves(log_->rows(), info_.name + ": " + info_.entries[loss_].name,
                                             metric_->name(), progress_.best.epoch));
}

bool Trainer::dueToStop() const {
  return progress_.epoch >= options_.epochs ||
         (options_.patience > 0 && progress_.sinceBest >= options_.patience);
}

llvm::Error Trainer::run() {
  while (!dueToStop())
    if (llvm::Error failed = runEpoch()) {
      meter_.clear();
      return failed;
    }
  if (progress_.epoch < options_.epochs)
    meter_.say(
        llvm::formatv("no better {0} for {1} epochs: training ends", metric_->name(), progress_.sinceBest));
  return llvm::Error::success();
}

} // namespace dbc::driver
