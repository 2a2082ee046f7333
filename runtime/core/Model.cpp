// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Making a model from weights.
#include <dbc/model.h>
#include <dbc/optimizer.h>
#include <dbc/session.h>
#include <dbc/version.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace dbc {

void generated_code_needs_runtime_0_1() {}

EntryPlan::~EntryPlan() = default;

Status EntryPlan::begin_on(Run &run, cuda::Context &) {
  return Status::error(Code::bad_call, run.model.info().name + ": compiled without --target cuda");
}
Status EntryPlan::finish_on(Run &run, cuda::Context &device) { return EntryPlan::begin_on(run, device); }

Model::Model() = default;
Model::~Model() = default;
Model::Model(Model &&other) noexcept { *this = std::move(other); }
Model &Model::operator=(Model &&other) noexcept {
  code_ = std::exchange(other.code_, nullptr);
  number_ = std::exchange(other.number_, 0);
  buffers_ = std::exchange(other.buffers_, {});
  matrices_ = std::exchange(other.matrices_, {});
  scratch_ = std::exchange(other.scratch_, {});
  plans_ = std::exchange(other.plans_, {});
  buffer_sources_ = std::exchange(other.buffer_sources_, {});
  matrix_sources_ = std::exchange(other.matrix_sources_, {});
  origin_ = std::exchange(other.origin_, {});
  step_ = nullptr;
  packed32_ = std::exchange(other.packed32_, {});
  packed64_ = std::exchange(other.packed64_, {});
  return *this;
}

const ModelCode &Model::no_code() {
  static const ModelInfo info{};
  static const ModelCode code{&info, false, nullptr, {}, {}, nullptr};
  return code;
}

/// What the model's code makes of weights, into `model`.
static Status fill(const ModelCode &code, const Weights &weights, Model &model) {
  if (&weights.info() != code.info)
    return Status::error(Code::bad_call,
                         code.info->name + ": the weights are of another model, " + weights.info().name);
  if (Status given = weights.check(); !given.ok())
    return given;
  try {
    if (code.bf16_params.empty()) {
      code.make_model(weights, model);
    } else {
      Weights rounded(*code.info);
      for (int32_t p = 0; p < weights.count(); ++p)
        std::copy(weights.data(p), weights.data(p) + weights.size(p), rounded.data(p));
      for (int32_t p : code.bf16_params)
        rounded.round_to_bf16(p);
      code.make_model(rounded, model);
    }
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, code.info->name + ": not enough memory for the model");
  }
  return Status();
}

/// Of a model that differs from all others, and from what it was before.
static uint64_t next_number() {
  static std::atomic<uint64_t> models{0};
  return ++models;
}

Status Model::make(const ModelCode &code, const Weights &weights, Model *model) {
  if (model == nullptr)
    return Status::error(Code::bad_call,
                         code.info->name + ": there is no model to be made, but a null pointer");
  Model made;
  made.code_ = &code;
  if (Status filled = fill(code, weights, made); !filled.ok())
    return filled;
  made.scratch_ = Array<unsigned char>(); // most models are never renewed
  made.number_ = next_number();
  *model = std::move(made);
  return Status();
}

Status Model::renew(const Weights &weights) {
  if (empty())
    return Status::error(Code::bad_call, "a model that was never made cannot be renewed");
  if (code_->cuda != nullptr) // what a device has of it is no more current
    number_ = next_number();
  origin_ = {};
  return fill(*code_, weights, *this);
}

Status Model::renew(const Weights &weights, const Optimizer &optimizer) {
  const bool follows = !empty() && code_->bf16_params.empty() && origin_.weights == &weights &&
                       origin_.accesses == weights.accesses() && origin_.optimizer == &optimizer &&
                       origin_.steps + 1 == optimizer.steps();
  step_ = follows ? &optimizer : nullptr;
  Status renewed = renew(weights);
  step_ = nullptr;
  if (renewed.ok())
    origin_ = {&weights, weights.accesses(), &optimizer, optimizer.steps()};
  return renewed;
}

Status Model::find_sources(const Weights &weights) {
  if (empty())
    return Status::error(Code::bad_call, "a model that was never made has no sources");
  if (WeightPlaces(weights).first(weights.count()) > INT32_MAX)
    return Status::error(Code::limit, info().name + ": there are 2^31 weights or more");
  finds_sources_ = true;
  Status filled = fill(*code_, weights, *this);
  finds_sources_ = false;
  return filled;
}

const ParamChange *Model::change_of(int32_t param) const {
  return step_ != nullptr ? &step_->change(param) : nullptr;
}

size_t Model::bytes() const {
  size_t n = packed_bytes();
  for (const auto *arrays : {&buffers_, &matrices_})
    for (const auto &array : *arrays)
      n += array.size();
  return n;
}

size_t Model::packed_bytes() const {
  size_t n = 0;
  for (const auto &p : packed32_)
    n += p.bytes();
  for (const auto &p : packed64_)
    n += p.bytes();
  return n;
}

template <> Packed<float> &Model::add_packed<float>(int32_t number) {
  if (static_cast<size_t>(number) >= packed32_.size())
    packed32_.resize(number + 1);
  return packed32_[number];
}
template <> Packed<double> &Model::add_packed<double>(int32_t number) {
  if (static_cast<size_t>(number) >= packed64_.size())
    packed64_.resize(number + 1);
  return packed64_[number];
}

} // namespace dbc
