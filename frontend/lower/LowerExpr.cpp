// Blocks, names, members, records, calls of functions, conversions.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"

namespace dbc::frontend {

Values Lowering::lower(const Expr &expr) {
  // A table of layers goes about as the list of their numbers.
  if (expr.type->isTable()) {
    mlir::Location at = location(expr.range);
    return {dyn::RangeOp::create(builder_, at, intConstant(at, tableOf(expr).tables.back()))};
  }
  // What is made of dims and numbers alone is a number now.
  if (expr.type->isScalar() && (expr.type->scalar == Scalar::Int || expr.type->scalar == Scalar::Index))
    if (std::optional<Shape> shape = CheckedProgram::asShape(expr))
      return {intConstant(location(expr.range), number(*shape, expr.range))};
  switch (expr.kind) {
  case Expr::Kind::Number:
    return {constant(location(expr.range), expr.as<NumberExpr>()->value, numberType(expr.type, expr.range))};
  case Expr::Kind::Bool:
    return {boolConstant(location(expr.range), expr.as<BoolExpr>()->value)};
  case Expr::Kind::Name:
    return name(*expr.as<NameExpr>());
  case Expr::Kind::Tuple: {
    Values values;
    for (const ExprPtr &element : expr.as<TupleExpr>()->elements)
      values.append(lower(*element));
    return values;
  }
  case Expr::Kind::Join:
    return expr.type->isList() ? emptyLists(expr) : Values{join(*expr.as<JoinExpr>())};
  case Expr::Kind::If:
    return ifElse(*expr.as<IfExpr>());
  case Expr::Kind::Match:
    return match(*expr.as<MatchExpr>());
  case Expr::Kind::Binder:
    return binder(*expr.as<BinderExpr>());
  case Expr::Kind::Unary:
    return {unary(*expr.as<UnaryExpr>())};
  case Expr::Kind::Binary:
    return expr.type->isList() ? append(*expr.as<BinaryExpr>()) : Values{binary(*expr.as<BinaryExpr>())};
  case Expr::Kind::Range:
    return range(*expr.as<RangeExpr>());
  case Expr::Kind::Member:
    return member(*expr.as<MemberExpr>());
  case Expr::Kind::Call:
    return call(*expr.as<CallExpr>());
  case Expr::Kind::Subscript:
    return subscript(*expr.as<SubscriptExpr>());
  case Expr::Kind::Record:
    return record(*expr.as<RecordExpr>());
  }
  return {};
}

mlir::Value Lowering::lowerOne(const Expr &expr) {
  Values values = lower(expr);
  assert(values.size() == 1 && "a number, a node or a list of these is one value");
  return values.front();
}

Values Lowering::block(const CodeBlock &block) {
  for (const Let &let : block.lets)
    bindPattern(*let.pattern, lower(*let.value), /*named=*/true);
  return lower(*block.result);
}

void Lowering::bindPattern(const Pattern &pattern, Values values, bool named) {
  switch (pattern.kind) {
  case Pattern::Kind::Wildcard:
    return;
  case Pattern::Kind::Name:
    if (named)
      nameValues(values, pattern.name.text, pattern.type);
    frame_->locals[pattern.resolved] = std::move(values);
    return;
  case Pattern::Kind::Tuple: {
    llvm::ArrayRef<mlir::Value> rest(values);
    for (const PatternPtr &element : pattern.elements) {
      size_t count = componentCount(element->type);
      bindPattern(*element, Values(rest.take_front(count)), named);
      rest = rest.drop_front(count);
    }
    return;
  }
  }
}

//===--------------------------------------------------------------------===//
// Names and members
//===--------------------------------------------------------------------===//

Values Lowering::name(const NameExpr &expr) { return binding(*expr.resolved, expr); }

Values Lowering::binding(const Binding &binding, const Expr &expr) {
  mlir::Location at = location(expr.range);
  switch (binding.kind) {
  case Binding::Kind::Local: {
    auto local = frame_->locals.find(&binding);
    assert(local != frame_->locals.end() && "a local is bound before it is used");
    return local->second;
  }
  case Binding::Kind::Dim:
    return {constant(at, static_cast<double>(number(binding.shape, expr.range)),
                     numberType(expr.type, expr.range))};
  case Binding::Kind::Const:
    if (!binding.type)
      return {constant(at, binding.value, numberType(expr.type, expr.range))};
    [[fallthrough]];
  case Binding::Kind::Param: {
    return {parameter(at, binding.name, numberType(expr.type, expr.range),
                      binding.layer ? frame_->self : LayerInstance())};
  }
  default:
    assert(false && "the checker lets only values through");
    return {};
  }
}

mlir::Value Lowering::parameter(mlir::Location at, const std::string &name, mlir::Type type,
                                const LayerInstance &owner) {
  llvm::SmallVector<int64_t> extents(llvm::ArrayRef<int64_t>(owner.tables));
  llvm::append_range(extents, dyn::extents(type));
  mlir::Value value = dyn::GetOp::create(builder_, at, withExtents(type, extents), owner.member(name));
  for (mlir::Value which : owner.at)
    value = gather(at, value, which, /*checked=*/false);
  return value;
}

/// The instance that an expression of a layer's type stands for.
LayerInstance Lowering::layerOf(const Expr &expr) {
  assert(expr.type->isLayer());
  if (auto *subscript = expr.as<SubscriptExpr>()) {
    LayerInstance layer = tableOf(*subscript->base);
    const auto &axis = static_cast<const Subscripts &>(*subscript->resolved).axes[0];
    mlir::Location at = location(expr.range);
    mlir::Value which =
        axis.isStatic ? intConstant(at, number(axis.begin, expr.range)) : lowerOne(*subscript->subs[0].index);
    if (axis.checked)
      which = narrow(at, which, layer.tables.back());
    layer.at.push_back(which);
    return layer;
  }
  const Binding &binding = *expr.resolved;
  if (binding.kind == Binding::Kind::Local) {
    LayerInstance layer = frame_->tables.at(&binding);
    layer.at.push_back(frame_->locals.at(&binding).front());
    return layer;
  }
  return memberOf(expr, expr.type);
}

LayerInstance Lowering::tableOf(const Expr &expr) {
  assert(expr.type->isTable());
  LayerInstance table = memberOf(expr, expr.type->element);
  table.tables.push_back(extent(expr.type->count, expr.range));
  return table;
}

/// A param that is a layer, or a table of such, of a layer or the file.
LayerInstance Lowering::memberOf(const Expr &expr, const Type *layer) {
  const Binding &binding = *expr.resolved;
  assert(binding.kind == Binding::Kind::Param);
  LayerInstance owner;
  auto *member = expr.as<MemberExpr>();
  if (member && member->base->type && member->base->type->isLayer())
    owner = layerOf(*member->base);
  else if (binding.layer)
    owner = frame_->self;
  LayerInstance instance = instanceOf(layer, owner.member(binding.name), expr.range);
  instance.tables = owner.tables;
  instance.at = owner.at;
  return instance;
}

void Lowering::bindTables(const Pattern &pattern, const Expr &list) {
  if (list.type->isTable()) {
    if (pattern.kind == Pattern::Kind::Name)
      frame_->tables[pattern.resolved] = tableOf(list);
    return;
  }
  auto *call = list.as<CallExpr>();
  auto *zip = call ? static_cast<const Call *>(call->resolved) : nullptr;
  if (!zip || zip->target != Call::Target::Builtin || zip->builtin != Builtin::Zip ||
      pattern.kind != Pattern::Kind::Tuple)
    return;
  for (size_t i = 0; i < call->args.size(); ++i)
    bindTables(*pattern.elements[i], *call->args[i]);
}

Values Lowering::member(const MemberExpr &expr) {
  const Binding &binding = *expr.resolved;
  const Type *base = expr.base->type;
  if (base && base->isLayer()) {
    if (binding.kind == Binding::Kind::Const && !binding.type)
      return this->binding(binding, expr);
    return {parameter(location(expr.range), binding.name, numberType(expr.type, expr.range),
                      layerOf(*expr.base))};
  }
  if (binding.kind != Binding::Kind::Field) // a name of a module
    return this->binding(binding, expr);
  Values values = lower(*expr.base);
  if (base->isNode())
    return {field(values.front(), *base->data, expr.member.text, expr.type, nullptr, expr.range)};
  size_t first = 0;
  for (unsigned i = 0; i < binding.index; ++i)
    first += componentCount(base->record->fields[i].type);
  return Values(
      llvm::ArrayRef(values).slice(first, componentCount(base->record->fields[binding.index].type)));
}

mlir::Value Lowering::field(mlir::Value node, const DataInfo &data, const std::string &name, const Type *type,
                            const std::string *constructor, SourceRange range) {
  if (!constructor && data.constructors.size() == 1)
    constructor = &data.constructors[0].name;
  auto of = constructor ? builder_.getStringAttr(*constructor) : mlir::StringAttr();
  return dyn::FieldOp::create(builder_, location(range), flatTypes(type, range).front(), node, name, of);
}

Values Lowering::record(const RecordExpr &expr) {
  // Evaluated in the order of the text, put together in that of the declaration.
  std::map<std::string, Values> given;
  for (const FieldInit &field : expr.fields)
    given[field.name.text] = lower(*field.value);
  Values values;
  for (const FieldInfo &field : expr.type->record->fields)
    values.append(given[field.name]);
  return values;
}

//===--------------------------------------------------------------------===//
// Calls
//===--------------------------------------------------------------------===//

Values Lowering::call(const CallExpr &expr) {
  const Call &call = static_cast<const Call &>(*expr.resolved);
  switch (call.target) {
  case Call::Target::Function:
    return callFunction(expr, call);
  case Call::Target::Conversion:
    return {convert(expr, call)};
  case Call::Target::Builtin:
    return builtin(expr, call);
  }
  return {};
}

Values Lowering::callFunction(const CallExpr &expr, const Call &call) {
  const FuncInfo &func = *call.func;
  LayerInstance self;
  if (func.layer)
    self = call.receiver ? layerOf(*call.receiver) : frame_->self;
  llvm::SmallVector<Values> arguments;
  for (const ExprPtr &argument : expr.args)
    arguments.push_back(lower(*argument));

  if (func.decl->funcKind == FuncDecl::FuncKind::Cell) {
    Values keys, values;
    for (auto [parameter, argument] : llvm::zip(func.arguments, arguments))
      (parameter->type->isKey() ? keys : values).append(argument);
    keys.append(self.at.begin(), self.at.end());
    auto op = dyn::CallOp::create(builder_, location(expr.range), flatTypes(expr.type, expr.range),
                                  cellSymbol(func, self), keys, values, mlir::FlatSymbolRefAttr(),
                                  mlir::ValueRange());
    return Values(op.getResults());
  }

  Frame frame = frameFor(func, self);
  frame.place = placeOf(self.member(func.name));
  frame.at = frame_->at;
  frame.at.insert(self.at.begin(), self.at.end());
  for (auto &[dim, shape] : call.dims)
    frame.dims[dim] = number(shape, expr.range);
  for (size_t i = 0; i < arguments.size(); ++i)
    frame.locals[func.arguments[i]] = std::move(arguments[i]);
  bool fresh = inlining_.insert(&func).second || func.layer;
  assert(fresh && "a fn is not recursive");
  (void)fresh;
  Frame *outer = std::exchange(frame_, &frame);
  checkSizes(func);
  Values results = block(func.decl->body);
  frame_ = outer;
  inlining_.erase(&func);
  return results;
}

mlir::Value Lowering::convert(const CallExpr &expr, const Call &call) {
  const Expr &operand = *expr.args[0];
  mlir::Value x = lowerOne(operand);
  mlir::Location at = location(expr.range);
  mlir::Type to = numberType(expr.type, expr.range), from = dyn::scalar(x.getType());
  switch (call.builtin) {
  case Builtin::F32:
    if (from.isF32())
      return x;
    if (from.isInteger(1))
      return mlir::arith::UIToFPOp::create(builder_, at, to, x);
    return mlir::arith::SIToFPOp::create(builder_, at, to, x);
  case Builtin::Int:
    if (from.isF32())
      return harmless(mlir::arith::FPToSIOp::create(builder_, at, to, x));
    if (from.isInteger(1))
      return mlir::arith::ExtUIOp::create(builder_, at, to, x);
    return x;
  case Builtin::Bool: {
    if (from.isInteger(1))
      return x;
    mlir::Value zero = constant(at, 0, x.getType());
    if (from.isF32())
      return mlir::arith::CmpFOp::create(builder_, at, mlir::arith::CmpFPredicate::UNE, x, zero);
    return mlir::arith::CmpIOp::create(builder_, at, mlir::arith::CmpIPredicate::ne, x, zero);
  }
  default:
    return narrow(at, x, extent(expr.type->bound, expr.range));
  }
}

} // namespace dbc::frontend
