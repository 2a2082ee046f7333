// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A stream of a device for a while.
#pragma once

#include <dbc/cuda/arrays.h>

#include <utility>

namespace dbc::cuda {

/// Opened at once; closed when all is done that was begun there. What goes wrong in between wait() says.
class OwnStream {
public:
  OwnStream(const Backend &backend, int32_t device)
      : backend_(backend), status_(backend.open(device, &stream_)) {}
  ~OwnStream() {
    if (!status_.ok())
      return;
    (void)backend_.wait(stream_);
    backend_.close(stream_);
  }
  OwnStream(const OwnStream &) = delete;
  OwnStream &operator=(const OwnStream &) = delete;

  /// Whether it could be opened.
  const Status &status() const { return status_; }
  void *get() const { return stream_; }
  /// Until all is done.
  Status wait() {
    Status begun = backend_.begun(), done = backend_.wait(stream_);
    return begun.ok() ? done : begun;
  }

private:
  const Backend &backend_;
  void *stream_ = nullptr;
  Status status_;
};

} // namespace dbc::cuda
