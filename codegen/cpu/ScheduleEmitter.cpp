// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `void Plan::schedule(dbc::Run &run)`: calls structure functions in order.
#include "codegen/common/RowLists.h"
#include "codegen/cpu/Emitters.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

/// The index sets from just inside the inputs down to the buffer's: one an enclosing list of the result.
static std::vector<kernel::IndexSetOp> chainOf(const Program &program, kernel::OutputOp output) {
  std::vector<kernel::IndexSetOp> chain;
  auto buffer = program.find<kernel::BufferOp>(output.getBuffer());
  for (auto indexSet = program.find<kernel::IndexSetOp>(buffer.getIndexSet());
       chain.size() < output.getDepth(); indexSet = program.parent(indexSet)) {
    assert(indexSet && "an output's index set lies in lists of the inputs");
    chain.insert(chain.begin(), indexSet);
  }
  return chain;
}

std::string arrayOf(const ModelNames &model, const Program &program, Operation *op, bool isArgument) {
  std::string view;
  kernel::FieldArray which;
  StringRef symbol;
  int64_t level = 0;
  if (isArgument) {
    auto argument = cast<kernel::ArgumentOp>(op);
    if (argument.getArray() == kernel::FieldArray::LossWeight)
      return "run.loss_weights";
    view = "run.arg(" + std::to_string(argument.getComponent()) + ")";
    which = argument.getArray();
    level = argument.getLevel().value_or(0);
    symbol = argument.getSymName();
  } else {
    auto field = cast<kernel::FieldOp>(op);
    std::string data = std::to_string(model.data(field.getData()).number);
    if (field.getArray() == kernel::FieldArray::Kind)
      return "run.batch.kinds(" + data + ")";
    view = "run.batch.column(" + data + ", " + std::to_string(field.getColumn()) + ")";
    which = field.getArray();
    level = field.getLevel().value_or(0);
    symbol = field.getSymName();
  }
  std::string lists = ".lists[" + std::to_string(level) + "]";
  if (which == kernel::FieldArray::Begin)
    return view + lists + ".begin";
  if (which == kernel::FieldArray::End)
    return view + lists + ".end";
  std::string type = model.array(program, symbol).pointee;
  return view + (type == "float" ? ".f32" : type == "uint8_t" ? ".u8" : ".i32");
}

/// How many values a field or argument has in the batch.
static std::string valuesOf(const ModelNames &model, const Program &program, StringRef array) {
  if (auto argument = program.find<kernel::ArgumentOp>(array))
    return "run.arg_values(" + std::to_string(argument.getComponent()) + ")";
  auto field = program.find<kernel::FieldOp>(array);
  return "run.batch.values(" +
         commas({std::to_string(model.data(field.getData()).number), std::to_string(field.getColumn())}) +
         ")";
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
             (group.getShared() ? ", run.shared);" : ");"));
  for (kernel::IndexSetOp indexSet : program.indexSets) {
    std::string name = program.nameOf(indexSet);
    if (indexSet.getKind() == kernel::IndexSetKind::Model ||
        indexSet.getKind() == kernel::IndexSetKind::Batch)
      continue;
    if (indexSet.getKind() == kernel::IndexSetKind::Column)
      out.line(name + " = " + valuesOf(model, program, *indexSet.getParent()) + ";");
    else if (Program::isOnlyCounted(indexSet))
      out.line(name + " = 0;");
    else
      out.line(name + ".begin();");
    if (indexSet.getKind() == kernel::IndexSetKind::Inputs) {
      int input = program.indexArray(indexSet, "input");
      for (size_t array = 0; array < indexSet.getIndexArrays().size(); ++array)
        out.line(
            name + ".array(" + std::to_string(array) + ")" +
            (int(array) == input ? ".append(run.inputs, run.input_count);" : ".resize(run.input_count);"));
    }
  }
  if (program.collectsNodes)
    out.line("node_set.begin(run.batch, run.range);");
}

static void emitStop(Writer &out) {
  out.line("if (run.errors.any())");
  out.line("  return;");
}

