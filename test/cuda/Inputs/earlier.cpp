// Errors of CUDA calls that the application made before, with a stand-in for CUDA. Part of dbc, under
// Apache-2.0 WITH LLVM-exception; see LICENSE.
#include <cstdio>
#include <dbc/cuda/context.h>
#include <dbc/cuda/gpu.h>
#include <dbc/generated.h>

namespace {
void kernel() {}

/// A model of one entry without arguments, whose kernel does nothing.
class Plan : public dbc::EntryPlan {
  void schedule(dbc::Run &) override {}
  void compute(dbc::Run &) override {}
  dbc::Status begin_on(dbc::Run &run, dbc::cuda::Context &device) override {
    if (dbc::Status serves = device.serves(run); !serves.ok())
      return serves;
    sub_batch_ = device.begin({dbc::cuda::result(&result_, static_cast<size_t>(run.input_count))});
    if (device.status().ok())
      dbc::cuda::launch(kernel, 1, 0, nullptr);
    device.copy_out();
    return device.status();
  }
  dbc::Status finish_on(dbc::Run &, dbc::cuda::Context &device) override { return device.finish(sub_batch_); }
  float *result_ = nullptr;
  int64_t sub_batch_ = 0;
};

const dbc::ModelInfo &info() {
  static const dbc::ModelInfo made = [] {
    dbc::ModelInfo info;
    info.name = "toy";
    dbc::TypeInfo number;
    number.elem = dbc::Elem::F32;
    info.entries = {{"one", false, {}, number}};
    return info;
  }();
  return made;
}
const dbc::ModelCode &code() {
  static const dbc::ModelCode made = [] {
    dbc::ModelCode code{};
    code.info = &info();
    code.make_model = [](const dbc::Weights &, dbc::Model &) {};
    code.entries.push_back({0, {}, {}, false, {}, {"one"}, dbc::make_plan<Plan>});
    code.cuda = dbc::cuda::backend;
    return code;
  }();
  return made;
}
void say(const char *what, const dbc::Status &status) {
  std::printf("%s: %s %s\n", what, dbc::code_name(status.code), status.message.c_str());
}
} // namespace

int main() {
  dbc::Model model;
  say("model", dbc::Model::make(code(), dbc::Weights(info()), &model));
  dbc::cuda::Model on, other;
  dbc::Session session(model);
  dbc::Batch batch(info());
  batch.begin_input();

  // A call that failed, of which CUDA keeps the error until somebody asks.
  void *memory = nullptr;
  if (cudaMalloc(&memory, size_t(1) << 50) == cudaSuccess)
    return 1;
  say("made after a call that failed", dbc::cuda::Model::make(model, 0, &on));
  dbc::cuda::Context context(on), fresh(on);
  session.compute_on(&context);
  say("run", session.run(0, batch));
  say("again", session.run(0, batch));
  std::printf("its error is still there: %d\n", cudaGetLastError() == cudaErrorMemoryAllocation);
  // Work of the application on the stream is no failure.
  fake::busy = true;
  say("beside others", session.run(0, batch));
  fake::busy = false;

  // A kernel of the application's that broke the device.
  fake::broken = cudaErrorIllegalAddress;
  say("run on a broken device", session.run(0, batch));
  say("again", session.run(0, batch));
  session.compute_on(&fresh);
  say("by a context that had not run", session.run(0, batch));
  say("made on it", dbc::cuda::Model::make(model, 0, &other));
  session.compute_on(&context);
  fake::broken = cudaSuccess; // as after cudaDeviceReset
  say("when it is well", session.run(0, batch));

  // A kernel of the model's own.
  fake::breaks = cudaErrorIllegalAddress;
  say("our own", session.run(0, batch));
  fake::breaks = cudaSuccess;
  say("and from then on", session.run(0, batch));
  fake::broken = cudaSuccess;
}
