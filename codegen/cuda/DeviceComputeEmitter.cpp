// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc::Status Plan::begin_on(dbc::Run &run, dbc::cuda::Context &device)`: copies and launches; and
// `finish_on`: results, and what went wrong.
#include "codegen/common/Order.h"
#include "codegen/common/RunEmitter.h"
#include "codegen/cuda/DeviceMemory.h"
#include "codegen/cuda/Emitters.h"
#include "codegen/cuda/KernelEmitter.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

namespace {

class DeviceComputeEmitter : public RunEmitter {
public:
  /// `kernels` is null where only the regions are asked for.
  DeviceComputeEmitter(const ModelNames &model, const Program &program, const DeviceKernels *kernels,
                       Writer &out)
      : RunEmitter(model, program, out), kernels_(kernels), arrays_(model, program) {}
  void emitAll();
  std::vector<DeviceRegion> regions();

private:
  void stages();
  void findScratch();
  void report();
  void emit();
  void finish();
  void keepResult(kernel::OutputOp output);
  void constants();
  void distribute();
  bool isSynced(const Storage &storage);
  size_t distributedNumber(kernel::FuncOp stage);
  void begin();
  DeviceRegion fieldRegion(const std::string &symbol);
  DeviceRegion rowsRegion(const Storage &storage);
  DeviceRegion scratchRegion();
  std::string activeOf(kernel::IndexSetOp indexSet);
  std::string member(kernel::BufferOp buffer) override { return "arrays." + RunEmitter::member(buffer); }
  void concurrent(Block &loops) override { block(loops, ""); }
  std::string launchedPrefix(Operation &loop, const std::string &timeSteps) override;
  void rest(Operation &loop, const std::string &timeSteps) override;
  void mask(kernel::MaskOp op, const std::string &timeSteps, const std::string &timeStep) override;
  int64_t strideOf(kernel::BufferOp buffer) override {
    return deviceRowSize(model_, program_, buffer.getSymName());
  }

  const DeviceKernels *kernels_;
  DeviceArrays arrays_;
  int64_t scratch_ = 0;
  std::vector<MemoryPlan::Term> scratchBlocks_; ///< of each stage that has scratch in global memory
  /// Loops that may be one launch: their stages, and how many time steps are launched one by one.
  std::map<Operation *, std::pair<std::string, std::string>> loops_;
  llvm::DenseMap<Operation *, std::string> active_;
};

} // namespace

/// What a block of threads needs at most of scratch in global memory, and how many blocks there are.
void DeviceComputeEmitter::findScratch() {
  for (kernel::FuncOp stage : program_.stages) {
    if (kernel::gemmOf(stage))
      continue;
    KernelEmitter emitter(model_, program_, arrays_, stage);
    if (emitter.blockScratch() == 0)
      continue;
    scratch_ = std::max(scratch_, emitter.blockScratch());
    scratchBlocks_.push_back(
        {"blocks", stage.getIndexSet()->str(), 0, -1, emitter.rows(), emitter.tiles(), kScratchBlocks});
  }
  for (MemoryPlan::Term &blocks : scratchBlocks_)
    blocks.bytes = scratch_;
}

/// The table of stages.
void DeviceComputeEmitter::stages() {
  if (program_.stages.empty())
    return;
  out_.comment(std::string("Name, what launches it, and for one row: bytes read and written, gathers, "
                           "operations of products") +
                   (arrays_.graph ? "; what launches it for a graph." : "."),
               "///");
  out_.line("const dbc::cuda::DeviceStage<" + kernelsOf(program_) + "::Arrays> device_stages[] = {");
  for (kernel::FuncOp stage : program_.stages) {
    out_.line(
        "    {" +
        commas({quoted(stage.getStageName()),
                kernels_->function(program_, stage, launchOf(program_.nameOf(stage))),
                std::to_string(model_.bytesRead(stage)), std::to_string(model_.bytesWritten(stage)),
                std::to_string(stage.getGathers().value_or(0)),
                std::to_string(stage.getOperations().value_or(0))}) +
        (arrays_.graph ? ", " + kernels_->function(program_, stage, recordOf(program_.nameOf(stage))) : "") +
        "},");
  }
  out_.line("};");
  out_.blank();
}