static void emitSort(const Program &program, kernel::GroupOp group, Writer &out) {
  out.line(program.nameOf(group) + ".sort();");
  for (kernel::IndexSetOp indexSet : program.indexSets) {
    if (indexSet.getKind() != kernel::IndexSetKind::Instances || program.groupOf(indexSet) != group)
      continue;
    out.line(program.nameOf(group) + ".fill(" + std::to_string(*indexSet.getCell()) + ", " +
             program.nameOf(indexSet) + ");");
  }
}

static void emitTimeSteps(const Program &program, kernel::TimeStepsOp op, Writer &out) {
  auto indexSet = program.find<kernel::IndexSetOp>(op.getIndexSet());
  kernel::IndexSetOp parent = program.parent(indexSet);
  std::string name = program.nameOf(indexSet), outer = program.timeSteps(parent);
  if (indexSet.getKind() != kernel::IndexSetKind::Steps) {
    out.line("dbc::time_steps_from_parent(" + name + ", " + outer + ");");
    return;
  }
  if (!op.getNested()) {
    out.line("once.once(" + program.rows(parent) + ");");
    outer = "once";
  }
  out.line("dbc::make_steps(" + name + ", " + outer + ", " +
           std::to_string(program.indexArray(indexSet, "step")) + ");");
}

static void emitSortByInput(const Program &program, kernel::SortByInputOp op, Writer &out) {
  auto order = program.find<kernel::IndexSetOp>(op.getIndexSet());
  std::vector<std::string> toOwner;
  for (auto each : op.getPath().getAsRange<FlatSymbolRefAttr>())
    toOwner.push_back(program.nameOf(program.find<kernel::IndexSetOp>(each.getValue())) + "[0]");
  out.line(program.nameOf(order) + ".sort(" + program.rows(program.parent(order)) + ", {" + commas(toOwner) +
           "});");
}

void emitSchedule(const ModelNames &model, const Program &program, Writer &out) {
  out.comment("Structure in, row numbers out. Leaves early when an input turns out to be wrong: it is called "
              "again without "
              "that input.");
  out.open("void Plan::schedule(dbc::Run &run)");
  emitBegin(model, program, out);
  kernel::ScheduleOp schedule = program.schedule;
  auto function = [&](StringRef symbol) { return program.find<kernel::FuncOp>(symbol); };
  const NumbersOf inNoRun = [](kernel::BufferOp) -> std::string {
    llvm_unreachable("nothing is computed yet");
  };
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
            auto indexSet = program.find<kernel::IndexSetOp>(*func.getIndexSet());
            std::string name = program.nameOf(indexSet);
            std::vector<std::string> arguments = {"row"};
            for (unsigned array = 0; array + 1 < func.getBody().getNumArguments(); ++array)
              arguments.push_back(name + "[" + std::to_string(array) + "][row]");
            out.line("for (int32_t row = 0; row < " + program.rows(indexSet) + "; ++row)");
            out.line("  " + program.nameOf(func) + "(" + commas(arguments) + ");");
            emitStop(out);
          })
          .Case<kernel::TransposeOp>(
              [&](kernel::TransposeOp transpose) { emitTranspose(program, transpose, inNoRun, out); })
          .Case<kernel::SortByInputOp>(
              [&](kernel::SortByInputOp sort) { emitSortByInput(program, sort, out); })
          .Case<kernel::DistinctOp>(
              [&](kernel::DistinctOp distinct) { emitDistinct(program, distinct, inNoRun, out); })
          .Case<kernel::TimeStepsOp>(
              [&](kernel::TimeStepsOp timeSteps) { emitTimeSteps(program, timeSteps, out); });
    }
  kernel::IndexSetOp inputs = program.inputIndexSet();
  for (kernel::OutputOp output : program.outputs) {
    std::string outside = inputs ? program.nameOf(inputs) : "";
    for (auto [depth, indexSet] : llvm::enumerate(chainOf(program, output))) {
      if (depth == 0)
        out.blank();
      out.line("run.out.list(" +
               commas({std::to_string(output.getComponent()), std::to_string(depth),
                       program.nameOf(indexSet) + "[0]", program.rows(indexSet),
                       program.nameOf(inputs) + "[0]", outside + ".rows()"}) +
               ");");
      outside = program.nameOf(indexSet);
    }
  }
  out.close();
  out.blank();
}

} // namespace dbc::codegen
