// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the handles of C (dbc/c.h) are.
#pragma once

#include <dbc/c.h>
#include <dbc/model.h>
#include <dbc/session.h>
#include <new>
#include <utility>

/// A handle keeps the status of its last call, whose message C reads.
struct dbc_weights {
  explicit dbc_weights(const dbc::ModelInfo &info) : weights(info) {}
  dbc::Weights weights;
  dbc::Status last;
};
struct dbc_model {
  dbc::Model model;
  dbc::Status last;
};
struct dbc_batch {
  explicit dbc_batch(const dbc::ModelInfo &info) : batch(info) {}
  dbc::Batch batch;
};
struct dbc_session {
  dbc_session(const dbc::Model &model, int32_t threads) : session(model, threads) {}
  dbc::Session session;
  dbc::Status last;
};

namespace dbc::c {

/// The same for C; `status` must live as long as C reads the message.
inline dbc_status statusOf(const Status &status) {
  return {static_cast<dbc_status_code>(status.code), status.input, status.node, status.message.c_str()};
}

inline dbc_status nullHandle() {
  return {DBC_BAD_CALL, -1, -1, "a handle or another pointer of the call is null"};
}
inline dbc_status noMemory() { return {DBC_LIMIT, -1, -1, "there is no memory"}; }

/// What a call gives, kept by its handle. Nothing is thrown into C.
template <class Handle, class Call> dbc_status kept(Handle *handle, Call call) noexcept {
  if (handle == nullptr)
    return nullHandle();
  try {
    handle->last = call();
  } catch (const std::bad_alloc &) {
    return noMemory();
  } catch (...) { // nothing else is thrown on purpose
    return {DBC_INTERNAL, -1, -1, "an unexpected exception; this is a bug of dbc"};
  }
  return statusOf(handle->last);
}

} // namespace dbc::c
