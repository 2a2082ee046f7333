// Binders over lists, ranges, `zip`.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"

namespace dbc::frontend {

static llvm::SmallVector<mlir::Type> elementTypes(const Values &lists) {
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value list : lists)
    types.push_back(llvm::cast<dyn::ListType>(list.getType()).getElement());
  return types;
}

mlir::Value Lowering::length(mlir::Location at, mlir::Value list) {
  return dyn::LenOp::create(builder_, at, builder_.getI32Type(), list);
}

Values Lowering::range(const RangeExpr &expr) {
  mlir::Value low = lowerOne(*expr.low), high = lowerOne(*expr.high);
  return {dyn::RangeOp::create(builder_, location(expr.range), dyn::ListType::get(builder_.getI32Type()), low,
                               high)};
}

Values Lowering::emptyLists(const Expr &expr) {
  Values lists;
  for (mlir::Type type : flatTypes(expr.type, expr.range))
    lists.push_back(emptyList(location(expr.range), llvm::cast<dyn::ListType>(type)));
  return lists;
}

mlir::Value Lowering::emptyList(mlir::Location at, dyn::ListType type) {
  mlir::Type element = type.getElement();
  if (llvm::isa<dyn::NodeType>(element)) // of which there is none to map to
    return dyn::EmptyOp::create(builder_, at, type);
  mlir::Value none = dyn::RangeOp::create(builder_, at, intConstant(at, 0));
  auto map = dyn::MapOp::create(builder_, at, mlir::TypeRange{type}, none);
  fill(map.getBody(), {builder_.getI32Type()}, at, [&](mlir::Block &) {
    auto list = llvm::dyn_cast<dyn::ListType>(element);
    return Values{list ? emptyList(at, list) : constant(at, 0, element)};
  });
  return map.getResult(0);
}

/// The list of all positions, each of which takes its element from one of the two lists.
Values Lowering::append(const BinaryExpr &expr) {
  mlir::Location at = location(expr.opRange);
  mlir::Type i32 = builder_.getI32Type();
  Values first = zipped(at, lower(*expr.lhs)), second = zipped(at, lower(*expr.rhs));
  mlir::Value count = length(at, first[0]);
  mlir::Value all = integer(at, dyn::IntKind::Add, count, length(at, second[0]));
  mlir::Value positions = dyn::RangeOp::create(builder_, at, all);
  auto map = dyn::MapOp::create(builder_, at, mlir::ValueRange(first).getTypes(), positions);
  fill(map.getBody(), {i32}, at, [&](mlir::Block &block) {
    mlir::Value position = block.getArgument(0);
    mlir::Value inFirst =
        mlir::arith::CmpIOp::create(builder_, at, mlir::arith::CmpIPredicate::slt, position, count);
    auto choice = dyn::IfOp::create(builder_, at, elementTypes(first), inFirst);
    auto elements = [&](const Values &lists, mlir::Value index) {
      Values taken;
      for (auto [list, type] : llvm::zip(lists, elementTypes(lists)))
        taken.push_back(dyn::AtOp::create(builder_, at, type, list, index, mlir::Value()));
      return taken;
    };
    fill(choice.getThen(), {}, at, [&](mlir::Block &) { return elements(first, position); });
    fill(choice.getOtherwise(), {}, at,
         [&](mlir::Block &) { return elements(second, integer(at, dyn::IntKind::Sub, position, count)); });
    return Values(choice.getResults());
  });
  return Values(map.getResults());
}

Values Lowering::zip(const CallExpr &expr) {
  Values lists;
  for (const ExprPtr &arg : expr.args)
    lists.append(lower(*arg));
  return Values(dyn::ZipOp::create(builder_, location(expr.range), mlir::ValueRange(lists)).getResults());
}

Values Lowering::zipped(mlir::Location at, Values lists) {
  mlir::Operation *first = lists.front().getDefiningOp();
  bool one = lists.size() == 1 ||
             (first && llvm::all_of(lists, [&](mlir::Value list) { return list.getDefiningOp() == first; }));
  if (one)
    return lists;
  return Values(dyn::ZipOp::create(builder_, at, mlir::ValueRange(lists)).getResults());
}

mlir::Value Lowering::reduceList(mlir::Location at, Builtin builtin, mlir::Value list) {
  mlir::Type element = llvm::cast<dyn::ListType>(list.getType()).getElement();
  mlir::Type type = builtin == Builtin::ArgMax ? mlir::Type(builder_.getI32Type()) : element;
  return harmless(dyn::ReduceListOp::create(builder_, at, type, reduceKind(builtin), list,
                                            /*when=*/mlir::Value()));
}

/// The call itself, which gives lists then: of the nodes, and of what it gives.
Values Lowering::every(const CallExpr &expr) {
  auto call = lower(*expr.args[0]).front().getDefiningOp<dyn::CallOp>();
  llvm::SmallVector<mlir::Type> lists{dyn::ListType::get(call.getKeys()[0].getType())};
  for (mlir::Type type : call.getResultTypes())
    lists.push_back(dyn::ListType::get(type));
  auto all =
      dyn::CallOp::create(builder_, location(expr.range), lists, call.getCallee(), call.getKeys(),
                          call.getValues(), mlir::FlatSymbolRefAttr(), mlir::ValueRange(), /*every=*/true);
  call.erase();
  return Values(all.getResults());
}

