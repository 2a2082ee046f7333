// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-partition: which loops each stage runs in. What needs no result of a recursion runs before it, what
// the recursion does not need runs after it, the rest by level or step (manual, B2).
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-partition"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHPARTITION
#include "passes/Passes.h.inc"

namespace {

/// One loop around a stage: the group or scan that carries it, and a number that tells two runs of one
/// carrier apart.
struct Loop {
  StringRef carrier;
  unsigned run;
};

struct Partition {
  explicit Partition(kernel::ProgramOp program)
      : names(program), context(program.getContext()), graph(program), loops(graph.stages.size()) {}

  void run() {
    SmallVector<unsigned> all;
    for (unsigned n = 0; n < graph.stages.size(); ++n)
      all.push_back(n);
    search(all, {});
    OpBuilder b(context);
    for (auto [stage, around] : llvm::zip(graph.stages, loops)) {
      SmallVector<Attribute> attrs;
      for (Loop loop : around)
        attrs.push_back(
            batch::LoopAttr::get(context, FlatSymbolRefAttr::get(context, loop.carrier), loop.run));
      stage.setLoopsAttr(b.getArrayAttr(attrs));
    }
  }

  /// Finds the loops among `subset`, whose edges carried by `outer` loops do not count any more.
  void search(ArrayRef<unsigned> subset, SmallVector<StringRef> outer) {
    auto follow = [&](const StageGraph::Edge &e) { return !llvm::is_contained(outer, e.carried); };
    for (auto &component : graph.components(subset, follow)) {
      StringRef carrier = carrierOf(component, outer);
      if (carrier.empty())
        continue;
      LDBG() << "@" << carrier << " carries a loop of " << component.size() << " stages, inside of "
             << outer.size() << " others";
      unsigned run = runs++;
      for (unsigned n : component)
        loops[n].push_back({carrier, run});
      SmallVector<StringRef> inside = outer;
      inside.push_back(carrier);
      search(component, inside);
    }
  }

  /// The outermost loop that closes cycles in a component: a recursion group, else the outermost scan. Empty
  /// if there is no cycle.
  StringRef carrierOf(ArrayRef<unsigned> component, ArrayRef<StringRef> outer) {
    llvm::SetVector<StringRef> carriers;
    llvm::DenseSet<unsigned> inside(component.begin(), component.end());
    for (unsigned n : component)
      for (const StageGraph::Edge &e : graph.into[n])
        if (!e.carried.empty() && inside.contains(e.from) && !llvm::is_contained(outer, e.carried))
          carriers.insert(e.carried);
    StringRef best;
    unsigned bestDepth = ~0u;
    for (StringRef carrier : carriers) {
      unsigned depth = 0; // a group stands outside every scan
      if (auto indexSet = names.lookup<kernel::IndexSetOp>(carrier))
        for (; indexSet; indexSet = kernel::parentOf(indexSet, names))
          ++depth;
      if (depth < bestDepth) {
        best = carrier;
        bestDepth = depth;
      }
    }
    assert((component.size() == 1 || !best.empty()) && "only carried reads close cycles");
    return best;
  }

  SymbolTable names;
  MLIRContext *context;
  StageGraph graph;
  SmallVector<SmallVector<Loop>> loops; ///< of each stage, outermost first
  unsigned runs = 0;
};

struct BatchPartitionPass : impl::BatchPartitionBase<BatchPartitionPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      Partition partition(program);
      partition.run();
      foundLoops += partition.runs;
    }
  }
};
} // namespace
} // namespace dbc::passes
