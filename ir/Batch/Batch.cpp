// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `batch` dialect: registration, verifiers.
#include "ir/Batch/Batch.h"
#include "ir/Kernel/Verify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dbc::batch;
namespace dyn = dbc::dyn;
namespace kernel = dbc::kernel;

#include "ir/Batch/BatchDialect.cpp.inc"
#include "ir/Batch/BatchEnums.cpp.inc"
#include "ir/Batch/BatchInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Batch/BatchAttrs.cpp.inc"

void BatchDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/Batch/BatchOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/Batch/BatchAttrs.cpp.inc"
      >();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t grain,
                                   int64_t channels) {
  if (rows < 1 || grain < 1 || channels < 0)
    return emitError() << "a schedule has one row or more, for a block and for a thread";
  return success();
}

/// Whether a buffer has one row in each run.
static bool isOfBatch(kernel::BufferOp buffer, SymbolTableCollection &symbols) {
  auto indexSet = symbols.lookupNearestSymbolFrom<kernel::IndexSetOp>(buffer, buffer.getIndexSetAttr());
  return indexSet && indexSet.getKind() == kernel::IndexSetKind::Batch;
}

/// What has loops is the group of a recursion, or a scan.
static LogicalResult verifyCarrier(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  Operation *carrier = symbols.lookupNearestSymbolFrom(op, name);
  auto indexSet = dyn_cast_or_null<kernel::IndexSetOp>(carrier);
  if (isa_and_nonnull<kernel::GroupOp>(carrier) || (indexSet && kernel::isOfSteps(indexSet)))
    return success();
  return op->emitOpError("names ") << name << ", which is no group or index set of steps";
}

/// No row reads what its own time step writes, but by `batch.read`.
static LogicalResult verifyGathers(StageOp stage) {
  llvm::SmallDenseSet<StringRef> written;
  stage.walk([&](AccessOpInterface access) {
    if (access.isWrite())
      written.insert(access.getArray());
  });
  WalkResult gathers = stage.walk([&](GatherOp gather) {
    if (gather.getCarried() || !written.contains(gather.getArray()))
      return WalkResult::advance();
    return WalkResult(gather.emitOpError("of @") << gather.getArray() << ", which this stage writes");
  });
  return failure(gathers.wasInterrupted());
}

/// What a library computes is one product and its bias, for all rows.
static LogicalResult verifyBlas(StageOp stage, SymbolTableCollection &symbols) {
  if (!stage.getBlas())
    return success();
  auto indexSet = symbols.lookupNearestSymbolFrom<kernel::IndexSetOp>(stage, stage.getIndexSetAttr());
  bool isProduct = !stage.getWhen() && !indexSet.getMasked();
  unsigned reads = 0, products = 0, sums = 0, writes = 0;
  for (Operation &op : stage.getBody().front()) {
    reads += isa<ReadOp>(op);
    products += isa<linalg::ContractOp>(op);
    sums += isa<arith::AddFOp>(op);
    writes += isa<WriteOp>(op);
    const bool isOfMatrix = isa<dyn::GetOp, tensor::ExtractSliceOp, tensor::ConcatOp>(op);
    const bool isZeros = isa<tensor::EmptyOp, linalg::FillOp>(op) || op.hasTrait<OpTrait::ConstantLike>();
    isProduct &= isOfMatrix || isZeros || isa<ReadOp, linalg::ContractOp, arith::AddFOp, WriteOp>(op);
  }
  if (isProduct && reads == 1 && products == 1 && sums <= 1 && writes == 1)
    return success();
  return stage.emitOpError("is not one product for all rows, as a library computes it");
}

LogicalResult StageOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(kernel::lookUp<kernel::IndexSetOp>(*this, getIndexSetAttr(), "index set", symbols)))
    return failure();
  if (ArrayAttr loops = getLoopsAttr())
    for (auto loop : loops.getAsRange<LoopAttr>())
      if (failed(verifyCarrier(*this, loop.getCarrier(), symbols)))
        return failure();
  // A mask that knows of no input would be one for all of them.
  WalkResult dropouts = walk([](dyn::DropoutOp dropout) {
    return dropout.getOfRun() == static_cast<bool>(dropout.getInput())
               ? WalkResult(dropout.emitOpError("in a stage is of an input, or of the run"))
               : WalkResult::advance();
  });
  if (dropouts.wasInterrupted())
    return failure();
  if (failed(verifyGathers(*this)) || failed(verifyBlas(*this, symbols)))
    return failure();
  if (getSchedule() && getSchedule()->getChannels() > 0 && !mayRepeat())
    return emitOpError("is computed in tiles, but replaces what it reads");
  if (!getWhen())
    return success();
  return kernel::lookUp<kernel::BufferOp>(
      *this, getWhenAttr(), "truth for each row", symbols, [&](kernel::BufferOp buffer) {
        return buffer.getIndexSetAttr() == getIndexSetAttr() && buffer.getType().isInteger(1);
      });
}

