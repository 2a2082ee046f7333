// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What only structure functions do: calls, rows of index sets, and checks that fail an input.
#include "codegen/common/Order.h"
#include "codegen/cpu/CpuFunctionEmitter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string CpuFunctionEmitter::owner() {
  auto argument = [&](unsigned number) {
    ownerArgument_ = number;
    return values_[func_.getBody().getArgument(number)].text;
  };
  std::string args = std::to_string(model_.datas.size());
  switch (func_.getKind()) {
  case kernel::FuncKind::Roots:
    return args + ", " + argument(0);
  case kernel::FuncKind::Calls:
  case kernel::FuncKind::Slot: {
    auto [group, cell] = program_.cellOf(func_);
    return model_.tableOf(group, cell) + ", " + argument(0);
  }
  case kernel::FuncKind::Index: {
    auto indexSet = program_.find<kernel::IndexSetOp>(*func_.getIndexSet());
    if (indexSet.getKind() == kernel::IndexSetKind::Inputs)
      return args + ", " + argument(1);
    if (indexSet.getKind() == kernel::IndexSetKind::Instances)
      return model_.tableOf(program_.groupOf(indexSet), *indexSet.getCell()) + ", " + argument(1);
    return ownerText(model_, program_, indexSet, argument(0), "");
  }
  case kernel::FuncKind::Stage:
    break;
  }
  return args + ", 0";
}

/// Inside a stage an error is recorded and the work goes on; the first of the values is then the row of the
/// index set.
void CpuFunctionEmitter::emitCheck(kernel::CheckOp op) {
  std::vector<std::string> numbers;
  for (Value value : op.getValues())
    numbers.push_back(use(value).text);
  std::string at = owner();
  if (isStage()) {
    assert(!numbers.empty() && "a check in a stage names its row");
    at = commas({eventOfRow(model_, program_, op, numbers[0], "plan."), inRow(numbers[0])});
    numbers.erase(numbers.begin());
  }
  std::string kind = "dbc::ErrorKind::" + kernel::stringifyErrorKind(op.getError()).str();
  std::string text = commas({at, kind, quoted(op.getWhere()), quoted(op.getWhat())});
  for (const std::string &number : numbers)
    text += ", " + number;
  body("if (" + negated(use(op.getCondition())).text + ")", [&] { emitRuntimeError(text); });
}

/// Where a stage is wrong: the row of its index set, and the node or input that it is of.
std::string CpuFunctionEmitter::inRow(const std::string &row) {
  auto indexSet = program_.find<kernel::IndexSetOp>(*func_.getIndexSet());
  return commas({row, ownerText(model_, program_, indexSet, row, "plan.")});
}

/// Records an error; a structure function leaves there.
void CpuFunctionEmitter::emitRuntimeError(const std::string &arguments) {
  emitError((isStage() ? "error_in_row(" : "error(") + arguments + ")");
}

void CpuFunctionEmitter::emitError(const std::string &call) {
  bool isSlot = func_.getKind() == kernel::FuncKind::Slot;
  out_->line((isStage() ? "plan.errors->" : isSlot ? "errors->" : "return errors->") + call + ";");
  if (isSlot)
    out_->line(leave());
}

std::string CpuFunctionEmitter::leave() {
  return func_.getKind() == kernel::FuncKind::Slot ? "return -1;" : "return;";
}

/// What a row of an index set takes: a number an index array, and its values in all buffers.
static int64_t bytesOfRow(const ModelNames &model, const Program &program, StringRef symbol) {
  int64_t bytes = 4 * program.find<kernel::IndexSetOp>(symbol).getIndexArrays().size();
  for (kernel::BufferOp buffer : program.buffers)
    if (buffer.getIndexSet() == symbol) {
      Array array = model.array(program, buffer.getSymName());
      bytes += array.rowSize() * model.bytes(array.pointee);
    }
  return bytes;
}

/// What a round of a loop that only writes calls counts as: so long loops end, too.
static constexpr int64_t kRoundBytes = 8;

void CpuFunctionEmitter::emitReserveMemory(kernel::ReserveMemoryOp op) {
  int64_t bytes = op.getIndexSets().empty() ? kRoundBytes : 0;
  for (Attribute indexSet : op.getIndexSets())
    bytes += bytesOfRow(model_, program_, cast<FlatSymbolRefAttr>(indexSet).getValue());
  std::string call =
      "budget->reserve(" +
      commas({owner(), use(op.getCount()).text, std::to_string(bytes), "*errors", quoted(op.getWhere())}) +
      ")";
  body("if (!" + call + ")", [&] { out_->line(leave()); });
}