/// What a record of an error says, in words.
void DeviceComputeEmitter::report() {
  if (arrays_.checks.empty())
    return;
  out_.comment("A check that failed on the device.");
  out_.open("void Plan::report(const dbc::cuda::ErrorRecord &error)");
  out_.line("const int32_t row = error.position.row;");
  out_.line("switch (error.site) {");
  for (Operation *op : arrays_.checks) {
    auto func = op->getParentOfType<kernel::FuncOp>();
    auto indexSet = program_.find<kernel::IndexSetOp>(*func.getIndexSet());
    std::vector<std::string> arguments = {eventOfRow(model_, program_, op, "row", ""), "row",
                                          ownerText(model_, program_, indexSet, "row", "")};
    size_t numbers = 2;
    if (auto check = dyn_cast<kernel::CheckOp>(op)) {
      arguments.insert(arguments.end(),
                       {"dbc::ErrorKind::" + kernel::stringifyErrorKind(check.getError()).str(),
                        quoted(check.getWhere()), quoted(check.getWhat())});
      numbers = check.getValues().size() - 1;
    } else {
      auto arithmetic = cast<kernel::IntOp>(op);
      std::string kind = "dbc::ErrorKind::overflow";
      if (arithmetic.getKind() == dyn::IntKind::Div)
        kind = "error.numbers[1] == 0 ? dbc::ErrorKind::zero_division : dbc::ErrorKind::overflow";
      else if (arithmetic.getKind() == dyn::IntKind::Rem)
        kind = "dbc::ErrorKind::zero_division";
      arguments.insert(arguments.end(),
                       {kind, quoted(arithmetic.getWhere()), quoted(intWord(arithmetic.getKind()))});
    }
    for (size_t n = 0; n < numbers; ++n)
      arguments.push_back("error.numbers[" + std::to_string(n) + "]");
    out_.line("case " + std::to_string(model_.check(op)) + ":");
    out_.line("  return errors->error_in_row(" + commas(arguments) + ");");
  }
  out_.line("default:");
  out_.line("  return;");
  out_.line("}");
  out_.close();
  out_.blank();
}

void DeviceComputeEmitter::constants() {
  for (const std::string &symbol : arrays_.params)
    out_.line("arrays." + model_.array(program_, symbol).member + " = device.constant<real>(" +
              std::to_string(model_.param(symbol)->number) + ");");
  for (kernel::WeightsOp matrix : arrays_.weights) {
    if (matrix.getContract()) {
      out_.line("arrays." + program_.nameOf(matrix) + " = device.fragments(" +
                commas({std::to_string(model_.packedNumber(matrix)), std::to_string(matrix.getKTileCount()),
                        std::to_string(matrix.getNTileCount()), std::to_string(matrix.getTileCount())}) +
                ");");
      continue;
    }
    std::vector<std::string> arguments = {std::to_string(model_.packedNumber(matrix)),
                                          std::to_string(matrix.getIn()), std::to_string(matrix.getOut())};
    if (matrix.getTables())
      arguments.push_back(std::to_string(*matrix.getTables()));
    out_.line("arrays." + program_.nameOf(matrix) + " = device.matrix<real>(" + commas(arguments) + ");");
  }
  for (const Storage &storage : program_.storages)
    if (storage.ofModel) {
      Array array = model_.array(program_, kernel::BufferOp(storage.buffers.front()).getSymName());
      out_.line("arrays." + array.member + " = device.constant<" + array.pointee + ">(" +
                std::to_string(storage.number) + ");");
    }
}

/// A field's or argument's array: the rows of the sub-batch's inputs.
DeviceRegion DeviceComputeEmitter::fieldRegion(const std::string &symbol) {
  Array array = model_.array(program_, symbol);
  const int64_t bytes = array.rowSize() * model_.bytes(array.pointee);
  DeviceRegion region{"input", array.member, "", array.member, "", {}, {}};
  std::string view, rows, column;
  kernel::FieldArray which;
  int64_t level = 0;
  if (auto argument = program_.find<kernel::ArgumentOp>(symbol)) {
    which = argument.getArray();
    level = argument.getLevel().value_or(0);
    column = argument.getName().str();
    view = "run.arg(" + std::to_string(argument.getComponent()) + ")";
    rows = "run.range";
    region.terms.push_back({"inputs", "", bytes});
  } else {
    auto field = program_.find<kernel::FieldOp>(symbol);
    which = field.getArray();
    level = field.getLevel().value_or(0);
    column = field.getData().str() + "." + field.getName().str();
    std::string table = std::to_string(model_.data(field.getData()).number);
    view = "run.batch.column(" + table + ", " + std::to_string(field.getColumn()) + ")";
    rows = "run.batch.rows(" + table + ", run.range)";
    region.terms.push_back({"nodes", field.getData().str(), bytes});
  }
  if (which == kernel::FieldArray::Items) {
    rows = "dbc::cuda::elements(" + view + ", " + rows + ")";
    region.terms = {{"elements", column, bytes}};
  } else if ((which == kernel::FieldArray::Begin || which == kernel::FieldArray::End) && level > 0) {
    rows = "dbc::cuda::elements(" + view + ", " + rows + ", " + std::to_string(level) + ")";
    region.terms = {{"elements", column, bytes, level}};
  }
  region.size = rows + ", " + std::to_string(array.rowSize());
  if ((which == kernel::FieldArray::Value || which == kernel::FieldArray::Items) && array.pointee == "float")
    region.device =
        view + ".device" + (array.rowSize() % 4 == 0 ? ", /*align=*/16" : ""); // see AlignedSegment
  return region;
}

