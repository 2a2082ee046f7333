// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-hoist-captured: loop-invariant code motion out of recursions.
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Recursion.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Passes.h"
#include "passes/dyn/InnerBinders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-hoist-captured"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNHOISTCAPTURED
#include "passes/Passes.h.inc"

namespace {

/// Calls with captured arguments, by the cell that they call.
using Calls = llvm::DenseMap<StringAttr, SmallVector<dyn::CallOp>>;

/// Cells that call each other, and the calls of them.
struct Recursion {
  Recursion(ArrayRef<dyn::CellOp> cells, const Calls &calls) : cells(cells), values(cells) {
    for (dyn::CellOp cell : cells)
      byName[cell.getSymNameAttr()] = cell;
    for (dyn::CellOp cell : cells)
      for (dyn::CallOp call : calls.lookup(cell.getSymNameAttr())) {
        auto caller = call->getParentOfType<dyn::CellOp>();
        (caller && byName.contains(caller.getSymNameAttr()) ? inside : outside).push_back(call);
      }
  }
  dyn::CellOp calleeOf(dyn::CallOp call) const { return byName.lookup(call.getCalleeAttr().getAttr()); }

  ArrayRef<dyn::CellOp> cells;
  dyn::CapturedValues values;
  llvm::DenseMap<StringAttr, dyn::CellOp> byName;
  SmallVector<dyn::CallOp> inside, outside;
};

/// Cells of a recursion, and values of one of them, at most: each cell captures them all, and each call of an
/// entry computes them, taken or not.
constexpr size_t kMost = 16;

/// What a cell computes of captured arguments that are the same in all of its recursion.
class CapturedWork {
public:
  CapturedWork(const Recursion &recursion, dyn::CellOp cell) : recursion(recursion), cell(cell) {
    for (BlockArgument value : cell.getValues())
      if (!recursion.values.changes(value) && isGivenToAll(value))
        given.insert(value);
    if (given.empty())
      return;
    splitBinders();
    visit(cell.getBody().front(), takesArms());
  }

  /// Moves it to the calls from outside, which give it to all instances. Gives how many values that are.
  unsigned hoist() {
    SmallVector<Value> results = resultsOfWork();
    if (results.empty() || results.size() > kMost)
      return 0;
    LDBG() << "@" << cell.getSymName() << ": " << results.size()
           << " values of captured arguments are computed where it is called";
    for (Value result : results)
      need(result.getDefiningOp());
    for (dyn::CallOp call : recursion.outside)
      call.getValuesMutable().append(computeAt(call, results));
    // A new argument of each cell for each of them.
    llvm::DenseMap<Operation *, SmallVector<Value>> arguments;
    for (dyn::CellOp each : recursion.cells) {
      each.setValueCount(each.getValues().size() + results.size());
      for (Value result : results) {
        arguments[each].push_back(each.getBody().addArgument(result.getType(), result.getLoc()));
        for (Region &range : each.getRanges())
          range.addArgument(result.getType(), result.getLoc());
      }
    }
    for (dyn::CallOp call : recursion.inside)
      call.getValuesMutable().append(arguments[call->getParentOfType<dyn::CellOp>()]);
    for (auto [result, argument] : llvm::zip_equal(results, arguments[cell]))
      result.replaceAllUsesWith(argument);
    for (Operation *op : llvm::reverse(invariant))
      if (needed.contains(op) && op->use_empty())
        op->erase();
    return results.size();
  }

private:
  /// Whether each call from outside says what a captured argument is.
  bool isGivenToAll(BlockArgument value) {
    return llvm::all_of(recursion.outside, [&](dyn::CallOp call) {
      return bool(recursion.values.sameIn(recursion.calleeOf(call), value));
    });
  }

  /// Whether what stands in an arm may move: most of what a recursion does stands there. So does what a cell
  /// does that is called for each element of a list, with the same captured arguments.
  bool takesArms() const {
    return !recursion.inside.empty() ||
           llvm::all_of(recursion.outside, [&](dyn::CallOp call) { return placeOf(call) != call; });
  }

