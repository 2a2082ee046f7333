// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-blas: stages that are one product become a call of a library.
#include "ir/Kernel/Kernel.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-blas"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELBLAS
#include "passes/Passes.h.inc"

namespace {
struct KernelBlasPass : impl::KernelBlasBase<KernelBlasPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SymbolTable names(program);
      ofLibrary.clear();
      for (auto func : program.getOps<kernel::FuncOp>())
        if (func.getBlas())
          call(func, names);
      droppedMatrices += dropUnused(program);
    }
  }

  /// The stage's loops read rows of one array and write those of another, all rows of its index set.
  void call(kernel::FuncOp func, SymbolTable &names) {
    kernel::ProductOp product;
    kernel::StoreOp store;
    func.walk([&](kernel::ProductOp op) { product = op; });
    func.walk([&](kernel::StoreOp op) { store = op; });
    assert(product && store && product.getX().size() == 1 && "batch-blas makes such stages");
    auto rows = product.getX()[0].getDefiningOp<kernel::RowsOp>();
    assert(rows.getArray() && rows.getOffset() == 0 && "its operand is the row of a buffer");
    FlatSymbolRefAttr from = rows.getArrayAttr(), to = store.getArrayAttr(),
                      matrix = plain(names.lookup<kernel::WeightsOp>(product.getWeights()), names);
    Location loc = product.getLoc();
    LDBG() << "@" << func.getSymName() << " has the library multiply " << from << " with " << matrix
           << " into " << to;
    ++madeGemms;
    Block &body = func.getBody().front();
    body.clear();
    body.eraseArguments(2, body.getNumArguments() - 2); // tiles
    func.removeTilesAttr();
    OpBuilder b = OpBuilder::atBlockEnd(&body);
    kernel::GemmOp::create(b, loc, body.getArgument(0), body.getArgument(1), from, matrix, to,
                           tf32 ? b.getUnitAttr() : UnitAttr());
  }

  /// The matrix without tiles: a library knows none. Products that are not the library's keep their own.
  FlatSymbolRefAttr plain(kernel::WeightsOp matrix, SymbolTable &names) {
    assert(!matrix.getTables() && !matrix.getTurned() && "batch-blas takes products of one matrix");
    kernel::WeightsOp &made = ofLibrary[matrix.getMatrix()];
    if (made)
      return FlatSymbolRefAttr::get(made.getSymNameAttr());
    made = cast<kernel::WeightsOp>(matrix->clone());
    made.removeGatesAttr();
    made.removeWidthAttr();
    made.setSymName(("matrix." + matrix.getSymName().drop_front(StringRef("packed.").size())).str());
    names.insert(made, std::next(matrix->getIterator()));
    return FlatSymbolRefAttr::get(made.getSymNameAttr());
  }

  /// Nothing is laid out for products that are gone. Gives how many matrices are gone with them.
  static unsigned dropUnused(kernel::ProgramOp program) {
    llvm::DenseSet<StringRef> used;
    program.walk([&](Operation *op) {
      if (auto product = dyn_cast<kernel::ProductOp>(op))
        used.insert(product.getWeights());
      else if (auto gemm = dyn_cast<kernel::GemmOp>(op))
        used.insert(gemm.getWeights());
    });
    unsigned gone = 0;
    for (auto matrix : llvm::make_early_inc_range(program.getOps<kernel::WeightsOp>()))
      if (!used.contains(matrix.getSymName())) {
        matrix.erase();
        ++gone;
      }
    return gone;
  }

  llvm::DenseMap<Attribute, kernel::WeightsOp> ofLibrary; ///< what was made in this program of a matrix
};
} // namespace
} // namespace dbc::passes
