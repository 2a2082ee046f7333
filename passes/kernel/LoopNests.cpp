// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/kernel/LoopNests.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dbc::passes {

bool isConstant(Value value, int64_t *number) {
  APInt found;
  if (!matchPattern(value, m_ConstantInt(&found)))
    return false;
  *number = found.getSExtValue();
  return true;
}

std::optional<LoopNest> LoopNest::of(Operation *op, const BlockMemory &memory) {
  LoopNest loopNest;
  for (auto loop = dyn_cast<kernel::ForOp>(op); loop;) {
    int64_t low = 0, high = 0;
    if (loop.getNumResults() != 0 || !isConstant(loop.getLow(), &low) || low != 0 ||
        !isConstant(loop.getHigh(), &high))
      return std::nullopt;
    loopNest.loops.push_back(loop);
    loopNest.extents.push_back(high);
    if (loop.getVector())
      break;
    kernel::ForOp inner;
    for (Operation &each : loop.getBody().front().without_terminator()) {
      if (kernel::isValue(&each))
        continue;
      if (inner || !isa<kernel::ForOp>(each))
        return std::nullopt;
      inner = cast<kernel::ForOp>(each);
    }
    loop = inner;
  }
  if (loopNest.loops.empty() || !loopNest.loops.back().getVector())
    return std::nullopt;
  // A loop around that adds to what it made before is none of independent iterations.
  MemorySets touched = memory.touchedBy(loopNest.loops.front()).locals;
  for (const void *written : touched.writes)
    if (loopNest.loops.size() > 1 && touched.reads.contains(written))
      return std::nullopt;
  return loopNest;
}

namespace {

/// Loops of independent iterations, all equally long, and other loops and conditions around them: then a
/// thread may do all that is done at one position of the vectors, if nothing is read there that stands at
/// another.
class Columns {
public:
  static std::optional<int64_t> of(kernel::ForOp rows, const BlockMemory &memory) {
    Columns columns;
    MemorySets arrays = memory.touchedBy(rows).arrays;
    bool inPlace =
        llvm::any_of(arrays.writes, [&](const void *array) { return arrays.reads.contains(array); });
    if (inPlace || !columns.visit(rows.getBody().front(), Value()) || !columns.extent ||
        !columns.staysAtPosition())
      return std::nullopt;
    return columns.extent;
  }

private:
  /// `counter` is that of the vector around, if there is one.
  bool visit(Block &block, Value counter) {
    for (Operation &op : block) {
      if (auto write = dyn_cast<kernel::WriteOp>(op)) {
        if (!counter)
          return false;
        written.insert(write.getLocal());
        positions[write.getLocal()].push_back({write.getIndices(), counter});
      } else if (auto read = dyn_cast<kernel::ReadOp>(op)) {
        positions[read.getLocal()].push_back({read.getIndices(), counter});
      } else if (isa<kernel::StoreOp>(op)) {
        if (!counter)
          return false;
      } else if (auto loop = dyn_cast<kernel::ForOp>(op); loop && loop.getVector()) {
        int64_t low = 0, high = 0;
        if (counter || loop.getNumResults() != 0 || !isConstant(loop.getLow(), &low) || low != 0 ||
            !isConstant(loop.getHigh(), &high) || (extent && *extent != high))
          return false;
        extent = high;
        if (!visit(loop.getBody().front(), loop.getBody().getArgument(0)))
          return false;
      } else if (isa<kernel::ForOp, kernel::IfOp>(op)) {
        for (Region &region : op.getRegions())
          if (!visit(region.front(), counter))
            return false;
      } else if (!kernel::isValue(&op) && !isa<kernel::YieldOp>(op)) {
        return false;
      }
    }
    return true;
  }

  /// Where a local is touched: indices, and the counter of the vector around, if there is one.
  struct Position {
    ValueRange indices;
    Value counter;
  };

  /// What is written is touched at one position only, which the vectors' counter and loops around say.
  bool staysAtPosition() {
    for (Value local : written) {
      const Position &first = positions[local].front();
      if (llvm::none_of(first.indices, [&](Value index) { return uses(index, first.counter); }) ||
          llvm::any_of(positions[local], [&](const Position &other) { return !isSame(first, other); }))
        return false;
    }
    return true;
  }

  /// What an index is made of, where that says all of it; else null.
  static Operation *makerOf(Value index) {
    Operation *op = index.getDefiningOp();
    return op && isMemoryEffectFree(op) && op->getNumOperands() > 0 ? op : nullptr;
  }
  static bool uses(Value index, Value counter) {
    Operation *op = makerOf(index);
    return index == counter ||
           (op && llvm::any_of(op->getOperands(), [&](Value operand) { return uses(operand, counter); }));
  }

  static bool isSame(const Position &a, const Position &b) {
    return llvm::equal(a.indices, b.indices,
                       [&](Value x, Value y) { return isSame(x, a.counter, y, b.counter); });
  }
  /// Whether two indices are equal where the vectors' counters are.
  static bool isSame(Value a, Value counterOfA, Value b, Value counterOfB) {
    if ((counterOfA && a == counterOfA) || (counterOfB && b == counterOfB))
      return a == counterOfA && b == counterOfB;
    int64_t left = 0, right = 0;
    if (a == b || (isConstant(a, &left) && isConstant(b, &right) && left == right))
      return true;
    Operation *x = makerOf(a), *y = makerOf(b);
    return x && y && x->getName() == y->getName() && x->getAttrDictionary() == y->getAttrDictionary() &&
           llvm::equal(x->getOperands(), y->getOperands(),
                       [&](Value p, Value q) { return isSame(p, counterOfA, q, counterOfB); });
  }

  std::optional<int64_t> extent;
  llvm::SmallSetVector<Value, 4> written;
  llvm::DenseMap<Value, SmallVector<Position>> positions;
};

} // namespace

std::optional<int64_t> columnsOf(kernel::ForOp rows, const BlockMemory &memory) {
  return Columns::of(rows, memory);
}

} // namespace dbc::passes
