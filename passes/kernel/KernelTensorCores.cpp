// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-tensor-cores: which products a GPU's tensor cores compute, and in which order they add.
#include "ir/Kernel/Kernel.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-tensor-cores"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELTENSORCORES
#include "passes/Passes.h.inc"

namespace {

/// N tiles that a warp adds up at once: their sums, the operands and what tf32x3 splits these into fit its
/// threads' registers.
constexpr int64_t kMaxNTiles = 5;

struct KernelTensorCoresPass : impl::KernelTensorCoresBase<KernelTensorCoresPass> {
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
      program.walk([&](kernel::OuterOp outer) { outer.setInstruction(instruction()); });
    }
  }

  kernel::Instruction instruction() const {
    return tf32 ? kernel::Instruction::TF32 : kernel::Instruction::TF32x3;
  }

  static bool fits(kernel::WeightsOp matrix, ArrayRef<kernel::ProductOp> products) {
    kernel::ProductOp first = products.front();
    return !matrix.getTables() && llvm::all_of(products, [&](kernel::ProductOp product) {
      return product.getLengths() == first.getLengths();
    });
  }

  void give(kernel::WeightsOp matrix, ArrayRef<kernel::ProductOp> products) {
    ArrayRef<int64_t> lengths = kernel::ProductOp(products.front()).getLengths();
    int64_t kTiles = 0, slices = 1;
    for (int64_t length : lengths)
      kTiles += llvm::divideCeil(length, kernel::kKTile);
    while (slices < kernel::kWarps && 2 * slices <= kTiles)
      slices *= 2;
    int64_t outputs = matrix.getGates() ? *matrix.getGates() * *matrix.getWidth() : matrix.getOut();
    int64_t all = llvm::divideCeil(outputs, kernel::kNTile),
            nTiles = llvm::divideCeil(all, llvm::divideCeil(all, kMaxNTiles));
    LDBG() << "@" << matrix.getSymName() << " has " << products.size() << " products, in " << slices
           << " slices of " << kTiles << " K tiles and " << nTiles << " of " << all << " N tiles at once";
    ++contracts;
    productsOnTensorCores += products.size();
    matrix.setContractAttr(kernel::ContractAttr::get(&getContext(), instruction(), slices, nTiles, lengths));
    for (kernel::ProductOp product : products) {
      OpBuilder b(product->getParentOfType<kernel::FuncOp>().getBody());
      auto type = kernel::LocalType::get(
          &getContext(), {kernel::kWarps, nTiles, kernel::kNTile, kernel::kMTile}, b.getF32Type());
      Location loc = NameLoc::get(b.getStringAttr("sums"), product.getLoc());
      product.getSumsMutable().assign(kernel::LocalOp::create(b, loc, type));
    }
  }
};
} // namespace
} // namespace dbc::passes
