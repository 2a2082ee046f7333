// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What each name in a program's texts stands for, and what is in scope where.
#pragma once

#include "frontend/check/Check.h"
#include "frontend/syntax/Modules.h"
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace dbc::lsp {

enum class NameKind {
  Model,
  Module,
  Dim,
  Const,
  Param,
  Func,
  Data,
  Constructor,
  Field, ///< of a data type or record
  Record,
  Layer,
  Local,   ///< of a function: argument, let, element, state, or what an arm binds
  Language ///< a built-in function, a type of numbers, `axis`, `glorot` ..
};

/// What a name stands for, once for all its occurrences.
struct Symbol {
  NameKind kind = NameKind::Local;
  std::string name;
  /// Where it is declared. A field of a data type that several constructors have is one symbol, declared in
  /// each of them: `t.f` takes all. Empty for what belongs to the language.
  std::vector<frontend::SourceRange> declarations;
  /// The text that declares it, without the body of a function; invalid for locals and the language.
  frontend::SourceRange text;
  /// Null for what has none: functions, layers, data types, .. and wherever the checker found none.
  const frontend::Type *type = nullptr;
  frontend::Binding::LocalKind local = frontend::Binding::LocalKind::Let; ///< Local
  const frontend::Decl *decl = nullptr; ///< Dim, Const, Param, Func, Data, Record, Layer; what has the field
  const frontend::File *file = nullptr; ///< Model, Module
  const Symbol *owner = nullptr;        ///< the layer, data type or record that it is a member of
  frontend::Builtin builtin = frontend::Builtin::None; ///< Language, if it is a built-in function
};

/// One name in a text.
struct Occurrence {
  frontend::SourceRange range;
  const Symbol *symbol = nullptr;
  /// In an arm, `Leaf(word)` names the field and declares the local at once: `symbol` is the local.
  const Symbol *field = nullptr;
  const frontend::ArmField *arm = nullptr; ///< the part of an arm that it stands in
  /// Where to go if that is fewer than all of the symbol's declarations: of an arm's field, that of its
  /// constructor. Else invalid.
  frontend::SourceRange target;
  const frontend::Type *type = nullptr; ///< here, in the dims of this place; of a call's callee, of the call
  bool isCallee = false;
  bool isDeclaration = false;
  bool isMember = false; ///< looked up in something that is named before it, in no scope
};

/// A stretch of a text with names of its own.
struct Scope {
  struct Entry {
    const Symbol *symbol;
    uint32_t from; ///< the byte from which it can be used
  };
  frontend::SourceRange range;
  bool hasBraces = false; ///< it ends before the range's end
  const Scope *parent = nullptr;
  std::unordered_map<std::string, std::vector<Entry>> names;

  void add(const Symbol *symbol, uint32_t from = 0) { names[symbol->name].push_back({symbol, from}); }
  /// What a name means at a byte of this scope, outer scopes included; null if nothing.
  const Symbol *find(const std::string &name, uint32_t at) const;
};

/// An expression or a written type.
struct Typed {
  frontend::SourceRange range;
  const frontend::Type *type;
};

/// Made from a program whose tree the checker has annotated; both must outlive it. Names are found by the
/// rules of scopes (N1), so those without an annotation too, where the checker gave up.
class Index {
public:
  explicit Index(const frontend::Program &program);
  Index(const Index &) = delete;

  /// Of all files, by file and position.
  const std::vector<Occurrence> &occurrences() const { return occurrences_; }
  /// The name at a byte of the main file, or the one that ends there; null if none.
  const Occurrence *at(uint32_t offset) const;
  /// The innermost expression of the main file with a type that has this byte; null if none.
  const Typed *typedAt(uint32_t offset) const;
  /// The innermost scope that has this byte of a file; the file's own if no other.
  const Scope *scopeAt(uint32_t file, uint32_t offset) const;
  /// What is declared there, as Binding::range or an Ident says; null if nothing.
  const Symbol *declaredAt(frontend::SourceRange name) const;
  /// Scope of what a file declares.
  const Scope *scopeOf(const frontend::File *file) const;
  /// What is inside a layer, or the constructors of a data type, in the order of the text.
  std::vector<const Symbol *> membersOf(const Symbol *owner) const;

private:
  friend class IndexBuilder;
  /// What was declared there first stays.
  void setDeclared(frontend::SourceRange name, const Symbol &symbol);

  std::vector<Occurrence> occurrences_;
  std::vector<Typed> typed_;
  std::deque<Scope> scopes_;
  std::deque<Symbol> symbols_;
  std::unordered_map<uint64_t, const Symbol *> declared_;
  std::unordered_map<const frontend::File *, const Scope *> files_;
  uint32_t main_ = 0;
};

} // namespace dbc::lsp