Values Lowering::binder(const BinderExpr &expr) {
  mlir::Location at = location(expr.range);
  Builtin builtin = expr.resolved->builtin;
  switch (builtin) {
  case Builtin::Map:
    return map(expr, elements(expr));
  case Builtin::Scan:
  case Builtin::ScanBack:
  case Builtin::Fold:
    return recurrence(expr, builtin);
  case Builtin::Softmax:
    return {dyn::SoftmaxListOp::create(builder_, at, map(expr, elements(expr)).front())};
  case Builtin::ArgMax:
    return {argMax(expr)};
  default:
    return {reduceList(at, builtin, map(expr, elements(expr)).front())};
  }
}

/// The position in the list, also under a filter (L1).
mlir::Value Lowering::argMax(const BinderExpr &expr) {
  mlir::Location at = location(expr.range);
  if (!expr.filter)
    return reduceList(at, Builtin::ArgMax, map(expr, elements(expr)).front());
  Values lists = zipped(at, lower(*expr.list));
  mlir::Value last = length(at, lists.front());
  lists.push_back(dyn::RangeOp::create(builder_, at, last));
  Values stay = filtered(expr, Values(dyn::ZipOp::create(builder_, at, lists).getResults()));
  mlir::Value position = stay.back();
  stay.pop_back();
  mlir::Value best = reduceList(at, Builtin::ArgMax, map(expr, stay).front());
  return dyn::AtOp::create(builder_, at, builder_.getI32Type(), position, best, mlir::Value());
}

Values Lowering::elements(const BinderExpr &expr) {
  mlir::Location at = location(expr.range);
  Values lists = zipped(at, lower(*expr.list));
  return expr.filter ? filtered(expr, lists) : lists;
}

/// Lists of one length, of which the first are those of the binder.
Values Lowering::filtered(const BinderExpr &expr, const Values &lists) {
  mlir::Location at = location(expr.range);
  auto op = dyn::FilterOp::create(builder_, at, mlir::ValueRange(lists).getTypes(), lists);
  fill(op.getBody(), elementTypes(lists), at, [&](mlir::Block &inner) {
    bindElement(expr, inner);
    return lower(*expr.filter);
  });
  return Values(op.getResults());
}

Values Lowering::map(const BinderExpr &expr, const Values &lists) {
  mlir::Location at = location(expr.range);
  llvm::SmallVector<mlir::Type> results;
  for (mlir::Type type : flatTypes(expr.body.result->type, expr.body.result->range))
    results.push_back(dyn::ListType::get(type));
  auto op = dyn::MapOp::create(builder_, at, results, lists);
  fill(op.getBody(), elementTypes(lists), at, [&](mlir::Block &inner) {
    bindElement(expr, inner);
    return block(expr.body);
  });
  return Values(op.getResults());
}

void Lowering::bindElement(const BinderExpr &expr, mlir::Block &inner) {
  Values values(inner.getArguments());
  values.resize(componentCount(expr.list->type->element));
  bindPattern(*expr.element, values, /*named=*/true);
  bindTables(*expr.element, *expr.list);
}

Values Lowering::recurrence(const BinderExpr &expr, Builtin builtin) {
  mlir::Location at = location(expr.range);
  Values lists = elements(expr), start = lower(*expr.start);
  size_t states = start.size();
  mlir::Value last;
  if (expr.condition) {
    // Whether there is a further step is one more state. What says it is asked only where the list has a
    // further element (S4).
    mlir::Value length = this->length(at, lists[0]);
    last = integer(at, dyn::IntKind::Sub, length, intConstant(at, 1));
    start.push_back(goesOn(expr, intConstant(at, -1), last, start));
    lists.push_back(dyn::RangeOp::create(builder_, at, length));
    lists = zipped(at, lists);
  }
  llvm::SmallVector<mlir::Type> arguments = elementTypes(lists), types, results;
  for (mlir::Value state : start) {
    types.push_back(state.getType());
    results.push_back(dyn::ListType::get(state.getType()));
  }
  arguments.append(types);
  auto body = [&](mlir::Block &inner) {
    Values all(inner.getArguments());
    bindElement(expr, inner);
    bindPattern(*expr.state, Values(llvm::ArrayRef(all).slice(lists.size(), states)), /*named=*/true);
    Values next = block(expr.body);
    if (expr.condition) {
      mlir::Value position = all[lists.size() - 1];
      next.push_back(builtin == Builtin::ScanBack ? goesOn(expr, intConstant(at, 0), position, next)
                                                  : goesOn(expr, position, last, next));
    }
    return next;
  };
  mlir::Operation *op;
  if (builtin == Builtin::Fold) {
    auto fold = dyn::FoldOp::create(builder_, at, types, lists, start, expr.condition != nullptr);
    fill(fold.getBody(), arguments, at, body);
    op = fold;
  } else {
    auto scan = dyn::ScanOp::create(builder_, at, results, lists, start, builtin == Builtin::ScanBack,
                                    expr.condition != nullptr);
    fill(scan.getBody(), arguments, at, body);
    op = scan;
  }
  Values all(op->getResults());
  all.resize(states);
  return all;
}

mlir::Value Lowering::goesOn(const BinderExpr &expr, mlir::Value step, mlir::Value last,
                             const Values &state) {
  mlir::Location at = location(expr.condition->range);
  mlir::Value more = mlir::arith::CmpIOp::create(builder_, at, mlir::arith::CmpIPredicate::slt, step, last);
  auto op = dyn::IfOp::create(builder_, at, builder_.getI1Type(), more);
  fill(op.getThen(), {}, at, [&](mlir::Block &) {
    bindPattern(*expr.state, state, /*named=*/false);
    return lower(*expr.condition);
  });
  fill(op.getOtherwise(), {}, at, [&](mlir::Block &) { return Values{boolConstant(at, false)}; });
  return op.getResult(0);
}

} // namespace dbc::frontend
