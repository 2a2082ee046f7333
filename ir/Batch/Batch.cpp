// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `batch` dialect: registration, verifiers.
#include "ir/Batch/Batch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dbc::batch;

#include "ir/Batch/BatchDialect.cpp.inc"
#include "ir/Batch/BatchEnums.cpp.inc"
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

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getLive())
    return success();
  auto space = symbols.lookupNearestSymbolFrom<dbc::kernel::SpaceOp>(*this, getSpaceAttr());
  if (*getLive() < 1 || !space || !liesInSteps(space))
    return emitOpError("keeps the rows of some time steps, but its rows do not lie in the order of these");
  return success();
}

/// `ago` says where rows lie in buffers of which not all are kept.
template <class Read> static LogicalResult verifyAgo(Read read, SymbolTableCollection &symbols) {
  if (!read.getAgo())
    return success();
  auto buffer = symbols.lookupNearestSymbolFrom<BufferOp>(read, read.getArrayAttr());
  if (!read.getCarried() || !buffer || !buffer.getLive() || *read.getAgo() < 1 ||
      *read.getAgo() >= *buffer.getLive())
    return read.emitOpError("reads rows of a time step that are not kept");
  return success();
}

FlatSymbolRefAttr dbc::batch::rowsOf(Operation *array) {
  if (auto buffer = dyn_cast<BufferOp>(array))
    return buffer.getSpaceAttr();
  auto field = dyn_cast<dbc::kernel::FieldOp>(array);
  auto argument = dyn_cast<dbc::kernel::ArgumentOp>(array);
  assert((field || argument) && "an array of the batch");
  assert((field ? field.getLevel() : argument.getLevel()).value_or(0) == 0 &&
         "bounds of inner lists have no rows");
  if ((field ? field.getPart() : argument.getPart()) == dbc::kernel::FieldPart::Items)
    return FlatSymbolRefAttr::get(array);
  return field ? field.getDataAttr() : FlatSymbolRefAttr();
}

/// What is wrong with the columns of a relation, and with what it leads to.
template <class Relation>
static LogicalResult verifyRelation(Relation relation, ArrayRef<StringRef> columns,
                                    SymbolTableCollection &symbols) {
  auto from = symbols.lookupNearestSymbolFrom<dbc::kernel::SpaceOp>(relation, relation.getFromAttr());
  if (!from)
    return relation.emitOpError("is from ") << relation.getFromAttr() << ", which is no space";
  for (StringRef column : columns)
    if (llvm::none_of(from.getColumns().template getAsValueRange<StringAttr>(),
                      [&](StringRef c) { return c == column; }))
      return relation.emitOpError("names its rows by `")
             << column << "`, which is no column of " << relation.getFromAttr();
  if (!relation.getToAttr())
    return success();
  Operation *to = symbols.lookupNearestSymbolFrom(relation, relation.getToAttr());
  if (!to) // a data type is the module's
    to = symbols.lookupSymbolIn(relation->template getParentOfType<ModuleOp>(), relation.getToAttr());
  auto isList = [](auto array) { return array && array.getPart() == dbc::kernel::FieldPart::Items; };
  if (!isa_and_nonnull<dbc::kernel::SpaceOp, dbc::dyn::DataOp, dbc::kernel::DataOp>(to) &&
      !isList(dyn_cast_or_null<dbc::kernel::FieldOp>(to)) &&
      !isList(dyn_cast_or_null<dbc::kernel::ArgumentOp>(to)))
    return relation.emitOpError("leads to ") << relation.getToAttr() << ", which has no rows";
  return success();
}
LogicalResult RelationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyRelation(*this, {getColumn()}, symbols);
}
LogicalResult ListRelationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getStride() != 1 && getStride() != -1)
    return emitOpError("has a stride that is neither 1 nor -1");
  return verifyRelation(*this, {getFirst(), getLength()}, symbols);
}

/// Whether a stage over `from` may reach rows of an array by a relation.
template <class Relation>
static LogicalResult verifyReaches(Operation *op, FlatSymbolRefAttr name, FlatSymbolRefAttr from,
                                   FlatSymbolRefAttr array, SymbolTableCollection &symbols) {
  if (!from)
    return op->emitOpError("stands in no stage");
  auto relation = symbols.lookupNearestSymbolFrom<Relation>(op, name);
  if (!relation)
    return op->emitOpError("goes by ") << name << ", which is no relation of its kind";
  if (relation.getFromAttr() != from)
    return op->emitOpError("goes by ")
           << name << ", which is from " << relation.getFromAttr() << ", not from " << from;
  if (!array)
    return success();
  Operation *to = symbols.lookupNearestSymbolFrom(op, array);
  if (!isa_and_nonnull<BufferOp, dbc::kernel::FieldOp, dbc::kernel::ArgumentOp>(to))
    return op->emitOpError() << array << " is no array";
  if (FlatSymbolRefAttr rows = dbc::batch::rowsOf(to); rows != relation.getToAttr())
    return op->emitOpError("goes by ") << name << ", which does not lead to the rows of " << array;
  return success();
}
/// The space of the stage that an operation stands in; null where it stands in none.
static FlatSymbolRefAttr stageSpace(Operation *op) {
  auto stage = op->getParentOfType<StageOp>();
  return stage ? stage.getSpaceAttr() : FlatSymbolRefAttr();
}

LogicalResult ProgramOp::verifyRegions() {
  llvm::StringMap<RelationOp> known;
  for (auto relation : getBody().front().getOps<RelationOp>()) {
    std::string what =
        (relation.getFrom() + "/" + relation.getColumn() + "/" + relation.getTo().value_or("")).str();
    if (auto [other, isNew] = known.try_emplace(what, relation); !isNew)
      return relation.emitOpError("joins what ")
             << FlatSymbolRefAttr::get(other->second.getOperation()) << " joins already";
  }
  return success();
}

LogicalResult GatherOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyReaches<RelationOp>(*this, getRelationAttr(), stageSpace(*this), getArrayAttr(), symbols)))
    return failure();
  return verifyAgo(*this, symbols);
}
LogicalResult ScatterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyReaches<RelationOp>(*this, getRelationAttr(), stageSpace(*this), getBufferAttr(), symbols);
}
LogicalResult SegmentOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyReaches<ListRelationOp>(*this, getListAttr(), stageSpace(*this),
                                           getViaAttr() ? FlatSymbolRefAttr() : getArrayAttr(), symbols)))
    return failure();
  if (getViaAttr()) {
    auto list = symbols.lookupNearestSymbolFrom<ListRelationOp>(*this, getListAttr());
    if (!list.getToAttr())
      return emitOpError("goes on from the inputs, which are no space");
    if (failed(verifyReaches<RelationOp>(*this, getViaAttr(), list.getToAttr(), getArrayAttr(), symbols)))
      return failure();
  }
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

bool liesInSteps(kernel::SpaceOp space) {
  using kernel::SpaceKind;
  return space.getTicked() && !space.getStepsOf() && !space.getKept() &&
         (space.getKind() == SpaceKind::Instances || space.getKind() == SpaceKind::Elements ||
          space.getKind() == SpaceKind::Arm);
}

} // namespace dbc::batch
