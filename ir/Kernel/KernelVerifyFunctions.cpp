// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect: verifiers of what functions are made of.
#include "ir/Kernel/Verify.h"
#include <numeric>

using namespace mlir;
using namespace dbc::kernel;
namespace dyn = dbc::dyn;

static bool isInStage(Operation *op) {
  auto func = op->getParentOfType<FuncOp>();
  return func && func.getKind() == FuncKind::Stage;
}

//===-- Control flow -------------------------------------------------------------------------------===//

static LogicalResult verifyLoop(Operation *op, Region &body, ValueRange init) {
  TypeRange arguments = body.getArgumentTypes();
  if (arguments.empty() || !arguments.front().isInteger(32) ||
      !llvm::equal(arguments.drop_front(), init.getTypes()))
    return op->emitOpError("needs a counter and one argument a carried value");
  auto yield = body.front().empty() ? YieldOp() : dyn_cast<YieldOp>(body.front().back());
  if (!yield || !llvm::equal(yield.getOperandTypes(), init.getTypes()) ||
      !llvm::equal(op->getResultTypes(), init.getTypes()))
    return op->emitOpError("does not yield its carried values");
  return success();
}

LogicalResult ForOp::verify() { return verifyLoop(*this, getBody(), getInit()); }

LogicalResult LanesOp::verify() {
  if (!(*this)->getParentOfType<WarpsOp>() || (*this)->getParentOfType<LanesOp>())
    return emitOpError("is no loop of a warp");
  return verifyLoop(*this, getBody(), getInit() ? ValueRange(getInit()) : ValueRange());
}

LogicalResult IfOp::verify() {
  for (Region *region : {&getThen(), &getOtherwise()}) {
    auto yield = dyn_cast<YieldOp>(region->front().getTerminator());
    if (!yield || !llvm::equal(yield.getOperandTypes(), getResultTypes()))
      return emitOpError("has a region that does not yield its results");
  }
  return success();
}

/// Loops that carry nothing, of which a round is identified by so many numbers.
static LogicalResult verifyRounds(Operation *op, unsigned numbers) {
  Block &body = op->getRegion(0).front();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (body.getNumArguments() != numbers || !areIntegers(body.getArgumentTypes()) || !yield ||
      yield.getNumOperands() != 0)
    return op->emitOpError("does not take ") << numbers << " i32 and yield nothing";
  return success();
}

LogicalResult BlocksOp::verify() { return verifyRounds(*this, 2); }

static LogicalResult verifyMapped(Operation *op) {
  if (!op->getParentOfType<BlocksOp>())
    return op->emitOpError("stands in no block of rows");
  return verifyRounds(op, 1);
}
LogicalResult ThreadsOp::verify() { return verifyMapped(*this); }
LogicalResult WarpsOp::verify() { return verifyMapped(*this); }

//===-- Memory -------------------------------------------------------------------------------------===//

/// An array that a function reads: its program's, or a parameter.
static FailureOr<Operation *> arrayOf(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  Operation *array = symbols.lookupNearestSymbolFrom(op, name);
  if (isa_and_nonnull<BufferOp, FieldOp, ArgumentOp>(array))
    return array;
  auto param = ofModule<ParamOp>(op, name, "array", symbols);
  if (failed(param))
    return failure();
  return param->getOperation();
}

/// Whether `type` is an element of an array, which has an index for the row, and one an axis of it.
static LogicalResult verifyElement(Operation *op, Operation *array, Type type, size_t indices) {
  Type row = rowType(array);
  const bool isParam = isa<ParamOp>(array); // its row is its first axis
  if (type == dyn::scalar(row) && indices == dyn::extents(row).size() + (isParam ? 0 : 1))
    return success();
  return op->emitOpError("is of ") << type << " by " << indices << " indices, but @"
                                   << SymbolTable::getSymbolName(array).getValue() << " has "
                                   << (isParam ? "" : "rows of ") << row;
}

