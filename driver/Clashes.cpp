// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Clashes.h"

namespace dbc::driver {

std::string clashOf(const Options &o, const CLI::App &app) {
  const bool run = app.got_subcommand("run"), report = app.got_subcommand("report"),
             verify = app.got_subcommand("verify"), weights = app.got_subcommand("weights");
  auto isGiven = [&](const char *command, const char *option) {
    return app.get_subcommand(command)->count(option) > 0;
  };
  const bool onDevice = o.model.target == "cuda" || o.model.target == "cuda-on-cpu";
  const std::pair<bool, std::string> clashes[] = {
      {o.model.f64 && o.model.bf16, "`--weights bf16` goes with `--real f32` alone"},
      {!o.model.train && !o.model.gradients.empty(), "`--gradient` goes with `--mode train` alone"},
      {!o.model.train && o.model.recompute != "none", "`--recompute` goes with `--mode train` alone"},
      {o.model.tf32 && (o.model.f64 || !o.model.device),
       "`--gpu-math tf32` is about kernels: it goes with a `--target` that has `cuda` or `cuda-on-cpu`, and "
       "with `--real f32`"},
      {o.model.gpuBlas != "never" && !o.model.device,
       "`--gpu-blas " + o.model.gpuBlas +
           "` is about kernels: it goes with a `--target` that has `cuda` or `cuda-on-cpu`"},
      {report && o.countInput.empty() && !o.device.empty(),
       "`--device` predicts what `--input FILE` has, which is not there"},
      {report && o.countInput.empty() && !o.drawingOutput.empty(),
       "`--svg` draws what `--input FILE` has, which is not there"},
      {report && o.countInput.empty() && !o.weights.empty(),
       "`--weights FILE` is what `--input FILE` is computed with, which is not there"},
      {report && o.countInput.empty() && isGiven("report", "--seed"),
       "`--seed` draws weights for `--input FILE`, which is not there"},
      {verify && !o.countInput.empty() &&
           (isGiven("verify", "-n") || o.sizes.length || o.sizes.nodes || o.sizes.depth),
       "`--input` has the inputs: it goes without `-n`, `--length`, `--nodes` and `--depth`, which draw "
       "them"},
      {weights && o.mapping.empty() && !o.suggest,
       "`weights map` wants `--mapping FILE`, or `--suggest` to propose one"},
      {weights && o.output.empty() && !o.suggest,
       "`--mapping` goes with `-o FILE.safetensors`, where the weights are written"},
      {o.shared && (!o.output.empty() || !o.emit.empty() || o.saveTemps || o.cInterface),
       "`--shared` writes into the cache: it goes without `-o`, `--emit`, `--save-temps` and "
       "`--c-interface`"},
      {run && o.watch && o.input == "-", "`--watch` reads the input again: it goes with `--input FILE`"},
      // A trace alone would not show predictions.
      {run && !o.device.empty() && ((!o.profile && o.profileOutput.empty()) || !onDevice || o.model.f64),
       "`--device` puts predictions beside what a GPU's profile measured: it goes with `--profile` or "
       "`--profile-json`, with `--target cuda` or `cuda-on-cpu`, and with `--real f32`"},
  };
  for (const auto &[clashing, why] : clashes)
    if (clashing)
      return why;
  return "";
}

} // namespace dbc::driver
