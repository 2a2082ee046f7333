// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "passes/dyn/InnerBinders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/dyn/Varying.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dbc::passes {

namespace {

/// Whether a value can be an element of a list for an inner binder: numbers that are computed, and lists of
/// them whose length is structure.
bool canBeElement(Value value) {
  Type type = value.getType();
  if (isa<dyn::ListType>(type) && dyn::isEnded(value))
    return false;
  while (auto list = dyn_cast<dyn::ListType>(type))
    type = list.getElement();
  return dyn::isNumber(type) && !dyn::isStructural(value);
}

/// Whether two paths choose the elements at the same positions.
bool chooseAlike(const Path &some, const Path &others) {
  return llvm::equal(some, others, [](Operation *a, Operation *b) {
    auto slice = dyn_cast<dyn::SliceOp>(a), other = dyn_cast<dyn::SliceOp>(b);
    return a == b || (isa<dyn::ReverseOp>(a) && isa<dyn::ReverseOp>(b)) ||
           (slice && other && slice.getLow() == other.getLow() && slice.getHigh() == other.getHigh());
  });
}

/// The body of an inner binder.
class InnerBody {
public:
  InnerBody(Operation *inner, Operation *outer, Varying &varying, SmallVectorImpl<Operation *> &dead)
      : inner(inner), outer(outer), varying(varying), dead(dead), body(inner->getRegion(0).front()) {}

  /// Gives how many maps it made.
  unsigned split() {
    unsigned maps = 0;
    for (Value list : dyn::listsOf(inner)) {
      std::optional<Source> source = sourceOf(list, varying);
      bool late = source && !source->path.empty() && isInside(source->list); // perhaps behind what chooses
      sources.push_back(late ? std::nullopt : source);
    }
    // Elements that are chosen in the same way are there together.
    SmallVector<bool> done(sources.size(), false);
    for (unsigned n = 0; n < sources.size(); ++n) {
      SmallVector<unsigned> group;
      for (unsigned m = n; m < sources.size(); ++m)
        if (sources[n] && sources[m] && !done[m] && chooseAlike(sources[m]->path, sources[n]->path)) {
          group.push_back(m);
          done[m] = true;
        }
      if (!group.empty())
        maps += splitGroup(group);
    }
    return maps;
  }

private:
  Operation *inner, *outer;
  Varying &varying;
  SmallVectorImpl<Operation *> &dead;
  Block &body;
  SmallVector<std::optional<Source>> sources; ///< of the lists
  llvm::SetVector<Operation *> early;         ///< what uses a group's elements and nothing that varies
  llvm::SetVector<Operation *> moved;         ///< of these, what repays

  bool isInside(Value value) const { return outer->isAncestor(value.getParentRegion()->getParentOp()); }

