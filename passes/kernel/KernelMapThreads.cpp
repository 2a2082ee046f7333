// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-map-threads: who of a GPU's block of threads does what in a stage, where they wait for each other,
// and where its scratch lies.
#include "ir/Kernel/LargeM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/kernel/LargeMTiles.h"
#include "passes/kernel/LoopNests.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-map-threads"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELMAPTHREADS
#include "passes/Passes.h.inc"

namespace {

class ThreadMapper {
public:
  ThreadMapper(kernel::FuncOp func, const BlockMemory &memory)
      : func_(func), memory_(memory), b_(func.getContext()) {}

  void run(int64_t realBytes) {
    // `some` is dropped: threads that run side by side take as long as the slowest of them.
    func_.walk([](kernel::ProductOp product) { product.getSomeMutable().clear(); });
    kernel::dropUnreadLocals(func_);
    func_.walk([&](kernel::OuterOp outer) { giveMemory(outer); });
    func_.getBody().walk([&](kernel::BlocksOp blocks) {
      count_ = blocks.getBody().getArgument(1);
      mapRows(blocks.getBody().front());
      BlockAccesses pending;
      setBarriers(blocks.getBody().front(), pending);
    });
    func_.walk([](kernel::ForOp loop) { loop.setVector(false); }); // of one thread
    assignScratch(realBytes);
    addLargeM(func_);
    placeScratch(realBytes);
  }

  unsigned mappedLoops = 0, barriers = 0;

private:
  void mapRows(Block &block);
  void mapWholeRow(kernel::ForOp rows);
  void mapLoopNest(kernel::ForOp rows, const LoopNest &loopNest, bool inOrder = false);
  void mapSum(kernel::ForOp rows);
  void carrySum(kernel::ForOp loop);
  void mapColumns(kernel::ForOp rows, int64_t extent);
  void cloneColumn(kernel::ForOp rows, Block &from, Value position, IRMapping &map);
  bool cutIntoLoopNests(kernel::ForOp rows, SmallVectorImpl<LoopNest> &loopNests);
  bool runs(kernel::ForOp loop);
  void setBarriers(Block &block, BlockAccesses &pending);
  void giveMemory(kernel::OuterOp outer);
  void assignScratch(int64_t realBytes);
  void placeScratch(int64_t realBytes);
  Value integer(int64_t number, Location loc) {
    return arith::ConstantOp::create(b_, loc, b_.getI32IntegerAttr(number));
  }

  kernel::FuncOp func_;
  const BlockMemory &memory_;
  OpBuilder b_;
  Value count_;                 ///< rows of the block
  kernel::LocalOp outerMemory_; ///< of outer products, where there are any
};

/// The loops over the rows of a block of rows, in loops over tiles, and in what is done for one tile, too.
void ThreadMapper::mapRows(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto loop = dyn_cast<kernel::ForOp>(op);
    if (!loop) {
      for (Region &region : op.getRegions())
        mapRows(region.front());
      continue;
    }
    // In products of two matrices of one row all threads take part.
    bool multiplies = false, stores = false;
    loop.walk([&](Operation *inner) {
      multiplies |= isa<kernel::MultiplyOp>(inner);
      stores |= isa<kernel::StoreOp>(inner);
    });
    if (loop.getHigh() != count_) {
      mapRows(loop.getBody().front());
    } else if (func_.getSums() && stores) {
      ++mappedLoops;
      mapSum(loop);
      loop.erase();
    } else if (!multiplies) {
      SmallVector<LoopNest> loopNests;
      if (cutIntoLoopNests(loop, loopNests)) {
        LDBG() << "@" << func_.getSymName() << ": an element of " << loopNests.size()
               << " loop nests is a thread's";
        mappedLoops += loopNests.size();
        for (const LoopNest &loopNest : loopNests)
          mapLoopNest(loop, loopNest);
      } else if (std::optional<int64_t> extent = columnsOf(loop, memory_)) {
        LDBG() << "@" << func_.getSymName() << ": one of " << *extent << " positions of a row is a thread's";
        ++mappedLoops;
        mapColumns(loop, *extent);
      } else {
        LDBG() << "@" << func_.getSymName() << ": a row is a thread's";
        ++mappedLoops;
        mapWholeRow(loop);
      }
      loop.erase();
    }
  }
}

