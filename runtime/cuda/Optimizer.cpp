// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Steps of an optimizer on a device. Its kernels are those of the model, behind Backend.
#include "OwnStream.h"

#include <dbc/cuda/optimizer.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <new>

namespace dbc::cuda {

namespace {
Status bad(const ModelInfo &info, const std::string &what) {
  return Status::error(Code::bad_call, info.name + ": " + what);
}
} // namespace

std::string Optimizer::why_not(const dbc::Model &host) {
  const ModelCode &code = host.code();
  if (code.cuda == nullptr || code.cuda().optimizer == nullptr)
    return "the model was compiled without losses for a device";
  if (!code.bf16_params.empty())
    return "its weights are rounded to bfloat16";
  for (int32_t n = 0; n < host.buffers(); ++n)
    if (!host.raw_buffer(n).empty() && host.buffer_sources(n).places.empty())
      return "something is computed of its weights once for all runs";
  return "";
}

Optimizer::Optimizer(Model &model, const ModelInfo &info, dbc::Optimizer &optimizer,
                     const Allocator &allocator)
    : model_(model), info_(info), optimizer_(optimizer), memory_(*model.backend_, allocator) {}

Optimizer::~Optimizer() {
  model_.backend_->use(model_.device());
  for (auto [memory, bytes] : allocated_)
    memory_.release(memory, bytes);
  for (Reservation *reserved : {&params_, &rows_, &sums_})
    reserved->release(memory_);
}

template <class T> bool Optimizer::allocate(T **memory, size_t count) {
  const size_t bytes = lines(std::max<size_t>(count, 1) * sizeof(T));
  void *given = memory_.allocate(bytes);
  *memory = static_cast<T *>(given);
  if (given != nullptr)
    allocated_.emplace_back(given, bytes);
  return given != nullptr;
}

Status Optimizer::make(Model &model, dbc::Model &host, const Weights &weights, dbc::Optimizer &optimizer,
                       std::unique_ptr<Optimizer> *made, const Allocator &allocator) {
  if (model.empty() || &model.host() != &host)
    return Status::error(Code::bad_call, "there is no model on a device, or it is of another model");
  const ModelInfo &info = host.info();
  if (&weights.info() != &info)
    return bad(info, "the weights are of another model, " + weights.info().name);
  try {
    if (Status status = host.find_sources(weights); !status.ok())
      return status;
    if (const std::string reason = why_not(host); !reason.empty())
      return bad(info, reason);
    std::unique_ptr<Optimizer> on(new Optimizer(model, info, optimizer, allocator));
    if (Status status = on->begin(host, weights); !status.ok()) {
      status.message = info.name + ": " + status.message;
      return status;
    }
    host.forget_sources();
    *made = std::move(on);
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, info.name + ": not enough memory for the optimizer");
  }
  return Status();
}

/// The parameter of which something is a copy, number by number; -1: it is none.
int32_t Optimizer::copied_param(const Sources &sources) const {
  const auto begin =
      std::find(first_of_.begin(), first_of_.end() - 1, static_cast<size_t>(sources.places[0]));
  if (begin == first_of_.end() - 1 || sources.tf32 > 0 || sources.places.size() != begin[1] - begin[0])
    return -1;
  for (size_t n = 0; n < sources.places.size(); ++n)
    if (sources.places[n] < 0 || static_cast<size_t>(sources.places[n]) != begin[0] + n)
      return -1;
  return static_cast<int32_t>(begin - first_of_.begin());
}