LogicalResult LoadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getIndexArray()) {
    auto indexSet = lookUp<IndexSetOp>(*this, getArrayAttr(), "index set", symbols);
    if (failed(indexSet) || failed(verifyIndexArray(*this, *indexSet, *getIndexArray())))
      return failure();
    if (getIndices().size() != 1 || getType().isF32())
      return emitOpError("is of ") << getType() << " by " << getIndices().size()
                                   << " indices, but in an index array";
    return success();
  }
  auto array = arrayOf(*this, getArrayAttr(), symbols);
  return failed(array) ? failure() : verifyElement(*this, *array, getType(), getIndices().size());
}

LogicalResult WindowOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getAgo() >= getLive())
    return emitOpError("is of a level that is not kept");
  return lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set", symbols);
}

LogicalResult StoreOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto buffer = lookUp<BufferOp>(*this, getArrayAttr(), "buffer", symbols);
  return failed(buffer) ? failure()
                        : verifyElement(*this, *buffer, getValue().getType(), getIndices().size());
}

LogicalResult LocalOp::verify() {
  LocalType type = getType();
  if (type.getShape().empty() || llvm::any_of(type.getShape(), [](int64_t extent) { return extent < 1; }) ||
      !dyn::isNumber(type.getElement()) || !dyn::extents(type.getElement()).empty())
    return emitOpError("is no array of numbers: ") << type;
  auto func = (*this)->getParentOfType<FuncOp>();
  if (getLargeM() && (getMemory() != Memory::Shared || !func || !func.getLargeM()))
    return emitOpError("lies in large-M tiles, but its function has none in shared memory");
  if (getMemory() || !getOffset())
    return success();
  const int64_t scratch = func ? func.getScratch().value_or(0) : 0;
  if (static_cast<int64_t>(*getOffset()) < scratch)
    return success();
  return emitOpError("lies at byte ") << *getOffset() << " of " << scratch << " bytes of a thread's scratch";
}

static LogicalResult verifyElement(Operation *op, LocalType local, Type type, size_t indices) {
  if (type == local.getElement() && indices == local.getShape().size())
    return success();
  return op->emitOpError("is of ") << type << " by " << indices << " indices, but in " << local;
}

LogicalResult ReadOp::verify() {
  return verifyElement(*this, getLocal().getType(), getType(), getIndices().size());
}

LogicalResult WriteOp::verify() {
  return verifyElement(*this, getLocal().getType(), getValue().getType(), getIndices().size());
}

/// Whether a local is one number for each row of a block.
static bool areNumbers(Value local) {
  auto type = cast<LocalType>(local.getType());
  return type.getShape().size() == 1 && type.getElement().isInteger(32);
}

LogicalResult RowsOp::verify() {
  const bool ofArray = getArray() && bool(getVia()) != bool(getFrom()) && !getLocal();
  const bool ofLocal = !getArray() && !getVia() && !getFrom() && getLocal();
  if (!ofArray && !ofLocal)
    return emitOpError("is neither of an array, via a local or from a row on, nor of a local");
  if (bool(getIndexSet()) != bool(getIndexArray()) || (getIndexSet() && !getFrom()))
    return emitOpError("goes through an index array without all that says where it begins");
  if (getVia() && !areNumbers(getVia()))
    return emitOpError("goes via ") << getVia().getType() << ", which is no row number for each row";
  for (Value local : {getLocal(), getCopy()})
    if (local && !cast<LocalType>(local.getType()).getElement().isF32())
      return emitOpError("is not of f32");
  if (getCopy() && !getArray())
    return emitOpError("copies scratch");
  return success();
}

bool RowsOp::isWritten() {
  return llvm::any_of((*this)->getUsers(), [&](Operation *user) {
    auto product = dyn_cast<ProductOp>(user);
    return product && product.getInto() == getResult();
  });
}

LogicalResult RowsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getArray())
    return success();
  if (getIndexSet()) {
    auto indexSet = lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set", symbols);
    if (failed(indexSet) || failed(verifyIndexArray(*this, *indexSet, *getIndexArray())))
      return failure();
  }
  auto array = arrayOf(*this, getArrayAttr(), symbols);
  if (succeeded(array) && !dyn::scalar(rowType(*array)).isF32())
    return emitOpError("is not of f32");
  return array;
}