/// `ago` says where rows lie in buffers of which not all are kept.
template <class Read> static LogicalResult verifyAgo(Read read, SymbolTableCollection &symbols) {
  if (read.getCarried() && failed(verifyCarrier(read, read.getCarriedAttr(), symbols)))
    return failure();
  if (!read.getAgo())
    return success();
  auto buffer = symbols.lookupNearestSymbolFrom<kernel::BufferOp>(read, read.getArrayAttr());
  if (!read.getCarried() || !buffer || !buffer.getLive() || *read.getAgo() < 1 ||
      *read.getAgo() >= *buffer.getLive())
    return read.emitOpError("reads rows of a time step that are not kept");
  return success();
}

FlatSymbolRefAttr dbc::batch::rowsOf(Operation *array) {
  if (auto buffer = dyn_cast<kernel::BufferOp>(array))
    return buffer.getIndexSetAttr();
  auto field = dyn_cast<dbc::kernel::FieldOp>(array);
  auto argument = dyn_cast<dbc::kernel::ArgumentOp>(array);
  assert((field || argument) && "an array of the batch");
  assert((field ? field.getLevel() : argument.getLevel()).value_or(0) == 0 &&
         "bounds of inner lists have no rows");
  if ((field ? field.getArray() : argument.getArray()) == dbc::kernel::FieldArray::Items)
    return FlatSymbolRefAttr::get(array);
  return field ? field.getDataAttr() : FlatSymbolRefAttr();
}

/// What is wrong with the index arrays of a relation, and with what it leads to.
template <class Relation>
static LogicalResult verifyRelation(Relation relation, ArrayRef<StringRef> indexArrays,
                                    SymbolTableCollection &symbols) {
  auto from = symbols.lookupNearestSymbolFrom<dbc::kernel::IndexSetOp>(relation, relation.getFromAttr());
  if (!from)
    return relation.emitOpError("is from ") << relation.getFromAttr() << ", which is no index set";
  for (StringRef array : indexArrays)
    if (llvm::none_of(from.getIndexArrays().template getAsValueRange<StringAttr>(),
                      [&](StringRef other) { return other == array; }))
      return relation.emitOpError("names its rows by `")
             << array << "`, which is no index array of " << relation.getFromAttr();
  if (!relation.getToAttr())
    return success();
  Operation *to = symbols.lookupNearestSymbolFrom(relation, relation.getToAttr());
  if (!to) // a data type is the module's
    to = symbols.lookupSymbolIn(relation->template getParentOfType<ModuleOp>(), relation.getToAttr());
  auto isList = [](auto array) { return array && array.getArray() == dbc::kernel::FieldArray::Items; };
  if (!isa_and_nonnull<dbc::kernel::IndexSetOp, dbc::dyn::DataOp, dbc::kernel::DataOp>(to) &&
      !isList(dyn_cast_or_null<dbc::kernel::FieldOp>(to)) &&
      !isList(dyn_cast_or_null<dbc::kernel::ArgumentOp>(to)))
    return relation.emitOpError("leads to ") << relation.getToAttr() << ", which has no rows";
  return success();
}
/// The index set of distinct numbers that a relation leads to; null: it leads elsewhere.
static kernel::IndexSetOp distinctOf(RelationOp relation, SymbolTableCollection &symbols) {
  if (!relation.getToAttr())
    return {};
  auto to = symbols.lookupNearestSymbolFrom<kernel::IndexSetOp>(relation, relation.getToAttr());
  return to && to.getKind() == kernel::IndexSetKind::Distinct ? to : kernel::IndexSetOp();
}
/// What says of which numbers an index set of kind `distinct` is made; null: nothing does.
static DistinctOp madeBy(Block *program, FlatSymbolRefAttr indexSet) {
  auto all = program->getOps<DistinctOp>();
  auto found = llvm::find_if(all, [&](DistinctOp op) { return op.getIndexSetAttr() == indexSet; });
  return found == all.end() ? DistinctOp() : *found;
}
/// Checks that no two relations of a program join the same rows; the first one of them looks at all.
static LogicalResult verifyUnique(RelationOp first) {
  for (Operation *op = first->getPrevNode(); op; op = op->getPrevNode())
    if (isa<RelationOp>(op))
      return success();
  llvm::DenseMap<std::tuple<Attribute, Attribute, Attribute>, RelationOp> known;
  for (auto relation : first->getBlock()->getOps<RelationOp>()) {
    auto what = std::make_tuple(relation.getFromAttr(), relation.getIndexArrayAttr(), relation.getToAttr());
    if (auto [other, isNew] = known.try_emplace(what, relation); !isNew)
      return relation.emitOpError("joins what ")
             << FlatSymbolRefAttr::get(other->second.getOperation()) << " joins already";
  }
  return success();
}
LogicalResult RelationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyUnique(*this)) || failed(verifyRelation(*this, {getIndexArray()}, symbols)))
    return failure();
  auto to = distinctOf(*this, symbols);
  if (!to)
    return success();
  DistinctOp made = madeBy((*this)->getBlock(), getToAttr());
  if (!made)
    return emitOpError("leads to ") << getToAttr() << ", which nothing makes";
  if (!kernel::hasRowsOf(made.getFrom(), made.getRows(), getFromAttr(), getIndexArray()))
    return emitOpError("goes by `") << getIndexArray() << "` of " << getFromAttr()
                                    << ", which does not get the rows of " << getToAttr();
  return success();
}
LogicalResult ListRelationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (int64_t stride = getStrideAttr().getInt(); stride != 1 && stride != -1)
    return emitOpError("has a stride that is neither 1 nor -1");
  return verifyRelation(*this, {getFirst(), getLength()}, symbols);
}

