// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `dyn` dialect: registration, printing of functions and matches, verifiers.
#include "ir/Dyn/Structural.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace dbc::dyn;

#include "ir/Dyn/DynDialect.cpp.inc"
#include "ir/Dyn/DynEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Dyn/DynAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/Dyn/DynTypes.cpp.inc"

void DynDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/Dyn/DynOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/Dyn/DynTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/Dyn/DynAttrs.cpp.inc"
      >();
}

//===-- Types --------------------------------------------------------------------------------------===//

static bool isScalar(Type type) { return type.isF32() || type.isInteger(32) || type.isInteger(1); }

bool dbc::dyn::isNumber(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() && tensor.getRank() > 0 && isScalar(tensor.getElementType());
  return isScalar(type);
}

bool dbc::dyn::isFlat(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return isFlat(list.getElement());
  return isNumber(type) || isa<NodeType>(type);
}

void dbc::dyn::flatten(Type surface, SmallVectorImpl<Type> &flat) {
  auto i32 = IntegerType::get(surface.getContext(), 32);
  if (isa<IndexType>(surface))
    return flat.push_back(i32);
  if (auto tensor = dyn_cast<IndexTensorType>(surface))
    return flat.push_back(RankedTensorType::get(tensor.getExtents(), i32));
  if (auto tuple = dyn_cast<TupleType>(surface)) {
    for (Type part : tuple.getTypes())
      flatten(part, flat);
    return;
  }
  if (auto record = dyn_cast<RecordType>(surface)) {
    for (Type part : record.getTypes())
      flatten(part, flat);
    return;
  }
  if (auto list = dyn_cast<ListType>(surface)) {
    SmallVector<Type> parts;
    flatten(list.getElement(), parts);
    for (Type part : parts)
      flat.push_back(ListType::get(part));
    return;
  }
  flat.push_back(surface);
}

ArrayRef<int64_t> dbc::dyn::extents(Type number) {
  if (auto tensor = dyn_cast<RankedTensorType>(number))
    return tensor.getShape();
  return {};
}

Type dbc::dyn::scalar(Type number) { return getElementTypeOrSelf(number); }

std::string dbc::dyn::sourcePlace(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  StringRef name = llvm::sys::path::filename(file.getFilename().getValue());
  return (name + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
}

std::string dbc::dyn::sourceName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string name = sourceName(part); !name.empty())
        return name;
  return {};
}

SmallVector<SmallVector<int>> dbc::dyn::columnNumbers(DataOp data) {
  llvm::DenseMap<std::pair<Attribute, Attribute>, int> seen; // by name and type
  SmallVector<SmallVector<int>> numbers;
  for (CtorOp ctor : data.getCtors()) {
    numbers.emplace_back();
    for (auto [field, type] : llvm::zip(ctor.getFields(), ctor.getTypes()))
      numbers.back().push_back(seen.try_emplace({field, type}, seen.size()).first->second);
  }
  return numbers;
}

bool dbc::dyn::startsWithNode(CellOp cell) {
  Block &body = cell.getBody().front();
  return body.getNumArguments() > 0 && isa<NodeType>(body.getArgument(0).getType());
}

Block::BlockArgListType dbc::dyn::furtherKeys(CellOp cell) {
  return cell.getBody().getArguments().drop_front(startsWithNode(cell) ? 1 : 0);
}

Value dbc::dyn::lengthFrom(Value list) {
  Operation *op = list.getDefiningOp();
  if (auto zip = dyn_cast_or_null<ZipOp>(op))
    return zip.getLists()[cast<OpResult>(list).getResultNumber()];
  return isa_and_nonnull<MapOp, ReverseOp, SoftmaxListOp, ScanOp>(op) ? op->getOperand(0) : Value();
}

bool dbc::dyn::isEnded(Value list) {
  for (; list; list = lengthFrom(list)) {
    if (auto scan = list.getDefiningOp<ScanOp>(); scan && scan.getStops())
      return true;
    if (auto zip = list.getDefiningOp<ZipOp>())
      return llvm::any_of(zip.getLists(), [](Value each) { return isEnded(each); });
  }
  return false;
}

bool Structural::has(Value value) {
  auto known = answers.find(value);
  if (known != answers.end())
    return known->second;
  bool answer = find(value);
  answers[value] = answer;
  return answer;
}

