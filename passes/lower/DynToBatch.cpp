// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-to-batch: one program over the rows of a batch for each entry and loss. The work is done in
// Flatten*.cpp.
#include "passes/Passes.h"
#include "passes/lower/Flatten.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-to-batch"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNTOBATCH
#include "passes/Passes.h.inc"

namespace {
struct DynToBatchPass : impl::DynToBatchBase<DynToBatchPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto entries = llvm::to_vector(module.getOps<dyn::EntryOp>());
    SymbolTable symbols(module);
    for (dyn::EntryOp entry : entries)
      if (failed(Flattening(module, symbols, entry).run()))
        return signalPassFailure();
    for (auto program : module.getOps<kernel::ProgramOp>()) {
      Block &body = program.getBody().front();
      size_t stages = llvm::range_size(body.getOps<batch::StageOp>());
      LDBG() << "@" << program.getSymName() << " has " << stages << " stages over "
             << llvm::range_size(body.getOps<kernel::IndexSetOp>()) << " index sets";
      madeStages += stages;
    }
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      if (auto data = dyn_cast<dyn::DataOp>(op))
        declareData(data);
      else if (auto param = dyn_cast<dyn::ParamOp>(op))
        declareParam(param);
      else if (isa<dyn::CellOp, dyn::EntryOp, dyn::RelationOp>(op))
        op.erase();
    }
  }

  void declareData(dyn::DataOp data) {
    OpBuilder b(data);
    auto out = kernel::DataOp::create(b, data.getLoc(), data.getSymName());
    OpBuilder inside = OpBuilder::atBlockBegin(&out.getBody().emplaceBlock());
    for (auto [ctor, columns] : llvm::zip(data.getCtors(), dyn::columnNumbers(data)))
      kernel::CtorOp::create(inside, ctor.getLoc(), ctor.getName(), ctor.getFields(), ctor.getTypes(),
                             columns);
    data.erase();
  }

  void declareParam(dyn::ParamOp param) {
    OpBuilder b(param);
    kernel::ParamOp::create(b, param.getLoc(), param.getSymName(), param.getType(),
                            param.getInitAttr() ? Attribute(param.getInitAttr()) : Attribute());
    param.erase();
  }
};
} // namespace
} // namespace dbc::passes
