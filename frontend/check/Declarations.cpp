// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Declarations.h"

#include <cmath>
#include <limits>

namespace dbc::frontend {

void Declarations::resolveDims(File &file) {
  scopes_.inScope(file, nullptr, [&] {
    for (DeclPtr &decl : file.decls)
      if (decl->kind == Decl::Kind::Dim)
        shapes_.resolveDim(*decl->resolved);
      else if (decl->kind == Decl::Kind::Const)
        resolveConst(*decl->resolved);
  });
}

void Declarations::resolveConst(Binding &binding) {
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

void Declarations::resolveMembers(File &file) {
  scopes_.inScope(file, nullptr, [&] { resolveAll(file.decls); });
  for (DeclPtr &decl : file.decls)
    if (auto *layer = decl->as<LayerDecl>())
      scopes_.inScope(file, &collector_.infoOf(*layer), [&] { resolveAll(layer->members); });
}

void Declarations::resolveAll(std::vector<DeclPtr> &decls) {
  // Signatures ask what records hold: those come first.
  for (DeclPtr &decl : decls)
    if (auto *data = decl->as<DataDecl>())
      resolveData(*data);
    else if (auto *record = decl->as<RecordDecl>())
      scopes_.withDims(scopes_.namesOf(collector_.infoOf(*record)), [&] { resolveRecord(*record); });
  for (DeclPtr &decl : decls)
    if (decl->kind == Decl::Kind::Param || decl->kind == Decl::Kind::Const) {
      resolveParam(*decl->resolved);
    } else if (auto *func = decl->as<FuncDecl>()) {
      FuncInfo &info = collector_.infoOf(*func);
      scopes_.withDims(scopes_.namesOf(info), [&] { functions_.resolveSignature(info); });
    }
}

void Declarations::resolveData(DataDecl &decl) {
  constexpr size_t kMostConstructors = 256; // which one a node is, is a byte
  DataInfo &info = collector_.infoOf(decl);
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
                              resolver_.resolve(*field.annotation, TypeResolver::Context::Field)});
    }
    info.constructors.push_back(std::move(built));
  }
}

void Declarations::resolveRecord(RecordDecl &decl) {
  RecordInfo &info = collector_.infoOf(decl);
  std::vector<const Type *> fieldTypes;
  if (decl.fields.empty())
    error(decl.name.range, "record `" + info.name + "` has no fields", "T5");
  for (Field &field : decl.fields) {
    int twice = info.fieldIndex(field.name.text);
    if (twice >= 0)
      error(field.name.range, "`" + info.name + "` has two fields `" + field.name.text + "`", "N1")
          .note(info.fields[twice].range, "first declared here");
    const Type *type = resolver_.resolve(*field.annotation, TypeResolver::Context::Other);
    info.fields.push_back({field.name.text, field.name.range, type});
    fieldTypes.push_back(type);
  }
  dims_.checkInferable(info.dims, fieldTypes, "record `" + info.name + "`");
}

void Declarations::resolveParam(Binding &binding) {
  if (auto *decl = binding.decl->as<ConstDecl>()) {
    if (!decl->annotation)
      return;
    binding.type = resolver_.resolve(*decl->annotation, TypeResolver::Context::Const);
    return;
  }
  auto *decl = static_cast<const ParamDecl *>(binding.decl);
  binding.type = resolver_.resolve(*decl->annotation, TypeResolver::Context::Param);
  if (decl->init)
    checkInit(binding, *decl->init);
}

void Declarations::checkInit(const Binding &param, const Init &init) {
  if (param.type->isLayer() || param.type->isTable())
    error(init.range, "`" + param.name + "` is a layer; only its own params can be given a start", "N6");
  if (init.kind == Init::Kind::Glorot && param.type->isNumber() && param.type->rank() < 2)
    error(init.range, "`" + param.name + "` is " + quote(param.type) + "; `glorot` is over the last two axes",
          "N6")
        .hint("write `uniform(low, high)` or `normal(mean, deviation)`");
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

} // namespace dbc::frontend