/// Checks that each row of an operand of `op` has so many elements behind its offset. Of a parameter, whose
/// rows lie along its first axis, a product of two matrices may take all rows for one.
static LogicalResult verifyRows(Operation *op, Value operand, int64_t elements,
                                SymbolTableCollection &symbols) {
  auto rows = operand.getDefiningOp<RowsOp>();
  if (!rows)
    return op->emitOpError("has an operand that is no kernel.rows");
  int64_t extent = 0;
  if (rows.getLocal()) {
    extent = llvm::product_of(cast<LocalType>(rows.getLocal().getType()).getShape().drop_front());
  } else {
    auto array = arrayOf(rows, rows.getArrayAttr(), symbols);
    if (failed(array))
      return failure();
    extent = llvm::product_of(
        dyn::extents(rowType(*array)).drop_front(isa<ParamOp>(*array) && !isa<MultiplyOp>(op) ? 1 : 0));
  }
  const int64_t offset = rows.getOffsetAttr().getInt();
  if (offset + elements <= extent)
    return success();
  return op->emitOpError("reads ") << elements << " elements from number " << offset << " on of rows of "
                                   << extent;
}

LogicalResult ProductOp::verify() {
  if (getX().size() != getLengths().size())
    return emitOpError("has ") << getX().size() << " operands and " << getLengths().size() << " lengths";
  for (Value numbers : {getTable(), getSome()})
    if (numbers && !areNumbers(numbers))
      return emitOpError("asks ") << numbers.getType() << ", which is no number for each row";
  if (getSome() && (getX().size() != 1 || getTable()))
    return emitOpError("knows of sums of nothing, but is not of one operand and one matrix");
  if (getLargeMTiles()) {
    auto func = (*this)->getParentOfType<FuncOp>();
    if (!func || !func.getLargeM() || !func.getTiles() || !getSums())
      return emitOpError("computes several tiles at once in a function without large-M tiles");
  }
  if (getRelu() && (getTable() || getSome() || getTile() || getSums()))
    return emitOpError("has an epilogue, but is not all outputs of one matrix, of all rows, on a CPU");
  if (isa<RowsType>(getInto().getType()) && (getTile() || getSums()))
    return emitOpError("writes tiles to the rows of a buffer");
  if (!getTile())
    return success();
  auto counter = dyn_cast<BlockArgument>(getTile());
  Operation *loop = counter ? counter.getOwner()->getParentOp() : nullptr;
  if (!isa_and_nonnull<ForOp>(loop) || counter.getArgNumber() != 0)
    return emitOpError("computes a tile that is not the counter of a loop");
  for (Operation *user : getInto().getUsers()) {
    bool writes =
        user->getNumOperands() > 0 && isa<WriteOp, ProductOp, MultiplyOp>(user) &&
        (isa<WriteOp>(user) ? cast<WriteOp>(user).getLocal() : user->getOperands().back()) == getInto();
    if (writes && user != *this && loop->isAncestor(user))
      return emitOpError("computes tiles into what another operation in their loop writes");
  }
  return success();
}

