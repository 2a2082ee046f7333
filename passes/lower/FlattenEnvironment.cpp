// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenEnvironment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

using Kind = AbstractValue::Kind;

AbstractValue Environment::lookup(Value value) const {
  auto it = values.find(value);
  assert(it != values.end() && "a value is walked before its uses");
  return it->second;
}

std::vector<ListInfo> Environment::lists(ValueRange values) const {
  std::vector<ListInfo> result;
  for (Value value : values)
    result.push_back(lookup(value).list);
  return result;
}

bool Environment::isStructural(Value value) {
  auto list = dyn_cast<dyn::ListType>(value.getType());
  if (isa<dyn::NodeType>(list ? list.getElement() : value.getType()))
    return true;
  auto it = values.find(value);
  if (it == values.end())
    return dyn::isStructural(value);
  const AbstractValue &what = it->second;
  return what.is(Kind::Structural) || (what.is(Kind::List) && what.list.isStructural()) ||
         isOfConstants(what);
}

Value Environment::structural(Value value) {
  AbstractValue what = lookup(value);
  if (what.is(Kind::Structural))
    return what.scalar;
  if (isOfConstants(what))
    return cloneModel(structure.builder(), what.scalar);
  emitError(value.getLoc(), "structure is asked of what is computed; the checker should have refused this");
  failed = true;
  return structure.integer(0);
}

bool Environment::isOfConstants(const AbstractValue &what) {
  if (!what.is(Kind::Model) || !what.scalar.getType().isSignlessInteger())
    return false;
  if (auto at = ofConstants.find(what.scalar); at != ofConstants.end())
    return at->second;
  Operation *op = what.scalar.getDefiningOp();
  bool result =
      isa<arith::ConstantOp>(op) ||
      (isa<arith::ArithDialect>(op->getDialect()) &&
       llvm::all_of(op->getOperands(), [&](Value operand) { return isOfConstants(lookup(operand)); }));
  return ofConstants[what.scalar] = result;
}

Value Environment::cloneModel(OpBuilder &builder, Value source) {
  IRMapping cloned;
  return cloneModel(builder, source, cloned);
}

Value Environment::cloneModel(OpBuilder &builder, Value source, IRMapping &cloned) {
  if (Value known = cloned.lookupOrNull(source))
    return known;
  Operation *op = source.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    // What an arm gives is known by the arm's value: the match around it stays behind.
    mapping.map(operand, cloneModel(builder, lookup(operand).scalar, cloned));
  cloned.map(op->getResults(), builder.clone(*op, mapping)->getResults());
  return cloned.lookup(source);
}

} // namespace dbc::passes
