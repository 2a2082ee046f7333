// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CellCalls.h"

#include "frontend/check/Components.h"
#include "frontend/check/InvariantParameters.h"

namespace dbc::frontend {

void CellCalls::add(const FuncInfo &caller, const FuncInfo &callee, const CallExpr &expr,
                    const std::vector<AbstractValue> &args) {
  CapturingCall &call = capturingCalls_.emplace_back();
  call.caller = &caller;
  call.callee = &callee;
  for (size_t i = 0; i < args.size(); ++i) {
    call.values.push_back(args[i].ownValue);
    call.ranges.push_back(expr.args[i]->range);
  }
}

void CellCalls::remarkOwnCycles() {
  Graph<const FuncInfo> graph;
  for (auto &[cell, calls] : ownCalls_)
    for (const OwnCall &call : calls)
      graph.edge(cell, call.callee);
  std::map<const FuncInfo *, size_t> circleOf = graph.circleNumbers();
  std::set<size_t> reported; // a circle is one remark
  for (auto &[cell, calls] : ownCalls_)
    for (const OwnCall &call : calls) {
      auto from = circleOf.find(cell), to = circleOf.find(call.callee);
      bool back = from != circleOf.end() && to != circleOf.end() && from->second == to->second;
      if (!back || call.callee == cell) // of itself: an error already
        continue;
      if (!reported.insert(from->second).second)
        break;
      reporter_.shown().remark(call.range,
                               "cell `" + cell->name + "` may need itself by way of `" + call.callee->name +
                                   "`, which is given the same " +
                                   (cell->arguments.size() == 1 ? "node" : "keys") +
                                   "; tested for each batch",
                               "C3");
    }
}

void CellCalls::reportChangingLists(const Descent &descent) {
  InvariantParameters invariants;
  std::map<const Binding *, unsigned> numbers;
  std::set<const FuncInfo *> callees;
  for (const CapturingCall &call : capturingCalls_) {
    if (!callees.insert(call.callee).second)
      continue;
    for (const Binding *parameter : call.callee->arguments)
      if (!parameter->type->isKey())
        numbers[parameter] = invariants.add(callees.size());
  }
  auto isInside = [&](const CapturingCall &call) { return descent.inOneRecursion(call.caller, call.callee); };
  for (const CapturingCall &call : capturingCalls_)
    for (size_t i = 0; isInside(call) && i < call.values.size(); ++i) {
      const Binding *parameter = call.callee->arguments[i];
      if (parameter->type->isKey())
        continue;
      if (call.values[i])
        invariants.pass(numbers[call.values[i]], numbers[parameter]);
      else
        invariants.change(numbers[parameter]);
    }
  invariants.finish();
  std::set<std::pair<uint32_t, uint32_t>> reported; // a call may be met by several ways
  for (const CapturingCall &call : capturingCalls_)
    for (size_t i = 0; isInside(call) && i < call.values.size(); ++i) {
      const Binding *parameter = call.callee->arguments[i];
      SourceRange range = call.ranges[i];
      if (!parameter->type->isKey() && holdsList(parameter->type) && invariants.changes(numbers[parameter]) &&
          reported.insert({range.file, range.begin}).second)
        error(range,
              "the value `" + parameter->name + "` of cell `" + call.callee->name +
                  "` holds a list and changes along the recursion",
              "C6")
            .note(parameter->range, "`" + parameter->name + "` is `" + parameter->type->str() + "`")
            .hint("hand the list on as it is, and an int key that says where in it");
    }
}

} // namespace dbc::frontend