/// Copies all that is there, and where the numbers of the model come from.
Status Optimizer::begin(const dbc::Model &host, const Weights &weights) {
  first_of_ = {0};
  for (int32_t param = 0; param < weights.count(); ++param)
    first_of_.push_back(first_of_.back() + weights.size(param));
  const size_t count = first_of_.back();
  const Backend &backend = *model_.backend_;
  OwnStream stream(backend, model_.device());
  if (!stream.status().ok())
    return stream.status();
  std::vector<float> flat(count), kept(count), squares(count);
  if (optimizer_.states_.size() < static_cast<size_t>(weights.count()))
    optimizer_.states_.resize(static_cast<size_t>(weights.count()));
  for (int32_t param = 0; param < weights.count(); ++param) {
    const OptimizerState &state = optimizer_.states_[param];
    const size_t at = first_of_[param];
    std::copy_n(weights.data(param), weights.size(param), flat.begin() + at);
    std::copy(state.first.begin(), state.first.end(), kept.begin() + at);
    std::copy(state.second.begin(), state.second.end(), squares.begin() + at);
  }
  bool room = allocate(&weights_, count) && allocate(&totals_, 1) &&
              (!optimizer_.keeps_first() || allocate(&first_, count)) &&
              (!optimizer_.keeps_second() || allocate(&second_, count));
  const size_t real = host.code().f64 ? sizeof(double) : sizeof(float);
  copies_.assign(static_cast<size_t>(weights.count()), nullptr);
  std::vector<GatheredNumbers> gathered, copies;
  auto gather = [&](const Sources &sources, void *to, size_t bytes) {
    if (sources.places.empty() || to == nullptr)
      return;
    GatheredNumbers made;
    made.to = to;
    made.count = static_cast<int64_t>(bytes / real);
    made.tf32 = static_cast<int64_t>(sources.tf32);
    if (const int32_t param = copied_param(sources); param >= 0 && copies_[param] == nullptr) {
      assert(made.count == static_cast<int64_t>(sources.places.size()));
      made.first = static_cast<int64_t>(first_of_[param]);
      copies_[param] = to;
      copies.push_back(made);
      return;
    }
    int32_t *places = nullptr;
    room = room && allocate(&places, sources.places.size());
    if (!room)
      return;
    backend.copy(places, sources.places.data(), sources.places.size() * sizeof(int32_t), stream.get());
    made.places = places;
    gathered.push_back(made);
  };
  for (int32_t n = 0; n < host.buffers(); ++n)
    gather(host.buffer_sources(n), model_.buffers_[n].data, model_.buffers_[n].bytes);
  for (int32_t n = 0; n < host.matrices(); ++n)
    gather(host.matrix_sources(n), model_.matrices_[n].data, model_.matrices_[n].bytes);
  renewed_arrays_ = static_cast<int32_t>(gathered.size());
  gathered.insert(gathered.end(), copies.begin(), copies.end());
  int32_t blocks = 0;
  for (GatheredNumbers &each : gathered) {
    each.first_block = blocks;
    blocks += step_blocks(each.count);
    if (&each - gathered.data() < renewed_arrays_)
      renewed_blocks_ = blocks;
  }
  room = room && allocate(&arrays_, gathered.size());
  if (room)
    backend.copy(arrays_, gathered.data(), gathered.size() * sizeof(GatheredNumbers), stream.get());
  if (room)
    for (auto [to, from] : {std::pair(weights_, &flat), {first_, &kept}, {second_, &squares}})
      if (to != nullptr)
        backend.copy(to, from->data(), count * sizeof(float), stream.get());
  if (room) {
    renew(static_cast<int32_t>(gathered.size()), blocks, stream.get());
    renewals_ = ++model_.renewals_;
  }
  Status status = stream.wait();
  return room ? status : memory_.missing("the optimizer", count * sizeof(float), 0);
}

/// Of the model on the device the first arrays, which have so many blocks of threads, are those of the
/// weights there.
void Optimizer::renew(int32_t arrays, int32_t blocks, void *stream) {
  model_.backend_->optimizer->gather(arrays_, arrays, blocks, weights_, stream);
}

/// As dbc::Optimizer::check.
Status Optimizer::check(const Context &context) const {
  if (&context.model() != &model_)
    return bad(info_, "the context is of another model");
  if (model_.renewals_ != renewals_)
    return bad(info_, "the model on the device has been given other weights; make the optimizer again");
  if (optimizer_.states_.size() + 1 < first_of_.size())
    return bad(info_, "the optimizer has other state than when it came to the device");
  if (const std::string wrong = dbc::Optimizer::wrong_option(optimizer_.options()); !wrong.empty())
    return bad(info_, wrong);
  if ((optimizer_.keeps_first() && first_ == nullptr) || (optimizer_.keeps_second() && second_ == nullptr))
    return bad(info_, "the optimizer keeps more than when it came to the device");
  if (context.gradients().empty())
    return bad(info_, "there is no gradient on the device: the last run of the loss failed, was none, or was "
                      "to leave none there");
  for (const Context::Gradient &gradient : context.gradients()) {
    if (const std::string wrong = optimizer_.wrong_setting(info_, gradient.param); !wrong.empty())
      return bad(info_, wrong);
    if (optimizer_.setting_of(gradient.param).range)
      return bad(info_, "a part of `" + info_.params[gradient.param].name + "` is another optimizer's");
  }
  return Status();
}