LogicalResult ProductOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto weights = lookUp<WeightsOp>(*this, getWeightsAttr(), "weights", symbols);
  if (failed(weights))
    return failure();
  int64_t inputs = std::accumulate(getLengths().begin(), getLengths().end(), int64_t(0));
  if (inputs != weights->getInAttr().getInt())
    return emitOpError("multiplies ") << inputs << " elements with " << getWeightsAttr() << ", which has "
                                      << weights->getIn() << " inputs";
  if (auto contract = weights->getContract(); contract && contract->getLengths() != getLengths())
    return emitOpError("cuts its operands into ")
           << getLengths() << " elements, but " << getWeightsAttr() << " into " << contract->getLengths();
  for (auto [x, length] : llvm::zip(getX(), getLengths()))
    if (failed(verifyRows(*this, x, length, symbols)))
      return failure();
  if (bool(getTable()) != weights->getTables().has_value())
    return emitOpError(getTable() ? "chooses from " : "does not choose from ") << getWeightsAttr();
  if (bool(getSums()) != weights->getContract().has_value())
    return emitOpError(getSums() ? "knows no order of sums of " : "has no room for the sums of ")
           << getWeightsAttr();
  if (getTile() && !weights->getGates())
    return emitOpError("computes a tile of ") << getWeightsAttr() << ", which has none";
  if (!getTile() && weights->getGates() && !weights->isTiledWhole())
    return emitOpError("computes all outputs of ") << getWeightsAttr() << ", which has tiles";
  SmallVector<int64_t> row{weights->getOutAttr().getInt()};
  if (getTile())
    row = {weights->getGatesAttr().getInt(), weights->getWidthAttr().getInt()};
  if (auto rows = getInto().getDefiningOp<RowsOp>()) {
    if (!rows.getArray())
      return emitOpError("writes scratch as rows of a buffer");
    auto buffer = lookUp<BufferOp>(rows, rows.getArrayAttr(), "buffer", symbols);
    if (succeeded(buffer) && (rows.getOffset() != 0 || dyn::extents(buffer->getType()) != ArrayRef(row)))
      return emitOpError("does not give the outputs of ")
             << getWeightsAttr() << " to the rows of " << rows.getArrayAttr();
    return success(succeeded(buffer));
  }
  LocalType into = getIntoType();
  if (into.getShape().drop_front() != ArrayRef(row) || !into.getElement().isF32())
    return emitOpError("does not give the outputs of ") << getWeightsAttr() << " into " << into;
  return success();
}

LogicalResult OuterOp::verify() {
  auto func = (*this)->getParentOfType<FuncOp>();
  if (!func || !func.getSums())
    return emitOpError("stands in no function that adds rows up");
  if (!getTiles().empty() &&
      (!func.getTiles() || !llvm::equal(getTiles(), func.getBody().getArguments().drop_front(2))))
    return emitOpError("has other bounds than those of the tiles of its function");
  return success();
}

LogicalResult OuterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyRows(*this, getA(), getHeightAttr().getInt(), symbols)) ||
      failed(verifyRows(*this, getX(), getOutputsAttr().getInt(), symbols)))
    return failure();
  if (getBiasAttr() &&
      failed(lookUp<BufferOp>(*this, getBiasAttr(), "buffer of such a vector", symbols, [&](BufferOp buffer) {
        return dyn::extents(buffer.getType()) == ArrayRef(getHeightAttr().getInt());
      })))
    return failure();
  const int64_t extents[] = {getHeightAttr().getInt(), getOutputsAttr().getInt()};
  FailureOr<BufferOp> into =
      lookUp<BufferOp>(*this, getIntoAttr(), "buffer of such a matrix", symbols,
                       [&](BufferOp buffer) { return dyn::extents(buffer.getType()) == ArrayRef(extents); });
  if (failed(into))
    return failure();
  auto indexSet = symbols.lookupNearestSymbolFrom<IndexSetOp>(*into, into->getIndexSetAttr());
  if (indexSet && !indexSet.hasOneRow())
    return emitOpError("adds to ") << getIntoAttr() << ", which has more than one row";
  return success();
}

LogicalResult MultiplyOp::verify() {
  if (getB().size() != getLengths().size())
    return emitOpError("has ") << getB().size() << " operands and " << getLengths().size() << " lengths";
  LocalType into = getInto().getType();
  const int64_t size = llvm::product_of(into.getShape().drop_front());
  if (size != getHeightAttr().getInt() * getOutputsAttr().getInt() || !into.getElement().isF32())
    return emitOpError("does not give ")
           << getHeight() << " by " << getOutputs() << " elements into " << into;
  return success();
}

LogicalResult MultiplyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  const int64_t outputs = getOutputsAttr().getInt();
  for (auto [slice, length] : llvm::zip(getB(), getLengths()))
    if (failed(verifyRows(*this, slice, length * outputs, symbols)))
      return failure();
  const int64_t inputs = std::accumulate(getLengths().begin(), getLengths().end(), int64_t(0));
  return verifyRows(*this, getA(), getHeightAttr().getInt() * inputs, symbols);
}

