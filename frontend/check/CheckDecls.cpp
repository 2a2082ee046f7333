// Declarations: what they introduce, and what is wrong with them before any body is looked at.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dbc::frontend {

//===--------------------------------------------------------------------===//
// Collecting names
//===--------------------------------------------------------------------===//

void Checker::declareDims(const std::vector<Ident> &dims, std::vector<const DimVar *> &infos, Names &names) {
  for (const Ident &name : dims) {
    Binding *binding = scopes_.newBinding(Binding::Kind::Dim, name);
    DimVar *dim = scopes_.newDim(name);
    binding->shape = Shape(dim);
    infos.push_back(dim);
    scopes_.declare(names, binding);
    scopes_.watch(binding, "dim");
  }
}

void Checker::collectFile(File &file) {
  FileScope &scope = scopes_.of(file);
  for (Import &import : file.imports) {
    Binding *binding = scopes_.newBinding(Binding::Kind::Module, import.name());
    binding->module = import.file;
    scopes_.declare(scope.names, binding);
    scopes_.watch(binding, "import");
  }
  for (DeclPtr &decl : file.decls) {
    if (findBuiltin(decl->name.text))
      error(decl->name.range, "`" + decl->name.text + "` is the name of a built-in function", "N6")
          .hint("choose another name");
    collectDecl(*decl, scope, nullptr);
  }
}

void Checker::collectDecl(Decl &decl, FileScope &scope, LayerScope *layer) {
  auto &names = layer ? layer->names : scope.names;
  bool isModel = &program_.main() == scope.file && !layer;
  Binding *binding = nullptr;
  switch (decl.kind) {
  case Decl::Kind::Dim:
    binding = scopes_.newBinding(Binding::Kind::Dim, decl.name);
    if (isModel)
      out_.dims.push_back(binding);
    scopes_.watch(binding, "dim");
    break;
  case Decl::Kind::Const:
    binding = scopes_.newBinding(Binding::Kind::Const, decl.name);
    if (isModel && static_cast<ConstDecl &>(decl).annotation)
      out_.params.push_back(binding);
    break;
  case Decl::Kind::Param:
    binding = scopes_.newBinding(Binding::Kind::Param, decl.name);
    if (isModel)
      out_.params.push_back(binding);
    scopes_.watch(binding, "param");
    break;
  case Decl::Kind::Data: {
    binding = scopes_.newBinding(Binding::Kind::Data, decl.name);
    out_.dataInfos.emplace_back();
    DataInfo &info = out_.dataInfos.back();
    info.name = decl.name.text;
    info.decl = static_cast<DataDecl *>(&decl);
    dataOf_[&decl] = &info;
    binding->data = &info;
    binding->type = types_.data(&info);
    break;
  }
  case Decl::Kind::Record: {
    binding = scopes_.newBinding(Binding::Kind::Record, decl.name);
    out_.recordInfos.emplace_back();
    RecordInfo &info = out_.recordInfos.back();
    info.name = decl.name.text;
    info.decl = static_cast<RecordDecl *>(&decl);
    info.file = scope.file;
    recordOf_[&decl] = &info;
    declareDims(info.decl->dims, info.dims, scopes_.dimsOf(info));
    binding->record = &info;
    break;
  }
  case Decl::Kind::Layer:
    binding = scopes_.newBinding(Binding::Kind::Layer, decl.name);
    collectLayer(static_cast<LayerDecl &>(decl), scope);
    binding->layer = layerOf_[&decl];
    break;
  case Decl::Kind::Func: {
    binding = scopes_.newBinding(Binding::Kind::Func, decl.name);
    out_.funcInfos.emplace_back();
    FuncInfo &info = out_.funcInfos.back();
    info.name = decl.name.text;
    info.decl = static_cast<FuncDecl *>(&decl);
    info.file = scope.file;
    info.layer = layer ? layer->info : nullptr;
    funcs_[&decl] = &info;
    out_.allFunctions.push_back(&info);
    if (isModel)
      out_.functions.push_back(&info);
    declareDims(info.decl->dims, info.dims, scopes_.dimsOf(info));
    binding->func = &info;
    break;
  }
  }
  binding->decl = &decl;
  if (layer)
    binding->layer = layer->info;
  decl.resolved = binding;
  scopes_.declare(names, binding);
  if (layer)
    layer->info->members.push_back(binding);
}

