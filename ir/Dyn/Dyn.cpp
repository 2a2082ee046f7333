// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `dyn` dialect: registration, types, printing of functions and matches. Verifiers are in DynVerify.cpp.
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/RowOps.h"
#include "ir/Dyn/Structural.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace dbc::dyn;

#include "ir/Dyn/DynDialect.cpp.inc"
#include "ir/Dyn/DynEnums.cpp.inc"
#include "ir/Dyn/DynInterfaces.cpp.inc"
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
  attachUpstreamInterfaces(*getContext());
  attachDerivatives(*getContext());
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
    for (Type element : tuple.getTypes())
      flatten(element, flat);
    return;
  }
  if (auto record = dyn_cast<RecordType>(surface)) {
    for (Type field : record.getTypes())
      flatten(field, flat);
    return;
  }
  if (auto list = dyn_cast<ListType>(surface)) {
    SmallVector<Type> components;
    flatten(list.getElement(), components);
    for (Type component : components)
      flat.push_back(ListType::get(component));
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

std::string dbc::dyn::sourceLocation(Location location) {
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
    for (Location each : fused.getLocations())
      if (std::string name = sourceName(each); !name.empty())
        return name;
  return {};
}

std::string dbc::dyn::sourceWord(Operation *op) {
  if (op->getNumResults())
    if (std::string name = sourceName(op->getResult(0).getLoc()); !name.empty())
      return name;
  if (auto function = dyn_cast<FunctionOp>(op))
    return stringifyFunctionKind(function.getKind()).str();
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return stringifyReduceKind(reduce.getKind()).str();
  if (auto reduce = dyn_cast<ReduceListOp>(op))
    return stringifyReduceKind(reduce.getKind()).str();
  if (isa<SoftmaxListOp>(op))
    return "softmax";
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
      isa<MatchOp, IfOp, MapOp, FilterOp, ScanOp, FoldOp, DetachOp, DropoutOp, TopKOp, SoftmaxOp>(op))
    return op->getName().stripDialect().str();
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

Block::BlockArgListType dbc::dyn::secondaryKeys(CellOp cell) {
  return cell.getBody().getArguments().drop_front(startsWithNode(cell) ? 1 : 0);
}

Value dbc::dyn::lengthFrom(Value list) {
  Operation *op = list.getDefiningOp();
  if (auto zip = dyn_cast_or_null<ZipOp>(op))
    return zip.getLists()[cast<OpResult>(list).getResultNumber()];
  return isa_and_nonnull<MapOp, ReverseOp, SoftmaxListOp, ScanOp>(op) ? op->getOperand(0) : Value();
}

BlockArgument dbc::dyn::addPosition(Operation *binder, Location location) {
  OpBuilder b(binder);
  Location loc = binder->getLoc();
  SmallVector<Value> lists(listsOf(binder));
  Type i32 = b.getI32Type();
  Value length = LenOp::create(b, loc, i32, lists[0]);
  lists.push_back(RangeOp::create(b, loc, length));
  auto zip = ZipOp::create(b, loc, lists);
  cast<BinderOpInterface>(binder).getListsMutable().assign(zip.getResults());
  return binder->getRegion(0).front().insertArgument(lists.size() - 1, i32, location);
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
  if (isa<FieldOp, ArgumentOp, CalledByOp, CallerOp, LenOp, RangeOp, arith::ConstantOp>(op))
    return true;
  if (isa<CallOp, ScanOp, FoldOp, GetOp, OptimizationBarrierOp>(op))
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
  if (auto cell = dyn_cast<CellOp>(owner)) { // whose range of a key has the keys before it alone
    const unsigned keys = argument.getOwner()->getNumArguments() - cell.getValueCount().value_or(0);
    return number < keys || isa<ListType>(argument.getType()); // a captured list is so as far as it can be
  }
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

//===-- Structure ----------------------------------------------------------------------------------===//

/// A call that leads values down stays.
void CallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getRelation())
    effects.emplace_back(MemoryEffects::Write::get());
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

#define GET_OP_CLASSES
#include "ir/Dyn/DynOps.cpp.inc"
