// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// train LOSS INPUTS STEPS: computes the gradients of the lines of INPUTS as one batch, on the device and on
// the CPU; on each path and with few blocks of threads no bit may change. Then STEPS steps of an optimizer in
// batches of 8 lines: on the device twice, which must give the same bits, and on the CPU. Prints one line of
// JSON: how far gradients and weights are from the CPU's, and what a step takes on both; or why the device
// cannot change the weights.
#include "Lines.h"

#include <dbc/cuda/optimizer.h>
#include <dbc/optimizer.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace dbc;
using namespace dbc::gpu;

namespace {

constexpr size_t kBatch = 8;

/// Gradients of all parameters, or all weights, one after the other.
using Flat = std::vector<float>;

/// The loss of each line and the gradients that a run of them all gives.
Flat gradients_of(const Program &program, Session &session, Batch &batch) {
  expect(session.run(program.entry, batch));
  const Outputs &outputs = session.outputs(program.entry);
  for (int32_t input = 0; input < batch.inputs(); ++input)
    expect(session.status(input));
  const float *losses = static_cast<const float *>(outputs.data(0));
  Flat all(losses, losses + batch.inputs());
  for (int32_t param = 0; param < program.weights.count(); ++param) {
    Flat dense(program.weights.size(param));
    if (outputs.has_gradient(param))
      expect(outputs.add_gradient_to(param, dense.data(), dense.size()));
    all.insert(all.end(), dense.begin(), dense.end());
  }
  return all;
}

Flat numbers_of(const Weights &weights) {
  Flat all;
  for (int32_t param = 0; param < weights.count(); ++param)
    all.insert(all.end(), weights.data(param), weights.data(param) + weights.size(param));
  return all;
}

/// The largest |a - b| / max(1, |b|).
double distance(const Flat &a, const Flat &b) {
  expect(a.size() == b.size(), "there are not as many numbers");
  double most = 0;
  for (size_t n = 0; n < a.size(); ++n) {
    const double error = std::fabs(double(a[n]) - b[n]) / std::max(1.0, std::fabs(double(b[n])));
    if (std::isnan(error))
      return error;
    most = std::max(most, error);
  }
  return most;
}

OptimizerOptions options() {
  OptimizerOptions made;
  made.kind = OptimizerOptions::Kind::Adam;
  made.lr = 1e-3F;
  made.clip_norm = 1;
  made.weight_decay = 1e-4F;
  return made;
}

/// What training gives: weights, and the microseconds of a step, from structure to new weights.
struct Trained {
  Flat weights;
  double step_us = 0;
};

/// Does steps; what they take is counted from the second half on.
template <class Step>
double time_steps(const Program &program, const std::vector<std::string> &lines, int steps, Step step) {
  std::deque<LineBatch> batches = batches_of(*program.code.info, program.info(), lines, kBatch, lines.size());
  double begin = 0;
  for (int n = 0; n < steps; ++n) {
    if (n == steps / 2)
      begin = now_us();
    step(batches[n % batches.size()].batch);
  }
  return (now_us() - begin) / (steps - steps / 2);
}

Trained train_on_device(const char *loss, const std::vector<std::string> &lines, int steps) {
  Program program(loss, *DBC_GPU_CODE());
  cuda::Model on_device;
  expect(cuda::Model::make(program.model, /*device=*/0, &on_device));
  cuda::Context context(on_device);
  context.keep_gradients_on_device(true);
  Session session(program.model);
  session.compute_on(&context);
  dbc::Optimizer optimizer(options());
  std::unique_ptr<cuda::Optimizer> stepping;
  expect(cuda::Optimizer::make(on_device, program.model, program.weights, optimizer, &stepping));
  const double us = time_steps(program, lines, steps, [&](Batch &batch) {
    expect(session.run(program.entry, batch));
    expect(stepping->step(context));
  });
  expect(stepping->fetch(program.weights));
  return {numbers_of(program.weights), us};
}

Trained train_on_cpu(const char *loss, const std::vector<std::string> &lines, int steps) {
  Program program(loss, *DBC_GPU_CODE());
  Session session(program.model);
  dbc::Optimizer optimizer(options());
  const double us = time_steps(program, lines, steps, [&](Batch &batch) {
    expect(session.run(program.entry, batch));
    expect(optimizer.step(program.weights, session.outputs(program.entry)));
    expect(program.model.renew(program.weights, optimizer));
  });
  return {numbers_of(program.weights), us};
}

} // namespace

int main(int argc, char **argv) {
  expect(argc == 4, "usage: train LOSS INPUTS STEPS");
  const Program program(argv[1], *DBC_GPU_CODE());
  const std::vector<std::string> lines = read_lines(argv[2]);
  LineBatch all(*program.code.info, program.info(), lines, 0, lines.size());
  Session on_cpu(program.model);
  const Flat expected = gradients_of(program, on_cpu, all.batch);

  cuda::Model on_device;
  expect(cuda::Model::make(program.model, /*device=*/0, &on_device));
  Session session(program.model);
  cuda::Context first(on_device);
  session.compute_on(&first);
  const Flat found = gradients_of(program, session, all.batch);
  std::string differences;
  int compared = 0;
  const struct {
    const char *name;
    int32_t blocks, large_m_from; // 0: as the context chooses
  } ways[] = {{"", 0, 0}, {", few blocks", 3, 0}, {", large-M tiles", 0, 1}};
  for (const NamedPath &path : kPaths)
    for (const auto &way : ways) {
      cuda::Context context(on_device);
      context.choose_path(path.path);
      context.limit_blocks(way.blocks);
      context.use_large_m_from(way.large_m_from);
      session.compute_on(&context);
      ++compared;
      if (gradients_of(program, session, all.batch) != found)
        differences += (differences.empty() ? "\"" : ", \"") + std::string(path.name) + way.name + "\"";
    }

  {
    dbc::Optimizer optimizer(options());
    std::unique_ptr<cuda::Optimizer> stepping;
    Program changed(argv[1], *DBC_GPU_CODE());
    cuda::Model other;
    expect(cuda::Model::make(changed.model, /*device=*/0, &other));
    const Status can = cuda::Optimizer::make(other, changed.model, changed.weights, optimizer, &stepping);
    if (can.code == Code::bad_call) {
      std::printf("{\"inputs\": %zu, \"compared\": %d, \"differences\": [%s], \"repeats\": 1, "
                  "\"different\": 0, \"max_error\": %.3g, \"cpu_changes_weights\": \"%s\"}\n",
                  lines.size(), compared, differences.c_str(), distance(found, expected),
                  can.message.c_str());
      return differences.empty() ? 0 : 3;
    }
  }
  const int steps = std::atoi(argv[3]);
  const Trained trained = train_on_device(argv[1], lines, steps),
                again = train_on_device(argv[1], lines, steps), cpu = train_on_cpu(argv[1], lines, steps);
  const bool different = again.weights != trained.weights;
  std::printf("{\"inputs\": %zu, \"compared\": %d, \"differences\": [%s], \"repeats\": 2, \"different\": %d, "
              "\"max_error\": %.3g, \"steps\": %d, \"weights_error\": %.3g, "
              "\"step_us\": %.1f, "
              "\"cpu_step_us\": %.1f}\n",
              lines.size(), compared, differences.c_str(), different ? 1 : 0, distance(found, expected),
              steps, distance(trained.weights, cpu.weights), again.step_us, cpu.step_us);
  return differences.empty() && !different ? 0 : 3;
}
