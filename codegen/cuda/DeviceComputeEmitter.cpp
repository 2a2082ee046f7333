// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc::Status Plan::begin_on(dbc::Run &run, dbc::cuda::Context &device)`: copies and launches; and
// `finish_on`: results, and what went wrong.
#include "codegen/common/FunctionEmitter.h"
#include "codegen/common/Order.h"
#include "codegen/common/RowLists.h"
#include "codegen/common/RunEmitter.h"
#include "codegen/cuda/DeviceRegions.h"
#include "codegen/cuda/Emitters.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

namespace {

class DeviceComputeEmitter : public RunEmitter {
public:
  DeviceComputeEmitter(const ModelNames &model, const Program &program, const DeviceKernels &kernels,
                       Writer &out)
      : RunEmitter(model, program, out), kernels_(kernels), arrays_(model, program) {}
  void emitAll();

private:
  void stages();
  void report();
  void emit();
  void finish();
  void keepResult(kernel::OutputOp output);
  void constants();
  void distribute();
  size_t distributedNumber(kernel::FuncOp stage);
  void begin();
  std::string member(kernel::BufferOp buffer) override { return "arrays." + RunEmitter::member(buffer); }
  void concurrent(Block &loops) override { block(loops, ""); }
  void selected(kernel::IndexSetOp order) override;
  void collectRows(kernel::DistinctOp op) override;
  void listRows(kernel::TransposeOp op) override;
  std::string fetch(kernel::BufferOp numbers);
  void put(kernel::IndexSetOp indexSet, StringRef name);
  void gradients();
  void keepGradient(kernel::BufferOp buffer);
  std::string launchedPrefix(Operation &loop, const std::string &timeSteps) override;
  void rest(Operation &loop, const std::string &timeSteps) override;
  void mask(kernel::MaskOp op, const std::string &timeSteps, const std::string &timeStep) override;

  const DeviceKernels &kernels_;
  DeviceArrays arrays_;
  DeviceRegions regions_{model_, program_, arrays_, locals_};
  /// Loops that may be one launch: their stages, and how many time steps are launched one by one.
  std::map<Operation *, std::pair<std::string, std::string>> loops_;
};

} // namespace

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
                kernels_.function(program_, stage, launchOf(program_.nameOf(stage))),
                model_.work(stage).text()}) +
        (arrays_.graph ? ", " + kernels_.function(program_, stage, recordOf(program_.nameOf(stage))) : "") +
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
      arguments.insert(arguments.end(),
                       {intErrorKind(arithmetic.getKind(), "error.numbers[1]"), quoted(arithmetic.getWhere()),
                        quoted(intWord(arithmetic.getKind()))});
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

/// Which rows each block group has in persistent kernels.
void DeviceComputeEmitter::distribute() {
  if (arrays_.loops.empty())
    return;
  int64_t tiles = 1;
  for (const DeviceArrays::Loop &loop : arrays_.loops)
    for (kernel::FuncOp stage : loop.stages)
      tiles = std::max(tiles, stageBlocks(stage).tiles);
  out_.comment("Inputs are distributed to block groups, and with them their rows.");
  out_.line("block_groups.begin(run, device.block_groups(/*tiles=*/" + std::to_string(tiles) + "));");
  for (const auto &[indexSet, member] : arrays_.timeSteps) {
    auto [table, owner] = ownerOfRow(model_, program_, indexSet, "row", "");
    out_.line("block_groups.distribute(" +
              commas({program_.timeSteps(indexSet), table, "[&](int32_t row) { return " + owner + "; }"}) +
              ");");
  }
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
  return region.terms.size() == 1 && region.terms[0].count == MemoryPlan::Count::Rows ? region.terms[0].bytes
                                                                                      : 0;
}

