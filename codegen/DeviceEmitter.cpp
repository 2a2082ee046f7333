// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// NAME.cuh and NAME.cu.
#include "codegen/Emitters.h"
#include "codegen/KernelEmitter.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

static constexpr const char *kLaunchParameters =
    "(const Arrays &arrays, int32_t begin, int32_t end, int32_t wide, void *stream)";
static constexpr const char *kRecordParameters = "(const Arrays *given, const int32_t *rows, int32_t launch, "
                                                 "int32_t expected, int32_t wide, void *stream)";
static constexpr const char *kLoopParameters =
    "(const Arrays &arrays, const dbc::cuda::WholeLoop &loop, void *stream)";

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
    add(columnType(array), array.member, "of the batch");
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
    add(matrix.getContract() ? "dbc::cuda::Fragments" : "dbc::cuda::Matrix<real>", program.nameOf(matrix),
        (matrix.getTables() ? std::to_string(*matrix.getTables()) + " of " : "") +
            std::to_string(matrix.getOut()) + " x " + std::to_string(matrix.getIn()));
  for (const auto &[space, member] : arrays.ticks)
    add("const int32_t *", member, "rows of each tick and team of " + program.nameOf(space));
  if (!arrays.loops.empty())
    add("int32_t *", "counters", "of the teams in whole loops");
  if (arrays.blas)
    add("dbc::cuda::Blas *", "blas", "the library of products; the host's");
  add("dbc::cuda::Faults", "faults", "what kernels find wrong");
  add("dbc::cuda::BlockScratch", "scratch", "of blocks of threads");
  out.doc("What the kernels of `" + program.source + "` read and write, in a device's memory.");
  out.open("struct Arrays");
  out.aligned(lines);
  out.close("};");
  out.line("static_assert(sizeof(Arrays) <= 32000, \"a kernel is given no more\");");
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
    if (arrays.graph)
      for (kernel::FuncOp stage : program->stages)
        out.line("void " + recordOf(*program, stage) + kRecordParameters + ";");
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

bool usesBlas(const ModelNames &model) {
  return llvm::any_of(model.programs,
                      [&](const auto &program) { return DeviceArrays(model, *program).blas; });
}

//===-- NAME.cu -----------------------------------------------------------------------------------------===//

/// A kernel's first line: with so many blocks on a processor at once a thread has kernel::registersOf them.
static std::string boundsOf(const std::string &blocks) {
  return "__global__ void __launch_bounds__(dbc::cuda::kThreads, " + blocks + ")";
}

/// The same of a stage's own kernel, which may have wide tiles.
static std::string boundsOf(const ModelNames &model, kernel::FuncOp stage, const KernelEmitter &emitter) {
  auto blocks = [&](bool wide) {
    return std::to_string(kernel::residentBlocks(stage, model.bytes("real"), wide));
  };
  if (!emitter.widens())
    return boundsOf(blocks(false));
  return boundsOf("kRows == " + std::to_string(emitter.rows()) + " ? " + blocks(false) + " : " +
                  blocks(true));
}

/// A call of a stage's function. Its matrices are those of the batch, or what a loop keeps of them.
static std::string callOf(const KernelEmitter &emitter, const Program &program, kernel::FuncOp stage,
                          const std::string &rows, const std::string &begin, const std::string &end,
                          const std::string &launch, const llvm::StringMap<std::string> &kept = {},
                          const std::string &team = "dbc::cuda::Grid()") {
  std::vector<std::string> arguments = {"arrays"};
  for (kernel::WeightsOp matrix : emitter.matrices()) {
    auto own = kept.find(matrix.getSymName());
    arguments.push_back(own != kept.end() ? own->second : "arrays." + program.nameOf(matrix));
  }
  if (emitter.loop())
    arguments.push_back(team);
  arguments.insert(arguments.end(), {begin, end});
  if (emitter.checks())
    arguments.push_back(launch);
  return program.nameOf(stage) + (emitter.widens() ? "<" + rows + ">" : "") + "(" + commas(arguments) + ");";
}

