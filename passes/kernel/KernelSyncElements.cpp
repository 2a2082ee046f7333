// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-sync-elements: persistent kernels that can synchronise element by element instead of by barriers.
#include "ir/Kernel/Kernel.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-sync-elements"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELSYNCELEMENTS
#include "passes/Passes.h.inc"

namespace {

/// The launches of a program in the order in which they run, and what their stages write.
struct Launches {
  Launches(kernel::RunOp run, SymbolTable &names) : names(names) {
    run.walk<WalkOrder::PreOrder>([&](kernel::LaunchOp launch) {
      auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
      all.push_back(launch);
      kernel::walkAccesses(func, [&](Operation *op, const kernel::Access &access) {
        if (access.writes)
          stores[access.array.getValue()].push_back({launch, op});
      });
    });
  }
  kernel::FuncOp stage(kernel::LaunchOp launch) { return names.lookup<kernel::FuncOp>(launch.getFunc()); }
  kernel::IndexSetOp indexSet(kernel::LaunchOp launch) {
    return names.lookup<kernel::IndexSetOp>(*stage(launch).getIndexSet());
  }

  struct Store {
    kernel::LaunchOp launch;
    Operation *op;
  };
  SymbolTable &names;
  SmallVector<kernel::LaunchOp> all;
  llvm::StringMap<SmallVector<Store>> stores; ///< by buffer
};

/// Whether a store is made in each round of the loops around it, at an offset of its own.
bool writesDisjoint(Operation *op) {
  if (isa<kernel::GemmOp>(op)) // each row of its index set
    return true;
  auto store = dyn_cast<kernel::StoreOp>(op);
  if (!store)
    return false;
  SetVector<Operation *> needed;
  SetVector<Value> values(store.getIndices().begin(), store.getIndices().end());
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  for (Value index : store.getIndices())
    if (Operation *op = index.getDefiningOp()) {
      (void)getBackwardSlice(op, &needed, options);
      needed.insert(op);
    }
  for (Operation *op : needed)
    values.insert(op->operand_begin(), op->operand_end());
  for (Operation *loop = store->getParentOp(); !isa<kernel::FuncOp>(loop); loop = loop->getParentOp())
    if (isa<kernel::IfOp>(loop) || loop->getRegion(0).getNumArguments() == 0 ||
        !values.contains(loop->getRegion(0).getArgument(0)))
      return false;
  return true;
}

/// Whether stores write different parts of the same rows: elements base + offset, each with an offset of its
/// own. The last part ends where the row does, so none is longer than what there is from its offset on.
bool arePieces(ArrayRef<Operation *> stores, kernel::BufferOp buffer) {
  ArrayRef<int64_t> extents = dyn::extents(buffer.getType());
  if (extents.size() != 1)
    return false;
  ValueRange first = cast<kernel::StoreOp>(stores[0]).getIndices();
  Value base;
  SmallVector<int64_t> offsets;
  for (Operation *op : stores) {
    auto store = dyn_cast<kernel::StoreOp>(op);
    if (!store || store->getBlock() != stores[0]->getBlock() || store.getIndices()[0] != first[0])
      return false;
    Value index = store.getIndices()[1], own = index;
    APInt offset(32, 0);
    if (auto sum = index.getDefiningOp<arith::AddIOp>())
      if (matchPattern(sum.getRhs(), m_ConstantInt(&offset)))
        own = sum.getLhs();
    if (base && own != base)
      return false;
    base = own;
    offsets.push_back(offset.getSExtValue());
  }
  llvm::sort(offsets);
  const int64_t longest = extents[0] - offsets.back();
  for (size_t n = 1; n < offsets.size(); ++n)
    if (offsets[n] - offsets[n - 1] < longest)
      return false;
  return true;
}

/// Whether each number of a buffer is written once: by one store, or in pieces; or by several in stages over
/// different rows, where each row is reserved for one of them, or arms share out the rows.
bool isWrittenOnce(kernel::BufferOp buffer, Launches &launches) {
  const auto &stores = launches.stores[buffer.getSymName()];
  const bool reserved = launches.names.lookup<kernel::IndexSetOp>(buffer.getIndexSet()).getKind() ==
                        kernel::IndexSetKind::States;
  kernel::IndexSetOp first = launches.indexSet(stores.front().launch);
  llvm::MapVector<Operation *, SmallVector<Operation *>> ofLaunches;
  for (auto [launch, store] : stores)
    ofLaunches[launch].push_back(store);
  llvm::SmallPtrSet<Operation *, 4> indexSets;
  for (auto &[launch, own] : ofLaunches) {
    kernel::IndexSetOp indexSet = launches.indexSet(cast<kernel::LaunchOp>(launch));
    const bool shared =
        indexSet.getKind() == kernel::IndexSetKind::Arm && indexSet.getParent() == first.getParent();
    // What is written for all rows of the buffer, zeros mostly, leaves none for others.
    const bool all = ofLaunches.size() > 1 && indexSet.getSymName() == buffer.getIndexSet();
    if (all || !llvm::all_of(own, writesDisjoint) || (own.size() > 1 && !arePieces(own, buffer)) ||
        !indexSets.insert(indexSet).second || (ofLaunches.size() > 1 && !reserved && !shared))
      return false;
  }
  return true;
}

/// Whether something else may be written before in a buffer's memory.
bool sharesMemory(kernel::BufferOp buffer, Operation *loop, Launches &launches) {
  auto program = buffer->getParentOfType<kernel::ProgramOp>();
  for (auto other : program.getOps<kernel::BufferOp>()) {
    if (other == buffer || !buffer.getStorage() || other.getStorage() != buffer.getStorage())
      continue;
    for (auto [launch, store] : launches.stores[other.getSymName()]) {
      Operation *outermost = launch;
      while (!isa<kernel::RunOp, kernel::ConcurrentOp>(outermost->getParentOp()))
        outermost = outermost->getParentOp();
      if (outermost == loop || outermost->getBlock() != loop->getBlock() || outermost->isBeforeInBlock(loop))
        return true;
    }
  }
  return false;
}

/// Why blocks of threads of a loop need barriers; empty: they can wait for elements of `buffers`.
StringRef whyBarriers(Operation *loop, Launches &launches, int64_t realBytes, SetVector<Attribute> &buffers) {
  llvm::StringSet<> written;
  bool checks = false, computed = false, oneByOne = false;
  auto eachAccess = [&](function_ref<void(Operation *, const kernel::Access &)> see) {
    loop->walk([&](kernel::LaunchOp launch) { kernel::walkAccesses(launches.stage(launch), see); });
  };
  loop->walk([&](kernel::LaunchOp launch) {
    launches.stage(launch).walk([&](Operation *op) { checks |= op->hasTrait<kernel::FailsInput>(); });
  });
  eachAccess([&](Operation *, const kernel::Access &access) {
    if (access.writes)
      written.insert(access.array.getValue());
  });
  eachAccess([&](Operation *op, const kernel::Access &access) {
    if (!access.reads)
      return;
    const bool isPassed = written.contains(access.array.getValue());
    if (auto buffer = launches.names.lookup<kernel::BufferOp>(access.array.getValue()))
      computed |= getElementTypeOrSelf(buffer.getType()).isInteger(32) && !isPassed;
    if (!isPassed)
      return;
    buffers.insert(access.array);
    // Of a product on the tensor cores a thread has many elements on their way at once.
    oneByOne |= llvm::any_of(op->getUsers(), [](Operation *user) {
      auto product = dyn_cast<kernel::ProductOp>(user);
      return isa<kernel::MultiplyOp>(user) || (product && !product.getSums());
    });
  });
  if (checks)
    return "what is wrong in a row may lead to one that nobody writes";
  if (computed)
    return "a computed number may say which rows are read";
  for (Attribute each : buffers) {
    StringRef name = cast<FlatSymbolRefAttr>(each).getValue();
    auto buffer = launches.names.lookup<kernel::BufferOp>(name);
    if (realBytes != 4)
      return "elements are of 64 bits";
    if (!getElementTypeOrSelf(buffer.getType()).isF32())
      return "integers are passed between blocks";
    if (oneByOne)
      return "a product takes what is passed between blocks one element after the other";
    if (!isWrittenOnce(buffer, launches))
      return "an element may be written twice";
  }
  return "";
}

struct KernelSyncElementsPass : impl::KernelSyncElementsBase<KernelSyncElementsPass> {
  using KernelSyncElementsBase::KernelSyncElementsBase;
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SymbolTable names(program);
      for (auto run : program.getOps<kernel::RunOp>()) {
        Launches launches(run, names);
        run.walk([&](kernel::TimeStepLoopInterface loop) { decide(loop, launches); });
      }
    }
  }
  void decide(kernel::TimeStepLoopInterface loop, Launches &launches) {
    if (!loop.getPersistent())
      return;
    SetVector<Attribute> buffers;
    StringRef reason = whyBarriers(loop, launches, realBytes, buffers);
    if (!reason.empty()) {
      LDBG() << "blocks of the loop of @" << loop.getCarrier() << " need barriers: " << reason;
      loop.setBarrierReason(reason);
      return;
    }
    LDBG() << "blocks of the loop of @" << loop.getCarrier() << " wait for elements of " << buffers.size()
           << " buffers";
    ++syncedLoops;
    loop.setSyncsAttr(ArrayAttr::get(loop.getContext(), buffers.getArrayRef()));
    for (Attribute name : buffers)
      if (auto buffer = launches.names.lookup<kernel::BufferOp>(cast<FlatSymbolRefAttr>(name).getValue());
          sharesMemory(buffer, loop, launches)) {
        buffer.setStorage(kernel::nextStorage(buffer->getParentOfType<kernel::ProgramOp>())); // of its own
        ++unaliasedBuffers;
      }
  }
};
} // namespace
} // namespace dbc::passes
