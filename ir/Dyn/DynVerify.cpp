// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `dyn` dialect: verifiers.
#include "ir/Dyn/Dyn.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dbc::dyn;

LogicalResult dbc::dyn::verifyNodes(Operation *op, Type type, SymbolTableCollection &symbols) {
  WalkResult walk = type.walk([&](NodeType node) {
    Operation *data = symbols.lookupSymbolIn(op->getParentOfType<ModuleOp>(), node.getData());
    if (data && data->getName().stripDialect() == "data")
      return WalkResult::advance();
    op->emitOpError("names no data type ") << node.getData();
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

//===-- Declarations -------------------------------------------------------------------------------===//

LogicalResult DataOp::verifyRegions() {
  llvm::StringSet<> seen;
  for (Operation &op : getBody().front()) {
    auto ctor = dyn_cast<CtorOp>(op);
    if (!ctor)
      return emitOpError("holds ") << op.getName() << ", which is no constructor";
    if (!seen.insert(ctor.getName()).second)
      return emitOpError("has constructor \"") << ctor.getName() << "\" twice";
  }
  return success();
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

LogicalResult CtorOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (Attribute type : getTypes())
    if (failed(verifyNodes(*this, cast<TypeAttr>(type).getValue(), symbols)))
      return failure();
  return success();
}

LogicalResult ParamOp::verify() {
  if (getConstant() && getInit())
    return emitOpError("is a const, which nothing initialises");
  return success();
}

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

/// Checks what data types the arguments and results of a function are of.
template <class Op> static LogicalResult verifyNodesOf(Op op, SymbolTableCollection &symbols) {
  for (Type type : op.getBody().getArgumentTypes())
    if (failed(verifyNodes(op, type, symbols)))
      return failure();
  return verifyNodes(op, op.getSurface(), symbols);
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
      return emitOpError("has a key of type ") << key << ", neither node nor integer";
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
  if (std::optional<ArrayRef<int64_t>> frame = getFrame())
    if (frame->size() != 2 || frame->front() < 0 || frame->back() < 1 ||
        frame->front() + frame->back() > static_cast<int64_t>(keys.size()))
      return emitOpError("has a frame that is no part of its keys");
  return verifyFunc(*this);
}

LogicalResult CellOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyNodesOf(*this, symbols);
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
  if (getLoss() && (getResults().empty() || !cast<TypeAttr>(getResults()[0]).getValue().isF32()))
    return emitOpError("is a loss, but gives no f32 first");
  return verifyFunc(*this);
}

/// The cells that an entry leads to read its arguments.
LogicalResult EntryOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyNodesOf(*this, symbols)))
    return failure();
  TypeRange types = getBody().getArgumentTypes();
  llvm::SmallPtrSet<Operation *, 8> known;
  SmallVector<Operation *> open;
  open.push_back(*this);
  while (!open.empty()) {
    WalkResult walk = open.pop_back_val()->walk([&](Operation *op) {
      if (auto call = dyn_cast<CallOp>(op))
        if (auto cell = symbols.lookupNearestSymbolFrom<CellOp>(op, call.getCalleeAttr()))
          if (known.insert(cell).second)
            open.push_back(cell);
      auto argument = dyn_cast<ArgumentOp>(op);
      if (!argument ||
          (argument.getComponent() < types.size() && types[argument.getComponent()] == argument.getType()))
        return WalkResult::advance();
      argument.emitOpError("names no argument of @") << getSymName() << " of type " << argument.getType();
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}

//===-- Structure ----------------------------------------------------------------------------------===//

/// The data type of a node that `op` looks into; null, with an error, if there is none.
static DataOp dataOf(Operation *op, NodeType node, SymbolTableCollection &symbols) {
  auto data = symbols.lookupNearestSymbolFrom<DataOp>(op, node.getData());
  if (!data)
    op->emitOpError("names no data type ") << node.getData();
  return data;
}

LogicalResult FieldOp::verifySymbolUses(SymbolTableCollection &symbols) {
  DataOp data = dataOf(*this, getNode().getType(), symbols);
  if (!data)
    return failure();
  if (getCtor() && !data.getCtor(*getCtor()))
    return emitOpError("names no constructor \"") << *getCtor() << "\" of @" << data.getSymName();
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

/// Types of the first `count` values that an instance keeps of an edge of a relation: the keys of the cell
/// that calls, then positions.
static SmallVector<Type> originTypes(RelationOp relation, unsigned count, SymbolTableCollection &symbols) {
  SmallVector<Type> types;
  if (auto from = symbols.lookupNearestSymbolFrom<CellOp>(relation, relation.getFromAttr()))
    for (BlockArgument key : from.getKeys())
      types.push_back(key.getType());
  types.resize(count, IntegerType::get(relation.getContext(), 32));
  return types;
}

LogicalResult RelationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<CellOp>(*this, getToAttr()))
    return emitOpError("leads to ") << getToAttr() << ", which is no cell";
  Operation *from = symbols.lookupNearestSymbolFrom(*this, getFromAttr());
  if (!isa_and_nonnull<CellOp, EntryOp>(from))
    return emitOpError("is from ") << getFromAttr() << ", which is no cell and no entry";
  auto cell = dyn_cast<CellOp>(from);
  if (getKeeps() > 0 && (!cell || getKeeps() < cell.getKeys().size()))
    return emitOpError("keeps ") << getKeeps() << " values, which are not the keys of " << getFromAttr();
  return success();
}

static LogicalResult verifyEdge(CallOp call, SymbolTableCollection &symbols) {
  if (!call.getRelation()) {
    if (!call.getOrigin().empty())
      return call.emitOpError("has an origin, but no relation");
    return success();
  }
  auto relation = symbols.lookupNearestSymbolFrom<RelationOp>(call, call.getRelationAttr());
  if (!relation || relation.getTo() != call.getCallee())
    return call.emitOpError("is from ")
           << call.getRelationAttr() << ", which is no relation to @" << call.getCallee();
  if (!llvm::equal(call.getOrigin().getTypes(), originTypes(relation, relation.getKeeps(), symbols)))
    return call.emitOpError("does not have the origin that @") << relation.getSymName() << " keeps";
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto cell = symbols.lookupNearestSymbolFrom<CellOp>(*this, getCalleeAttr());
  if (!cell)
    return emitOpError("calls @") << getCallee() << ", which is no cell";
  if (failed(verifyEdge(*this, symbols)))
    return failure();
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
  SmallVector<Type> arguments(getKeys().getTypes());
  llvm::append_range(arguments, getValues().getTypes());
  if (getValues().size() != cell.getValues().size() ||
      !llvm::equal(arguments, cell.getBody().getArgumentTypes()) || !llvm::equal(getResultTypes(), results))
    return emitOpError("does not have the type of @") << getCallee();
  return success();
}

/// The relation that `op` asks of one of the instances it leads to; null, with an error, if there is none.
template <class Op> static RelationOp relationOf(Op op, SymbolTableCollection &symbols) {
  auto relation = symbols.lookupNearestSymbolFrom<RelationOp>(op, op.getRelationAttr());
  if (!relation) {
    op.emitOpError("names ") << op.getRelationAttr() << ", which is no relation";
    return {};
  }
  auto to = symbols.lookupNearestSymbolFrom<CellOp>(relation, relation.getToAttr());
  if (!to || !llvm::equal(op.getKeys().getTypes(), to.getBody().getArgumentTypes())) {
    op.emitOpError("does not have the keys of ") << relation.getToAttr();
    return {};
  }
  return relation;
}

LogicalResult CalledByOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(relationOf(*this, symbols) != nullptr);
}

