// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-split-sums: which tile of the sums over all rows, and of which rows, a GPU's block of threads has.
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>

#define DEBUG_TYPE "kernel-split-sums"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELSPLITSUMS
#include "passes/Passes.h.inc"

namespace {

/// Blocks of threads that a stage is to have: two on each processor of an H100. Bits depend on it, so it is
/// not the GPU's own number.
constexpr int64_t kBlocks = 264;
/// Slices of rows, whose sums a thread adds up one after the other.
constexpr int64_t kMostSlices = 64;
/// Numbers that the sums of all slices of a stage may have in memory.
constexpr int64_t kMostNumbers = 4 << 20;

/// The row of a loop over a block's rows: `first` + its number, in an order if the stage has one.
bool isRowOf(Value row, BlockArgument first, BlockArgument i) {
  if (auto order = row.getDefiningOp<kernel::OrderOp>())
    row = order.getPosition();
  return kernel::isSumOf(row, first, i);
}

/// Whether rows are those of a block, in its order if it has one, of an array's elements from the first on.
bool areOwnRows(kernel::RowsOp rows, BlockArgument first) {
  if (!rows.getArray() || rows.getOffset() != 0)
    return false;
  if (!rows.getVia())
    return rows.getFrom() == first;
  // One write, of the row itself.
  kernel::WriteOp only;
  for (Operation *user : rows.getVia().getUsers())
    if (auto write = dyn_cast<kernel::WriteOp>(user)) {
      if (only)
        return false;
      only = write;
    }
  auto loop = only ? dyn_cast<kernel::ForOp>(only->getParentOp()) : kernel::ForOp();
  return loop && only.getValue().getDefiningOp<kernel::OrderOp>() &&
         isRowOf(only.getValue(), first, loop.getBody().getArgument(0));
}

class SumSplitter {
public:
  SumSplitter(kernel::FuncOp func, kernel::ProgramOp program) : func(func), program(program) {}

  unsigned biases = 0, slicedStages = 0;

  void run() {
    for (auto blocks : func.getBody().getOps<kernel::BlocksOp>())
      for (auto outer : llvm::to_vector(blocks.getBody().front().getOps<kernel::OuterOp>()))
        takeBias(outer, blocks);
    slice();
  }

private:
  /// Where another loop adds the rows of an operand up, as they are, the product may do that beside.
  void takeBias(kernel::OuterOp outer, kernel::BlocksOp blocks) {
    auto rows = outer.getA().getDefiningOp<kernel::RowsOp>();
    if (!rows || !areOwnRows(rows, blocks.getBody().getArgument(0)))
      return;
    SmallVector<kernel::ForOp> loops;
    blocks.walk([&](kernel::ForOp loop) {
      if (loop.getHigh() == blocks.getBody().getArgument(1) && isOnce(loop, outer, blocks))
        loops.push_back(loop);
    });
    for (kernel::ForOp loop : loops)
      if (FlatSymbolRefAttr sum = sumOfRows(loop, outer, rows, blocks)) {
        outer.setBiasAttr(sum);
        ++biases;
        auto branch = dyn_cast<kernel::IfOp>(loop->getParentOp());
        loop.erase();
        if (branch && branch.getThen().front().without_terminator().empty() &&
            branch.getOtherwise().front().without_terminator().empty())
          branch.erase();
        return;
      }
  }

  /// Whether a loop runs once for the rows of a block, as the bias of a product is added up: by the first
  /// tile where blocks of threads share tiles.
  static bool isOnce(kernel::ForOp loop, kernel::OuterOp outer, kernel::BlocksOp blocks) {
    if (outer.getTiles().empty())
      return loop->getParentOp() == blocks;
    auto branch = dyn_cast<kernel::IfOp>(loop->getParentOp());
    auto isFirst = branch && branch->getParentOp() == blocks && loop->getParentRegion() == &branch.getThen()
                       ? branch.getCondition().getDefiningOp<arith::CmpIOp>()
                       : arith::CmpIOp();
    return isFirst && isFirst.getPredicate() == arith::CmpIPredicate::eq &&
           isFirst.getLhs() == outer.getTiles()[0] && matchPattern(isFirst.getRhs(), m_Zero());
  }

  /// for i: for vector j: sum[0, j] += array[row i, j], and nothing else: what it is added to; else null.
  static FlatSymbolRefAttr sumOfRows(kernel::ForOp loop, kernel::OuterOp outer, kernel::RowsOp rows,
                                     kernel::BlocksOp blocks) {
    SmallVector<kernel::ForOp> inner(loop.getBody().front().getOps<kernel::ForOp>());
    for (Operation &op : loop.getBody().front().without_terminator())
      if (!isa<kernel::ForOp>(op) && !kernel::isValue(&op))
        return {};
    if (inner.size() != 1 || inner.front().getNumResults() != 0)
      return {};
    BlockArgument j = inner.front().getBody().getArgument(0);
    APInt low, high;
    if (!matchPattern(inner.front().getLow(), m_ConstantInt(&low)) || low != 0 ||
        !matchPattern(inner.front().getHigh(), m_ConstantInt(&high)) || high != uint64_t(outer.getHeight()) ||
        !matchPattern(loop.getLow(), m_ConstantInt(&low)) || low != 0)
      return {};
    kernel::StoreOp store;
    for (Operation &op : inner.front().getBody().front().without_terminator()) {
      if (kernel::isValue(&op))
        continue;
      if (store || !isa<kernel::StoreOp>(op))
        return {};
      store = cast<kernel::StoreOp>(op);
    }
    auto sum = store ? store.getValue().getDefiningOp<arith::AddFOp>() : arith::AddFOp();
    if (!sum || store.getIndices().size() != 2 || store.getIndices()[1] != j)
      return {};
    for (auto [before, own] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
      auto soFar = before.getDefiningOp<kernel::LoadOp>(), row = own.getDefiningOp<kernel::LoadOp>();
      if (soFar && row && !soFar.getIndexArray() && !row.getIndexArray() &&
          soFar.getArrayAttr() == store.getArrayAttr() && soFar.getIndices() == store.getIndices() &&
          row.getArrayAttr() == rows.getArrayAttr() && row.getIndices().size() == 2 &&
          row.getIndices()[1] == j &&
          isRowOf(row.getIndices()[0], blocks.getBody().getArgument(0), loop.getBody().getArgument(0)) &&
          bool(row.getIndices()[0].getDefiningOp<kernel::OrderOp>()) == bool(rows.getVia()))
        return store.getArrayAttr();
    }
    return {};
  }

