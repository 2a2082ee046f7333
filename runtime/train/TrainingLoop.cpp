// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "TrainingLoop.h"
#include "../io/Result.h"
#include "Curves.h"
#include "Digits.h"
#include "FileOptions.h"
#include "Finite.h"
#include "ParameterOptions.h"
#include "SharedState.h"
#include "WholeFiles.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <dbc/counted.h>
#include <dbc/io/safetensors.h>
#include <numeric>
#include <random>

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

TrainingLoop::TrainingLoop(const TrainOptions &options, const ModelCode &code, Communicator *communicator)
    : options_(options), code_(code), info_(*code.info), ranks_(communicator), weights_(info_), batch_(info_),
      dev_(info_), optimizer_(options.optimizer), sum_(ranks_, code.f64, options.shard_optimizer),
      rate_(options.rate), meter_(/*silent=*/!ranks_.is_first()), left_out_(meter_), profile_(ranks_) {
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
  } else if (!options_.resume) {
    warn_of_drawn();
  }
  // So that whoever else computes with these weights has those that compiled code has.
  for (int32_t param : code_.bf16_params)
    weights_.round_to_bf16(param);
  if (Status status = Model::make(code_, weights_, &model_); !status.ok())
    return status;
  session_.emplace(model_, options_.threads);
  session_->time_stages(options_.profile || !options_.profile_json.empty());
  return options_.cuda ? device_.begin(model_, *session_) : Status();
}

/// Takes over what the weights have become.
Status TrainingLoop::renew_model() {
  const Status status = model_.renew(weights_);
  return status.ok() ? device_.renew() : status;
}

/// Has the device change weights, if it can and trains alone.
Status TrainingLoop::move_steps() {
  if (!ranks_.is_alone())
    return Status();
  std::string reason;
  Status status = device_.move(model_, weights_, optimizer_, reason);
  if (!reason.empty())
    meter_.say("the CPU changes weights: " + reason);
  return status;
}

