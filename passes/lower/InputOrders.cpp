// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/InputOrders.h"

using namespace mlir;

namespace dbc::passes {

/// Of rows that lie by the levels and arms of a recursion, as they are instances of its cells, or made of
/// such rows in their order: the index sets from them to the instances. All other rows are made input by
/// input.
SmallVector<Attribute> InputOrders::pathToOwner(kernel::IndexSetOp rows) const {
  SmallVector<Attribute> path = {FlatSymbolRefAttr::get(rows)};
  while (rows.getParentAttr() && rows.getKind() != kernel::IndexSetKind::Column) {
    rows = names.lookup<kernel::IndexSetOp>(*rows.getParent());
    path.push_back(FlatSymbolRefAttr::get(rows));
  }
  if (rows.getKind() != kernel::IndexSetKind::Instances)
    path.clear();
  return path;
}

FlatSymbolRefAttr InputOrders::of(kernel::IndexSetOp rows, bool active) {
  const SmallVector<Attribute> path = pathToOwner(rows);
  if (!active && path.empty())
    return {};
  kernel::IndexSetOp &order = orders[{rows.getOperation(), active}];
  if (!order) {
    OpBuilder b(rows->getContext());
    b.setInsertionPointAfter(rows);
    order = kernel::IndexSetOp::create(
        b, rows.getLoc(), (rows.getSymName() + (active ? ".active_by_input" : ".by_input")).str(),
        kernel::IndexSetKind::ByInput, {}, FlatSymbolRefAttr::get(rows));
    order.setMasked(active);
    names.insert(order);
    auto schedules = cast<kernel::ProgramOp>(names.getOp()).getOps<kernel::ScheduleOp>();
    assert(!schedules.empty() && "what has rows has a schedule");
    b.setInsertionPointToEnd(&(*schedules.begin()).getBody().front());
    kernel::SortByInputOp::create(b, rows.getLoc(), FlatSymbolRefAttr::get(order), b.getArrayAttr(path));
  }
  return FlatSymbolRefAttr::get(order);
}

FlatSymbolRefAttr InputOrders::ofLists(kernel::IndexSetOp from, kernel::IndexSetOp to) {
  const bool isOfInputs =
      to.getKind() != kernel::IndexSetKind::Distinct && to.getKind() != kernel::IndexSetKind::Model;
  return isOfInputs ? FlatSymbolRefAttr() : of(from, /*active=*/false);
}

} // namespace dbc::passes
