// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/cuda/DeviceKernels.h"
#include "codegen/cuda/KernelEmitter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

//===-- Stages ------------------------------------------------------------------------------------------===//

/// A kernel's first line: with so many blocks on a processor at once a thread has kernel::registersOf them.
static std::string boundsOf(const std::string &blocks) {
  return "__global__ void __launch_bounds__(dbc::cuda::kThreads, " + blocks + ")";
}

/// The same of a stage's own kernel, which may have large-M tiles.
static std::string boundsOf(const ModelNames &model, kernel::FuncOp stage, const KernelEmitter &emitter) {
  auto blocks = [&](bool largeM) {
    return std::to_string(kernel::residentBlocks(stage, model.bytes("real"), largeM));
  };
  if (!emitter.hasLargeM())
    return boundsOf(blocks(false));
  return boundsOf("kRows == " + std::to_string(emitter.rows()) + " ? " + blocks(false) + " : " +
                  blocks(true));
}

/// The number of the launch, for records of errors.
static std::string launchNumber(const KernelEmitter &emitter, DeviceArrays::Uses &uses) {
  return emitter.checks() ? uses("errors") + ".launch" : "";
}

/// A call of a stage's function. Its matrices are those of the batch, or what of them is resident in a loop.
static std::string callOf(const KernelEmitter &emitter, const Program &program, DeviceArrays::Uses &uses,
                          const std::string &function, const std::string &rows, const std::string &begin,
                          const std::string &end, const std::string &launch,
                          const llvm::StringMap<std::string> &resident = {},
                          const std::string &blockGroup = "dbc::cuda::Grid()") {
  std::vector<std::string> arguments = {"arrays"};
  for (kernel::WeightsOp matrix : emitter.matrices()) {
    auto own = resident.find(matrix.getSymName());
    arguments.push_back(own != resident.end() ? own->second : uses(program.nameOf(matrix)));
  }
  if (emitter.loop())
    arguments.push_back(blockGroup);
  arguments.insert(arguments.end(), {begin, end});
  if (emitter.checks())
    arguments.push_back(launch);
  return function + (emitter.hasLargeM() ? "<" + rows + ">" : "") + "(" + commas(arguments) + ");";
}

/// That of a stage that adds rows up: what slices of them have is added up behind it.
static void
emitLaunchOfSums(KernelEmitter &emitter,
                 llvm::function_ref<std::string(const std::string &, const std::string &, int64_t)> launch,
                 const std::string &kernel, const std::string &begin, const std::string &end,
                 const std::string &arrays, Writer &out) {
  const int64_t most = emitter.mostBlocks().value_or(emitter.tiles() * emitter.slices());
  if (emitter.slices() == 1)
    return out.line(launch(kernel, std::to_string(std::min(emitter.tiles(), most)), emitter.sharedBytes()));
  const std::string ofSlices = arrays + "." + emitter.ofSlices(),
                    size = std::to_string(emitter.numbersOfSlice());
  out.line("const int32_t slices = dbc::cuda::slices_of(" + end + " - " + begin + ", " +
           std::to_string(emitter.slices()) + ");");
  out.line("dbc::cuda::clear_slices(" + commas({ofSlices, size, "slices", "stream"}) + ");");
  std::string blocks = "slices" + (emitter.tiles() > 1 ? " * " + std::to_string(emitter.tiles()) : "");
  if (most < emitter.tiles() * emitter.slices())
    blocks = "std::min(" + blocks + ", " + std::to_string(most) + ")";
  out.line(launch(kernel, blocks, emitter.sharedBytes()));
  std::vector<std::string> summed;
  for (const SliceSums &each : emitter.sliceSums())
    summed.push_back("{" +
                     commas({arrays + "." + emitter.member(each.array), std::to_string(each.numbers),
                             std::to_string(each.offset)}) +
                     "}");
  out.line("dbc::cuda::add_slices<real>(" + commas({ofSlices, size, "slices", "stream"}) + ", {" +
           commas(summed) + "});");
}