/// Buffers, of which several may share memory.
DeviceRegion DeviceComputeEmitter::rowsRegion(const Storage &storage) {
  SharedMemory shared = sharedMemory(storage);
  const bool alone = storage.buffers.size() == 1;
  DeviceRegion region{"rows",
                      alone ? RunEmitter::member(storage.buffers.front()) : shared.name,
                      alone ? "" : shared.type,
                      "",
                      shared.size,
                      alone ? std::vector<std::string>() : shared.members,
                      {}};
  region.synced = isSynced(storage);
  for (kernel::BufferOp buffer : storage.buffers) {
    Array array = model_.array(program_, buffer.getSymName());
    std::string of = buffer.getIndexSet().str();
    const int64_t bytes = strideOf(buffer) * model_.bytes(array.pointee);
    auto same = llvm::find_if(region.terms, [&](const MemoryPlan::Term &term) { return term.of == of; });
    if (same == region.terms.end())
      region.terms.push_back({"rows", of, bytes});
    else
      same->bytes = std::max(same->bytes, bytes);
  }
  return region;
}

/// Scratch of blocks of threads.
DeviceRegion DeviceComputeEmitter::scratchRegion() {
  std::vector<std::string> blocks;
  for (const MemoryPlan::Term &term : scratchBlocks_)
    blocks.push_back(
        "dbc::cuda::blocks_of(" +
        commas({"0", program_.rows(program_.find<kernel::IndexSetOp>(term.of)), std::to_string(term.rows),
                std::to_string(term.tiles), std::to_string(term.most)}) +
        ")");
  std::string most = blocks.size() == 1 ? blocks[0] : "std::max({" + commas(blocks) + "})";
  return {"rows", "scratch.memory", "", "", "size_t(" + most + ") * " + std::to_string(scratch_),
          {},     scratchBlocks_};
}

/// The array where the host puts the rows of an index set that stay.
std::string DeviceComputeEmitter::activeOf(kernel::IndexSetOp indexSet) {
  std::string &name = active_[indexSet];
  if (name.empty())
    name = locals_.fresh(program_.nameOf(indexSet) + "_active");
  return name;
}

