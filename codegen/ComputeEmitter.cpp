// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/ComputeEmitter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

void ComputeEmitter::emit() {
  out_.comment("The stages in order, over all rows or tick by tick.");
  out_.open("void Plan::compute(dbc::Run &run)");
  out_.line("bind(run.model);");
  out_.line("errors = &run.errors;");
  memory();
  kernel::RunOp run = program_.run;
  if (!program_.stages.empty()) {
    out_.blank();
    out_.line("dbc::prepare_scratch(run, kScratch);");
    bool together = run && !run.getBody().front().getOps<kernel::TogetherOp>().empty();
    out_.open("auto launch = [&](int32_t stage, int32_t begin, int32_t end" +
              std::string(together ? ", int32_t worker = dbc::kAllWorkers" : "") + ")");
    out_.line("dbc::launch(run, *this, stages, stage, begin, end, kScratch" +
              std::string(together ? ", worker" : "") + ");");
    out_.close("};");
  }
  if (run)
    block(run.getBody().front(), "");
  outputs();
  out_.close();
  out_.blank();
}

std::string ComputeEmitter::member(kernel::BufferOp buffer) {
  return model_.array(program_, buffer.getSymName()).member;
}

std::string ComputeEmitter::sizeOf(kernel::BufferOp buffer) {
  int64_t stride = strideOf(buffer);
  std::string count = program_.rows(program_.find<kernel::SpaceOp>(buffer.getSpace()));
  if (buffer.getLive())
    count = program_.window(buffer.getSpace(), *buffer.getLive()).name + ".rows()";
  std::string rows = "size_t(" + count + ")";
  return stride == 1 ? rows : rows + " * " + std::to_string(stride);
}

/// Buffers that share memory take what the longest needs.
ComputeEmitter::SharedMemory ComputeEmitter::sharedMemory(const Slot &slot) {
  Array first = model_.array(program_, kernel::BufferOp(slot.buffers.front()).getSymName());
  bool oneType = llvm::all_of(slot.buffers, [&](kernel::BufferOp buffer) {
    return model_.array(program_, buffer.getSymName()).pointee == first.pointee;
  });
  SharedMemory shared{
      "shared" + std::to_string(slot.number), oneType ? first.pointee : "unsigned char", "", {}};
  std::vector<std::string> sizes;
  for (kernel::BufferOp buffer : slot.buffers) {
    Array array = model_.array(program_, buffer.getSymName());
    std::string size = sizeOf(buffer) + (oneType ? "" : " * sizeof(" + array.pointee + ")");
    if (!is_contained(sizes, size))
      sizes.push_back(size);
    shared.members.push_back(
        member(buffer) + " = " +
        (oneType ? shared.name : "reinterpret_cast<" + array.pointee + " *>(" + shared.name + ")") + ";");
  }
  shared.size = sizes.size() == 1 ? sizes[0] : "std::max({" + commas(sizes) + "})";
  return shared;
}

/// Rows of buffers.
void ComputeEmitter::memory() {
  for (const Program::Window &window : program_.windows)
    out_.line(window.name + ".begin(" + commas({program_.ticks(window.space), std::to_string(window.live)}) +
              ");");
  for (const Slot &slot : program_.slots) {
    if (slot.ofModel)
      continue;
    SharedMemory shared = sharedMemory(slot);
    std::string memory =
        "run.buffer<" + shared.type + ">(" + std::to_string(slot.number) + ", " + shared.size + ");";
    if (slot.buffers.size() == 1) {
      out_.line(member(slot.buffers.front()) + " = " + memory);
      continue;
    }
    out_.line(shared.type + " *" + shared.name + " = " + memory);
    for (const std::string &line : shared.members)
      out_.line(line);
  }
}

/// The ticks of a space that the open loops stand at, first and behind the last; empty strings where no loop
/// orders it. Inside the loop of a recursion but outside of a scan's, those are all steps that belong to the
/// level.
ComputeEmitter::Ticks ComputeEmitter::openTicks(kernel::SpaceOp space) {
  for (; space; space = program_.parent(space)) {
    bool steps = space.getKind() == kernel::SpaceKind::Steps && space.getTicked();
    if (!steps && !space.getGroup())
      continue;
    std::string tick = ticks_.lookup(steps ? space.getSymName() : *space.getGroup());
    if (!tick.empty())
      return {tick, tick + " + 1"};
    kernel::SpaceOp parent = program_.parent(space);
    if (!steps || !parent)
      return {};
    auto [first, last] = openTicks(parent);
    if (first.empty())
      return {};
    std::string ticks = program_.nameOf(space) + ".ticks.first";
    return {ticks + "[" + first + "]", ticks + "[" + last + "]"};
  }
  return {};
}