/// What a stage's launch does: in large-M tiles where that makes enough blocks of threads. Rows and
/// parameters are words of its source.
static void emitLaunch(KernelEmitter &emitter, const std::string &kernel, const std::string &begin,
                       const std::string &end, const std::vector<std::string> &parameters, Writer &out) {
  auto launch = [&](const std::string &name, const std::string &blocks, int64_t shared) {
    std::vector<std::string> arguments = {name, blocks, std::to_string(shared), "stream"};
    arguments.insert(arguments.end(), parameters.begin(), parameters.end());
    return "dbc::cuda::launch(" + commas(arguments) + ");";
  };
  auto blocksOf = [&](int64_t rows, int64_t tiles) {
    std::vector<std::string> arguments = {begin, end, std::to_string(rows), std::to_string(tiles)};
    if (std::optional<uint64_t> most = emitter.mostBlocks())
      arguments.push_back(std::to_string(*most));
    return "dbc::cuda::blocks_of(" + commas(arguments) + ")";
  };
  if (emitter.sums())
    return emitLaunchOfSums(emitter, launch, kernel, begin, end, parameters.front(), out);
  if (!emitter.hasLargeM())
    return out.line(launch(kernel, blocksOf(emitter.rows(), emitter.tiles()), emitter.sharedBytes()));
  const std::string largeMKernel = kernel + "<" + std::to_string(emitter.largeMRows()) + ">";
  std::string condition = "dbc::cuda::filled_large_m_blocks(" +
                          commas({begin, end, std::to_string(emitter.largeMShares())}) + ") >= large_m_from";
  if (emitter.largeMSharedBytes() > kernel::kSharedOfAll)
    condition += " && dbc::cuda::give_shared(" +
                 commas({largeMKernel, std::to_string(emitter.largeMSharedBytes())}) + ")";
  out.line("if (" + condition + ")");
  out.line("  return " + launch(largeMKernel, blocksOf(emitter.largeMRows(), emitter.largeMShares()),
                                emitter.largeMSharedBytes()));
  out.line(launch(kernel + "<" + std::to_string(emitter.rows()) + ">",
                  blocksOf(emitter.rows(), emitter.tiles()), emitter.sharedBytes()));
}

std::string launcherParameters(const std::string &own, bool usesLargeM, bool usesStream) {
  return "(" + own + ", int32_t " + (usesLargeM ? "large_m_from" : "/*large_m_from*/") + ", void *" +
         (usesStream ? "stream" : " /*stream*/") + ")";
}

/// Behind a stage's kernel: the function `launcher` of `parameters` that launches it with `arguments`.
static void emitLauncher(KernelEmitter &emitter, const std::string &launcher, const std::string &parameters,
                         const std::string &kernel, const std::string &begin, const std::string &end,
                         const std::vector<std::string> &arguments, Writer &out) {
  out.line("} // namespace");
  out.blank();
  out.open("void " + launcher + launcherParameters(parameters, emitter.hasLargeM()));
  emitLaunch(emitter, kernel, begin, end, arguments, out);
  out.close();
  out.blank();
}

/// The kernel of a stage that finds its arrays and its rows in memory, and what launches it.
static void emitForGraph(const ModelNames &model, const Program &program, kernel::FuncOp stage,
                         KernelEmitter &emitter, Writer &out) {
  assert(emitter.slices() == 1 && "sums of slices are gradients, which are in no graph");
  std::string kernel = "node_of_" + program.nameOf(stage);
  out.line("namespace {");
  out.comment("The same in a graph: arrays and rows are those of the batch in hand.");
  if (emitter.hasLargeM())
    out.line("template <int32_t kRows>");
  out.line(boundsOf(model, stage, emitter));
  out.open(kernel + "(const Arrays *given, const int32_t *rows" +
           (emitter.checks() ? ", int32_t launch)" : ", int32_t)"));
  out.line("const Arrays arrays = *given;"); // the addresses come all at once, and are not read again
  DeviceArrays::Uses uses;                   // those of the stage's own kernel
  out.line(callOf(emitter, program, uses, program.nameOf(stage), "kRows", "rows[0]", "rows[1]", "launch"));
  out.close();
  emitLauncher(emitter, recordOf(program.nameOf(stage)), kRecordParameters, kernel, "0", "expected",
               {"given", "rows", "launch"}, out);
}

