// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "passes/dyn/Repeats.h"
#include "passes/dyn/Varying.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dbc::passes {

namespace {

/// What the lists that the elements of a binder have may have in common.
enum class Common {
  Nothing,  ///< each element has values of its own
  Nodes,    ///< nodes, which references lead to
  Elements, ///< elements of one list, or numbers of one range
};

/// Whether what each element of a binder has a value of is no choice from what is the same for all: a node or
/// a list of lists. References count as if no two led to one node.
bool isOwn(Value value, const Varying &varying) {
  if (!varying.has(value))
    return false;
  Operation *op = value.getDefiningOp();
  return !isa_and_nonnull<dyn::FieldOp, dyn::AtOp>(op) || isOwn(op->getOperand(0), varying);
}

/// Of a list, which may be another for each of the elements that `varying` is about; `computed` are the
/// values that are computed of what is theirs alone.
Common commonOf(Value list, const Varying &varying, const Varying &computed) {
  if (!varying.has(list))
    return Common::Elements;
  auto result = dyn_cast<OpResult>(list);
  Operation *op = list.getDefiningOp();
  if (Value from = chosenFrom(list))
    return commonOf(from, varying, computed);
  if (auto map = dyn_cast_or_null<dyn::MapOp>(op)) {
    if (computed.has(map.getBody().front().getTerminator()->getOperand(result.getResultNumber())))
      return Common::Nothing;
    Common least = Common::Elements;
    for (Value from : map.getLists())
      least = std::min(least, commonOf(from, varying, computed));
    return least;
  }
  Common common = Common::Nothing;
  if (isa_and_nonnull<dyn::RangeOp>(op)) {
    common = Common::Elements;
  } else if (isa_and_nonnull<dyn::IfOp, dyn::MatchOp>(op)) {
    for (Region &arm : op->getRegions())
      common = std::max(common, commonOf(arm.front().getTerminator()->getOperand(result.getResultNumber()),
                                         varying, computed));
  } else if (isa_and_nonnull<dyn::FieldOp, dyn::AtOp>(op) && !isOwn(op->getOperand(0), varying)) {
    common = Common::Elements;
  }
  const bool nodes = isa<dyn::NodeType>(cast<dyn::ListType>(list.getType()).getElement());
  return nodes ? std::max(common, Common::Nodes) : common;
}

/// What one binder repeats.
class Repeated {
public:
  Repeated(Operation *binder, llvm::DenseSet<Operation *> &reported, SmallVectorImpl<Repeat> &repeats)
      : binder(binder), reported(reported), repeats(repeats), uses(binder, Varying::Elements::Computed),
        varying(binder) {}

  void find() { find(binder->getRegion(0).front()); }

private:
  Operation *binder;
  llvm::DenseSet<Operation *> &reported; ///< work, and what is made of it
  SmallVectorImpl<Repeat> &repeats;
  Varying uses, varying;

  void find(Block &block) {
    for (Operation &op : block) {
      if (op.getNumRegions() && isa<dyn::DynDialect>(op.getDialect())) {
        for (Region &region : op.getRegions())
          find(region.front());
        continue;
      }
      if (reported.contains(&op) || op.hasTrait<OpTrait::IsTerminator>())
        continue;
      bool follows =
          llvm::any_of(op.getOperands(), [&](Value v) { return reported.contains(v.getDefiningOp()); });
      if (!follows && (!isWork(&op) || uses.has(&op) || isOfModel(&op)))
        continue;
      if (follows || report(&op))
        reported.insert(&op);
    }
  }

  /// All that an operation is made of, as far as it is made in this function.
  static llvm::SetVector<Value> madeOf(Operation *op) {
    llvm::SetVector<Value> values;
    auto add = [&](Operation *of) {
      of->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!of->isAncestor(operand.getParentRegion()->getParentOp()))
            values.insert(operand);
      });
    };
    add(op);
    for (size_t n = 0; n < values.size(); ++n) // grows while it is walked
      if (Operation *of = values[n].getDefiningOp())
        add(of);
    return values;
  }

  /// What is made of parameters alone is computed when the model is made.
  static bool isOfModel(Operation *op) {
    return llvm::all_of(madeOf(op), [](Value value) {
      return value.getDefiningOp() && !isa<dyn::ArgumentOp, dyn::CallOp>(value.getDefiningOp());
    });
  }

  /// Whether there is something to say of it.
  bool report(Operation *op) {
    auto add = [&](Repeat::Why why, Operation *cause) {
      repeats.push_back({op, binder, why, cause});
      return true;
    };
    const llvm::SetVector<Value> from = madeOf(op);
    auto isUsed = [&](Value list, Value element) { return from.contains(element) && varying.has(list); };
    for (Operation *around = op->getParentOp(); around != binder; around = around->getParentOp())
      if (dyn::isBinder(around))
        for (auto [list, element] : llvm::zip(dyn::listsOf(around), around->getRegion(0).getArguments()))
          if (isUsed(list, element) && commonOf(list, varying, uses) == Common::Nothing)
            return false; // no other element has these operands
    for (Operation *around = op->getParentOp(); around != binder; around = around->getParentOp()) {
      if (isa<dyn::IfOp, dyn::MatchOp>(around))
        return add(Repeat::Why::Arm, around);
      if (dyn::isRecurrence(around) && dyn::stops(around))
        return add(Repeat::Why::While, around);
      for (auto [list, element] : llvm::zip(dyn::listsOf(around), around->getRegion(0).getArguments())) {
        if (!isUsed(list, element))
          continue;
        std::optional<Source> source = sourceOf(list, varying);
        bool mayFail =
            llvm::any_of(from, [](Value v) { return v.getDefiningOp() && fails(v.getDefiningOp()); });
        if (source && !source->path.empty() && mayFail)
          return add(Repeat::Why::Fails, source->path.front());
        return add(commonOf(list, varying, uses) == Common::Nodes ? Repeat::Why::Nodes : Repeat::Why::List,
                   around);
      }
    }
    if (llvm::any_of(from, [](Value v) { return isa<dyn::ListType>(v.getType()) && dyn::isEnded(v); }))
      return add(Repeat::Why::Ended, op);
    return false;
  }
};

} // namespace

SmallVector<Repeat> findRepeats(Operation *function) {
  SmallVector<Repeat> repeats;
  llvm::DenseSet<Operation *> reported;
  // The innermost binder first: what cannot leave it cannot leave those around it.
  function->walk([&](Operation *op) {
    if (dyn::isBinder(op) && !isOnceAtMost(op))
      Repeated(op, reported, repeats).find();
  });
  return repeats;
}

} // namespace dbc::passes
