// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-map-lanes: which rows of a stage are a warp's, whose lanes share its reductions.
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-map-lanes"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELMAPLANES
#include "passes/Passes.h.inc"

namespace {

/// What combines the carried values of a loop if each lane has its own; nothing if it cannot be shared.
std::optional<kernel::Combine> combineOf(kernel::ForOp loop) {
  if (loop.getNumResults() != 1)
    return std::nullopt;
  Block &body = loop.getBody().front();
  Value carried = body.getArgument(1);
  Operation *next = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!next || next->getBlock() != &body || !carried.hasOneUse() || *carried.user_begin() != next)
    return std::nullopt;
  if (isa<arith::AddFOp>(next) && matchPattern(loop.getInit().front(), m_PosZeroFloat()))
    return kernel::Combine::Add;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(next))
    return kernel::Combine::Maximum;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(next))
    return kernel::Combine::Minimum;
  return std::nullopt;
}

/// Whether lanes are worth it: for a list, whose length is not known, they are.
bool isLong(kernel::ForOp loop) {
  APInt high;
  return !matchPattern(loop.getHigh(), m_ConstantInt(&high)) || high.getSExtValue() >= kernel::kLanes;
}

/// A loop over the rows of a block, and what a warp's lanes share of each.
class Row {
public:
  explicit Row(kernel::ForOp rows) : rows_(rows) {}

  bool isOfWarp() {
    bool fine = true, reduces = false;
    rows_.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto loop = dyn_cast<kernel::ForOp>(op);
      if (loop && (loop.getVector() || combineOf(loop))) {
        const bool simple = llvm::all_of(loop.getBody().front().without_terminator(), [](Operation &inner) {
          return kernel::isValue(&inner) || isa<kernel::WriteOp>(inner);
        });
        if (loop.getVector() && (!simple || loop.getNumResults() != 0))
          fine = false;
        if (simple && (loop.getVector() || isLong(loop))) {
          shared_.insert(loop);
          reduces |= !loop.getVector();
        }
      }
      fine &= kernel::isValue(op) || op->hasTrait<kernel::FailsInput>() ||
              isa<kernel::ForOp, kernel::IfOp, kernel::YieldOp, kernel::WriteOp>(op);
    });
    return fine && reduces && lanesAreDisjoint();
  }

  /// Gives how many loops the lanes share.
  size_t mapToLanes() {
    OpBuilder b(rows_);
    auto warps = kernel::WarpsOp::create(b, rows_.getLoc(), rows_.getHigh());
    warps.getBody().takeBody(rows_.getBody());
    for (kernel::ForOp loop : shared_) {
      b.setInsertionPoint(loop);
      kernel::CombineAttr combine;
      if (std::optional<kernel::Combine> kind = combineOf(loop))
        combine = kernel::CombineAttr::get(b.getContext(), *kind);
      auto lanes =
          kernel::LanesOp::create(b, loop.getLoc(), loop.getResultTypes(), loop.getLow(), loop.getHigh(),
                                  combine ? loop.getInit().front() : Value(), combine);
      lanes.getBody().takeBody(loop.getBody());
      loop->replaceAllUsesWith(lanes->getResults());
      loop.erase();
    }
    rows_.erase();
    return shared_.size();
  }

private:
  /// Whether no lane reads in a row what another one writes there: a local that is written is only written,
  /// by the first lane; or has each element touched by the lane that has its index in some axis.
  bool lanesAreDisjoint() {
    struct Touches {
      bool read = false, written = false, byLanes = false, byOthers = false;
      std::optional<llvm::SmallBitVector> axes; ///< whose index is the counter of each shared loop around
    };
    llvm::MapVector<Value, Touches> locals;
    rows_.getBody().walk([&](Operation *op) {
      auto read = dyn_cast<kernel::ReadOp>(op);
      auto write = dyn_cast<kernel::WriteOp>(op);
      if (!read && !write)
        return;
      Touches &touches = locals[read ? read.getLocal() : write.getLocal()];
      touches.read |= bool(read);
      touches.written |= bool(write);
      auto loop = dyn_cast<kernel::ForOp>(op->getParentOp());
      if (!loop || !shared_.contains(loop)) {
        touches.byOthers = true;
        return;
      }
      touches.byLanes = true;
      auto indices = read ? read.getIndices() : write.getIndices();
      llvm::SmallBitVector own(indices.size());
      for (auto [axis, index] : llvm::enumerate(indices))
        own[axis] = index == loop.getBody().getArgument(0) && matchPattern(loop.getLow(), m_Zero());
      if (touches.axes)
        own &= *touches.axes;
      touches.axes = own;
    });
    return llvm::all_of(locals, [](auto &entry) {
      Touches &touches = entry.second;
      return !touches.written || (!touches.read && !touches.byLanes) ||
             (!touches.byOthers && touches.axes->any());
    });
  }

  kernel::ForOp rows_;
  llvm::SetVector<kernel::ForOp> shared_; ///< loops
};

struct KernelMapLanesPass : impl::KernelMapLanesBase<KernelMapLanesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SymbolTable names(program);
      for (auto func : program.getOps<kernel::FuncOp>())
        if (func.getKind() == kernel::FuncKind::Stage &&
            names.lookup<kernel::IndexSetOp>(*func.getIndexSet()).getKind() != kernel::IndexSetKind::Model)
          func.walk([&](kernel::BlocksOp blocks) { mapRows(func, blocks); });
    }
  }

  void mapRows(kernel::FuncOp func, kernel::BlocksOp blocks) {
    SmallVector<kernel::ForOp> loops;
    blocks.walk([&](kernel::ForOp loop) {
      if (loop.getHigh() == blocks.getBody().getArgument(1))
        loops.push_back(loop);
    });
    for (kernel::ForOp loop : loops)
      if (Row row(loop); row.isOfWarp()) {
        size_t shared = row.mapToLanes();
        LDBG() << "@" << func.getSymName() << ": a row is a warp's, whose lanes share " << shared << " loops";
        ++warpRows;
        sharedLoops += shared;
      }
  }
};
} // namespace
} // namespace dbc::passes