/// A stage that a library computes: what has it do so.
static void emitGemm(const ModelNames &model, const Program &program, kernel::FuncOp stage,
                     kernel::GemmOp gemm, DeviceArrays::Uses &uses, Writer &out) {
  auto matrix = program.find<kernel::WeightsOp>(gemm.getWeights());
  auto row = [&](StringRef symbol) {
    const Array array = model.array(program, symbol);
    const std::string stride = std::to_string(array.stride);
    return uses(array.member) + " + int64_t(begin) * " + stride + ", " + stride;
  };
  out.comment("By cuBLAS: rows of " + std::to_string(matrix.getIn()) + " times a matrix of " +
              std::to_string(matrix.getOut()) + " x " + std::to_string(matrix.getIn()) +
              (matrix.getInit() ? ", plus its bias" : "") +
              (gemm.getTf32() ? ", operands may be cut to tf32" : "") +
              "; the order of additions is its own.");
  out.open("void " + launchOf(program.nameOf(stage)) +
           launcherParameters(kLaunchParameters, /*usesLargeM=*/false, /*usesStream=*/false));
  out.line(uses("blas") + "->gemm(dbc::cuda::Gemm<real>{" +
           commas({"end - begin", row(gemm.getFrom()), uses(program.nameOf(matrix)),
                   matrix.getInit() ? "/*biased=*/true" : "/*biased=*/false", row(gemm.getTo())}) +
           "}" +
           (model.f64()      ? ""
            : gemm.getTf32() ? ", /*tf32=*/true"
                             : ", /*tf32=*/false") +
           ");");
  out.close();
  out.blank();
}

/// A stage that makes its rows of some buffers 0, and does nothing else.
static void emitClears(const ModelNames &model, const Program &program, kernel::FuncOp stage,
                       DeviceArrays::Uses &uses, Writer &out) {
  std::vector<std::string> cleared;
  for (auto symbol : stage.getClearsAttr().getAsRange<FlatSymbolRefAttr>()) {
    const Array array = model.array(program, symbol.getValue());
    const std::string stride = std::to_string(array.stride);
    cleared.push_back("{" + uses(array.member) + " + int64_t(begin) * " + stride +
                      ", int64_t(end - begin) * " + stride + "}");
  }
  out.open("void " + launchOf(program.nameOf(stage)) +
           launcherParameters(kLaunchParameters, /*usesLargeM=*/false));
  out.line("dbc::cuda::clear<real>(stream, {" + commas(cleared) + "});");
  out.close();
  out.blank();
}

/// A stage's function, its kernel, and what launches that.
static FailureOr<DeviceKernel> emitStage(const ModelNames &model, const Program &program,
                                         const DeviceArrays &arrays, kernel::FuncOp stage) {
  SymbolRefAttr same = stage.getSameAsAttr();
  auto module = stage->getParentOfType<ModuleOp>();
  DeviceKernel made(stage, same ? SymbolTable::lookupSymbolIn(module, same) : stage, program.nameOf(stage));
  Writer out;
  if (kernel::GemmOp gemm = kernel::gemmOf(stage)) {
    emitGemm(model, program, stage, gemm, made.uses, out);
    made.text = out.text();
    return made;
  }
  if (stage.getClears() && !arrays.graph) {
    emitClears(model, program, stage, made.uses, out);
    made.text = out.text();
    return made;
  }
  KernelEmitter emitter(model, program, arrays, stage);
  std::string kernel = "kernel_of_" + made.name;
  Writer function;
  if (failed(emitter.emit(function)))
    return failure();
  out.line("namespace {");
  out.raw(function.text());
  if (emitter.hasLargeM())
    out.line("template <int32_t kRows>");
  out.line(boundsOf(model, stage, emitter));
  out.open(kernel + "(const Arrays arrays, int32_t begin, int32_t end)");
  made.uses = emitter.uses();
  out.line(callOf(emitter, program, made.uses, made.name, "kRows", "begin", "end",
                  launchNumber(emitter, made.uses)));
  out.close();
  emitLauncher(emitter, launchOf(made.name), kLaunchParameters, kernel, "begin", "end",
               {"arrays", "begin", "end"}, out);
  made.text = out.text();
  made.sharedBytes = emitter.sharedBytes();
  if (arrays.graph) {
    Writer node;
    emitForGraph(model, program, stage, emitter, node);
    made.forGraph = node.text();
  }
  return made;
}