LogicalResult DistinctOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (madeBy((*this)->getBlock(), getIndexSetAttr()) != *this)
    return emitOpError("makes ") << getIndexSetAttr() << ", which is made already";
  return kernel::verifyDistinct(*this, symbols);
}

LogicalResult TransposeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getRelationAttr() != (getNumbersAttr() && getToAttr()) || !getNumbersAttr() != !getToAttr())
    return emitOpError("is of a relation, or of the numbers of the rows that they lead to");
  if (getNumbersAttr()) {
    if (failed(kernel::lookUp<kernel::BufferOp>(*this, getNumbersAttr(), "buffer", symbols)))
      return failure();
    DistinctOp made = madeBy((*this)->getBlock(), getToAttr());
    if (!made || !made.getNumbers() || !llvm::is_contained(*made.getNumbers(), getNumbersAttr()))
      return emitOpError("goes by ") << getNumbersAttr() << ", which " << getToAttr() << " is not made of";
    return success();
  }
  auto relation = kernel::lookUp<RelationOp>(*this, getRelationAttr(), "relation", symbols);
  if (failed(relation))
    return failure();
  if (!relation->getToAttr() ||
      !symbols.lookupNearestSymbolFrom<kernel::IndexSetOp>(*this, relation->getToAttr()))
    return emitOpError("is of ") << getRelationAttr() << ", which leads to no index set";
  return success();
}

/// The rows that a relation, a list relation or a transpose leads from and to.
static FlatSymbolRefAttr fromOf(Operation *op, SymbolTableCollection &symbols) {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transpose.getNumbersAttr()
               ? transpose.getToAttr()
               : symbols.lookupNearestSymbolFrom<RelationOp>(op, transpose.getRelationAttr()).getToAttr();
  auto list = dyn_cast<ListRelationOp>(op);
  return list ? list.getFromAttr() : cast<RelationOp>(op).getFromAttr();
}
static FlatSymbolRefAttr toOf(Operation *op, SymbolTableCollection &symbols) {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transpose.getNumbersAttr()
               ? symbols.lookupNearestSymbolFrom<kernel::BufferOp>(op, transpose.getNumbersAttr())
                     .getIndexSetAttr()
               : symbols.lookupNearestSymbolFrom<RelationOp>(op, transpose.getRelationAttr()).getFromAttr();
  auto list = dyn_cast<ListRelationOp>(op);
  return list ? list.getToAttr() : cast<RelationOp>(op).getToAttr();
}

