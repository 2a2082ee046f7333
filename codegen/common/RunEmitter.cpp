// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/common/RunEmitter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string RunEmitter::member(kernel::BufferOp buffer) {
  return model_.array(program_, buffer.getSymName()).member;
}

std::string RunEmitter::sizeOf(kernel::BufferOp buffer) {
  int64_t stride = strideOf(buffer);
  std::string count = program_.rows(program_.find<kernel::SpaceOp>(buffer.getSpace()));
  if (buffer.getLive())
    count = program_.window(buffer.getSpace(), *buffer.getLive()).name + ".rows()";
  std::string rows = "size_t(" + count + ")";
  return stride == 1 ? rows : rows + " * " + std::to_string(stride);
}

/// Buffers that share memory take what the longest needs.
RunEmitter::SharedMemory RunEmitter::sharedMemory(const Slot &slot) {
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

/// The ticks of a space that the open loops stand at, first and behind the last; empty strings where no loop
/// orders it. Inside the loop of a recursion but outside of a scan's, those are all steps that belong to the
/// level.
RunEmitter::Ticks RunEmitter::openTicks(kernel::SpaceOp space) {
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
void RunEmitter::eachTick(kernel::SpaceOp space,
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
void RunEmitter::one(Operation &op, const std::string &outerTick) {
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
        if (!worker_.empty())
          arguments.push_back(worker_);
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

void RunEmitter::give(kernel::OutputOp output, const std::string &values) {
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

} // namespace dbc::codegen
