// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/common/RunEmitter.h"
#include "llvm/ADT/TypeSwitch.h"
#include <tuple>

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string RunEmitter::member(kernel::BufferOp buffer) {
  return model_.array(program_, buffer.getSymName()).member;
}

std::string RunEmitter::sizeOf(kernel::BufferOp buffer) { return elementsOf(model_, program_, buffer); }

SharedMemory RunEmitter::sharedMemory(const Storage &storage) {
  return codegen::sharedMemory(model_, program_, storage,
                               [&](kernel::BufferOp buffer) { return member(buffer); });
}

/// The time steps of an index set that the open loops stand at, first and behind the last; empty strings
/// where no loop orders it. Inside the loop of a recursion but outside of a scan's, those are all steps that
/// belong to the level.
RunEmitter::TimeSteps RunEmitter::openTimeSteps(kernel::IndexSetOp indexSet) {
  for (; indexSet; indexSet = program_.parent(indexSet)) {
    bool steps = indexSet.getKind() == kernel::IndexSetKind::Steps && indexSet.getByTimeStep();
    if (!steps && !indexSet.getGroup())
      continue;
    std::string timeStep = timeSteps_.lookup(steps ? indexSet.getSymName() : *indexSet.getGroup());
    if (!timeStep.empty())
      return {timeStep, timeStep + " + 1"};
    kernel::IndexSetOp parent = program_.parent(indexSet);
    if (!steps || !parent)
      return {};
    auto [first, last] = openTimeSteps(parent);
    if (first.empty())
      return {};
    std::string timeSteps = program_.nameOf(indexSet) + ".time_steps.first";
    return {timeSteps + "[" + first + "]", timeSteps + "[" + last + "]"};
  }
  return {};
}

/// What is done with the active rows of an index set, one time step after the other: of the loops that are
/// open, or of all.
void RunEmitter::eachTimeStep(kernel::IndexSetOp indexSet,
                              llvm::function_ref<void(const std::string &, const std::string &)> body) {
  std::string timeSteps = program_.timeSteps(indexSet);
  auto [first, last] = indexSet.getByTimeStep() ? openTimeSteps(indexSet) : TimeSteps();
  if (!first.empty() && last == first + " + 1")
    return body(timeSteps, first);
  if (first.empty())
    first = "0", last = timeSteps + ".count";
  out_.open("for (int32_t time_step = " + first + "; time_step < " + last + "; ++time_step)");
  body(timeSteps, "time_step");
  out_.close();
}

/// The head of a loop over time steps.
static std::string loopOver(const std::string &timeStep, const std::string &begin, const std::string &end,
                            bool reverse) {
  return reverse ? "for (int32_t " + timeStep + " = " + end + " - 1; " + timeStep + " >= " + begin + "; --" +
                       timeStep + ")"
                 : "for (int32_t " + timeStep + " = " + begin + "; " + timeStep + " < " + end + "; ++" +
                       timeStep + ")";
}

/// A launch, or a loop with all that is in it.
void RunEmitter::one(Operation &op, const std::string &outerTimeStep) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case<kernel::LaunchOp>([&](kernel::LaunchOp op) { launch(op, outerTimeStep); })
      .Case<kernel::ConcurrentOp>([&](kernel::ConcurrentOp op) { concurrent(op.getBody().front()); })
      .Case<kernel::GradientsOp>([&](kernel::GradientsOp op) {
        out_.blank();
        out_.open("if (run.gradients)");
        block(op.getBody().front(), "");
        out_.close();
      })
      .Case<kernel::DistinctOp>([&](kernel::DistinctOp op) {
        out_.blank();
        collectRows(op);
      })
      .Case<kernel::TransposeOp>([&](kernel::TransposeOp op) { listRows(op); })
      .Case<kernel::MaskOp>([&](kernel::MaskOp op) {
        eachTimeStep(program_.find<kernel::IndexSetOp>(op.getIndexSet()),
                     [&](const std::string &timeSteps, const std::string &timeStep) {
                       mask(op, timeSteps, timeStep);
                     });
      })
      .Case<kernel::TimeStepLoopInterface>([&](auto op) { loop(op, outerTimeStep); });
}

