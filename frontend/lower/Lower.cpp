// The order of lowering: declarations, entries and losses, then the cells that they turned out to need.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"
#include "ir/Dyn/Recursion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dbc::frontend {

static void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<dyn::DynDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::tensor::TensorDialect, mlir::linalg::LinalgDialect>();
}

mlir::OwningOpRef<mlir::ModuleOp> lower(const Program &program, CheckedProgram &checked,
                                        const DimValues &dims, mlir::MLIRContext &context,
                                        DiagnosticEngine &diags, bool train) {
  loadDialects(context);
  return Lowering(program, checked, dims, context, diags, train).run();
}

void checkSizes(const Program &program, CheckedProgram &checked, const DimValues &dims,
                mlir::MLIRContext &context, DiagnosticEngine &diags, bool train) {
  loadDialects(context);
  Lowering(program, checked, dims, context, diags, train).lowerAll();
}

mlir::OwningOpRef<mlir::ModuleOp> Lowering::run() {
  const size_t errors = diags_.errorCount();
  mlir::OwningOpRef<mlir::ModuleOp> module = lowerAll();
  if (diags_.errorCount() > errors || mlir::failed(mlir::verify(module_)))
    return {};
  simplify(module_);
  keyDropouts();
  if (mlir::failed(mlir::verify(module_)))
    return {};
  return module;
}

/// The module as it is written, with the errors in it.
mlir::OwningOpRef<mlir::ModuleOp> Lowering::lowerAll() {
  const File &model = program_.main();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(location(model.name.range), model.name.text);
  module_ = *module;
  builder_.setInsertionPointToEnd(module_.getBody());
  // The generated header has constants of them.
  llvm::SmallVector<mlir::NamedAttribute> dims;
  for (const auto &[dim, value] : fileDims_)
    dims.push_back(builder_.getNamedAttr(dim->name, builder_.getI64IntegerAttr(value)));
  for (const DeclPtr &decl : model.decls) { // and those that are made of others
    const Binding *dim = decl->kind == Decl::Kind::Dim ? decl->resolved : nullptr;
    if (dim && llvm::none_of(dims, [&](mlir::NamedAttribute known) { return known.getName() == dim->name; }))
      if (std::optional<int64_t> value = dim->shape.evaluate(fileDims_))
        dims.push_back(builder_.getNamedAttr(dim->name, builder_.getI64IntegerAttr(*value)));
  }
  dyn::DynDialect::DimsAttrHelper(builder_.getContext()).setAttr(module_, builder_.getDictionaryAttr(dims));
  Frame top;
  top.dims = fileDims_;
  frame_ = &top;

  // Types name data types, so all symbols come first. Those of modules step back where the model has the
  // name.
  std::set<std::string> taken;
  for (const FuncInfo *func : checked_.functions)
    taken.insert(func->name);
  for (const Binding *param : checked_.params)
    taken.insert(param->name);
  for (const DataInfo *data : checked_.datas) {
    std::string symbol = data->name;
    while (!taken.insert(symbol).second)
      symbol += "'";
    dataSymbols_[data] = symbol;
  }
  for (const DataInfo *data : checked_.datas)
    lowerData(*data);
  for (const Binding *param : checked_.params)
    lowerParam(*param, {});
  for (const FuncInfo *func : checked_.functions)
    if (func->decl->funcKind == FuncDecl::FuncKind::Entry || func->decl->funcKind == FuncDecl::FuncKind::Loss)
      lowerEntry(*func);
  // Cells stand before the entries, in the order in which they were first called.
  auto entries = module_.getOps<dyn::EntryOp>();
  if (!entries.empty())
    builder_.setInsertionPoint(*entries.begin());
  while (!cellsToLower_.empty()) {
    CellInstance cell = std::move(cellsToLower_.front());
    cellsToLower_.pop_front();
    lowerCell(*cell.func, cell.self, cell.symbol);
  }
  frame_ = nullptr;
  return module;
}

/// Equal expressions once (C8), nothing that is not used, constants folded. Only patterns of the dialects
/// whose operations a `dyn` module is made of: those of linalg would make other forms of products.
void Lowering::simplify(mlir::ModuleOp module) {
  mlir::RewritePatternSet patterns(&context_);
  for (llvm::StringRef name : {"arith", "dyn", "tensor"})
    context_.getOrLoadDialect(name)->getCanonicalizationPatterns(patterns);
  for (mlir::RegisteredOperationName op : context_.getRegisteredOperations()) {
    llvm::StringRef dialect = op.getDialectNamespace();
    if (dialect == "arith" || dialect == "dyn" || dialect == "tensor")
      op.getCanonicalizationPatterns(patterns, &context_);
  }
  mlir::GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
  mlir::FrozenRewritePatternSet frozen(std::move(patterns));
  // Until nothing is left that a pass could drop: the interpreter would still compute it, and fail by it.
  bool changed = true;
  for (int round = 0; changed && round < 10; ++round) {
    changed = false;
    (void)mlir::applyPatternsGreedily(module, frozen,
                                      config); // it stops early on endless rewriting; that is fine
    mlir::IRRewriter rewriter(&context_);
    mlir::DominanceInfo dominance(module);
    mlir::eliminateCommonSubExpressions(rewriter, dominance, module, &changed);
    changed |= dyn::dropUnusedValues(module);
  }
}