/// Whether a stage over `from` may access rows of an array by a relation.
template <class Relation>
static LogicalResult verifyAccess(Operation *op, FlatSymbolRefAttr name, FlatSymbolRefAttr from,
                                  FlatSymbolRefAttr array, SymbolTableCollection &symbols) {
  if (!from)
    return op->emitOpError("stands in no stage");
  auto relation = symbols.lookupNearestSymbolFrom<Relation>(op, name);
  if (!relation)
    return op->emitOpError("goes by ") << name << ", which is no relation of its kind";
  auto isOne = [&](FlatSymbolRefAttr indexSet) { // the row of the model, or of a run
    auto found = symbols.lookupNearestSymbolFrom<dbc::kernel::IndexSetOp>(op, indexSet);
    return found && found.hasOneRow();
  };
  if (FlatSymbolRefAttr own = fromOf(relation, symbols); own != from && !(own && isOne(own) && isOne(from)))
    return op->emitOpError("goes by ") << name << ", which is from " << own << ", not from " << from;
  if (!array)
    return success();
  Operation *to = symbols.lookupNearestSymbolFrom(op, array);
  if (!isa_and_nonnull<kernel::BufferOp, dbc::kernel::FieldOp, dbc::kernel::ArgumentOp>(to))
    return op->emitOpError() << array << " is no array";
  if (auto level = to->getAttrOfType<IntegerAttr>("level"); level && level.getInt() != 0)
    return op->emitOpError() << array << " bounds lists in lists, which no row names";
  if (FlatSymbolRefAttr rows = dbc::batch::rowsOf(to); rows != toOf(relation, symbols))
    return op->emitOpError("goes by ") << name << ", which does not lead to the rows of " << array;
  return success();
}
/// The index set of the stage that an operation stands in; null where it stands in none.
static FlatSymbolRefAttr stageIndexSet(Operation *op) {
  auto stage = op->getParentOfType<StageOp>();
  return stage ? stage.getIndexSetAttr() : FlatSymbolRefAttr();
}

/// Checks that a value is what an array has for each row.
static LogicalResult verifyValue(Operation *op, FlatSymbolRefAttr array, Type value,
                                 SymbolTableCollection &symbols) {
  Type row = kernel::rowType(symbols.lookupNearestSymbolFrom(op, array));
  if (value == row)
    return success();
  return op->emitOpError("is of ") << value << ", but " << array << " has rows of " << row;
}

/// Whether a stage may read another index set's rows as its own: the model and the batch have one row; rows
/// that are made side by side have the same numbers, which batch-classify-accesses finds.
static bool readsAsOwn(kernel::IndexSetOp mine, kernel::IndexSetOp other) {
  using kernel::IndexSetKind;
  auto isMade = [](kernel::IndexSetOp indexSet) {
    IndexSetKind kind = indexSet.getKind();
    return kind == IndexSetKind::Elements || kind == IndexSetKind::Arm || kind == IndexSetKind::States;
  };
  return other.hasOneRow() || (isMade(mine) && isMade(other));
}

/// Checks what a stage reads or writes at its own row.
static LogicalResult verifyOwnRow(Operation *op, FlatSymbolRefAttr name, Type value,
                                  SymbolTableCollection &symbols) {
  FlatSymbolRefAttr indexSet = stageIndexSet(op);
  if (!indexSet)
    return op->emitOpError("stands in no stage");
  auto buffer = kernel::lookUp<kernel::BufferOp>(op, name, "buffer", symbols);
  if (failed(buffer) || failed(verifyValue(op, name, value, symbols)))
    return failure();
  auto indexSetOf = [&](FlatSymbolRefAttr each) {
    return symbols.lookupNearestSymbolFrom<kernel::IndexSetOp>(op, each);
  };
  if (buffer->getIndexSetAttr() == indexSet ||
      (isa<ReadOp>(op) && readsAsOwn(indexSetOf(indexSet), indexSetOf(buffer->getIndexSetAttr()))))
    return success();
  return op->emitOpError("is over ") << indexSet << ", but " << name << " over " << buffer->getIndexSetAttr();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyOwnRow(*this, getBufferAttr(), getType(), symbols);
}
LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyOwnRow(*this, getBufferAttr(), getValue().getType(), symbols);
}
LogicalResult ReadIndexOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FlatSymbolRefAttr indexSet = stageIndexSet(*this);
  if (!indexSet)
    return emitOpError("stands in no stage");
  return kernel::verifyIndexArray(*this, symbols.lookupNearestSymbolFrom<kernel::IndexSetOp>(*this, indexSet),
                                  getIndexArray());
}

