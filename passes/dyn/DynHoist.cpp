// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-hoist: loop-invariant code motion out of binders.
#include "ir/Dyn/Binders.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/dyn/InnerBinders.h"
#include "passes/dyn/Integers.h"
#include "passes/dyn/Varying.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-hoist"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNHOIST
#include "passes/Passes.h.inc"

namespace {

/// What the body of one binder computes that does not depend on its elements.
class Invariants {
public:
  explicit Invariants(Operation *binder) : binder(binder), body(binder->getRegion(0)) {}

  void hoist() {
    hoistPlain();
    madeMaps += splitInnerBinders(binder);
    hoistPlain();
    if (!hasElement() || stops())
      hoistGuarded();
  }

  unsigned movedOps = 0, madeMaps = 0;

private:
  Operation *binder;
  Region &body;
  llvm::SetVector<Operation *> invariant; ///< of the body, in its order
  llvm::SetVector<Operation *> moved;     ///< those of them that are worth a guard, and what they need

  bool stops() { return dyn::isRecurrence(binder) && dyn::stops(binder); }

  /// C8 adds no error: what may fail an input moves only where an element is sure to be there. Whether a step
  /// is taken that a `while` may leave out counts only for what fails by what is computed.
  void hoistPlain() {
    bool some = hasElement();
    for (Operation &op : llvm::make_early_inc_range(body.front()))
      if (isInvariant(op) &&
          (!fails(&op) || (some && !(stops() && dyn::anyInside(&op, dyn::mayFailComputed))))) {
        LDBG() << op.getName() << " at " << dyn::sourceLocation(op.getLoc()) << " leaves a "
               << binder->getName();
        op.moveBefore(binder);
        ++movedOps;
      }
  }

  bool hasElement() {
    auto range = dyn::listsOf(binder)[0].getDefiningOp<dyn::RangeOp>();
    APInt low, high;
    return range && matchPattern(range.getLow(), m_ConstantInt(&low)) &&
           matchPattern(range.getHigh(), m_ConstantInt(&high)) && low.slt(high);
  }

  /// Whether the op, with all that is in it, uses nothing of the body but what is invariant.
  bool isInvariant(Operation &op) {
    if (!isPlain(&op))
      return false;
    auto isKnown = [&](Value v) {
      return !body.isAncestor(v.getParentRegion()) || op.isAncestor(v.getParentRegion()->getParentOp()) ||
             (v.getDefiningOp() && invariant.contains(v.getDefiningOp()));
    };
    return !dyn::anyInside(&op,
                           [&](Operation *inner) { return !llvm::all_of(inner->getOperands(), isKnown); });
  }

  /// Work, and what goes through lists: reading one element of a list costs less.
  static bool repays(Operation *op) {
    return isWork(op) || dyn::anyInside(op, [](Operation *inner) {
             return dyn::isBinder(inner) || isa<dyn::ReduceListOp, linalg::LinalgOp>(inner);
           });
  }

  static auto operandsOf(Operation *op) {
    llvm::SetVector<Value> operands;
    op->walk([&](Operation *inner) { operands.insert(inner->operand_begin(), inner->operand_end()); });
    return operands.takeVector();
  }

  void need(Operation *op) {
    if (!op || !invariant.contains(op) || !moved.insert(op))
      return;
    for (Value operand : operandsOf(op))
      need(operand.getDefiningOp());
  }

  /// What may fail moves into a map that has one element where the binder has some, and none where it has
  /// none.
  void hoistGuarded() {
    for (Operation &op : body.front())
      if (isInvariant(op))
        invariant.insert(&op);
    // Work, and what only it is used for.
    llvm::SetVector<Operation *> work;
    for (Operation *op : invariant)
      if (repays(op) ||
          llvm::any_of(operandsOf(op), [&](Value v) { return work.contains(v.getDefiningOp()); }))
        work.insert(op);
    auto isUsedOutside = [&](Value value) {
      return llvm::any_of(value.getUsers(), [&](Operation *user) {
        return !work.contains(body.front().findAncestorOpInBlock(*user));
      });
    };
    SmallVector<Value> results;
    for (Operation *op : work)
      for (Value result : op->getResults())
        if (isUsedOutside(result)) {
          if (auto list = dyn_cast<dyn::ListType>(result.getType()); list && dyn::isEnded(result))
            return; // how long it is nobody knows but those that go through it
          results.push_back(result);
        }
    if (results.empty())
      return;
    for (Operation *op : work)
      need(op);

    Location loc = binder->getLoc();
    LDBG() << "a map of one element gives " << results.size() << " values of " << moved.size()
           << " operations of the " << binder->getName() << " at " << dyn::sourceLocation(loc);
    ++madeMaps;
    OpBuilder b(binder);
    Value length = dyn::LenOp::create(b, loc, b.getI32Type(), dyn::listsOf(binder)[0]);
    Value zero = integer(b, loc, 0);
    Value count = dyn::IntOp::create(b, loc, dyn::IntKind::Min, length, integer(b, loc, 1));
    Value once = dyn::RangeOp::create(b, loc, dyn::ListType::get(b.getI32Type()), zero, count);
    SmallVector<Type> types;
    for (Value result : results)
      types.push_back(dyn::ListType::get(result.getType()));
    auto guard = dyn::MapOp::create(b, loc, types, once);
    Block &inside = guard.getBody().emplaceBlock();
    inside.addArgument(b.getI32Type(), loc);
    OpBuilder into = OpBuilder::atBlockEnd(&inside);
    IRMapping copies;
    for (Operation *op : invariant)
      if (moved.contains(op))
        guardByWhile(into.clone(*op, copies));
    dyn::YieldOp::create(into, loc, llvm::map_to_vector(results, [&](Value v) { return copies.lookup(v); }));
    OpBuilder reads(&body.front(), body.front().begin());
    for (auto [result, list] : llvm::zip(results, guard.getResults())) {
      Value there = dyn::AtOp::create(reads, result.getLoc(), result.getType(), list, zero, Value());
      result.replaceAllUsesWith(there);
    }
    for (Operation *op : llvm::reverse(invariant))
      if (moved.contains(op) && op->use_empty())
        op->erase();
  }

  /// A `while` may leave out the first step too.
  void guardByWhile(Operation *copy) {
    if (!stops())
      return;
    Value first = dyn::initOf(binder).back();
    copy->walk([&](Operation *inner) { dyn::guard(inner, first); });
  }
};

struct DynHoistPass : impl::DynHoistBase<DynHoistPass> {
  void runOnOperation() override {
    // Innermost binders first, so that an op climbs as far as it can.
    getOperation().walk<WalkOrder::PostOrder>([&](Operation *binder) {
      if (!dyn::isBinder(binder))
        return;
      Invariants invariants(binder);
      invariants.hoist();
      movedOps += invariants.movedOps;
      madeMaps += invariants.madeMaps;
    });
  }
};
} // namespace
} // namespace dbc::passes
