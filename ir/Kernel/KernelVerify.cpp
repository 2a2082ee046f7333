// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect: verifiers of what programs declare.
#include "ir/Kernel/Verify.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace dbc::kernel;
namespace dyn = dbc::dyn;

//===-- Interface ----------------------------------------------------------------------------------===//

LogicalResult CtorOp::verify() {
  if (getFields().size() != getTypes().size() || getFields().size() != getColumns().size())
    return emitOpError("has ") << getFields().size() << " fields, " << getTypes().size() << " types and "
                               << getColumns().size() << " columns";
  return success();
}

LogicalResult CtorOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (Attribute type : getTypes())
    if (failed(dyn::verifyNodes(*this, cast<TypeAttr>(type).getValue(), symbols)))
      return failure();
  return success();
}

LogicalResult EvaluationOp::verify() {
  ArrayRef<int32_t> code = getCode();
  int64_t size = code.size(), functions = size > 0 ? code[0] : 0;
  if (functions < 1 || size <= functions)
    return emitOpError("has no code of its entry");
  for (int32_t position : code.slice(1, functions))
    if (position <= functions || position >= size)
      return emitOpError("has a function at ") << position << ", outside of its code";
  return success();
}

LogicalResult EvaluationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *entry = symbols.lookupNearestSymbolFrom(*this, getEntryAttr());
  if (!entry || (!isa<dyn::EntryOp>(entry) && !entry->hasTrait<OpTrait::SymbolTable>()))
    return emitOpError("names ") << getEntryAttr() << ", which is no entry or program";
  return success();
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getArgNames().size() != getArgTypes().size())
    return emitOpError("has ") << getArgNames().size() << " argument names and " << getArgTypes().size()
                               << " types";
  for (Type type : getArgTypes().getAsValueRange<TypeAttr>())
    if (failed(dyn::verifyNodes(*this, type, symbols)))
      return failure();
  if (failed(dyn::verifyNodes(*this, getSurface(), symbols)))
    return failure();
  SmallVector<Type> results;
  dyn::flatten(getSurface(), results);
  if (getLoss() && (results.empty() || !results.front().isF32()))
    return emitOpError("is a loss, but gives no f32 first");
  return success();
}

/// What a list at any depth holds in the end, and how deep.
static std::pair<Type, int64_t> unpacked(Type type) {
  int64_t depth = 0;
  for (; isa<dyn::ListType>(type); ++depth)
    type = cast<dyn::ListType>(type).getElement();
  return {stored(type), depth};
}

LogicalResult OutputOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto buffer = lookUp<BufferOp>(*this, getBufferAttr(), "buffer", symbols);
  if (failed(buffer))
    return failure();
  SmallVector<Type> results;
  dyn::flatten((*this)->getParentOfType<ProgramOp>().getSurface(), results);
  const uint32_t component = getComponent();
  if (component >= results.size())
    return emitOpError("is result ") << getComponentAttr().getInt() << " of " << results.size();
  const Type row = rowType(*buffer);
  if (unpacked(results[component]) != std::make_pair(row, getDepthAttr().getInt()))
    return emitOpError("has ") << row << " at depth " << getDepthAttr().getInt() << " for result "
                               << component << ", which is " << results[component];
  return success();
}

//===-- Arrays -------------------------------------------------------------------------------------===//

FailureOr<GroupOp> dbc::kernel::groupOf(Operation *op, FlatSymbolRefAttr name, uint32_t cell,
                                        SymbolTableCollection &symbols) {
  return lookUp<GroupOp>(op, name, "group with a cell number " + Twine(cell), symbols,
                         [&](GroupOp group) { return cell < group.getCells().size(); });
}

FailureOr<FuncOp> dbc::kernel::funcOf(Operation *op, FlatSymbolRefAttr name, FuncKind kind,
                                      SymbolTableCollection &symbols) {
  return lookUp<FuncOp>(op, name, stringifyFuncKind(kind) + " function", symbols,
                        [&](FuncOp func) { return func.getKind() == kind; });
}