std::vector<DeviceRegion> DeviceComputeEmitter::regions() {
  findScratch();
  std::vector<DeviceRegion> regions;
  auto isResult = [&](const Storage &storage) {
    return llvm::any_of(program_.outputs, [&](kernel::OutputOp output) {
      return output.getBuffer() == kernel::BufferOp(storage.buffers.front()).getSymName();
    });
  };
  for (const Storage &storage : program_.storages)
    if (!storage.ofModel && isResult(storage)) {
      regions.push_back(rowsRegion(storage));
      regions.back().kind = "result";
    }
  for (const std::string &symbol : arrays_.fields)
    regions.push_back(fieldRegion(symbol));
  for (const DeviceArrays::IndexArray &array : arrays_.indexArrays) {
    kernel::IndexSetOp indexSet = array.indexSet;
    regions.push_back(
        {"input",
         array.member,
         "",
         program_.nameOf(indexSet) + "[" + std::to_string(program_.indexArray(indexSet, array.name)) + "]",
         "size_t(" + program_.rows(indexSet) + ")",
         {},
         {{"rows", indexSet.getSymName().str(), 4}}});
  }
  for (auto [indexSet, member] : arrays_.orders) {
    std::string timeSteps = program_.timeSteps(indexSet);
    regions.push_back({"input",
                       member,
                       "",
                       timeSteps + ".rows()",
                       timeSteps + ".order.size()",
                       {},
                       {{"order", indexSet.getSymName().str(), 4}}});
  }
  for (auto [number, distributed] : llvm::enumerate(arrays_.timeSteps)) {
    auto [indexSet, member] = distributed;
    std::string of = "(" + std::to_string(number) + ")";
    regions.push_back({"input",
                       member,
                       "",
                       "block_groups.bounds" + of,
                       "block_groups.size" + of,
                       {},
                       {{"time_steps", indexSet.getSymName().str(), 4}}});
  }
  if (!arrays_.loops.empty())
    regions.push_back({"zeros",
                       "counters",
                       "",
                       "",
                       std::to_string(arrays_.loops.size()) + " * dbc::cuda::kCounters",
                       {},
                       {{"sub_batch", "", int64_t(arrays_.loops.size()) * kCounterBytes}}});
  // What is synchronised element by element is contiguous.
  for (bool synced : {true, false})
    for (const Storage &storage : program_.storages)
      if (!storage.ofModel && !isResult(storage) && isSynced(storage) == synced)
        regions.push_back(rowsRegion(storage));
  if (scratch_ > 0)
    regions.push_back(scratchRegion());
  if (arrays_.blas) {
    std::string workspace = locals_.fresh("blas_workspace");
    regions.push_back({"rows",
                       workspace,
                       "unsigned char",
                       "",
                       "dbc::cuda::kBlasWorkspace",
                       {"arrays.blas = device.blas(" + workspace + ");"},
                       {{"sub_batch", "", kBlasWorkspace}}});
  }
  llvm::SmallPtrSet<Operation *, 4> masked;
  if (kernel::RunOp run = program_.run)
    run.walk([&](kernel::MaskOp op) {
      auto indexSet = program_.find<kernel::IndexSetOp>(op.getIndexSet());
      if (masked.insert(indexSet).second)
        regions.push_back({"decided",
                           activeOf(indexSet),
                           "int32_t",
                           "",
                           "size_t(" + program_.rows(indexSet) + ")",
                           {},
                           {{"rows", indexSet.getSymName().str(), 4}}});
    });
  return regions;
}

/// Which rows each block group has in persistent kernels.
void DeviceComputeEmitter::distribute() {
  if (arrays_.loops.empty())
    return;
  int64_t tiles = 1;
  for (const DeviceArrays::Loop &loop : arrays_.loops)
    for (kernel::FuncOp stage : loop.stages)
      tiles = std::max(tiles, KernelEmitter(model_, program_, arrays_, stage).tiles());
  out_.comment("Inputs are distributed to block groups, and with them their rows.");
  out_.line("block_groups.begin(run, device.block_groups(/*tiles=*/" + std::to_string(tiles) + "));");
  for (const auto &[indexSet, member] : arrays_.timeSteps) {
    auto [table, owner] = ownerOfRow(model_, program_, indexSet, "row", "");
    out_.line("block_groups.distribute(" +
              commas({program_.timeSteps(indexSet), table, "[&](int32_t row) { return " + owner + "; }"}) +
              ");");
  }
}

bool DeviceComputeEmitter::isSynced(const Storage &storage) {
  return llvm::any_of(storage.buffers,
                      [&](kernel::BufferOp buffer) { return arrays_.isSynced(buffer.getSymName()); });
}

/// The number of the index set of a stage in a persistent kernel among those that are distributed.
size_t DeviceComputeEmitter::distributedNumber(kernel::FuncOp stage) {
  auto indexSet = program_.find<kernel::IndexSetOp>(*stage.getIndexSet());
  return llvm::find_if(arrays_.timeSteps,
                       [&](const auto &distributed) { return distributed.first == indexSet; }) -
         arrays_.timeSteps.begin();
}

/// Bytes of each row of an array; 0 where it is no rows, or such of several index sets.
static int64_t rowBytes(const DeviceRegion &region) {
  return region.terms.size() == 1 && region.terms[0].count == "rows" ? region.terms[0].bytes : 0;
}

