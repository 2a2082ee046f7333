// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "oracle/Validity.h"
#include "ir/Dyn/Binders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dbc::oracle {

/// Whether a `while` decides if the operation is evaluated.
static bool mayBeSkipped(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (dyn::isRecurrence(parent) && dyn::stops(parent))
      return true;
  return false;
}

/// What a call asks of the structure: keys in a range, no key reached twice where values change along the
/// recursion (manual, C2, C5).
static bool asksOfStructure(dyn::CellOp cell) {
  return !cell.getValues().empty() ||
         llvm::any_of(cell.getKeys(), [](BlockArgument key) { return !isa<dyn::NodeType>(key.getType()); });
}

static bool hasWhen(Operation *op) {
  if (auto at = dyn_cast<dyn::AtOp>(op))
    return bool(at.getWhen());
  auto reduce = dyn_cast<dyn::ReduceListOp>(op);
  return reduce && reduce.getWhen();
}

/// What one operation's failures depend on. `skipped`: it may not be evaluated, as a `while` decides.
static Validity validityOf(Operation *op, bool skipped, const SymbolTable &symbols) {
  if (isa<dyn::FieldOp, dyn::ArgumentOp, dyn::NodesOp>(op))
    return Validity::Form; // fails only where something is not given
  Validity validity = Validity::Form;
  if (auto call = dyn_cast<dyn::CallOp>(op)) {
    if (asksOfStructure(symbols.lookup<dyn::CellOp>(call.getCallee())))
      validity = Validity::Structure;
  } else if (dyn::mayFail(op)) {
    bool ends = llvm::any_of(
        op->getOperands(), [](mlir::Value v) { return isa<dyn::ListType>(v.getType()) && dyn::isEnded(v); });
    validity = ends || hasWhen(op) || dyn::mayFailComputed(op) ? Validity::Numbers : Validity::Structure;
  }
  return skipped && validity != Validity::Form ? Validity::Numbers : validity;
}

Validity validityOf(ModuleOp module, dyn::EntryOp entry) {
  SymbolTable symbols(module);
  // What is called within a `while` is found again, as what may be skipped.
  llvm::SetVector<std::pair<Operation *, unsigned>> reached;
  reached.insert({entry, 0});
  Validity validity = Validity::Form;
  for (size_t n = 0; n < reached.size(); ++n) { // grows while it is walked
    auto [function, skipped] = reached[n];
    function->walk([&, skipped = skipped](Operation *op) {
      bool maySkip = skipped || mayBeSkipped(op);
      validity = std::max(validity, validityOf(op, maySkip, symbols));
      if (auto call = dyn_cast<dyn::CallOp>(op))
        reached.insert({symbols.lookup(call.getCallee()), unsigned(maySkip)});
    });
  }
  return validity;
}

/// Whether an operation computes numbers that no structure is made of, and cannot fail.
static bool isArithmetic(Operation *op) {
  if (op->getNumResults() == 0 || dyn::mayFail(op) || isa<dyn::CallOp>(op) ||
      isa<linalg::LinalgDialect>(op->getParentOp()->getDialect()) ||
      (op->getNumRegions() && !isa<linalg::LinalgDialect>(op->getDialect())))
    return false;
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    return dyn::isNumber(type) && (dyn::scalar(type).isF32() || isa<RankedTensorType>(type));
  });
}

static mlir::Value zeros(OpBuilder &b, Location loc, Type type) {
  TypedAttr zero = b.getZeroAttr(dyn::scalar(type));
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    zero = SplatElementsAttr::get(shaped, Attribute(zero));
  return arith::ConstantOp::create(b, loc, zero);
}

OwningOpRef<ModuleOp> structureOf(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  SmallVector<Operation *> arithmetic;
  copy->walk([&](Operation *op) {
    if (isArithmetic(op))
      arithmetic.push_back(op);
  });
  // Users come before what they use, so that zeros are made for what structure reads alone.
  for (Operation *op : llvm::reverse(arithmetic)) {
    bool isMade = isa<dyn::GetOp, arith::ConstantOp>(op);
    OpBuilder b(op);
    for (mlir::Value result : op->getResults())
      if (!result.use_empty() && !isMade)
        result.replaceAllUsesWith(zeros(b, op->getLoc(), result.getType()));
    if (op->use_empty())
      op->erase();
  }
  return copy;
}

} // namespace dbc::oracle