LogicalResult dbc::kernel::verifyIndexArray(Operation *op, IndexSetOp indexSet, StringRef array) {
  if (llvm::is_contained(indexSet.getIndexArrays().getAsValueRange<StringAttr>(), array))
    return success();
  return op->emitOpError("names index array `")
         << array << "`, which @" << indexSet.getSymName() << " does not have";
}

/// Whether an array of the batch has a value for each node, input or element of a list.
static bool hasRowsOfValues(Operation *array) {
  auto field = dyn_cast_or_null<FieldOp>(array);
  auto argument = dyn_cast_or_null<ArgumentOp>(array);
  if (!field && !argument)
    return false;
  const FieldArray which = field ? field.getArray() : argument.getArray();
  return which == FieldArray::Value || which == FieldArray::Items;
}

/// Whether two arrays of values have a row for each node of one data type, for each input, or for each
/// element of the same lists.
static bool haveSameRows(Operation *a, Operation *b) {
  if (a == b)
    return true;
  auto field = dyn_cast<FieldOp>(a), otherField = dyn_cast<FieldOp>(b);
  if (field && otherField)
    return field.getArray() == FieldArray::Value && otherField.getArray() == FieldArray::Value &&
           field.getDataAttr() == otherField.getDataAttr();
  auto argument = dyn_cast<ArgumentOp>(a), otherArgument = dyn_cast<ArgumentOp>(b);
  return argument && otherArgument && argument.getArray() == FieldArray::Value &&
         otherArgument.getArray() == FieldArray::Value;
}

LogicalResult IndexSetOp::verify() {
  const IndexSetKind kind = getKind();
  const bool ofRows =
      kind == IndexSetKind::Elements || kind == IndexSetKind::Arm || kind == IndexSetKind::Steps;
  const bool isColumn = kind == IndexSetKind::Column, isByInput = kind == IndexSetKind::ByInput;
  llvm::StringSet<> arrays;
  for (StringRef array : getIndexArrays().getAsValueRange<StringAttr>())
    if (!arrays.insert(array).second)
      return emitOpError("has index array `") << array << "` twice";
  if (getFilled() > getIndexArrays().size())
    return emitOpError("has more index arrays that are filled than it has");
  if (getSites() && (kind != IndexSetKind::Instances || getSites()->size() % 2 != 0))
    return emitOpError("has sites that are no pairs of a coordinate and a call, or is not of instances");
  const size_t count = getPushedArrays();
  if (((kind == IndexSetKind::Batch || isColumn || isByInput) && count != 0) ||
      (kind == IndexSetKind::Transpose &&
       (count != 2 || !arrays.contains(kRowArray) || !arrays.contains(kBeginArray))) ||
      (kind == IndexSetKind::Distinct && (count != 1 || !arrays.contains(kRowArray))))
    return emitOpError("has other index arrays than its kind");
  const bool wantsParent = ofRows || isColumn || isByInput;
  if (wantsParent != getParent().has_value() && kind != IndexSetKind::States)
    return emitOpError(wantsParent ? "has no parent" : "has a parent, but no rows that are made from others");
  const bool ofCell = getGroup().has_value();
  if (ofCell != getCell().has_value() || ofCell != (kind == IndexSetKind::Instances))
    return emitOpError(ofCell ? "is of a cell, but not of its instances" : "is of instances, but of no cell");
  const bool isDistinct = kind == IndexSetKind::Distinct;
  if (getExtent() &&
      ((kind != IndexSetKind::Model && !isDistinct) || getExtentAttr().getInt() < 1 || count != 1))
    return emitOpError("has an extent, but is no table");
  if (isByInput && getByTimeStep())
    return emitOpError("in the order of the inputs has time steps");
  if (isColumn && (getByTimeStep() || getMasked()))
    return emitOpError("of a column has time steps");
  if (isDistinct && (!getExtent() || getByTimeStep() || getMasked()))
    return emitOpError("of distinct numbers has no extent, or time steps");
  StringRef first = getIndexArrays().empty() ? "" : cast<StringAttr>(getIndexArrays()[0]).getValue();
  if ((ofRows && first != kParentArray) || (kind == IndexSetKind::Inputs && first != kInputArray) ||
      (kind == IndexSetKind::Instances && first != kNodeArray && first != kInputArray))
    return emitOpError("begins with index array `") << first << "`";
  if (kind == IndexSetKind::Steps && !arrays.contains(kStepArray))
    return emitOpError("has no index array `step`");
  return success();
}