//===-- Persistent kernels ------------------------------------------------------------------------------===//

namespace {

/// A loop over levels or steps as one kernel: what is in it, op by op.
class LoopEmitter {
public:
  /// `number` is that of the loop's counters, `shared` the bytes of shared memory that its stages need.
  LoopEmitter(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
              const DeviceKernels &kernels, const DeviceArrays::Loop &loop, int64_t number, int64_t shared,
              DeviceArrays::Uses &uses, Writer &out)
      : model_(model), program_(program), arrays_(arrays), kernels_(kernels), loop_(loop), number_(number),
        shared_(shared), all_(shared), uses_(uses), out_(out) {
    for (StringRef word : {"arrays", "loop", "time_step", "block_group", "at", "kResident", "BlockGroup"})
      names_.reserve(word);
  }
  void emit();

private:
  bool reverse() const { return cast<kernel::TimeStepLoopInterface>(loop_.op).getReverse(); }
  void kernel();
  void first(kernel::FirstOp op);
  void stage(size_t number);
  void launch();

  const ModelNames &model_;
  const Program &program_;
  const DeviceArrays &arrays_;
  const DeviceKernels &kernels_;
  const DeviceArrays::Loop &loop_;
  const int64_t number_, shared_;
  int64_t all_, tiles_ = 1; ///< bytes with what is resident; blocks with different tiles
  DeviceArrays::Uses &uses_;
  Writer &out_;
  NameScope names_;
  llvm::StringMap<std::string> resident_; ///< a matrix's name in the kernel
};
} // namespace

void LoopEmitter::emit() {
  out_.line("namespace {");
  kernel();
  out_.line("} // namespace");
  out_.blank();
  out_.open("void " + launchOf(loop_.name) + kLoopParameters);
  launch();
  out_.close();
  out_.blank();
}

void LoopEmitter::kernel() {
  const bool resident = !loop_.resident.empty();
  std::string comment = std::string("Levels or steps loop.first .. loop.time_steps - 1 in one launch") +
                        (reverse() ? ", from the last one on" : "") +
                        ". Behind each stage the blocks of a group wait for each other";
  comment += loop_.syncsElements ? ", or for the elements that they need." : ".";
  if (resident)
    comment += " With kResident each has its tiles of matrices resident in shared memory.";
  out_.comment(comment);
  const int64_t blocks = kernel::residentBlocks(loop_.stages.front(), model_.bytes("real"));
  out_.line(resident ? "template <bool kResident, class BlockGroup>" : "template <class BlockGroup>");
  out_.line(boundsOf(std::to_string(blocks)));
  out_.open(loop_.name + "(const Arrays arrays, const dbc::cuda::PersistentLoop loop)");
  out_.line("BlockGroup block_group(loop, " + uses_("counters") + ", " + std::to_string(number_) + ");");
  Block &body = loop_.op->getRegion(0).front();
  for (auto op : body.getOps<kernel::FirstOp>())
    first(op);
  out_.open(reverse() ? "for (int32_t time_step = loop.time_steps - 1; time_step >= loop.first; --time_step)"
                      : "for (int32_t time_step = loop.first; time_step < loop.time_steps; ++time_step)");
  out_.line("const int32_t at = block_group.at(time_step);");
  size_t number = 0;
  for (Operation &op : body) {
    if (isa<kernel::LaunchOp>(op))
      stage(number++);
    else if (isa<kernel::BlockGroupBarrierOp>(op))
      out_.line("block_group.wait();");
    else
      assert(isa<kernel::FirstOp>(op) && "a persistent kernel has nothing else");
  }
  out_.close();
  out_.close();
}

