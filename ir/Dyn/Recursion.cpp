// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "ir/Dyn/Recursion.h"
#include "llvm/ADT/BitVector.h"
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
    return isa<SameOp, NodesOp, ArgumentOp, CalledByOp, CallerOp, DropoutOp>(op) ||
           (call && (call.getRelation() || call.getEvery() || !call.getValues().empty()));
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

bool dropUnusedValues(ModuleOp module) {
  SymbolTable symbols(module);
  // A value is used if anything but a call has it, or a call that gives it as a value that is used.
  llvm::DenseMap<Value, SmallVector<BlockArgument>> passedFrom;
  SmallVector<BlockArgument> used;
  llvm::DenseSet<Value> known;
  auto use = [&](BlockArgument value) {
    if (known.insert(value).second)
      used.push_back(value);
  };
  SmallVector<CellOp> cells(module.getOps<CellOp>());
  for (CellOp cell : cells) {
    for (Region &range : cell.getRanges())
      for (auto [value, inRange] :
           llvm::zip_equal(cell.getValues(), range.getArguments().take_back(cell.getValues().size())))
        if (!inRange.use_empty())
          use(value);
    for (BlockArgument value : cell.getValues())
      for (OpOperand &operand : value.getUses()) {
        auto call = dyn_cast<CallOp>(operand.getOwner());
        OperandRange captured = call ? call.getValues() : OperandRange(nullptr, 0);
        unsigned first = captured.empty() ? 0 : captured.getBeginOperandIndex(),
                 at = operand.getOperandNumber();
        if (captured.empty() || at < first || at >= first + captured.size())
          use(value);
        else
          passedFrom[symbols.lookup<CellOp>(call.getCallee()).getValues()[at - first]].push_back(value);
      }
  }
  while (!used.empty())
    for (BlockArgument from : passedFrom.lookup(used.pop_back_val()))
      use(from);

  llvm::MapVector<Operation *, BitVector> unused; // of each cell that has any: which of its values
  for (CellOp cell : cells) {
    BitVector which(cell.getValues().size());
    for (auto [i, value] : llvm::enumerate(cell.getValues()))
      which[i] = !known.contains(value);
    if (which.any())
      unused[cell] = which;
  }
  if (unused.empty())
    return false;
  module.walk([&](CallOp call) {
    auto which = unused.find(symbols.lookup<CellOp>(call.getCallee()));
    if (which == unused.end())
      return;
    for (int i = which->second.size() - 1; i >= 0; --i)
      if (which->second[i])
        call.getValuesMutable().erase(i);
  });
  for (auto &[op, which] : unused) {
    auto cell = cast<CellOp>(op);
    unsigned keys = cell.getKeys().size(), left = which.size() - which.count();
    auto erase = [&](Region &region, unsigned first) {
      for (int i = which.size() - 1; i >= 0; --i)
        if (which[i])
          region.eraseArgument(first + i);
    };
    for (Region &range : cell.getRanges())
      erase(range, range.getNumArguments() - which.size());
    erase(cell.getBody(), keys);
    if (left)
      cell.setValueCount(left);
    else
      cell.removeValueCountAttr();
  }
  return true;
}

CapturedValues::CapturedValues(ArrayRef<CellOp> recursion) {
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
      for (auto [value, captured] : llvm::zip(callee.getValues(), call.getValues())) {
        if (auto own = numbers_.find(captured); own != numbers_.end())
          same_[find(own->second)] = find(numbers_[value]);
        else
          changed.push_back(numbers_[value]);
      }
    });
  changed_.assign(same_.size(), false);
  for (unsigned value : changed)
    changed_[find(value)] = true;
  // Where two of one cell are passed as each other they change places: neither is invariant.
  for (CellOp cell : recursion) {
    llvm::DenseSet<unsigned> roots;
    for (BlockArgument value : cell.getValues())
      if (unsigned root = find(numbers_[value]); !roots.insert(root).second)
        changed_[root] = true;
  }
}

unsigned CapturedValues::find(unsigned n) const {
  while (same_[n] != n)
    n = same_[n];
  return n;
}

bool CapturedValues::changes(BlockArgument value) const { return changed_[find(numbers_.lookup(value))]; }

bool CapturedValues::changes(CellOp cell) const {
  return llvm::any_of(cell.getValues(), [&](BlockArgument value) { return changes(value); });
}

BlockArgument CapturedValues::sameIn(CellOp cell, BlockArgument value) const {
  for (BlockArgument each : cell.getValues())
    if (find(numbers_.lookup(each)) == find(numbers_.lookup(value)))
      return each;
  return {};
}

} // namespace dbc::dyn
