// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-split-scans: what a scan or fold computes from its elements alone goes to a map before it.
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Dyn.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/Products.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-split-scans"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNSPLITSCANS
#include "passes/Passes.h.inc"

namespace {
struct DynSplitScansPass : impl::DynSplitScansBase<DynSplitScansPass> {
  void runOnOperation() override {
    SmallVector<Operation *> scans;
    getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (dyn::isRecurrence(op))
        scans.push_back(op);
    });
    for (Operation *op : scans)
      if (auto scan = dyn_cast<dyn::ScanOp>(op))
        split(scan);
      else
        split(cast<dyn::FoldOp>(op));
  }

  template <class Op> void split(Op scan) {
    if (scan.getStops())
      return; // what a step computes costs nothing where it is not taken
    Block &body = scan.getBody().front();
    unsigned elements = scan.getLists().size();
    // What uses the state, directly or not.
    DenseSet<Value> late;
    for (BlockArgument state : body.getArguments().drop_front(elements))
      late.insert(state);
    llvm::SetVector<Operation *> early;
    for (Operation &op : body.without_terminator()) {
      bool usesState = false;
      op.walk([&](Operation *inner) {
        usesState |= llvm::any_of(inner->getOperands(), [&](Value v) { return late.contains(v); });
      });
      if (usesState)
        late.insert(op.result_begin(), op.result_end());
      else
        early.insert(&op);
    }
    // Only numbers that need arithmetic are worth a list; integers, nodes and their fields stay with the
    // structure, and matrices of parameters that were joined to one are the same for all elements.
    llvm::SetVector<Value> handed;
    bool arithmetic = false;
    for (Operation *op : early) {
      if (!isa<dyn::FieldOp, dyn::CallOp, dyn::NarrowOp>(op) && op->getNumOperands() && numeric(op) &&
          !llvm::all_of(op->getResults(), [](Value result) { return isWeights(result); }))
        arithmetic = true;
      for (Value result : op->getResults())
        for (OpOperand &use : result.getUses()) {
          Operation *user = body.findAncestorOpInBlock(*use.getOwner());
          if (early.contains(user))
            continue;
          if (dyn::isNumber(result.getType()) && numeric(op) && op->getNumOperands() && !isOfIndex(result) &&
              !isWeights(result))
            handed.insert(result);
        }
    }
    if (!arithmetic || handed.empty())
      return;

    OpBuilder b(scan);
    Location loc = scan.getLoc();
    LDBG() << "a map before the scan at " << dyn::sourceLocation(loc) << " gives " << handed.size()
           << " values of " << early.size() << " operations";
    ++splitScans;
    handedLists += handed.size();
    SmallVector<Type> types;
    for (Value value : handed)
      types.push_back(dyn::ListType::get(value.getType()));
    auto map = dyn::MapOp::create(b, loc, types, scan.getLists());
    Block *before = &map.getBody().emplaceBlock();
    IRMapping mapping;
    for (BlockArgument arg : body.getArguments().take_front(elements))
      mapping.map(arg, before->addArgument(arg.getType(), arg.getLoc()));
    b.setInsertionPointToEnd(before);
    for (Operation *op : early)
      b.clone(*op, mapping);
    SmallVector<Value> yields = llvm::map_to_vector(handed, [&](Value v) { return mapping.lookup(v); });
    dyn::YieldOp::create(b, loc, yields);

    for (auto [value, list] : llvm::zip(handed.takeVector(), map.getResults())) {
      BlockArgument argument = dyn::addList(scan, list);
      argument.setLoc(value.getLoc());
      value.replaceAllUsesWith(argument);
    }
    for (Operation *op : llvm::reverse(early))
      if (op->use_empty())
        op->erase();
  }

  /// Whether a value inside a binder is made of parameters and one integer of an element alone, which is
  /// below a known bound since a row of something is looked up by it: that can become a table
  /// (batch-fold-tables), to be read where it is used.
  static bool isOfIndex(Value value) {
    Block *body = value.getParentBlock();
    llvm::SetVector<Value> sources;
    sources.insert(value);
    BlockArgument index;
    bool bounded = false;
    for (size_t n = 0; n < sources.size(); ++n) { // grows while it is walked
      Value source = sources[n];
      auto argument = dyn_cast<BlockArgument>(source);
      Operation *op = source.getDefiningOp();
      if (argument && argument.getOwner() == body && argument.getType().isInteger(32) &&
          (!index || index == argument)) {
        index = argument;
        continue;
      }
      if (!op || !dyn::isNumber(source.getType()) || isa<dyn::FieldOp, dyn::CallOp>(op) ||
          (op->getNumRegions() && isa<dyn::DynDialect>(op->getDialect())))
        return false;
      if (auto gather = dyn_cast<dyn::GatherOp>(op))
        bounded |= isa<BlockArgument>(gather.getIndex());
      sources.insert(op->operand_begin(), op->operand_end());
    }
    return bounded;
  }

  /// Whether an op computes with tensors or f32, not with the structure's integers.
  static bool numeric(Operation *op) {
    return llvm::any_of(op->getResultTypes(), [](Type type) {
      return dyn::isNumber(type) && (dyn::scalar(type).isF32() || isa<RankedTensorType>(type));
    });
  }
};
} // namespace
} // namespace dbc::passes
