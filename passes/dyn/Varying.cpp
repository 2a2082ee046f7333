// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "passes/dyn/Varying.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace dbc::passes {

Varying::Varying(Operation *binder, Elements elements) : elements(elements) {
  Block &body = binder->getRegion(0).front();
  values.insert(body.args_begin(), body.args_end());
  visit(body);
}

Varying::Varying(Block &body, ArrayRef<Value> arguments) : elements(Elements::AsTheirList) {
  values.insert(arguments.begin(), arguments.end());
  visit(body);
}

bool Varying::uses(Operation *op) const {
  return dyn::anyInside(op, [&](Operation *inner) {
    return llvm::any_of(inner->getOperands(), [&](Value v) { return has(v); });
  });
}

bool Varying::has(Operation *op) const { return !isPlain(op) || uses(op); }

void Varying::add(Operation *op) {
  op->walk([&](Operation *inner) {
    values.insert(inner->result_begin(), inner->result_end());
    for (Region &region : inner->getRegions())
      values.insert(region.args_begin(), region.args_end());
  });
}

bool Varying::elementsVary(Value list) const {
  if (!has(list))
    return false;
  if (elements == Elements::AsTheirList)
    return true;
  while (Value from = chosenFrom(list))
    list = from;
  if (dyn::isStructural(list) || !has(list))
    return false;
  auto map = list.getDefiningOp<dyn::MapOp>(); // which was visited
  return !map ||
         has(map.getBody().front().getTerminator()->getOperand(cast<OpResult>(list).getResultNumber()));
}

void Varying::visit(Block &block) {
  for (Operation &op : block) {
    bool varies = has(&op);
    if (varies && dyn::isBinder(&op)) {
      ValueRange lists = dyn::listsOf(&op);
      for (BlockArgument argument : op.getRegion(0).getArguments())
        if (argument.getArgNumber() >= lists.size() || elementsVary(lists[argument.getArgNumber()]))
          values.insert(argument);
    }
    if (varies)
      for (Region &region : op.getRegions())
        visit(region.front());
    if (varies)
      values.insert(op.result_begin(), op.result_end());
  }
}

bool isPlain(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
    return false;
  return !dyn::anyInside(op, [](Operation *inner) {
    auto call = dyn_cast<dyn::CallOp>(inner);
    return call && !call.getValues().empty();
  });
}

bool isOnceAtMost(Operation *binder) {
  auto range = dyn::listsOf(binder)[0].getDefiningOp<dyn::RangeOp>();
  auto count = range ? range.getHigh().getDefiningOp<dyn::IntOp>() : dyn::IntOp();
  return count && count.getKind() == dyn::IntKind::Min && matchPattern(range.getLow(), m_Zero()) &&
         (matchPattern(count.getA(), m_One()) || matchPattern(count.getB(), m_One()));
}

bool fails(Operation *op) { return dyn::anyInside(op, dyn::mayFail); }

/// How many elements are added up for each element of the result.
static int64_t summed(linalg::ContractOp product) {
  auto maps = product.getIndexingMapsArray();
  SmallVector<int64_t> extents(maps[0].getNumDims(), 1);
  for (auto [map, operand] : llvm::zip(maps, product.getOperands()))
    for (auto [result, extent] : llvm::zip(map.getResults(), dyn::extents(operand.getType())))
      extents[cast<AffineDimExpr>(result).getPosition()] = extent;
  for (AffineExpr kept : maps[2].getResults())
    extents[cast<AffineDimExpr>(kept).getPosition()] = 1;
  return llvm::product_of(extents);
}

int64_t elementsIn(Type type) { return dyn::isNumber(type) ? llvm::product_of(dyn::extents(type)) : 0; }

bool isWork(Operation *op) {
  return dyn::anyInside(op, [](Operation *inner) {
    bool work = isa<dyn::FunctionOp, dyn::SoftmaxOp, dyn::SoftmaxListOp, dyn::TopKOp>(inner) ||
                (isa<math::MathDialect>(inner->getDialect()) && !isa<math::AbsFOp>(inner)) ||
                dyn::isRecurrence(inner);
    if (auto product = dyn_cast<linalg::ContractOp>(inner))
      work = summed(product) >= kWorth;
    else if (auto reduce = dyn_cast<dyn::ReduceOp>(inner))
      work = elementsIn(reduce.getX().getType()) >= kWorth * elementsIn(reduce.getType());
    else if (auto reduce = dyn_cast<dyn::ReduceListOp>(inner))
      work = !dyn::isStructural(reduce.getResult());
    return work;
  });
}

Value chosenFrom(Value list) {
  Operation *op = list.getDefiningOp();
  return isa_and_nonnull<dyn::FilterOp, dyn::ReverseOp, dyn::SliceOp, dyn::ZipOp>(op)
             ? op->getOperand(cast<OpResult>(list).getResultNumber())
             : Value();
}

std::optional<Source> sourceOf(Value list, const Varying &varying) {
  Source source;
  while (varying.has(list)) {
    Value from = chosenFrom(list);
    if (!from)
      return std::nullopt;
    if (!isa<dyn::ZipOp>(list.getDefiningOp()))
      source.path.push_back(list.getDefiningOp());
    list = from;
  }
  source.list = list;
  return source;
}

} // namespace dbc::passes
