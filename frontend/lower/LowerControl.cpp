// `if`, `match`, `&&` and `||`: one arm where structure decides, both and a choice where computed values do
// (S3).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"

namespace dbc::frontend {

void Lowering::fill(mlir::Region &region, mlir::TypeRange arguments, mlir::Location at,
                    llvm::function_ref<Values(mlir::Block &)> body) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Block &block = region.emplaceBlock();
  for (mlir::Type type : arguments)
    block.addArgument(type, at);
  builder_.setInsertionPointToEnd(&block);
  Values values = body(block);
  dyn::YieldOp::create(builder_, at, values);
}

Values Lowering::ifElse(const IfExpr &expr) {
  mlir::Location at = location(expr.range);
  mlir::Value condition = lowerOne(*expr.condition);
  if (!dyn::isStructural(condition))
    return choose(expr, condition);
  auto op = dyn::IfOp::create(builder_, at, flatTypes(expr.type, expr.range), condition);
  fill(op.getThen(), {}, location(expr.thenBlock.range),
       [&](mlir::Block &) { return block(expr.thenBlock); });
  fill(op.getOtherwise(), {}, location(expr.elseBlock.range),
       [&](mlir::Block &) { return block(expr.elseBlock); });
  return Values(op.getResults());
}

/// Both arms, and then the one that the condition says (S3).
Values Lowering::choose(const IfExpr &expr, mlir::Value condition) {
  mlir::Location at = location(expr.range);
  mlir::Value other = mlir::arith::XOrIOp::create(builder_, at, condition, boolConstant(at, true));
  Values first, second, results;
  guarded(at, condition, [&] { first = block(expr.thenBlock); });
  guarded(at, other, [&] { second = block(expr.elseBlock); });
  auto select = [&](mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(builder_, at, condition, a, b).getResult();
  };
  // Lists element by element.
  std::function<mlir::Value(mlir::Value, mlir::Value)> chosen = [&](mlir::Value a, mlir::Value b) {
    auto list = llvm::dyn_cast<dyn::ListType>(a.getType());
    if (!list)
      return select(a, b);
    auto both = dyn::ZipOp::create(builder_, at, mlir::ValueRange{a, b});
    auto map = dyn::MapOp::create(builder_, at, mlir::TypeRange{list}, both.getResults());
    fill(map.getBody(), {list.getElement(), list.getElement()}, at,
         [&](mlir::Block &block) { return Values{chosen(block.getArgument(0), block.getArgument(1))}; });
    return map.getResult(0);
  };
  for (auto [a, b] : llvm::zip(first, second))
    results.push_back(chosen(a, b));
  return results;
}

void Lowering::guarded(mlir::Location at, mlir::Value condition, llvm::function_ref<void()> body) {
  mlir::Value outer = guard_;
  guard_ = outer ? mlir::arith::AndIOp::create(builder_, at, outer, condition).getResult() : condition;
  body();
  guard_ = outer;
}

mlir::Value Lowering::harmless(mlir::Operation *op) {
  if (guard_)
    dyn::guard(op, guard_);
  return op->getResult(0);
}

Values Lowering::match(const MatchExpr &expr) {
  mlir::Location at = location(expr.range);
  mlir::Value node = lowerOne(*expr.subject);
  const DataInfo &data = *expr.subject->type->data;
  llvm::SmallVector<mlir::Attribute> names;
  for (const MatchArm &arm : expr.arms)
    names.push_back(builder_.getStringAttr(arm.wildcard() ? "_" : arm.constructor.text));
  auto op = dyn::MatchOp::create(builder_, at, flatTypes(expr.type, expr.range), node,
                                 builder_.getArrayAttr(names), static_cast<unsigned>(names.size()));
  for (size_t i = 0; i < expr.arms.size(); ++i) {
    const MatchArm &arm = expr.arms[i];
    fill(op.getArms()[i], {}, location(arm.range), [&](mlir::Block &) {
      for (const ArmField &bound : arm.fields) {
        Values value{field(node, data, bound.field.text, bound.resolved->type, &arm.constructor.text,
                           bound.field.range)};
        nameValues(value, bound.name.text, bound.resolved->type);
        frame_->locals[bound.resolved] = value;
      }
      return block(arm.body);
    });
  }
  return Values(op.getResults());
}

/// Whether an operation must not be computed where `&&` or `||` has decided already. A field that is not
/// given fails the input in either case (S3).
static bool mayFail(mlir::Operation *op) {
  return dyn::mayFail(op) && !llvm::isa<dyn::FieldOp, dyn::NodesOp>(op);
}

/// `a && b` is `if a { b } else { false }`, `a || b` is `if a { true } else { b }`; where b cannot fail, that
/// is `and` and `or`.
mlir::Value Lowering::logical(const BinaryExpr &expr) {
  mlir::Location at = location(expr.range);
  bool isAnd = expr.op == BinaryExpr::Op::And;
  mlir::Value a = lowerOne(*expr.lhs);
  auto both = [&](mlir::Value b) -> mlir::Value {
    mlir::Type type = numberType(expr.type, expr.range);
    a = stretch(at, a, dyn::extents(type));
    b = stretch(at, b, dyn::extents(type));
    if (isAnd)
      return mlir::arith::AndIOp::create(builder_, at, a, b);
    return mlir::arith::OrIOp::create(builder_, at, a, b);
  };
  if (!expr.type->isScalar())
    return both(lowerOne(*expr.rhs));
  if (!dyn::isStructural(a)) {
    mlir::Value asked = isAnd ? a : mlir::arith::XOrIOp::create(builder_, at, a, boolConstant(at, true));
    mlir::Value b;
    guarded(at, asked, [&] { b = lowerOne(*expr.rhs); });
    return both(b);
  }
  auto op = dyn::IfOp::create(builder_, at, mlir::TypeRange{builder_.getI1Type()}, a);
  mlir::Region &asked = isAnd ? op.getThen() : op.getOtherwise();
  mlir::Region &decided = isAnd ? op.getOtherwise() : op.getThen();
  fill(asked, {}, at, [&](mlir::Block &) { return Values{lowerOne(*expr.rhs)}; });
  fill(decided, {}, at, [&](mlir::Block &) { return Values{boolConstant(at, !isAnd)}; });
  mlir::WalkResult walk = asked.walk([](mlir::Operation *inner) {
    return mayFail(inner) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return op.getResult(0);
  mlir::Operation *yield = asked.front().getTerminator();
  mlir::Value b = yield->getOperand(0);
  yield->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), asked.front().getOperations());
  op->erase();
  return both(b);
}

} // namespace dbc::frontend