StringAttr IndexSetOp::addFilled(StringRef number) {
  SmallVector<Attribute> arrays(getIndexArrays().getValue());
  std::string name = (number + ".row").str();
  auto isTaken = [&](Attribute array) { return cast<StringAttr>(array).getValue() == name; };
  for (unsigned other = 2; llvm::any_of(arrays, isTaken); ++other)
    name = (number + ".row." + Twine(other)).str();
  auto added = StringAttr::get(getContext(), name);
  arrays.push_back(added);
  setIndexArraysAttr(ArrayAttr::get(getContext(), arrays));
  setFilled(getFilled() + 1);
  return added;
}

LogicalResult IndexSetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getKind() == IndexSetKind::Column) {
    if (!hasRowsOfValues(symbols.lookupNearestSymbolFrom(*this, getParentAttr())))
      return emitOpError("names ") << getParentAttr() << ", which is no field or argument with values";
  } else if (getParent() && failed(lookUp<IndexSetOp>(*this, getParentAttr(), "index set", symbols))) {
    return failure();
  }
  if (getKind() == IndexSetKind::ByInput && getMasked() &&
      failed(lookUp<IndexSetOp>(*this, getParentAttr(), "masked index set", symbols, isMasked)))
    return failure();
  if (getStepsOf() &&
      failed(lookUp<IndexSetOp>(*this, getStepsOfAttr(), "index set of steps", symbols, isOfSteps)))
    return failure();
  return getGroup() ? LogicalResult(groupOf(*this, getGroupAttr(), *getCell(), symbols)) : success();
}

LogicalResult GroupOp::verify() {
  const size_t cells = getCells().size();
  if (getDatas().size() != cells || getCalls().size() != cells || (getKeys() && getKeys()->size() != cells))
    return emitOpError("does not tell the same of each of its ") << cells << " cells";
  if (getLevelKey() && (cells != 1 || *getLevelKey() >= getSecondaryKeys(0).size()))
    return emitOpError("has no one cell with a secondary key ") << *getLevelKey();
  if (!getShared())
    return success();
  if (!getOfFields())
    return emitOpError("is shared by nodes that are alike, but is not of their fields alone");
  for (unsigned cell = 0; cell < cells; ++cell)
    if (!getSecondaryKeys(cell).empty() && !getFixedKey(cell))
      return emitOpError("is shared by nodes that are alike, but cell ")
             << cell << " has secondary keys that are not fixed";
  return success();
}

LogicalResult GroupOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto calls : getCalls().getAsRange<FlatSymbolRefAttr>())
    if (failed(funcOf(*this, calls, FuncKind::Calls, symbols)))
      return failure();
  for (Attribute each : getDatas())
    if (auto data = dyn_cast<FlatSymbolRefAttr>(each))
      if (failed(ofModule<DataOp>(*this, data, "data type", symbols)))
        return failure();
  return success();
}