LogicalResult GemmOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto weights = lookUp<WeightsOp>(*this, getWeightsAttr(), "plain weights", symbols,
                                   [](WeightsOp each) { return !each.getGates() && !each.getTables(); });
  if (failed(weights))
    return failure();
  auto isVector = [&](BufferOp buffer, int64_t length) {
    return buffer.getType() == RankedTensorType::get({length}, Float32Type::get(getContext()));
  };
  auto from = lookUp<BufferOp>(*this, getFromAttr(), "buffer of inputs", symbols, [&](BufferOp buffer) {
    return isVector(buffer, weights->getInAttr().getInt());
  });
  if (failed(from))
    return failure();
  return lookUp<BufferOp>(*this, getToAttr(), "buffer of outputs", symbols,
                          [&](BufferOp buffer) { return isVector(buffer, weights->getOutAttr().getInt()); });
}

//===-- Structure ----------------------------------------------------------------------------------===//

LogicalResult CountOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getResult().use_empty()) // dyn-to-batch also counts rows of index sets that turn out to be of no use
    return success();
  return lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set", symbols);
}

LogicalResult PushOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto indexSet =
      lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set that grows", symbols, [](IndexSetOp indexSet) {
        const IndexSetKind kind = indexSet.getKind();
        return kind != IndexSetKind::Inputs && kind != IndexSetKind::Instances &&
               kind != IndexSetKind::Model && kind != IndexSetKind::Distinct && kind != IndexSetKind::Column;
      });
  if (failed(indexSet))
    return failure();
  if (getValues().size() != indexSet->getPushedArrays())
    return emitOpError("has ") << getValues().size() << " values, but " << getIndexSetAttr() << " has "
                               << indexSet->getPushedArrays() << " index arrays";
  return success();
}

LogicalResult SetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto indexSet = lookUp<IndexSetOp>(
      *this, getIndexSetAttr(), "index set of inputs or instances", symbols, [](IndexSetOp indexSet) {
        return indexSet.getKind() == IndexSetKind::Inputs || indexSet.getKind() == IndexSetKind::Instances;
      });
  return failed(indexSet) ? failure() : verifyIndexArray(*this, *indexSet, getIndexArray());
}

LogicalResult ReserveMemoryOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto indexSet : getIndexSets().getAsRange<FlatSymbolRefAttr>())
    if (failed(lookUp<IndexSetOp>(*this, indexSet, "index set", symbols)))
      return failure();
  return success();
}

static bool isOfStates(IndexSetOp indexSet) { return indexSet.getKind() == IndexSetKind::States; }

LogicalResult ReserveOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set of states", symbols, isOfStates);
}

/// A function has an argument for the input where its cell has no node for a key.
LogicalResult SlotOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto func = funcOf(*this, getFuncAttr(), FuncKind::Slot, symbols);
  if (failed(func))
    return failure();
  const size_t keys = getKeys().size(), arguments = func->getBody().getNumArguments();
  if (keys != arguments && keys + 1 != arguments)
    return emitOpError("has ") << keys << " keys, but " << getFuncAttr() << " has " << arguments
                               << " arguments";
  return success();
}

LogicalResult KeyOp::verify() {
  auto func = (*this)->getParentOfType<FuncOp>();
  if (!func || func.getKind() != FuncKind::Slot)
    return emitOpError("stands in no slot function");
  if (getData().has_value() != getRange().empty())
    return emitOpError(getData() ? "has a range beside that of its nodes" : "has no range");
  if (getRange().empty())
    return getFixed() ? LogicalResult(emitOpError("is fixed, but a node")) : success();
  Block &block = getRange().front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getNumOperands() != 2 || !areIntegers(yield.getOperandTypes()))
    return emitOpError("has a range that does not yield two i32");
  std::optional<KeyRange> range = getConstantRange();
  if (getFixed() && (!range || range->width < 1))
    return emitOpError("is fixed, but the values of its range are not the same for every node");
  return success();
}

LogicalResult KeyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto group = groupOf(*this, getGroupAttr(), getCell(), symbols);
  if (failed(group))
    return failure();
  if (getKey() >= group->getSecondaryKeys(getCell()).size())
    return emitOpError("is secondary key ")
           << getKey() << " of a cell with " << group->getSecondaryKeys(getCell()).size();
  if (getFixed() && group->getSecondaryKeys(getCell()).size() > 1)
    return emitOpError("is fixed, but its cell has more secondary keys");
  return getData() ? LogicalResult(ofModule<DataOp>(*this, getDataAttr(), "data type", symbols)) : success();
}