  /// Whether it made a map.
  bool splitGroup(ArrayRef<unsigned> numbers) {
    findEarly(numbers);
    findMoved();
    llvm::SetVector<Value> handed;
    for (Operation *op : moved)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(),
                         [&](Operation *user) { return !moved.contains(body.findAncestorOpInBlock(*user)); }))
          handed.insert(result);
    if (handed.empty())
      return false;
    SmallVector<Value> lists = mapOf(numbers, handed.getArrayRef());
    const Path path = sources[numbers[0]]->path; // a filter in it is replaced by another one
    for (Operation *op : llvm::reverse(path))
      choose(op, lists);
    for (auto [value, list] : llvm::zip(handed.takeVector(), lists)) {
      BlockArgument argument = dyn::addList(inner, list);
      argument.setLoc(value.getLoc());
      value.replaceAllUsesWith(argument);
    }
    dead.append(early.begin(), early.end());
    return true;
  }

  /// What may fail is computed for chosen elements only.
  void findEarly(ArrayRef<unsigned> numbers) {
    early.clear();
    bool chosen = !sources[numbers[0]]->path.empty();
    for (Operation &op : body) {
      if (!isPlain(&op) || (chosen && dyn::mayFailButForFields(&op)))
        continue;
      bool late = dyn::anyInside(&op, [&](Operation *nested) {
        return llvm::any_of(nested->getOperands(), [&](Value v) { return isLate(v, &op, numbers, chosen); });
      });
      if (!late)
        early.insert(&op);
    }
  }

  bool isLate(Value value, Operation *user, ArrayRef<unsigned> numbers, bool chosen) {
    Operation *around = value.getParentRegion()->getParentOp();
    if (user->isAncestor(around))
      return false;
    if (around != inner)
      return varying.has(value) || (chosen && isInside(value)); // perhaps behind what chooses
    if (auto argument = dyn_cast<BlockArgument>(value))
      return !llvm::is_contained(numbers, argument.getArgNumber());
    return !early.contains(value.getDefiningOp());
  }

  /// Work, and what is made of it, unless that has more elements.
  void findMoved() {
    moved.clear();
    for (Operation *op : early)
      if (llvm::all_of(op->getResults(), canBeElement) && (isWork(op) || isMadeOfMoved(op)))
        moved.insert(op);
  }

  bool isMadeOfMoved(Operation *op) {
    int64_t before = 0, after = 0;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (moved.contains(operand.getDefiningOp()))
          before = std::max<int64_t>({before, elementsIn(operand.getType()), 1});
    });
    for (Type type : op->getResultTypes())
      after += elementsIn(type);
    return before && after <= before;
  }

  void need(Operation *op, llvm::SetVector<Operation *> &needed) {
    if (!op || !early.contains(op) || !needed.insert(op))
      return;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        need(operand.getDefiningOp(), needed);
    });
  }

  /// The lists of `handed`, by a map over the sources of a group.
  SmallVector<Value> mapOf(ArrayRef<unsigned> numbers, ArrayRef<Value> handed) {
    llvm::SetVector<Operation *> needed;
    for (Value value : handed)
      need(value.getDefiningOp(), needed);
    const Path &path = sources[numbers[0]]->path;
    OpBuilder b(path.empty() ? inner : path.back());
    auto types = llvm::map_to_vector(handed, [](Value v) -> Type { return dyn::ListType::get(v.getType()); });
    auto lists = llvm::map_to_vector(numbers, [&](unsigned n) { return sources[n]->list; });
    auto map = dyn::MapOp::create(b, inner->getLoc(), types, lists);
    Block &inside = map.getBody().emplaceBlock();
    IRMapping copies;
    for (unsigned n : numbers) {
      BlockArgument argument = body.getArgument(n);
      copies.map(argument, inside.addArgument(argument.getType(), argument.getLoc()));
    }
    OpBuilder into = OpBuilder::atBlockEnd(&inside);
    for (Operation *op : early)
      if (needed.contains(op))
        into.clone(*op, copies);
    dyn::YieldOp::create(into, inner->getLoc(),
                         llvm::map_to_vector(handed, [&](Value v) { return copies.lookup(v); }));
    return llvm::to_vector_of<Value>(map.getResults());
  }

  /// Lets `op` choose of lists too.
  void choose(Operation *op, SmallVectorImpl<Value> &lists) {
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    if (auto filter = dyn_cast<dyn::FilterOp>(op))
      return chooseToo(filter, lists);
    for (Value &list : lists)
      if (auto slice = dyn_cast<dyn::SliceOp>(op))
        list = dyn::SliceOp::create(b, op->getLoc(), list.getType(), list, slice.getLow(), slice.getHigh());
      else
        list = dyn::ReverseOp::create(b, op->getLoc(), list);
  }

  void chooseToo(dyn::FilterOp filter, SmallVectorImpl<Value> &lists) {
    OpBuilder b(filter);
    SmallVector<Value> all = llvm::to_vector_of<Value>(filter.getLists());
    llvm::append_range(all, lists);
    auto more = dyn::FilterOp::create(b, filter.getLoc(), ValueRange(all).getTypes(), all);
    IRMapping copies;
    filter.getBody().cloneInto(&more.getBody(), copies);
    for (Value list : lists)
      more.getBody().addArgument(cast<dyn::ListType>(list.getType()).getElement(), list.getLoc());
    varying.add(more);
    filter.replaceAllUsesWith(more.getResults().take_front(filter.getNumResults()));
    llvm::copy(more.getResults().take_back(lists.size()), lists.begin());
    dead.push_back(filter);
    for (std::optional<Source> &source : sources)
      if (source)
        llvm::replace(source->path, filter.getOperation(), more.getOperation());
  }
};

unsigned splitIn(Block &body, Operation *outer, Varying &varying, SmallVectorImpl<Operation *> &dead) {
  unsigned maps = 0;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    // Of steps that a `while` leaves out nothing is computed.
    bool splits = isa<dyn::MapOp>(op) || (dyn::isRecurrence(&op) && !dyn::stops(&op));
    if (!splits || !varying.has(&op))
      continue;
    maps += splitIn(op.getRegion(0).front(), outer, varying, dead);
    maps += InnerBody(&op, outer, varying, dead).split();
  }
  return maps;
}

} // namespace

unsigned splitInnerBinders(Operation *outer) {
  Varying varying(outer);
  return splitInnerBinders(&outer->getRegion(0).front(), outer, varying);
}

unsigned splitInnerBinders(ArrayRef<Block *> blocks, Operation *outer, Varying &varying) {
  SmallVector<Operation *> dead; // erased last: `varying` knows values by their addresses
  unsigned maps = 0;
  for (Block *block : blocks)
    maps += splitIn(*block, outer, varying, dead);
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      op->erase();
  return maps;
}

} // namespace dbc::passes
