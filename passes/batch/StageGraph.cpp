// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace dbc::passes {

StageAccess accessesOf(Operation *op) {
  StageAccess access;
  auto carried = [](FlatSymbolRefAttr attr) { return attr ? attr.getValue() : StringRef(); };
  op->walk([&](Operation *inner) {
    if (auto stage = dyn_cast<batch::StageOp>(inner); stage && stage.getWhen())
      access.reads.push_back({*stage.getWhen(), {}, true});
    auto touches = dyn_cast<batch::AccessOpInterface>(inner);
    if (!touches)
      return;
    if (touches.isWrite()) {
      access.writes.push_back(touches.getArray());
      if (isa<batch::WriteOp>(inner))
        access.ownWrites.push_back(touches.getArray());
    } else {
      access.reads.push_back(
          {touches.getArray(), carried(touches.getCarriedAttr()), touches.getRelations().empty()});
      if (auto segment = dyn_cast<batch::SegmentOp>(inner); segment && segment.getNumbers())
        access.reads.push_back({*segment.getNumbers(), {}, false});
    }
  });
  return access;
}

void AccessSet::add(const StageAccess &access) {
  for (const StageRead &read : access.reads)
    reads.insert(read.array);
  for (StringRef array : access.writes)
    writes.insert(array);
}

bool AccessSet::conflictsWith(const StageAccess &other) const {
  return llvm::any_of(other.reads, [&](const StageRead &read) { return writes.contains(read.array); }) ||
         llvm::any_of(other.writes,
                      [&](StringRef array) { return writes.contains(array) || reads.contains(array); });
}

llvm::StringMap<batch::WriteOp> soleWrites(kernel::ProgramOp program) {
  llvm::StringMap<batch::WriteOp> writes; // null where there is more
  program.walk([&](Operation *op) {
    if (auto write = dyn_cast<batch::WriteOp>(op)) {
      auto [known, isNew] = writes.try_emplace(write.getBuffer(), write);
      if (!isNew)
        known->second = {};
    } else if (batch::isWrite(op)) {
      writes[cast<batch::AccessOpInterface>(op).getArray()] = {};
    }
  });
  return writes;
}

StageGraph::StageGraph(kernel::ProgramOp program) {
  program.walk([&](batch::StageOp stage) { stages.push_back(stage); });
  llvm::StringMap<SmallVector<unsigned>> writers;
  SmallVector<StageAccess> accesses;
  for (auto [n, stage] : llvm::enumerate(stages)) {
    accesses.push_back(accessesOf(stage));
    for (StringRef array : accesses.back().writes)
      writers[array].push_back(n);
  }
  into.resize(stages.size());
  for (auto [n, access] : llvm::enumerate(accesses))
    for (const StageRead &read : access.reads)
      if (auto at = writers.find(read.array); at != writers.end())
        for (unsigned writer : at->second)
          into[n].push_back({writer, unsigned(n), read.carried});
}

/// Tarjan (1972), with an explicit stack: a program may have thousands of stages before they are fused.
SmallVector<SmallVector<unsigned>> StageGraph::components(ArrayRef<unsigned> subset,
                                                          function_ref<bool(const Edge &)> follow) const {
  struct Node {
    int index = -1, low = 0;
    bool open = false;
    SmallVector<unsigned> sources; ///< stages read from
  };
  llvm::DenseMap<unsigned, Node> nodes(subset.size()); // of the subset alone: there are many small ones
  for (unsigned n : subset)
    nodes[n];
  for (unsigned n : subset)
    for (const Edge &edge : into[n])
      if (nodes.count(edge.from) && follow(edge))
        nodes[n].sources.push_back(edge.from);
  SmallVector<SmallVector<unsigned>> result;
  SmallVector<unsigned> open;
  SmallVector<std::pair<unsigned, unsigned>> frames; ///< node, next source
  int counter = 0;
  for (unsigned start : subset) {
    if (nodes[start].index >= 0)
      continue;
    frames.push_back({start, 0});
    while (!frames.empty()) {
      auto &[n, next] = frames.back();
      Node &node = nodes[n];
      if (next == 0) {
        node.index = node.low = counter++;
        node.open = true;
        open.push_back(n);
      }
      if (next < node.sources.size()) {
        unsigned source = node.sources[next++];
        if (nodes[source].index < 0)
          frames.push_back({source, 0});
        else if (nodes[source].open)
          node.low = std::min(node.low, nodes[source].index);
        continue;
      }
      if (node.low == node.index) {
        SmallVector<unsigned> &component = result.emplace_back();
        while (true) {
          unsigned member = open.pop_back_val();
          nodes[member].open = false;
          component.push_back(member);
          if (member == n)
            break;
        }
        llvm::sort(component);
      }
      int low = node.low;
      frames.pop_back();
      if (!frames.empty())
        nodes[frames.back().first].low = std::min(nodes[frames.back().first].low, low);
    }
  }
  return result;
}

} // namespace dbc::passes