bool Structural::find(Value value) {
  Type type = value.getType();
  while (auto list = dyn_cast<ListType>(type))
    type = list.getElement();
  if (isa<NodeType>(type))
    return true;
  if (!type.isInteger(32) && !type.isInteger(1))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return findArgument(argument);
  Operation *op = value.getDefiningOp();
  unsigned result = cast<OpResult>(value).getResultNumber();
  if (isa<FieldOp, ArgumentOp, SiteOp, CallerOp, LenOp, RangeOp, arith::ConstantOp>(op))
    return true;
  if (isa<CallOp, ScanOp, FoldOp, GetOp>(op))
    return false;
  if (auto reduce = dyn_cast<ReduceListOp>(op))
    return reduce.getKind() != ReduceKind::ArgMax && has(reduce.getList()) && !isEnded(reduce.getList());
  if (auto map = dyn_cast<MapOp>(op))
    return has(map.getBody().front().getTerminator()->getOperand(result));
  if (isa<FilterOp, ZipOp>(op))
    return has(op->getOperand(result));
  // What arms give is structural if each arm's is, for structure decides between them.
  if (isa<MatchOp, IfOp>(op))
    return llvm::all_of(op->getRegions(),
                        [&](Region &arm) { return has(arm.front().getTerminator()->getOperand(result)); });
  return llvm::all_of(op->getOperands(), [&](Value v) { return has(v); });
}

bool Structural::findArgument(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto cell = dyn_cast<CellOp>(owner)) // a list that is given is structural as far as it can be
    return number < cell.getKeys().size() || isa<ListType>(argument.getType());
  if (isa<EntryOp>(owner))
    return true;
  // An element of a list; the states of scans and folds are computed.
  if (auto scan = dyn_cast<ScanOp>(owner))
    return number < scan.getLists().size() && has(scan.getLists()[number]);
  if (auto fold = dyn_cast<FoldOp>(owner))
    return number < fold.getLists().size() && has(fold.getLists()[number]);
  return has(owner->getOperand(number));
}

bool dbc::dyn::isStructural(Value value) { return Structural().has(value); }

//===-- Declarations -------------------------------------------------------------------------------===//

SmallVector<CtorOp> DataOp::getCtors() { return llvm::to_vector(getBody().front().getOps<CtorOp>()); }

CtorOp DataOp::getCtor(StringRef name) {
  for (CtorOp ctor : getBody().front().getOps<CtorOp>())
    if (ctor.getName() == name)
      return ctor;
  return {};
}

LogicalResult CtorOp::verify() {
  if (getFields().size() != getTypes().size())
    return emitOpError("has ") << getFields().size() << " fields and " << getTypes().size() << " types";
  llvm::StringSet<> seen;
  for (Attribute field : getFields())
    if (!seen.insert(cast<StringAttr>(field).getValue()).second)
      return emitOpError("has field ") << field << " twice";
  return success();
}

/// Parses `@name (%a: type, ...) -> (types) attributes {...} { body }`, the form of cells and entries.
static ParseResult parseFunc(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Type> results;
  if (parser.parseSymbolName(name, "sym_name", state.attributes) ||
      parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseArrow() || parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()))
    if (parser.parseTypeList(results) || parser.parseRParen())
      return failure();
  state.addAttribute("results", parser.getBuilder().getTypeArrayAttr(results));
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  return parser.parseRegion(*state.addRegion(), args);
}

