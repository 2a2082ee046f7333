// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/InputOrders.h"

using namespace mlir;

namespace dbc::passes {

/// Whether rows lie by the levels and arms of a recursion: they are instances of its cells, or made of such
/// rows in their order. All others are made input by input.
static bool liesByLevel(kernel::IndexSetOp rows) {
  while (rows.getParentAttr() && rows.getKind() != kernel::IndexSetKind::Column)
    rows = SymbolTable::lookupNearestSymbolFrom<kernel::IndexSetOp>(rows, rows.getParentAttr());
  return rows.getKind() == kernel::IndexSetKind::Instances;
}

FlatSymbolRefAttr InputOrders::of(kernel::IndexSetOp rows, bool active) {
  if (!active && !liesByLevel(rows))
    return {};
  kernel::IndexSetOp &order = orders[{rows.getOperation(), active}];
  if (!order) {
    const std::string wanted = (rows.getSymName() + (active ? ".active_by_input" : ".by_input")).str();
    std::string name = wanted;
    for (unsigned number = 2; SymbolTable::lookupSymbolIn(program, name); ++number)
      name = (wanted + "." + Twine(number)).str();
    OpBuilder b(rows->getContext());
    b.setInsertionPointAfter(rows);
    order = kernel::IndexSetOp::create(b, rows.getLoc(), name, kernel::IndexSetKind::ByInput, {},
                                       FlatSymbolRefAttr::get(rows));
    order.setMasked(active);
    auto schedule = *program.getOps<kernel::ScheduleOp>().begin();
    b.setInsertionPointToEnd(&schedule.getBody().front());
    kernel::SortByInputOp::create(b, rows.getLoc(), name);
  }
  return FlatSymbolRefAttr::get(order);
}

FlatSymbolRefAttr InputOrders::ofLists(kernel::IndexSetOp from, kernel::IndexSetOp to) {
  const bool isOfInputs =
      to.getKind() != kernel::IndexSetKind::Distinct && to.getKind() != kernel::IndexSetKind::Model;
  return isOfInputs ? FlatSymbolRefAttr() : of(from, /*active=*/false);
}

} // namespace dbc::passes
