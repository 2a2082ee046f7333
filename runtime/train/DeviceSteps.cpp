// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "DeviceSteps.h"

namespace dbc::train {

Status DeviceSteps::begin(const Model &model, Session &session) {
  if (Status status = cuda::Model::make(model, /*device=*/0, &model_); !status.ok())
    return status;
  session.compute_on(&context_.emplace(model_));
  return Status();
}

Status DeviceSteps::move(Model &model, const Weights &weights, Optimizer &optimizer, std::string &reason) {
  if (model_.empty())
    return Status();
  Status status = cuda::Optimizer::make(model_, model, weights, optimizer, &optimizer_);
  if (status.ok())
    context_->keep_gradients_on_device(true);
  // The host's memory may do where the device's does not.
  if (status.code != Code::bad_call && status.code != Code::limit)
    return status;
  reason = status.message;
  return Status();
}

} // namespace dbc::train