/// Whether the rows of an index set run by level of a recursion, and lie one level behind the other: there is
/// no order list.
static bool liesInSteps(IndexSetOp indexSet) {
  return indexSet.getByTimeStep() && !indexSet.getStepsOf() && !indexSet.getMasked() &&
         (indexSet.getKind() == IndexSetKind::Instances || indexSet.getKind() == IndexSetKind::Elements ||
          indexSet.getKind() == IndexSetKind::Arm);
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto indexSet = lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set", symbols);
  if (failed(indexSet))
    return failure();
  if (getLive() && !liesInSteps(*indexSet))
    return emitOpError("keeps the rows of some time steps, but its rows do not lie in the order of these");
  if (!getStride())
    return success();
  const int64_t numbers = llvm::product_of(dyn::extents(getType()));
  if (int64_t(*getStride()) < numbers)
    return emitOpError("has rows of ") << numbers << " numbers that begin " << *getStride() << " apart";
  return success();
}

/// What this array of values of a flat type holds; null if they have no such array.
static Type elementOf(Type flat, FieldArray array, int64_t level) {
  auto [type, depth] = unpacked(flat);
  switch (array) {
  case FieldArray::Value:
    return depth == 0 ? type : Type();
  case FieldArray::Items:
    return depth > 0 ? type : Type();
  case FieldArray::Begin:
  case FieldArray::End:
    return level < depth ? IntegerType::get(type.getContext(), 32) : Type();
  case FieldArray::Kind:
  case FieldArray::LossWeight:
    break;
  }
  return {};
}

LogicalResult FieldOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto data = ofModule<DataOp>(*this, getDataAttr(), "data type", symbols);
  if (failed(data))
    return failure();
  if (getArray() == FieldArray::Kind)
    return getType().isInteger(32) ? success() : emitOpError("holds kinds as ") << getType();
  const int64_t number = getColumnAttr().getInt();
  for (auto ctor : data->getBody().front().getOps<CtorOp>())
    for (auto [field, surface, column] : llvm::zip(ctor.getFields(), ctor.getTypes(), ctor.getColumns())) {
      SmallVector<Type> flat;
      dyn::flatten(cast<TypeAttr>(surface).getValue(), flat);
      if (column == number && field == getNameAttr() && flat.size() == 1 &&
          elementOf(flat[0], getArray(), getLevel().value_or(0)) == getType())
        return success();
    }
  return emitOpError("is no ") << stringifyFieldArray(getArray()) << " of a field " << getNameAttr() << " of "
                               << getDataAttr() << " in column " << number;
}

LogicalResult ArgumentOp::verify() {
  if (getArray() == FieldArray::LossWeight)
    return getType().isF32() && (*this)->getParentOp()->hasAttr("loss")
               ? success()
               : emitOpError("weighs the inputs of no loss");
  SmallVector<Type> flat;
  if (auto types = (*this)->getParentOp()->getAttrOfType<ArrayAttr>("arg_types"))
    for (Type type : types.getAsValueRange<TypeAttr>())
      dyn::flatten(type, flat);
  if (getComponent() < flat.size() &&
      elementOf(flat[getComponent()], getArray(), getLevel().value_or(0)) == getType())
    return success();
  return emitOpError("is no ") << stringifyFieldArray(getArray()) << " of argument " << getComponent()
                               << " of its program";
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto buffer = lookUp<BufferOp>(*this, getBufferAttr(), "buffer", symbols);
  if (failed(buffer))
    return failure();
  auto param = ofModule<ParamOp>(*this, getParamAttr(), "parameter", symbols);
  if (failed(param))
    return failure();
  auto indexSet = symbols.lookupNearestSymbolFrom<IndexSetOp>(*this, buffer->getIndexSetAttr());
  const bool isSparse = indexSet && indexSet.getKind() == IndexSetKind::Distinct;
  const ArrayRef<int64_t> shape = dyn::extents(param->getType());
  const Type row = rowType(*buffer);
  if (!dyn::scalar(row).isF32() || dyn::scalar(row) != dyn::scalar(param->getType()) ||
      (isSparse && shape.empty()) || dyn::extents(row) != (isSparse ? shape.drop_front() : shape))
    return emitOpError("of ") << getParamAttr() << ", which is " << param->getType() << ", lies in " << row;
  if (isSparse && *indexSet.getExtent() != shape.front())
    return emitOpError("of ") << getParamAttr() << ", which has " << shape.front()
                              << " rows, lies at rows of " << *indexSet.getExtent();
  return isSparse || (indexSet && indexSet.getKind() == IndexSetKind::Batch)
             ? success()
             : emitOpError("lies in a buffer that has more than one row");
}