void LoopEmitter::first(kernel::FirstOp op) {
  for (kernel::WeightsOp matrix : loop_.resident) {
    std::string member = program_.nameOf(matrix);
    resident_[matrix.getSymName()] = names_.fresh(member);
    out_.line("dbc::cuda::Fragments " + resident_[matrix.getSymName()] + " = " + uses_(member) + ";");
  }
  out_.open("if (kResident)");
  for (Operation &each : op.getBody().front()) {
    if (isa<kernel::WaitCopiesOp>(each)) {
      out_.line("dbc::cuda::wait_for_copies();");
    } else if (isa<kernel::BarrierOp>(each)) {
      out_.line("__syncthreads();");
    } else {
      auto copy = cast<kernel::CopyAsyncOp>(each); // nothing else comes first
      auto matrix = program_.find<kernel::WeightsOp>(copy.getWeights());
      const int64_t offset = copy.getOffset(), bytes = matrix.getTileBytes(), tiles = matrix.getTileCount();
      std::string name = resident_[matrix.getSymName()], memory = names_.fresh("resident_" + name);
      out_.line("DBC_RESIDENT(float, " + commas({memory, std::to_string(offset), std::to_string(bytes / 4)}) +
                ");");
      out_.line(name + " = dbc::cuda::copy_async(" +
                commas({name, std::to_string(tiles), memory, "block_group"}) + ");");
      all_ = offset + bytes;
      tiles_ = std::max(tiles_, tiles);
    }
  }
  out_.close();
}

/// Each stage of each time step counts as a launch of its own.
void LoopEmitter::stage(size_t number) {
  kernel::FuncOp stage = loop_.stages[number];
  KernelEmitter emitter(model_, program_, arrays_, stage);
  std::string launch = launchNumber(emitter, uses_);
  const std::string round = reverse() ? "loop.time_steps - 1 - time_step" : "time_step - loop.first";
  if (loop_.stages.size() > 1)
    launch += " + (" + round + ") * " + std::to_string(loop_.stages.size()) +
              (number > 0 ? " + " + std::to_string(number) : "");
  else
    launch += " + " + round;
  std::string bounds = uses_(loop_.timeSteps[number]);
  out_.line("block_group.begins(" +
            commas({quoted(stage.getStageName()), "time_step", bounds + "[at]",
                    std::to_string(emitter.rows()), std::to_string(emitter.tiles())}) +
            ");");
  const std::string space = kernels_.commonSpace(stage);
  out_.line(callOf(emitter, program_, uses_, (space.empty() ? "" : space + "::") + program_.nameOf(stage),
                   std::to_string(emitter.rows()), bounds + "[at]", bounds + "[at + 1]", launch, resident_,
                   "block_group"));
}

/// By elements where the session wants that and the loop can; with the matrices in shared memory where the
/// device has so much, and blocks for all tiles.
void LoopEmitter::launch() {
  const bool resident = !loop_.resident.empty();
  auto kernel = [&](bool inShared, bool syncing) {
    return loop_.name + "<" + (resident ? (inShared ? "true, " : "false, ") : "") +
           (syncing ? "dbc::cuda::ElementSyncGroup" : "dbc::cuda::BarrierGroup") + ">";
  };
  auto call = [&](bool inShared, bool syncing) {
    return "dbc::cuda::launch_cooperative(" +
           commas({kernel(inShared, syncing), "loop", std::to_string(inShared ? all_ : shared_), "stream",
                   "arrays", "loop"}) +
           ");";
  };
  auto fits = [&](bool syncing) {
    return "dbc::cuda::blocks_per_group(" + commas({kernel(true, syncing), "loop", std::to_string(all_)}) +
           ") >= " + std::to_string(tiles_);
  };
  auto residentIfItFits = [&](bool syncing) {
    if (!resident)
      return;
    out_.line("if (" + fits(syncing) + ")");
    out_.line("  return " + call(true, syncing));
  };
  if (loop_.syncsElements) {
    out_.open("if (loop.by_element)");
    residentIfItFits(true);
    out_.line("return " + call(false, true));
    out_.close();
  }
  residentIfItFits(false);
  out_.line(call(false, false));
}