LogicalResult GatherOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(
          verifyAccess<RelationOp>(*this, getRelationAttr(), stageIndexSet(*this), getArrayAttr(), symbols)))
    return failure();
  if (failed(verifyValue(*this, getArrayAttr(), getType(), symbols)))
    return failure();
  return verifyAgo(*this, symbols);
}
LogicalResult ScatterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(kernel::lookUp<kernel::BufferOp>(*this, getBufferAttr(), "buffer", symbols)))
    return failure();
  if (failed(
          verifyAccess<RelationOp>(*this, getRelationAttr(), stageIndexSet(*this), getBufferAttr(), symbols)))
    return failure();
  return verifyValue(*this, getBufferAttr(), getValue().getType(), symbols);
}

std::string dbc::batch::purposeOf(StringRef indexSet, StageRole role) {
  return role == StageRole::Forward ? indexSet.str() : (indexSet + "." + stringifyStageRole(role)).str();
}

std::string dbc::batch::valueName(StringRef indexSet, Operation *op) {
  std::string word = dyn::sourceWord(op);
  return (indexSet + "." + (word.empty() ? "value" : word)).str();
}

using Accesses = SmallVector<kernel::Access, 2>;
static Accesses reads(FlatSymbolRefAttr array) { return {{array, /*reads=*/true, /*writes=*/false}}; }
static Accesses writes(FlatSymbolRefAttr array) { return {{array, /*reads=*/false, /*writes=*/true}}; }

Accesses ReadOp::getAccesses() { return reads(getBufferAttr()); }
Accesses GatherOp::getAccesses() { return reads(getArrayAttr()); }
Accesses WriteOp::getAccesses() { return writes(getBufferAttr()); }
Accesses ScatterOp::getAccesses() { return writes(getBufferAttr()); }
Accesses AccumulateOp::getAccesses() { return {{getBufferAttr(), /*reads=*/true, /*writes=*/true}}; }
Accesses StageOp::getAccesses() { return getWhen() ? reads(getWhenAttr()) : Accesses(); }
Accesses SegmentOp::getAccesses() {
  Accesses accesses = reads(getArrayAttr());
  if (getNumbersAttr())
    llvm::append_range(accesses, reads(getNumbersAttr()));
  return accesses;
}

bool StageOp::mayRepeat() {
  llvm::SmallDenseSet<Attribute> written;
  llvm::SmallDenseSet<std::pair<Attribute, Attribute>> scattered;
  walk([&](AccessOpInterface access) {
    if (access.isWrite())
      written.insert(access.getArrayAttr());
    if (auto scatter = dyn_cast<ScatterOp>(*access))
      scattered.insert({scatter.getBufferAttr(), scatter.getRelationAttr()});
  });
  auto replaces = [&](Operation *op, const kernel::Access &access) {
    if (!access.reads || !written.contains(access.array))
      return false;
    auto of = dyn_cast<AccessOpInterface>(op);
    if (!of || of.getArrayAttr() != access.array || of.getRelations().empty() || !of.getCarriedAttr())
      return true;
    // By a relation what is read is of an earlier time step, unless it is written by the same one; equal
    // numbers stand in one index array, which has one relation to an index set.
    auto gather = dyn_cast<GatherOp>(op);
    return gather && scattered.contains({gather.getArrayAttr(), gather.getRelationAttr()});
  };
  bool repeats = !accumulates();
  kernel::walkAccesses(
      *this, [&](Operation *op, const kernel::Access &access) { repeats &= !replaces(op, access); });
  return repeats;
}

bool StageOp::accumulates() { return !getBody().front().getOps<AccumulateOp>().empty(); }