Optimizer::Plan Optimizer::plan(const Context &context) const {
  std::vector<const Context::Gradient *> gradients;
  for (const Context::Gradient &gradient : context.gradients())
    if (!optimizer_.is_frozen(gradient.param))
      gradients.push_back(&gradient);
  std::sort(gradients.begin(), gradients.end(),
            [](const auto *a, const auto *b) { return a->param < b->param; });
  Plan plan;
  for (const Context::Gradient *gradient : gradients) {
    const size_t at = first_of_[gradient->param];
    ParamStep param;
    param.weights = weights_ + at;
    param.first = first_ != nullptr ? first_ + at : nullptr;
    param.second = second_ != nullptr ? second_ + at : nullptr;
    param.copy = copies_[gradient->param];
    param.gradient = gradient->numbers;
    param.size = static_cast<int64_t>(first_of_[gradient->param + 1] - at);
    param.given = static_cast<int64_t>(gradient->count);
    param.changes_all = optimizer_.changes_without_gradient(gradient->param);
    param.step = optimizer_.step_of(gradient->param, optimizer_.states_[gradient->param].steps + 1);
    plan.first_rows.push_back(plan.rows.size());
    if (gradient->rows) {
      param.row_count = gradient->rows.count;
      param.width = gradient->rows.width;
      plan.rows.insert(plan.rows.end(), gradient->rows.rows, gradient->rows.rows + gradient->rows.count);
    }
    param.first_measured = plan.measured;
    param.first_changed = plan.changed;
    plan.measured += step_blocks(param.given);
    plan.changed += step_blocks(param.changed());
    plan.params.push_back(param);
    plan.numbers.push_back(gradient->param);
  }
  return plan;
}

Status Optimizer::run(Plan &plan, Context &context, StepTotals &totals) {
  const Backend &backend = *model_.backend_;
  void *const stream = context.stream();
  backend.use(model_.device());
  if (!params_.reserve(memory_, plan.params.size() * sizeof(ParamStep)) ||
      !rows_.reserve(memory_, std::max<size_t>(plan.rows.size(), 1) * sizeof(int32_t)) ||
      !sums_.reserve(memory_, std::max<size_t>(static_cast<size_t>(plan.measured), 1) * sizeof(double)))
    return memory_.missing("a step of the optimizer", plan.params.size() * sizeof(ParamStep), 0);
  const auto *rows = reinterpret_cast<const int32_t *>(rows_.data());
  for (size_t n = 0; n < plan.params.size(); ++n)
    plan.params[n].rows = rows + plan.first_rows[n];
  if (!plan.rows.empty())
    backend.copy(rows_.data(), plan.rows.data(), plan.rows.size() * sizeof(int32_t), stream);
  backend.copy(params_.data(), plan.params.data(), plan.params.size() * sizeof(ParamStep), stream);
  const auto *params = reinterpret_cast<const ParamStep *>(params_.data());
  const auto count = static_cast<int32_t>(plan.params.size());
  backend.optimizer->measure(params, count, plan.measured, optimizer_.options().clip_norm,
                             reinterpret_cast<double *>(sums_.data()), totals_, stream);
  backend.optimizer->change(params, count, plan.changed, totals_, stream);
  renew(renewed_arrays_, renewed_blocks_, stream);
  return context.copy_to_host(&totals, totals_, sizeof totals);
}

Status Optimizer::step(Context &context) {
  if (Status status = check(context); !status.ok())
    return status;
  try {
    Plan plan = this->plan(context);
    StepTotals totals;
    if (!plan.params.empty())
      if (Status status = run(plan, context, totals); !status.ok())
        return status;
    if (totals.not_finite >= 0)
      return bad(info_, "the gradient of `" + info_.params[plan.numbers[totals.not_finite]].name +
                            "` is not finite");
    if (!plan.params.empty() && !totals.proceeds)
      return bad(info_,
                 "the norm of the gradients is beyond what a float holds; they cannot be clipped to one");
    for (int32_t param : plan.numbers)
      ++optimizer_.states_[param].steps;
    ++optimizer_.steps_;
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, info_.name + ": not enough memory for a step of the optimizer");
  }
  return Status();
}

Status Optimizer::fetch(Weights &weights) {
  if (&weights.info() != &info_)
    return bad(info_, "the weights are of another model, " + weights.info().name);
  const Backend &backend = *model_.backend_;
  const size_t count = first_of_.back();
  try {
    std::vector<float> flat(count), kept(first_ != nullptr ? count : 0),
        squares(second_ != nullptr ? count : 0);
    OwnStream stream(backend, model_.device());
    if (!stream.status().ok())
      return stream.status();
    for (auto [from, to] : {std::pair(weights_, &flat), {first_, &kept}, {second_, &squares}})
      if (from != nullptr)
        backend.copy(to->data(), from, count * sizeof(float), stream.get());
    if (Status status = stream.wait(); !status.ok())
      return status;
    for (int32_t param = 0; param < weights.count(); ++param) {
      const size_t at = first_of_[param], size = weights.size(param);
      std::copy_n(flat.begin() + at, size, weights.data(param));
      OptimizerState &state = optimizer_.states_[param];
      for (auto [array, from] : {std::pair(&state.first, &kept), {&state.second, &squares}})
        if (!from->empty() && (state.steps > 0 || !array->empty())) {
          array->clear();
          array->append(from->data() + at, size);
        }
    }
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, info_.name + ": not enough memory for what the optimizer keeps");
  }
  return Status();
}

} // namespace dbc::cuda
