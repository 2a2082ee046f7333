// The order of the checker's work; scopes and names; what is unused; binding of sizes.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"

#include <algorithm>

namespace dbc::frontend {

std::unique_ptr<CheckedProgram> check(Program &program, DiagnosticEngine &diags) {
  auto out = std::make_unique<CheckedProgram>();
  Reporter reporter(diags);
  Checker(program, reporter, *out).run();
  return out;
}

void Checker::run() {
  for (auto &file : program_.files)
    collectFile(*file);
  for (auto &file : program_.files)
    resolveDims(*file);
  for (auto &file : program_.files)
    resolveMembers(*files_[file.get()]);
  checkRecordsFinite();
  bool finite = checkLayersFinite();

  for (FuncInfo &func : out_.funcInfos)
    checkFunction(func);
  if (finite)
    checkCallGraph();
  // Structure is followed through whole calls: that needs a tree without holes. So does what is unused.
  if (!reporter_.shown().hasErrors())
    checkStructure();
  if (!reporter_.shown().hasErrors())
    warnUnused();
}

//===--------------------------------------------------------------------===//
// Scopes
//===--------------------------------------------------------------------===//

Binding *Checker::newBinding(Binding::Kind kind, const Ident &name) {
  out_.bindings.push_back(std::make_unique<Binding>());
  Binding *binding = out_.bindings.back().get();
  binding->kind = kind;
  binding->name = name.text;
  binding->range = name.range;
  return binding;
}

void Checker::declare(std::map<std::string, Binding *> &names, Binding *binding) {
  auto [at, isNew] = names.emplace(binding->name, binding);
  if (!isNew)
    error(binding->range, "`" + binding->name + "` is declared twice", "N1")
        .note(at->second->range, "first declared here");
}

Binding *Checker::builtinBinding(Builtin id) {
  Binding *&binding = builtins_[id];
  if (!binding) {
    binding = newBinding(Binding::Kind::Builtin, {builtinInfo(id).name, {}});
    binding->builtin = id;
  }
  return binding;
}

Binding *Checker::lookup(const std::string &name) {
  if (Binding *local = locals_.find(name)) {
    use(local);
    return local;
  }
  std::map<std::string, Binding *> *scopes[] = {dims_, layer_ ? &layer_->names : nullptr,
                                                file_ ? &file_->names : nullptr};
  for (auto *scope : scopes) {
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

std::vector<std::string> Checker::namesInScope() const {
  std::vector<std::string> names;
  for (const Binding *local : locals_.all())
    names.push_back(local->name);
  for (auto *scope : {dims_, layer_ ? &layer_->names : nullptr, file_ ? &file_->names : nullptr})
    if (scope)
      for (auto &entry : *scope)
        names.push_back(entry.first);
  names.insert(names.end(), builtinNames().begin(), builtinNames().end());
  return names;
}

void Checker::unknownName(SourceRange range, const std::string &name, const std::string &what) {
  Diagnostic &diagnostic = error(range, "`" + name + "` is not declared" + what, "N1");
  std::string idiom = idiomFor(name);
  if (!idiom.empty()) {
    diagnostic.hint(idiom);
    return;
  }
  std::string near = didYouMean(name, namesInScope());
  if (!near.empty())
    diagnostic.hint(near);
}

FileScope *Checker::scopeOf(const File *file) {
  auto at = files_.find(file);
  return at == files_.end() ? nullptr : at->second.get();
}

Binding *Checker::lookupIn(const Ident &module, const Ident &name) {
  Binding *binding = lookup(module.text);
  if (!binding) {
    unknownName(module.range, module.text);
    return nullptr;
  }
  if (binding->kind != Binding::Kind::Module) {
    error(module.range, "`" + module.text + "` is not an imported module", "N2");
    return nullptr;
  }
  FileScope *scope = scopeOf(binding->module);
  if (!scope)
    return nullptr;
  auto at = scope->names.find(name.text);
  if (at != scope->names.end() && at->second->kind != Binding::Kind::Module) {
    use(at->second);
    return at->second;
  }
  std::vector<std::string> candidates;
  for (auto &entry : scope->names)
    candidates.push_back(entry.first);
  Diagnostic &diagnostic = error(name.range, "module `" + module.text + "` has no `" + name.text + "`", "N2");
  std::string near = didYouMean(name.text, candidates);
  if (!near.empty())
    diagnostic.hint(near);
  return nullptr;
}

//===--------------------------------------------------------------------===//
// Unused things
//===--------------------------------------------------------------------===//

void Checker::warnUnused() {
  for (auto &[binding, what] : watched_) {
    if (used_.count(binding))
      continue;
    Diagnostic &diagnostic = reporter_.shown().warning(
        binding->range, std::string(what) + " `" + binding->name + "` is not used", "E2");
    if (binding->kind == Binding::Kind::Local && binding->local == Binding::LocalKind::Let)
      diagnostic.hint("leave it out, or write `_`");
  }
}

//===--------------------------------------------------------------------===//
// Shapes of expressions
//===--------------------------------------------------------------------===//

std::optional<Shape> CheckedProgram::asShape(const Expr &expr) {
  if (auto *number = expr.as<NumberExpr>()) {
    if (!number->isInteger)
      return std::nullopt;
    return Shape(number->integer);
  }
  if (expr.resolved && expr.resolved->kind == Binding::Kind::Dim)
    return expr.resolved->shape;
  // A tensor const has no value; its type may not be known yet.
  if (expr.resolved && expr.resolved->kind == Binding::Kind::Const)
    if (const ExprPtr &value = static_cast<const ConstDecl *>(expr.resolved->decl)->value)
      return asShape(*value);
  if (auto *unary = expr.as<UnaryExpr>()) {
    std::optional<Shape> operand = asShape(*unary->operand);
    if (unary->op != UnaryExpr::Op::Minus || !operand)
      return std::nullopt;
    return Shape() - *operand;
  }
  if (auto *binary = expr.as<BinaryExpr>()) {
    std::optional<Shape> lhs = asShape(*binary->lhs), rhs = asShape(*binary->rhs);
    if (!lhs || !rhs)
      return std::nullopt;
    switch (binary->op) {
    case BinaryExpr::Op::Add:
      return *lhs + *rhs;
    case BinaryExpr::Op::Sub:
      return *lhs - *rhs;
    case BinaryExpr::Op::Mul:
      return *lhs * *rhs;
    case BinaryExpr::Op::Div:
      return lhs->dividedBy(*rhs);
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}

//===--------------------------------------------------------------------===//
// Sizes
//===--------------------------------------------------------------------===//

std::optional<DimValues> bindDims(const CheckedProgram &program, const std::map<std::string, int64_t> &given,
                                  DiagnosticEngine &diags) {
  constexpr int64_t kLargest = int64_t(1) << 31; // extents and indices have 32 bits (T4)
  DimValues values;
  std::vector<std::string> names;
  size_t before = diags.errorCount();
  for (const Binding *dim : program.dims) {
    names.push_back(dim->name);
    auto at = given.find(dim->name);
    const DimVar *own = dim->shape.singleDim();
    if (!own || own->name != dim->name) {
      if (at != given.end())
        diags
            .error(dim->range,
                   "`-D" + dim->name + "` sets a dim that is made of others: it is `" + dim->shape.str() +
                       "`",
                   "N5")
            .hint("set the dims that it is made of");
      continue;
    }
    if (at == given.end() && !own->defaultValue) {
      diags.error(dim->range, "dim `" + dim->name + "` has no value", "N5")
          .hint("give it one: `-D" + dim->name + "=100`");
      continue;
    }
    int64_t value = at != given.end() ? at->second : *own->defaultValue;
    if (value < 1 || value >= kLargest) {
      diags.error(dim->range,
                  "dim `" + dim->name + "` is " + std::to_string(value) +
                      (value < 1 ? "; every dim is at least 1" : "; a dim is below 2^31"),
                  "T1");
      continue;
    }
    values[own] = value;
  }
  for (auto &[name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      continue;
    Diagnostic &diagnostic =
        diags.error(SourceRange(), "`-D" + name + "`: the model has no dim of this name", "N5");
    std::string near = didYouMean(name, names);
    if (!near.empty())
      diagnostic.hint(near);
  }
  if (diags.errorCount() != before)
    return std::nullopt;
  for (const Binding *dim : program.dims) {
    std::optional<int64_t> value = dim->shape.evaluate(values);
    if (!value || *value < 1 || *value >= kLargest)
      diags.error(dim->range,
                  "dim `" + dim->name + "`, which is `" + dim->shape.str() + "`, is " +
                      (value ? std::to_string(*value) : "too large") + " at these sizes",
                  "T1");
  }
  if (diags.errorCount() != before)
    return std::nullopt;
  return values;
}

} // namespace dbc::frontend