void RunEmitter::launch(kernel::LaunchOp launch, const std::string &outerTimeStep) {
  auto func = program_.find<kernel::FuncOp>(launch.getFunc());
  auto indexSet = program_.find<kernel::IndexSetOp>(*func.getIndexSet());
  int number = program_.stageNumber(func);
  if (number < 0)
    return; // ran when the model was made
  kernel::IndexSetOp order;
  if (std::optional<StringRef> name = launch.getOrder())
    order = program_.find<kernel::IndexSetOp>(*name);
  std::string begin = "0", end = program_.rows(order ? order : indexSet);
  auto [first, last] = indexSet.getByTimeStep() ? openTimeSteps(indexSet) : TimeSteps();
  if (!first.empty()) {
    std::string timeSteps = program_.timeSteps(indexSet);
    begin = timeSteps + ".begin[" + first + "]";
    end = timeSteps + ".begin[" + last + "]";
  }
  if (outerTimeStep.empty())
    out_.blank();
  out_.comment(program_.nameOf(func));
  if (launch.getActive())
    return eachTimeStep(indexSet, [&](const std::string &timeSteps, const std::string &timeStep) {
      out_.line("launch(" +
                commas({std::to_string(number), timeSteps + ".begin[" + timeStep + "]",
                        timeSteps + ".end(" + timeStep + ")"}) +
                ");");
    });
  if (order && order.getMasked()) {
    out_.line(program_.nameOf(order) + ".select(" + program_.timeSteps(indexSet) + ");");
    selected(order);
  }
  std::vector<std::string> arguments = {std::to_string(number), begin, end};
  if (!worker_.empty())
    arguments.push_back(worker_);
  out_.line("launch(" + commas(arguments) + ");");
}

void RunEmitter::loop(kernel::TimeStepLoopInterface loop, const std::string &outerTimeStep) {
  const bool ofScan = isa<kernel::StepsOp>(loop);
  std::string timeStep = ofScan ? "step" : "level", begin = "0", end = program_.countOf(loop);
  // Outside every other loop all steps run, also where the same scan's other states run level by level.
  if (ofScan)
    if (TimeSteps open = openTimeSteps(program_.find<kernel::IndexSetOp>(loop.getCarrier()));
        !open.first.empty())
      std::tie(begin, end) = open;
  if (!outerTimeStep.empty() && (!ofScan || loop->getParentOfType<kernel::StepsOp>()))
    timeStep = "inner_" + outerTimeStep;
  if (!ofScan || outerTimeStep.empty())
    out_.blank();
  const std::string prefix = launchedPrefix(*loop, end);
  if (loop.getReverse())
    rest(*loop, end);
  out_.open(loopOver(timeStep, begin, prefix, loop.getReverse()));
  for (const Program::Window &window : program_.windows)
    if (kernel::LevelsOp(window.loop) == loop)
      out_.line(window.name + ".move(" + timeStep + ");");
  timeSteps_[loop.getCarrier()] = timeStep;
  block(loop->getRegion(0).front(), timeStep);
  timeSteps_.erase(loop.getCarrier());
  out_.close();
  if (!loop.getReverse())
    rest(*loop, end);
}

void RunEmitter::countElements() {
  if (!program_.run)
    return;
  SmallVector<kernel::LaunchOp> of, ofGradients;
  kernel::RunOp(program_.run).walk([&](kernel::LaunchOp launch) {
    auto func = program_.find<kernel::FuncOp>(launch.getFunc());
    if (func.getElements() && program_.stageNumber(func) >= 0)
      (launch->getParentOfType<kernel::GradientsOp>() ? ofGradients : of).push_back(launch);
  });
  if (of.empty() && ofGradients.empty())
    return;
  out_.blank();
  out_.comment("What stages have read of lists.");
  for (kernel::LaunchOp launch : of)
    countElements(launch);
  if (ofGradients.empty())
    return;
  out_.open("if (run.gradients)");
  for (kernel::LaunchOp launch : ofGradients)
    countElements(launch);
  out_.close();
}