/// Says which tensors that an application loads (manual, N7) nobody has given.
void TrainingLoop::warn_of_drawn() {
  for (const ParamInfo &param : info_.params)
    if (param.is_const)
      meter_.say("warning: const `" + param.name + "` is drawn and stays as it is: --weights gives it");
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
      {"--label", options_.label},
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

/// Of the first rank: opens the folder, goes on with what lies there, and opens the log.
Status TrainingLoop::begin_keeping() {
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
      if (Status status = renew_model(); !status.ok())
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

/// What each rank does by itself.
Status TrainingLoop::prepare_alone() {
  if (Status status = check(options_); !status.ok())
    return status;
  if (options_.shard_optimizer && ranks_.is_alone())
    return bad("--shard-optimizer goes with several processes, as `mpirun -n 4` starts them; this is one");
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
  if (Status status = set_parameters(options_, info_, info_.entries[loss_], optimizer_); !status.ok())
    return status;
  warn_of_untrained();
  if (Status status = check_files(options_, folder_ ? &*folder_ : nullptr); !status.ok())
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
  if (!options_.weights.empty()) {
    std::string text;
    if (Status status = read_file(options_.weights, text); !status.ok())
      return status;
    weights_hash_ = "a file with hash " + hash_of(text);
  }
  return Status();
}

/// All ranks train the same, on the same inputs.
Status TrainingLoop::compare_ranks() {
  Json own = asked();
  own["--epochs"] = options_.epochs;
  own["--patience"] = options_.patience;
  own["--checkpoint-every"] = options_.checkpoint_every;
  own["--shard-optimizer"] = options_.shard_optimizer;
  return compare(ranks_, own);
}

/// All ranks begin with what the first one has, which may have read it from a checkpoint.
Status TrainingLoop::share_start() {
  if (ranks_.is_alone())
    return Status();
  if (Status status = share_state(ranks_, progress_, weights_, optimizer_); !status.ok())
    return status;
  return renew_model();
}

Status TrainingLoop::prepare() {
  if (Status status = ranks_.agree(prepare_alone()); !status.ok())
    return status;
  if (Status status = compare_ranks(); !status.ok())
    return status;
  if (!ranks_.is_first())
    folder_.reset();
  if (Status status = ranks_.agree(ranks_.is_first() ? begin_keeping() : Status()); !status.ok())
    return status;
  if (Status status = share_start(); !status.ok())
    return status;
  if (Status status = ranks_.agree(move_steps()); !status.ok())
    return status;
  // If they cannot be written, that is said before anything is trained.
  const Status plotted = plot();
  return ranks_.agree(plotted.ok() ? write_profile() : plotted);
}

/// Fills the batch with lines of `batch` inputs in all.
Status TrainingLoop::fill(const std::vector<size_t> &lines, size_t batch) {
  reader_->clear(batch_);
  input_numbers_.clear();
  for (size_t line : lines) {
    if (Status status = reader_->append(train_->line(line), batch_); !status.ok())
      return status; // it was right when it was read: there is no memory
    input_numbers_.push_back(static_cast<int64_t>(line));
  }
  // The mean over the inputs of all ranks of each one's own weight times its loss.
  input_weights_ = reader_->weights();
  for (float &weight : input_weights_)
    weight /= static_cast<float>(batch);
  session_->weigh_losses(input_weights_.data(), static_cast<int32_t>(input_weights_.size()));
  // What is dropped depends on neither the batch nor on when the training was begun.
  session_->set_dropout(options_.seed, progress_.step);
  session_->number_inputs(input_numbers_.data(), static_cast<int32_t>(input_numbers_.size()));
  return Status();
}

/// The lines of a batch that this rank computes, in the batch's order.
std::vector<size_t> TrainingLoop::own_lines(const std::vector<size_t> &order, size_t begin,
                                            size_t end) const {
  std::vector<size_t> lines(order.begin() + static_cast<ptrdiff_t>(begin),
                            order.begin() + static_cast<ptrdiff_t>(end));
  if (ranks_.is_alone())
    return lines;
  std::vector<int64_t> costs;
  for (size_t line : lines)
    costs.push_back(train_->cost(line));
  std::vector<size_t> own = distribute(costs, ranks_.size())[ranks_.rank()];
  for (size_t &each : own)
    each = lines[each];
  return own;
}

/// Runs the loss of this rank's lines.
Status TrainingLoop::compute(const std::vector<size_t> &lines, size_t batch, Computed &computed) {
  if (lines.empty())
    return Status();
  if (Status status = profile_.time(Work::Read, [&] { return fill(lines, batch); }); !status.ok())
    return status;
  if (Status status = session_->run(loss_, batch_); !status.ok())
    return status;
  profile_.add(session_->profile(loss_), static_cast<int64_t>(lines.size()));
  for (size_t i = 0; i < lines.size(); ++i)
    if (session_->status(static_cast<int32_t>(i)).ok()) {
      computed.loss_sum += session_->outputs(loss_).number(0, i);
      ++computed.inputs;
    } else {
      ++computed.left_out;
    }
  return Status();
}

/// Makes of what this rank has computed what all have; names lines that were left out.
Status TrainingLoop::add_up(const Status &status, const std::vector<size_t> &lines, Computed &computed) {
  struct Told {
    Computed computed;
    int64_t is_failed = 0;
  };
  const Told own{computed, status.ok() ? 0 : 1};
  std::vector<Told> all(static_cast<size_t>(ranks_.size()));
  if (Status told = ranks_.gather(&own, sizeof own, all.data()); !told.ok())
    return told;
  computed = Computed();
  bool is_failed = false;
  for (const Told &each : all) {
    computed.loss_sum += each.computed.loss_sum;
    computed.inputs += each.computed.inputs;
    computed.left_out += each.computed.left_out;
    is_failed |= each.is_failed != 0;
  }
  if (is_failed)
    return ranks_.agree(status);
  return computed.left_out > 0 ? name_left_out(lines) : Status();
}

/// By the first rank, which is told of all.
Status TrainingLoop::name_left_out(const std::vector<size_t> &lines) {
  Json own = Json::array();
  for (size_t i = 0; i < lines.size(); ++i)
    if (const Status &status = session_->status(static_cast<int32_t>(i)); !status.ok())
      own.push_back({lines[i], status.message});
  std::vector<std::string> all;
  if (Status status = ranks_.gather_texts(to_text(own), all); !status.ok())
    return status;
  for (const std::string &each : all)
    for (const Json &line : Json::parse(each))
      left_out_.add(*train_, line[0].get<size_t>(), line[1].get<std::string>());
  return Status();
}

/// The step of the optimizer, after the run.
Status TrainingLoop::descend(const std::vector<size_t> &lines, bool has_gradient) {
  static const Outputs none;
  const Outputs &own = has_gradient ? session_->outputs(loss_) : none;
  optimizer_.options().lr = static_cast<float>(rate_at(rate_, progress_.step, progress_.plateau));
  const Status status = profile_.time(Work::Update, [&] {
    if (device_.change_weights())
      return device_.step();
    return ranks_.is_alone() ? optimizer_.step(weights_, own)
                             : sum_.step(optimizer_, weights_, info_.entries[loss_], own);
  });
  if (!status.ok())
    return ranks_.is_alone() || status.code == Code::bad_call
               ? not_finite(lines, "step " + std::to_string(progress_.step + 1) + ": " + status.message)
               : status;
  if (device_.change_weights())
    return Status(); // whose model is that of the new weights
  return profile_.time(Work::Pack, [&] {
    const Status renewed = model_.renew(weights_, optimizer_);
    return renewed.ok() ? device_.renew() : renewed;
  });
}

Status TrainingLoop::step(const std::vector<size_t> &order, size_t begin, size_t end) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<size_t> lines = own_lines(order, begin, end);
  Computed computed;
  const Status status = compute(lines, end - begin, computed);
  const bool has_gradient = computed.inputs > 0;
  if (Status added = add_up(status, lines, computed); !added.ok())
    return added;
  if (computed.inputs == 0)
    return Status(); // there is nothing to learn from
  if (!std::isfinite(computed.loss_sum))
    return not_finite(lines,
                      "step " + std::to_string(progress_.step + 1) + ": the losses' sum is not finite");
  if (Status descended = descend(lines, has_gradient); !descended.ok())
    return descended;
  progress_.loss_sum += computed.loss_sum;
  progress_.inputs += computed.inputs;
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
    return dev_.measure(*session_, batch_, ranks_, progress_.epoch + 1, left_out_, metric);
  metric = progress_.loss_sum / static_cast<double>(progress_.inputs);
  return Status();
}

/// What is saved can be gone on with.
Status TrainingLoop::check_finite() {
  if (Status status = ranks_.agree(device_.fetch(weights_)); !status.ok())
    return status;
  const EntryInfo &loss = info_.entries[loss_];
  if (Status status = find_not_finite_weight(weights_, loss, optimizer_, progress_.step); !status.ok())
    return ranks_.agreed(status);
  return ranks_.agree(find_not_finite_state(optimizer_, info_, progress_.step));
}

Status TrainingLoop::finish_epoch() {
  if (progress_.inputs == 0)
    return ranks_.agreed(failure(train_->file() + ": no line could be computed", Code::bad_input));
  if (Status status = check_finite(); !status.ok())
    return status;
  const double loss = progress_.loss_sum / static_cast<double>(progress_.inputs);
  double metric = 0;
  if (Status status = profile_.time(Work::Measure, [&] { return measure(metric); }); !status.ok())
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
  if (better)
    progress_.best = {progress_.epoch, loss, metric};
  const LogRow row{progress_.epoch, progress_.step, loss, metric, last_rate, epoch_rate_, progress_.seconds};
  const Status kept = profile_.time(Work::Save, [&] { return keep_epoch(row, inputs, better); });
  if (Status status = ranks_.agree(kept); !status.ok())
    return status;
  if (Status status = checkpoint(); !status.ok())
    return status;
  return ranks_.agree(plot());
}

/// Of the first rank: the best weights, the log, and a line.
Status TrainingLoop::keep_epoch(const LogRow &row, int64_t inputs, bool better) {
  if (better && folder_)
    if (Status status = save_weights(folder_->file("best.safetensors"), weights_); !status.ok())
      return status;
  if (log_) {
    if (Status status = log_->add(row); !status.ok())
      return status;
    progress_.log_bytes = log_->bytes();
  }
  const auto left_out = [](size_t computed, size_t lines) {
    return computed == lines
               ? ""
               : " (" + std::to_string(lines - computed) + " of " + counted(lines, "line") + " left out)";
  };
  const std::string measured = dev_.has_data() ? ", dev " + dev_.name() + " " + fixed(row.metric, 4) +
                                                     left_out(dev_.computed(), dev_.data().size())
                                               : "";
  meter_.say("epoch " + std::to_string(row.epoch) + ": loss " + fixed(row.loss, 4) +
             left_out(static_cast<size_t>(inputs), train_->size()) + measured + (better ? " (best)" : "") +
             ", " + fixed(row.inputs_per_second, 0) + " inputs/s");
  return Status();
}

Status TrainingLoop::checkpoint() {
  if (Status status = check_finite(); !status.ok())
    return status;
  return profile_.time(Work::Save, [&] {
    std::optional<Optimizer> whole;
    if (Status status = sum_.gather_state(optimizer_, weights_, whole); !status.ok())
      return status;
    return ranks_.agree(folder_ ? folder_->save(weights_, whole ? *whole : optimizer_, progress_, asked())
                                : Status());
  });
}

/// Of the first rank.
Status TrainingLoop::plot() const {
  if (options_.plot.empty() || !ranks_.is_first())
    return Status();
  return write_file(options_.plot, draw_curves(log_->rows(), info_.name + ": " + info_.entries[loss_].name,
                                               dev_.name(), progress_.best.epoch));
}

/// Of the first rank.
Status TrainingLoop::write_profile() const {
  if (options_.profile_json.empty() || !ranks_.is_first())
    return Status();
  return write_file(options_.profile_json, to_text(profile_.json()) + "\n");
}

bool TrainingLoop::due_to_stop() const {
  return progress_.epoch >= options_.epochs ||
         (options_.patience > 0 && progress_.since_best >= options_.patience);
}

Status TrainingLoop::run() {
  profile_.begin();
  while (!due_to_stop())
    if (Status status = run_epoch(); !status.ok()) {
      meter_.clear();
      return status;
    }
  if (progress_.epoch < options_.epochs)
    meter_.say("no better " + dev_.name() + " for " + counted(progress_.since_best, "epoch") +
               ": training ends");
  if (progress_.best.epoch == 0)
    meter_.say("warning: after no epoch was the " + dev_.name() + " a number: there are no best weights");
  if (options_.profile)
    meter_.say(profile_.table());
  return ranks_.agree(write_profile());
}

} // namespace dbc::train
