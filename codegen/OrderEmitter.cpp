// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The order in which an entry evaluates an input's structure, for the runtime: see dbc/first_error.h.
#include "codegen/Order.h"
#include "ir/Dyn/Numbers.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

/// The words and the code, as dyn-order-errors made them.
static std::pair<ArrayAttr, DenseI32ArrayAttr> errorsOf(const ModelNames &model, const Program &program) {
  auto entries = ModuleOp(model.module)->getAttrOfType<DictionaryAttr>("kernel.errors");
  auto entry = entries ? entries.getAs<ArrayAttr>(kernel::ProgramOp(program.op).getSymName()) : ArrayAttr();
  if (!entry)
    return {};
  return {cast<ArrayAttr>(entry[0]), cast<DenseI32ArrayAttr>(entry[1])};
}

/// An array, as many to a line as there is room for.
static void array(Writer &out, StringRef head, const std::vector<std::string> &parts) {
  out.line(head + " = {");
  std::string line;
  for (const std::string &part : parts) {
    if (!line.empty() && 4 + line.size() + 2 + part.size() + 1 > Writer::kColumns) {
      out.raw("    " + line + ",\n");
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + part;
  }
  out.raw("    " + line + "};\n");
}

void emitOrder(const ModelNames &model, const Program &program, Writer &out) {
  auto [texts, steps] = errorsOf(model, program);
  if (!steps)
    return;
  std::vector<std::string> code, words;
  for (int32_t number : steps.asArrayRef())
    code.push_back(std::to_string(number));
  for (Attribute word : texts)
    words.push_back(quoted(cast<StringAttr>(word).getValue()));
  out.line("namespace " + program.space + " {");
  out.comment("What is evaluated of an input's structure, in order: of several errors the first is told.");
  array(out, "constexpr int32_t kOrder[]", code);
  array(out, "constexpr const char *kWords[]", words);
  out.line("} // namespace " + program.space);
  out.blank();
}

std::string orderOf(const ModelNames &model, const Program &program) {
  return errorsOf(model, program).second ? "{" + program.space + "::kOrder, " + program.space + "::kWords}"
                                         : "";
}

std::string eventOfRow(const ModelNames &model, const Program &program, Operation *check, std::string row,
                       StringRef plan) {
  std::vector<std::string> parts;
  auto add = [&](int64_t number) { parts.push_back(std::to_string(number)); };
  add(dyn::numberOf(check->getLoc()).value_or(-1));
  auto space = program.find<kernel::SpaceOp>(*check->getParentOfType<kernel::FuncOp>().getSpace());
  for (; space; space = program.parent(space)) {
    std::string name = plan.str() + program.nameOf(space);
    if (space.getKind() == kernel::SpaceKind::Instances)
      for (kernel::FuncOp func : program.funcs)
        if (func.getKind() == kernel::FuncKind::Index && func.getSpace() == space.getSymName())
          for (auto [k, key] : llvm::enumerate(func.getBody().getArguments().drop_front()))
            if (auto number = dyn::numberOf(key.getLoc())) {
              add(*number);
              parts.push_back(name + "[" + std::to_string(k) + "][" + row + "]");
            }
    bool elements =
        space.getKind() == kernel::SpaceKind::Elements || space.getKind() == kernel::SpaceKind::Steps;
    if (auto number = dyn::numberOf(space.getLoc()); number && elements) {
      bool back = dyn::isReversed(*number);
      add(back ? dyn::reversed(*number) : *number);
      parts.push_back("dbc::position_of(" + name + ", " + row + (back ? ", true)" : ")"));
    }
    row = name + "[0][" + row + "]";
  }
  return "{" + commas(parts) + "}";
}

} // namespace dbc::codegen