void Checker::collectLayer(LayerDecl &decl, FileScope &scope) {
  out_.layerInfos.emplace_back();
  LayerInfo &info = out_.layerInfos.back();
  info.name = decl.name.text;
  info.decl = &decl;
  info.file = scope.file;
  layerOf_[&decl] = &info;
  LayerScope &layer = scopes_.of(info);
  layer.info = &info;
  declareDims(decl.dims, info.dims, layer.names);
  for (DeclPtr &member : decl.members)
    collectDecl(*member, scope, &layer);
}

//===--------------------------------------------------------------------===//
// Dims and consts
//===--------------------------------------------------------------------===//

void Checker::resolveDims(File &file) {
  scopes_.inScope(scopes_.of(file), nullptr, [&] {
    for (DeclPtr &decl : file.decls)
      if (decl->kind == Decl::Kind::Dim)
        shapes_.resolveDim(*decl->resolved);
      else if (decl->kind == Decl::Kind::Const)
        resolveConst(*decl->resolved);
  });
}

void Checker::resolveConst(Binding &binding) {
  auto *decl = static_cast<const ConstDecl *>(binding.decl);
  if (!decl->value) {
    binding.type = types_.error();
    return; // a tensor: resolveMembers
  }
  const Expr *value = decl->value.get();
  double sign = 1;
  while (auto *unary = value->as<UnaryExpr>()) {
    sign = -sign;
    value = unary->operand.get();
  }
  if (auto *number = value->as<NumberExpr>())
    binding.value = sign * number->value;
}

//===--------------------------------------------------------------------===//
// Data, records, params
//===--------------------------------------------------------------------===//

void Checker::resolveMembers(File &file) {
  // Signatures ask what records hold: those come first.
  auto resolve = [&](std::vector<DeclPtr> &decls) {
    for (DeclPtr &decl : decls) {
      if (decl->kind == Decl::Kind::Data)
        resolveData(static_cast<DataDecl &>(*decl));
      else if (decl->kind == Decl::Kind::Record)
        scopes_.withDims(scopes_.dimsOf(*recordOf_[decl.get()]),
                         [&] { resolveRecord(static_cast<RecordDecl &>(*decl)); });
    }
    for (DeclPtr &decl : decls) {
      if (decl->kind == Decl::Kind::Param || decl->kind == Decl::Kind::Const)
        resolveParam(*decl->resolved);
      else if (decl->kind == Decl::Kind::Func)
        scopes_.withDims(scopes_.dimsOf(*funcs_[decl.get()]), [&] { resolveSignature(*funcs_[decl.get()]); });
    }
  };
  FileScope &scope = scopes_.of(file);
  scopes_.inScope(scope, nullptr, [&] { resolve(file.decls); });
  for (DeclPtr &decl : file.decls)
    if (auto *layer = decl->as<LayerDecl>())
      scopes_.inScope(scope, &scopes_.of(*layerOf_[layer]), [&] { resolve(layer->members); });
}

void Checker::resolveData(DataDecl &decl) {
  constexpr size_t kMostConstructors = 256; // which one a node is, is a byte
  DataInfo &info = *dataOf_[&decl];
  out_.datas.push_back(&info);
  if (decl.constructors.size() > kMostConstructors)
    error(decl.constructors[kMostConstructors].name.range,
          "`" + decl.name.text + "` has " + std::to_string(decl.constructors.size()) +
              " constructors; a data type has at most " + std::to_string(kMostConstructors),
          "D1");
  for (Constructor &constructor : decl.constructors) {
    int first = info.constructorIndex(constructor.name.text);
    if (first >= 0)
      error(constructor.name.range,
            "`" + decl.name.text + "` has two constructors `" + constructor.name.text + "`", "N1")
          .note(info.constructors[first].range, "first declared here");
    ConstructorInfo built;
    built.name = constructor.name.text;
    built.range = constructor.name.range;
    for (Field &field : constructor.fields) {
      int twice = built.fieldIndex(field.name.text);
      if (twice >= 0)
        error(field.name.range, "`" + built.name + "` has two fields `" + field.name.text + "`", "N1")
            .note(built.fields[twice].range, "first declared here");
      built.fields.push_back({field.name.text, field.name.range,
                              resolver_.resolve(*field.annotation, TypeResolver::Place::Field)});
    }
    info.constructors.push_back(std::move(built));
  }
}

