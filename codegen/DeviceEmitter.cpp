// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// NAME.cuh and NAME.cu.
#include "codegen/Emitters.h"
#include "codegen/KernelEmitter.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

static constexpr const char *kLaunchParameters =
    "(const Arrays &arrays, int32_t begin, int32_t end, void *stream)";
static constexpr const char *kLoopParameters =
    "(const Arrays &arrays, int32_t ticks, int32_t blocks, void *stream)";

//===-- NAME.cuh ----------------------------------------------------------------------------------------===//

static void emitArrays(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
                       Writer &out) {
  std::vector<std::pair<std::string, std::string>> lines;
  auto add = [&](const std::string &type, const std::string &name, const std::string &comment) {
    lines.push_back({type + (StringRef(type).ends_with("*") ? "" : " ") + name +
                         (StringRef(type).ends_with("*") ? " = nullptr;" : ";"),
                     comment});
  };
  for (const std::string &symbol : arrays.fields) {
    Array array = model.array(program, symbol);
    add("const " + array.pointee + " *", array.member, "of the batch");
  }
  for (const DeviceArrays::Column &column : arrays.columns)
    add("const int32_t *", column.member, "rows of " + program.nameOf(column.space));
  for (const auto &[space, member] : arrays.orders)
    add("const int32_t *", member, "position -> row; null: in order");
  for (kernel::BufferOp buffer : arrays.buffers) {
    Array array = model.array(program, buffer.getSymName());
    auto space = program.find<kernel::SpaceOp>(buffer.getSpace());
    bool ofModel = space.getKind() == kernel::SpaceKind::Model;
    std::string shape = array.extents.empty() ? "" : ": " + shapeText(array.extents);
    add((ofModel ? "const " : "") + array.pointee + " *", array.member,
        (ofModel ? "of the model" : program.nameOf(space)) + shape);
  }
  for (const std::string &symbol : arrays.params)
    add("const real *", model.array(program, symbol).member, shapeText(model.param(symbol)->shape));
  for (kernel::WeightsOp matrix : arrays.weights)
    add("dbc::cuda::Matrix<real>", program.nameOf(matrix),
        (matrix.getTables() ? std::to_string(*matrix.getTables()) + " of " : "") +
            std::to_string(matrix.getOut()) + " x " + std::to_string(matrix.getIn()));
  for (const auto &[space, member] : arrays.ticks)
    add("const int32_t *", member, "rows of tick t of " + program.nameOf(space) + ": [t] .. [t + 1] - 1");
  if (!arrays.loops.empty())
    add("int32_t *", "barriers", "where the blocks of whole loops meet");
  add("dbc::cuda::Faults", "faults", "what kernels find wrong");
  add("dbc::cuda::BlockScratch", "scratch", "of blocks of threads");
  out.doc("What the kernels of `" + program.source + "` read and write, in a device's memory.");
  out.open("struct Arrays");
  out.aligned(lines);
  out.close("};");
  out.line("static_assert(sizeof(Arrays) <= 4000, \"a kernel is given no more\");");
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

std::string emitDeviceHeader(const ModelNames &model) {
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
  for (const auto &program : model.programs) {
    out.line("namespace " + program->space + " {");
    out.raw("\n");
    DeviceArrays arrays(model, *program);
    emitArrays(model, *program, arrays, out);
    out.blank();
    for (kernel::FuncOp stage : program->stages)
      out.line("void " + launchOf(*program, stage) + kLaunchParameters + ";");
    for (const DeviceArrays::Loop &loop : arrays.loops)
      out.line("void launch_" + loop.name + kLoopParameters + ";");
    out.blank();
    out.line("} // namespace " + program->space);
    out.blank();
  }
  out.line("} // namespace cuda_kernels");
  closeSpaces(model, out);
  return out.text();
}

//===-- NAME.cu -----------------------------------------------------------------------------------------===//

static constexpr const char *kKernel = "__global__ void __launch_bounds__(dbc::cuda::kThreads) ";

/// A stage's function, its kernel, and what launches that. Gives the bytes of shared memory.
static FailureOr<int64_t> emitKernel(const ModelNames &model, const Program &program,
                                     const DeviceArrays &arrays, kernel::FuncOp stage, Writer &out) {
  KernelEmitter emitter(model, program, arrays, stage);
  std::string name = program.nameOf(stage), kernel = "kernel_of_" + name;
  Writer text(out.indent());
  if (failed(emitter.emit(text)))
    return failure();
  out.line("namespace {");
  out.raw(text.text());
  out.open(kKernel + kernel + "(const Arrays arrays, int32_t begin, int32_t end)");
  out.line(name + "(arrays, begin, end" + (emitter.checks() ? ", arrays.faults.launch" : "") + ");");
  out.close();
  out.line("} // namespace");
  out.blank();
  std::vector<std::string> blocks = {"begin", "end", std::to_string(emitter.rows()),
                                     std::to_string(emitter.tiles())};
  if (emitter.blockScratch() > 0)
    blocks.push_back(std::to_string(kScratchBlocks));
  out.open("void " + launchOf(program, stage) + kLaunchParameters);
  out.line("dbc::cuda::launch(" +
           commas({kernel, "dbc::cuda::blocks_of(" + commas(blocks) + ")",
                   std::to_string(emitter.sharedBytes()), "stream", "arrays", "begin", "end"}) +
           ");");
  out.close();
  out.blank();
  return emitter.sharedBytes();
}

/// A loop over levels or steps as one kernel.
static void emitLoop(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
                     const DeviceArrays::Loop &loop, int64_t number, int64_t shared, Writer &out) {
  out.line("namespace {");
  out.comment("All levels or steps in one launch: blocks wait for each other behind each stage.");
  out.open(kKernel + loop.name + "(const Arrays arrays, int32_t ticks)");
  out.line("dbc::cuda::GridBarrier grid(arrays.barriers + " + std::to_string(number) + ");");
  out.open("for (int32_t tick = 0; tick < ticks; ++tick)");
  for (auto [at, stage, ticks] : llvm::enumerate(loop.stages, loop.ticks)) {
    // Each stage of each tick counts as a launch of its own.
    std::string launch = "arrays.faults.launch + tick";
    if (loop.stages.size() > 1)
      launch += " * " + std::to_string(loop.stages.size()) + (at > 0 ? " + " + std::to_string(at) : "");
    bool checks = KernelEmitter(model, program, arrays, stage).checks();
    out.line(program.nameOf(stage) + "(arrays, arrays." + ticks + "[tick], arrays." + ticks + "[tick + 1]" +
             (checks ? ", " + launch : "") + ");");
    out.line("grid.wait();");
  }
  out.close();
  out.close();
  out.line("} // namespace");
  out.blank();
  out.open("void launch_" + loop.name + kLoopParameters);
  out.line("dbc::cuda::launch_cooperative(" +
           commas({loop.name, "blocks", std::to_string(shared), "stream", "arrays", "ticks"}) + ");");
  out.close();
  out.blank();
}

FailureOr<std::string> emitKernels(const ModelNames &model) {
  Writer out;
  out.comment("The kernels of the model `" + model.source + "`, compiled by dbc" +
              (model.options.source.empty() ? "" : " from " + model.options.source) + ". Not to be edited.");
  out.line("#include \"" + model.source + ".cuh\"");
  out.blank();
  out.line("#include <dbc/cuda/kernels.h>");
  out.blank();
  openSpaces(model, out);
  out.line("namespace cuda_kernels {");
  out.raw("\n");
  out.line("namespace math = dbc::math;");
  out.blank();
  out.line("const dbc::cuda::Backend &backend() { return dbc::cuda::backend(); }");
  out.blank();
  for (const auto &program : model.programs) {
    DeviceArrays arrays(model, *program);
    out.line("namespace " + program->space + " {");
    out.raw("\n");
    llvm::DenseMap<Operation *, int64_t> shared;
    for (kernel::FuncOp stage : program->stages) {
      FailureOr<int64_t> bytes = emitKernel(model, *program, arrays, stage, out);
      if (failed(bytes))
        return failure();
      shared[stage] = *bytes;
    }
    for (auto [number, loop] : llvm::enumerate(arrays.loops)) {
      int64_t most = 0;
      for (kernel::FuncOp stage : loop.stages)
        most = std::max(most, shared[stage]);
      emitLoop(model, *program, arrays, loop, number, most, out);
    }
    out.line("} // namespace " + program->space);
    out.blank();
  }
  out.line("} // namespace cuda_kernels");
  closeSpaces(model, out);
  return out.text();
}

} // namespace dbc::codegen