  /// Where what a call gives is computed: before it, or before the binders around it that do not matter to
  /// it.
  Operation *placeOf(dyn::CallOp call) const {
    SmallVector<Value> captured = givenBy(call);
    Operation *place = call;
    for (Operation *around = call->getParentOp(); dyn::isBinder(around); around = around->getParentOp()) {
      if (llvm::any_of(captured,
                       [&](Value v) { return around->isAncestor(v.getParentRegion()->getParentOp()); }))
        break;
      place = around;
    }
    return place;
  }

  /// What a call gives in place of the captured arguments `given`.
  SmallVector<Value> givenBy(dyn::CallOp call) const {
    dyn::CellOp callee = recursion.calleeOf(call);
    return llvm::map_to_vector(given, [&](Value value) -> Value {
      BlockArgument own = recursion.values.sameIn(callee, cast<BlockArgument>(value));
      return call.getValues()[own.getArgNumber() - callee.getKeys().size()];
    });
  }

  /// What binders compute of elements that each instance has is to be a list of its own.
  void splitBinders() {
    SmallVector<Value> others;
    Block &body = cell.getBody().front();
    for (BlockArgument argument : body.getArguments())
      if (!given.contains(argument))
        others.push_back(argument);
    Varying varying(body, others);
    SmallVector<Block *> blocks{&body};
    for (Operation &op : body)
      if (takesArms() && isa<dyn::MatchOp, dyn::IfOp>(op))
        for (Region &arm : op.getRegions())
          blocks.push_back(&arm.front());
    splitInnerBinders(blocks, cell, varying);
  }

  /// Most arms are taken by some instance; not so arms in arms.
  void visit(Block &block, bool intoArms) {
    for (Operation &op : block) {
      if (isInvariant(&op))
        invariant.insert(&op);
      else if (intoArms && isa<dyn::MatchOp, dyn::IfOp>(op))
        for (Region &arm : op.getRegions())
          visit(arm.front(), /*intoArms=*/false);
    }
  }

  /// Whether an operation gives the same in each instance, and may be computed where none is.
  bool isInvariant(Operation *op) {
    if (!isPlain(op) || fails(op))
      return false;
    auto isEnded = [](Value v) { return isa<dyn::ListType>(v.getType()) && dyn::isEnded(v); };
    if (llvm::any_of(op->getResults(), isEnded)) // how long it is nobody knows but those that go through it
      return false;
    bool known = true, captures = false;
    op->walk([&](Operation *inner) {
      for (Value v : inner->getOperands()) {
        const bool own = op->isAncestor(v.getParentRegion()->getParentOp());
        const bool ofGiven = given.contains(v);
        known &= own || ofGiven || (v.getDefiningOp() && invariant.contains(v.getDefiningOp()));
        captures |= ofGiven || (!own && capturing.contains(v.getDefiningOp()));
      }
    });
    if (known && captures)
      capturing.insert(op);
    return known;
  }

