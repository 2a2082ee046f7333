// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a session is to its callers: it has a state, or was moved from, and lets one thread at it at a time.
#include "SessionState.h"

#include <algorithm>
#include <new>
#include <utility>

namespace dbc {

Session::Session(const Model &model, int32_t threads) noexcept : model_(&model), threads_(threads) {
  make_state(); // else the first run tries again
}
Session::~Session() = default;
Session::Session(Session &&other) noexcept { *this = std::move(other); }
Session &Session::operator=(Session &&other) noexcept {
  state_ = std::move(other.state_);
  model_ = std::exchange(other.model_, nullptr);
  threads_ = std::exchange(other.threads_, 0);
  unset_ = other.unset_.exchange(false);
  return *this;
}

bool Session::make_state() {
  if (!state_ && model_ != nullptr)
    state_.reset(new (std::nothrow) State(*model_, threads_));
  return state_ != nullptr;
}

namespace {
/// The calling thread has the session, if `has`, until the end of its call.
class Use {
public:
  explicit Use(std::atomic<bool> &flag)
      : flag_(flag), has_(!flag.exchange(true, std::memory_order_acquire)) {}
  ~Use() {
    if (has_)
      flag_.store(false, std::memory_order_release);
  }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;
  bool has() const { return has_; }

private:
  std::atomic<bool> &flag_;
  const bool has_;
};

constexpr const char *kMovedFrom = "the session was moved from",
                     *kNoMemory = "not enough memory for the session",
                     *kInUse = "the session is in use by another thread",
                     *kUnset =
                         "a setting was changed while another thread used the session, or without memory for "
                         "it: it is as it was";
} // namespace

template <class Step> Status Session::with_state(Step step) {
  try {
    if (model_ == nullptr)
      return Status::error(Code::bad_call, kMovedFrom);
    const auto refused = [&](Code code, const char *why) {
      return Status::error(code, name().empty() ? why : name() + ": " + why);
    };
    const Use use(in_use_);
    if (!use.has())
      return refused(Code::bad_call, kInUse);
    if (!make_state())
      return refused(Code::limit, kNoMemory);
    if (unset_.exchange(false))
      return refused(Code::bad_call, kUnset);
    return step(*state_);
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, std::string()); // there is no memory for words
  }
}

Status Session::run(int32_t entry, Batch &batch) {
  return with_state([&](State &state) { return state.run(entry, batch, nullptr); });
}
Status Session::run(int32_t entry, Batch &batch, Outputs &out) {
  return with_state([&](State &state) { return state.run(entry, batch, &out); });
}
Status Session::begin(int32_t entry, Batch &batch) {
  return with_state([&](State &state) { return state.begin(entry, batch); });
}
Status Session::finish() {
  return with_state([](State &state) { return state.finish(); });
}

/// What may be asked, while nobody changes it; else null.
const Session::State *Session::idle() const {
  return in_use_.load(std::memory_order_acquire) ? nullptr : state_.get();
}

const Outputs &Session::outputs(int32_t entry) const {
  static const Outputs none;
  const Outputs *outputs = idle() != nullptr ? state_->outputs(entry) : nullptr;
  return outputs != nullptr ? *outputs : none;
}
const RunProfile &Session::profile(int32_t entry) const {
  static const RunProfile none;
  const RunProfile *profile = idle() != nullptr ? state_->profile(entry) : nullptr;
  return profile != nullptr ? *profile : none;
}
const Status &Session::status(int32_t input) const {
  if (idle() != nullptr)
    return state_->status(input);
  return not_there(name(), model_ == nullptr ? kMovedFrom : state_ ? kInUse : kNoMemory);
}
int32_t Session::failed() const { return idle() != nullptr ? state_->failed() : 0; }
int32_t Session::threads() const { return state_ ? state_->threads() : 0; }
const Model &Session::model() const {
  static const Model none;
  return model_ != nullptr ? *model_ : none;
}

template <class Setting> void Session::set(Setting setting) {
  try {
    if (const Use use(in_use_); use.has() && make_state())
      setting(*state_);
    else
      unset_ = true;
  } catch (const std::bad_alloc &) {
    unset_ = true;
  }
}

void Session::time_stages(bool on) {
  set([&](State &state) { state.timed_ = on; });
}
void Session::log_launches(LaunchLog *log) {
  set([&](State &state) { state.log_ = log; });
}
void Session::share_subtrees(bool on) {
  set([&](State &state) { state.shares_ = on; });
}
void Session::weigh_losses(const float *weights, int32_t inputs) {
  set([&](State &state) {
    state.loss_weights_.assign(weights, weights + (weights != nullptr ? std::max(inputs, 0) : 0));
  });
}
void Session::give_gradients(bool on) {
  set([&](State &state) { state.gradients_ = on; });
}
void Session::set_dropout(uint64_t seed, int64_t step) {
  set([&](State &state) {
    state.dropout_seed_ = seed;
    state.dropout_step_ = static_cast<uint64_t>(step);
  });
}
void Session::drop_elements(bool on) {
  set([&](State &state) { state.drops_ = on; });
}
void Session::number_inputs(const int64_t *numbers, int32_t inputs) {
  set([&](State &state) {
    state.input_numbers_.assign(numbers, numbers + (numbers != nullptr ? std::max(inputs, 0) : 0));
  });
}
void Session::limit_input(int64_t bytes) {
  set([&](State &state) { state.input_bytes_ = bytes; });
}
void Session::limit_sub_batch(int32_t inputs) {
  set([&](State &state) { state.sub_batch_inputs_ = inputs; });
}
void Session::compute_on(cuda::Context *device, cuda::Context *next) {
  set([&](State &state) {
    state.device_ = device;
    state.next_ = next != device ? next : nullptr;
  });
}

} // namespace dbc