//===--------------------------------------------------------------------===//
// Data types and parameters
//===--------------------------------------------------------------------===//

void Lowering::lowerData(const DataInfo &data) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  auto op = dyn::DataOp::create(builder_, location(data.decl->name.range), dataSymbols_[&data]);
  builder_.setInsertionPointToEnd(&op.getBody().emplaceBlock());
  for (const ConstructorInfo &constructor : data.constructors) {
    llvm::SmallVector<mlir::Attribute> names, types;
    for (const FieldInfo &field : constructor.fields) {
      names.push_back(builder_.getStringAttr(field.name));
      types.push_back(mlir::TypeAttr::get(surfaceType(field.type, field.range)));
    }
    dyn::CtorOp::create(builder_, location(constructor.range), constructor.name, builder_.getArrayAttr(names),
                        builder_.getArrayAttr(types));
  }
}

dyn::InitAttr Lowering::initOf(const ParamDecl &decl, size_t rank) {
  dyn::InitKind kind = rank >= 2 ? dyn::InitKind::Glorot : dyn::InitKind::Constant; // N6
  double a = 0, b = 0;
  if (decl.init) {
    a = decl.init->first;
    b = decl.init->second;
    switch (decl.init->kind) {
    case Init::Kind::Number:
      kind = dyn::InitKind::Constant;
      break;
    case Init::Kind::Uniform:
      kind = dyn::InitKind::Uniform;
      break;
    case Init::Kind::Normal:
      kind = dyn::InitKind::Normal;
      break;
    case Init::Kind::Glorot:
      kind = dyn::InitKind::Glorot;
      break;
    }
  }
  return dyn::InitAttr::get(&context_, kind, builder_.getF64FloatAttr(a), builder_.getF64FloatAttr(b));
}

/// A parameter, a tensor const, or all that a layer consists of. `frame_` holds the owner's dims.
void Lowering::lowerParam(const Binding &param, const LayerInstance &owner) {
  std::string path = owner.member(param.name);
  SourceRange range = param.decl->name.range;
  if (param.type->isLayer() || param.type->isTable()) {
    bool table = param.type->isTable();
    LayerInstance instance = instanceOf(table ? param.type->element : param.type, path, range);
    instance.tables = owner.tables;
    if (table)
      instance.tables.push_back(extent(param.type->count, range));
    Frame inner;
    inner.self = instance;
    inner.dims = fileDims_;
    inner.dims.insert(instance.dims.begin(), instance.dims.end());
    Frame *outer = std::exchange(frame_, &inner);
    for (const Binding *member : instance.layer->members)
      if (member->kind == Binding::Kind::Param || (member->kind == Binding::Kind::Const && member->type))
        lowerParam(*member, instance);
    frame_ = outer;
    return;
  }
  bool isConst = param.kind == Binding::Kind::Const;
  dyn::InitAttr init;
  if (!isConst)
    init = initOf(*param.decl->as<ParamDecl>(), param.type->rank());
  mlir::Type type = numberType(param.type, range);
  llvm::SmallVector<int64_t> extents(llvm::ArrayRef<int64_t>(owner.tables));
  llvm::append_range(extents, dyn::extents(type));
  dyn::ParamOp::create(builder_, location(range), path, withExtents(type, extents), init, isConst);
}

//===--------------------------------------------------------------------===//
// Functions
//===--------------------------------------------------------------------===//

Frame Lowering::frameFor(const FuncInfo &func, const LayerInstance &self) {
  Frame frame;
  frame.self = func.layer ? self : LayerInstance();
  frame.dims = fileDims_;
  frame.dims.insert(frame.self.dims.begin(), frame.self.dims.end());
  return frame;
}

void Lowering::bindArguments(llvm::ArrayRef<const Binding *> arguments, mlir::Block &block) {
  for (const Binding *argument : arguments) {
    Values values;
    for (mlir::Type type : flatTypes(argument->type, argument->range))
      values.push_back(block.addArgument(type, location(argument->range)));
    nameValues(values, argument->name, argument->type);
    frame_->locals[argument] = std::move(values);
  }
}

