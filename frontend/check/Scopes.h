// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_SCOPES_H
#define DBC_FRONTEND_SCOPES_H

#include "frontend/check/CheckerBase.h"

#include <map>
#include <unordered_map>

namespace dbc::frontend {

using Names = std::map<std::string, Binding *>;

/// The names in scope of a function, innermost last.
class Locals {
public:
  void push(Binding *binding) {
    all_.push_back(binding);
    byName_[binding->name].push_back(binding);
  }
  /// Forgets all but the first `count`.
  void leave(size_t count) {
    for (; all_.size() > count; all_.pop_back())
      byName_[all_.back()->name].pop_back();
  }
  /// The innermost of a name, the outermost; null if there is none.
  Binding *find(const std::string &name) const { return at(name, /*last=*/true); }
  Binding *first(const std::string &name) const { return at(name, /*last=*/false); }
  const std::vector<Binding *> &all() const { return all_; }

private:
  Binding *at(const std::string &name, bool last) const {
    auto found = byName_.find(name);
    if (found == byName_.end() || found->second.empty())
      return nullptr;
    return last ? found->second.back() : found->second.front();
  }
  std::vector<Binding *> all_;
  std::unordered_map<std::string, std::vector<Binding *>> byName_;
};

/// What each name means at the point where the checker is, and which names are used.
class Scopes : CheckerBase {
public:
  Scopes(CheckedProgram &out, Reporter &reporter) : CheckerBase(out, reporter) {}

  //===-- Declaring -------------------------------------------------------===//
  Binding *newBinding(Binding::Kind kind, const Ident &name);
  DimVar *newDim(const Ident &name);
  /// Enters a name in a file or layer; reports a second one of the same name (N1).
  void declare(Names &names, Binding *binding);
  /// Enters a local. Names of binders and arms must be new (N1).
  Binding *declareLocal(const Ident &name, const Type *type, Binding::LocalKind kind);
  /// Enters the names of a pattern, which takes apart a value of this type.
  void bindPattern(Pattern &pattern, const Type *type, Binding::LocalKind kind);
  void enterArgument(Binding *argument) { locals_.push(argument); }

  //===-- Looking up ------------------------------------------------------===//
  /// What a name means at this point, or null. Marks it as used.
  Binding *lookup(const std::string &name);
  /// `module.name`; reports what is wrong. Null if there is no such module or name.
  Binding *lookupIn(const Ident &module, const Ident &name);
  /// Reports a name that means nothing, with the idiom or nearest name.
  void unknownName(SourceRange range, const std::string &name);
  /// What a built-in name means.
  Binding *builtinBinding(Builtin id);
  /// Whether the expression names a module (`nn` of `nn.x`).
  bool namesModule(const Expr &expr) const;

  //===-- Where the checker is --------------------------------------------===//
  /// What a file declares at its top; a layer, its dims and members; a fn or record, its dims.
  Names &namesOf(const File &file) { return files_[&file]; }
  Names &namesOf(const LayerInfo &layer) { return layers_[&layer]; }
  Names &namesOf(const FuncInfo &func) { return funcDims_[&func]; }
  Names &namesOf(const RecordInfo &record) { return recordDims_[&record]; }
  /// `f` with the names of the file (and layer) in scope, and no locals.
  void inScope(const File &file, const LayerInfo *layer, const std::function<void()> &f);
  /// The same with those of a function.
  void inFunction(FuncInfo &func, const std::function<void()> &f);
  /// `f` with the own dims of a fn or record in scope too.
  void withDims(Names &dims, const std::function<void()> &f);
  /// What the file declares that the checker is in.
  Names &fileNames() { return *file_; }
  FuncInfo *function() const { return func_; } ///< whose body is checked; null outside
  /// How many locals there are; `leave` forgets all behind so many.
  size_t mark() const { return locals_.all().size(); }
  void leave(size_t mark) { locals_.leave(mark); }

  //===-- Use -------------------------------------------------------------===//
  void use(const Binding *binding) { used_.insert(binding); }
  /// Which elements of a list, bound right behind `mark`, are used by what `f` looks at.
  std::vector<const Binding *> elementsUsed(size_t mark, const std::function<void()> &f);
  /// Of what is warned if it is unused, and what it is ("let", "parameter", ..).
  void watch(const Binding *binding, const char *what) { watched_.push_back({binding, what}); }
  void warnUnused();

private:
  std::vector<std::string> namesInScope() const;

  std::map<const File *, Names> files_;
  std::map<const LayerInfo *, Names> layers_;
  std::map<const FuncInfo *, Names> funcDims_;
  std::map<const RecordInfo *, Names> recordDims_;
  std::map<Builtin, Binding *> builtins_;
  std::set<const Binding *> used_;
  std::vector<std::pair<const Binding *, const char *>> watched_;

  // Where the checker is.
  Names *file_ = nullptr, *layer_ = nullptr;
  Names *dims_ = nullptr; ///< own dims of the fn or record
  FuncInfo *func_ = nullptr;
  Locals locals_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_SCOPES_H