/// What a stage's launch does: in wide tiles where that makes enough blocks of threads. Rows and parameters
/// are words of its source.
static void emitLaunch(KernelEmitter &emitter, const std::string &kernel, const std::string &begin,
                       const std::string &end, const std::vector<std::string> &parameters, Writer &out) {
  auto launch = [&](const std::string &name, const std::string &blocks, int64_t shared) {
    std::vector<std::string> arguments = {name, blocks, std::to_string(shared), "stream"};
    arguments.insert(arguments.end(), parameters.begin(), parameters.end());
    return "dbc::cuda::launch(" + commas(arguments) + ");";
  };
  auto blocksOf = [&](int64_t rows) {
    std::vector<std::string> parts = {begin, end, std::to_string(rows), std::to_string(emitter.tiles())};
    if (emitter.blockScratch() > 0)
      parts.push_back(std::to_string(kScratchBlocks));
    return "dbc::cuda::blocks_of(" + commas(parts) + ")";
  };
  if (!emitter.widens())
    return out.line(launch(kernel, blocksOf(emitter.rows()), emitter.sharedBytes()));
  out.line("const int32_t wide_blocks = " + blocksOf(emitter.wideRows()) + ";");
  const std::string wideKernel = kernel + "<" + std::to_string(emitter.wideRows()) + ">";
  std::string condition = "wide_blocks >= wide";
  if (emitter.wideSharedBytes() > kernel::kSharedOfAll)
    condition +=
        " && dbc::cuda::give_shared(" + commas({wideKernel, std::to_string(emitter.wideSharedBytes())}) + ")";
  out.line("if (" + condition + ")");
  out.line("  return " + launch(wideKernel, "wide_blocks", emitter.wideSharedBytes()));
  out.line(launch(kernel + "<" + std::to_string(emitter.rows()) + ">", blocksOf(emitter.rows()),
                  emitter.sharedBytes()));
}

/// The parameters of a function that launches a stage, of which some have no wide tiles.
static std::string parametersOf(KernelEmitter &emitter, std::string parameters) {
  if (!emitter.widens())
    parameters.replace(parameters.find("int32_t wide"), StringRef("int32_t wide").size(), "int32_t /*wide*/");
  return parameters;
}

/// The kernel of a stage that finds its arrays and its rows in memory, and what launches it.
static void emitForGraph(const ModelNames &model, const Program &program, kernel::FuncOp stage,
                         KernelEmitter &emitter, Writer &out) {
  std::string kernel = "node_of_" + program.nameOf(stage);
  out.line("namespace {");
  out.comment("The same in a graph: arrays and rows are those of the batch in hand.");
  if (emitter.widens())
    out.line("template <int32_t kRows>");
  out.line(boundsOf(model, stage, emitter));
  out.open(kernel + "(const Arrays *given, const int32_t *rows" +
           (emitter.checks() ? ", int32_t launch)" : ", int32_t)"));
  out.line("const Arrays arrays = *given;"); // the addresses come all at once, and are not read again
  out.line(callOf(emitter, program, stage, "kRows", "rows[0]", "rows[1]", "launch"));
  out.close();
  out.line("} // namespace");
  out.blank();
  out.open("void " + recordOf(program, stage) + parametersOf(emitter, kRecordParameters));
  emitLaunch(emitter, kernel, "0", "expected", {"given", "rows", "launch"}, out);
  out.close();
  out.blank();
}

/// A stage that a library computes: what has it do so.
static void emitGemm(const ModelNames &model, const Program &program, kernel::FuncOp stage,
                     kernel::GemmOp gemm, Writer &out) {
  auto matrix = program.find<kernel::WeightsOp>(gemm.getWeights());
  auto row = [&](StringRef symbol) {
    std::string stride = std::to_string(deviceRowSize(model, program, symbol));
    return "arrays." + model.array(program, symbol).member + " + int64_t(begin) * " + stride + ", " + stride;
  };
  out.comment("By cuBLAS: rows of " + std::to_string(matrix.getIn()) + " times a matrix of " +
              std::to_string(matrix.getOut()) + " x " + std::to_string(matrix.getIn()) +
              (matrix.getInit() ? ", plus its bias" : "") +
              (gemm.getTf32() ? ", operands may be cut to tf32" : "") +
              "; the order of additions is its own.");
  std::string parameters = kLaunchParameters;
  for (StringRef unused : {"wide", "stream"})
    parameters.replace(parameters.find(unused), unused.size(),
                       (unused == "stream" ? " /*" : "/*") + unused.str() + "*/");
  out.open("void " + launchOf(program, stage) + parameters);
  out.line("arrays.blas->gemm(dbc::cuda::Gemm<real>{" +
           commas({"end - begin", row(gemm.getFrom()), "arrays." + program.nameOf(matrix),
                   matrix.getInit() ? "/*biased=*/true" : "/*biased=*/false", row(gemm.getTo())}) +
           "}" +
           (model.f64()      ? ""
            : gemm.getTf32() ? ", /*tf32=*/true"
                             : ", /*tf32=*/false") +
           ");");
  out.close();
  out.blank();
}