LogicalResult InputGradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto buffer = lookUp<BufferOp>(*this, getBufferAttr(), "buffer", symbols);
  if (failed(buffer))
    return failure();
  Operation *array = symbols.lookupNearestSymbolFrom(*this, getArrayAttr());
  if (!hasRowsOfValues(array))
    return emitOpError("names ") << getArrayAttr() << ", which is no field or argument with values";
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode())
    if (auto other = dyn_cast<InputGradientOp>(op); other && other.getArrayAttr() == getArrayAttr())
      return emitOpError("gives ") << getArrayAttr() << " a second gradient";
  auto indexSet = symbols.lookupNearestSymbolFrom<IndexSetOp>(*this, buffer->getIndexSetAttr());
  if (!indexSet || indexSet.getKind() != IndexSetKind::Column ||
      !haveSameRows(symbols.lookupNearestSymbolFrom(*this, indexSet.getParentAttr()), array))
    return emitOpError("of ") << getArrayAttr() << " lies in a buffer that has other rows";
  const Type row = rowType(*buffer), value = rowType(array);
  if (row != value || !dyn::scalar(row).isF32())
    return emitOpError("of ") << getArrayAttr() << ", which has rows of " << value << ", lies in " << row;
  return success();
}

LogicalResult WeightsOp::verify() {
  const size_t submatrices = getSubmatrices().size(), numbers = getPositions().size();
  if ((numbers != 2 * submatrices && numbers != 6 * submatrices) || (getTables() && submatrices != 1))
    return emitOpError("has ") << numbers << " positions for " << submatrices << " submatrices";
  if (getTurned() && (submatrices != 1 || getTables()))
    return emitOpError("is turned, but is not of one parameter");
  const int64_t gates = getGates().value_or(1), width = getWidth().value_or(1), out = getOutAttr().getInt();
  if (getGates().has_value() != getWidth().has_value() || out % gates != 0 || width > out / gates)
    return emitOpError("has no tiles of ") << width << " channels of " << gates << " gates";
  if (std::optional<ContractAttr> contract = getContract()) {
    ArrayRef<int64_t> lengths = contract->getLengths();
    if (getTables() || contract->getSlices() < 1 || contract->getNTiles() < 1 ||
        std::accumulate(lengths.begin(), lengths.end(), int64_t(0)) != getInAttr().getInt())
      return emitOpError("cannot be laid out by ") << getContractAttr();
  }
  return success();
}

