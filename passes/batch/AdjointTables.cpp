// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Sparse gradients: what rows that look rows of tables up give to these.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/batch/Adjoints.h"

using namespace mlir;

namespace dbc::passes {

/// Each row that looks one up contributes the adjoint of what it has found.
void Adjoints::contributeToTable(StageCopy &copy, dyn::GatherOp op, Value adjoint) {
  auto param = op.getTensor().getDefiningOp<dyn::GetOp>().getParamAttr();
  auto index = op.getIndex().getDefiningOp<batch::ReadIndexOp>();
  lookups[param.getAttr()].push_back({copy.to.getIndexSetAttr(), index.getIndexArrayAttr(),
                                      inBuffer(copy, adjoint, copy.to.getSymName() + ".value")});
}

/// A stage over the rows of a table that are looked up: the gradient of each is the sum of what those
/// contribute that have looked it up, a list of a transpose.
void Adjoints::sumTable(StringAttr param, ArrayRef<Lookup> lookups, OpBuilder &b) {
  auto table = program->getParentOfType<ModuleOp>().lookupSymbol<kernel::ParamOp>(param);
  Location loc = table.getLoc();
  SmallVector<std::pair<FlatSymbolRefAttr, StringAttr>> numbers;
  for (const Lookup &lookup : lookups)
    if (std::pair each(lookup.indexSet, lookup.indexArray); !llvm::is_contained(numbers, each))
      numbers.push_back(each);
  auto rows = FlatSymbolRefAttr::get(
      declare.distinct(loc, param.getValue() + ".rows", numbers, dyn::extents(table.getType()).front()));
  batch::StageOp stage = declare.stage(b, loc, param.getValue() + ".rows.gradient", rows);
  OpBuilder in = OpBuilder::atBlockEnd(&stage.getBody().front());
  Value sum;
  for (const Lookup &lookup : lookups) {
    batch::RelationOp relation = declare.relation(loc, lookup.indexSet, lookup.indexArray, rows);
    Type type = declare.find<batch::BufferOp>(lookup.contribution).getType();
    Value found = batch::SegmentOp::create(
        in, loc, type, batch::ReduceKind::Sum, lookup.contribution.getValue(),
        declare.transpose(relation).getSymName(), FlatSymbolRefAttr(), FlatSymbolRefAttr(), Value(), Value(),
        Value(), /*at_end=*/false, FlatSymbolRefAttr(), IntegerAttr());
    sum = sum ? arith::AddFOp::create(in, loc, sum, found).getResult() : found;
  }
  batch::BufferOp gradient = declare.buffer(loc, param.getValue() + ".gradient", rows, sum.getType());
  batch::WriteOp::create(in, loc, sum, gradient.getSymName());
  declare.gradient(param.getValue(), gradient.getSymName());
}

} // namespace dbc::passes
