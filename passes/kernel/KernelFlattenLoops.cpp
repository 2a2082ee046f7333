// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-flatten-loops: loop nests over elements that lie one after the other become one loop.
#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-flatten-loops"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELFLATTENLOOPS
#include "passes/Passes.h.inc"

namespace {

/// By how much a number grows with a step of the outer loop and with one of the inner loop. `affine`: that is
/// all that can be said of it; else it is some function of a number that grows so.
struct Growth {
  int64_t outer = 0, inner = 0;
  bool affine = true;

  bool stays() const { return outer == 0 && inner == 0 && affine; }
  Growth operator+(const Growth &other) const {
    return {outer + other.outer, inner + other.inner, affine && other.affine};
  }
  Growth operator*(int64_t factor) const { return {outer * factor, inner * factor, affine}; }
};

/// Two loops, one directly inside the other, the inner one of independent iterations.
class FlatNest {
public:
  /// The loop nest whose inner loop is `inner`, if it has that form.
  static std::optional<FlatNest> of(kernel::ForOp inner, const SymbolTable &names) {
    auto outer = dyn_cast<kernel::ForOp>(inner->getParentOp());
    if (!inner.getVector() || !outer || outer.getVector() || outer.getNumResults() != 0 ||
        inner.getNumResults() != 0)
      return std::nullopt;
    if (&outer.getBody().front().front() != inner ||
        inner->getNextNode() != outer.getBody().front().getTerminator())
      return std::nullopt;
    for (kernel::ForOp loop : {outer, inner})
      if (getConstantIntValue(loop.getLow()) != 0 || !getConstantIntValue(loop.getHigh()))
        return std::nullopt;
    return FlatNest(outer, inner, names);
  }

  /// Whether all that an iteration reads, computes and writes follows from its number in the order of the
  /// loop nest, and no iteration touches what another one writes.
  bool isFlat() {
    for (Operation &op : inner.getBody().front().without_terminator())
      if (!follow(op))
        return false;
    return llvm::all_of(accesses, [](auto &array) { return !array.second.written || array.second.same; });
  }

  void flatten() {
    auto func = outer->getParentOfType<kernel::FuncOp>();
    LDBG() << "@" << func.getSymName() << ": " << *getConstantIntValue(outer.getHigh()) << " times " << steps
           << " iterations are one loop";
    OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
    Location loc = inner.getLoc();
    auto integer = [&](int64_t value) {
      return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)).getResult();
    };
    Value all = integer(*getConstantIntValue(outer.getHigh()) * steps), zero = integer(0);
    BlockArgument counter = outer.getBody().getArgument(0);
    inner.getBody().getArgument(0).setLoc(counter.getLoc()); // and its name
    counter.replaceAllUsesWith(zero);
    inner->moveBefore(outer);
    inner.getHighMutable().assign(all);
    outer.erase();
  }