/// All the memory of a sub-batch, and what the host has of it.
void DeviceComputeEmitter::begin() {
  distribute();
  const std::vector<DeviceRegion> all = regions();
  if (scratch_ > 0)
    out_.line("arrays.scratch.bytes = " + std::to_string(scratch_) + ";");
  for (const DeviceRegion &region : all)
    if (!region.type.empty())
      out_.line(region.type + " *" + region.name + " = nullptr;");
  if (all.empty())
    return out_.line("begun = device.begin({});");
  const std::pair<const char *, const char *> kinds[] = {
      {"result", "Results."},
      {"input", "The batch, and how its rows are found."},
      {"zeros", "Counters of block groups."},
      {"rows", "Values, one a row."},
      {"decided", "Which rows are active."},
  };
  out_.line("begun = device.begin({");
  for (auto [kind, comment] : kinds) {
    bool first = true;
    for (const DeviceRegion &region : all) {
      if (region.kind != kind)
        continue;
      if (first)
        out_.line("    // " + std::string(comment));
      first = false;
      std::string text = "dbc::cuda::" + region.kind + "(&" + region.pointer() + ", " +
                         (region.from.empty() ? "" : region.from + ", ") + region.size +
                         (region.device.empty() ? "" : ", " + region.device) + ")";
      // Kernels may write these: where they are wrong, the CPU says which array it was.
      if (region.kind == "rows" || region.kind == "result")
        text += ".named(" + quoted(region.name) + ", " + std::to_string(rowBytes(region)) + ")";
      out_.line("    " + (region.synced ? "dbc::cuda::synced(" + text + ")" : text) + ",");
    }
  }
  out_.line("});");
  for (const DeviceRegion &region : all)
    for (const std::string &line : region.assigned)
      out_.line(line);
}

void DeviceComputeEmitter::mask(kernel::MaskOp op, const std::string &timeSteps,
                                const std::string &timeStep) {
  auto alive = program_.find<kernel::BufferOp>(op.getAlive());
  auto indexSet = program_.find<kernel::IndexSetOp>(op.getIndexSet());
  out_.line("if (const uint8_t *mask = device.fetch(" + commas({member(alive), sizeOf(alive)}) + "))");
  out_.line("  " + timeSteps + ".mask(" + timeStep + ", mask);");
  if (std::string order = arrays_.order(indexSet); !order.empty())
    out_.line("arrays." + order + " = device.put(" +
              commas({activeOf(indexSet), timeSteps + ".order.data()", timeSteps + ".order.size()"}) + ");");
}

/// Of a loop that may be one launch those that the session wants so.
std::string DeviceComputeEmitter::launchedPrefix(Operation &op, const std::string &timeSteps) {
  const DeviceArrays::Loop *loop = arrays_.loop(&op);
  if (!loop)
    return timeSteps;
  std::vector<std::string> stages;
  for (kernel::FuncOp stage : loop->stages) {
    KernelEmitter emitter(model_, program_, arrays_, stage);
    std::string begin =
        program_.timeSteps(program_.find<kernel::IndexSetOp>(*stage.getIndexSet())) + ".begin.data()";
    stages.push_back("{" +
                     commas({std::to_string(program_.stageNumber(stage)), begin,
                             "block_groups.bounds(" + std::to_string(distributedNumber(stage)) + ")",
                             std::to_string(emitter.rows()), std::to_string(emitter.tiles()),
                             std::to_string(emitter.largeMShares())}) +
                     "}");
  }
  std::string name = locals_.fresh(loop->name), end = locals_.fresh(loop->name + "_prefix");
  loops_[&op] = {name, end};
  out_.line("const dbc::cuda::StageOfLoop " + name + "[] = {" + commas(stages) + "};");
  out_.line("const int32_t " + end + " = device.launched_prefix(" + commas({name, timeSteps}) + ");");
  return end;
}

/// The others at once.
void DeviceComputeEmitter::rest(Operation &op, const std::string &timeSteps) {
  const DeviceArrays::Loop *loop = arrays_.loop(&op);
  if (!loop)
    return;
  const auto &[stages, prefix] = loops_.at(&op);
  out_.line("device.launch_loop(" +
            commas({"run", "arrays", "device_stages", stages, "block_groups", prefix, timeSteps,
                    kernels_->function(program_, loop->op, launchOf(loop->name))}) +
            ");");
}