LogicalResult RelationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return groupOf(*this, getGroupAttr(), getCell(), symbols);
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(groupOf(*this, getGroupAttr(), getCell(), symbols)))
    return failure();
  if (!getRelation())
    return getOrigin().empty() ? success() : LogicalResult(emitOpError("has an origin, but no relation"));
  auto relation = lookUp<RelationOp>(*this, getRelationAttr(), "relation", symbols);
  if (failed(relation))
    return failure();
  if (relation->getGroupAttr() != getGroupAttr() || relation->getCell() != getCell())
    return emitOpError("is from @") << *getRelation() << ", which leads to another cell";
  if (relation->getKeeps() != getOrigin().size())
    return emitOpError("has an origin of ")
           << getOrigin().size() << " values, but @" << *getRelation() << " keeps " << relation->getKeeps();
  return success();
}

LogicalResult CalledByOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return lookUp<RelationOp>(*this, getRelationAttr(), "relation", symbols);
}

LogicalResult CallerOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto relation = lookUp<RelationOp>(*this, getRelationAttr(), "relation", symbols);
  if (failed(relation))
    return failure();
  if (getNumber() >= relation->getKeeps())
    return emitOpError("is value ") << getNumber() << ", but @" << getRelation() << " keeps "
                                    << relation->getKeeps();
  return success();
}

LogicalResult CalledOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto group = groupOf(*this, getGroupAttr(), getCell(), symbols);
  if (failed(group))
    return failure();
  const size_t keys = 1 + group->getSecondaryKeys(getCell()).size();
  if (getKeys().size() != keys)
    return emitOpError("has ") << getKeys().size() << " keys, but its cell has " << keys;
  return success();
}

LogicalResult RowOfOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return lookUp<IndexSetOp>(
      *this, getIndexSetAttr(), "index set of instances", symbols,
      [](IndexSetOp indexSet) { return indexSet.getKind() == IndexSetKind::Instances; });
}

LogicalResult RequireOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!isa_and_nonnull<FieldOp, ArgumentOp>(symbols.lookupNearestSymbolFrom(*this, getArrayAttr())))
    return emitOpError("names ") << getArrayAttr() << ", which is no field or argument";
  return success();
}

/// How many numbers an error has, see dbc::ErrorKind in the runtime's messages.h.
static size_t numbersOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Empty:
  case ErrorKind::Conversion:
    return 0;
  case ErrorKind::Slice:
    return 3;
  case ErrorKind::Index:
  case ErrorKind::ListIndex:
  case ErrorKind::Lengths:
  case ErrorKind::StateLength:
    return 2;
  }
  llvm_unreachable("all kinds of errors are handled");
}

LogicalResult CheckOp::verify() {
  const size_t numbers = numbersOf(getError()) + (isInStage(*this) ? 1 : 0); // and the row
  if (getValues().size() != numbers)
    return emitOpError("has ") << getValues().size() << " values, not " << numbers << ", for "
                               << stringifyErrorKind(getError());
  return success();
}

LogicalResult IntOp::verify() {
  if (getKind() == dyn::IntKind::Max || getKind() == dyn::IntKind::Min)
    return emitOpError("cannot fail: arith has it");
  if (bool(getRow()) != isInStage(*this))
    return emitOpError(getRow() ? "has a row, but stands in no stage" : "has no row of its stage");
  return success();
}

LogicalResult CollectNodesOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto indexSet = lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set of states", symbols, isOfStates);
  if (failed(indexSet) || failed(verifyIndexArray(*this, *indexSet, "node")))
    return failure();
  return ofModule<DataOp>(*this, getDataAttr(), "data type", symbols);
}

LogicalResult NodeNumberOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return ofModule<DataOp>(*this, getDataAttr(), "data type", symbols);
}

LogicalResult OrderOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return lookUp<IndexSetOp>(
      *this, getIndexSetAttr(), "index set with an order list", symbols, [](IndexSetOp indexSet) {
        return isOfSteps(indexSet) || indexSet.getStepsOf() || indexSet.getMasked() || isByInput(indexSet);
      });
}
