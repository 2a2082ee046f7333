// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "cost/EntryPredictor.h"
#include "cost/DeviceShapes.h"
#include "llvm/ADT/STLExtras.h"

namespace dbc::cost {

EntryPredictor::EntryPredictor(DeviceConstants device, mlir::ModuleOp kernels, llvm::StringRef entry)
    : device_(std::move(device)) {
  std::vector<ProgramShape> programs = shapesOf(kernels);
  auto program = llvm::find_if(programs, [&](const ProgramShape &each) { return each.entry == entry; });
  assert(program != programs.end() && "every entry has a program");
  program_ = std::move(*program);
}

size_t EntryPredictor::stageOf(const KernelShape &kernel, const std::vector<StageProfile> &stages) {
  auto stage = llvm::find_if(stages, [&](const StageProfile &each) { return each.name == kernel.name; });
  assert(stage != stages.end() && "a CPU and a GPU have the same stages");
  return static_cast<size_t>(stage - stages.begin());
}

Prediction EntryPredictor::predict(const LaunchLog &log, const std::vector<StageProfile> &stages,
                                   int64_t inputs) const {
  std::vector<std::vector<int32_t>> timeSteps;
  for (const KernelShape &kernel : program_.kernels) {
    const size_t stage = stageOf(kernel, stages);
    timeSteps.push_back(stage < log.rows.size() ? log.rows[stage] : std::vector<int32_t>());
  }
  return cost::predict(device_, program_, timeSteps, inputs);
}

void EntryPredictor::add(const LaunchLog &log, const std::vector<StageProfile> &stages, int64_t inputs,
                         DevicePath path, PredictedProfile &sum) const {
  const Prediction prediction = predict(log, stages, inputs);
  sum.device = device_.device;
  sum.constants = device_.count;
  sum.measured_constants = device_.measured;
  sum.path = nameOf(path);
  ++sum.batches;
  sum.us += prediction.us[size_t(path)];
  sum.stages_us.resize(stages.size());
  std::vector<size_t> first; // stage of each loop
  for (auto [kernel, found] : llvm::zip(program_.kernels, prediction.kernels)) {
    const size_t stage = stageOf(kernel, stages);
    double &own = sum.stages_us[stage];
    const double us = found.us[size_t(path)];
    if (path != DevicePath::Loops || kernel.loop < 0) {
      own += us;
      continue;
    }
    if (static_cast<size_t>(kernel.loop) == first.size()) // they are numbered as they come
      first.push_back(stage);
    own += found.prefixUs;
    sum.stages_us[first[kernel.loop]] += us - found.prefixUs;
  }
}

} // namespace dbc::cost