void Checker::resolveRecord(RecordDecl &decl) {
  RecordInfo &info = *recordOf_[&decl];
  std::vector<const Type *> places;
  if (decl.fields.empty())
    error(decl.name.range, "record `" + info.name + "` has no fields", "T5");
  for (Field &field : decl.fields) {
    int twice = info.fieldIndex(field.name.text);
    if (twice >= 0)
      error(field.name.range, "`" + info.name + "` has two fields `" + field.name.text + "`", "N1")
          .note(info.fields[twice].range, "first declared here");
    const Type *type = resolver_.resolve(*field.annotation, TypeResolver::Place::Other);
    info.fields.push_back({field.name.text, field.name.range, type});
    places.push_back(type);
  }
  dims_.checkInferable(info.dims, places, "record `" + info.name + "`");
}

void Checker::resolveParam(Binding &binding) {
  if (auto *decl = binding.decl->as<ConstDecl>()) {
    if (!decl->annotation)
      return;
    binding.type = resolver_.resolve(*decl->annotation, TypeResolver::Place::Const);
    return;
  }
  auto *decl = static_cast<const ParamDecl *>(binding.decl);
  binding.type = resolver_.resolve(*decl->annotation, TypeResolver::Place::Param);
  if (decl->init && (binding.type->kind == Type::Kind::Layer || binding.type->kind == Type::Kind::Table))
    error(decl->init->range, "`" + binding.name + "` is a layer; only its own params can be given a start",
          "N6");
  if (decl->init && decl->init->kind == Init::Kind::Glorot && binding.type->isNumber() &&
      binding.type->rank() < 2)
    error(decl->init->range,
          "`" + binding.name + "` is " + quote(binding.type) + "; `glorot` is over the last two axes", "N6")
        .hint("write `uniform(low, high)` or `normal(mean, deviation)`");
  if (decl->init)
    checkInit(*decl->init);
}

void Checker::checkInit(const Init &init) {
  for (double number : {init.first, init.second})
    if (!(std::fabs(number) <= std::numeric_limits<float>::max())) {
      error(init.range, "a param starts from numbers that `f32` holds", "N6");
      return;
    }
  if (init.kind == Init::Kind::Uniform && init.first > init.second)
    error(init.range, "`uniform(low, high)` goes from the lower to the higher number", "N6");
  if (init.kind == Init::Kind::Normal && init.second < 0)
    error(init.range, "the deviation of `normal(mean, deviation)` is not negative", "N6");
}

//===--------------------------------------------------------------------===//
// Functions
//===--------------------------------------------------------------------===//

void Checker::resolveSignature(FuncInfo &func) {
  auto *decl = const_cast<FuncDecl *>(func.decl);
  std::vector<const Type *> places;
  for (size_t i = 0; i < decl->args.size(); ++i) {
    FuncArg &arg = decl->args[i];
    Binding *binding = scopes_.newBinding(Binding::Kind::Local, arg.name);
    binding->local = Binding::LocalKind::Argument;
    binding->index = static_cast<unsigned>(i);
    for (const Binding *earlier : func.arguments)
      if (earlier->name == arg.name.text)
        error(arg.name.range, "`" + arg.name.text + "` is declared twice", "N1")
            .note(earlier->range, "first declared here");
    if (arg.ranged())
      binding->type = typeOfRange(func, arg);
    else
      binding->type = resolver_.resolveBounded(*arg.annotation, TypeResolver::Place::Argument);
    places.push_back(binding->type);
    arg.resolved = binding;
    func.arguments.push_back(binding);
    scopes_.watch(binding, "parameter");
    if (arg.ranged() && decl->funcKind != FuncDecl::FuncKind::Cell)
      error(arg.range, "`" + arg.name.text + "` states a range; only keys of cells do", "C2")
          .hint("write `" + arg.name.text + ": int`");
  }
  dims_.checkInferable(func.dims, places, "`" + func.name + "`");
  resolveFuncResult(func);
  if (decl->funcKind == FuncDecl::FuncKind::Cell)
    resolveCellArguments(func);
}