template <class Op> static void printFunc(Op op, OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(op.getSymName());
  printer << '(';
  llvm::interleaveComma(op.getBody().getArguments(), printer,
                        [&](BlockArgument a) { printer.printRegionArgument(a); });
  printer << ") -> (";
  llvm::interleaveComma(op.getResults(), printer,
                        [&](Attribute t) { printer << cast<TypeAttr>(t).getValue(); });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), {"sym_name", "results"});
  printer << ' ';
  printer.printRegion(op.getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult CellOp::parse(OpAsmParser &parser, OperationState &state) {
  if (parseFunc(parser, state))
    return failure();
  while (succeeded(parser.parseOptionalKeyword("range")))
    if (parser.parseRegion(*state.addRegion()))
      return failure();
  return success();
}
void CellOp::print(OpAsmPrinter &printer) {
  printFunc(*this, printer);
  for (Region &range : getRanges()) {
    printer << " range ";
    printer.printRegion(range);
  }
}
ParseResult EntryOp::parse(OpAsmParser &parser, OperationState &state) { return parseFunc(parser, state); }
void EntryOp::print(OpAsmPrinter &printer) { printFunc(*this, printer); }

/// Checks that a function's return gives its result types and that these are the surface type's.
template <class Op> static LogicalResult verifyFunc(Op op) {
  SmallVector<Type> flat;
  flatten(op.getSurface(), flat);
  auto declared =
      llvm::map_to_vector(op.getResults(), [](Attribute t) { return cast<TypeAttr>(t).getValue(); });
  if (flat != declared)
    return op.emitOpError("has results that are not those of its surface type ") << op.getSurface();
  auto ret = dyn_cast<ReturnOp>(op.getBody().front().getTerminator());
  if (!ret)
    return op.emitOpError("does not end in dyn.return");
  if (!llvm::equal(ret.getOperandTypes(), declared))
    return ret.emitOpError("gives types that are not the results of @") << op.getSymName();
  return success();
}

LogicalResult CellOp::verify() {
  if (static_cast<int64_t>(getValueCount().value_or(0)) > getBody().getNumArguments())
    return emitOpError("has fewer arguments than values");
  auto typeOf = [](Value v) { return v.getType(); };
  SmallVector<Type> types = llvm::map_to_vector(getKeys(), typeOf);
  TypeRange keys = types;
  size_t numbers = 0;
  for (auto [k, key] : llvm::enumerate(keys)) {
    if (isa<NodeType>(key))
      continue;
    if (!key.isInteger(32) && !key.isInteger(1))
      return emitOpError("has a key of type ") << key << ", neither node nor whole number";
    if (numbers == getRanges().size())
      return emitOpError("has a key without range");
    Block &range = getRanges()[numbers++].front();
    auto yield = dyn_cast<YieldOp>(range.getTerminator());
    Type i32 = IntegerType::get(getContext(), 32);
    SmallVector<Type> known(keys.take_front(k));
    llvm::append_range(known, llvm::map_range(getValues(), typeOf));
    if (!llvm::equal(range.getArgumentTypes(), known) || !yield ||
        !llvm::equal(yield.getOperandTypes(), ArrayRef<Type>{i32, i32}))
      return emitOpError("has a range that does not give two numbers for the keys before it");
  }
  if (numbers != getRanges().size())
    return emitOpError("has more ranges than keys that are numbers");
  return verifyFunc(*this);
}

Block::BlockArgListType CellOp::getKeys() {
  return getBody().getArguments().drop_back(getValueCount().value_or(0));
}
Block::BlockArgListType CellOp::getValues() {
  return getBody().getArguments().take_back(getValueCount().value_or(0));
}

Region *CellOp::getRange(unsigned key) {
  TypeRange keys = getBody().getArgumentTypes();
  if (isa<NodeType>(keys[key]))
    return nullptr;
  unsigned number = llvm::count_if(keys.take_front(key), [](Type t) { return !isa<NodeType>(t); });
  return &getRanges()[number];
}

LogicalResult EntryOp::verify() {
  SmallVector<Type> flat;
  for (Attribute type : getArgTypes())
    flatten(cast<TypeAttr>(type).getValue(), flat);
  if (getArgNames().size() != getArgTypes().size())
    return emitOpError("has ") << getArgNames().size() << " argument names and " << getArgTypes().size()
                               << " types";
  if (!llvm::equal(getBody().getArgumentTypes(), flat))
    return emitOpError("has arguments that are not those of its surface types");
  return verifyFunc(*this);
}

//===-- Structure ----------------------------------------------------------------------------------===//

LogicalResult FieldOp::verify() {
  auto data = SymbolTable::lookupNearestSymbolFrom<DataOp>(*this, getNode().getType().getData());
  if (!data)
    return emitOpError("names no data type ") << getNode().getType().getData();
  for (CtorOp ctor : data.getCtors()) {
    if (getCtor() && ctor.getName() != *getCtor())
      continue;
    bool found = false;
    for (auto [field, type] : llvm::zip(ctor.getFields(), ctor.getTypes())) {
      SmallVector<Type> flat;
      flatten(cast<TypeAttr>(type).getValue(), flat);
      found |= cast<StringAttr>(field).getValue() == getName() && flat.size() == 1 && flat[0] == getType();
    }
    if (!found)
      return emitOpError("reads ") << getType() << " from field \"" << getName() << "\", which "
                                   << ctor.getName() << " does not have";
  }
  return success();
}

/// A call that leads values down stays.
void CallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getSite())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto cell = symbols.lookupNearestSymbolFrom<CellOp>(*this, getCalleeAttr());
  if (!cell)
    return emitOpError("calls @") << getCallee() << ", which is no cell";
  auto results =
      llvm::map_to_vector(cell.getResults(), [](Attribute t) { return cast<TypeAttr>(t).getValue(); });
  if (getEvery()) {
    if (getKeys().empty() || !isa<NodeType>(getKeys()[0].getType()))
      return emitOpError("is of every node, but @") << getCallee() << " has none for its first key";
    if (getNumResults() == 1)
      results.clear();
    results.insert(results.begin(), getKeys()[0].getType());
    for (Type &result : results)
      result = ListType::get(result);
  }
  SmallVector<Type> given(getKeys().getTypes());
  llvm::append_range(given, getValues().getTypes());
  if (getValues().size() != cell.getValues().size() ||
      !llvm::equal(given, cell.getBody().getArgumentTypes()) || !llvm::equal(getResultTypes(), results))
    return emitOpError("does not have the type of @") << getCallee();
  return success();
}

