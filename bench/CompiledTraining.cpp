// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Training a compiled model, as a program of its user's does.
#include "bench/Compiled.h"
#include "bench/ModelBatch.h"

#include <dbc/optimizer.h>

namespace dbc::bench {
namespace {

OptimizerOptions plain_sgd(float rate) {
  OptimizerOptions options;
  options.lr = rate;
  return options;
}

class CompiledTraining final : public Implementation {
public:
  CompiledTraining(const ModelCode &code, const std::string &loss, const Parameters &parameters,
                   const std::vector<Inputs> &batches, int32_t threads, float rate)
      : batches_(batches), weights_(make_weights(*code.info, parameters)), model_(make_model(code, weights_)),
        session_(model_, threads), optimizer_(plain_sgd(rate)), loss_(find_entry(*code.info, loss)),
        batch_(*code.info, loss_, batches[0]) {}

  void pass(float *out) override;
  std::vector<float> parameter(const std::string &name) override {
    const int32_t number = weights_.find(name);
    const float *values = weights_.data(number);
    return {values, values + weights_.size(number)};
  }
  double schedule_seconds() const override { return schedule_seconds_; }

private:
  const std::vector<Inputs> &batches_;
  Weights weights_;
  Model model_;
  Session session_;
  Optimizer optimizer_;
  int32_t loss_;
  ModelBatch batch_;
  double schedule_seconds_ = 0;
};

void CompiledTraining::pass(float *out) {
  int64_t schedule_ns = 0;
  for (const Inputs &inputs : batches_) {
    expect(session_.run(loss_, batch_.borrow(inputs)));
    expect_all(session_, inputs.count());
    const Outputs &outputs = session_.outputs(loss_);
    double sum = 0;
    for (int32_t input = 0; input < inputs.count(); ++input)
      sum += outputs.f32(0)[input];
    *out++ = static_cast<float>(sum / inputs.count());
    expect(optimizer_.step(weights_, outputs));
    expect(model_.renew(weights_, optimizer_));
    schedule_ns += session_.profile(loss_).schedule_ns;
  }
  schedule_seconds_ = 1e-9 * static_cast<double>(schedule_ns);
}

} // namespace

std::unique_ptr<Implementation> compiled_training(const ModelCode &code, const std::string &loss,
                                                  const Parameters &parameters,
                                                  const std::vector<Inputs> &batches, int32_t threads,
                                                  float rate) {
  return std::make_unique<CompiledTraining>(code, loss, parameters, batches, threads, rate);
}

} // namespace dbc::bench