/// The submatrices lie in the matrix and have as many elements as it has.
LogicalResult WeightsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  const int64_t out = getOutAttr().getInt(), in = getInAttr().getInt();
  const size_t numbers = getPositions().size() / std::max<size_t>(1, getSubmatrices().size());
  int64_t covered = 0;
  for (auto [n, symbol] : llvm::enumerate(getSubmatrices().getAsRange<FlatSymbolRefAttr>())) {
    auto param = ofModule<ParamOp>(*this, symbol, "parameter", symbols);
    if (failed(param))
      return failure();
    ArrayRef<int64_t> at = getPositions().slice(numbers * n, numbers), shape = dyn::extents(param->getType());
    const bool isBlock = numbers == 6;
    bool fits = dyn::scalar(param->getType()).isF32() &&
                (shape.size() == (getTables() ? 3 : 2) || (isBlock && shape.size() == 3)) &&
                (!getTables() || shape.front() == getTablesAttr().getInt());
    int64_t rows = 0, columns = 0;
    if (fits) {
      std::tie(rows, columns) = std::pair(shape[shape.size() - 2], shape.back());
      if (isBlock) {
        if (!getTables() && shape.size() == 3) // its matrices one below the other
          rows *= shape.front();
        fits = at[2] >= 0 && at[3] >= 0 && at[2] + at[4] <= rows && at[3] + at[5] <= columns;
        std::tie(rows, columns) = std::pair(at[4], at[5]);
      }
      if (getTurned())
        std::swap(rows, columns);
    }
    if (!fits || at[0] < 0 || at[1] < 0 || at[0] + rows > out || at[1] + columns > in)
      return emitOpError("has no position for ") << symbol << ", which is " << param->getType();
    covered += rows * columns;
  }
  if (covered != out * in)
    return emitOpError("has ") << out * in << " elements, but its submatrices have " << covered;
  if (!getInit())
    return success();
  auto init = ofModule<ParamOp>(*this, getInitAttr(), "parameter", symbols);
  if (succeeded(init) && init->getType() != RankedTensorType::get({out}, Float32Type::get(getContext())))
    return emitOpError("does not start from ") << getInitAttr() << ", which is " << init->getType();
  return init;
}

//===-- Functions ----------------------------------------------------------------------------------===//

/// Whether locals that have a place have it for themselves; numbers have four bytes at least.
static bool lieApart(FuncOp func) {
  std::map<std::pair<std::optional<Memory>, int64_t>, int64_t> ends; // by where they begin
  bool apart = true;
  func.getBody().walk([&](LocalOp local) {
    if (!local.getOffset())
      return;
    const int64_t begin = *local.getOffset(), end = begin + llvm::product_of(local.getType().getShape()) *
                                                                bytesOf(local.getType().getElement(), 4);
    apart &= ends.try_emplace({local.getMemory(), begin}, end).second;
  });
  for (auto it = ends.begin(); apart && it != ends.end(); ++it)
    if (auto next = std::next(it); next != ends.end() && next->first.first == it->first.first)
      apart = it->second <= next->first.second;
  return apart;
}

LogicalResult FuncOp::verify() {
  const FuncKind kind = getKind();
  const size_t least = kind == FuncKind::Index ? 2 : kind == FuncKind::Stage ? (getTiles() ? 4 : 2) : 1;
  const size_t count = getBody().getNumArguments();
  const bool exactly = kind == FuncKind::Stage || kind == FuncKind::Roots;
  if (count < least || (exactly && count > least) || !areIntegers(getBody().getArgumentTypes()))
    return emitOpError("has arguments that are not those of a ") << stringifyFuncKind(kind) << " function";
  if (getIndexSet().has_value() != (kind == FuncKind::Index || kind == FuncKind::Stage))
    return emitOpError(getIndexSet() ? "is over an index set, but not called for its rows"
                                     : "is over no index set");
  if (getBackward() && kind != FuncKind::Stage)
    return emitOpError("is of the backward pass, but no stage");
  if (getSlices() && !getSums())
    return emitOpError("is cut into slices of rows, but does not add them up");
  bool hasGlobal = false;
  getBody().walk(
      [&](LocalOp local) { hasGlobal |= local.getMemory() == Memory::Global && !local->use_empty(); });
  if (hasGlobal != getMostBlocks().has_value())
    return emitOpError(hasGlobal ? "has scratch in global memory for any number of blocks of threads"
                                 : "limits blocks of threads that have no scratch in global memory");
  if (!lieApart(*this))
    return emitOpError("has locals that overlap");
  Block &body = getBody().front();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (kind != FuncKind::Slot)
    return yield ? emitOpError("yields something, but gives no slot") : success();
  const bool isSlot = yield && yield.getNumOperands() == 1 && areIntegers(yield.getOperandTypes());
  return isSlot ? success() : emitOpError("does not yield a slot");
}

