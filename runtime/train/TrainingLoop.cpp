// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "TrainingLoop.h"
#include "../io/Result.h"
#include "Curves.h"
#include "Digits.h"
#include "ParameterOptions.h"
#include "WholeFiles.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <dbc/io/safetensors.h>
#include <filesystem>
#include <numeric>
#include <random>
#include <system_error>

namespace dbc::train {

using io::failure;

namespace {

constexpr size_t kMostWarned = 10; ///< parameters are named

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

Status bad(const std::string &message) { return failure(message, Code::bad_call); }

} // namespace

TrainingLoop::TrainingLoop(const TrainOptions &options, const ModelCode &code)
    : options_(options), code_(code), info_(*code.info), weights_(info_), batch_(info_), dev_(info_),
      optimizer_(options.optimizer), rate_(options.rate), left_out_(meter_) {
  if (!options.out.empty())
    folder_.emplace(options.out);
}

/// The weights to begin with, and the model of them.
Status TrainingLoop::make_model() {
  weights_.draw(options_.seed);
  if (!options_.weights.empty()) {
    std::vector<std::string> drawn;
    const Status status = load_weights(options_.weights, weights_, &drawn);
    for (const std::string &name : drawn)
      meter_.say("`" + name + "` is not in " + options_.weights + ": it is drawn");
    if (!status.ok())
      return status;
  }
  // So that whoever else computes with these weights has those that compiled code has.
  for (int32_t param : code_.bf16_params)
    weights_.round_to_bf16(param);
  if (Status status = Model::make(code_, weights_, &model_); !status.ok())
    return status;
  session_.emplace(model_, options_.threads);
  return Status();
}

/// Says which parameters the loss has no gradient of: one that is read by `argmax` alone, say.
void TrainingLoop::warn_of_untrained() {
  const EntryInfo &loss = info_.entries[loss_];
  std::string names;
  size_t count = 0;
  for (size_t i = 0; i < info_.params.size(); ++i) {
    const auto param = static_cast<int32_t>(i);
    const bool is_trained =
        std::find(loss.gradients.begin(), loss.gradients.end(), param) != loss.gradients.end();
    if (is_trained || info_.params[i].is_const || ++count > kMostWarned)
      continue;
    names += (names.empty() ? "`" : ", `") + info_.params[i].name + "`";
  }
  if (count > kMostWarned)
    names += " and " + std::to_string(count - kMostWarned) + " more";
  if (count > 0)
    meter_.say("warning: loss `" + loss.name + "` has no gradient of " + names + ": not trained");
}

/// By the names of the options, but for the model and its dims: all that the bits depend on.
Json TrainingLoop::asked() const {
  const OptimizerOptions &optimizer = options_.optimizer;
  std::vector<std::string> frozen = options_.freeze;
  std::sort(frozen.begin(), frozen.end());
  const auto file = [](const std::string &hash) { return Json("a file with hash " + hash); };
  Json object = {
      {"model", info_.name},
      {"dims", Json::object()},
      {"program", options_.program.empty() ? Json(nullptr) : Json("with hash " + options_.program)},
      {"--loss", info_.entries[loss_].name},
      {"--train", file(train_->hash())},
      {"--dev", dev_.has_data() ? file(dev_.data().hash()) : Json(nullptr)},
      {"--metric", options_.metric},
      {"--target", options_.target},
      {"--batch", options_.batch},
      {"--seed", static_cast<int64_t>(options_.seed)},
      {"--weights", weights_hash_},
      {"--real", code_.f64 ? "f64" : "f32"},
      {"--optimizer", name_of(optimizer.kind)},
      {"--lr", rate_.base},
      {"--lr of parameters", Json::object()},
      {"--momentum", optimizer.momentum},
      {"--nesterov", optimizer.nesterov},
      {"--weight-decay", optimizer.weight_decay},
      {"--weight-decay of parameters", Json::object()},
      {"--clip-norm", optimizer.clip_norm},
      {"--freeze", frozen},
      {"--schedule", name_of(rate_.kind)},
      {"--warmup", rate_.warm_up},
      {"--gamma", rate_.gamma},
      {"--every", options_.every_epochs},
  };
  object["dims"].update(options_.dims);
  object["--lr of parameters"].update(options_.rate_of);
  object["--weight-decay of parameters"].update(options_.decay_of);
  if (rate_.kind == LearningRate::Kind::Cosine)
    object["--epochs"] = options_.epochs;
  // What `dbc train` has no option for is said where it is another than there.
  const OptimizerOptions usual;
  const LearningRate usual_rate;
  const auto say = [&](const char *name, const auto &value, const auto &as_usual) {
    if (value != as_usual)
      object[name] = value;
  };
  say("beta1", optimizer.beta1, usual.beta1);
  say("beta2", optimizer.beta2, usual.beta2);
  say("epsilon", optimizer.epsilon, usual_epsilon(optimizer.kind));
  say("lazy-rows", optimizer.lazy_rows, usual.lazy_rows);
  say("lr-floor", rate_.floor, usual_rate.floor);
  say("plateau-patience", rate_.patience, usual_rate.patience);
  say("plateau-threshold", rate_.threshold, usual_rate.threshold);
  return object;
}

/// The options say which files there are to be, and none takes the place of another.
Status TrainingLoop::check_files() const {
  if (!options_.metric.empty() && options_.dev.empty())
    return bad("--metric is measured on the inputs of --dev, which is not given");
  const auto same = [](const std::string &a, const std::string &b) { // which need not be there yet
    std::error_code none;
    return !a.empty() && !b.empty() &&
           (std::filesystem::equivalent(a, b, none) ||
            std::filesystem::weakly_canonical(a, none) == std::filesystem::weakly_canonical(b, none));
  };
  for (const auto &[flag, written] : {std::pair("--log", options_.log), std::pair("--plot", options_.plot)}) {
    for (const auto &[other, read] : {std::pair("--train", options_.train), std::pair("--dev", options_.dev),
                                      std::pair("--weights", options_.weights)})
      if (same(written, read))
        return bad(std::string(flag) + " would replace the file of " + other);
    if (folder_)
      for (const std::string &kept : folder_->files())
        if (same(written, kept))
          return bad(std::string(flag) + " would replace " + kept + ", which the training keeps");
  }
  if (same(options_.plot, options_.log) || (folder_ && same(options_.plot, folder_->file("log.csv"))))
    return bad("--plot would replace the log that it draws");
  if (!options_.plot.empty() && options_.log.empty() && !folder_)
    return bad("--plot draws the log, which --out or --log keep");
  return Status();
}

/// The metric, and the inputs of --train and --dev.
Status TrainingLoop::read_data() {
  if (Status status = dev_.choose(options_, loss_); !status.ok())
    return status;
  const EntryInfo &loss = info_.entries[loss_];
  if (Status status = DataSet::read(options_.train, info_, loss, /*target=*/nullptr, train_); !status.ok())
    return status;
  reader_.emplace(info_, loss);
  return dev_.read(options_);
}

/// Opens the folder, goes on with what lies there, and opens the log.
Status TrainingLoop::begin_keeping() {
  if (!options_.weights.empty()) {
    std::string text;
    if (Status status = read_file(options_.weights, text); !status.ok())
      return status;
    weights_hash_ = "a file with hash " + hash_of(text);
  }
  if (!folder_) {
    if (options_.resume)
      return bad("--resume goes on with what lies in the folder of --out, which is not given");
    meter_.say("without --out nothing is kept");
  } else {
    if (Status status = folder_->open(); !status.ok())
      return status;
    if (folder_->exists() && !options_.resume)
      return bad(options_.out + ": holds a training already; --resume goes on with it, another --out begins "
                                "another one");
    if (folder_->exists()) {
      if (Status status = folder_->load(weights_, optimizer_, progress_, asked()); !status.ok())
        return status;
      if (Status status = model_.renew(weights_); !status.ok())
        return status;
      meter_.say("resumes after epoch " + std::to_string(progress_.epoch) + ", step " +
                 std::to_string(progress_.step));
    } else if (options_.resume) {
      meter_.say(options_.out + ": holds no training yet, begins one");
    }
  }
  const std::string file = !options_.log.empty() ? options_.log : folder_ ? folder_->file("log.csv") : "";
  return file.empty() ? Status() : Log::open(file, progress_.log_bytes, log_);
}

Status TrainingLoop::prepare() {
  if (Status status = check(options_); !status.ok())
    return status;
  if (Status status = find_loss(info_, options_.loss, loss_); !status.ok())
    return status;
  if (Status status = make_model(); !status.ok())
    return status;
  if (info_.entries[loss_].gradients.empty()) {
    const bool none = std::none_of(info_.entries.begin(), info_.entries.end(),
                                   [](const EntryInfo &entry) { return entry.is_differentiated(); });
    return bad("loss `" + info_.entries[loss_].name + "` depends on no param: there is nothing to train" +
               (none ? "; or the model was compiled without `--mode train`" : ""));
  }
  if (Status status = set_parameters(options_, info_, optimizer_); !status.ok())
    return status;
  warn_of_untrained();
  if (Status status = check_files(); !status.ok())
    return status;
  if (Status status = read_data(); !status.ok())
    return status;
  const auto batch = static_cast<size_t>(options_.batch);
  const auto steps = static_cast<int64_t>((train_->size() + batch - 1) / batch);
  rate_.every = options_.every_epochs * steps;
  rate_.total = options_.epochs * steps;
  rate_.more_is_better = !dev_.is_better(0, 1);
  if (Status status = dbc::check(rate_); !status.ok())
    return status;
  if (Status status = begin_keeping(); !status.ok())
    return status;
  return plot(); // if it cannot be written, that is said before anything is trained
}

Status TrainingLoop::fill(const std::vector<size_t> &order, size_t begin, size_t end) {
  reader_->clear(batch_);
  input_numbers_.clear();
  for (size_t i = begin; i < end; ++i) {
    if (Status status = reader_->append(train_->line(order[i]), batch_); !status.ok())
      return status; // it was right when it was read: there is no memory
    input_numbers_.push_back(static_cast<int64_t>(order[i]));
  }
  // The mean over the batch of each input's own weight times its loss.
  input_weights_ = reader_->weights();
  for (float &weight : input_weights_)
    weight /= static_cast<float>(end - begin);
  return Status();
}

/// The first parameter whose gradient has an infinity or NaN.
std::optional<std::string> TrainingLoop::not_finite_gradient() const {
  const Outputs &outputs = session_->outputs(loss_);
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

std::optional<std::string> TrainingLoop::find_not_finite(const std::vector<size_t> &order, size_t begin,
                                                         size_t end) {
  const Outputs &outputs = session_->outputs(loss_);
  bool finite = true;
  for (size_t i = begin; i < end && finite; ++i)
    finite = std::isfinite(outputs.number(0, i - begin));
  std::optional<std::string> param = not_finite_gradient();
  if (finite && !param)
    return std::nullopt;
  // Which input is it: each by itself.
  for (size_t i = begin; i < end; ++i) {
    if (!fill(order, i, i + 1).ok())
      continue; // then it is not found
    session_->weigh_losses(input_weights_.data(), 1);
    session_->set_dropout(options_.seed, progress_.step);
    session_->number_inputs(input_numbers_.data(), 1);
    if (!session_->run(loss_, batch_).ok() || !session_->status(0).ok())
      continue;
    const double loss = session_->outputs(loss_).number(0, 0);
    std::optional<std::string> own = not_finite_gradient();
    if (std::isfinite(loss) && !own)
      continue;
    if (own)
      param = own;
    return "step " + std::to_string(progress_.step + 1) + ": " + train_->name(order[i]) + " has the loss " +
           general(loss, 6) + (own ? ", and the gradient of `" + *own + "` is not finite" : "");
  }
  return "step " + std::to_string(progress_.step + 1) + ": the gradient of `" + param.value_or("?") +
         "` over the batch is not finite, though each input's is; the batch begins with " +
         train_->name(order[begin]);
}

Status TrainingLoop::step(const std::vector<size_t> &order, size_t begin, size_t end) {
  const auto start = std::chrono::steady_clock::now();
  if (Status status = fill(order, begin, end); !status.ok())
    return status;
  session_->weigh_losses(input_weights_.data(), static_cast<int32_t>(input_weights_.size()));
  // What is dropped depends on neither the batch nor on when the training was begun.
  session_->set_dropout(options_.seed, progress_.step);
  session_->number_inputs(input_numbers_.data(), static_cast<int32_t>(input_numbers_.size()));
  if (Status status = session_->run(loss_, batch_); !status.ok())
    return status;
  if (session_->failed() == static_cast<int32_t>(end - begin)) {
    for (size_t i = begin; i < end; ++i)
      left_out_.add(*train_, order[i], session_->status(static_cast<int32_t>(i - begin)).message);
    return Status(); // there is nothing to learn from
  }
  double loss_sum = 0;
  int64_t inputs = 0;
  for (size_t i = begin; i < end; ++i) {
    const Status &status = session_->status(static_cast<int32_t>(i - begin));
    if (!status.ok()) {
      left_out_.add(*train_, order[i], status.message);
      continue;
    }
    loss_sum += session_->outputs(loss_).number(0, i - begin);
    ++inputs;
  }
  auto not_finite = [&](const Status &status) {
    std::optional<std::string> found = find_not_finite(order, begin, end);
    const std::string what =
        found         ? *found
        : status.ok() ? "step " + std::to_string(progress_.step + 1) + ": the losses' sum is not finite"
                      : status.message;
    return failure(what + "; training ends, and what was saved stays", Code::bad_input);
  };
  if (!std::isfinite(loss_sum))
    return not_finite(Status());
  optimizer_.options().lr = static_cast<float>(rate_at(rate_, progress_.step, progress_.plateau));
  if (Status status = optimizer_.step(weights_, session_->outputs(loss_)); !status.ok())
    return not_finite(status);
  if (Status status = model_.renew(weights_, optimizer_); !status.ok())
    return status;
  progress_.loss_sum += loss_sum;
  progress_.inputs += inputs;
  progress_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Status();
}

Status TrainingLoop::run_epoch() {
  const std::vector<size_t> order = shuffled(train_->size(), options_.seed, progress_.epoch + 1);
  const auto batch = static_cast<size_t>(options_.batch);
  const double before = progress_.seconds;
  const int64_t inputs_before = progress_.inputs;
  const std::string metric =
      log_ && !log_->rows().empty() ? dev_.name() + " " + fixed(log_->rows().back().metric, 4) : "";
  for (size_t begin = static_cast<size_t>(progress_.batch) * batch; begin < order.size(); begin += batch) {
    if (Status status = step(order, begin, std::min(begin + batch, order.size())); !status.ok())
      return status;
    ++progress_.step;
    ++progress_.batch;
    const double seconds = progress_.seconds - before;
    meter_.show(progress_.epoch + 1, options_.epochs, progress_.inputs, static_cast<int64_t>(order.size()),
                progress_.loss_sum / static_cast<double>(std::max<int64_t>(progress_.inputs, 1)),
                seconds > 0 ? static_cast<double>(progress_.inputs - inputs_before) / seconds : 0, metric);
    if (options_.checkpoint_every > 0 && progress_.step % options_.checkpoint_every == 0)
      if (Status status = checkpoint(); !status.ok())
        return status;
  }
  epoch_rate_ = progress_.seconds > before
                    ? static_cast<double>(progress_.inputs - inputs_before) / (progress_.seconds - before)
                    : 0;
  return finish_epoch();
}

Status TrainingLoop::measure(double &metric) {
  if (dev_.has_data())
    return dev_.measure(*session_, batch_, progress_.epoch + 1, left_out_, metric);
  metric = progress_.loss_sum / static_cast<double>(progress_.inputs);
  return Status();
}

/// What is saved can be gone on with.
Status TrainingLoop::check_weights() const {
  for (int32_t param = 0; param < weights_.count(); ++param) {
    const float *values = weights_.data(param);
    if (!std::all_of(values, values + weights_.size(param), [](float value) { return std::isfinite(value); }))
      return failure("step " + std::to_string(progress_.step) + ": `" + info_.params[param].name +
                         "` is not finite after it: the learning rate is too high; training ends, and what "
                         "was saved stays",
                     Code::bad_input);
  }
  return Status();
}

Status TrainingLoop::finish_epoch() {
  if (progress_.inputs == 0)
    return failure(train_->file() + ": no line could be computed", Code::bad_input);
  if (Status status = check_weights(); !status.ok())
    return status;
  const double loss = progress_.loss_sum / static_cast<double>(progress_.inputs);
  double metric = 0;
  if (Status status = measure(metric); !status.ok())
    return status;
  const double last_rate = rate_at(rate_, progress_.step - 1, progress_.plateau);
  const int64_t inputs = progress_.inputs;
  ++progress_.epoch;
  progress_.batch = 0;
  progress_.loss_sum = 0;
  progress_.inputs = 0;
  observe(rate_, metric, progress_.plateau);
  // No number, such as the correlation with a constant, is better than none.
  const bool better =
      !std::isnan(metric) && (progress_.best.epoch == 0 || dev_.is_better(metric, progress_.best.metric));
  progress_.since_best = better ? 0 : progress_.since_best + 1;
  if (better) {
    progress_.best = {progress_.epoch, loss, metric};
    if (folder_)
      if (Status status = save_weights(folder_->file("best.safetensors"), weights_); !status.ok())
        return status;
  }
  if (log_) {
    if (Status status = log_->add(
            {progress_.epoch, progress_.step, loss, metric, last_rate, epoch_rate_, progress_.seconds});
        !status.ok())
      return status;
    progress_.log_bytes = log_->bytes();
  }
  const auto left_out = [](size_t computed, size_t lines) {
    return computed == lines ? ""
                             : " (" + std::to_string(lines - computed) + " of " + std::to_string(lines) +
                                   " lines left out)";
  };
  const std::string measured = dev_.has_data() ? ", dev " + dev_.name() + " " + fixed(metric, 4) +
                                                     left_out(dev_.computed(), dev_.data().size())
                                               : "";
  meter_.say("epoch " + std::to_string(progress_.epoch) + ": loss " + fixed(loss, 4) +
             left_out(static_cast<size_t>(inputs), train_->size()) + measured + (better ? " (best)" : "") +
             ", " + fixed(epoch_rate_, 0) + " inputs/s");
  if (Status status = checkpoint(); !status.ok())
    return status;
  return plot();
}

Status TrainingLoop::checkpoint() {
  if (Status status = check_weights(); !status.ok())
    return status;
  return folder_ ? folder_->save(weights_, optimizer_, progress_, asked()) : Status();
}

Status TrainingLoop::plot() const {
  if (options_.plot.empty())
    return Status();
  return write_file(options_.plot, draw_curves(log_->rows(), info_.name + ": " + info_.entries[loss_].name,
                                               dev_.name(), progress_.best.epoch));
}

bool TrainingLoop::due_to_stop() const {
  return progress_.epoch >= options_.epochs ||
         (options_.patience > 0 && progress_.since_best >= options_.patience);
}

Status TrainingLoop::run() {
  while (!due_to_stop())
    if (Status status = run_epoch(); !status.ok()) {
      meter_.clear();
      return status;
    }
  if (progress_.epoch < options_.epochs)
    meter_.say("no better " + dev_.name() + " for " + std::to_string(progress_.since_best) +
               " epochs: training ends");
  if (progress_.best.epoch == 0)
    meter_.say("warning: after no epoch was the " + dev_.name() + " a number: there are no best weights");
  return Status();
}

} // namespace dbc::train