/// Whether a loop over rows holds loop nests and values that they use, and nothing else: rows are
/// independent, so it may be cut into one loop for each of them.
bool ThreadMapper::cutIntoLoopNests(kernel::ForOp rows, SmallVectorImpl<LoopNest> &loopNests) {
  BlockAccesses readBefore; // by values
  for (Operation &op : rows.getBody().front().without_terminator()) {
    if (kernel::isValue(&op)) {
      readBefore.add(memory_.touchedBy(&op));
      continue;
    }
    std::optional<LoopNest> loopNest = LoopNest::of(&op, memory_);
    if (!loopNest)
      return false;
    BlockAccesses written = memory_.touchedBy(&op);
    written.locals.reads.clear();
    written.arrays.reads.clear();
    if (written.conflictsWith(readBefore))
      return false;
    loopNests.push_back(std::move(*loopNest));
  }
  return !loopNests.empty();
}

/// A row for a thread.
void ThreadMapper::mapWholeRow(kernel::ForOp rows) {
  b_.setInsertionPoint(rows);
  auto threads = kernel::ThreadsOp::create(b_, rows.getLoc(), count_);
  threads.getBody().takeBody(rows.getBody());
}

/// An element of a loop nest for a thread: that of a row; or `inOrder` that of all rows of the block.
void ThreadMapper::mapLoopNest(kernel::ForOp rows, const LoopNest &loopNest, bool inOrder) {
  Location loc = rows.getLoc();
  b_.setInsertionPoint(rows);
  int64_t inner = llvm::product_of(loopNest.extents);
  Value count = inOrder      ? integer(inner, loc)
                : inner == 1 ? count_
                             : arith::MulIOp::create(b_, loc, count_, integer(inner, loc)).getResult();
  auto threads = kernel::ThreadsOp::create(b_, loc, count);
  Block *body = &threads.getBody().emplaceBlock();
  Value number = body->addArgument(b_.getI32Type(), NameLoc::get(b_.getStringAttr("element"), loc));
  b_.setInsertionPointToEnd(body);
  IRMapping map;
  Operation *over = nullptr; // the loop over the rows, where a thread has all
  if (inOrder) {
    Value row = rows.getBody().getArgument(0);
    auto loop =
        kernel::ForOp::create(b_, loc, TypeRange(), rows.getLow(), rows.getHigh(), ValueRange(), UnitAttr());
    kernel::YieldOp::create(b_, loc, ValueRange());
    Block *block = &loop.getBody().emplaceBlock();
    map.map(row, block->addArgument(row.getType(), row.getLoc()));
    b_.setInsertionPointToEnd(block);
    over = loop;
  }
  auto cloneValues = [&](Block &from, Operation *until) {
    for (Operation &op : from) {
      if (&op == until)
        return;
      if (kernel::isValue(&op))
        b_.clone(op, map);
    }
  };
  auto index = [&](Value counter, int64_t behind, int64_t extent) {
    // number / behind % extent, named like the loop's counter
    OpBuilder::InsertionGuard guard(b_);
    if (over)
      b_.setInsertionPoint(over);
    Value at = number;
    Location named = counter.getLoc();
    if (behind != 1)
      at = arith::DivSIOp::create(b_, extent ? loc : named, at, integer(behind, loc));
    if (extent)
      at = arith::RemSIOp::create(b_, named, at, integer(extent, loc));
    map.map(counter, at);
  };
  if (!inOrder)
    index(rows.getBody().getArgument(0), inner, 0);
  cloneValues(rows.getBody().front(), loopNest.loops.front());
  for (auto [n, loop] : llvm::enumerate(loopNest.loops)) {
    int64_t extent = loopNest.extents[n];
    inner /= extent;
    index(kernel::ForOp(loop).getBody().getArgument(0), inner, inOrder && n == 0 ? 0 : extent);
    Block &block = kernel::ForOp(loop).getBody().front();
    if (n + 1 < loopNest.loops.size())
      cloneValues(block, loopNest.loops[n + 1]);
    else
      for (Operation &op : block.without_terminator())
        b_.clone(op, map);
  }
  kernel::YieldOp::create(b_, loc, ValueRange());
  if (over)
    carrySum(cast<kernel::ForOp>(over));
}