LogicalResult AccumulateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto buffer =
      kernel::lookUp<kernel::BufferOp>(*this, getBufferAttr(), "buffer over the batch", symbols,
                                       [&](kernel::BufferOp buffer) { return isOfBatch(buffer, symbols); });
  if (failed(buffer))
    return failure();
  auto stage = (*this)->getParentOfType<StageOp>();
  if (!stage || !isa<kernel::ProgramOp>(stage->getParentOp()))
    return emitOpError("stands in a loop, or in no stage");
  for (auto access : stage.getBody().front().getOps<AccessOpInterface>())
    if (access.isWrite() && !isa<AccumulateOp>(access))
      return emitOpError("stands in a stage that writes rows too");
  ArrayRef<int64_t> shape = dyn::extents(buffer->getType());
  if (getIndex() && shape.empty())
    return emitOpError("has an index, but ") << getBufferAttr() << " is a scalar";
  SmallVector<int64_t> added(dyn::extents(getValue().getType()));
  if (getOuter())
    llvm::append_range(added, dyn::extents(getOuter().getType()));
  if (ArrayRef(added) == (getIndex() ? shape.drop_front() : shape))
    return success();
  return emitOpError("adds ") << getValue().getType() << " to " << getBufferAttr() << ", which is "
                              << buffer->getType();
}

using dyn::ReduceKind;

bool SegmentOp::mayFail() {
  return getKind() == ReduceKind::Pick || getCount() ||
         (getKind() == ReduceKind::Sum && getElementTypeOrSelf(getType()).isInteger(32)); // it overflows
}

LogicalResult SegmentOp::verify() {
  if ((getKind() == ReduceKind::Pick) != bool(getIndex()))
    return emitOpError(getIndex() ? "has an index, but picks nothing" : "picks nothing by an index");
  return success();
}

/// Whether a segment gives `result` of rows of a type.
static bool givesOf(ReduceKind kind, Type result, Type row) {
  if (kind != ReduceKind::Pick && !dyn::takes(kind, dyn::scalar(row)))
    return false;
  return kind == ReduceKind::ArgMax ? result.isInteger(32) && dyn::extents(row).empty() : result == row;
}

LogicalResult SegmentOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FlatSymbolRefAttr from = stageIndexSet(*this), array = getViaAttr() ? FlatSymbolRefAttr() : getArrayAttr();
  if (getAtAttr()) {
    if (failed(verifyAccess<RelationOp>(*this, getAtAttr(), from, {}, symbols)))
      return failure();
    from = symbols.lookupNearestSymbolFrom<RelationOp>(*this, getAtAttr()).getToAttr();
  }
  Operation *list = symbols.lookupNearestSymbolFrom(*this, getListAttr());
  const bool isTranspose = isa_and_nonnull<TransposeOp>(list);
  if (failed(isTranspose ? verifyAccess<TransposeOp>(*this, getListAttr(), from, array, symbols)
                         : verifyAccess<ListRelationOp>(*this, getListAttr(), from, array, symbols)))
    return failure();
  if (getNumbersAttr() != (isTranspose ? cast<TransposeOp>(list).getNumbersAttr() : FlatSymbolRefAttr()))
    return emitOpError("is over ") << getListAttr() << ", which is not made of such numbers";
  if (getViaAttr()) {
    FlatSymbolRefAttr to = toOf(list, symbols);
    if (!to)
      return emitOpError("goes on from the inputs, which are no index set");
    if (failed(verifyAccess<RelationOp>(*this, getViaAttr(), to, getArrayAttr(), symbols)))
      return failure();
  }
  Type row = kernel::rowType(symbols.lookupNearestSymbolFrom(*this, getArrayAttr()));
  if (!givesOf(getKind(), getType(), row))
    return emitOpError("gives ") << getType() << " for the " << dyn::stringifyReduceKind(getKind()) << " of "
                                 << getArrayAttr() << ", which has rows of " << row;
  return verifyAgo(*this, symbols);
}

#define GET_OP_CLASSES
#include "ir/Batch/BatchOps.cpp.inc"

namespace dbc::batch {

Access accessOf(RelationOp relation) {
  if (!relation.getMultiplicity())
    return Access::Unknown;
  return *relation.getMultiplicity() == Multiplicity::OneToOne ? Access::Unique : Access::Shared;
}

Access accessOf(ListRelationOp list, bool via) {
  return via ? Access::Shared : list.getStride() == 1 ? Access::Contiguous : Access::Strided;
}

} // namespace dbc::batch