/// What is done with the kept rows of a space, tick by tick: of the loops that are open, or of all.
void ComputeEmitter::eachTick(kernel::SpaceOp space,
                              llvm::function_ref<void(const std::string &, const std::string &)> body) {
  std::string ticks = program_.ticks(space);
  auto [first, last] = space.getTicked() ? openTicks(space) : Ticks();
  if (!first.empty() && last == first + " + 1")
    return body(ticks, first);
  if (first.empty())
    first = "0", last = ticks + ".count";
  out_.open("for (int32_t tick = " + first + "; tick < " + last + "; ++tick)");
  body(ticks, "tick");
  out_.close();
}

/// A launch, or a loop with all that is in it.
void ComputeEmitter::one(Operation &op, const std::string &outerTick) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case<kernel::LaunchOp>([&](kernel::LaunchOp launch) {
        auto func = program_.find<kernel::FuncOp>(launch.getFunc());
        auto space = program_.find<kernel::SpaceOp>(*func.getSpace());
        int number = program_.stageNumber(func);
        if (number < 0)
          return; // ran when the model was made
        std::string begin = "0", end = program_.rows(space);
        auto [first, last] = space.getTicked() ? openTicks(space) : Ticks();
        if (!first.empty()) {
          std::string ticks = program_.ticks(space);
          begin = ticks + ".begin[" + first + "]";
          end = ticks + ".begin[" + last + "]";
        }
        if (outerTick.empty())
          out_.blank();
        out_.comment(program_.nameOf(func));
        if (launch.getKept())
          return eachTick(space, [&](const std::string &ticks, const std::string &tick) {
            out_.line("launch(" +
                      commas({std::to_string(number), ticks + ".begin[" + tick + "]",
                              ticks + ".end(" + tick + ")"}) +
                      ");");
          });
        std::vector<std::string> arguments = {std::to_string(number), begin, end};
        if (together_)
          arguments.push_back("worker");
        out_.line("launch(" + commas(arguments) + ");");
      })
      .Case<kernel::TogetherOp>([&](kernel::TogetherOp op) { together(op.getBody().front()); })
      .Case<kernel::KeepOp>([&](kernel::KeepOp op) {
        eachTick(program_.find<kernel::SpaceOp>(op.getSpace()),
                 [&](const std::string &ticks, const std::string &tick) { keep(op, ticks, tick); });
      })
      .Case<kernel::LevelsOp>([&](kernel::LevelsOp levels) {
        std::string group = program_.nameOf(program_.find<kernel::GroupOp>(levels.getGroup()));
        std::string tick = outerTick.empty() ? "level" : "inner_" + outerTick;
        out_.blank();
        std::string end = apart(op, group + ".levels()");
        out_.open("for (int32_t " + tick + " = 0; " + tick + " < " + end + "; ++" + tick + ")");
        for (const Program::Window &window : program_.windows)
          if (window.loop == levels)
            out_.line(window.name + ".move(" + tick + ");");
        ticks_[levels.getGroup()] = tick;
        block(levels.getBody().front(), tick);
        ticks_.erase(levels.getGroup());
        out_.close();
        rest(op, group + ".levels()");
      })
      .Case<kernel::StepsOp>([&](kernel::StepsOp steps) {
        auto space = program_.find<kernel::SpaceOp>(steps.getSpace());
        std::string tick = StringRef(outerTick).contains("step") ? "inner_" + outerTick : "step";
        // Outside every other loop all steps run, also where the same scan's other states run level by
        // level.
        auto [begin, end] = openTicks(space);
        if (begin.empty()) {
          begin = "0";
          end = program_.nameOf(space) + ".ticks.count";
        }
        if (outerTick.empty())
          out_.blank();
        out_.open("for (int32_t " + tick + " = " + begin + "; " + tick + " < " + apart(op, end) + "; ++" +
                  tick + ")");
        ticks_[steps.getSpace()] = tick;
        block(steps.getBody().front(), tick);
        ticks_.erase(steps.getSpace());
        out_.close();
        rest(op, end);
      });
}

