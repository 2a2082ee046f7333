// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-share-stages: which stages several programs have, so that they are printed once.
#include "ir/Kernel/Kernel.h"
#include "mlir/IR/OperationSupport.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include <deque>

#define DEBUG_TYPE "kernel-share-stages"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELSHARESTAGES
#include "passes/Passes.h.inc"

namespace {

/// A stage, with the symbols of its program.
struct StageFunc {
  kernel::FuncOp func;
  const SymbolTable *symbols;
};

/// What a stage names in its program, each once.
SmallVector<Operation *> declarationsOf(StageFunc stage) {
  llvm::SetVector<Operation *> found;
  auto add = [&](Attribute attribute) {
    attribute.walk([&](FlatSymbolRefAttr symbol) {
      if (Operation *op = stage.symbols->lookup(symbol.getValue())) // else a parameter, which is the module's
        found.insert(op);
    });
  };
  add(stage.func->getAttrDictionary());
  stage.func.getBody().walk([&](Operation *op) { add(op->getAttrDictionary()); });
  // What a buffer's rows are.
  for (size_t n = 0; n < found.size(); ++n)
    if (auto buffer = dyn_cast<kernel::BufferOp>(found[n]))
      found.insert(stage.symbols->lookup(buffer.getIndexSet()));
  return found.takeVector();
}

/// Whether an entry's stage can be another one's too, on the CPU.
bool canBeShared(StageFunc stage) {
  WalkResult result = stage.func.getBody().walk([&](Operation *op) {
    bool own = op->hasTrait<kernel::FailsInput>() || isa<kernel::WindowOp, kernel::DropoutOp>(op);
    if (auto order = dyn_cast<kernel::OrderOp>(op))
      own |= stage.symbols->lookup<kernel::IndexSetOp>(order.getIndexSet()).getKind() ==
             kernel::IndexSetKind::Instances;
    return own ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// Whether two declarations look the same, wherever in memory they lie, and whichever group makes their rows.
/// On a GPU each index array is an array of its own.
bool sameDeclaration(Operation *a, Operation *b, bool device) {
  NamedAttrList ofA(a->getAttrDictionary()), ofB(b->getAttrDictionary());
  for (NamedAttrList *attributes : {&ofA, &ofB}) {
    for (StringRef name : {"storage", "group", "cell"})
      attributes->erase(name);
    if (device)
      for (StringRef name : {"index_arrays", "parent", "masked"})
        attributes->erase(name);
  }
  return a->getName() == b->getName() &&
         ofA.getDictionary(a->getContext()) == ofB.getDictionary(b->getContext());
}

/// Whether the same of the declared buffers share memory: on the CPU a function is told what is not aliased.
bool sameStorage(ArrayRef<Operation *> a, ArrayRef<Operation *> b) {
  llvm::DenseMap<Attribute, Attribute> forward, back;
  for (auto [ofA, ofB] : llvm::zip_equal(a, b)) {
    auto bufferA = dyn_cast<kernel::BufferOp>(ofA);
    if (!bufferA)
      continue;
    Attribute storageA = bufferA.getStorageAttr(), storageB = cast<kernel::BufferOp>(ofB).getStorageAttr();
    if (!storageA != !storageB)
      return false;
    if (storageA && (forward.try_emplace(storageA, storageB).first->second != storageB ||
                     back.try_emplace(storageB, storageA).first->second != storageA))
      return false;
  }
  return true;
}

/// What persistent loops make of a stage's kernel.
struct InLoops {
  explicit InLoops(StageFunc stage, ArrayRef<Operation *> declarations)
      : residentBlocks(kernel::residentBlocks(stage.func, /*realBytes=*/4),
                       kernel::residentBlocks(stage.func, /*realBytes=*/8)) {
    kernel::ProgramOp program = stage.func->getParentOfType<kernel::ProgramOp>();
    for (kernel::TimeStepLoopInterface loop : kernel::persistentLoops(program)) {
      bool own = false;
      loop->walk([&](kernel::LaunchOp launch) { own |= launch.getFunc() == stage.func.getSymName(); });
      inLoop |= own;
      if (std::optional<ArrayAttr> syncs = loop.getSyncs())
        for (auto buffer : syncs->getAsRange<FlatSymbolRefAttr>())
          if (llvm::is_contained(declarations, stage.symbols->lookup(buffer.getValue())))
            synced.push_back({buffer, own});
    }
  }
  bool operator==(const InLoops &o) const {
    return inLoop == o.inLoop && residentBlocks == o.residentBlocks && synced == o.synced;
  }

  bool inLoop = false;                            ///< one of them
  std::pair<int64_t, int64_t> residentBlocks;     ///< of f32 and f64
  SmallVector<std::pair<Attribute, bool>> synced; ///< buffers, and whether by a loop that it is in
};

bool isSame(StageFunc a, StageFunc b, bool device) {
  if (a.func->getAttrDictionary() != b.func->getAttrDictionary() ||
      !OperationEquivalence::isRegionEquivalentTo(&a.func.getBody(), &b.func.getBody(),
                                                  OperationEquivalence::IgnoreLocations))
    return false;
  SmallVector<Operation *> ofA = declarationsOf(a), ofB = declarationsOf(b);
  return ofA.size() == ofB.size() &&
         llvm::all_of(
             llvm::zip_equal(ofA, ofB),
             [&](auto pair) { return sameDeclaration(std::get<0>(pair), std::get<1>(pair), device); }) &&
         (device ? InLoops(a, ofA) == InLoops(b, ofB) : sameStorage(ofA, ofB));
}

/// The stage that is printed for one.
kernel::FuncOp printedFor(kernel::FuncOp stage) {
  SymbolRefAttr same = stage.getSameAsAttr();
  return same ? SymbolTable::lookupNearestSymbolFrom<kernel::FuncOp>(stage->getParentOfType<ModuleOp>(), same)
              : stage;
}

struct KernelShareStagesPass : impl::KernelShareStagesBase<KernelShareStagesPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) { op->removeAttr("same_as"); });
    std::deque<SymbolTable> symbols;                           ///< of each program
    llvm::MapVector<StringAttr, SmallVector<StageFunc>> known; ///< the first of each kind, by name
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      symbols.emplace_back(program);
      for (auto func : program.getBody().front().getOps<kernel::FuncOp>()) {
        StageFunc stage{func, &symbols.back()};
        if (func.getKind() != kernel::FuncKind::Stage || !(device || canBeShared(stage)))
          continue;
        SmallVector<StageFunc> &alike = known[func.getSymNameAttr()];
        auto *first = llvm::find_if(alike, [&](StageFunc other) { return isSame(other, stage, device); });
        if (first == alike.end())
          alike.push_back(stage);
        else
          share(func, first->func);
      }
    }
    shareLoops();
  }

  void share(kernel::FuncOp func, kernel::FuncOp first) {
    auto program = first->getParentOfType<kernel::ProgramOp>();
    LDBG() << "@" << func.getSymName() << " is that of @" << program.getSymName();
    func.setSameAsAttr(
        SymbolRefAttr::get(program.getSymNameAttr(), FlatSymbolRefAttr::get(first.getSymNameAttr())));
    ++sharedStages;
  }

  /// A persistent loop is a kernel: the loops of programs that have the same number, launch the same stages
  /// and are equal otherwise.
  void shareLoops() {
    std::vector<SmallVector<kernel::TimeStepLoopInterface>> first; ///< of each kind, by number
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SmallVector<kernel::TimeStepLoopInterface> loops = kernel::persistentLoops(program);
      first.resize(std::max(first.size(), loops.size()));
      for (size_t number = 0; number < loops.size(); ++number) {
        kernel::TimeStepLoopInterface loop = loops[number];
        auto *other = llvm::find_if(first[number], [&](auto other) { return isSameLoop(other, loop); });
        if (other == first[number].end()) {
          first[number].push_back(loop);
          continue;
        }
        loop.setSameAs((*other)->getParentOfType<kernel::ProgramOp>().getSymName());
        ++sharedLoops;
      }
    }
  }

  static bool isSameLoop(kernel::TimeStepLoopInterface a, kernel::TimeStepLoopInterface b) {
    auto stagesOf = [](kernel::TimeStepLoopInterface loop) {
      auto program = loop->getParentOfType<kernel::ProgramOp>();
      SmallVector<kernel::FuncOp> stages;
      loop->walk([&](kernel::LaunchOp launch) {
        stages.push_back(printedFor(program.lookupSymbol<kernel::FuncOp>(launch.getFunc())));
      });
      return stages;
    };
    return a->getName() == b->getName() && a->getAttrDictionary() == b->getAttrDictionary() &&
           OperationEquivalence::isRegionEquivalentTo(&a->getRegion(0), &b->getRegion(0),
                                                      OperationEquivalence::IgnoreLocations) &&
           stagesOf(a) == stagesOf(b);
  }
};
} // namespace
} // namespace dbc::passes