/// Where a loop adds to one number and does nothing else, it carries that, and stores it behind its end.
void ThreadMapper::carrySum(kernel::ForOp loop) {
  Block &body = loop.getBody().front();
  kernel::StoreOp store;
  for (Operation &op : body.without_terminator()) {
    if (kernel::isValue(&op))
      continue;
    if (store || !isa<kernel::StoreOp>(op))
      return;
    store = cast<kernel::StoreOp>(op);
  }
  auto sum = store ? store.getValue().getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  auto before = sum ? sum.getLhs().getDefiningOp<kernel::LoadOp>() : kernel::LoadOp();
  auto isOutside = [&](Value index) {
    Operation *op = index.getDefiningOp();
    return op ? op->getBlock() != &body : cast<BlockArgument>(index).getOwner() != &body;
  };
  if (!before || before.getArrayAttr() != store.getArrayAttr() || before.getIndices() != store.getIndices() ||
      before.getIndexArray() || !before->hasOneUse() || !sum->hasOneUse() ||
      !llvm::all_of(store.getIndices(), isOutside))
    return;
  Location loc = loop.getLoc();
  before->moveBefore(loop);
  b_.setInsertionPoint(loop);
  auto carrying = kernel::ForOp::create(b_, loc, TypeRange(before.getType()), loop.getLow(), loop.getHigh(),
                                        ValueRange(before.getResult()), UnitAttr());
  carrying.getBody().takeBody(loop.getBody());
  BlockArgument soFar = carrying.getBody().front().addArgument(before.getType(), before.getLoc());
  sum.getLhsMutable().assign(soFar);
  Operation *yield = carrying.getBody().front().getTerminator();
  b_.setInsertionPoint(yield);
  kernel::YieldOp::create(b_, loc, ValueRange(sum.getResult()));
  yield->erase();
  store->moveAfter(carrying);
  store.getValueMutable().assign(carrying.getResult(0));
  loop.erase();
}

/// Whether each element of loop nests stores numbers of its own, which no other one touches.
static bool haveOwnNumbers(kernel::ForOp rows, ArrayRef<LoopNest> loopNests) {
  llvm::MapVector<Attribute, kernel::StoreOp> stores;
  bool own = true;
  for (const LoopNest &loopNest : loopNests)
    kernel::ForOp(loopNest.loops.front()).walk([&](kernel::StoreOp store) {
      // Another one of the same number is in the same loops, whose counters are among the indices.
      auto [first, isNew] = stores.try_emplace(store.getArrayAttr(), store);
      own &= isNew || first->second.getIndices() == store.getIndices();
      for (kernel::ForOp loop : loopNest.loops)
        own &= llvm::is_contained(store.getIndices(), Value(loop.getBody().getArgument(0)));
    });
  rows.walk([&](kernel::LoadOp load) {
    auto store = stores.find(load.getArrayAttr());
    own &= load.getIndexArray() || store == stores.end() || store->second.getIndices() == load.getIndices();
  });
  return own;
}

/// What is added up over rows, in their order: a thread has all rows of its elements, or one thread has all
/// elements.
void ThreadMapper::mapSum(kernel::ForOp rows) {
  SmallVector<LoopNest> loopNests;
  if (cutIntoLoopNests(rows, loopNests) && haveOwnNumbers(rows, loopNests)) {
    LDBG() << "@" << func_.getSymName() << ": a sum of " << loopNests.size() << " loop nests is a thread's";
    for (const LoopNest &loopNest : loopNests)
      mapLoopNest(rows, loopNest, /*inOrder=*/true);
    return;
  }
  LDBG() << "@" << func_.getSymName() << ": all sums are one thread's";
  Location loc = rows.getLoc();
  b_.setInsertionPoint(rows);
  auto threads = kernel::ThreadsOp::create(b_, loc, integer(1, loc));
  Block *body = &threads.getBody().emplaceBlock();
  body->addArgument(b_.getI32Type(), loc);
  b_.setInsertionPointToEnd(body);
  b_.clone(*rows);
  kernel::YieldOp::create(b_, loc, ValueRange());
}

/// A position in a row's vectors for a thread.
void ThreadMapper::mapColumns(kernel::ForOp rows, int64_t extent) {
  Location loc = rows.getLoc();
  b_.setInsertionPoint(rows);
  Value count = arith::MulIOp::create(b_, loc, count_, integer(extent, loc));
  auto threads = kernel::ThreadsOp::create(b_, loc, count);
  Block *body = &threads.getBody().emplaceBlock();
  Value number = body->addArgument(b_.getI32Type(), NameLoc::get(b_.getStringAttr("element"), loc));
  b_.setInsertionPointToEnd(body);
  Value row = rows.getBody().getArgument(0);
  IRMapping map;
  map.map(row, arith::DivSIOp::create(b_, row.getLoc(), number, integer(extent, loc)));
  Value position =
      arith::RemSIOp::create(b_, NameLoc::get(b_.getStringAttr("j"), loc), number, integer(extent, loc));
  cloneColumn(rows, rows.getBody().front(), position, map);
}

