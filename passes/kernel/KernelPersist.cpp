// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-persist: which loops over levels or steps a GPU may run in one launch.
#include "ir/Kernel/Kernel.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-persist"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELPERSIST
#include "passes/Passes.h.inc"

namespace {

/// The loop that orders an index set's rows: a group, or a scan's index set.
StringRef orderedBy(kernel::IndexSetOp indexSet, SymbolTable &names) {
  while (indexSet) {
    if (indexSet.getKind() == kernel::IndexSetKind::Steps && indexSet.getByTimeStep())
      return indexSet.getSymName();
    if (indexSet.getGroup())
      return *indexSet.getGroup();
    indexSet = kernel::parentOf(indexSet, names);
  }
  return "";
}

/// Why a loop cannot be one launch; empty: it can.
StringRef whyNot(Block &body, StringRef loop, SymbolTable &names) {
  for (Operation &op : body) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (isa<kernel::MaskOp>(op) || (launch && launch.getActive()))
      return "a `while` says which rows there are";
    if (!launch)
      return "another loop stands in it";
    auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
    auto indexSet = names.lookup<kernel::IndexSetOp>(*func.getIndexSet());
    if (!indexSet.getByTimeStep() || orderedBy(indexSet, names) != loop)
      return "a stage of it runs over rows that it does not order";
    bool shared = true;
    func.walk([&](kernel::LocalOp local) { shared &= local.getMemory() == kernel::Memory::Shared; });
    if (!shared)
      return "scratch of a stage does not fit what threads share";
  }
  return "";
}

/// Of the numbers that tensor cores multiply.
constexpr int64_t kRealBytes = 4;

/// The matrices that fit beside the scratch of a loop's stages, in the order of these, and at which byte each
/// begins. Of a matrix in tiles a block of threads has one: all its products must be by tiles that blocks
/// share.
SmallVector<std::pair<FlatSymbolRefAttr, int64_t>> residentIn(Block &body, SymbolTable &names) {
  int64_t used = 0;
  llvm::MapVector<Attribute, bool> fits;
  for (auto launch : body.getOps<kernel::LaunchOp>()) {
    auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
    used = std::max(used, kernel::blockBytes(func, kernel::Memory::Shared, kRealBytes));
    func.walk([&](kernel::ProductOp product) {
      auto matrix = names.lookup<kernel::WeightsOp>(product.getWeights());
      bool own = product.getSums() && (!matrix.getGates() || func.getTiles());
      auto [known, isNew] = fits.try_emplace(product.getWeightsAttr(), own);
      known->second &= own;
    });
  }
  SmallVector<std::pair<FlatSymbolRefAttr, int64_t>> all;
  for (auto [name, fit] : fits) {
    auto matrix = names.lookup<kernel::WeightsOp>(cast<FlatSymbolRefAttr>(name).getValue());
    if (!fit || used + matrix.getTileBytes() > kernel::kSharedOfH100)
      continue;
    all.push_back({cast<FlatSymbolRefAttr>(name), used});
    used += matrix.getTileBytes();
  }
  return all;
}

/// Says what such a launch does besides its stages; gives how many matrices are resident.
size_t persist(Block &body, SymbolTable &names) {
  SmallVector<std::pair<FlatSymbolRefAttr, int64_t>> resident = residentIn(body, names);
  for (auto launch : llvm::to_vector(body.getOps<kernel::LaunchOp>())) {
    OpBuilder builder(body.getParent()->getContext());
    builder.setInsertionPointAfter(launch);
    kernel::BlockGroupBarrierOp::create(builder, launch.getLoc());
  }
  if (resident.empty())
    return 0;
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = body.getParentOp()->getLoc();
  auto first = kernel::FirstOp::create(builder, loc);
  builder.createBlock(&first.getBody());
  for (auto [matrix, offset] : resident)
    kernel::CopyAsyncOp::create(builder, loc, matrix, builder.getI64IntegerAttr(offset));
  kernel::WaitCopiesOp::create(builder, loc);
  kernel::BarrierOp::create(builder, loc);
  return resident.size();
}

struct KernelPersistPass : impl::KernelPersistBase<KernelPersistPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SymbolTable names(program);
      for (auto run : program.getOps<kernel::RunOp>())
        visit(run.getBody().front(), names);
    }
  }
  void visit(Block &ops, SymbolTable &names) {
    for (Operation &op : ops) {
      if (isa<kernel::ConcurrentOp, kernel::GradientsOp>(op))
        visit(op.getRegion(0).front(), names);
      auto loop = dyn_cast<kernel::TimeStepLoopInterface>(op);
      if (!loop)
        continue;
      Block &body = loop->getRegion(0).front();
      StringRef reason = whyNot(body, loop.getCarrier(), names);
      loop.setPersistent(reason.empty());
      if (!reason.empty()) {
        LDBG() << "the loop of @" << loop.getCarrier() << " is no launch: " << reason;
        loop.setNotPersistentReason(reason);
        continue;
      }
      size_t matrices = persist(body, names);
      LDBG() << "the loop of @" << loop.getCarrier() << " may be one launch, with " << matrices
             << " resident matrices";
      ++persistentLoops;
      residentMatrices += matrices;
    }
  }
};
} // namespace
} // namespace dbc::passes