  /// The arrays that sums go to, if all are rows of the batch of which no operand is made.
  bool findArrays(llvm::SetVector<Attribute> &arrays) {
    llvm::SetVector<Attribute> read;
    func.walk([&](Operation *op) {
      if (auto store = dyn_cast<kernel::StoreOp>(op)) {
        arrays.insert(store.getArrayAttr());
      } else if (auto outer = dyn_cast<kernel::OuterOp>(op)) {
        arrays.insert(outer.getIntoAttr());
        if (outer.getBiasAttr())
          arrays.insert(outer.getBiasAttr());
      } else if (auto rows = dyn_cast<kernel::RowsOp>(op); rows && rows.getArray()) {
        read.insert(rows.getArrayAttr());
      }
    });
    return llvm::all_of(arrays, [&](Attribute array) {
      auto buffer =
          dyn_cast_or_null<kernel::BufferOp>(program.lookupSymbol(cast<FlatSymbolRefAttr>(array).getAttr()));
      return buffer && !buffer.getLive() && !read.contains(array) &&
             program.lookupSymbol<kernel::IndexSetOp>(buffer.getIndexSet()).getKind() ==
                 kernel::IndexSetKind::Batch;
    });
  }

  /// Whether all that is stored is added to what was there, and sums are read for nothing else.
  bool addsAlone(const llvm::SetVector<Attribute> &arrays) {
    bool all = true;
    llvm::DenseSet<Operation *> added;
    func.walk([&](kernel::StoreOp store) {
      auto sum = store.getValue().getDefiningOp<arith::AddFOp>();
      all &= sum && llvm::any_of(sum->getOperands(), [&](Value operand) {
               auto before = operand.getDefiningOp<kernel::LoadOp>();
               bool isSum = before && before->hasOneUse() && !before.getIndexArray() &&
                            before.getArrayAttr() == store.getArrayAttr() &&
                            before.getIndices() == store.getIndices();
               if (isSum)
                 added.insert(before);
               return isSum;
             });
    });
    func.walk(
        [&](kernel::LoadOp load) { all &= !arrays.contains(load.getArrayAttr()) || added.contains(load); });
    return all;
  }

  /// As many slices of rows as make enough blocks of threads: each has sums of its own in memory.
  void slice() {
    llvm::SetVector<Attribute> arrays;
    if (!findArrays(arrays) || arrays.empty() || !addsAlone(arrays))
      return;
    int64_t numbers = 0;
    for (Attribute array : arrays)
      numbers += numbersOf(program.lookupSymbol<kernel::BufferOp>(cast<FlatSymbolRefAttr>(array).getAttr()));
    const int64_t slices =
        std::min({kBlocks / int64_t(func.getTiles().value_or(1)), kMostNumbers / numbers, kMostSlices});
    if (slices < 2)
      return;
    auto like = program.lookupSymbol<kernel::BufferOp>(cast<FlatSymbolRefAttr>(arrays.front()).getAttr());
    OpBuilder b(func.getContext());
    b.setInsertionPointAfter(like);
    SymbolTable names(program);
    auto type = RankedTensorType::get({slices, numbers}, b.getF32Type());
    auto buffer =
        kernel::BufferOp::create(b, func.getLoc(), func.getStageName() + ".slices", like.getIndexSet(), type);
    buffer.setStorage(storage());
    names.insert(buffer); // a `let slices` may have the name already
    func.setSlicesAttr(kernel::SlicesAttr::get(func.getContext(), slices,
                                               llvm::map_to_vector(arrays, llvm::CastTo<FlatSymbolRefAttr>),
                                               FlatSymbolRefAttr::get(buffer.getSymNameAttr())));
    LDBG() << "@" << func.getSymName() << ": at most " << slices << " slices of " << numbers << " numbers";
    ++slicedStages;
  }

  /// That of all stages' slices: each are used behind their stage and not again.
  int32_t storage() {
    for (auto func : program.getOps<kernel::FuncOp>())
      if (kernel::SlicesAttr slices = func.getSlicesAttr())
        return static_cast<int32_t>(
            *program.lookupSymbol<kernel::BufferOp>(slices.getSums().getAttr()).getStorage());
    return static_cast<int32_t>(kernel::nextStorage(program));
  }
  static int64_t numbersOf(kernel::BufferOp buffer) {
    return llvm::product_of(dyn::extents(buffer.getType()));
  }

  kernel::FuncOp func;
  kernel::ProgramOp program;
};

struct KernelSplitSumsPass : impl::KernelSplitSumsBase<KernelSplitSumsPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>())
      for (auto func : llvm::to_vector(program.getOps<kernel::FuncOp>()))
        if (func.getSums()) {
          SumSplitter splitter(func, program);
          splitter.run();
          takenBiases += splitter.biases;
          slicedStages += splitter.slicedStages;
        }
  }
};
} // namespace
} // namespace dbc::passes
