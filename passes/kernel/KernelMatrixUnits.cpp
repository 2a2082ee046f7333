// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-matrix-units: which products a GPU's matrix units compute, and in which order they add.
#include "ir/Kernel/Kernel.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-matrix-units"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELMATRIXUNITS
#include "passes/Passes.h.inc"

namespace {

/// Strips that a warp adds up at once: their sums, the numbers that are multiplied, and parts of these fit
/// its threads' registers.
constexpr int64_t kMostStrips = 5;

struct KernelMatrixUnitsPass : impl::KernelMatrixUnitsBase<KernelMatrixUnitsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      llvm::MapVector<StringAttr, SmallVector<kernel::ProductOp>> products;
      program.walk([&](kernel::ProductOp product) {
        products[product.getWeightsAttr().getAttr()].push_back(product);
      });
      SymbolTable names(program);
      for (auto &[name, ofMatrix] : products)
        if (auto matrix = names.lookup<kernel::WeightsOp>(name); fits(matrix, ofMatrix))
          give(matrix, ofMatrix);
    }
  }

  static bool fits(kernel::WeightsOp matrix, ArrayRef<kernel::ProductOp> products) {
    kernel::ProductOp first = products.front();
    return !matrix.getTables() && llvm::all_of(products, [&](kernel::ProductOp product) {
      return product.getLengths() == first.getLengths();
    });
  }

  void give(kernel::WeightsOp matrix, ArrayRef<kernel::ProductOp> products) {
    ArrayRef<int64_t> lengths = kernel::ProductOp(products.front()).getLengths();
    int64_t blocks = 0, chunks = 1;
    for (int64_t length : lengths)
      blocks += llvm::divideCeil(length, kernel::kBlock);
    while (chunks < kernel::kWarps && 2 * chunks <= blocks)
      chunks *= 2;
    int64_t outputs = matrix.getGates() ? *matrix.getGates() * *matrix.getWidth() : matrix.getOut();
    int64_t all = llvm::divideCeil(outputs, kernel::kStrip),
            strips = llvm::divideCeil(all, llvm::divideCeil(all, kMostStrips));
    LDBG() << "@" << matrix.getSymName() << " has " << products.size() << " products, in " << chunks
           << " chunks of " << blocks << " blocks and " << strips << " of " << all << " strips at once";
    ++contracts;
    productsOnUnits += products.size();
    matrix.setContractAttr(kernel::ContractAttr::get(
        &getContext(), tf32 ? kernel::Instruction::TF32 : kernel::Instruction::TF32x3, chunks, strips,
        lengths));
    for (kernel::ProductOp product : products) {
      OpBuilder b(product->getParentOfType<kernel::FuncOp>().getBody());
      auto type = kernel::LocalType::get(
          &getContext(), {kernel::kWarps, strips, kernel::kStrip, kernel::kUnitRows}, b.getF32Type());
      Location loc = NameLoc::get(b.getStringAttr("sums"), product.getLoc());
      product.getSumsMutable().assign(kernel::LocalOp::create(b, loc, type, kernel::MemoryAttr()));
    }
  }
};
} // namespace
} // namespace dbc::passes
