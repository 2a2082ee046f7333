// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Expansion.h"

#include "frontend/check/Components.h"

namespace dbc::frontend {

static constexpr uint64_t kMostExpressions = 131072; ///< that fns add to a model
static constexpr unsigned kDeepest = 2500;           ///< expressions inside one another, fns put in

static uint64_t plus(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }
static uint64_t times(uint64_t a, uint64_t b) { return b && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

Expansion::Expanded Expansion::expand(const FuncInfo *func) {
  BodySize size = graph_.sizeOf(func);
  Expanded result{size.met - size.written, size.depth, nullptr};
  uint64_t most = 0;
  auto calls = graph_.calls().find(func);
  if (calls == graph_.calls().end())
    return result;
  for (const CallSite &site : calls->second) {
    if (site.callee->decl->funcKind != FuncDecl::FuncKind::Fn)
      continue;
    const Expanded &callee = expanded_[site.callee];
    uint64_t adds = times(site.times, plus(callee.added, graph_.sizeOf(site.callee).written));
    result.added = plus(result.added, adds);
    result.depth = std::max(result.depth, site.depth + callee.depth);
    if (adds > most)
      result.largest = &site;
    most = std::max(most, adds);
  }
  return result;
}

/// Fns are put in where they are called, so what calls two fns that call two fns .. grows by doubling; so
/// does a `while` in a `while`, which is put in twice.
void Expansion::check() {
  Graph<const FuncInfo> graph;
  for (const FuncInfo &func : out_.funcInfos)
    graph.node(&func);
  for (const auto &[caller, sites] : graph_.calls())
    for (const CallSite &site : sites)
      graph.edge(caller, site.callee);
  uint64_t total = 0;
  for (const auto &component : graph.components()) // callees first; circles are of cells
    for (const FuncInfo *func : component) {
      const Expanded &mine = expanded_[func] = expand(func);
      if (func->decl->funcKind != FuncDecl::FuncKind::Fn)
        total = plus(total, mine.added);
      std::string name = "`" + func->name + "`", problem;
      if (mine.depth > kDeepest)
        problem =
            "in " + name + " more than " + std::to_string(kDeepest) + " expressions lie inside one another";
      else if (mine.added > kMostExpressions)
        problem = name + " becomes more than " + std::to_string(kMostExpressions) + " expressions";
      else if (total > kMostExpressions)
        problem = "with " + name + " the model becomes more than " + std::to_string(kMostExpressions) +
                  " expressions";
      if (!problem.empty())
        return report(*func, problem);
    }
}

void Expansion::report(const FuncInfo &func, const std::string &problem) {
  const CallSite *largest = expanded_[&func].largest;
  Diagnostic &diagnostic = error(
      func.decl->name.range,
      problem + (largest ? ": a fn is put in where it is called" : ": what a `while` asks is put in twice"),
      largest ? "C1" : "S4");
  if (largest)
    diagnostic.note(largest->range, "most of it is `" + largest->callee->name + "`")
        .hint("call the fn once and use its value, or make it a `cell`");
  else
    diagnostic.hint("keep in the state what the inner `while` finds out");
}

} // namespace dbc::frontend
