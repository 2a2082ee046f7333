// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Scopes.h"

#include <utility>

namespace dbc::frontend {

Binding *Scopes::newBinding(Binding::Kind kind, const Ident &name) {
  out_.bindings.push_back(std::make_unique<Binding>());
  Binding *binding = out_.bindings.back().get();
  binding->kind = kind;
  binding->name = name.text;
  binding->range = name.range;
  return binding;
}

DimVar *Scopes::newDim(const Ident &name) {
  out_.dimVars.emplace_back();
  DimVar *dim = &out_.dimVars.back();
  dim->name = name.text;
  dim->range = name.range;
  dim->serial = static_cast<uint32_t>(out_.dimVars.size());
  return dim;
}

void Scopes::declare(Names &names, Binding *binding) {
  auto [at, isNew] = names.emplace(binding->name, binding);
  if (!isNew)
    error(binding->range, "`" + binding->name + "` is declared twice", "N1")
        .note(at->second->range, "first declared here");
}

Binding *Scopes::declareLocal(const Ident &name, const Type *type, Binding::LocalKind kind) {
  if (const Binding *local = kind == Binding::LocalKind::Let ? nullptr : locals_.first(name.text)) {
    Diagnostic &diagnostic = error(
        name.range, "`" + name.text + "` is a name here already; names of binders and arms are new", "N1");
    diagnostic.note(local->range, "`" + name.text + "` is declared here");
    diagnostic.hint(kind == Binding::LocalKind::ArmField ? "rename it: `" + name.text + " = other`"
                                                         : "choose another name");
  }
  Binding *binding = newBinding(Binding::Kind::Local, name);
  binding->type = type;
  binding->local = kind;
  locals_.push(binding);
  if (kind == Binding::LocalKind::Let && !reporter_.isTrying())
    watch(binding, "let");
  return binding;
}

void Scopes::bindPattern(Pattern &pattern, const Type *type, Binding::LocalKind kind) {
  pattern.type = type;
  if (pattern.kind == Pattern::Kind::Name) {
    pattern.resolved = declareLocal(pattern.name, type, kind);
    return;
  }
  if (pattern.kind == Pattern::Kind::Wildcard)
    return;
  bool matches = type->isTuple() && type->elements.size() == pattern.elements.size();
  if (!matches && !type->isError()) {
    std::string wants = std::to_string(pattern.elements.size());
    Diagnostic &diagnostic = error(
        pattern.range,
        type->isTuple() ? "the pattern takes " + wants + " elements, its value " + quote(type) + " has " +
                              std::to_string(type->elements.size())
                        : "the pattern takes a tuple of " + wants + " elements, its value is " + quote(type),
        "T5");
    if (type->isTensor())
      diagnostic.hint("`split(x)` cuts a tensor into slices");
  }
  for (size_t i = 0; i < pattern.elements.size(); ++i)
    bindPattern(*pattern.elements[i], matches ? type->elements[i] : types_.error(), kind);
}

Binding *Scopes::lookup(const std::string &name) {
  if (Binding *local = locals_.find(name)) {
    use(local);
    return local;
  }
  for (Names *scope : {dims_, layer_, file_}) {
    if (!scope)
      continue;
    auto at = scope->find(name);
    if (at != scope->end()) {
      use(at->second);
      return at->second;
    }
  }
  if (const BuiltinInfo *info = findBuiltin(name))
    return builtinBinding(info->id);
  return nullptr;
}

Binding *Scopes::lookupIn(const Ident &module, const Ident &name) {
  Binding *binding = lookup(module.text);
  if (!binding) {
    unknownName(module.range, module.text);
    return nullptr;
  }
  if (binding->kind != Binding::Kind::Module) {
    error(module.range, "`" + module.text + "` is not an imported module", "N2");
    return nullptr;
  }
  Names &names = namesOf(*binding->module);
  auto at = names.find(name.text);
  if (at != names.end() && at->second->kind != Binding::Kind::Module) {
    use(at->second);
    return at->second;
  }
  std::vector<std::string> candidates;
  for (auto &entry : names)
    candidates.push_back(entry.first);
  Diagnostic &diagnostic = error(name.range, "module `" + module.text + "` has no `" + name.text + "`", "N2");
  diagnostic.hint(didYouMean(name.text, candidates));
  return nullptr;
}

void Scopes::unknownName(SourceRange range, const std::string &name) {
  Diagnostic &diagnostic = error(range, "`" + name + "` is not declared", "N1");
  std::string idiom = idiomFor(name);
  diagnostic.hint(idiom.empty() ? didYouMean(name, namesInScope()) : idiom);
}

std::vector<std::string> Scopes::namesInScope() const {
  std::vector<std::string> names;
  for (const Binding *local : locals_.all())
    names.push_back(local->name);
  for (Names *scope : {dims_, layer_, file_})
    if (scope)
      for (auto &entry : *scope)
        names.push_back(entry.first);
  names.insert(names.end(), builtinNames().begin(), builtinNames().end());
  return names;
}

Binding *Scopes::builtinBinding(Builtin id) {
  Binding *&binding = builtins_[id];
  if (!binding) {
    binding = newBinding(Binding::Kind::Builtin, {builtinInfo(id).name, {}});
    binding->builtin = id;
  }
  return binding;
}

bool Scopes::namesModule(const Expr &expr) const {
  auto *name = expr.as<NameExpr>();
  if (!name || locals_.find(name->name) || (layer_ && layer_->count(name->name)))
    return false;
  auto at = file_->find(name->name);
  return at != file_->end() && at->second->kind == Binding::Kind::Module;
}

void Scopes::inScope(const File &file, const LayerInfo *layer, const std::function<void()> &f) {
  Names *outerFile = std::exchange(file_, &namesOf(file));
  Names *outerLayer = std::exchange(layer_, layer ? &namesOf(*layer) : nullptr);
  Names *outerDims = std::exchange(dims_, nullptr);
  FuncInfo *outerFunc = std::exchange(func_, nullptr);
  Locals outerLocals = std::exchange(locals_, {});
  f();
  file_ = outerFile;
  layer_ = outerLayer;
  dims_ = outerDims;
  func_ = outerFunc;
  locals_ = std::move(outerLocals);
}

void Scopes::inFunction(FuncInfo &func, const std::function<void()> &f) {
  inScope(*func.file, func.layer, [&] {
    dims_ = &namesOf(func);
    func_ = &func;
    f();
  });
}

void Scopes::withDims(Names &dims, const std::function<void()> &f) {
  Names *outer = std::exchange(dims_, &dims);
  f();
  dims_ = outer;
}

std::vector<const Binding *> Scopes::elementsUsed(size_t mark, const std::function<void()> &f) {
  std::vector<const Binding *> elements, before, used;
  for (size_t i = mark; i < locals_.all().size() && locals_.all()[i]->local == Binding::LocalKind::Element;
       ++i)
    elements.push_back(locals_.all()[i]);
  for (const Binding *element : elements)
    if (used_.erase(element))
      before.push_back(element);
  f();
  for (const Binding *element : elements)
    if (used_.count(element))
      used.push_back(element);
  used_.insert(before.begin(), before.end());
  return used;
}

void Scopes::warnUnused() {
  for (auto &[binding, what] : watched_) {
    if (used_.count(binding))
      continue;
    Diagnostic &diagnostic = reporter_.shown().warning(
        binding->range, std::string(what) + " `" + binding->name + "` is not used", "E2");
    if (binding->kind == Binding::Kind::Local && binding->local == Binding::LocalKind::Let)
      diagnostic.hint("leave it out, or write `_`");
  }
}

} // namespace dbc::frontend