LogicalResult CallerOp::verifySymbolUses(SymbolTableCollection &symbols) {
  RelationOp relation = relationOf(*this, symbols);
  if (!relation)
    return failure();
  if (getNumResults() > relation.getKeeps())
    return emitOpError("gives ") << getNumResults() << " values, but @" << relation.getSymName() << " keeps "
                                 << relation.getKeeps();
  SmallVector<Type> types = originTypes(relation, getNumResults(), symbols);
  for (auto [n, given, kept] : llvm::enumerate(getResultTypes(), types))
    if (given != kept)
      return emitOpError("gives ") << given << " for value " << n << " of an origin in "
                                   << relation.getFromAttr();
  return success();
}

LogicalResult EmptyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyNodes(*this, getType(), symbols);
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
  return success();
}

LogicalResult MatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  DataOp data = dataOf(*this, getNode().getType(), symbols);
  if (!data)
    return failure();
  llvm::StringSet<> covered;
  for (auto [n, attr] : llvm::enumerate(getCtors())) {
    StringRef name = cast<StringAttr>(attr).getValue();
    if (name == "_" && n + 1 == getCtors().size())
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
  if (getStops() && llvm::any_of(getInit().getTypes(), llvm::IsaPred<ListType>))
    return emitOpError("stops, but has a list in its state");
  if (!llvm::equal(elementTypes(getResultTypes()), getInit().getTypes()))
    return emitOpError("gives other types than its states");
  return verifyRecurrence(*this);
}

LogicalResult FoldOp::verify() {
  if (!llvm::equal(getResultTypes(), getInit().getTypes()))
    return emitOpError("gives other types than its states");
  return verifyRecurrence(*this);
}

bool dbc::dyn::takes(ReduceKind kind, Type scalar) {
  switch (kind) {
  case ReduceKind::Any:
  case ReduceKind::All:
    return scalar.isInteger(1);
  case ReduceKind::Mean:
  case ReduceKind::LogSumExp:
    return scalar.isF32();
  case ReduceKind::Pick: // is no reduction of a list
    return false;
  default:
    return scalar.isF32() || scalar.isInteger(32);
  }
}

