// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Heads of functions, and where a function of the host finds what it reads. Products and locals are in
// ProductEmitter.cpp, what only structure functions do in StructureEmitter.cpp.
#include "codegen/cpu/CpuFunctionEmitter.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

CpuFunctionEmitter::CpuFunctionEmitter(const ModelNames &model, const Program &program, kernel::FuncOp func)
    : FunctionEmitter(model, program, func) {
  if (func.getKind() == kernel::FuncKind::Slot)
    at_ = top_.fresh("at");
}

/// The parameters in brackets; in a definition those that nothing reads have no name.
std::string CpuFunctionEmitter::parameters(bool declaration) {
  std::vector<std::string> parameters;
  for (auto [number, argument] : llvm::enumerate(func_.getBody().getArguments())) {
    bool used = declaration || !argument.use_empty() || int(number) == ownerArgument_;
    parameters.push_back("int32_t" + (used ? " " + values_[argument].text : std::string()));
  }
  if (!at_.empty())
    parameters.push_back("const char *" + at_);
  return commas(parameters);
}

/// What a structure function gives: of an instance its slot, -1 where the input fails.
static std::string resultType(kernel::FuncOp func) {
  return func.getKind() == kernel::FuncKind::Slot ? "int32_t " : "void ";
}

std::string CpuFunctionEmitter::declaration() {
  return resultType(func_) + program_.nameOf(func_) + "(" + parameters(true) + ");";
}

void CpuFunctionEmitter::print(Writer &out, StringRef body) {
  if (isStage())
    return FunctionEmitter::print(out, body);
  out.function(resultType(func_) + "Plan::" + program_.nameOf(func_) + "(" + parameters(false) + ")", body);
}

void CpuFunctionEmitter::emitStageHead(Writer &out) {
  out.line("DBC_CLONES");
  out.open("void " + program_.nameOf(func_) + "(const Plan &plan, " + parameters(false) + ", char *" +
           (func_.getScratch() ? "scratch" : "") + ")");
}

std::string CpuFunctionEmitter::arraySource(StringRef symbol) {
  return "plan." + model_.array(program_, symbol).member;
}

std::string CpuFunctionEmitter::indexArraySource(kernel::IndexSetOp indexSet, StringRef indexArray) {
  return "plan." + program_.nameOf(indexSet) + "[" +
         std::to_string(program_.indexArray(indexSet, indexArray)) + "]";
}

std::string CpuFunctionEmitter::weightsAlias(kernel::WeightsOp weights, const std::string &name) {
  std::string member = "plan." + program_.nameOf(weights);
  if (weights.getTables())
    return "const dbc::Packed<real> *const *" + name + " = " + member + ".data();";
  return "const dbc::Packed<real> &" + name + " = *" + member + ";";
}

Expr CpuFunctionEmitter::orderedRow(kernel::OrderOp op) {
  auto indexSet = program_.find<kernel::IndexSetOp>(op.getIndexSet());
  const bool isByInput = indexSet.getKind() == kernel::IndexSetKind::ByInput;
  const std::string order = isByInput ? program_.nameOf(indexSet) : program_.timeSteps(indexSet);
  return call((isStage() ? "plan." : "") + order + ".row_at", {use(op.getPosition()).text});
}

/// What only the host knows: rows of index sets and instances of cells.
std::optional<Expr> CpuFunctionEmitter::hostExpression(Operation *op) {
  if (auto count = dyn_cast<kernel::CountOp>(op))
    return Expr{program_.rows(program_.find<kernel::IndexSetOp>(count.getIndexSet()))};
  if (auto row = dyn_cast<kernel::RowOfOp>(op)) {
    auto indexSet = program_.find<kernel::IndexSetOp>(row.getIndexSet());
    return Expr{program_.nameOf(program_.groupOf(indexSet)) + ".cell(" + std::to_string(*indexSet.getCell()) +
                ").row_of[" + use(row.getSlot()).text + "]"};
  }
  if (auto calledBy = dyn_cast<kernel::CalledByOp>(op)) {
    auto relation = program_.find<kernel::RelationOp>(calledBy.getRelation());
    return call(program_.nameOf(program_.find<kernel::GroupOp>(relation.getGroup())) + ".called_by",
                {std::to_string(relation.getCell()), use(calledBy.getSlot()).text,
                 std::to_string(program_.relationNumber(relation))});
  }
  if (auto caller = dyn_cast<kernel::CallerOp>(op)) {
    auto relation = program_.find<kernel::RelationOp>(caller.getRelation());
    return call(
        program_.nameOf(program_.find<kernel::GroupOp>(relation.getGroup())) + ".caller",
        {std::to_string(relation.getCell()), use(caller.getSlot()).text, std::to_string(caller.getNumber())});
  }
  if (auto called = dyn_cast<kernel::CalledOp>(op)) {
    std::string keys;
    for (Value key : called.getKeys())
      keys += (keys.empty() ? "" : ", ") + use(key).text;
    return call(program_.nameOf(program_.find<kernel::GroupOp>(called.getGroup())) + ".called",
                {std::to_string(called.getCell()), "{" + keys + "}"});
  }
  if (auto window = dyn_cast<kernel::WindowOp>(op))
    return call(
        "plan." +
            program_.window(window.getIndexSet(), window.getLive(), op->getParentOfType<kernel::FuncOp>())
                .name +
            ".first",
        {std::to_string(window.getAgo())});
  return std::nullopt;
}

void CpuFunctionEmitter::emitBlocks(kernel::BlocksOp op) {
  std::string begin = use(op.getBegin()).text, end = inside(use(op.getEnd()), Bind::Add);
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  std::string first = nameValue(op.getBody().getArgument(0), "first");
  std::string count = nameValue(op.getBody().getArgument(1), "count");
  std::string size = std::to_string(op.getSize());
  std::string block = scope_->fresh("block");
  out_->line("const int32_t " + block + " = dbc::even_block(" + end + " - " + begin + ", " + size + ");");
  body("for (int32_t " + first + " = " + begin + "; " + first + " < " + end + "; " + first + " += " + block +
           ")",
       [&] {
         out_->line("const int32_t " + count + " = std::min(" + block + ", " + end + " - " + first + ");");
         emitBlock(op.getBody().front(), [](ValueRange) {});
       });
  scope_ = outer;
}

} // namespace dbc::codegen
