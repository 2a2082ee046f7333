// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

/// Whether it does nothing but fill rows with a constant.
static bool isFill(StageGroups::Group group) {
  return llvm::all_of(group, [](const Action *action) {
    return action->value && action->value.getDefiningOp<arith::ConstantOp>() &&
           llvm::none_of(action->writes,
                         [](const ElementWrite &write) { return isa<batch::AccumulateOp>(write.op); });
  });
}

void StageGroups::write(Group group) {
  const SmallVector<int64_t> shape = plan.shapeOf(*group[0]);
  w.rows([&] {
    // One whole loop: of zeros compilers make a call of memset, which writes lines without reading them.
    if (isFill(group))
      return w.loops(shape, [&](ValueRange at) { writeElements(group, at); });
    w.inVectors(
        shape, [&](LoopWriter::EachElement each) { each([&](ValueRange at) { writeElements(group, at); }); });
  });
}

void StageGroups::writeElements(Group group, ValueRange at) {
  expressions.begin(at, plan.sumsOf(group));
  // In the order of the program, so that what one needs of another is there.
  for (auto &action : plan.actions()) {
    if (!llvm::is_contained(group, action.get()))
      continue;
    if (plan.isTiled(*action)) {
      for (Value gate : plan.materialised())
        if (plan.productOf(gate) == action->value)
          locals.write(expressions.gate(gate), gate, at);
      continue;
    }
    Value scalar;
    if (plan.computes(*action)) {
      scalar = expressions.computed(action->value, at);
      locals.write(scalar, action->value, at);
    } else {
      scalar = expressions.element(action->value, at);
    }
    for (const ElementWrite &write : action->writes) {
      SmallVector<Value> to(at);
      if (write.offset != 0)
        to[write.axis] = w.addInt(to[write.axis], w.integer(write.offset));
      store(write.op, scalar, to);
    }
  }
  expressions.end();
}

/// Stores an element in the buffer that a write or scatter names.
void StageGroups::store(Operation *op, Value scalar, ValueRange at) {
  SmallVector<Value> indices;
  StringRef buffer;
  if (auto accumulate = dyn_cast<batch::AccumulateOp>(op)) {
    buffer = accumulate.getBuffer();
    indices.push_back(w.integer(0));
    if (accumulate.getIndex())
      indices.push_back(expressions.element(accumulate.getIndex(), {}));
    llvm::append_range(indices, at);
    Value soFar =
        kernel::LoadOp::create(w.b, op->getLoc(), w.elementTypeOf(buffer), buffer, StringAttr(), indices);
    scalar = arith::AddFOp::create(w.b, op->getLoc(), soFar, scalar);
    kernel::StoreOp::create(w.b, op->getLoc(), scalar, buffer, indices);
    return;
  }
  if (auto scatter = dyn_cast<batch::ScatterOp>(op)) {
    buffer = scatter.getBuffer();
    indices.push_back(w.inMemory(buffer, w.index(w.indexArrayOf(scatter))));
  } else {
    buffer = cast<batch::WriteOp>(op).getBuffer();
    indices.push_back(w.inMemory(buffer, w.row()));
  }
  llvm::append_range(indices, at);
  kernel::StoreOp::create(w.b, op->getLoc(), scalar, buffer, indices);
}

} // namespace dbc::passes
