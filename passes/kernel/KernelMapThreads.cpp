// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-map-threads: who of a GPU's block of threads does what in a stage, where they wait for each other,
// and where its scratch lies.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/kernel/LargeMTiles.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-map-threads"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELMAPTHREADS
#include "passes/Passes.h.inc"

namespace {

//===-- What an op touches ------------------------------------------------------------------------------===//

struct Sets {
  llvm::SmallPtrSet<const void *, 8> reads, writes;

  bool conflictsWith(const Sets &other) const {
    auto meet = [](const auto &a, const auto &b) {
      return llvm::any_of(a, [&](const void *memory) { return b.contains(memory); });
    };
    return meet(writes, other.reads) || meet(writes, other.writes) || meet(reads, other.writes);
  }
  void add(const Sets &other) {
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
  }
};

/// Memory that a block's threads have in common: locals, and arrays; buffers of one storage are one array.
struct BlockAccesses {
  Sets locals, arrays;

  bool conflictsWith(const BlockAccesses &other) const {
    return locals.conflictsWith(other.locals) || arrays.conflictsWith(other.arrays);
  }
  bool isEmpty() const {
    return locals.reads.empty() && locals.writes.empty() && arrays.reads.empty() && arrays.writes.empty();
  }
  void add(const BlockAccesses &other) {
    locals.add(other.locals);
    arrays.add(other.arrays);
  }
};

class Memory {
public:
  explicit Memory(kernel::ProgramOp program) {
    llvm::DenseMap<int32_t, const void *> storages;
    for (auto buffer : program.getOps<kernel::BufferOp>())
      if (buffer.getStorage()) {
        const void *own = buffer.getSymNameAttr().getAsOpaquePointer();
        arrays[buffer.getSymNameAttr()] = storages.try_emplace(*buffer.getStorage(), own).first->second;
      }
  }

  BlockAccesses touchedBy(Operation *root) const {
    BlockAccesses touched;
    auto array = [&](FlatSymbolRefAttr name) {
      auto it = arrays.find(name.getAttr());
      return it != arrays.end() ? it->second : name.getAttr().getAsOpaquePointer();
    };
    auto read = [&](Value local) {
      if (local)
        touched.locals.reads.insert(local.getAsOpaquePointer());
    };
    auto readRows = [&](Value operand) {
      auto rows = operand.getDefiningOp<kernel::RowsOp>();
      read(rows.getVia());
      read(rows.getLocal());
      if (rows.getArrayAttr())
        touched.arrays.reads.insert(array(rows.getArrayAttr()));
    };
    root->walk([&](Operation *op) {
      if (auto load = dyn_cast<kernel::LoadOp>(op)) {
        if (!load.getIndexArray())
          touched.arrays.reads.insert(array(load.getArrayAttr()));
      } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
        touched.arrays.writes.insert(array(store.getArrayAttr()));
      } else if (auto local = dyn_cast<kernel::ReadOp>(op)) {
        read(local.getLocal());
      } else if (auto write = dyn_cast<kernel::WriteOp>(op)) {
        touched.locals.writes.insert(write.getLocal().getAsOpaquePointer());
      } else if (auto product = dyn_cast<kernel::ProductOp>(op)) {
        llvm::for_each(product.getX(), readRows);
        read(product.getTable());
        touched.locals.writes.insert(product.getInto().getAsOpaquePointer());
        if (Value sums = product.getSums())
          touched.locals.writes.insert(sums.getAsOpaquePointer());
      } else if (auto multiply = dyn_cast<kernel::MultiplyOp>(op)) {
        readRows(multiply.getA());
        llvm::for_each(multiply.getB(), readRows);
        touched.locals.writes.insert(multiply.getInto().getAsOpaquePointer());
      }
    });
    return touched;
  }

private:
  llvm::DenseMap<StringAttr, const void *> arrays;
};

//===-- Mapping -----------------------------------------------------------------------------------------===//

bool isConstant(Value value, int64_t *number) {
  APInt found;
  if (!matchPattern(value, m_ConstantInt(&found)))
    return false;
  *number = found.getSExtValue();
  return true;
}

/// Independent loops, one directly inside the other, the innermost one of independent iterations.
struct LoopNest {
  SmallVector<kernel::ForOp> loops;
  SmallVector<int64_t> extents;

  static std::optional<LoopNest> of(Operation *op, const Memory &memory) {
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
    Sets touched = memory.touchedBy(loopNest.loops.front()).locals;
    for (const void *written : touched.writes)
      if (loopNest.loops.size() > 1 && touched.reads.contains(written))
        return std::nullopt;
    return loopNest;
  }
};

