// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The order in which an entry evaluates an input's structure, for the runtime: see dbc/first_error.h.
#include "codegen/common/Order.h"
#include "ir/Dyn/Numbers.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

/// As dyn-order-errors made it; null where that pass was not run.
static kernel::EvaluationOp evaluationOf(const ModelNames &model, const Program &program) {
  StringRef name = kernel::ProgramOp(program.op).getSymName();
  for (auto op : ModuleOp(model.module).getOps<kernel::EvaluationOp>())
    if (op.getEntry() == name)
      return op;
  return {};
}

/// An array, as many to a line as there is room for.
static void array(Writer &out, StringRef head, const std::vector<std::string> &items) {
  out.line(head + " = {");
  std::string line;
  for (const std::string &item : items) {
    if (!line.empty() && 4 + line.size() + 2 + item.size() + 1 > Writer::kColumns) {
      out.raw("    " + line + ",\n");
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + item;
  }
  out.raw("    " + line + "};\n");
}

void emitOrder(const ModelNames &model, const Program &program, Writer &out) {
  kernel::EvaluationOp evaluation = evaluationOf(model, program);
  if (!evaluation)
    return;
  std::vector<std::string> code, words;
  for (int32_t number : evaluation.getCode())
    code.push_back(std::to_string(number));
  for (Attribute word : evaluation.getWords())
    words.push_back(quoted(cast<StringAttr>(word).getValue()));
  out.line("namespace " + program.space + " {");
  out.comment(
      "What is evaluated of an input's structure, in order: of several errors the first is reported.");
  array(out, "constexpr int32_t kOrder[]", code);
  array(out, "constexpr const char *kWords[]", words);
  out.line("} // namespace " + program.space);
  out.blank();
}

std::string orderOf(const ModelNames &model, const Program &program) {
  return evaluationOf(model, program) ? "{" + program.space + "::kOrder, " + program.space + "::kWords}" : "";
}

std::string eventOfRow(const ModelNames &model, const Program &program, Operation *check, std::string row,
                       StringRef plan) {
  std::vector<std::string> items;
  auto add = [&](int64_t number) { items.push_back(std::to_string(number)); };
  add(dyn::numberOf(check->getLoc()).value_or(-1));
  auto indexSet = program.find<kernel::IndexSetOp>(*check->getParentOfType<kernel::FuncOp>().getIndexSet());
  for (; indexSet; indexSet = program.parent(indexSet)) {
    std::string name = plan.str() + program.nameOf(indexSet);
    for (int64_t number : indexSet.getSites().value_or(ArrayRef<int64_t>()))
      add(number);
    if (indexSet.getKind() == kernel::IndexSetKind::Instances)
      for (kernel::FuncOp func : program.funcs)
        if (func.getKind() == kernel::FuncKind::Index && func.getIndexSet() == indexSet.getSymName())
          for (auto [k, key] : llvm::enumerate(func.getBody().getArguments().drop_front()))
            if (auto number = dyn::numberOf(key.getLoc())) {
              add(*number);
              items.push_back(name + "[" + std::to_string(k) + "][" + row + "]");
            }
    bool elements = indexSet.getKind() == kernel::IndexSetKind::Elements ||
                    indexSet.getKind() == kernel::IndexSetKind::Steps;
    if (auto number = dyn::numberOf(indexSet.getLoc()); number && elements) {
      bool back = dyn::isReversed(*number);
      add(back ? dyn::reversed(*number) : *number);
      items.push_back("dbc::position_of(" + name + ", " + row + (back ? ", true)" : ")"));
    }
    row = name + "[0][" + row + "]";
  }
  return "{" + commas(items) + "}";
}

std::pair<std::string, std::string> ownerOfRow(const ModelNames &model, const Program &program,
                                               kernel::IndexSetOp indexSet, std::string row, StringRef plan) {
  while (indexSet) {
    std::string at = plan.str() + program.nameOf(indexSet) + "[0][" + row + "]";
    if (indexSet.getKind() == kernel::IndexSetKind::Instances)
      return {model.tableOf(program.groupOf(indexSet), *indexSet.getCell()), at};
    if (indexSet.getKind() == kernel::IndexSetKind::Inputs)
      return {std::to_string(model.datas.size()), at};
    row = at;
    indexSet = program.parent(indexSet);
  }
  return {std::to_string(model.datas.size()), "0"};
}

std::string ownerText(const ModelNames &model, const Program &program, kernel::IndexSetOp indexSet,
                      std::string row, StringRef plan) {
  auto [table, owner] = ownerOfRow(model, program, indexSet, row, plan);
  return table + ", " + owner;
}

} // namespace dbc::codegen
