// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/StageReport.h"
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Recursion.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/dyn/Repeats.h"

using namespace mlir;

namespace dbc::driver {

/// What kind of work it is, in the source's words.
static std::string nameOf(Operation *work) {
  if (auto product = dyn_cast<linalg::ContractOp>(work))
    return "product " + shapesOf(product);
  auto kind = [](StringRef name) { return "`" + name.str() + "`"; };
  if (auto reduce = dyn_cast<dyn::ReduceOp>(work))
    return kind(dyn::stringifyReduceKind(reduce.getKind()));
  if (auto reduce = dyn_cast<dyn::ReduceListOp>(work))
    return kind(dyn::stringifyReduceKind(reduce.getKind()));
  if (auto function = dyn_cast<dyn::FunctionOp>(work))
    return kind(dyn::stringifyFunctionKind(function.getKind()));
  return kind(work->getName().stripDialect());
}

static std::string variablesOf(Operation *binder) {
  std::string names;
  for (BlockArgument argument : binder->getRegion(0).getArguments())
    if (std::string name = dyn::sourceName(argument.getLoc()); !name.empty())
      names += (names.empty() ? "`" : ", `") + name + "`";
  return names.empty() ? "element" : names;
}

static std::string why(const passes::Repeat &repeat) {
  using Why = passes::Repeat::Why;
  const std::string location = dyn::sourceLocation(repeat.cause->getLoc());
  switch (repeat.why) {
  case Why::Arm:
    return "what the arms at " + location + " compute stays in them";
  case Why::List:
    return "the list at " + location + " depends on " + variablesOf(repeat.binder);
  case Why::Nodes:
    return "a node may be in several of the lists at " + location;
  case Why::Fails:
    return "it may fail an input, and elements are left out at " + location;
  case Why::While:
    return "a `while` may leave out steps at " + location;
  case Why::Ended:
    return "a `while` says how long its list is";
  }
  llvm_unreachable("all reasons are named");
}

static std::string mendOf(const passes::Repeat &repeat) {
  using Why = passes::Repeat::Why;
  switch (repeat.why) {
  case Why::Arm:
    return "a `let` in front of the `if` or `match`, if it may be computed where that takes another arm, too";
  case Why::List:
    return "a list that does not depend on " + variablesOf(repeat.binder) +
           ", with a filter or slice that does";
  case Why::Nodes:
    return "a cell of the node that is called here: it is computed once for each node, in however many lists "
           "that is";
  case Why::Fails:
    return "a `let` in front of the binder, if it may fail the input where no element asks for it, too";
  case Why::While:
    return "a `let` in front of the `while`, over a list that no `while` shortens";
  case Why::Ended:
    return "a list whose length no `while` decides";
  }
  llvm_unreachable("all reasons are named");
}

std::vector<RepeatReport> reportRepeats(ModuleOp dyn, const ProgramReport &program) {
  SymbolTable symbols(dyn);
  Operation *root = symbols.lookup(program.entry);
  std::vector<Operation *> functions;
  for (const auto &group :
       dyn::recursions(root, [&](StringAttr name) { return symbols.lookup<dyn::CellOp>(name); }))
    functions.insert(functions.end(), group.begin(), group.end());
  functions.push_back(root);
  std::vector<RepeatReport> reports;
  for (Operation *function : functions)
    for (const passes::Repeat &repeat : passes::findRepeats(function))
      if (const std::string at = dyn::sourceLocation(repeat.work->getLoc()); !program.inTables.contains(at))
        reports.push_back({nameOf(repeat.work), at, variablesOf(repeat.binder),
                           dyn::sourceLocation(repeat.binder->getLoc()), why(repeat), mendOf(repeat)});
  return reports;
}

} // namespace dbc::driver