LogicalResult GetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // Also inside the stages of a batch program, where the module declares its parameters in the kernel
  // dialect.
  Operation *param = symbols.lookupSymbolIn((*this)->getParentOfType<ModuleOp>(), getParamAttr());
  auto type = param ? param->getAttrOfType<TypeAttr>("type") : TypeAttr();
  if (!type || type.getValue() != getType())
    return emitOpError("names no parameter @") << getParam() << " of type " << getType();
  return success();
}

ParseResult MatchOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand node;
  Type type;
  SmallVector<Type> results;
  SmallVector<Attribute> ctors;
  if (parser.parseOperand(node) || parser.parseColonType(type) ||
      parser.resolveOperand(node, type, state.operands) || parser.parseArrow() || parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()))
    if (parser.parseTypeList(results) || parser.parseRParen())
      return failure();
  state.addTypes(results);
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  std::string name;
  while (succeeded(parser.parseOptionalKeyword("of"))) {
    if (parser.parseString(&name) || parser.parseRegion(*state.addRegion()))
      return failure();
    ctors.push_back(parser.getBuilder().getStringAttr(name));
  }
  state.addAttribute("ctors", parser.getBuilder().getArrayAttr(ctors));
  return success();
}

void MatchOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNode() << " : " << getNode().getType() << " -> (";
  llvm::interleaveComma(getResultTypes(), printer);
  printer << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"ctors"});
  for (auto [ctor, arm] : llvm::zip(getCtors(), getArms())) {
    printer << " of " << ctor << ' ';
    printer.printRegion(arm, false);
  }
}

static LogicalResult verifyYield(Operation *op, Region &region, TypeRange types) {
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield)
    return op->emitOpError("has a region that does not end in dyn.yield");
  if (!llvm::equal(yield.getOperandTypes(), types))
    return yield.emitOpError("gives types that the op around it does not have");
  return success();
}

LogicalResult MatchOp::verify() {
  if (getCtors().size() != getArms().size() || getArms().empty())
    return emitOpError("has not one region a constructor");
  for (Region &arm : getArms())
    if (failed(verifyYield(*this, arm, getResultTypes())))
      return failure();
  auto data = SymbolTable::lookupNearestSymbolFrom<DataOp>(*this, getNode().getType().getData());
  if (!data)
    return emitOpError("names no data type ") << getNode().getType().getData();
  llvm::StringSet<> covered;
  for (Attribute attr : getCtors()) {
    StringRef name = cast<StringAttr>(attr).getValue();
    if (name == "_" && attr == getCtors().getValue().back())
      return success();
    if (!data.getCtor(name) || !covered.insert(name).second)
      return emitOpError("names ") << attr << ", which is no constructor or stands twice";
  }
  for (CtorOp ctor : data.getCtors())
    if (!covered.contains(ctor.getName()))
      return emitOpError("does not cover ") << ctor.getName();
  return success();
}

LogicalResult IfOp::verify() {
  if (failed(verifyYield(*this, getThen(), getResultTypes())))
    return failure();
  return verifyYield(*this, getOtherwise(), getResultTypes());
}

//===-- Lists --------------------------------------------------------------------------------------===//

LogicalResult ZipOp::verify() {
  if (getLists().empty() || !llvm::equal(getOperandTypes(), getResultTypes()))
    return emitOpError("gives other lists than it takes");
  return success();
}

static SmallVector<Type> elementTypes(TypeRange lists) {
  return llvm::map_to_vector(lists, [](Type t) { return cast<ListType>(t).getElement(); });
}

LogicalResult MapOp::verify() {
  if (getLists().empty() || !llvm::equal(getBody().getArgumentTypes(), elementTypes(getOperandTypes())))
    return emitOpError("has arguments that are not the elements of its lists");
  return verifyYield(*this, getBody(), elementTypes(getResultTypes()));
}

