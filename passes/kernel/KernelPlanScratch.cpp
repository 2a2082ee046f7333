// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-plan-scratch: where the locals of a CPU's stages lie, and what the runtime's kernels work in.
#include "ir/Kernel/Kernel.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "kernel-plan-scratch"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELPLANSCRATCH
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t kCacheLine = 64;
/// Bytes of one local on the stack, and of all of a function, at most.
constexpr int64_t kOnStack = 2048, kStackInAll = 16384;

/// One stage.
class Plan {
public:
  Plan(kernel::FuncOp func, const SymbolTable &arrays, int64_t realBytes)
      : func(func), arrays(arrays), realBytes(realBytes) {}

  void run() {
    func.walk([&](Operation *op) {
      if (auto product = dyn_cast<kernel::ProductOp>(op))
        for (auto [x, length] : llvm::zip(product.getXMutable(), product.getLengths()))
          copy(x, rowsOfBlock(op) * length);
      else if (auto multiply = dyn_cast<kernel::MultiplyOp>(op))
        pack(multiply);
      else if (auto outer = dyn_cast<kernel::OuterOp>(op))
        pack(outer);
    });
    func.walk([&](kernel::LocalOp local) { place(local); });
    if (scratch > 0)
      func.setScratch(scratch);
    LDBG() << "@" << func.getSymName() << ": " << scratch << " bytes, " << stack << " on the stack";
  }

  int64_t placed = 0, copied = 0;

private:
  /// The rows of a block that an operation computes; without blocks there is one row.
  static int64_t rowsOfBlock(Operation *op) {
    auto blocks = op->getParentOfType<kernel::BlocksOp>();
    return blocks ? blocks.getSize() : 1;
  }

  kernel::LocalOp makeLocal(Operation *user, int64_t numbers) {
    Block &entry = func.getBody().front();
    OpBuilder b(&entry, llvm::find_if(entry, [](Operation &op) { return !isa<kernel::LocalOp>(op); }));
    auto type = kernel::LocalType::get(b.getContext(), {numbers}, b.getF32Type());
    return kernel::LocalOp::create(b, user->getLoc(), type);
  }

  /// What the runtime packs operands into begins at a cache line.
  kernel::LocalOp makeMemory(Operation *user, int64_t numbers) {
    kernel::LocalOp memory = makeLocal(user, numbers);
    inScratch.insert(memory);
    return memory;
  }

  /// Has an operand of `numbers` numbers copied as double, if it is float. Its rows may be another one's too.
  void copy(OpOperand &operand, int64_t numbers) {
    auto rows = operand.get().getDefiningOp<kernel::RowsOp>();
    if (realBytes == 4 || !rows.getArray() ||
        !isa_and_nonnull<kernel::FieldOp, kernel::ArgumentOp>(arrays.lookup(*rows.getArray())))
      return;
    OpBuilder b(rows);
    auto own = cast<kernel::RowsOp>(b.clone(*rows));
    own.getCopyMutable().assign(makeMemory(operand.getOwner(), numbers));
    operand.set(own);
    if (rows->use_empty())
      rows.erase();
    ++copied;
  }

  /// Numbers of whole cache lines that hold so many.
  int64_t padded(int64_t numbers) const { return llvm::alignTo(numbers, kCacheLine / realBytes); }

  /// As dbc::multiply says.
  void pack(kernel::MultiplyOp op) {
    int64_t inputs = 0;
    for (auto [slice, length] : llvm::zip(op.getBMutable(), op.getLengths())) {
      copy(slice, rowsOfBlock(op) * length * op.getOutputs());
      inputs += length;
    }
    copy(op.getAMutable(), rowsOfBlock(op) * op.getHeight() * inputs);
    op.getMemoryMutable().assign(makeMemory(op, padded(op.getOutputs()) * (inputs + 1)));
  }

  /// As dbc::outer_products_memory says.
  void pack(kernel::OuterOp op) {
    copy(op.getAMutable(), op.getMost() * op.getHeight());
    copy(op.getXMutable(), op.getMost() * op.getOutputs());
    op.getMemoryMutable().assign(
        makeMemory(op, op.getMost() * (padded(op.getOutputs()) + op.getHeight() + kernel::kSumTileRows - 1)));
  }

  void place(kernel::LocalOp local) {
    if (local->use_empty())
      return;
    const int64_t bytes = llvm::product_of(local.getType().getShape()) *
                          kernel::bytesOf(local.getType().getElement(), realBytes);
    if (!inScratch.contains(local) && bytes <= kOnStack && stack + bytes <= kStackInAll) {
      stack += bytes;
      return;
    }
    local.setOffset(scratch);
    scratch += llvm::alignTo(bytes, kCacheLine);
    ++placed;
  }

  kernel::FuncOp func;
  const SymbolTable &arrays;
  int64_t realBytes, scratch = 0, stack = 0;
  llvm::DenseSet<Operation *> inScratch; ///< whatever its size
};

struct KernelPlanScratchPass : impl::KernelPlanScratchBase<KernelPlanScratchPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SymbolTable arrays(program);
      for (auto func : program.getOps<kernel::FuncOp>()) {
        if (func.getKind() != kernel::FuncKind::Stage)
          continue;
        Plan plan(func, arrays, realBytes);
        plan.run();
        placedLocals += plan.placed;
        copiedOperands += plan.copied;
      }
    }
  }
};

} // namespace
} // namespace dbc::passes