void RunEmitter::countElements(kernel::LaunchOp launch) {
  auto func = program_.find<kernel::FuncOp>(launch.getFunc());
  auto indexSet = program_.find<kernel::IndexSetOp>(*func.getIndexSet());
  bool active = launch.getActive();
  if (std::optional<StringRef> order = launch.getOrder())
    active |= program_.find<kernel::IndexSetOp>(*order).getMasked();
  auto arrayOf = [&](kernel::IndexSetOp of, StringRef name) {
    return program_.nameOf(of) + "[" + std::to_string(program_.indexArray(of, name)) + "]";
  };
  for (auto each : func.getElementsAttr().getAsRange<kernel::ElementsAttr>()) {
    auto of = program_.find<kernel::IndexSetOp>(each.getList().getValue());
    std::string array = arrayOf(of, each.getArray().getValue()), length = array + "[row]";
    if (of.getKind() == kernel::IndexSetKind::Transpose) {
      std::string at = each.getAt().empty() ? "row" : arrayOf(indexSet, each.getAt().getValue()) + "[row]";
      length = array + "[" + at + " + 1] - " + array + "[" + at + "]";
    }
    const int64_t bytes = each.getReals() * model_.bytes("real") + each.getBytes();
    out_.line("dbc::count_elements(" +
              commas({"run", std::to_string(program_.stageNumber(func)),
                      active ? program_.timeSteps(indexSet) : program_.rows(indexSet), std::to_string(bytes),
                      each.getGathered() ? "1" : "0", "[&](int32_t row) { return " + length + "; }"}) +
              ");");
  }
}

/// Of a sparse one room for the rows that are looked up; of a field or argument for a value for each that it
/// has in the batch.
std::string RunEmitter::gradientRoom(kernel::BufferOp buffer) {
  auto indexSet = program_.find<kernel::IndexSetOp>(buffer.getIndexSet());
  if (kernel::GradientOp gradient = program_.gradientIn(buffer.getSymName())) {
    const Param &param = *model_.param(gradient.getParam());
    const std::string number = std::to_string(param.number);
    if (indexSet.getKind() != kernel::IndexSetKind::Distinct)
      return "run.out.gradient<real>(" + commas({number, std::to_string(param.size())}) + ")";
    return "run.out.sparse_gradient<real>(" +
           commas({number, program_.nameOf(indexSet) + "[0]", program_.rows(indexSet),
                   std::to_string(model_.array(program_, buffer.getSymName()).rowSize())}) +
           ")";
  }
  const int number = program_.inputGradientIn(buffer.getSymName());
  if (number < 0)
    return "";
  const InputGradient input(model_, program_, program_.inputGradients[number]);
  const bool isField = input.data >= 0;
  const std::string data = std::to_string(input.data), column = std::to_string(input.column);
  return "run.out.input_gradient<real>(" +
         commas({std::to_string(number),
                 isField ? "run.batch.column(" + commas({data, column}) + ")" : "run.arg(" + column + ")",
                 isField ? "run.batch.rows(" + data + ")" : "run.batch.inputs()", program_.rows(indexSet),
                 std::to_string(input.width)}) +
         ")";
}

void RunEmitter::give(kernel::OutputOp output, const std::string &values) {
  kernel::IndexSetOp inputs = program_.inputIndexSet();
  auto buffer = program_.find<kernel::BufferOp>(output.getBuffer());
  Array array = model_.array(program_, output.getBuffer());
  std::string type = array.element.isF32() ? "real" : "int32_t",
              component = std::to_string(output.getComponent());
  auto indexSet = program_.find<kernel::IndexSetOp>(buffer.getIndexSet());
  std::string size = std::to_string(array.rowSize());
  if (array.stride != array.rowSize())
    size += ", " + std::to_string(array.stride);
  if (output.getActive()) {
    out_.line("dbc::give_active_rows<" + type + ">(" +
              commas({"run.out", component, program_.nameOf(indexSet), program_.nameOf(inputs) + "[0]",
                      values, size}) +
              ");");
    return;
  }
  std::string at = output.getDepth() == 0 ? program_.nameOf(inputs) + "[0]" : "nullptr";
  out_.line(
      "dbc::give_rows(" +
      commas({"run.out.values<" + type + ">(" + component + ")", at, values, program_.rows(indexSet), size}) +
      ");");
}

} // namespace dbc::codegen