void ComputeEmitter::keep(kernel::KeepOp op, const std::string &ticks, const std::string &tick) {
  std::string alive = member(program_.find<kernel::BufferOp>(op.getAlive()));
  out_.line(ticks + ".keep(" + tick + ", " + alive + ");");
}

/// Launches and operations of an outermost loop, as `dbc::Work`.
std::string ComputeEmitter::work(Operation &loop) {
  std::string ticks, operations;
  if (auto levels = dyn_cast<kernel::LevelsOp>(loop))
    ticks = program_.nameOf(program_.find<kernel::GroupOp>(levels.getGroup())) + ".levels()";
  else
    ticks = program_.nameOf(program_.find<kernel::SpaceOp>(cast<kernel::StepsOp>(loop).getSpace())) +
            ".ticks.count";
  loop.walk([&](kernel::LaunchOp launch) {
    auto func = program_.find<kernel::FuncOp>(launch.getFunc());
    auto ofRow = func->getAttrOfType<IntegerAttr>("operations");
    if (program_.stageNumber(func) < 0 || !ofRow || ofRow.getInt() == 0)
      return; // ran when the model was made, or has no products
    operations += (operations.empty() ? "" : " + ") + std::string("stages[") +
                  std::to_string(program_.stageNumber(func)) + "].cost.operations * " +
                  program_.rows(program_.find<kernel::SpaceOp>(*func.getSpace()));
  });
  return "{" + commas({ticks, operations.empty() ? "0" : operations}) + "}";
}

void ComputeEmitter::together(Block &loops) {
  std::vector<std::string> works;
  for (Operation &loop : loops)
    works.push_back(work(loop));
  out_.blank();
  out_.comment("These loops need nothing of one another.");
  std::string name = locals_.fresh("works");
  out_.line("const dbc::Work " + name + "[] = {");
  for (const std::string &work : works)
    out_.line("    " + work + ",");
  out_.line("};");
  out_.open("dbc::side_by_side(run, " + name + ", [&](int32_t loop, int32_t worker)");
  together_ = true;
  for (auto [number, loop] : llvm::enumerate(loops)) {
    std::string condition = "if (loop == " + std::to_string(number) + ")";
    if (number == 0)
      out_.open(condition);
    else
      out_.otherwise(number + 1 < works.size() ? condition + " " : "");
    one(loop, "");
  }
  out_.close();
  together_ = false;
  out_.close("});");
}

void ComputeEmitter::outputs() {
  if (!program_.outputs.empty())
    out_.blank();
  for (kernel::OutputOp output : program_.outputs)
    give(output, model_.array(program_, output.getBuffer()).member);
}

/// Copies rows, which lie at `values`, where the results are.
void ComputeEmitter::give(kernel::OutputOp output, const std::string &values) {
  kernel::SpaceOp inputs = program_.inputSpace();
  auto buffer = program_.find<kernel::BufferOp>(output.getBuffer());
  Array array = model_.array(program_, output.getBuffer());
  std::string type = array.element.isF32() ? "real" : "int32_t", leaf = std::to_string(output.getLeaf());
  auto space = program_.find<kernel::SpaceOp>(buffer.getSpace());
  std::string size = std::to_string(array.rowSize());
  if (strideOf(buffer) != array.rowSize())
    size += ", " + std::to_string(strideOf(buffer));
  if (output.getKept()) {
    out_.line(
        "dbc::give_kept_rows<" + type + ">(" +
        commas({"run.out", leaf, program_.nameOf(space), program_.nameOf(inputs) + "[0]", values, size}) +
        ");");
    return;
  }
  std::string at = output.getDepth() == 0 ? program_.nameOf(inputs) + "[0]" : "nullptr";
  out_.line("dbc::give_rows(" +
            commas({"run.out.values<" + type + ">(" + leaf + ")", at, values, program_.rows(space), size}) +
            ");");
}

void emitCompute(const ModelNames &model, const Program &program, Writer &out) {
  ComputeEmitter(model, program, out).emit();
}

} // namespace dbc::codegen
