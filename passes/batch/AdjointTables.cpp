// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Sparse gradients: what rows that look rows of tables up give to these.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/batch/Adjoints.h"

using namespace mlir;

namespace dbc::passes {

/// Each row that looks one up contributes the adjoint of what it has found; one that a `while` has ended, 0.
void Adjoints::contributeToTable(StageCopy &copy, dyn::GatherOp op, Value adjoint) {
  auto param = op.getTensor().getDefiningOp<dyn::GetOp>().getParamAttr();
  auto ofActiveRows = [&](Value value, const Twine &called) {
    kernel::BufferOp buffer = declare.buffer(op.getLoc(), called, copy.to.getIndexSetAttr(), value.getType());
    batch::WriteOp::create(copy.b, op.getLoc(), value, buffer.getSymName());
    cleared.push_back(buffer);
    return FlatSymbolRefAttr::get(buffer);
  };
  const std::string name = declare.nameOf(op.getResult());
  Lookup lookup;
  lookup.indexSet = copy.to.getIndexSetAttr();
  lookup.contribution = copy.to.getWhen() ? ofActiveRows(adjoint, name + ".adjoint")
                                          : inBuffer(copy, adjoint, name + ".adjoint");
  if (auto index = op.getIndex().getDefiningOp<batch::ReadIndexOp>())
    lookup.indexArray = index.getIndexArrayAttr();
  else
    lookup.numbers = copy.to.getWhen() ? ofActiveRows(copy.of(op.getIndex()), name + ".number")
                                       : declare.bufferOf(op.getIndex());
  lookups[param.getAttr()].byRow.push_back(lookup);
}

/// Where the adjoint of one row of a sparse table is added up.
FlatSymbolRefAttr Adjoints::adjointOf(const SparseTables::Row &row, Value value) {
  FlatSymbolRefAttr &adjoint = lookups[row.table].always[row.number];
  if (!adjoint) {
    kernel::BufferOp buffer =
        declare.buffer(value.getLoc(), row.table.getValue() + "." + Twine(row.number) + ".adjoint",
                       declare.batchIndexSet(), value.getType());
    cleared.push_back(buffer);
    adjoint = FlatSymbolRefAttr::get(buffer);
  }
  return adjoint;
}

bool Adjoints::isDistinct(FlatSymbolRefAttr indexSet) {
  return declare.find<kernel::IndexSetOp>(indexSet).getKind() == kernel::IndexSetKind::Distinct;
}

/// What all the lookups of a table give, where each row of it is looked up once: a buffer over the distinct
/// rows of a table of the run. A computed number, like the argmax of another table's row, may be any row's.
FlatSymbolRefAttr Adjoints::givenByDistinctRows(const Lookups &lookups, int64_t extent) {
  if (lookups.byRow.size() != 1 || !lookups.always.empty())
    return {};
  const Lookup &lookup = lookups.byRow.front();
  if (!lookup.indexArray || !isDistinct(lookup.indexSet) ||
      int64_t(*declare.find<kernel::IndexSetOp>(lookup.indexSet).getExtent()) != extent ||
      llvm::any_of(program.getBody().front().getOps<kernel::GradientOp>(), [&](kernel::GradientOp other) {
        return other.getBufferAttr() == lookup.contribution; // one place holds one gradient
      }))
    return {};
  return lookup.contribution;
}

/// A stage over the rows of a table that are looked up: the gradient of each is the sum of what those
/// contribute that have looked it up, a list of a transpose, and what its adjoint is where it is one of those
/// that each batch has. Numbers that are computed are there by then.
void Adjoints::sumTable(StringAttr param, const Lookups &lookups, OpBuilder &b) {
  auto table = program->getParentOfType<ModuleOp>().lookupSymbol<kernel::ParamOp>(param);
  Location loc = table.getLoc();
  const int64_t extent = dyn::extents(table.getType()).front();
  if (FlatSymbolRefAttr given = givenByDistinctRows(lookups, extent)) {
    declare.gradient(param, given.getValue());
    return;
  }
  SmallVector<std::pair<FlatSymbolRefAttr, StringAttr>> indexArrays;
  llvm::SetVector<Attribute> numbers;
  for (const Lookup &lookup : lookups.byRow)
    if (std::pair each(lookup.indexSet, lookup.indexArray); !lookup.indexArray)
      numbers.insert(lookup.numbers);
    else if (!llvm::is_contained(indexArrays, each))
      indexArrays.push_back(each);
  SmallVector<int32_t> always(llvm::make_first_range(lookups.always));
  auto [rows, relations] =
      declare.distinct(loc, param.getValue() + ".rows", indexArrays, numbers.getArrayRef(), always, extent);
  batch::StageOp stage = declare.stage(b, loc, batch::StageRole::Gradient, rows);
  OpBuilder in = OpBuilder::atBlockEnd(&stage.getBody().front());
  Value sum;
  auto addUp = [&](Value value) {
    sum = sum ? arith::AddFOp::create(in, loc, sum, value).getResult() : value;
  };
  for (const Lookup &lookup : lookups.byRow) {
    const auto at = std::distance(indexArrays.begin(),
                                  llvm::find(indexArrays, std::pair(lookup.indexSet, lookup.indexArray)));
    batch::TransposeOp transpose =
        lookup.indexArray ? declare.transpose(relations[at]) : declare.transpose(loc, lookup.numbers, rows);
    Type type = declare.find<kernel::BufferOp>(lookup.contribution).getType();
    auto segment = batch::SegmentOp::create(in, loc, type, dyn::ReduceKind::Sum, lookup.contribution,
                                            FlatSymbolRefAttr::get(transpose));
    segment.setNumbersAttr(lookup.numbers);
    addUp(segment);
  }
  for (auto [number, adjoint] : lookups.always) {
    Type type = declare.find<kernel::BufferOp>(adjoint).getType();
    Value row = batch::ReadIndexOp::create(in, loc, in.getI32Type(), kernel::kRowArray);
    Value own = arith::ConstantOp::create(in, loc, in.getI32IntegerAttr(number));
    Value isRow = arith::CmpIOp::create(in, loc, arith::CmpIPredicate::eq, row, own);
    Value value = batch::ReadOp::create(in, loc, type, adjoint.getValue());
    addUp(arith::SelectOp::create(in, loc, isRow, value,
                                  arith::ConstantOp::create(in, loc, in.getZeroAttr(type))));
  }
  kernel::BufferOp gradient = declare.buffer(loc, param.getValue() + ".gradient", rows, sum.getType());
  batch::WriteOp::create(in, loc, sum, gradient.getSymName());
  declare.gradient(param.getValue(), gradient.getSymName());
}

} // namespace dbc::passes
