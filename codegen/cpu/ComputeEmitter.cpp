// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `void Plan::compute(dbc::Run &run)`.
#include "codegen/common/RowLists.h"
#include "codegen/common/RunEmitter.h"
#include "codegen/cpu/Emitters.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

namespace {

class ComputeEmitter : public RunEmitter {
public:
  using RunEmitter::RunEmitter;
  void emit();

private:
  void memory();
  void gradient(kernel::BufferOp buffer) { out_.line(member(buffer) + " = " + gradientRoom(buffer) + ";"); }
  std::string work(Operation &loop);
  void outputs();
  void concurrent(Block &loops) override;
  void mask(kernel::MaskOp op, const std::string &timeSteps, const std::string &timeStep) override;
  void collectRows(kernel::DistinctOp op) override;
  void listRows(kernel::TransposeOp op) override;
};

} // namespace

void ComputeEmitter::emit() {
  out_.comment("The stages in order, over all rows or by time step.");
  out_.open("void Plan::compute(dbc::Run &run)");
  out_.line("bind(run.model);");
  out_.line("errors = &run.errors;");
  if (program_.drops)
    out_.line("dropout = run.dropout;");
  memory();
  kernel::RunOp run = program_.run;
  if (!program_.stages.empty()) {
    out_.blank();
    out_.line("dbc::prepare_scratch(run, kScratch);");
    bool concurrent =
        run && run.walk([](kernel::ConcurrentOp) { return WalkResult::interrupt(); }).wasInterrupted();
    out_.open("auto launch = [&](int32_t stage, int32_t begin, int32_t end" +
              std::string(concurrent ? ", int32_t worker = dbc::kAllWorkers" : "") + ")");
    out_.line("dbc::launch(run, *this, stages, stage, begin, end, kScratch" +
              std::string(concurrent ? ", worker" : "") + ");");
    out_.close("};");
  }
  if (run)
    block(run.getBody().front(), "");
  countElements();
  outputs();
  out_.close();
  out_.blank();
}

/// Rows of buffers.
void ComputeEmitter::memory() {
  for (const Program::Window &window : program_.windows)
    out_.line(window.name + ".begin(" +
              commas({program_.timeSteps(window.indexSet), std::to_string(window.live)}) + ");");
  llvm::StringSet<> madeInRun; // index sets
  if (kernel::RunOp run = program_.run)
    run.walk([&](kernel::DistinctOp op) { madeInRun.insert(op.getIndexSet()); });
  std::vector<kernel::BufferOp> wanted; // of gradients
  for (const Storage &storage : program_.storages) {
    if (storage.ofModel)
      continue;
    kernel::BufferOp first = storage.buffers.front();
    if (program_.gradientIn(first.getSymName()) || program_.inputGradientIn(first.getSymName()) >= 0) {
      if (!madeInRun.contains(first.getIndexSet())) // else how many rows there are is not known yet
        wanted.push_back(first);
      continue;
    }
    SharedMemory shared = sharedMemory(storage);
    std::string memory =
        "run.buffer<" + shared.type + ">(" + std::to_string(storage.number) + ", " + shared.size + ");";
    if (storage.buffers.size() == 1) {
      out_.line(member(storage.buffers.front()) + " = " + memory);
      continue;
    }
    out_.line(shared.type + " *" + shared.name + " = " + memory);
    for (const std::string &line : shared.members)
      out_.line(line);
  }
  if (wanted.empty())
    return;
  out_.open("if (run.gradients)");
  for (kernel::BufferOp buffer : wanted)
    gradient(buffer);
  out_.close();
}

/// The rows of a table that are looked up, and what has as many.
void ComputeEmitter::collectRows(kernel::DistinctOp op) {
  emitDistinct(
      program_, op, [&](kernel::BufferOp numbers) { return member(numbers); }, out_);
  for (kernel::GradientOp each : program_.gradients)
    if (auto buffer = program_.find<kernel::BufferOp>(each.getBuffer());
        buffer.getIndexSetAttr() == op.getIndexSetAttr())
      gradient(buffer);
}

void ComputeEmitter::listRows(kernel::TransposeOp op) {
  emitTranspose(
      program_, op, [&](kernel::BufferOp numbers) { return member(numbers); }, out_);
}

void ComputeEmitter::mask(kernel::MaskOp op, const std::string &timeSteps, const std::string &timeStep) {
  std::string alive = member(program_.find<kernel::BufferOp>(op.getAlive()));
  out_.line(timeSteps + ".mask(" + timeStep + ", " + alive + ");");
}

/// Launches and operations of an outermost loop, as `dbc::LoopWork`.
std::string ComputeEmitter::work(Operation &loop) {
  std::string operations;
  loop.walk([&](kernel::LaunchOp launch) {
    auto func = program_.find<kernel::FuncOp>(launch.getFunc());
    if (program_.stageNumber(func) < 0 || model_.work(func).operations == 0)
      return; // ran when the model was made, or has no products
    operations += (operations.empty() ? "" : " + ") + std::string("stages[") +
                  std::to_string(program_.stageNumber(func)) + "].cost.operations * " +
                  program_.rows(program_.find<kernel::IndexSetOp>(*func.getIndexSet()));
  });
  return "{" +
         commas({program_.countOf(cast<kernel::TimeStepLoopInterface>(loop)),
                 operations.empty() ? "0" : operations}) +
         "}";
}

void ComputeEmitter::concurrent(Block &loops) {
  std::vector<std::string> works;
  for (Operation &loop : loops)
    works.push_back(work(loop));
  out_.blank();
  out_.comment("These loops need nothing of one another.");
  std::string name = locals_.fresh("works");
  out_.line("const dbc::LoopWork " + name + "[] = {");
  for (const std::string &work : works)
    out_.line("    " + work + ",");
  out_.line("};");
  out_.open("dbc::side_by_side(run, " + name + ", [&](int32_t loop, int32_t worker)");
  worker_ = "worker";
  for (auto [number, loop] : llvm::enumerate(loops)) {
    std::string condition = "if (loop == " + std::to_string(number) + ")";
    if (number == 0)
      out_.open(condition);
    else
      out_.otherwise(number + 1 < works.size() ? condition + " " : "");
    one(loop, "");
  }
  out_.close();
  worker_.clear();
  out_.close("});");
}

void ComputeEmitter::outputs() {
  if (!program_.outputs.empty())
    out_.blank();
  for (kernel::OutputOp output : program_.outputs)
    give(output, model_.array(program_, output.getBuffer()).member);
}

void emitCompute(const ModelNames &model, const Program &program, Writer &out) {
  ComputeEmitter(model, program, out).emit();
}

} // namespace dbc::codegen