  /// What is work, or made of it, and used by other operations.
  SmallVector<Value> resultsOfWork() {
    llvm::SetVector<Operation *> work;
    auto isOfWork = [&](Value v) { return work.contains(v.getDefiningOp()); };
    for (Operation *op : invariant)
      if (capturing.contains(op) && llvm::all_of(op->getResults(), canBeCaptured) &&
          (isWork(op) || llvm::any_of(op->getOperands(), isOfWork)))
        work.insert(op);
    SmallVector<Value> results;
    for (Operation *op : work)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !isIn(work, user); }))
          results.push_back(result);
    return results;
  }

  /// What is computed stays so in a cell that captures it; structure would be structure no more.
  static bool canBeCaptured(Value value) {
    if (auto list = dyn_cast<dyn::ListType>(value.getType()))
      return isa<dyn::MapOp>(value.getDefiningOp()) && isReal(list.getElement());
    return isReal(value.getType()) && !dyn::isStructural(value);
  }
  static bool isReal(Type type) { return dyn::isNumber(type) && getElementTypeOrSelf(type).isF32(); }

  static bool isIn(const llvm::SetVector<Operation *> &ops, Operation *op) {
    for (; op; op = op->getParentOp())
      if (ops.contains(op))
        return true;
    return false;
  }

  void need(Operation *op) {
    if (!op || !invariant.contains(op) || !needed.insert(op))
      return;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        need(operand.getDefiningOp());
    });
  }

  /// The same of the values that a call gives; once for calls that give the same, if it is there before both.
  SmallVector<Value> computeAt(dyn::CallOp call, ArrayRef<Value> results) {
    const SmallVector<Value> own = givenBy(call);
    Operation *place = placeOf(call);
    for (Block *block = place->getBlock(); block; block = block->getParentOp()->getBlock())
      for (auto &[values, there] : computed[block])
        if (values == own &&
            there.front().getDefiningOp()->isBeforeInBlock(block->findAncestorOpInBlock(*place)))
          return there;
    IRMapping map;
    map.map(given.getArrayRef(), own);
    OpBuilder b(place);
    for (Operation *op : invariant)
      if (needed.contains(op))
        b.clone(*op, map);
    SmallVector<Value> there = llvm::map_to_vector(results, [&](Value v) { return map.lookup(v); });
    computed[place->getBlock()].push_back({own, there});
    return there;
  }

  const Recursion &recursion;
  dyn::CellOp cell;
  llvm::SetVector<Value> given;           ///< captured arguments
  llvm::SetVector<Operation *> invariant; ///< of the cell, in its order
  llvm::DenseSet<Operation *> capturing;  ///< those of them that are made of captured arguments
  llvm::SetVector<Operation *> needed;    ///< those of them that move
  /// In each block: what calls give, and the results there.
  llvm::DenseMap<Block *, SmallVector<std::pair<SmallVector<Value>, SmallVector<Value>>, 1>> computed;
};

struct DynHoistCapturedPass : impl::DynHoistCapturedBase<DynHoistCapturedPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Calls calls;
    module.walk([&](dyn::CallOp call) {
      if (!call.getValues().empty())
        calls[call.getCalleeAttr().getAttr()].push_back(call);
    });
    if (calls.empty())
      return;
    SymbolTable symbols(module);
    auto cellOf = [&](StringAttr name) { return symbols.lookup<dyn::CellOp>(name); };
    llvm::DenseSet<Operation *> seen;
    unsigned hoisted = 0;
    for (auto entry : module.getOps<dyn::EntryOp>())
      for (const auto &cells : dyn::recursions(entry, cellOf))
        if (seen.insert(cells.front()).second)
          hoisted += hoist(cells, calls);
    if (hoisted > 0)
      dyn::dropUnusedValues(module);
    hoistedValues += hoisted;
  }

  /// Of a recursion that entries alone call. What another recursion calls at each of its nodes may have few
  /// instances there, and few of them in an arm.
  static unsigned hoist(ArrayRef<dyn::CellOp> cells, const Calls &calls) {
    if (cells.size() > kMost ||
        llvm::all_of(cells, [](dyn::CellOp cell) { return cell.getValues().empty(); }))
      return 0;
    unsigned hoisted = 0;
    std::optional<Recursion> recursion(std::in_place, cells, calls);
    if (llvm::any_of(recursion->outside,
                     [](dyn::CallOp call) { return call->getParentOfType<dyn::CellOp>(); }))
      return 0;
    for (dyn::CellOp cell : cells)
      if (unsigned values = CapturedWork(*recursion, cell).hoist()) {
        hoisted += values;
        recursion.emplace(cells, calls); // with the new arguments
      }
    return hoisted;
  }
};
} // namespace
} // namespace dbc::passes