/// Loops of independent iterations, all equally long, and other loops and conditions around them: then a
/// thread may do all that is done at one position of the vectors, if nothing is read there that stands at
/// another.
class Columns {
public:
  static std::optional<int64_t> of(kernel::ForOp rows, const Memory &memory) {
    Columns columns;
    Sets arrays = memory.touchedBy(rows).arrays;
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

class ThreadMapper {
public:
  ThreadMapper(kernel::FuncOp func, const Memory &memory)
      : func_(func), memory_(memory), b_(func.getContext()) {}

  void run(int64_t realBytes) {
    // `some` is dropped: threads that run side by side take as long as the slowest of them.
    func_.walk([](kernel::ProductOp product) { product.getSomeMutable().clear(); });
    kernel::dropUnreadLocals(func_);
    func_.getBody().walk([&](kernel::BlocksOp blocks) {
      count_ = blocks.getBody().getArgument(1);
      mapRows(blocks.getBody().front());
      BlockAccesses pending;
      setBarriers(blocks.getBody().front(), pending);
    });
    func_.walk([](kernel::ForOp loop) { loop.setVector(false); }); // of one thread
    assignScratch(realBytes);
    addLargeM(func_);
  }

  unsigned mappedLoops = 0, barriers = 0;

private:
  void mapRows(Block &block);
  void mapWholeRow(kernel::ForOp rows);
  void mapLoopNest(kernel::ForOp rows, const LoopNest &loopNest);
  void mapColumns(kernel::ForOp rows, int64_t extent);
  void cloneColumn(kernel::ForOp rows, Block &from, Value position, IRMapping &map);
  bool cutIntoLoopNests(kernel::ForOp rows, SmallVectorImpl<LoopNest> &loopNests);
  bool runs(kernel::ForOp loop);
  void setBarriers(Block &block, BlockAccesses &pending);
  void assignScratch(int64_t realBytes);
  Value integer(int64_t number, Location loc) {
    return arith::ConstantOp::create(b_, loc, b_.getI32IntegerAttr(number));
  }

  kernel::FuncOp func_;
  const Memory &memory_;
  OpBuilder b_;
  Value count_; ///< rows of the block
};

/// The loops over the rows of a block of rows, in loops over tiles too.
void ThreadMapper::mapRows(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto loop = dyn_cast<kernel::ForOp>(op);
    if (!loop)
      continue;
    // In products of two matrices of one row all threads take part.
    bool multiplies = false;
    loop.walk([&](kernel::MultiplyOp) { multiplies = true; });
    if (loop.getHigh() != count_) {
      mapRows(loop.getBody().front());
    } else if (!multiplies) {
      SmallVector<LoopNest> loopNests;
      if (cutIntoLoopNests(loop, loopNests)) {
        LDBG() << "@" << func_.getSymName() << ": an element of " << loopNests.size()
               << " loop nests is a thread's";
        mappedLoops += loopNests.size();
        for (const LoopNest &loopNest : loopNests)
          mapLoopNest(loop, loopNest);
      } else if (std::optional<int64_t> extent = Columns::of(loop, memory_)) {
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

/// An element of a loop nest for a thread.
void ThreadMapper::mapLoopNest(kernel::ForOp rows, const LoopNest &loopNest) {
  Location loc = rows.getLoc();
  b_.setInsertionPoint(rows);
  int64_t inner = 1;
  for (int64_t extent : loopNest.extents)
    inner *= extent;
  Value count = inner == 1 ? count_ : arith::MulIOp::create(b_, loc, count_, integer(inner, loc)).getResult();
  auto threads = kernel::ThreadsOp::create(b_, loc, count);
  Block *body = &threads.getBody().emplaceBlock();
  Value number = body->addArgument(b_.getI32Type(), NameLoc::get(b_.getStringAttr("element"), loc));
  b_.setInsertionPointToEnd(body);
  IRMapping map;
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
    Value at = number;
    Location named = counter.getLoc();
    if (behind != 1)
      at = arith::DivSIOp::create(b_, extent ? loc : named, at, integer(behind, loc));
    if (extent)
      at = arith::RemSIOp::create(b_, named, at, integer(extent, loc));
    map.map(counter, at);
  };
  index(rows.getBody().getArgument(0), inner, 0);
  cloneValues(rows.getBody().front(), loopNest.loops.front());
  for (auto [n, loop] : llvm::enumerate(loopNest.loops)) {
    int64_t extent = loopNest.extents[n];
    inner /= extent;
    index(kernel::ForOp(loop).getBody().getArgument(0), inner, extent);
    Block &block = kernel::ForOp(loop).getBody().front();
    if (n + 1 < loopNest.loops.size())
      cloneValues(block, loopNest.loops[n + 1]);
    else
      for (Operation &op : block.without_terminator())
        b_.clone(op, map);
  }
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
  // From the end of an iteration to the beginning of the next, which is about other rows or channels.
  if (pending.locals.conflictsWith(first.locals)) {
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
}

struct KernelMapThreadsPass : impl::KernelMapThreadsBase<KernelMapThreadsPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      Memory memory(program);
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
