// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect: verifiers of the order in which functions are called, in a schedule and in a run, and
// of what is made between them.
#include "ir/Kernel/Verify.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dbc::kernel;

LogicalResult StartOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return funcOf(*this, getFuncAttr(), FuncKind::Roots, symbols);
}

LogicalResult SortOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return lookUp<GroupOp>(*this, getGroupAttr(), "group", symbols);
}

LogicalResult IndexOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return funcOf(*this, getFuncAttr(), FuncKind::Index, symbols);
}

LogicalResult TimeStepsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return lookUp<IndexSetOp>(
      *this, getIndexSetAttr(), "index set with time steps", symbols,
      [](IndexSetOp indexSet) { return indexSet.getByTimeStep() || indexSet.getMasked(); });
}

/// Checks that `order` has the rows of `of` in the order of the inputs.
static FailureOr<IndexSetOp> verifyInputOrder(Operation *op, FlatSymbolRefAttr order, StringRef of,
                                              SymbolTableCollection &symbols) {
  auto found = lookUp<IndexSetOp>(op, order, "index set in the order of the inputs", symbols, isByInput);
  if (succeeded(found) && *found->getParent() != of)
    return op->emitOpError("takes rows of @") << of << " in the order of those of @" << *found->getParent();
  return found;
}

LogicalResult SortByInputOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto order = lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set in the order of the inputs", symbols,
                                  isByInput);
  if (failed(order))
    return failure();
  IndexSetOp last = *order;
  for (auto name : getPath().getAsRange<FlatSymbolRefAttr>()) {
    if (!last.getParentAttr() || last.getParentAttr() != name)
      return emitOpError("leads from @")
             << last.getSymName() << " to " << name << ", which is not its parent";
    last = *lookUp<IndexSetOp>(*this, name, "index set", symbols);
  }
  if (!getPath().empty() && last.getKind() != IndexSetKind::Instances)
    return emitOpError("leads to @") << last.getSymName() << ", which has no nodes";
  return success();
}

/// Checks that an index set of kind `distinct` is made before, in the same block, and with it what a
/// transpose goes by.
static LogicalResult verifyCollected(TransposeOp op) {
  for (auto made : op->getBlock()->getOps<DistinctOp>()) {
    if (made.getIndexSetAttr() != op.getToAttr() || !made->isBeforeInBlock(op))
      continue;
    if (op.getNumbers() ? made.getNumbers() && llvm::is_contained(*made.getNumbers(), op.getNumbersAttr())
                        : hasRowsOf(made.getFrom(), made.getRows(), op.getFromAttr(), *op.getIndexArray()))
      return success();
  }
  if (op.getNumbers())
    return op.emitOpError("goes by @")
           << *op.getNumbers() << ", of which @" << op.getTo() << " is not made before";
  return op.emitOpError("goes by `") << *op.getIndexArray() << "` of @" << op.getFrom()
                                     << ", which does not get the rows of @" << op.getTo() << " before";
}

LogicalResult TransposeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(lookUp<IndexSetOp>(*this, getIndexSetAttr(), "transpose", symbols, [](IndexSetOp indexSet) {
        return indexSet.getKind() == IndexSetKind::Transpose;
      })))
    return failure();
  auto from = lookUp<IndexSetOp>(*this, getFromAttr(), "index set", symbols);
  auto to = lookUp<IndexSetOp>(*this, getToAttr(), "index set", symbols);
  if (failed(from) || failed(to))
    return failure();
  if (getOrderAttr()) {
    auto order = verifyInputOrder(*this, getOrderAttr(), getFrom(), symbols);
    if (failed(order))
      return failure();
    if (order->getMasked())
      return emitOpError("takes rows in the order of @")
             << *getOrder() << ", which has the active ones alone";
  }
  if (!getIndexArray() == !getNumbers())
    return emitOpError("goes by an index array, or by the numbers that a buffer holds");
  const bool isDistinct = to->getKind() == IndexSetKind::Distinct;
  if (getNumbers() && !isDistinct)
    return emitOpError("goes by the numbers of rows, but @") << getTo() << " has rows by their place";
  if (getIndexArray() && failed(verifyIndexArray(*this, *from, *getIndexArray())))
    return failure();
  if (getNumbers() &&
      failed(lookUp<BufferOp>(*this, getNumbersAttr(), "number for each row", symbols, [&](BufferOp buffer) {
        return buffer.getIndexSetAttr() == getFromAttr() && buffer.getType().isInteger(32);
      })))
    return failure();
  return isDistinct ? verifyCollected(*this) : success();
}

bool dbc::kernel::hasRowsOf(ArrayAttr from, ArrayAttr rows, FlatSymbolRefAttr indexSet,
                            StringRef indexArray) {
  return llvm::any_of(llvm::zip(from, rows), [&](auto each) {
    return std::get<0>(each) == indexSet && cast<StringAttr>(std::get<1>(each)).getValue() == indexArray;
  });
}