/// A stage's function, its kernel, and what launches that. Gives the bytes of shared memory.
static FailureOr<int64_t> emitKernel(const ModelNames &model, const Program &program,
                                     const DeviceArrays &arrays, kernel::FuncOp stage, Writer &out) {
  KernelEmitter emitter(model, program, arrays, stage);
  std::string kernel = "kernel_of_" + program.nameOf(stage);
  Writer text(out.indent());
  if (failed(emitter.emit(text)))
    return failure();
  out.line("namespace {");
  out.raw(text.text());
  if (emitter.widens())
    out.line("template <int32_t kRows>");
  out.line(boundsOf(model, stage, emitter));
  out.open(kernel + "(const Arrays arrays, int32_t begin, int32_t end)");
  out.line(callOf(emitter, program, stage, "kRows", "begin", "end", "arrays.faults.launch"));
  out.close();
  out.line("} // namespace");
  out.blank();
  out.open("void " + launchOf(program, stage) + parametersOf(emitter, kLaunchParameters));
  emitLaunch(emitter, kernel, "begin", "end", {"arrays", "begin", "end"}, out);
  out.close();
  out.blank();
  if (arrays.graph)
    emitForGraph(model, program, stage, emitter, out);
  return emitter.sharedBytes();
}

namespace {

/// A loop over levels or steps as one kernel: what is in it, op by op.
class LoopEmitter {
public:
  /// `number` is that of the loop's counters, `shared` the bytes of shared memory that its stages need.
  LoopEmitter(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
              const DeviceArrays::Loop &loop, int64_t number, int64_t shared, Writer &out)
      : model_(model), program_(program), arrays_(arrays), loop_(loop), number_(number), shared_(shared),
        all_(shared), out_(out) {
    for (StringRef word : {"arrays", "loop", "tick", "team", "at", "kKeeps", "Team"})
      names_.reserve(word);
  }
  void emit();

private:
  void kernel();
  void first(kernel::FirstOp op);
  void stage(size_t number);
  void launch();

  const ModelNames &model_;
  const Program &program_;
  const DeviceArrays &arrays_;
  const DeviceArrays::Loop &loop_;
  const int64_t number_, shared_;
  int64_t all_, tiles_ = 1; ///< bytes with what is kept; blocks that keep different tiles
  Writer &out_;
  NameScope names_;
  llvm::StringMap<std::string> kept_; ///< a matrix's name in the kernel
};
} // namespace

void LoopEmitter::emit() {
  out_.line("namespace {");
  kernel();
  out_.line("} // namespace");
  out_.blank();
  out_.open("void launch_" + loop_.name + kLoopParameters);
  launch();
  out_.close();
  out_.blank();
}

void LoopEmitter::kernel() {
  const bool keeps = !loop_.keeps.empty();
  std::string comment =
      "Levels or steps loop.first .. loop.ticks - 1 in one launch. Behind each stage the blocks "
      "of a team wait for each other";
  comment += loop_.awaits ? ", or for the numbers that they need." : ".";
  if (keeps)
    comment += " With kKeeps each keeps its tiles of matrices in shared memory.";
  out_.comment(comment);
  const int64_t blocks = kernel::residentBlocks(loop_.stages.front(), model_.bytes("real"));
  out_.line(keeps ? "template <bool kKeeps, class Team>" : "template <class Team>");
  out_.line(boundsOf(std::to_string(blocks)));
  out_.open(loop_.name + "(const Arrays arrays, const dbc::cuda::WholeLoop loop)");
  out_.line("Team team(loop, arrays.counters, " + std::to_string(number_) + ");");
  Block &body = loop_.op->getRegion(0).front();
  for (auto op : body.getOps<kernel::FirstOp>())
    first(op);
  out_.open("for (int32_t tick = loop.first; tick < loop.ticks; ++tick)");
  out_.line("const int32_t at = team.at(tick);");
  size_t number = 0;
  for (Operation &op : body) {
    if (isa<kernel::LaunchOp>(op))
      stage(number++);
    else if (isa<kernel::TeamBarrierOp>(op))
      out_.line("team.wait();");
    else
      assert(isa<kernel::FirstOp>(op) && "a whole loop has nothing else");
  }
  out_.close();
  out_.close();
}

void LoopEmitter::first(kernel::FirstOp op) {
  for (DeviceArrays::Kept keep : loop_.keeps) {
    std::string member = program_.nameOf(keep.matrix);
    kept_[keep.matrix.getSymName()] = names_.fresh(member);
    out_.line("dbc::cuda::Fragments " + kept_[keep.matrix.getSymName()] + " = arrays." + member + ";");
  }
  out_.open("if (kKeeps)");
  size_t number = 0;
  for (Operation &each : op.getBody().front()) {
    if (isa<kernel::WaitCopiesOp>(each)) {
      out_.line("dbc::cuda::wait_for_copies();");
    } else if (isa<kernel::BarrierOp>(each)) {
      out_.line("__syncthreads();");
    } else {
      assert(isa<kernel::CopyAsyncOp>(each) && "nothing else comes first");
      DeviceArrays::Kept keep = loop_.keeps[number++];
      std::string name = kept_[keep.matrix.getSymName()], memory = names_.fresh("kept_" + name);
      out_.line("DBC_SHARED(float, " +
                commas({memory, std::to_string(all_), std::to_string(keep.bytes / 4)}) + ");");
      out_.line(name + " = dbc::cuda::copy_async(" +
                commas({name, std::to_string(keep.tiles), memory, "team"}) + ");");
      all_ += keep.bytes;
      tiles_ = std::max(tiles_, keep.tiles);
    }
  }
  out_.close();
}