private:
  /// The accesses of the loop nest to one array. `same`: all are at the same indices, but for the row.
  struct Accesses {
    SmallVector<Value> indices; ///< of the first access
    bool written = false, same = true;
  };

  FlatNest(kernel::ForOp outer, kernel::ForOp inner, const SymbolTable &names)
      : outer(outer), inner(inner), names(names), steps(*getConstantIntValue(inner.getHigh())) {
    growths[outer.getBody().getArgument(0)] = {1, 0};
    growths[inner.getBody().getArgument(0)] = {0, 1};
  }

  bool inOrder(const Growth &growth) const { return growth.outer == growth.inner * steps; }
  Growth growth(Value value) const { return growths.lookup(value); }

  bool follow(Operation &op) {
    if (isa<arith::AddIOp>(op))
      return grows(op, growth(op.getOperand(0)) + growth(op.getOperand(1)));
    if (isa<arith::SubIOp>(op))
      return grows(op, growth(op.getOperand(0)) + growth(op.getOperand(1)) * -1);
    if (auto factor = isa<arith::MulIOp>(op) ? getConstantIntValue(op.getOperand(1)) : std::nullopt)
      return grows(op, growth(op.getOperand(0)) * *factor);
    if (auto load = dyn_cast<kernel::LoadOp>(op)) {
      Growth offset =
          load.getIndexArray() ? growth(load.getIndices()[0]) : offsetOf(load.getArray(), load.getIndices());
      if (!load.getIndexArray())
        touch(load.getArrayAttr().getAttr().getAsOpaquePointer(), load.getIndices(), false);
      return depends(op, offset);
    }
    if (auto read = dyn_cast<kernel::ReadOp>(op)) {
      touch(read.getLocal().getAsOpaquePointer(), read.getIndices(), false);
      return depends(op, offsetOf(read.getLocal(), read.getIndices()));
    }
    if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      touch(store.getArrayAttr().getAttr().getAsOpaquePointer(), store.getIndices(), true);
      return writes(store.getValue(), offsetOf(store.getArray(), store.getIndices()));
    }
    if (auto write = dyn_cast<kernel::WriteOp>(op)) {
      touch(write.getLocal().getAsOpaquePointer(), write.getIndices(), true);
      return writes(write.getValue(), offsetOf(write.getLocal(), write.getIndices()));
    }
    if (!kernel::isValue(&op) && !op.hasTrait<kernel::FailsInput>())
      return false;
    Growth all; // a function of its operands, each of which must follow from the number of the iteration
    for (Value operand : op.getOperands()) {
      if (!inOrder(growth(operand)))
        return false;
      if (!growth(operand).stays())
        all = {steps, 1, false};
    }
    return grows(op, all);
  }

  bool grows(Operation &op, Growth growth) {
    for (Value result : op.getResults())
      growths[result] = growth;
    return true;
  }
  /// What is read at an offset.
  bool depends(Operation &op, const Growth &offset) {
    return inOrder(offset) && grows(op, offset.stays() ? Growth() : Growth{steps, 1, false});
  }
  /// Each iteration must write at an offset of its own.
  bool writes(Value value, const Growth &offset) {
    return inOrder(growth(value)) && inOrder(offset) && offset.affine && offset.inner != 0;
  }

  /// The growth of an offset, in elements from the beginning of an array. Offsets of locals whose first axis
  /// is one of rows are of this kind too.
  Growth offsetOf(ArrayRef<int64_t> extents, ValueRange indices) const {
    Growth offset;
    for (auto [axis, index] : llvm::enumerate(indices))
      offset = offset * (axis == 0 ? 1 : extents[axis - 1]) + growth(index);
    return offset;
  }
  Growth offsetOf(Value local, ValueRange indices) const {
    return offsetOf(cast<kernel::LocalType>(local.getType()).getShape().drop_front(), indices);
  }
  Growth offsetOf(StringRef array, ValueRange indices) {
    SmallVector<int64_t> extents;
    Operation *declared = names.lookup(array);
    if (!declared) // a parameter's row is its first axis
      declared = SymbolTable::lookupSymbolIn(outer->getParentOfType<ModuleOp>(), array);
    Type type = cast<TypeAttr>(declared->getAttr("type")).getValue();
    llvm::append_range(extents, dyn::extents(type));
    if (isa<kernel::ParamOp>(declared) && !extents.empty())
      extents.erase(extents.begin());
    return offsetOf(extents, indices);
  }

  void touch(const void *array, ValueRange indices, bool write) {
    Accesses &known = accesses.try_emplace(array).first->second;
    if (known.indices.empty())
      known.indices = llvm::to_vector(indices);
    if (indices.empty())
      return;
    known.same &= llvm::equal(known.indices, indices) ||
                  (growth(indices[0]).stays() && growth(known.indices[0]).stays() &&
                   llvm::equal(ArrayRef(known.indices).drop_front(), indices.drop_front()));
    known.written |= write;
  }

  kernel::ForOp outer, inner;
  const SymbolTable &names;
  int64_t steps; ///< of the inner loop
  llvm::DenseMap<Value, Growth> growths;
  llvm::DenseMap<const void *, Accesses> accesses;
};

struct KernelFlattenLoopsPass : impl::KernelFlattenLoopsBase<KernelFlattenLoopsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SymbolTable names(program);
      for (auto func : program.getOps<kernel::FuncOp>()) {
        SmallVector<kernel::ForOp> vectors;
        func.walk([&](kernel::ForOp loop) {
          if (loop.getVector())
            vectors.push_back(loop);
        });
        for (kernel::ForOp loop : vectors)
          while (true) {
            std::optional<FlatNest> loopNest = FlatNest::of(loop, names);
            if (!loopNest || !loopNest->isFlat())
              break;
            loopNest->flatten();
            ++flattenedLoops;
          }
      }
    }
  }
};

} // namespace
} // namespace dbc::passes