/// A slot that may turn out not to exist: then the error is reported already.
void CpuFunctionEmitter::bindSlot(Value result, const std::string &text) {
  std::string name = scope_->fresh("slot");
  values_[result] = {name};
  out_->line("const int32_t " + name + " = " + text + ";");
  body("if (" + name + " < 0)", [&] { out_->line(leave()); });
}

void CpuFunctionEmitter::emitSlot(kernel::SlotOp op) {
  auto func = program_.find<kernel::FuncOp>(op.getFunc());
  auto [group, cell] = program_.cellOf(func);
  std::vector<std::string> arguments;
  if (group.getDataOf(cell).empty())
    arguments.push_back(call("batch->input_of", {owner()}).text);
  for (Value key : op.getKeys())
    arguments.push_back(use(key).text);
  arguments.push_back(quoted(op.getWhere()));
  bindSlot(op.getResult(), program_.nameOf(func) + "(" + commas(arguments) + ")");
}

void CpuFunctionEmitter::emitKey(kernel::KeyOp op) {
  std::string group = program_.nameOf(program_.find<kernel::GroupOp>(op.getGroup()));
  std::string key = std::to_string(op.getCell()) + ", " + std::to_string(op.getKey()),
              outer = use(op.getOuter()).text;
  if (op.getFixed()) {
    kernel::KeyRange range = *op.getConstantRange();
    return bindSlot(op.getResult(),
                    group + ".find_fixed(" +
                        commas({std::to_string(op.getCell()), outer, use(op.getValue()).text,
                                std::to_string(range.low), std::to_string(range.width), at_}) +
                        ")");
  }
  body("if (!" + group + ".has(" + commas({key, outer}) + "))", [&] {
    std::string low, high;
    auto open = [&] {
      std::string call =
          group + ".open(" + commas({key, outer, low, high, "*budget", quoted(op.getWhere())}) + ")";
      body("if (!" + call + ")", [&] { out_->line(leave()); });
    };
    if (op.getData()) {
      std::string begin = scope_->fresh("begin"), input = scope_->fresh("input"),
                  table = std::to_string(model_.data(*op.getData()).number);
      out_->line("const int32_t " + input + " = batch->input_of(" + owner() + ");");
      out_->line("const int32_t *" + begin + " = batch->begin(" + table + ");");
      low = begin + "[" + input + "]";
      high = begin + "[" + input + " + 1]";
      return open();
    }
    emitBlock(op.getRange().front(), [&](ValueRange bounds) {
      low = use(bounds[0]).text;
      high = use(bounds[1]).text;
      open();
    });
  });
  bindSlot(op.getResult(), group + ".find(" + commas({key, outer, use(op.getValue()).text, at_}) + ")");
}

void CpuFunctionEmitter::emitInt(kernel::IntOp op) {
  assert(isStage() == bool(op.getRow()) && "arithmetic in a stage names its row");
  std::string at = owner();
  if (isStage()) {
    std::string row = use(op.getRow()).text;
    at = commas({eventOfRow(model_, program_, op, row, "plan."), inRow(row)});
  }
  std::string a = use(op.getA()).text, b = use(op.getB()).text, name = nameValue(op.getResult());
  std::string kind = intErrorKind(op.getKind(), inside(use(op.getB()), Bind::Add));
  out_->line("int32_t " + name + " = 0;");
  body("if (!dbc::checked_" + intFunction(op.getKind()).str() + "(" + commas({a, b, "&" + name}) + "))", [&] {
    emitRuntimeError(commas({at, kind, quoted(op.getWhere()), quoted(intWord(op.getKind())), a, b}));
  });
}

void CpuFunctionEmitter::emitCall(kernel::CallOp op) {
  auto group = program_.find<kernel::GroupOp>(op.getGroup());
  std::string cell = std::to_string(op.getCell()), slot = use(op.getSlot()).text;
  bool inside =
      func_.getKind() == kernel::FuncKind::Calls && llvm::any_of(group.getCalls(), [&](Attribute calls) {
        return cast<FlatSymbolRefAttr>(calls).getValue() == func_.getSymName();
      });
  if (op.getRelation()) {
    auto relation = program_.find<kernel::RelationOp>(*op.getRelation());
    std::string origin;
    for (Value number : op.getOrigin())
      origin += (origin.empty() ? "" : ", ") + use(number).text;
    std::string call = program_.nameOf(group) + ".set_caller(" +
                       commas({cell, slot, std::to_string(program_.relationNumber(relation)),
                               "{" + origin + "}", quoted(relation.getWhere())}) +
                       ")";
    body("if (!" + call + ")", [&] { out_->line(leave()); });
  }
  out_->line((inside ? program_.nameOf(group) + ".call(" : program_.needs.at(group) + "(") + cell + ", " +
             slot + ");");
}