LogicalResult dbc::kernel::verifyDistinctRows(Operation *op, FlatSymbolRefAttr indexSet, ArrayAttr from,
                                              ArrayAttr indexArrays, ArrayAttr rowArrays, bool hasNumbers,
                                              DenseI32ArrayAttr always, SymbolTableCollection &symbols) {
  auto distinct =
      lookUp<IndexSetOp>(op, indexSet, "index set of distinct numbers", symbols,
                         [](IndexSetOp found) { return found.getKind() == IndexSetKind::Distinct; });
  if (failed(distinct))
    return failure();
  for (int32_t number : always ? always.asArrayRef() : ArrayRef<int32_t>())
    if (number < 0 || int64_t(number) >= int64_t(*distinct->getExtent()))
      return op->emitOpError("always has ")
             << number << ", but the numbers are below " << *distinct->getExtent();
  if ((from.empty() && !always && !hasNumbers) || from.size() != indexArrays.size())
    return op->emitOpError("has ") << indexArrays.size() << " index arrays of " << from.size()
                                   << " index sets";
  if (rowArrays.size() != indexArrays.size())
    return op->emitOpError("fills ") << rowArrays.size() << " index arrays with the rows of "
                                     << indexArrays.size();
  for (auto [name, array, filled] :
       llvm::zip(from.getAsRange<FlatSymbolRefAttr>(), indexArrays.getAsValueRange<StringAttr>(),
                 rowArrays.getAsValueRange<StringAttr>())) {
    auto rows = lookUp<IndexSetOp>(op, name, "index set", symbols);
    if (failed(rows) || failed(verifyIndexArray(op, *rows, array)) ||
        failed(verifyIndexArray(op, *rows, filled)))
      return failure();
    auto last = rows->getIndexArrays().getAsValueRange<StringAttr>();
    if (!llvm::is_contained(llvm::drop_begin(last, rows->getPushedArrays()), filled))
      return op->emitOpError("fills index array `")
             << filled << "` of @" << rows->getSymName() << ", which has values already";
  }
  return success();
}

LogicalResult DistinctOp::verifySymbolUses(SymbolTableCollection &symbols) {
  const bool isScheduled = isa<ScheduleOp>((*this)->getParentOp());
  if (getNumbers() && isScheduled)
    return emitOpError("is of numbers that are not there while the batch is scheduled");
  if (failed(verifyDistinct(*this, symbols)))
    return failure();
  if (isScheduled)
    return success();
  // Memory for what is no gradient is there before the run knows how many rows there are.
  auto program = (*this)->getParentOfType<ProgramOp>();
  llvm::StringSet<> gradients;
  for (auto gradient : program.getOps<GradientOp>())
    gradients.insert(gradient.getBuffer());
  for (auto buffer : program.getOps<BufferOp>())
    if (buffer.getIndexSetAttr() == getIndexSetAttr() && !gradients.contains(buffer.getSymName()))
      return emitOpError("makes the rows of @") << buffer.getSymName() << ", which is no gradient, in a run";
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto func = funcOf(*this, getFuncAttr(), FuncKind::Stage, symbols);
  if (failed(func))
    return failure();
  if (getOrderAttr()) {
    if (getActive())
      return emitOpError("is of the active rows, and in an order of the inputs, which says which rows");
    if ((*this)->getParentOfType<TimeStepLoopInterface>())
      return emitOpError("in an order of the inputs stands in a loop");
    auto order = verifyInputOrder(*this, getOrderAttr(), *func->getIndexSet(), symbols);
    auto schedules = (*this)->getParentOfType<ProgramOp>().getOps<ScheduleOp>();
    if (failed(order))
      return failure();
    auto makes = [&](SortByInputOp sort) { return sort.getIndexSetAttr() == getOrderAttr(); };
    if (schedules.empty() ||
        llvm::none_of((*schedules.begin()).getBody().front().getOps<SortByInputOp>(), makes))
      return emitOpError("is in the order of ") << getOrderAttr() << ", which no schedule makes";
  }
  // What the function takes for positions must be those of the launch.
  WalkResult same = func->walk([&](OrderOp op) {
    auto order = symbols.lookupNearestSymbolFrom<IndexSetOp>(op, op.getIndexSetAttr());
    return order && (isByInput(order) || getOrderAttr()) && op.getIndexSetAttr() != getOrderAttr()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (same.wasInterrupted())
    return emitOpError("takes rows in another order than its function");
  if (!getActive())
    return success();
  return lookUp<IndexSetOp>(*this, func->getIndexSetAttr(), "masked index set", symbols, isMasked);
}

LogicalResult MaskOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(lookUp<IndexSetOp>(*this, getIndexSetAttr(), "masked index set", symbols, isMasked)))
    return failure();
  return lookUp<BufferOp>(*this, getAliveAttr(), "truth for each row", symbols, [&](BufferOp buffer) {
    return buffer.getIndexSetAttr() == getIndexSetAttr() && buffer.getType().isInteger(1);
  });
}