/// All the memory of a sub-batch, and what the host has of it.
void DeviceComputeEmitter::begin() {
  distribute();
  const std::vector<DeviceRegion> all = regions_.all();
  if (regions_.scratch() > 0)
    out_.line("arrays.scratch.bytes = " + std::to_string(regions_.scratch()) + ";");
  for (const DeviceRegion &region : all)
    if (!region.type.empty())
      out_.line(region.type + " *" + region.name + " = nullptr;");
  if (all.empty())
    return out_.line("begun = device.begin({});");
  using Kind = MemoryPlan::Kind;
  const std::pair<Kind, const char *> kinds[] = {
      {Kind::Result, "Results."},
      {Kind::Input, "The batch, and how its rows are found."},
      {Kind::Zeros, "Counters of block groups."},
      {Kind::Rows, "Values, one a row."},
      {Kind::Decided,
       "What the host decides in the course of the run: which rows are active, and lists of rows."},
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
      std::string text = "dbc::cuda::" + wordOf(region.kind).str() + "(&" + region.pointer() + ", " +
                         (region.from.empty() ? "" : region.from + ", ") + region.size +
                         (region.device.empty() ? "" : ", " + region.device) + ")";
      // Kernels may write these: where they are wrong, the CPU says which array it was.
      if (region.kind == Kind::Rows || region.kind == Kind::Result)
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
    out_.line(
        "arrays." + order + " = device.put(" +
        commas({regions_.activeOf(indexSet), timeSteps + ".order.data()", timeSteps + ".order.size()"}) +
        ");");
}

/// Has a copy of computed numbers on the host, until the next one is fetched; gives its name.
std::string DeviceComputeEmitter::fetch(kernel::BufferOp numbers) {
  const std::string name = locals_.fresh(RunEmitter::member(numbers) + "_numbers");
  out_.line("const int32_t *" + name + " = device.fetch(" + commas({member(numbers), sizeOf(numbers)}) +
            ");");
  out_.line("if (!device.status().ok())");
  out_.line("  return device.stop();");
  return name;
}

/// Puts an index array that the host has made in the course of the run where kernels read it.
void DeviceComputeEmitter::put(kernel::IndexSetOp indexSet, StringRef name) {
  const std::string host = program_.nameOf(indexSet),
                    number = std::to_string(program_.indexArray(indexSet, name));
  for (const DeviceArrays::IndexArray &array : arrays_.indexArrays)
    if (array.indexSet == indexSet && array.name == name)
      out_.line("arrays." + array.member + " = device.put(" +
                commas({regions_.placeOf(array), host + "[" + number + "]",
                        program_.distinctInRun(indexSet) ? "size_t(" + host + ".rows())"
                                                         : host + ".array(" + number + ").size()"}) +
                ");");
}

void DeviceComputeEmitter::collectRows(kernel::DistinctOp op) {
  emitDistinct(
      program_, op, [&](kernel::BufferOp numbers) { return fetch(numbers); }, out_);
  for (auto [from, rows] :
       zip(op.getFrom().getAsRange<FlatSymbolRefAttr>(), op.getRows().getAsValueRange<StringAttr>()))
    put(program_.find<kernel::IndexSetOp>(from.getValue()), rows);
  auto made = program_.find<kernel::IndexSetOp>(op.getIndexSet());
  for (auto array : made.getIndexArrays().getAsValueRange<StringAttr>())
    put(made, array);
}

void DeviceComputeEmitter::listRows(kernel::TransposeOp op) {
  emitTranspose(
      program_, op, [&](kernel::BufferOp numbers) { return fetch(numbers); }, out_);
  for (StringRef array : {kernel::kRowArray, kernel::kBeginArray})
    put(program_.find<kernel::IndexSetOp>(op.getIndexSet()), array);
}

/// The rows that an order has now.
void DeviceComputeEmitter::selected(kernel::IndexSetOp order) {
  const std::string member = arrays_.order(order), name = program_.nameOf(order);
  if (!member.empty())
    out_.line("arrays." + member + " = device.put(" +
              commas({regions_.activeOf(order), name + ".order()", "size_t(" + name + ".rows())"}) + ");");
}

/// Of a loop that may be one launch those that the session wants so.
std::string DeviceComputeEmitter::launchedPrefix(Operation &op, const std::string &timeSteps) {
  const DeviceArrays::Loop *loop = arrays_.loop(&op);
  if (!loop)
    return timeSteps;
  std::vector<std::string> stages;
  for (kernel::FuncOp stage : loop->stages) {
    const StageBlocks blocks = stageBlocks(stage);
    std::string begin =
        program_.timeSteps(program_.find<kernel::IndexSetOp>(*stage.getIndexSet())) + ".begin.data()";
    stages.push_back("{" +
                     commas({std::to_string(program_.stageNumber(stage)), begin,
                             "block_groups.bounds(" + std::to_string(distributedNumber(stage)) + ")",
                             std::to_string(blocks.rows), std::to_string(blocks.tiles),
                             std::to_string(blocks.largeMShares)}) +
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
  const bool reverse = cast<kernel::TimeStepLoopInterface>(op).getReverse();
  out_.line("device.launch_loop(" +
            commas({"run", "arrays", "device_stages", stages, "block_groups", prefix, timeSteps,
                    kernels_.function(program_, loop->op, launchOf(loop->name))}) +
            (reverse ? ", /*reverse=*/true" : "") + ");");
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
  gradients();
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

/// Leaves the gradients of parameters where they are, or copies them to the host; those of fields and
/// arguments the host always has.
void DeviceComputeEmitter::gradients() {
  if (!program_.isDifferentiated())
    return;
  auto copy = [&](kernel::BufferOp buffer) {
    out_.line("status = device.copy_to_host(" +
              commas({gradientRoom(buffer), member(buffer), sizeOf(buffer) + " * sizeof(real)"}) + ");");
    out_.line("if (!status.ok())");
    out_.line("  return status;");
  };
  auto buffers = [&](bool ofInputs, llvm::function_ref<void(kernel::BufferOp)> visit) {
    for (kernel::BufferOp buffer : program_.buffers)
      if (!gradientRoom(buffer).empty() && (program_.inputGradientIn(buffer.getSymName()) >= 0) == ofInputs)
        visit(buffer);
  };
  if (!program_.gradients.empty()) {
    out_.open("if (run.gradients && device.keeps_gradients_on_device())");
    buffers(/*ofInputs=*/false, [&](kernel::BufferOp buffer) { keepGradient(buffer); });
    out_.otherwise("if (run.gradients) ");
    buffers(/*ofInputs=*/false, copy);
    out_.close();
  }
  if (!program_.inputGradients.empty()) {
    out_.open("if (run.gradients)");
    buffers(/*ofInputs=*/true, copy);
    out_.close();
  }
}

void DeviceComputeEmitter::keepGradient(kernel::BufferOp buffer) {
  const Param &param = *model_.param(program_.gradientIn(buffer.getSymName()).getParam());
  auto indexSet = program_.find<kernel::IndexSetOp>(buffer.getIndexSet());
  std::vector<std::string> arguments = {std::to_string(param.number), member(buffer), sizeOf(buffer)};
  if (indexSet.getKind() == kernel::IndexSetKind::Distinct)
    arguments.push_back("{" +
                        commas({program_.nameOf(indexSet) + "[0]", program_.rows(indexSet),
                                std::to_string(model_.array(program_, buffer.getSymName()).rowSize())}) +
                        "}");
  out_.line("device.keep_gradient(" + commas(arguments) + ");");
}

/// The same where they are to stay.
void DeviceComputeEmitter::keepResult(kernel::OutputOp output) {
  auto buffer = program_.find<kernel::BufferOp>(output.getBuffer());
  auto indexSet = program_.find<kernel::IndexSetOp>(buffer.getIndexSet());
  const Array array = model_.array(program_, output.getBuffer());
  const std::string inputs = program_.nameOf(program_.inputIndexSet()) + "[0]";
  std::vector<std::string> arguments = {"run", std::to_string(output.getComponent()), member(buffer)};
  if (output.getActive())
    arguments.insert(arguments.end(), {program_.nameOf(indexSet), inputs});
  else
    arguments.insert(arguments.end(), {output.getDepth() == 0 ? inputs : "nullptr", program_.rows(indexSet)});
  arguments.push_back(std::to_string(array.rowSize()));
  if (array.stride != array.rowSize())
    arguments.push_back(std::to_string(array.stride));
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
  DeviceComputeEmitter(model, program, kernels, out).emitAll();
}

bool decides(const Program &program) {
  kernel::RunOp run = program.run;
  bool any = false;
  if (run)
    run.walk([&](Operation *op) { any |= isa<kernel::MaskOp, kernel::DistinctOp>(op); });
  return any;
}

bool hasChecks(const ModelNames &model, const Program &program) {
  return !DeviceArrays(model, program).checks.empty();
}

} // namespace dbc::codegen