//===-- Of several entries ------------------------------------------------------------------------------===//

/// What is the same in programs that can have a kernel in common: the pass says which stages and loops are,
/// and C++ is to have the same name for each symbol. Not only the same names: `a.b` of one may be called as
/// `a_b` is in another.
DeviceKernels::Key DeviceKernels::keyOf(const DeviceKernel &kernel) const {
  std::string names = kernel.name;
  for (const std::string &use : kernel.uses.members) {
    auto member = find_if(kernel.members, [&](const DeviceArrays::Member &m) { return m.name == use; });
    names += ";" + (member == kernel.members.end() ? "" : member->type + " ") + use;
  }
  for (const std::string &word : kernel.words)
    names += ";" + word;
  return {kernel.first, names};
}

/// Whether kCommon::Arrays can have all that a kernel names.
bool DeviceKernels::takes(const DeviceKernel &kernel) const {
  size_t more = 0;
  for (const DeviceArrays::Member &member : kernel.members) {
    auto known = commonMembers_.find(member.name);
    more += known == commonMembers_.end();
    if (known != commonMembers_.end() && known->second.type != member.type)
      return false;
  }
  return commonMembers_.size() + more <= kMostMembers;
}

/// Moves the kernels that several programs have from their lists to common_.
void DeviceKernels::takeCommon(std::vector<std::vector<DeviceKernel>> &all) {
  std::map<Key, int> programs; // that have a kernel
  for (const auto &kernels : all)
    for (const DeviceKernel &kernel : kernels)
      ++programs[keyOf(kernel)];
  std::map<Key, std::pair<size_t, size_t>> taken; // where in common_
  for (auto [program, kernels] : enumerate(all)) {
    for (const DeviceKernel &kernel : kernels) {
      const Key key = keyOf(kernel);
      if (programs[key] < 2)
        continue;
      auto at = taken.find(key);
      if (at == taken.end()) {
        if (!takes(kernel))
          continue;
        auto hasName = [&](const CommonKernels &space) {
          return any_of(space.kernels, [&](const DeviceKernel &other) { return other.name == kernel.name; });
        };
        size_t space = 0;
        for (kernel::FuncOp stage : kernel.calls) // which are to stand before
          space = std::max(space, spaces_.lookup(stage));
        while (space < common_.size() && hasName(common_[space]))
          ++space;
        if (space == common_.size())
          common_.push_back({kCommon + (space > 0 ? std::to_string(space + 1) : std::string())});
        at = taken.try_emplace(key, space, common_[space].kernels.size()).first;
        common_[space].kernels.push_back(kernel);
      }
      auto [space, number] = at->second;
      if (std::string &forGraph = common_[space].kernels[number].forGraph; forGraph.empty())
        forGraph = kernel.forGraph;
      for (const DeviceArrays::Member &member : kernel.members) {
        CommonMember &known = commonMembers_[member.name];
        known.type = member.type;
        if (!is_contained(known.comments, member.comment))
          known.comments.push_back(member.comment);
      }
      spaces_[kernel.op] = space;
      common_[space].programs.resize(all.size());
      common_[space].programs.set(program);
    }
    erase_if(kernels, [&](const DeviceKernel &kernel) { return spaces_.contains(kernel.op); });
  }
}

/// Distributes the members of a program's arrays to kCommon::Arrays and its own.
void DeviceKernels::addMembers(const Program &program, std::vector<DeviceArrays::Member> members) {
  std::vector<DeviceArrays::Member> &own = ownMembers_.emplace_back();
  for (DeviceArrays::Member &member : members) {
    auto common = commonMembers_.find(member.name);
    if (!hasCommon(program) || common == commonMembers_.end() || common->second.type != member.type) {
      own.push_back(std::move(member));
    } else if (none_of(members_, [&](const auto &other) { return other.name == member.name; })) {
      member.comment = join(common->second.comments, " or ");
      members_.push_back(std::move(member));
    }
  }
}