LogicalResult FilterOp::verify() {
  if (getLists().empty() || !llvm::equal(getOperandTypes(), getResultTypes()))
    return emitOpError("gives other lists than it takes");
  if (!llvm::equal(getBody().getArgumentTypes(), elementTypes(getOperandTypes())))
    return emitOpError("has arguments that are not the elements of its lists");
  return verifyYield(*this, getBody(), IntegerType::get(getContext(), 1));
}

template <class Op> static LogicalResult verifyRecurrence(Op op) {
  SmallVector<Type> args = elementTypes(op.getLists().getTypes());
  llvm::append_range(args, op.getInit().getTypes());
  if (op.getLists().empty() || !llvm::equal(op.getBody().getArgumentTypes(), args))
    return op.emitOpError("has arguments that are not the elements of its lists and its states");
  if (op.getStops() && (op.getInit().empty() || !op.getInit().back().getType().isInteger(1)))
    return op.emitOpError("stops, but its last state is no i1");
  return verifyYield(op, op.getBody(), op.getInit().getTypes());
}

LogicalResult ScanOp::verify() {
  if (!llvm::equal(elementTypes(getResultTypes()), getInit().getTypes()))
    return emitOpError("gives other types than its states");
  return verifyRecurrence(*this);
}

LogicalResult FoldOp::verify() {
  if (!llvm::equal(getResultTypes(), getInit().getTypes()))
    return emitOpError("gives other types than its states");
  return verifyRecurrence(*this);
}

//===-- Numbers and tensors ------------------------------------------------------------------------===//

LogicalResult TakeOp::verify() {
  auto tensor = dyn_cast<RankedTensorType>(getTensor().getType());
  if (!tensor || !scalar(getIndex().getType()).isInteger(32))
    return emitOpError("takes a tensor and i32 indices");
  SmallVector<int64_t> shape(extents(getIndex().getType()));
  llvm::append_range(shape, tensor.getShape().drop_front());
  if (extents(getType()) != ArrayRef(shape) || scalar(getType()) != tensor.getElementType())
    return emitOpError("gives ") << getType() << ", not the rows taken";
  return success();
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = extents(getX().getType()), to = getType().getShape();
  bool fits = from.size() <= to.size() && scalar(getX().getType()) == getType().getElementType();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits = from[from.size() - 1 - i] == 1 || from[from.size() - 1 - i] == to[to.size() - 1 - i];
  return fits ? success() : emitOpError("does not stretch ") << getX().getType() << " to " << getType();
}

LogicalResult TransposeOp::verify() {
  SmallVector<int64_t> shape(llvm::reverse(getX().getType().getShape()));
  if (getType().getShape() != ArrayRef(shape) ||
      getType().getElementType() != getX().getType().getElementType())
    return emitOpError("gives ") << getType() << ", not the transpose";
  return success();
}

LogicalResult PatchesOp::verify() {
  ArrayRef<int64_t> from = getX().getType().getShape(), to = getType().getShape();
  bool fits = from.size() == 3 && to.size() == 5 && getStride().size() == 2 && getPadding().size() == 2 &&
              from[0] == to[0] && getX().getType().getElementType() == getType().getElementType();
  for (unsigned axis = 0; fits && axis < 2; ++axis) {
    int64_t room = from[1 + axis] + 2 * getPadding()[axis] - to[1 + axis], stride = getStride()[axis];
    fits = stride >= 1 && getPadding()[axis] >= 0 && room >= 0 && to[3 + axis] == room / stride + 1;
  }
  return fits ? success() : emitOpError("does not give ") << getType() << " of " << getX().getType();
}

LogicalResult ReduceOp::verify() {
  auto type = getX().getType();
  SmallVector<int64_t> shape;
  if (auto axis = getAxis()) {
    if (int64_t(*axis) >= type.getRank())
      return emitOpError("has no axis ") << *axis;
    llvm::append_range(shape, type.getShape());
    shape.erase(shape.begin() + *axis);
  }
  Type element = getKind() == ReduceKind::ArgMax ? IntegerType::get(getContext(), 32) : type.getElementType();
  if (extents(getType()) != ArrayRef(shape) || scalar(getType()) != element)
    return emitOpError("gives ") << getType() << ", not the reduction of " << type;
  return success();
}

#define GET_OP_CLASSES
#include "ir/Dyn/DynOps.cpp.inc"
