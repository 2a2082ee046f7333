// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Collector.h"

namespace dbc::frontend {

void Collector::collectFile(File &file) {
  Names &names = scopes_.namesOf(file);
  for (Import &import : file.imports) {
    Binding *binding = scopes_.newBinding(Binding::Kind::Module, import.name());
    binding->module = import.file;
    scopes_.declare(names, binding);
    scopes_.watch(binding, "import");
  }
  for (DeclPtr &decl : file.decls) {
    if (findBuiltin(decl->name.text))
      error(decl->name.range, "`" + decl->name.text + "` is the name of a built-in function", "N6")
          .hint("choose another name");
    collectDecl(*decl, file, nullptr);
  }
}

void Collector::collectDecl(Decl &decl, const File &file, LayerInfo *layer) {
  bool isModel = &main_ == &file && !layer;
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
  case Decl::Kind::Data:
    binding = scopes_.newBinding(Binding::Kind::Data, decl.name);
    collectData(static_cast<DataDecl &>(decl), *binding);
    break;
  case Decl::Kind::Record:
    binding = scopes_.newBinding(Binding::Kind::Record, decl.name);
    collectRecord(static_cast<RecordDecl &>(decl), *binding, file);
    break;
  case Decl::Kind::Layer:
    binding = scopes_.newBinding(Binding::Kind::Layer, decl.name);
    collectLayer(static_cast<LayerDecl &>(decl), *binding, file);
    break;
  case Decl::Kind::Func:
    binding = scopes_.newBinding(Binding::Kind::Func, decl.name);
    collectFunc(static_cast<FuncDecl &>(decl), *binding, file, layer);
    break;
  }
  binding->decl = &decl;
  decl.resolved = binding;
  scopes_.declare(layer ? scopes_.namesOf(*layer) : scopes_.namesOf(file), binding);
  if (layer) {
    binding->layer = layer;
    layer->members.push_back(binding);
  }
}

void Collector::collectData(DataDecl &decl, Binding &binding) {
  DataInfo &info = out_.dataInfos.emplace_back();
  info.name = decl.name.text;
  info.decl = &decl;
  datas_[&decl] = &info;
  binding.data = &info;
  binding.type = types_.data(&info);
}

void Collector::collectRecord(RecordDecl &decl, Binding &binding, const File &file) {
  RecordInfo &info = out_.recordInfos.emplace_back();
  info.name = decl.name.text;
  info.decl = &decl;
  info.file = &file;
  records_[&decl] = &info;
  declareDims(decl.dims, info.dims, scopes_.namesOf(info));
  binding.record = &info;
}

void Collector::collectLayer(LayerDecl &decl, Binding &binding, const File &file) {
  LayerInfo &info = out_.layerInfos.emplace_back();
  info.name = decl.name.text;
  info.decl = &decl;
  info.file = &file;
  layers_[&decl] = &info;
  declareDims(decl.dims, info.dims, scopes_.namesOf(info));
  for (DeclPtr &member : decl.members)
    collectDecl(*member, file, &info);
  binding.layer = &info;
}

void Collector::collectFunc(FuncDecl &decl, Binding &binding, const File &file, LayerInfo *layer) {
  FuncInfo &info = out_.funcInfos.emplace_back();
  info.name = decl.name.text;
  info.decl = &decl;
  info.file = &file;
  info.layer = layer;
  funcs_[&decl] = &info;
  out_.allFunctions.push_back(&info);
  if (&main_ == &file && !layer)
    out_.functions.push_back(&info);
  declareDims(decl.dims, info.dims, scopes_.namesOf(info));
  binding.func = &info;
}

void Collector::declareDims(const std::vector<Ident> &dims, std::vector<const DimVar *> &infos,
                            Names &names) {
  for (const Ident &name : dims) {
    Binding *binding = scopes_.newBinding(Binding::Kind::Dim, name);
    DimVar *dim = scopes_.newDim(name);
    binding->shape = Shape(dim);
    infos.push_back(dim);
    scopes_.declare(names, binding);
    scopes_.watch(binding, "dim");
  }
}

} // namespace dbc::frontend