FailureOr<DeviceKernels> DeviceKernels::make(const ModelNames &model) {
  DeviceKernels made;
  std::vector<DeviceArrays> arrays;
  std::vector<std::vector<DeviceArrays::Member>> members;
  llvm::DenseMap<Operation *, int64_t> shared;
  // Those of programs that can have some in common, and the others.
  std::vector<std::vector<DeviceKernel>> stages(model.programs.size()), loops(model.programs.size());
  auto add = [&](size_t program, DeviceKernel kernel, std::vector<std::vector<DeviceKernel>> &kernels) {
    if (members[program].size() > kMostOfProgram) {
      made.own_[program].push_back(std::move(kernel));
    } else {
      for (const DeviceArrays::Member &member : members[program])
        if (is_contained(kernel.uses.members, member.name))
          kernel.members.push_back(member);
      kernels[program].push_back(std::move(kernel));
    }
  };
  auto takeCommon = [&](std::vector<std::vector<DeviceKernel>> &kernels) {
    made.takeCommon(kernels);
    for (auto [program, rest] : enumerate(kernels))
      append_range(made.own_[program], std::move(rest));
  };

  made.own_.resize(model.programs.size());
  for (auto [number, program] : enumerate(model.programs)) {
    members.push_back(arrays.emplace_back(model, *program).members(model, *program));
    for (kernel::FuncOp stage : program->stages) {
      FailureOr<DeviceKernel> kernel = emitStage(model, *program, arrays.back(), stage);
      if (failed(kernel))
        return failure();
      shared[stage] = kernel->sharedBytes;
      add(number, std::move(*kernel), stages);
    }
  }
  takeCommon(stages);

  for (auto [number, program] : enumerate(model.programs))
    for (auto [counters, loop] : enumerate(arrays[number].loops)) {
      int64_t most = 0;
      for (kernel::FuncOp stage : loop.stages)
        most = std::max(most, shared[stage]);
      std::optional<StringRef> same = cast<kernel::TimeStepLoopInterface>(loop.op).getSameAs();
      auto of = same ? find_if(model.programs, [&](const auto &other) { return other->source == *same; })
                     : model.programs.begin() + number;
      auto first = find_if(arrays[(*of)->number].loops,
                           [&](const DeviceArrays::Loop &other) { return other.number == loop.number; });
      DeviceKernel kernel(loop.op, first->op, loop.name);
      Writer out;
      LoopEmitter(model, *program, arrays[number], made, loop, counters, most, kernel.uses, out).emit();
      kernel.text = out.text();
      kernel.calls = loop.stages;
      kernel.words.push_back(std::to_string(counters));
      for (kernel::FuncOp stage : loop.stages)
        kernel.words.push_back(made.commonSpace(stage) + "::" + program->nameOf(stage));
      // What calls a stage that a program has for itself is its own.
      if (all_of(loop.stages, [&](kernel::FuncOp stage) { return made.spaces_.contains(stage); }))
        add(number, std::move(kernel), loops);
      else
        made.own_[number].push_back(std::move(kernel));
    }
  takeCommon(loops);

  for (auto [number, program] : enumerate(model.programs))
    made.addMembers(*program, std::move(members[number]));
  return made;
}

bool DeviceKernels::hasCommon(const Program &program) const {
  return any_of(program.stages, [&](kernel::FuncOp stage) { return spaces_.contains(stage); });
}

std::string DeviceKernels::commonSpace(Operation *op) const {
  auto space = spaces_.find(op);
  return space == spaces_.end() ? "" : common_[space->second].space;
}

std::string DeviceKernels::function(const Program &program, Operation *op, const std::string &name) const {
  const std::string space = commonSpace(op);
  return space.empty() ? kernelsOf(program) + "::" + name
                       : "dbc::given_base<cuda_kernels::" + space + "::" + name + ">";
}

} // namespace dbc::codegen