/// Whether what a stage reads of lists names arrays that say how long these are.
static LogicalResult verifyElements(FuncOp func, IndexSetOp rows, dbc::kernel::ElementsAttr elements,
                                    SymbolTableCollection &symbols) {
  FailureOr<IndexSetOp> of = lookUp<IndexSetOp>(func, elements.getList(), "index set", symbols);
  if (failed(of))
    return failure();
  const bool transpose = of->getKind() == IndexSetKind::Transpose;
  if (!transpose && *of != rows)
    return func.emitOpError("has lists of @") << of->getSymName() << ", whose rows are not its own";
  if (failed(verifyIndexArray(func, *of, elements.getArray().getValue())))
    return failure();
  return elements.getAt().empty() ? success() : verifyIndexArray(func, rows, elements.getAt().getValue());
}

/// Whether a stage makes the buffers 0 that it is said to clear, and does nothing else.
static LogicalResult verifyClears(FuncOp func, SymbolTableCollection &symbols) {
  llvm::StringSet<> stored;
  bool onlyZeros = true;
  walkAccesses(func, [&](Operation *op, const Access &access) {
    auto store = dyn_cast<StoreOp>(op);
    onlyZeros &= store && matchPattern(store.getValue(), m_PosZeroFloat());
    stored.insert(access.array.getValue());
  });
  for (auto array : func.getClearsAttr().getAsRange<FlatSymbolRefAttr>()) {
    if (failed(lookUp<BufferOp>(func, array, "buffer over its index set", symbols, [&](BufferOp buffer) {
          return buffer.getIndexSet() == *func.getIndexSet() && !buffer.getLive();
        })))
      return failure();
    if (!stored.erase(array.getValue()))
      return func.emitOpError("is said to clear ") << array << ", but does not";
  }
  return onlyZeros && stored.empty() ? success()
                                     : LogicalResult(func.emitOpError("does more than to clear buffers"));
}

LogicalResult FuncOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (SymbolRefAttr name = getSameAsAttr()) {
    auto other = symbols.lookupSymbolIn<FuncOp>((*this)->getParentOfType<ModuleOp>(), name);
    auto program = getOperation()->getParentOp();
    bool isOther = other && other.getKind() == FuncKind::Stage && !other.getSameAs() &&
                   other->getParentOp() != program && other->getParentOp()->isBeforeInBlock(program);
    if (!isOther || other.getSymName() != getSymName() || other.getIndexSet() != getIndexSet() ||
        other.getTiles() != getTiles())
      return emitOpError("is the same as ") << name << ", which is no such stage of a program before";
  }
  if (!getIndexSet())
    return getElements() ? emitOpError("is over no index set, whose rows have lists") : success();
  FailureOr<IndexSetOp> indexSet = lookUp<IndexSetOp>(*this, getIndexSetAttr(), "index set", symbols);
  if (failed(indexSet))
    return failure();
  if (getClears() && failed(verifyClears(*this, symbols)))
    return failure();
  if (SlicesAttr slices = getSlicesAttr()) {
    int64_t numbers = 0;
    for (FlatSymbolRefAttr array : slices.getArrays()) {
      FailureOr<BufferOp> buffer = lookUp<BufferOp>(*this, array, "buffer", symbols);
      if (failed(buffer))
        return failure();
      numbers += llvm::product_of(dyn::extents(buffer->getType()));
    }
    FailureOr<BufferOp> sums = lookUp<BufferOp>(*this, slices.getSums(), "buffer", symbols);
    if (failed(sums))
      return failure();
    if (dyn::extents(sums->getType()) != ArrayRef({slices.getCount(), numbers}))
      return emitOpError("has sums of its slices in ")
             << slices.getSums() << ", which does not hold " << slices.getCount() << " times " << numbers
             << " numbers";
  }
  for (Attribute attribute : getElementsAttr() ? getElementsAttr().getValue() : ArrayRef<Attribute>())
    if (failed(verifyElements(*this, *indexSet, cast<dbc::kernel::ElementsAttr>(attribute), symbols)))
      return failure();
  return success();
}