/// Where the vectors of a loop are slices of longer ones, the last of which begins before the end of the one
/// before: that beginning, inside of `rows`. Else null.
static arith::MinSIOp beginOfSlice(kernel::ForOp vector, kernel::ForOp rows) {
  arith::MinSIOp found;
  vector.walk([&](arith::AddIOp sum) {
    for (auto [one, other] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}})
      if (auto from = other.getDefiningOp<arith::MinSIOp>();
          from && one == vector.getBody().getArgument(0) && rows->isAncestor(from))
        found = from;
  });
  return found;
}

/// Copies a block, of vectors only what is done at `position`.
void ThreadMapper::cloneColumn(kernel::ForOp rows, Block &from, Value position, IRMapping &map) {
  for (Operation &op : from) {
    auto loop = dyn_cast<kernel::ForOp>(op);
    if (loop && loop.getVector()) {
      map.map(loop.getBody().getArgument(0), position);
      OpBuilder::InsertionGuard guard(b_);
      if (arith::MinSIOp begin = beginOfSlice(loop, rows)) {
        // What two slices have in common is the thread's that has it in the first of them.
        Location loc = loop.getLoc();
        Value slice = isa_and_nonnull<arith::ConstantOp>(begin.getLhs().getDefiningOp()) ? begin.getRhs()
                                                                                         : begin.getLhs();
        Value column = arith::AddIOp::create(b_, loc, map.lookupOrDefault(begin.getResult()), position);
        Value own =
            arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::sge, column, map.lookupOrDefault(slice));
        auto branch = kernel::IfOp::create(b_, loc, TypeRange(), own);
        for (Region *region : {&branch.getThen(), &branch.getOtherwise()}) {
          b_.setInsertionPointToEnd(&region->emplaceBlock());
          kernel::YieldOp::create(b_, loc, ValueRange());
        }
        b_.setInsertionPointToStart(&branch.getThen().front());
      }
      for (Operation &inner : loop.getBody().front().without_terminator())
        b_.clone(inner, map);
      continue;
    }
    if (!isa<kernel::ForOp, kernel::IfOp>(op)) {
      b_.clone(op, map);
      continue;
    }
    Operation *copy = op.cloneWithoutRegions(map);
    b_.insert(copy);
    OpBuilder::InsertionGuard guard(b_);
    for (auto [region, into] : llvm::zip(op.getRegions(), copy->getRegions())) {
      Block *block = &into.emplaceBlock();
      for (BlockArgument argument : region.front().getArguments())
        map.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
      b_.setInsertionPointToEnd(block);
      cloneColumn(rows, region.front(), position, map);
    }
  }
}

//===-- Barriers ----------------------------------------------------------------------------------------===//

/// Whether a loop has an iteration: over the rows of a block, over tiles, or between such constants.
bool ThreadMapper::runs(kernel::ForOp loop) {
  int64_t low = 0, high = 0;
  return loop.getHigh() == count_ || isa<BlockArgument>(loop.getHigh()) ||
         (isConstant(loop.getLow(), &low) && isConstant(loop.getHigh(), &high) && low < high);
}

/// `pending` is what threads may be busy with when the block begins, and then when it ends.
void ThreadMapper::setBarriers(Block &block, BlockAccesses &pending) {
  BlockAccesses first; // what is done before the first barrier
  bool any = false;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    BlockAccesses touched = memory_.touchedBy(&op);
    if (touched.isEmpty())
      continue;
    if (pending.conflictsWith(touched)) {
      b_.setInsertionPoint(&op);
      kernel::BarrierOp::create(b_, op.getLoc());
      ++barriers;
      pending = BlockAccesses();
      any = true;
    }
    if (!any)
      first.add(touched);
    auto loop = dyn_cast<kernel::ForOp>(op);
    if (!loop) {
      pending.add(touched);
      continue;
    }
    BlockAccesses before = pending;
    setBarriers(loop.getBody().front(), pending);
    if (!runs(loop)) // then none of its barriers is met
      pending.add(before);
  }
  // From the end of an iteration to the beginning of the next, which is about other rows or channels; but
  // sums are of the same elements.
  if (pending.locals.conflictsWith(first.locals) ||
      (func_.getSums() && pending.arrays.conflictsWith(first.arrays))) {
    Operation *last =
        block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>() ? nullptr : &block.back();
    if (last)
      b_.setInsertionPoint(last);
    else
      b_.setInsertionPointToEnd(&block);
    kernel::BarrierOp::create(b_, block.getParentOp()->getLoc());
    ++barriers;
    pending = BlockAccesses();
  }
}

