// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CallGraph.h"

#include "frontend/check/Components.h"

namespace dbc::frontend {

void CallGraph::enterExpression() {
  ++depth_;
  if (!scopes_.function() || reporter_.isTrying())
    return;
  BodySize &size = sizes_[scopes_.function()];
  ++size.written;
  size.met = size.met + times_ < size.met ? UINT64_MAX : size.met + times_;
  size.depth = std::max(size.depth, depth_);
}

void CallGraph::twice(const std::function<void()> &f) {
  uint64_t once = times_;
  times_ = times_ > UINT64_MAX / 2 ? UINT64_MAX : 2 * times_;
  f();
  times_ = once;
}

void CallGraph::add(const FuncInfo &callee, SourceRange range) {
  if (scopes_.function() && !reporter_.isTrying())
    calls_[scopes_.function()].push_back({&callee, range, times_, depth_});
}

BodySize CallGraph::sizeOf(const FuncInfo *func) const {
  auto at = sizes_.find(func);
  return at == sizes_.end() ? BodySize() : at->second;
}

/// Depth-first search for a chain of calls from `from` to `goal` through functions that `through` admits.
static bool findChain(const FuncInfo *from, const FuncInfo *goal, const CallGraph::Calls &calls,
                      const std::function<bool(const FuncInfo *)> &through, std::set<const FuncInfo *> &seen,
                      std::vector<CallSite> &chain) {
  auto at = calls.find(from);
  if (at == calls.end())
    return false;
  for (const CallSite &call : at->second) {
    if (!through(call.callee))
      continue;
    chain.push_back(call);
    if (call.callee == goal)
      return true;
    if (seen.insert(call.callee).second && findChain(call.callee, goal, calls, through, seen, chain))
      return true;
    chain.pop_back();
  }
  return false;
}

bool CallGraph::checkFns() {
  auto isFn = [](const FuncInfo *func) { return func->decl->funcKind == FuncDecl::FuncKind::Fn; };
  Graph<const FuncInfo> graph;
  for (const auto &[caller, sites] : calls_)
    for (const CallSite &site : sites)
      if (isFn(caller) && isFn(site.callee))
        graph.edge(caller, site.callee);
  std::map<const FuncInfo *, size_t> circleOf = graph.circleNumbers();
  std::set<const FuncInfo *> reported;
  for (const FuncInfo &func : out_.funcInfos) {
    auto circle = circleOf.find(&func);
    if (circle == circleOf.end() || reported.count(&func))
      continue;
    auto isInside = [&](const FuncInfo *other) {
      auto at = circleOf.find(other);
      return at != circleOf.end() && at->second == circle->second;
    };
    std::set<const FuncInfo *> seen;
    std::vector<CallSite> chain;
    findChain(&func, &func, calls_, isInside, seen, chain);
    std::string message = "fn `" + func.name + "` calls itself";
    if (chain.size() > 1) {
      message = "fn `" + func.name + "` calls itself by way of ";
      for (size_t i = 0; i + 1 < chain.size(); ++i)
        message += (i ? ", `" : "`") + chain[i].callee->name + "`";
    }
    Diagnostic &diagnostic =
        error(func.decl->name.range, message + "; a fn is an abbreviation, only cells are recursive", "C1");
    for (const CallSite &call : chain) {
      reported.insert(call.callee);
      diagnostic.note(call.range, "`" + call.callee->name + "` is called here");
    }
    diagnostic.hint("make it a `cell`");
  }
  return circleOf.empty();
}

void CallGraph::checkCells() {
  Graph<const FuncInfo> graph;
  for (const auto &[caller, sites] : calls_)
    for (const CallSite &site : sites)
      graph.edge(caller, site.callee);
  for (const auto &[cell, circle] : graph.circleNumbers())
    if (cell->decl->funcKind == FuncDecl::FuncKind::Cell && holdsList(cell->result))
      error(cell->decl->result->range,
            "cell `" + cell->name + "` is recursive and gives " + quote(cell->result) +
                "; results of recursive cells hold no lists",
            "C6");
}

} // namespace dbc::frontend