static LogicalResult verifyLoop(TimeStepLoopInterface loop, SymbolTableCollection &symbols) {
  if (std::optional<StringRef> name = loop.getSameAs()) {
    auto program = loop->getParentOfType<ProgramOp>();
    auto other = loop->getParentOfType<ModuleOp>().lookupSymbol<ProgramOp>(*name);
    bool isBefore = other && other != program && other->isBeforeInBlock(program);
    SmallVector<TimeStepLoopInterface> own = persistentLoops(program),
                                       first = isBefore ? persistentLoops(other) : own;
    const size_t number = llvm::find(own, loop) - own.begin();
    if (!isBefore || !loop.getPersistent() || number >= first.size() || first[number].getSameAs())
      return loop->emitOpError("is the same as one of @")
             << *name << ", which is no program before with such a persistent loop";
  }
  if ((loop.getPersistent() && loop.getNotPersistentReason()) || (loop.getSyncs() && loop.getBarrierReason()))
    return loop->emitOpError("has a reason for what it is not, but is it");
  if (std::optional<ArrayAttr> syncs = loop.getSyncs())
    for (auto buffer : syncs->getAsRange<FlatSymbolRefAttr>())
      if (failed(lookUp<BufferOp>(loop, buffer, "buffer", symbols)))
        return failure();
  return success();
}

LogicalResult LevelsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(lookUp<GroupOp>(*this, getCarrierAttr(), "group", symbols)))
    return failure();
  return verifyLoop(*this, symbols);
}

LogicalResult StepsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(lookUp<IndexSetOp>(*this, getCarrierAttr(), "index set of steps", symbols, isOfSteps)))
    return failure();
  return verifyLoop(*this, symbols);
}

LogicalResult CopyAsyncOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return lookUp<WeightsOp>(*this, getWeightsAttr(), "weights for tensor cores", symbols,
                           [](WeightsOp weights) { return weights.getContract().has_value(); });
}

LogicalResult GradientsOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (program.getOps<GradientOp>().empty() && program.getOps<InputGradientOp>().empty())
    return emitOpError("stands in a program that gives no gradients");
  auto eachAccess = [&](LaunchOp launch, function_ref<void(Operation *, const Access &)> see) {
    if (auto func = program.lookupSymbol<FuncOp>(launch.getFunc()))
      walkAccesses(func, see);
  };
  // What it holds is left out at times, so nothing else may need it.
  llvm::StringSet<> written;
  getBody().walk([&](LaunchOp launch) {
    eachAccess(launch, [&](Operation *, const Access &access) {
      if (access.writes)
        written.insert(access.array.getValue());
    });
  });
  for (auto output : program.getOps<OutputOp>())
    if (written.contains(output.getBuffer()))
      return emitOpError("holds what writes @") << output.getBuffer() << ", which is a result";
  StringRef needed;
  (*this)->getParentOp()->walk([&](LaunchOp launch) {
    if (!launch->getParentOfType<GradientsOp>())
      eachAccess(launch, [&](Operation *, const Access &access) {
        if (needed.empty() && access.reads && written.contains(access.array.getValue()))
          needed = access.array.getValue();
      });
  });
  if (!needed.empty())
    return emitOpError("holds what writes @") << needed << ", which is read outside of it";
  return success();
}

LogicalResult ConcurrentOp::verify() {
  for (Operation &op : getBody().front())
    if (!isa<TimeStepLoopInterface>(op))
      return emitOpError("holds ") << op.getName() << ", which is no loop";
  return success();
}

LogicalResult ConcurrentOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // Which loop writes and reads an array, or what memory buffers share.
  llvm::MapVector<Attribute, llvm::SmallPtrSet<Operation *, 4>> writers, readers;
  for (Operation &loop : getBody().front()) {
    auto see = [&](Operation *, const Access &access) {
      Attribute memory = access.array;
      if (auto buffer = symbols.lookupNearestSymbolFrom<BufferOp>(*this, access.array))
        if (buffer.getStorageAttr())
          memory = buffer.getStorageAttr();
      if (access.writes)
        writers[memory].insert(&loop);
      if (access.reads)
        readers[memory].insert(&loop);
    };
    walkAccesses(&loop, see);
    loop.walk([&](LaunchOp launch) {
      if (auto func = symbols.lookupNearestSymbolFrom<FuncOp>(*this, launch.getFuncAttr()))
        walkAccesses(func, see);
    });
  }
  for (const auto &[memory, wrote] : writers) {
    llvm::SmallPtrSet<Operation *, 4> all = wrote;
    all.insert_range(readers.lookup(memory));
    if (all.size() > 1)
      return emitOpError("has a loop that writes what another one reads or writes: ") << memory;
  }
  return success();
}
