// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// An optimizer on a CUDA device: weights, what is kept of them and gradients stay there.
//
//   context.keep_gradients_on_device(true);
//   std::unique_ptr<dbc::cuda::Optimizer> on_device;
//   dbc::Status status = dbc::cuda::Optimizer::make(model_on_device, model, weights, optimizer, &on_device);
//   session.run(loss, batch), then on_device->step(context), and so on
//   on_device->fetch(weights);
#pragma once

#include <dbc/cuda/context.h>
#include <dbc/optimizer.h>

#include <memory>
#include <string>
#include <vector>

namespace dbc::cuda {

/// Does the steps of a dbc::Optimizer on a device, with the same formulas: results differ by the order in
/// which the squares of gradients are added, where they are clipped. By one thread at a time, which has no
/// other step of that optimizer meanwhile.
class Optimizer {
public:
  /// Copies weights and what `optimizer` keeps to the device of `model`, which is that of these weights from
  /// now on, as is `host`, the model that it was made of. `model` and the optimizer, which is asked for its
  /// options in each step and counts them, are borrowed and must outlive this. Fails with bad_call, and the
  /// reason, where a model cannot be trained so: one that was compiled without losses, or for bfloat16, or of
  /// which something is computed of weights once for all runs. Fails with limit without memory, or where
  /// there are 2^31 weights.
  static Status make(Model &model, dbc::Model &host, const Weights &weights, dbc::Optimizer &optimizer,
                     std::unique_ptr<Optimizer> *made, const Allocator &allocator = {});
  ~Optimizer();
  Optimizer(const Optimizer &) = delete;
  Optimizer &operator=(const Optimizer &) = delete;

  /// One step down the gradients that the last run on the context has left there; then the model on the
  /// device is that of the new weights. The host's model stays as it is. Waits. Fails, and nothing changes,
  /// as dbc::Optimizer::step does; where the device fails; and with bad_call where the model on the device
  /// was renewed since, or another of these was made for it: fetch() what is wanted, and make this again.
  Status step(Context &context);
  /// Copies weights to `weights`, of the same model, and what is kept of them to the optimizer.
  Status fetch(Weights &weights);

private:
  Optimizer(Model &model, const ModelInfo &info, dbc::Optimizer &optimizer, const Allocator &allocator);
  template <class T> bool allocate(T **memory, size_t count);
  static std::string why_not(const dbc::Model &host);
  Status begin(const dbc::Model &host, const Weights &weights);
  Status check(const Context &context) const;
  int32_t copied_param(const Sources &sources) const;
  /// A step as it is put together: its parameters by their numbers, and the rows of the sparse ones.
  struct Plan {
    std::vector<ParamStep> params;
    std::vector<int32_t> numbers, rows;
    std::vector<size_t> first_rows;    ///< where those of a parameter begin
    int32_t measured = 0, changed = 0; ///< blocks of threads
  };
  Plan plan(const Context &context) const;
  void renew(int32_t arrays, int32_t blocks, void *stream);
  Status run(Plan &plan, Context &context, StepTotals &totals);

  Model &model_;
  const ModelInfo &info_;
  dbc::Optimizer &optimizer_;
  DeviceMemory memory_;
  uint64_t renewals_ = 0; ///< of the model, when it became that of these weights
  std::vector<std::pair<void *, size_t>> allocated_;
  std::vector<size_t> first_of_; ///< where a parameter begins; the last: how many weights there are
  float *weights_ = nullptr, *first_ = nullptr, *second_ = nullptr;
  /// On the device: how its buffers and matrices are made. First those that are made anew behind each step;
  /// of the rest a parameter's step changes the numbers that it changes.
  GatheredNumbers *arrays_ = nullptr;
  int32_t renewed_arrays_ = 0, renewed_blocks_ = 0;
  std::vector<void *> copies_; ///< of each parameter what the model has of it as it is, or null
  // Of a step.
  Reservation params_, rows_, sums_;
  StepTotals *totals_ = nullptr;
};

} // namespace dbc::cuda
