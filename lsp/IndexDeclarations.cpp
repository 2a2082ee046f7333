// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What files, layers, records and functions declare.
#include "lsp/IndexBuilder.h"

#include <map>

namespace dbc::lsp {

using namespace frontend;

void IndexBuilder::build() {
  for (const auto &file : program_.files) // imported ones first
    declareFile(*file);
  for (const auto &file : program_.files)
    visitFile(*file);
}

IndexBuilder::Declared IndexBuilder::declare(NameKind kind, const Ident &name, SourceRange text) {
  Symbol &symbol = out_.symbols_.emplace_back();
  symbol.kind = kind;
  symbol.name = name.text;
  symbol.declarations.push_back(name.range);
  symbol.text = text;
  // `data A(..);` has a constructor of the same name at the same place: what is declared first stands for
  // both.
  out_.setDeclared(name.range, symbol);
  Occurrence &occurrence = add(name.range, *out_.declaredAt(name.range));
  occurrence.isDeclaration = true;
  return {symbol, occurrence};
}

void IndexBuilder::declareFile(const File &file) {
  const SourceRange all{file.id, 0, SourceRange::kNoFile};
  Scope &scope = newScope(all, nullptr);
  out_.files_[&file] = &scope;
  Symbol &own =
      declare(file.isModule ? NameKind::Module : NameKind::Model, file.name, file.name.range).symbol;
  own.file = &file;
  declareImports(file);
  for (const DeclPtr &decl : file.decls)
    declareDecl(*decl, scope, nullptr);
}

/// A module's name stands for the file, wherever it is imported.
void IndexBuilder::declareImports(const File &file) {
  Scope &scope = const_cast<Scope &>(*out_.scopeOf(&file));
  for (const Import &import : file.imports)
    if (const Symbol *module = import.file ? out_.declaredAt(import.file->name.range) : nullptr) {
      for (const Ident &part : import.path)
        occur(part.range, module);
      // The file may name itself otherwise.
      scope.names[import.name().text].push_back({module, 0});
    }
}

void IndexBuilder::declareDecl(const Decl &decl, Scope &scope, const Symbol *layer) {
  static const std::map<Decl::Kind, NameKind> kinds = {
      {Decl::Kind::Dim, NameKind::Dim},       {Decl::Kind::Const, NameKind::Const},
      {Decl::Kind::Param, NameKind::Param},   {Decl::Kind::Data, NameKind::Data},
      {Decl::Kind::Record, NameKind::Record}, {Decl::Kind::Layer, NameKind::Layer},
      {Decl::Kind::Func, NameKind::Func}};
  SourceRange text = decl.range;
  auto *func = decl.as<FuncDecl>();
  if (func)
    text.end = func->body.range.begin;
  Symbol &symbol = declare(kinds.at(decl.kind), decl.name, text).symbol;
  symbol.decl = &decl;
  symbol.owner = layer;
  if (decl.resolved &&
      (decl.kind == Decl::Kind::Param || decl.kind == Decl::Kind::Const || decl.kind == Decl::Kind::Data))
    symbol.type = decl.resolved->type;
  scope.add(&symbol);
  if (auto *data = decl.as<DataDecl>())
    declareData(*data, &symbol);
  else if (auto *record = decl.as<RecordDecl>())
    declareRecord(*record, scope, &symbol);
  else if (auto *inner = decl.as<LayerDecl>())
    declareLayer(*inner, scope, &symbol);
  else if (func)
    declareFunc(*func, scope);
}

void IndexBuilder::declareData(const DataDecl &data, const Symbol *owner) {
  std::map<std::string, Symbol *> fields;
  for (const Constructor &constructor : data.constructors) {
    const bool isOwn = constructor.name.range == data.name.range;
    if (!isOwn) {
      Symbol &symbol = declare(NameKind::Constructor, constructor.name, constructor.range).symbol;
      symbol.decl = &data;
      symbol.owner = owner;
    }
    for (const Field &field : constructor.fields) {
      Symbol *&symbol = fields[field.name.text];
      if (!symbol) {
        symbol = &declare(NameKind::Field, field.name, field.range).symbol;
        symbol->decl = &data;
        symbol->owner = owner;
        symbol->type = field.annotation->type;
        continue;
      }
      symbol->declarations.push_back(field.name.range);
      out_.setDeclared(field.name.range, *symbol);
      Occurrence &occurrence = add(field.name.range, *symbol);
      occurrence.isDeclaration = true;
      occurrence.type = field.annotation->type;
    }
  }
}

void IndexBuilder::declareRecord(const RecordDecl &record, Scope &scope, const Symbol *owner) {
  Scope &inner = newScope(record.range, &scope);
  scopes_[&record] = &inner;
  declareDims(record.dims, inner, owner);
  for (const Field &field : record.fields) {
    Symbol &symbol = declare(NameKind::Field, field.name, field.range).symbol;
    symbol.decl = &record;
    symbol.owner = owner;
    symbol.type = field.annotation->type;
  }
}

void IndexBuilder::declareLayer(const LayerDecl &layer, Scope &scope, const Symbol *owner) {
  Scope &inner = newScope(layer.range, &scope);
  scopes_[&layer] = &inner;
  declareDims(layer.dims, inner, owner);
  for (const DeclPtr &member : layer.members)
    declareDecl(*member, inner, owner);
}

void IndexBuilder::declareFunc(const FuncDecl &func, Scope &scope) {
  Scope &inner = newScope(func.range, &scope);
  scopes_[&func] = &inner;
  declareDims(func.dims, inner, nullptr);
  for (const FuncArg &arg : func.args)
    inner.add(&declareLocal(arg.name, arg.resolved).symbol);
}

void IndexBuilder::declareDims(const std::vector<Ident> &dims, Scope &scope, const Symbol *owner) {
  for (const Ident &dim : dims) {
    Symbol &symbol = declare(NameKind::Dim, dim, dim.range).symbol;
    symbol.owner = owner;
    scope.add(&symbol);
  }
}

IndexBuilder::Declared IndexBuilder::declareLocal(const Ident &name, const Binding *binding) {
  Declared local = declare(NameKind::Local, name, {});
  if (binding) {
    local.symbol.type = binding->type;
    local.symbol.local = binding->local;
  }
  return local;
}

//===----------------------------------------------------------------------===//
// Going through declarations
//===----------------------------------------------------------------------===//

void IndexBuilder::visitFile(const File &file) {
  for (const DeclPtr &decl : file.decls)
    visitDecl(*decl, *out_.scopeOf(&file));
}

void IndexBuilder::visitDecl(const Decl &decl, const Scope &scope) {
  if (auto *dim = decl.as<DimDecl>()) {
    if (dim->value)
      visit(*dim->value, scope);
  } else if (auto *number = decl.as<ConstDecl>()) {
    if (number->annotation)
      visitType(*number->annotation, scope);
  } else if (auto *param = decl.as<ParamDecl>()) {
    visitParam(*param, scope);
  } else if (auto *data = decl.as<DataDecl>()) {
    for (const Constructor &constructor : data->constructors)
      for (const Field &field : constructor.fields)
        visitType(*field.annotation, scope);
  } else if (auto *record = decl.as<RecordDecl>()) {
    for (const Field &field : record->fields)
      visitType(*field.annotation, *scopes_[record]);
  } else if (auto *layer = decl.as<LayerDecl>()) {
    for (const DeclPtr &member : layer->members)
      visitDecl(*member, *scopes_[layer]);
  } else if (auto *func = decl.as<FuncDecl>()) {
    visitFunc(*func);
  }
}

void IndexBuilder::visitParam(const ParamDecl &param, const Scope &scope) {
  visitType(*param.annotation, scope);
  if (!param.init || param.init->kind == Init::Kind::Number)
    return;
  const Init::Kind kind = param.init->kind;
  occurWord(param.init->range, kind == Init::Kind::Uniform  ? "uniform"
                               : kind == Init::Kind::Normal ? "normal"
                                                            : "glorot");
}

void IndexBuilder::visitFunc(const FuncDecl &func) {
  const Scope &scope = *scopes_[&func];
  for (const FuncArg &arg : func.args) {
    if (arg.annotation)
      visitType(*arg.annotation, scope);
    for (const Expr *bound : {arg.low.get(), arg.high.get()})
      if (bound)
        visit(*bound, scope);
  }
  if (func.result)
    visitType(*func.result, scope);
  if (func.measure)
    visit(*func.measure, scope);
  visitBlock(func.body, scope);
}

void IndexBuilder::visitType(const TypeExpr &type, const Scope &scope) {
  addTyped(type.range, type.type);
  switch (type.kind) {
  case TypeExpr::Kind::F32:
    occurWord(type.range, "f32", type.type);
    break;
  case TypeExpr::Kind::Int:
    occurWord(type.range, "int", type.type);
    break;
  case TypeExpr::Kind::Bool:
    occurWord(type.range, "bool", type.type);
    break;
  case TypeExpr::Kind::Index:
    occurWord(type.range, "index", type.type);
    break;
  case TypeExpr::Kind::Named:
    occurQualified(type.module, type.name, type.type, scope);
    break;
  default:
    break;
  }
  if (type.bound)
    visit(*type.bound, scope);
  for (const ExprPtr &extent : type.shape)
    visit(*extent, scope);
  for (const TypeExprPtr &element : type.elements)
    visitType(*element, scope);
  if (type.count)
    visit(*type.count, scope);
}

} // namespace dbc::lsp
