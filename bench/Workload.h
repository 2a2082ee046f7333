// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a workload consists of; the harness does everything else.
#pragma once

#include "bench/Inputs.h"
#include "bench/Measure.h"
#include "bench/Mode.h"
#include "bench/Parameters.h"
#include "bench/ProductLimit.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dbc::bench {

/// Inputs and where they come from: the row's `data`.
struct Data {
  Inputs inputs;
  std::string name;
};

/// A model at one hidden size with its weights, what it is run on, and what else computes the same.
class Workload {
public:
  explicit Workload(int32_t hidden) : hidden(hidden) {}
  virtual ~Workload() = default;

  const int32_t hidden;
  Parameters parameters; ///< all that the model has

  /// What is done with the model. A workload and its training are two of these.
  virtual Mode mode() const { return Mode::Infer; }
  /// Of a training, which is plain SGD: weights -= rate * the gradient of a batch's mean loss. So low that
  /// batches of one input do not make it chaotic, in which rounding would grow from step to step.
  virtual float learning_rate() const { return 0; }

  /// The entry that is measured, or the loss. Its results are numbers, tensors or lists of these; where it
  /// has several, an input's stand one after the other.
  virtual const char *entry() const = 0;

  /// The real inputs in the folder `data` of data sets; where it lacks them, generated ones of the same shape
  /// statistics. `error` says what is wrong with a file that is there.
  virtual Data load(const std::string &data, std::string &error) const = 0;

  /// How many times a recursive cell or the body of a scan is computed: what scheduling is counted by.
  virtual int64_t instances(const Inputs &inputs) const = 0;
  /// How many elements the results of these inputs have; of a training, if they are one batch.
  virtual int64_t values(const Inputs &inputs) const = 0;
  /// Floating-point operations in the products of the model, and of its gradient in a training, counting a
  /// multiplication and an addition as two.
  virtual double flops(const Inputs &inputs) const = 0;

  /// The products of a pass over these batches, if each level of a batch takes one; empty: the workload does
  /// not tell.
  virtual std::vector<LevelProduct> products(const std::vector<Inputs> &batches) const {
    (void)batches;
    return {};
  }

  /// The results of all inputs from the equations as they stand, in double precision, one instance after the
  /// other; of a training the mean loss, if they are one batch, before any step. Slow.
  virtual std::vector<double> reference(const Inputs &inputs) const = 0;

  /// The implementations by hand that there are, each under its name in the rows. They may borrow `batches`
  /// and this workload, which outlive them.
  virtual std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const {
    (void)batches;
    return {};
  }
};

} // namespace dbc::bench
