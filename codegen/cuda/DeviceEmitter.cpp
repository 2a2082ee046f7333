// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// NAME.cuh and NAME.cu.
#include "codegen/cuda/Emitters.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

//===-- NAME.cuh ----------------------------------------------------------------------------------------===//

static void emitArrays(const std::string &base, const std::vector<DeviceArrays::Member> &members,
                       Writer &out) {
  out.open("struct Arrays" + (base.empty() ? "" : " : " + base));
  std::vector<std::pair<std::string, std::string>> lines;
  for (const DeviceArrays::Member &member : members)
    lines.push_back({StringRef(member.type).ends_with("*") ? member.type + member.name + " = nullptr;"
                                                           : member.type + " " + member.name + ";",
                     member.comment});
  out.aligned(lines);
  out.close("};");
  out.line("static_assert(sizeof(Arrays) <= dbc::cuda::kMostArguments, "
           "\"a kernel is given no more; nvcc before 12.1 gives it 4 KB\");");
  out.blank();
}

/// Declares what launches kernels.
static void declare(const std::vector<DeviceKernel> &kernels, Writer &out) {
  for (const DeviceKernel &kernel : kernels)
    out.line("void " + launchOf(kernel.name) +
             (kernel.isLoop() ? kLoopParameters : launcherParameters(kLaunchParameters)) + ";");
  for (const DeviceKernel &kernel : kernels)
    if (!kernel.forGraph.empty())
      out.line("void " + recordOf(kernel.name) + launcherParameters(kRecordParameters) + ";");
  out.blank();
}

static void openSpaces(const ModelNames &model, Writer &out) {
  out.line("namespace " + model.space() + " {");
  out.line("inline namespace " + model.variant() + " {");
  out.raw("\n");
}
static void closeSpaces(const ModelNames &model, Writer &out) {
  out.line("} // namespace " + model.variant());
  out.line("} // namespace " + model.space());
}

/// The namespace of some kernels.
static void openSpace(const std::string &name, Writer &out) {
  out.line("namespace " + name + " {");
  out.raw("\n");
}
static void closeSpace(const std::string &name, Writer &out) {
  out.line("} // namespace " + name);
  out.blank();
}

std::string emitDeviceHeader(const ModelNames &model, const DeviceKernels &kernels) {
  Writer out;
  out.comment("Launches the kernels of the model `" + model.source + "`, compiled by dbc" +
              (model.options.source.empty() ? "" : " from " + model.options.source) + ". Not to be edited.");
  out.line("#pragma once");
  out.blank();
  out.line("#include <dbc/cuda/arrays.h>");
  out.blank();
  openSpaces(model, out);
  out.line("namespace cuda_kernels {");
  out.raw("\n");
  out.line("using real = " + model.real() + ";");
  out.blank();
  out.doc("How the device is reached.");
  out.line("const dbc::cuda::Backend &backend();");
  out.blank();
  for (const CommonKernels &common : kernels.common()) {
    openSpace(common.space, out);
    if (common.space == DeviceKernels::kCommon) {
      out.doc("What kernels that several entries have in common read and write, in a device's memory.");
      emitArrays("", kernels.members(), out);
    } else {
      out.line(std::string("using ") + DeviceKernels::kCommon + "::Arrays;");
      out.blank();
    }
    declare(common.kernels, out);
    closeSpace(common.space, out);
  }
  for (const auto &program : model.programs) {
    openSpace(program->space, out);
    const bool hasCommon = kernels.hasCommon(*program);
    out.doc("What the kernels of `" + program->source + "` read and write, in a device's memory" +
            (hasCommon ? ", besides what they have in common with others'." : "."));
    emitArrays(hasCommon ? std::string(DeviceKernels::kCommon) + "::Arrays" : "",
               kernels.ownMembers(*program), out);
    declare(kernels.own(*program), out);
    closeSpace(program->space, out);
  }
  out.line("} // namespace cuda_kernels");
  closeSpaces(model, out);
  return out.text();
}

bool usesBlas(const ModelNames &model) {
  return llvm::any_of(model.programs,
                      [&](const auto &program) { return DeviceArrays(model, *program).blas; });
}

//===-- NAME.cu -----------------------------------------------------------------------------------------===//

std::string emitKernels(const ModelNames &model, const DeviceKernels &kernels) {
  Writer out;
  out.comment("The kernels of the model `" + model.source + "`, compiled by dbc" +
              (model.options.source.empty() ? "" : " from " + model.options.source) + ". Not to be edited.");
  out.line("#include \"" + model.source + ".cuh\"");
  out.blank();
  bool blas = usesBlas(model);
  if (blas)
    out.line("#include <dbc/cuda/cublas.h>");
  out.line("#include <dbc/cuda/kernels.h>");
  const bool trains = any_of(model.programs, [](const auto &program) { return !program->gradients.empty(); });
  if (trains)
    out.line("#include <dbc/cuda/optimizer_kernels.h>");
  out.blank();
  openSpaces(model, out);
  out.line("namespace cuda_kernels {");
  out.raw("\n");
  out.line("namespace math = dbc::math;");
  out.blank();
  const std::string backend = std::string("dbc::cuda::backend") + (blas ? "_with_blas" : "") + "()";
  out.line("const dbc::cuda::Backend &backend() { return " +
           (trains ? "dbc::cuda::backend_that_trains<real>(" + backend + ")" : backend) + "; }");
  out.blank();
  auto space = [&](const std::string &name, const std::vector<DeviceKernel> &inIt) {
    if (inIt.empty())
      return;
    openSpace(name, out);
    for (const DeviceKernel &kernel : inIt)
      out.raw(kernel.text + kernel.forGraph);
    closeSpace(name, out);
  };
  for (const CommonKernels &common : kernels.common()) {
    std::vector<std::string> entries;
    for (unsigned program : common.programs.set_bits())
      entries.push_back("`" + model.programs[program]->source + "`");
    out.comment(std::string(common.space == DeviceKernels::kCommon
                                ? "Kernels that several entries have in common"
                                : "Others of the same names that several entries have in common") +
                ", of " + commas(entries) + ".");
    space(common.space, common.kernels);
  }
  for (const auto &program : model.programs)
    space(program->space, kernels.own(*program));
  out.line("} // namespace cuda_kernels");
  closeSpaces(model, out);
  return out.text();
}

} // namespace dbc::codegen
