// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Private to Index: goes through the trees of a program.
#pragma once

#include "lsp/Index.h"

namespace dbc::lsp {

/// First declares what all files declare, then goes through what they say of each other.
class IndexBuilder {
public:
  IndexBuilder(const frontend::Program &program, Index &out) : program_(program), out_(out) {}

  void build();

private:
  //===-- Declaring (IndexDeclarations.cpp) -------------------------------===//
  void declareFile(const frontend::File &file);
  void declareImports(const frontend::File &file);
  void declareDecl(const frontend::Decl &decl, Scope &scope, const Symbol *layer);
  void declareData(const frontend::DataDecl &data, const Symbol *owner);
  void declareLayer(const frontend::LayerDecl &layer, Scope &scope, const Symbol *owner);
  void declareRecord(const frontend::RecordDecl &record, Scope &scope, const Symbol *owner);
  void declareFunc(const frontend::FuncDecl &func, Scope &scope);
  void declareDims(const std::vector<frontend::Ident> &dims, Scope &scope, const Symbol *owner);
  struct Declared {
    Symbol &symbol;
    Occurrence &occurrence; ///< until the next one is written down
  };
  Declared declare(NameKind kind, const frontend::Ident &name, frontend::SourceRange text);
  Declared declareLocal(const frontend::Ident &name, const frontend::Binding *binding);

  //===-- Going through (IndexDeclarations.cpp, IndexBuilder.cpp) ---------===//
  void visitFile(const frontend::File &file);
  void visitDecl(const frontend::Decl &decl, const Scope &scope);
  void visitParam(const frontend::ParamDecl &param, const Scope &scope);
  void visitFunc(const frontend::FuncDecl &func);
  void visitType(const frontend::TypeExpr &type, const Scope &scope);
  void visitBlock(const frontend::CodeBlock &block, const Scope &outer);
  void visitPattern(const frontend::Pattern &pattern, Scope &scope, uint32_t from);
  void visit(const frontend::Expr &expr, const Scope &scope);
  void visitOperands(const frontend::Expr &expr, const Scope &scope);
  /// The three give the name that is called or looked up, until the next one is written down; null if it is
  /// none that is known.
  Occurrence *visitCallee(const frontend::Expr &callee, const Scope &scope);
  Occurrence *visitName(const frontend::NameExpr &name, const Scope &scope);
  Occurrence *visitMember(const frontend::MemberExpr &member, const Scope &scope);
  void visitCall(const frontend::CallExpr &call, const Scope &scope);
  void visitRecord(const frontend::RecordExpr &record, const Scope &scope);
  void visitMatch(const frontend::MatchExpr &match, const Scope &scope);
  void visitArm(const frontend::MatchArm &arm, const frontend::DataDecl *data, const Scope &scope);
  void visitArmField(const frontend::ArmField &field, const frontend::Constructor *constructor, Scope &scope,
                     uint32_t from);
  void visitBinder(const frontend::BinderExpr &binder, const Scope &scope);

  //===-- Writing down ----------------------------------------------------===//
  Scope &newScope(frontend::SourceRange range, const Scope *parent, bool hasBraces = false);
  /// Writes down a name. What is returned is there until the next one is.
  Occurrence &add(frontend::SourceRange range, const Symbol &symbol, bool isMember = false);
  /// The same; null and nothing written down if the name stands for nothing that is known.
  Occurrence *occur(frontend::SourceRange range, const Symbol *symbol, bool isMember = false);
  /// Writes down `module.name`, or `name` alone where `module` is empty, as something of that type. Returns
  /// what it stands for; null if that is not known.
  const Symbol *occurQualified(const frontend::Ident &module, const frontend::Ident &name,
                               const frontend::Type *type, const Scope &scope);
  /// The word that a text begins with, which belongs to the language.
  void occurWord(frontend::SourceRange range, const std::string &word, const frontend::Type *type = nullptr);
  const Symbol &language(const std::string &name);
  const Symbol *lookup(const std::string &name, const Scope &scope, uint32_t at);
  /// Of `module.name`.
  const Symbol *lookupIn(const Symbol *module, const std::string &name) const;
  void addTyped(frontend::SourceRange range, const frontend::Type *type);

  const frontend::Program &program_;
  Index &out_;
  std::unordered_map<const frontend::Decl *, Scope *> scopes_; ///< of layers, records and functions
  std::unordered_map<std::string, const Symbol *> language_;
};

} // namespace dbc::lsp
