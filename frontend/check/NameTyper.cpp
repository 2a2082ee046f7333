// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/NameTyper.h"

namespace dbc::frontend {

const Type *NameTyper::inferName(NameExpr &expr) {
  Binding *binding = scopes_.lookup(expr.name);
  if (!binding) {
    for (const DataInfo &data : out_.dataInfos) {
      int constructor = data.constructorIndex(expr.name);
      if (constructor < 0)
        continue;
      error(expr.range,
            "`" + expr.name + "` is a constructor of `" + data.name +
                "`; data comes from the application, programs never build it",
            "D1")
          .note(data.constructors[constructor].range, "declared here")
          .hint("constructors stand in the arms of a `match`");
      return fail();
    }
    scopes_.unknownName(expr.range, expr.name);
    return fail();
  }
  expr.resolved = binding;
  return valueOfBinding(expr, binding);
}

const Type *NameTyper::valueOfBinding(Expr &expr, Binding *binding) {
  auto refuse = [&](const std::string &what, const char *rule, const std::string &hint) {
    Diagnostic &diagnostic = error(expr.range, quote(expr) + " is " + what + ", not a value", rule);
    if (binding->range.valid())
      diagnostic.note(binding->range, "`" + binding->name + "` is declared here");
    diagnostic.hint(hint);
    return fail();
  };
  switch (binding->kind) {
  case Binding::Kind::Local:
    return binding->type;
  case Binding::Kind::Dim:
    return types_.number(Scalar::IntLiteral);
  case Binding::Kind::Const:
    if (binding->type)
      return binding->type;
    return types_.number(CheckedProgram::asShape(*static_cast<const ConstDecl *>(binding->decl)->value)
                             ? Scalar::IntLiteral
                             : Scalar::FloatLiteral);
  case Binding::Kind::Param:
    return binding->type;
  case Binding::Kind::Func:
    return refuse((binding->func->decl->funcKind == FuncDecl::FuncKind::Entry ? "an " : "a ") +
                      std::string(spelling(binding->func->decl->funcKind)),
                  "C1", "call it: `" + reporter_.text(expr.range) + "(..)`");
  case Binding::Kind::Data:
    return refuse("a data type", "D1", "");
  case Binding::Kind::Record:
    return refuse("a record type", "T5", "a record is made by `" + binding->name + " { .. }`");
  case Binding::Kind::Layer:
    return refuse("a layer", "N3", "declare a param of it: `param p: " + binding->name + "[..];`");
  case Binding::Kind::Module:
    return refuse("a module", "N2", "its names are used as `" + binding->name + ".name`");
  default:
    return refuse("a built-in function", "N1",
                  std::string("call it: `") + builtinInfo(binding->builtin).usage + "`");
  }
}

const Type *NameTyper::inferMember(MemberExpr &expr) {
  if (scopes_.namesModule(*expr.base)) {
    auto &module = static_cast<NameExpr &>(*expr.base);
    Binding *binding = scopes_.lookupIn({module.name, module.range}, expr.member);
    if (!binding)
      return fail();
    expr.resolved = binding;
    return valueOfBinding(expr, binding);
  }
  const Type *base = value(*expr.base);
  switch (base->kind) {
  case Type::Kind::Error:
    return fail();
  case Type::Kind::Data:
    return inferNodeField(expr, *base->data);
  case Type::Kind::Record:
    return inferRecordField(expr, base);
  case Type::Kind::Layer:
    return inferLayerMember(expr, base);
  case Type::Kind::Tuple:
    return refuse(expr.member.range, quote(*expr.base) + " is a tuple; tuples are taken apart by patterns",
                  "T5", "write `let (a, b) = ..;`");
  default:
    break;
  }
  const std::string &name = expr.member.text;
  Diagnostic &diagnostic =
      error(expr.member.range, quote(*expr.base) + " is " + quote(base) + ", which has no `" + name + "`",
            base->isList() ? "L1" : "T5");
  if (name == "T" && base->isTensor())
    diagnostic.hint("write `transpose(x)`");
  else if (findBuiltin(name))
    diagnostic.hint(std::string("write `") + findBuiltin(name)->usage + "`");
  else
    diagnostic.hint(idiomFor(name));
  return fail();
}

const Type *NameTyper::inferRecordField(MemberExpr &expr, const Type *type) {
  const RecordInfo &record = *type->record;
  const std::string &name = expr.member.text;
  int field = record.fieldIndex(name);
  if (field < 0) {
    std::vector<std::string> names;
    for (const FieldInfo &info : record.fields)
      names.push_back(info.name);
    error(expr.member.range, "record `" + record.name + "` has no `" + name + "`", "T5")
        .note(record.decl->name.range, "`" + record.name + "` is declared here")
        .hint(didYouMean(name, names));
    return fail();
  }
  DimMap bindings;
  for (size_t i = 0; i < type->arguments.size(); ++i)
    bindings[record.dims[i]] = type->arguments[i];
  Binding *binding = scopes_.newBinding(Binding::Kind::Field, expr.member);
  binding->range = record.fields[field].range;
  binding->record = &record;
  binding->index = static_cast<unsigned>(field);
  binding->type = types_.substitute(record.fields[field].type, bindings);
  expr.resolved = binding;
  return binding->type;
}

const Type *NameTyper::inferLayerMember(MemberExpr &expr, const Type *type) {
  const LayerInfo &layer = *type->layer;
  const std::string &name = expr.member.text;
  const Binding *member = layer.member(name);
  if (!member) {
    std::vector<std::string> names;
    for (const Binding *candidate : layer.members)
      names.push_back(candidate->name);
    error(expr.member.range, "layer `" + layer.name + "` has no `" + name + "`", "N3")
        .note(layer.decl->name.range, "`" + layer.name + "` is declared here")
        .hint(didYouMean(name, names));
    return fail();
  }
  scopes_.use(member);
  expr.resolved = const_cast<Binding *>(member);
  return types_.substitute(valueOfBinding(expr, expr.resolved), layer.bind(type->arguments));
}

const Type *NameTyper::inferNodeField(MemberExpr &expr, const DataInfo &data) {
  const std::string &name = expr.member.text;
  const FieldInfo *first = nullptr, *other = nullptr;
  std::vector<const ConstructorInfo *> without;
  std::vector<std::string> names;
  for (const ConstructorInfo &constructor : data.constructors) {
    for (const FieldInfo &field : constructor.fields)
      names.push_back(field.name);
    int field = constructor.fieldIndex(name);
    if (field < 0)
      without.push_back(&constructor);
    else if (!first)
      first = &constructor.fields[field];
    else if (constructor.fields[field].type != first->type)
      other = &constructor.fields[field];
  }
  if (!first) {
    error(expr.member.range, "`" + data.name + "` has no field `" + name + "`", "T6")
        .note(data.decl->name.range, "`" + data.name + "` is declared here")
        .hint(didYouMean(name, names));
    return fail();
  }
  if (!without.empty()) {
    Diagnostic &diagnostic = error(expr.member.range,
                                   "not every constructor of `" + data.name + "` has a field `" + name +
                                       "`, which " + quote(expr) + " needs",
                                   "T6");
    for (const ConstructorInfo *constructor : without)
      diagnostic.note(constructor->range, "`" + constructor->name + "` has none");
    diagnostic.hint("`match` on " + quote(*expr.base) + ", and bind `" + name + "` in the arms that have it");
    return fail();
  }
  if (other) {
    error(expr.member.range, "field `" + name + "` has more than one type in `" + data.name + "`", "T6")
        .note(first->range, "here it is " + quote(first->type))
        .note(other->range, "here it is " + quote(other->type))
        .hint("`match` on " + quote(*expr.base));
    return fail();
  }
  Binding *binding = scopes_.newBinding(Binding::Kind::Field, expr.member);
  binding->range = first->range;
  binding->data = &data;
  binding->type = first->type;
  expr.resolved = binding;
  return first->type;
}

const Type *NameTyper::inferRecord(RecordExpr &expr) {
  for (FieldInit &field : expr.fields)
    infer(*field.value);
  Binding *binding =
      expr.module ? scopes_.lookupIn(expr.module, expr.record) : scopes_.lookup(expr.record.text);
  if (!binding) {
    if (!expr.module)
      scopes_.unknownName(expr.record.range, expr.record.text);
    return fail();
  }
  SourceRange name = expr.module ? expr.module.range.to(expr.record.range) : expr.record.range;
  if (binding->kind != Binding::Kind::Record) {
    Diagnostic &diagnostic = error(name, quote(name) + " is not a record", "T5");
    if (binding->range.valid())
      diagnostic.note(binding->range, "`" + binding->name + "` is declared here");
    return fail();
  }
  expr.resolved = binding;
  const RecordInfo &record = *binding->record;
  std::optional<DimMap> dims = dimsOfFields(expr, record, name);
  if (!dims)
    return fail();
  bool fine = true;
  for (FieldInit &field : expr.fields) {
    const FieldInfo &declared = record.fields[record.fieldIndex(field.name.text)];
    const Type *type = types_.substitute(declared.type, *dims);
    fine &= coercion_.require(*field.value, type, "`" + field.name.text + "` of `" + record.name + "` is",
                              declared.range);
  }
  if (!fine)
    return fail();
  std::vector<Shape> arguments;
  for (const DimVar *dim : record.dims)
    arguments.push_back((*dims)[dim]);
  return types_.record(&record, std::move(arguments));
}

std::optional<DimMap> NameTyper::dimsOfFields(RecordExpr &expr, const RecordInfo &record, SourceRange name) {
  std::vector<std::string> names;
  for (const FieldInfo &field : record.fields)
    names.push_back(field.name);
  bool fine = true, known = true;
  std::map<std::string, const FieldInit *> given;
  std::set<const DimVar *> own(record.dims.begin(), record.dims.end());
  DimMap bindings;
  for (FieldInit &field : expr.fields) {
    int index = record.fieldIndex(field.name.text);
    if (index < 0) {
      error(field.name.range, "record `" + record.name + "` has no `" + field.name.text + "`", "T5")
          .note(record.decl->name.range, "`" + record.name + "` is declared here")
          .hint(didYouMean(field.name.text, names));
      fine = known = false;
      continue;
    }
    auto [at, isNew] = given.emplace(field.name.text, &field);
    if (!isNew) {
      error(field.name.range, "`" + field.name.text + "` is given twice", "T5")
          .note(at->second->name.range, "first given here");
      fine = false;
      continue;
    }
    fine &= !field.value->type->isError();
    DimInference::match(record.fields[index].type, field.value->type, own, bindings);
  }
  std::string missing;
  for (const std::string &field : names)
    if (!given.count(field))
      missing += (missing.empty() ? "`" : ", `") + field + "`";
  if (!missing.empty() && known) {
    error(name, quote(name) + " is made without " + missing, "T5")
        .note(record.decl->name.range, "`" + record.name + "` is declared here");
    fine = false;
  }
  if (!fine || !dims_.requireAll(record.dims, bindings, expr.range, "record `" + record.name + "`"))
    return std::nullopt;
  return bindings;
}

} // namespace dbc::frontend