void CpuFunctionEmitter::emitCollectNodes(kernel::CollectNodesOp op) {
  auto indexSet = program_.find<kernel::IndexSetOp>(op.getIndexSet());
  std::string data = std::to_string(model_.data(op.getData()).number), rows = program_.nameOf(indexSet);
  std::string array = std::to_string(program_.indexArray(indexSet, "node"));
  out_->line("node_set.collect(" + commas({data, data, use(op.getNode()).text}) +
             ", [this](int32_t data, int32_t node) { see_fields(data, node); });");
  if (!op.getFirst().use_empty())
    out_->line("const int32_t " + nameValue(op.getFirst(), "first") + " = " + rows + ".rows();");
  if (!op.getLength().use_empty())
    out_->line("const int32_t " + nameValue(op.getLength(), "length") + " = node_set.count();");
  out_->line(rows + ".array(" + array + ").append(node_set.nodes(), node_set.count());");
}

void CpuFunctionEmitter::emitRequire(kernel::RequireOp op) {
  std::string row = use(op.getNode()).text, table, column;
  if (auto field = program_.find<kernel::FieldOp>(op.getArray())) {
    table = std::to_string(model_.data(field.getData()).number);
    column = std::to_string(field.getColumn());
  } else {
    auto argument = program_.find<kernel::ArgumentOp>(op.getArray());
    table = std::to_string(model_.datas.size());
    column = "batch->arg_column(" + std::to_string(program_.number) + ", " +
             std::to_string(argument.getComponent()) + ")";
  }
  std::string arguments = commas({table, row, column});
  if (!op.getWhere().empty())
    arguments += ", " + quoted(op.getWhere());
  body("if (!" + program_.givenBy.at(op.getArray()) + ".has(" + row + "))",
       [&] { emitError("missing(" + arguments + ")"); });
}

void CpuFunctionEmitter::emitStructure(Operation *op) {
  auto indexSet = [&](StringRef symbol) { return program_.find<kernel::IndexSetOp>(symbol); };
  if (isStage()) {
    unsupported(op);
    return;
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case<kernel::ReserveMemoryOp>([&](auto o) { emitReserveMemory(o); })
      .Case<kernel::SlotOp>([&](auto o) { emitSlot(o); })
      .Case<kernel::KeyOp>([&](auto o) { emitKey(o); })
      .Case<kernel::InputOp>([&](kernel::InputOp o) {
        std::string text = "batch->input_of(" + owner() + ")";
        out_->line("const int32_t " + nameValue(o.getResult(), "input") + " = " + text + ";");
      })
      .Case<kernel::NodeNumberOp>([&](kernel::NodeNumberOp o) {
        std::string input = call("batch->input_of", {owner()}).text,
                    table = std::to_string(model_.data(o.getData()).number);
        out_->line("const int32_t " + nameValue(o.getResult(), "number") + " = " + use(o.getNode()).text +
                   " - batch->begin(" + table + ")[" + input + "];");
      })
      .Case<kernel::CallOp>([&](auto o) { emitCall(o); })
      .Case<kernel::PushOp>([&](kernel::PushOp o) {
        std::vector<std::string> arguments = {program_.nameOf(indexSet(o.getIndexSet()))};
        for (Value value : o.getValues())
          arguments.push_back(use(value).text);
        out_->line("dbc::push(" + commas(arguments) + ");");
      })
      .Case<kernel::SetOp>([&](kernel::SetOp o) {
        std::string value = use(o.getValue()).text;
        out_->line(program_.nameOf(indexSet(o.getIndexSet())) + ".array(" +
                   std::to_string(program_.indexArray(indexSet(o.getIndexSet()), o.getIndexArray())) + ")[" +
                   use(o.getRow()).text + "] = " + value + ";");
      })
      .Case<kernel::ReserveOp>([&](kernel::ReserveOp o) {
        std::string count = use(o.getCount()).text;
        std::string call = "dbc::reserve(" + program_.nameOf(indexSet(o.getIndexSet())) + ", " + count + ");";
        if (o.getFirst().use_empty())
          out_->line(call);
        else
          out_->line("const int32_t " + nameValue(o.getFirst(), "first") + " = " + call);
      })
      .Case<kernel::CollectNodesOp>([&](auto o) { emitCollectNodes(o); })
      .Case<kernel::RequireOp>([&](auto o) { emitRequire(o); })
      .Default([&](Operation *o) { unsupported(o); });
}

} // namespace dbc::codegen
