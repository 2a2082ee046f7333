// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `void Plan::schedule(dbc::Run &run)`: calls structure functions in order.
#include "codegen/cpu/Emitters.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

/// The spaces from just inside the inputs down to the buffer's: one an enclosing list of the result.
static std::vector<kernel::SpaceOp> chainOf(const Program &program, kernel::OutputOp output) {
  std::vector<kernel::SpaceOp> chain;
  auto buffer = program.find<kernel::BufferOp>(output.getBuffer());
  for (auto space = program.find<kernel::SpaceOp>(buffer.getSpace()); chain.size() < output.getDepth();
       space = program.parent(space)) {
    assert(space && "an output's space lies in lists of the inputs");
    chain.insert(chain.begin(), space);
  }
  return chain;
}

std::string arrayOf(const ModelNames &model, const Program &program, Operation *op, bool isArgument) {
  std::string view, part;
  kernel::FieldPart which;
  StringRef symbol;
  int64_t level = 0;
  if (isArgument) {
    auto argument = cast<kernel::ArgumentOp>(op);
    view = "run.arg(" + std::to_string(argument.getLeaf()) + ")";
    which = argument.getPart();
    level = argument.getLevel().value_or(0);
    symbol = argument.getSymName();
  } else {
    auto field = cast<kernel::FieldOp>(op);
    std::string data = std::to_string(model.data(field.getData()).number);
    if (field.getPart() == kernel::FieldPart::Kind)
      return "run.batch.kinds(" + data + ")";
    view = "run.batch.column(" + data + ", " + std::to_string(field.getColumn()) + ")";
    which = field.getPart();
    level = field.getLevel().value_or(0);
    symbol = field.getSymName();
  }
  std::string lists = ".lists[" + std::to_string(level) + "]";
  if (which == kernel::FieldPart::Begin)
    return view + lists + ".begin";
  if (which == kernel::FieldPart::End)
    return view + lists + ".end";
  std::string type = model.array(program, symbol).pointee;
  return view + (type == "float" ? ".f32" : type == "uint8_t" ? ".u8" : ".i32");
}

//===-- schedule ----------------------------------------------------------------------------------------===//

static void emitBegin(const ModelNames &model, const Program &program, Writer &out) {
  out.line("batch = &run.batch;");
  out.line("errors = &run.errors;");
  out.line("budget = &run.budget;");
  for (kernel::FieldOp field : program.fields)
    out.line(program.nameOf(field) + " = " + arrayOf(model, program, field, false) + ";");
  for (kernel::ArgumentOp argument : program.inputs)
    out.line(program.nameOf(argument) + " = " + arrayOf(model, program, argument, true) + ";");
  for (const auto &[name, view] : program.given)
    out.line(name + ".bind(" + view + ");");
  out.blank();
  for (kernel::GroupOp group : program.groups)
    out.line(program.nameOf(group) + ".begin(run.batch, run.range, run.errors" +
             (program.canShare(group) ? ", run.shared);" : ");"));
  for (kernel::SpaceOp space : program.spaces) {
    std::string name = program.nameOf(space);
    if (space.getKind() == kernel::SpaceKind::Model)
      continue;
    if (space.getKind() == kernel::SpaceKind::States && space.getColumns().empty())
      out.line(name + " = 0;");
    else
      out.line(name + ".begin();");
    if (space.getKind() == kernel::SpaceKind::Inputs) {
      int input = program.column(space, "input");
      for (size_t column = 0; column < space.getColumns().size(); ++column)
        out.line(
            name + ".column(" + std::to_string(column) + ")" +
            (int(column) == input ? ".append(run.inputs, run.input_count);" : ".resize(run.input_count);"));
    }
  }
  if (program.reaches)
    out.line("node_set.begin(run.batch, run.range);");
}

static void emitStop(Writer &out) {
  out.line("if (run.errors.any())");
  out.line("  return;");
}

static void emitSort(const Program &program, kernel::GroupOp group, Writer &out) {
  out.line(program.nameOf(group) + ".sort();");
  for (kernel::SpaceOp space : program.spaces) {
    if (space.getKind() != kernel::SpaceKind::Instances || program.groupOf(space) != group)
      continue;
    out.line(program.nameOf(group) + ".fill(" + std::to_string(*space.getCell()) + ", " +
             program.nameOf(space) + ");");
  }
}

static void emitTicks(const Program &program, kernel::TicksOp op, Writer &out) {
  auto space = program.find<kernel::SpaceOp>(op.getSpace());
  kernel::SpaceOp parent = program.parent(space);
  std::string name = program.nameOf(space), outer = program.ticks(parent);
  if (space.getKind() != kernel::SpaceKind::Steps) {
    out.line("dbc::ticks_from_parent(" + name + ", " + outer + ");");
    return;
  }
  if (!op.getNested()) {
    out.line("once.once(" + program.rows(parent) + ");");
    outer = "once";
  }
  out.line("dbc::make_steps(" + name + ", " + outer + ", " + std::to_string(program.column(space, "step")) +
           ");");
}

void emitSchedule(const ModelNames &model, const Program &program, Writer &out) {
  out.comment("Structure in, row numbers out. Leaves early when an input turns out to be wrong: it is called "
              "again without "
              "that input.");
  out.open("void Plan::schedule(dbc::Run &run)");
  emitBegin(model, program, out);
  kernel::ScheduleOp schedule = program.schedule;
  auto function = [&](StringRef symbol) { return program.find<kernel::FuncOp>(symbol); };
  if (schedule)
    for (Operation &op : schedule.getBody().front()) {
      out.blank();
      llvm::TypeSwitch<Operation *>(&op)
          .Case<kernel::StartOp>([&](kernel::StartOp start) {
            out.line("for (int32_t row = 0; row < run.input_count; ++row)");
            out.line("  " + program.nameOf(function(start.getFunc())) + "(run.inputs[row]);");
            emitStop(out);
          })
          .Case<kernel::SortOp>([&](kernel::SortOp sort) {
            emitSort(program, program.find<kernel::GroupOp>(sort.getGroup()), out);
          })
          .Case<kernel::IndexOp>([&](kernel::IndexOp index) {
            kernel::FuncOp func = function(index.getFunc());
            auto space = program.find<kernel::SpaceOp>(*func.getSpace());
            std::string name = program.nameOf(space);
            std::vector<std::string> arguments = {"row"};
            for (unsigned column = 0; column + 1 < func.getBody().getNumArguments(); ++column)
              arguments.push_back(name + "[" + std::to_string(column) + "][row]");
            out.line("for (int32_t row = 0; row < " + program.rows(space) + "; ++row)");
            out.line("  " + program.nameOf(func) + "(" + commas(arguments) + ");");
            emitStop(out);
          })
          .Case<kernel::TicksOp>([&](kernel::TicksOp ticks) { emitTicks(program, ticks, out); });
    }
  kernel::SpaceOp inputs = program.inputSpace();
  for (kernel::OutputOp output : program.outputs) {
    std::string outside = inputs ? program.nameOf(inputs) : "";
    for (auto [depth, space] : llvm::enumerate(chainOf(program, output))) {
      if (depth == 0)
        out.blank();
      out.line("run.out.list(" +
               commas({std::to_string(output.getLeaf()), std::to_string(depth), program.nameOf(space) + "[0]",
                       program.rows(space), program.nameOf(inputs) + "[0]", outside + ".rows()"}) +
               ");");
      outside = program.nameOf(space);
    }
  }
  out.close();
  out.blank();
}

} // namespace dbc::codegen
