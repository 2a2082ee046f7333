// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A training on a device: the model there, and an optimizer that changes its weights there where it can.
#pragma once

#include <dbc/cuda/optimizer.h>
#include <dbc/model.h>
#include <dbc/optimizer.h>
#include <dbc/session.h>
#include <dbc/weights.h>
#include <memory>
#include <optional>
#include <string>

namespace dbc::train {

/// Until begin() a training is the CPU's, and all else does nothing.
class DeviceSteps {
public:
  /// Has a session of the model, which is borrowed, compute on device 0.
  Status begin(const Model &model, Session &session);
  /// Has weights change there from now on; `reason` says why they do not.
  Status move(Model &model, const Weights &weights, Optimizer &optimizer, std::string &reason);
  /// Whether they do.
  bool change_weights() const { return optimizer_ != nullptr; }
  /// A step down the gradients of the last run. Only where change_weights().
  Status step() { return optimizer_->step(*context_); }
  /// Copies weights, and what is kept of them, to the host.
  Status fetch(Weights &weights) { return optimizer_ ? optimizer_->fetch(weights) : Status(); }
  /// Takes over what the host's model has become.
  Status renew() { return model_.empty() ? Status() : model_.renew(); }
  /// From now on the host has the gradients of runs, and the device has none: no step follows.
  void give_gradients_to_host() {
    if (optimizer_)
      context_->keep_gradients_on_device(false);
  }

private:
  cuda::Model model_;
  std::optional<cuda::Context> context_;
  std::unique_ptr<cuda::Optimizer> optimizer_;
};

} // namespace dbc::train