void Checker::resolveFuncResult(FuncInfo &func) {
  auto *decl = const_cast<FuncDecl *>(func.decl);
  bool loss = decl->funcKind == FuncDecl::FuncKind::Loss;
  if (!decl->result) {
    func.result = types_.f32();
    return;
  }
  func.result = resolver_.resolveBounded(*decl->result, TypeResolver::Place::Other);
  const Type *result = func.result;
  if (loss && !result->isError() && !result->isScalar(Scalar::F32) &&
      !(result->isTuple() && result->parts[0]->isScalar(Scalar::F32)))
    error(decl->result->range,
          "loss `" + func.name + "` gives " + quote(result) +
              "; the first part of a loss's tuple is its `f32`",
          "G3")
        .hint("write `-> (f32, ..)`, or no type at all");
  if (decl->funcKind == FuncDecl::FuncKind::Cell && holdsNode(result))
    error(decl->result->range, "cell `" + func.name + "` gives nodes; what a cell keeps is numbers", "C1")
        .hint("make it a `fn`");
}

const Type *Checker::typeOfRange(const FuncInfo &func, FuncArg &arg) {
  // `0..n` with n a shape has elements index[n] (C2). The bounds are inferred later, when all signatures are
  // known; here their names say enough.
  std::function<bool(const Expr &)> isShape = [&](const Expr &expr) {
    if (auto *number = expr.as<NumberExpr>())
      return number->isInteger;
    if (auto *name = expr.as<NameExpr>()) {
      for (const Binding *earlier : func.arguments)
        if (earlier->name == name->name)
          return false;
      Binding *binding = scopes_.lookup(name->name);
      return binding && (binding->kind == Binding::Kind::Dim ||
                         (binding->kind == Binding::Kind::Const && !binding->type));
    }
    auto *binary = expr.as<BinaryExpr>();
    using Op = BinaryExpr::Op;
    return binary &&
           (binary->op == Op::Add || binary->op == Op::Sub || binary->op == Op::Mul ||
            binary->op == Op::Div) &&
           isShape(*binary->lhs) && isShape(*binary->rhs);
  };
  auto *low = arg.low->as<NumberExpr>();
  if (!low || !low->isInteger || low->integer != 0 || !isShape(*arg.high))
    return types_.integer();
  std::optional<Shape> high = shapes_.resolveShape(*arg.high);
  if (!high)
    return types_.error();
  return high->constant() && *high->constant() < 1 ? types_.integer() : types_.index(*high);
}

void Checker::resolveCellArguments(FuncInfo &func) {
  const FuncDecl *decl = func.decl;
  bool key = false;
  for (const FuncArg &arg : decl->args) {
    const Type *type = arg.resolved->type;
    key |= type->isError() || type->isKey();
    if (type->isScalar(Scalar::Int) && !arg.ranged())
      error(arg.range,
            "key `" + arg.name.text + "` of cell `" + func.name +
                "` is a plain `int`; int keys state their range",
            "C2")
          .hint("write `" + arg.name.text + " in 0..n`");
    else if ((type->isRecord() || type->isTuple()) && holdsNode(type))
      error(arg.range, "`" + arg.name.text + "` holds nodes; records and tuples given to cells hold none",
            "C2")
          .hint("make the node a parameter of its own");
  }
  if (!key)
    error(decl->name.range, "cell `" + func.name + "` has no key; a cell is kept for each node, index or int",
          "C2")
        .hint("make it a `fn`");
}

void Checker::checkFunction(FuncInfo &func) {
  auto *decl = const_cast<FuncDecl *>(func.decl);
  scopes_.inFunction(func, [&] {
    for (FuncArg &arg : decl->args) {
      if (arg.ranged()) {
        coercion_.require(*arg.low, (expressions_.infer(*arg.low), types_.integer()), "a range's bound is");
        coercion_.require(*arg.high, (expressions_.infer(*arg.high), types_.integer()), "a range's bound is");
      }
      scopes_.enterArgument(arg.resolved);
    }
    if (decl->measure) {
      expressions_.infer(*decl->measure);
      coercion_.require(*decl->measure, types_.integer(), "a measure is");
    }
    expressions_.inferBlock(decl->body);
    const std::string place = std::string(spelling(decl->funcKind)) + " `" + func.name + "` gives";
    const Expr &gives = *decl->body.result;
    if (!decl->result && gives.type && gives.type->isTuple() && gives.type->parts[0]->isScalar(Scalar::F32))
      coercion_.reportMismatch(gives, func.result, place)
          .hint("what a loss gives beside its number stands in its type: `-> " + gives.type->str() + "`");
    else
      coercion_.require(*decl->body.result, func.result, place,
                        decl->result ? decl->result->range : SourceRange());
  });
}

} // namespace dbc::frontend