void DeviceComputeEmitter::emit() {
  out_.comment("The same on a CUDA device: begins all of it.");
  out_.open("dbc::Status Plan::begin_on(dbc::Run &run, dbc::cuda::Context &device)");
  out_.line("if (dbc::Status status = device.serves(run); !status.ok())");
  out_.line("  return status;");
  out_.line("arrays = {};");
  begin();
  constants();
  if (arrays_.graph)
    out_.line("device.collect(run);");
  if (!program_.stages.empty()) {
    out_.open("auto launch = [&](int32_t stage, int32_t begin, int32_t end)");
    out_.line("device.launch(run, arrays, device_stages, stage, begin, end);");
    out_.close("};");
  }
  if (kernel::RunOp run = program_.run)
    block(run.getBody().front(), "");
  if (arrays_.graph)
    out_.line("device.launch_graph(arrays, device_stages);");
  out_.blank();
  out_.line("device.copy_out();");
  out_.line("return device.status();");
  out_.close();
  out_.blank();
  finish();
}

/// The device's results, and what went wrong there.
void DeviceComputeEmitter::finish() {
  out_.comment("Waits for it, and gives its results.");
  out_.open("dbc::Status Plan::finish_on(dbc::Run &run, dbc::cuda::Context &device)");
  out_.line("dbc::Status status = device.finish(begun);");
  if (!arrays_.checks.empty()) {
    out_.comment("More was wrong than there was room to say: now there is.");
    out_.open("while (status.ok() && device.again())");
    if (decides(program_))
      out_.line("schedule(run); // computing has changed what it made");
    out_.line("status = begin_on(run, device);");
    out_.line("if (status.ok())");
    out_.line("  status = device.finish(begun);");
    out_.close();
  }
  out_.line("if (!status.ok())");
  out_.line("  return status;");
  if (!arrays_.checks.empty()) {
    out_.line("errors = &run.errors;");
    out_.line("int32_t launched = -1;");
    out_.open("for (const dbc::cuda::ErrorRecord &error : device.found())");
    out_.line("if (error.launch != launched)");
    out_.line("  run.errors.begin_launch();");
    out_.line("launched = error.launch;");
    out_.line("report(error);");
    out_.close();
  }
  countElements();
  if (!program_.outputs.empty()) {
    out_.open("if (device.keeps_results_on_device())");
    for (kernel::OutputOp output : program_.outputs)
      keepResult(output);
    out_.line("return dbc::Status();");
    out_.close();
  }
  for (kernel::OutputOp output : program_.outputs)
    give(output, "device.on_host(" + member(program_.find<kernel::BufferOp>(output.getBuffer())) + ")");
  out_.line("return dbc::Status();");
  out_.close();
  out_.blank();
}

/// The same where they are to stay.
void DeviceComputeEmitter::keepResult(kernel::OutputOp output) {
  auto buffer = program_.find<kernel::BufferOp>(output.getBuffer());
  auto indexSet = program_.find<kernel::IndexSetOp>(buffer.getIndexSet());
  const int64_t size = model_.array(program_, output.getBuffer()).rowSize();
  const std::string inputs = program_.nameOf(program_.inputIndexSet()) + "[0]";
  std::vector<std::string> arguments = {"run", std::to_string(output.getComponent()), member(buffer)};
  if (output.getActive())
    arguments.insert(arguments.end(), {program_.nameOf(indexSet), inputs});
  else
    arguments.insert(arguments.end(), {output.getDepth() == 0 ? inputs : "nullptr", program_.rows(indexSet)});
  arguments.push_back(std::to_string(size));
  if (strideOf(buffer) != size)
    arguments.push_back(std::to_string(strideOf(buffer)));
  out_.line(std::string("device.keep_") + (output.getActive() ? "active_" : "") + "result" + "(" +
            commas(arguments) + ");");
}

void DeviceComputeEmitter::emitAll() {
  stages();
  report();
  emit();
}

void emitComputeOn(const ModelNames &model, const Program &program, const DeviceKernels &kernels,
                   Writer &out) {
  DeviceComputeEmitter(model, program, &kernels, out).emitAll();
}

std::vector<DeviceRegion> deviceRegions(const ModelNames &model, const Program &program) {
  Writer nowhere;
  return DeviceComputeEmitter(model, program, nullptr, nowhere).regions();
}

bool decides(const Program &program) {
  kernel::RunOp run = program.run;
  bool any = false;
  if (run)
    run.walk([&](kernel::MaskOp) { any = true; });
  return any;
}

bool hasChecks(const ModelNames &model, const Program &program) {
  return !DeviceArrays(model, program).checks.empty();
}

} // namespace dbc::codegen