//===-- Scratch -----------------------------------------------------------------------------------------===//

/// What the tensor cores' operands are copied to, one for all outer products.
void ThreadMapper::giveMemory(kernel::OuterOp outer) {
  if (!outer.getInstruction())
    return;
  if (!outerMemory_) {
    b_.setInsertionPointToStart(&func_.getBody().front());
    auto type = kernel::LocalType::get(b_.getContext(), {kernel::kSumTileScratch}, b_.getF32Type());
    outerMemory_ =
        kernel::LocalOp::create(b_, NameLoc::get(b_.getStringAttr("memory"), outer.getLoc()), type);
  }
  outer.getMemoryMutable().assign(outerMemory_);
}

/// Blocks of threads that have scratch in global memory, at most, in one launch.
constexpr int64_t kScratchBlocks = 512;

/// Shared memory as long as there is any, the smallest first.
void ThreadMapper::assignScratch(int64_t realBytes) {
  SmallVector<std::pair<int64_t, kernel::LocalOp>> locals;
  func_.walk([&](kernel::LocalOp local) { locals.push_back({kernel::blockBytes(local, realBytes), local}); });
  llvm::stable_sort(locals, [](const auto &a, const auto &b) { return a.first < b.first; });
  int64_t used = 0;
  for (auto &[bytes, local] : locals) {
    used += bytes;
    local.setMemory(used <= kernel::kSharedOfAll ? kernel::Memory::Shared : kernel::Memory::Global);
  }
  if (kernel::blockBytes(func_, kernel::Memory::Global, realBytes) > 0)
    func_.setMostBlocks(kScratchBlocks);
}

/// One behind the other. What warps add up of products comes first, and has one place in large-M tiles.
void ThreadMapper::placeScratch(int64_t realBytes) {
  SmallVector<kernel::LocalOp> locals;
  func_.walk([&](kernel::LocalOp local) {
    if (!local->use_empty())
      locals.push_back(local);
  });
  int64_t global = 0, shared = 0, largeM = 0;
  for (kernel::LocalOp local : locals)
    if (func_.getLargeM() && !kernel::isOfRows(local))
      largeM = std::max(largeM, kernel::largeMBytes(local));
  for (kernel::LocalOp local : locals) {
    int64_t &used = local.getMemory() == kernel::Memory::Global ? global : shared;
    local.setOffset(used);
    used += kernel::blockBytes(local, realBytes);
    if (!func_.getLargeM())
      continue;
    local.setLargeM(kernel::isOfRows(local) ? largeM : 0);
    largeM += kernel::isOfRows(local) ? kernel::largeMBytes(local) : 0;
  }
  assert(shared <= kernel::blockBytes(func_, kernel::Memory::Shared, realBytes) &&
         (!func_.getLargeM() || largeM <= kernel::largeMBytes(func_)) &&
         "launches ask for what the function has");
}

struct KernelMapThreadsPass : impl::KernelMapThreadsBase<KernelMapThreadsPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      BlockMemory memory(program);
      llvm::StringSet<> ofModel;
      for (auto indexSet : program.getOps<kernel::IndexSetOp>())
        if (indexSet.getKind() == kernel::IndexSetKind::Model)
          ofModel.insert(indexSet.getSymName());
      for (auto func : program.getOps<kernel::FuncOp>())
        if (func.getKind() == kernel::FuncKind::Stage && !ofModel.contains(*func.getIndexSet()) &&
            !kernel::gemmOf(func)) {
          bool blocks = false;
          func.walk([&](kernel::BlocksOp) { blocks = true; });
          if (!blocks && !func.getBody().front().empty()) {
            func.emitOpError(
                "has no blocks of rows to map to threads: its schedule must have two rows or more");
            return signalPassFailure();
          }
          ThreadMapper mapper(func, memory);
          mapper.run(realBytes);
          mappedLoops += mapper.mappedLoops;
          barriers += mapper.barriers;
        }
    }
  }
};
} // namespace
} // namespace dbc::passes
