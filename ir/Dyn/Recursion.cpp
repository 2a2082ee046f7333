// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "ir/Dyn/Recursion.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dbc::dyn {

/// Tarjan (1972). Source nesting bounds the number of cells, so plain recursion is fine.
std::vector<std::vector<CellOp>> recursions(Operation *root, function_ref<CellOp(StringAttr)> cellOf) {
  struct State {
    int index = -1, low = -1;
    bool open = false;
  };
  std::vector<std::vector<CellOp>> result;
  llvm::MapVector<StringAttr, State> states;
  SmallVector<StringAttr> stack;
  int counter = 0;
  auto callees = [&](Operation *op) {
    llvm::SetVector<StringAttr> names;
    op->walk([&](CallOp call) { names.insert(call.getCalleeAttr().getAttr()); });
    return names;
  };
  std::function<void(StringAttr)> visit = [&](StringAttr name) {
    State &mine = states[name];
    mine.index = mine.low = counter++;
    mine.open = true;
    stack.push_back(name);
    for (StringAttr callee : callees(cellOf(name))) {
      if (!states.count(callee))
        visit(callee);
      if (states[callee].open)
        states[name].low = std::min(states[name].low, states[callee].low);
    }
    if (states[name].low != states[name].index)
      return;
    auto &group = result.emplace_back();
    while (true) {
      StringAttr member = stack.pop_back_val();
      states[member].open = false;
      group.push_back(cellOf(member));
      if (member == name)
        break;
    }
    std::reverse(group.begin(), group.end());
  };
  for (StringAttr callee : callees(root))
    if (!states.count(callee))
      visit(callee);
  return result;
}

bool isOfFields(ArrayRef<CellOp> recursion, function_ref<CellOp(StringAttr)> cellOf) {
  auto knowsMore = [](Operation *op) {
    auto call = dyn_cast<CallOp>(op);
    return isa<SameOp, NodesOp, ArgumentOp, SiteOp, CallerOp>(op) ||
           (call && (call.getSite() || call.getEvery() || !call.getValues().empty()));
  };
  auto ofFields = [&](CellOp cell) {
    ValueRange keys = cell.getKeys();
    if (keys.empty() || !isa<NodeType>(keys[0].getType()) || !cell.getValues().empty())
      return false;
    bool more = false;
    cell->walk([&](Operation *op) { more |= knowsMore(op); });
    return !more;
  };
  CellOp first = recursion[0]; // reaches all the others
  return llvm::all_of(recursion, ofFields) && llvm::all_of(recursions(first, cellOf), [&](auto &needed) {
           return llvm::all_of(needed, ofFields);
         });
}

GivenValues::GivenValues(ArrayRef<CellOp> recursion) {
  llvm::StringMap<CellOp> cells;
  for (CellOp cell : recursion) {
    cells[cell.getSymName()] = cell;
    for (BlockArgument value : cell.getValues()) {
      numbers_[value] = same_.size();
      same_.push_back(same_.size());
    }
  }
  SmallVector<unsigned> changed;
  for (CellOp cell : recursion)
    cell.walk([&](CallOp call) {
      CellOp callee = cells.lookup(call.getCallee());
      if (!callee)
        return;
      for (auto [value, given] : llvm::zip(callee.getValues(), call.getValues())) {
        if (auto own = numbers_.find(given); own != numbers_.end())
          same_[find(own->second)] = find(numbers_[value]);
        else
          changed.push_back(numbers_[value]);
      }
    });
  changed_.assign(same_.size(), false);
  for (unsigned value : changed)
    changed_[find(value)] = true;
  // Two values of one cell that are handed on as each other take turns.
  for (CellOp cell : recursion) {
    llvm::DenseSet<unsigned> roots;
    for (BlockArgument value : cell.getValues())
      if (unsigned root = find(numbers_[value]); !roots.insert(root).second)
        changed_[root] = true;
  }
}

unsigned GivenValues::find(unsigned n) const {
  while (same_[n] != n)
    n = same_[n];
  return n;
}

bool GivenValues::changes(BlockArgument value) const { return changed_[find(numbers_.lookup(value))]; }

bool GivenValues::changes(CellOp cell) const {
  return llvm::any_of(cell.getValues(), [&](BlockArgument value) { return changes(value); });
}

BlockArgument GivenValues::sameIn(CellOp cell, BlockArgument value) const {
  for (BlockArgument each : cell.getValues())
    if (find(numbers_.lookup(each)) == find(numbers_.lookup(value)))
      return each;
  return {};
}

} // namespace dbc::dyn
