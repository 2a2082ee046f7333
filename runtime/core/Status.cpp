// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Names of the codes, the statuses of inputs, and what is said of those that are not there.
#include <dbc/status.h>

#include <array>
#include <new>
#include <utility>

namespace dbc {

const char *code_name(Code code) {
  switch (code) {
  case Code::ok:
    return "ok";
  case Code::bad_input:
    return "bad_input";
  case Code::bad_weights:
    return "bad_weights";
  case Code::bad_call:
    return "bad_call";
  case Code::limit:
    return "limit";
  case Code::io:
    return "io";
  case Code::internal:
    return "internal";
  case Code::unavailable:
    return "unavailable";
  case Code::cancelled:
    return "cancelled";
  case Code::deadline:
    return "deadline";
  }
  return "internal";
}

/// The calling thread's own, so that a reference can be handed out by whoever has no status to refer to: of
/// several, as one expression may ask more than once.
template <class Words> static const Status &said(Words words) noexcept {
  static thread_local std::array<Status, kWordsOfThread> all;
  static thread_local size_t next = 0;
  Status &status = all[next++ % all.size()];
  status.code = Code::bad_call;
  try {
    status.message = words();
  } catch (const std::bad_alloc &) {
    status.message.clear();
  }
  return status;
}

static std::string prefix(const std::string &model) { return model.empty() ? model : model + ": "; }

const Status &not_there(const std::string &model, const char *why) noexcept {
  return said([&] { return prefix(model) + why; });
}

const Status &no_such_input(const std::string &model, int32_t input, int32_t inputs,
                            const char *of) noexcept {
  return said([&] {
    const std::string of_whom = inputs > 0 ? "is outside 0.." + std::to_string(inputs - 1) + " of " + of
                                           : std::string("is asked for, but there is none in ") + of;
    return prefix(model) + "input " + std::to_string(input) + " " + of_whom;
  });
}

void InputStatuses::begin(int32_t inputs) {
  if (failed_ > 0)
    for (Status &s : of_)
      s = Status();
  failed_ = 0;
  inputs_ = 0;
  extend(inputs);
}

void InputStatuses::extend(int32_t inputs) {
  if (of_.size() < static_cast<size_t>(inputs))
    of_.resize(inputs);
  inputs_ = inputs;
}

void InputStatuses::fail(int32_t input, Status status) {
  if (!of_[input].ok())
    return;
  of_[input] = std::move(status);
  ++failed_;
}

void InputStatuses::replace(int32_t input, Status status) { of_[input] = std::move(status); }

} // namespace dbc