LogicalResult ReduceListOp::verify() {
  Type element = getList().getType().getElement();
  const bool isPosition = getKind() == ReduceKind::ArgMax;
  if (!isNumber(element) || !takes(getKind(), scalar(element)) || (isPosition && !extents(element).empty()))
    return emitOpError("knows no ") << stringifyReduceKind(getKind()) << " of " << getList().getType();
  if (getType() != (isPosition ? IntegerType::get(getContext(), 32) : element))
    return emitOpError("gives ") << getType() << ", not the reduction of " << getList().getType();
  return success();
}

//===-- Numbers and tensors ------------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  auto tensor = dyn_cast<RankedTensorType>(getTensor().getType());
  if (!tensor || !scalar(getIndex().getType()).isInteger(32))
    return emitOpError("takes a tensor and i32 indices");
  SmallVector<int64_t> shape(extents(getIndex().getType()));
  llvm::append_range(shape, tensor.getShape().drop_front());
  if (extents(getType()) != ArrayRef(shape) || scalar(getType()) != tensor.getElementType())
    return emitOpError("gives ") << getType() << ", not the rows gathered";
  return success();
}

LogicalResult DropoutOp::verify() {
  const float rate = getRate().convertToFloat();
  if (!(rate >= 0 && rate < 1))
    return emitOpError("drops a share of ") << rate << ", which must be at least 0 and below 1";
  if (getOfRun() && getInput())
    return emitOpError("has an input, but its mask is that of the run");
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

/// Whether windows that are moved over a picture see as many elements at as many positions as `seen` says.
static bool isSeen(RankedTensorType seen, RankedTensorType picture, ArrayRef<int64_t> stride,
                   ArrayRef<int64_t> padding) {
  ArrayRef<int64_t> from = picture.getShape(), to = seen.getShape();
  bool fits = from.size() == 3 && to.size() == 5 && stride.size() == 2 && padding.size() == 2 &&
              from[0] == to[0] && picture.getElementType() == seen.getElementType();
  for (unsigned axis = 0; fits && axis < 2; ++axis) {
    int64_t room = from[1 + axis] + 2 * padding[axis] - to[1 + axis];
    fits = stride[axis] >= 1 && padding[axis] >= 0 && room >= 0 && to[3 + axis] == room / stride[axis] + 1;
  }
  return fits;
}

LogicalResult PatchesOp::verify() {
  if (!isSeen(getType(), getX().getType(), getStride(), getPadding()))
    return emitOpError("does not give ") << getType() << " of " << getX().getType();
  return success();
}

LogicalResult SumPatchesOp::verify() {
  if (!isSeen(getX().getType(), getType(), getStride(), getPadding()))
    return emitOpError("does not give ") << getType() << " of " << getX().getType();
  return success();
}

LogicalResult ReduceOp::verify() {
  auto type = getX().getType();
  SmallVector<int64_t> shape;
  if (!takes(getKind(), type.getElementType()))
    return emitOpError("knows no ") << stringifyReduceKind(getKind()) << " of " << type;
  if (getAxis()) {
    int64_t axis = getAxisAttr().getInt();
    if (axis < 0 || axis >= type.getRank())
      return emitOpError("has no axis ") << axis;
    llvm::append_range(shape, type.getShape());
    shape.erase(shape.begin() + axis);
  }
  Type element = getKind() == ReduceKind::ArgMax ? IntegerType::get(getContext(), 32) : type.getElementType();
  if (extents(getType()) != ArrayRef(shape) || scalar(getType()) != element)
    return emitOpError("gives ") << getType() << ", not the reduction of " << type;
  return success();
}

LogicalResult TopKOp::verify() {
  auto from = getX().getType(), to = getType();
  if (from.getRank() != 1 || to.getRank() != 1 || to.getDimSize(0) > from.getDimSize(0))
    return emitOpError("gives ") << to << ", not positions in " << from;
  return success();
}

LogicalResult SoftmaxOp::verify() {
  if (int64_t axis = getAxisAttr().getInt(); axis < 0 || axis >= getX().getType().getRank())
    return emitOpError("has no axis ") << axis;
  return success();
}

LogicalResult DynDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != DimsAttrHelper::getNameStr())
    return op->emitError("has ") << attribute.getName() << ", an attribute that `dyn` does not know";
  auto dims = dyn_cast<DictionaryAttr>(attribute.getValue());
  auto isDim = [](NamedAttribute dim) {
    auto value = dyn_cast<IntegerAttr>(dim.getValue());
    return value && value.getType().isInteger(64);
  };
  if (!isa<ModuleOp>(op) || !dims || !llvm::all_of(dims, isDim))
    return op->emitError("has \"dyn.dims\", which gives the dims of a module, an i64 each");
  return success();
}