void Lowering::lowerEntry(const FuncInfo &func) {
  Frame frame = frameFor(func, {});
  frame.place = func.name;
  Frame *outer = std::exchange(frame_, &frame);
  checkSizes(func);
  llvm::SmallVector<mlir::Attribute> names, types;
  for (const Binding *argument : func.arguments) {
    names.push_back(builder_.getStringAttr(argument->name));
    types.push_back(mlir::TypeAttr::get(surfaceType(argument->type, argument->range)));
  }
  SourceRange range = func.decl->name.range;
  auto entry = dyn::EntryOp::create(
      builder_, location(range), func.name, builder_.getArrayAttr(names), builder_.getArrayAttr(types),
      builder_.getTypeArrayAttr(flatTypes(func.result, range)), surfaceType(func.result, range),
      func.decl->funcKind == FuncDecl::FuncKind::Loss);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Block &body = entry.getBody().emplaceBlock();
  bindArguments(Bindings(func.arguments.begin(), func.arguments.end()), body);
  builder_.setInsertionPointToEnd(&body);
  Values results = block(func.decl->body);
  dyn::ReturnOp::create(builder_, location(func.decl->body.result->range), results);
  frame_ = outer;
}

void Lowering::lowerCell(const FuncInfo &func, LayerInstance self, const std::string &symbol) {
  self.at.clear();
  Frame frame = frameFor(func, self);
  frame.place = symbol;
  Frame *outer = std::exchange(frame_, &frame);
  checkSizes(func);
  SourceRange range = func.decl->name.range;
  auto [keys, values] = parametersOf(func);
  unsigned ranges = llvm::count_if(keys, [](const Binding *key) { return !key->type->isNode(); });
  auto cell = dyn::CellOp::create(builder_, location(range), symbol,
                                  builder_.getTypeArrayAttr(flatTypes(func.result, range)),
                                  surfaceType(func.result, range), ranges + self.tables.size());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Block &body = cell.getBody().emplaceBlock();
  size_t valueCount = 0;
  for (const Binding *value : values)
    valueCount += flatTypes(value->type, value->range).size();
  if (valueCount > 0)
    cell.setValueCount(valueCount);
  lowerRanges(func, cell);
  bindArguments(keys, body);
  // Which layers of the tables that the layer stands in: secondary keys (C2).
  for (size_t table = 0; table < self.tables.size(); ++table)
    frame.self.at.push_back(body.addArgument(
        builder_.getI32Type(), mlir::NameLoc::get(builder_.getStringAttr("layer"), location(range))));
  bindArguments(values, body);
  builder_.setInsertionPointToEnd(&body);
  Values results = block(func.decl->body);
  dyn::ReturnOp::create(builder_, location(func.decl->body.result->range), results);
  frame_ = outer;
}

std::pair<Lowering::Bindings, Lowering::Bindings> Lowering::parametersOf(const FuncInfo &cell) {
  Bindings keys, values;
  for (const Binding *argument : cell.arguments)
    (argument->type->isKey() ? keys : values).push_back(argument);
  return {keys, values};
}

/// The ranges of the keys that are numbers, each in terms of the keys before it and of the values, of which
/// the lengths of lists are known.
void Lowering::lowerRanges(const FuncInfo &func, dyn::CellOp cell) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  unsigned number = 0;
  auto [keys, values] = parametersOf(func);
  for (auto [k, key] : llvm::enumerate(keys)) {
    if (key->type->isNode())
      continue;
    mlir::Block &range = cell.getRanges()[number++].emplaceBlock();
    bindArguments(llvm::ArrayRef(keys).take_front(k), range);
    bindArguments(values, range);
    builder_.setInsertionPointToEnd(&range);
    mlir::Location at = location(key->range);
    const FuncArg &arg = func.decl->args[llvm::find(func.arguments, key) - func.arguments.begin()];
    mlir::Value low, high;
    if (arg.ranged()) {
      low = lowerOne(*arg.low);
      high = lowerOne(*arg.high);
    } else {
      low = intConstant(at, 0);
      high = intConstant(at, key->type->isScalar(Scalar::Bool) ? 2 : extent(key->type->bound, key->range));
    }
    dyn::YieldOp::create(builder_, at, mlir::ValueRange{low, high});
  }
  mlir::Location at = location(func.decl->name.range);
  for (size_t table = 0; table < frame_->self.tables.size(); ++table) {
    mlir::Block &range = cell.getRanges()[number++].emplaceBlock();
    bindArguments(keys, range);
    for (size_t before = 0; before < table; ++before)
      range.addArgument(builder_.getI32Type(), at);
    bindArguments(values, range);
    builder_.setInsertionPointToEnd(&range);
    mlir::Value low = intConstant(at, 0), high = intConstant(at, frame_->self.tables[table]);
    dyn::YieldOp::create(builder_, at, mlir::ValueRange{low, high});
  }
}

std::string Lowering::cellSymbol(const FuncInfo &func, const LayerInstance &self) {
  auto [at, fresh] = cellSymbols_.try_emplace({&func, self.path});
  if (fresh) {
    // A cell at the top of a module is named as the model calls it.
    bool ofModule = !func.layer && func.file != &program_.main();
    at->second = ofModule ? func.file->name.text + "." + func.name : self.member(func.name);
    cellsToLower_.push_back({&func, self, at->second});
  }
  return at->second;
}

} // namespace dbc::frontend