/// Each stage of each tick counts as a launch of its own.
void LoopEmitter::stage(size_t number) {
  kernel::FuncOp stage = loop_.stages[number];
  std::string launch = "arrays.faults.launch + tick - loop.first";
  if (loop_.stages.size() > 1)
    launch = "arrays.faults.launch + (tick - loop.first) * " + std::to_string(loop_.stages.size()) +
             (number > 0 ? " + " + std::to_string(number) : "");
  KernelEmitter emitter(model_, program_, arrays_, stage);
  std::string bounds = "arrays." + loop_.ticks[number];
  out_.line("team.begins(" +
            commas({quoted(stage.getSymName().drop_front(StringRef("stage.").size())), "tick",
                    bounds + "[at]", std::to_string(emitter.rows()), std::to_string(emitter.tiles())}) +
            ");");
  out_.line(callOf(emitter, program_, stage, std::to_string(emitter.rows()), bounds + "[at]",
                   bounds + "[at + 1]", launch, kept_, "team"));
}

/// By values where the session wants that and the loop can; with the matrices in shared memory where the
/// device has so much, and blocks for all tiles.
void LoopEmitter::launch() {
  const bool keeps = !loop_.keeps.empty();
  auto kernel = [&](bool keeping, bool awaiting) {
    return loop_.name + "<" + (keeps ? (keeping ? "true, " : "false, ") : "") +
           (awaiting ? "dbc::cuda::AwaitingTeam" : "dbc::cuda::CountingTeam") + ">";
  };
  auto call = [&](bool keeping, bool awaiting) {
    return "dbc::cuda::launch_cooperative(" +
           commas({kernel(keeping, awaiting), "loop", std::to_string(keeping ? all_ : shared_), "stream",
                   "arrays", "loop"}) +
           ");";
  };
  auto fits = [&](bool awaiting) {
    return "dbc::cuda::blocks_of_team(" + commas({kernel(true, awaiting), "loop", std::to_string(all_)}) +
           ") >= " + std::to_string(tiles_);
  };
  auto keepIfItFits = [&](bool awaiting) {
    if (!keeps)
      return;
    out_.line("if (" + fits(awaiting) + ")");
    out_.line("  return " + call(true, awaiting));
  };
  if (loop_.awaits) {
    out_.open("if (loop.by_value)");
    keepIfItFits(true);
    out_.line("return " + call(false, true));
    out_.close();
  }
  keepIfItFits(false);
  out_.line(call(false, false));
}

FailureOr<std::string> emitKernels(const ModelNames &model) {
  Writer out;
  out.comment("The kernels of the model `" + model.source + "`, compiled by dbc" +
              (model.options.source.empty() ? "" : " from " + model.options.source) + ". Not to be edited.");
  out.line("#include \"" + model.source + ".cuh\"");
  out.blank();
  bool blas = usesBlas(model);
  if (blas)
    out.line("#include <dbc/cuda/cublas.h>");
  out.line("#include <dbc/cuda/kernels.h>");
  out.blank();
  openSpaces(model, out);
  out.line("namespace cuda_kernels {");
  out.raw("\n");
  out.line("namespace math = dbc::math;");
  out.blank();
  out.line("const dbc::cuda::Backend &backend() { return dbc::cuda::backend" +
           std::string(blas ? "_with_blas" : "") + "(); }");
  out.blank();
  for (const auto &program : model.programs) {
    DeviceArrays arrays(model, *program);
    out.line("namespace " + program->space + " {");
    out.raw("\n");
    llvm::DenseMap<Operation *, int64_t> shared;
    for (kernel::FuncOp stage : program->stages) {
      if (kernel::GemmOp gemm = kernel::gemmOf(stage)) {
        emitGemm(model, *program, stage, gemm, out);
        continue;
      }
      FailureOr<int64_t> bytes = emitKernel(model, *program, arrays, stage, out);
      if (failed(bytes))
        return failure();
      shared[stage] = *bytes;
    }
    for (auto [number, loop] : llvm::enumerate(arrays.loops)) {
      int64_t most = 0;
      for (kernel::FuncOp stage : loop.stages)
        most = std::max(most, shared[stage]);
      LoopEmitter(model, *program, arrays, loop, number, most, out).emit();
    }
    out.line("} // namespace " + program->space);
    out.blank();
  }
  out.line("} // namespace cuda_kernels");
  closeSpaces(model, out);
  return out.text();
}

} // namespace dbc::codegen
