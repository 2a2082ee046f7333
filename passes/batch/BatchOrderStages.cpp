// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-order-stages: callees before callers, writers before readers, the stages of a loop side by side.
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/DebugLog.h"
#include <set>

#define DEBUG_TYPE "batch-order-stages"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHORDERSTAGES
#include "passes/Passes.h.inc"

namespace {

using Key = std::pair<StringRef, int64_t>; ///< carrier and run of a loop

struct Order {
  explicit Order(kernel::ProgramOp program) : graph(program) {
    for (batch::StageOp stage : graph.stages) {
      auto &around = loops.emplace_back();
      if (ArrayAttr attr = stage.getLoopsAttr())
        for (auto loop : attr.getAsRange<batch::LoopAttr>())
          around.push_back({loop.getCarrier().getValue(), loop.getRun()});
    }
  }

  /// Appends the stages of `subset`, which share `depth` loops, in order.
  void sort(ArrayRef<unsigned> subset, unsigned depth, SmallVectorImpl<unsigned> &result) {
    // A unit is one stage, or all stages of one loop at this depth.
    SmallVector<SmallVector<unsigned>> units;
    llvm::MapVector<Key, unsigned> unitOfLoop;
    DenseMap<unsigned, unsigned> unitOf;
    for (unsigned n : subset) {
      unsigned unit = units.size();
      if (loops[n].size() > depth)
        unit = unitOfLoop.try_emplace(loops[n][depth], unit).first->second;
      if (unit == units.size())
        units.emplace_back();
      units[unit].push_back(n);
      unitOf[n] = unit;
    }
    SmallVector<std::set<unsigned>> readers(units.size());
    SmallVector<unsigned> waits(units.size());
    for (unsigned n : subset)
      for (const StageGraph::Edge &e : graph.into[n]) {
        auto from = unitOf.find(e.from);
        if (from == unitOf.end() || from->second == unitOf[n] || carriedAround(e, depth))
          continue;
        if (readers[from->second].insert(unitOf[n]).second)
          ++waits[unitOf[n]];
      }
    // Of the units that may come next: one of the loop that has just run, else the first in the source.
    auto carrier = [&](unsigned u) {
      return loops[units[u][0]].size() > depth ? loops[units[u][0]][depth].first : StringRef();
    };
    std::set<unsigned> ready;
    llvm::StringMap<std::set<unsigned>> readyOf; // the same, by carrier
    auto enter = [&](unsigned u) {
      ready.insert(u);
      readyOf[carrier(u)].insert(u);
    };
    for (unsigned u = 0; u < units.size(); ++u)
      if (!waits[u])
        enter(u);
    StringRef last;
    while (!ready.empty()) {
      unsigned next = last.empty() || readyOf[last].empty() ? *ready.begin() : *readyOf[last].begin();
      last = carrier(next);
      ready.erase(next);
      readyOf[last].erase(next);
      if (units[next].size() == 1 && loops[units[next][0]].size() <= depth)
        result.push_back(units[next][0]);
      else
        sort(units[next], depth + 1, result);
      for (unsigned u : readers[next])
        if (--waits[u] == 0)
          enter(u);
    }
  }

  /// Whether the edge is carried by a loop that both ends are in.
  bool carriedAround(const StageGraph::Edge &e, unsigned depth) {
    for (unsigned d = 0; d < depth; ++d)
      if (loops[e.from][d].first == e.carried)
        return true;
    return false;
  }

  StageGraph graph;
  SmallVector<SmallVector<Key>> loops;
};

struct BatchOrderStagesPass : impl::BatchOrderStagesBase<BatchOrderStagesPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      Order order(program);
      SmallVector<unsigned> all, sorted;
      for (unsigned n = 0; n < order.graph.stages.size(); ++n)
        all.push_back(n);
      order.sort(all, 0, sorted);
      if (sorted.size() != all.size()) { // wrong numbers would follow, in a build without assertions too
        program.emitOpError("has a cycle of stages that no loop carries");
        return signalPassFailure();
      }
      Block &body = program.getBody().front();
      for (auto [position, n] : llvm::enumerate(sorted)) {
        batch::StageOp stage = order.graph.stages[n];
        stage->moveBefore(&body, body.end());
        if (n == position)
          continue;
        LDBG() << "@" << stage.getName() << " goes from position " << n << " to " << position;
        ++movedStages;
      }
    }
  }
};
} // namespace
} // namespace dbc::passes
