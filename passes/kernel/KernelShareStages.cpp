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

/// Whether an entry's stage can be another one's too.
bool canBeShared(StageFunc stage) {
  WalkResult result = stage.func.getBody().walk([&](Operation *op) {
    bool own = op->hasTrait<kernel::FailsInput>() || isa<kernel::WindowOp>(op);
    if (auto order = dyn_cast<kernel::OrderOp>(op))
      own |= stage.symbols->lookup<kernel::IndexSetOp>(order.getIndexSet()).getKind() ==
             kernel::IndexSetKind::Instances;
    return own ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// Whether two declarations look the same, wherever in memory they lie.
bool sameDeclaration(Operation *a, Operation *b) {
  NamedAttrList ofA(a->getAttrDictionary()), ofB(b->getAttrDictionary());
  for (NamedAttrList *attributes : {&ofA, &ofB})
    attributes->erase("storage");
  return a->getName() == b->getName() &&
         ofA.getDictionary(a->getContext()) == ofB.getDictionary(b->getContext());
}

/// Whether the same of the declared buffers share memory.
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

bool isSame(StageFunc a, StageFunc b) {
  if (a.func->getAttrDictionary() != b.func->getAttrDictionary() ||
      !OperationEquivalence::isRegionEquivalentTo(&a.func.getBody(), &b.func.getBody(),
                                                  OperationEquivalence::IgnoreLocations))
    return false;
  SmallVector<Operation *> ofA = declarationsOf(a), ofB = declarationsOf(b);
  return ofA.size() == ofB.size() &&
         llvm::all_of(llvm::zip_equal(ofA, ofB),
                      [](auto pair) { return sameDeclaration(std::get<0>(pair), std::get<1>(pair)); }) &&
         sameStorage(ofA, ofB);
}

struct KernelShareStagesPass : impl::KernelShareStagesBase<KernelShareStagesPass> {
  void runOnOperation() override {
    std::deque<SymbolTable> symbols;                           ///< of each program
    llvm::MapVector<StringAttr, SmallVector<StageFunc>> known; ///< the first of each kind, by name
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      symbols.emplace_back(program);
      for (auto func : program.getBody().front().getOps<kernel::FuncOp>()) {
        StageFunc stage{func, &symbols.back()};
        if (func.getKind() != kernel::FuncKind::Stage || !canBeShared(stage))
          continue;
        SmallVector<StageFunc> &alike = known[func.getSymNameAttr()];
        auto *first = llvm::find_if(alike, [&](StageFunc other) { return isSame(other, stage); });
        if (first == alike.end())
          alike.push_back(stage);
        else
          share(func, first->func);
      }
    }
  }

  void share(kernel::FuncOp func, kernel::FuncOp first) {
    auto program = first->getParentOfType<kernel::ProgramOp>();
    LDBG() << "@" << func.getSymName() << " is that of @" << program.getSymName();
    func.setSameAsAttr(
        SymbolRefAttr::get(program.getSymNameAttr(), FlatSymbolRefAttr::get(first.getSymNameAttr())));
    ++sharedStages;
  }
};
} // namespace
} // namespace dbc::passes
