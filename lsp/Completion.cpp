// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/CompletionContext.h"
#include "lsp/Describe.h"
#include "lsp/Requests.h"
#include "lsp/Words.h"

#include <filesystem>
#include <set>

namespace dbc::lsp {

using namespace frontend;
using ContextKind = CompletionContext::Kind;

static protocol::CompletionItemKind itemKind(NameKind kind) {
  switch (kind) {
  case NameKind::Model:
  case NameKind::Module:
    return protocol::CompletionItemKind::Module;
  case NameKind::Dim:
    return protocol::CompletionItemKind::TypeParameter;
  case NameKind::Const:
    return protocol::CompletionItemKind::Constant;
  case NameKind::Func:
  case NameKind::Language:
    return protocol::CompletionItemKind::Function;
  case NameKind::Data:
    return protocol::CompletionItemKind::Enum;
  case NameKind::Constructor:
    return protocol::CompletionItemKind::EnumMember;
  case NameKind::Field:
    return protocol::CompletionItemKind::Field;
  case NameKind::Record:
    return protocol::CompletionItemKind::Struct;
  case NameKind::Layer:
    return protocol::CompletionItemKind::Class;
  case NameKind::Param:
  case NameKind::Local:
    break;
  }
  return protocol::CompletionItemKind::Variable;
}

namespace {

/// Makes the list for one place.
class Completer {
public:
  Completer(const View &view, const CompletionContext &context)
      : view_(view), analysis_(view.analysis()), context_(context), at_(view.nearestAnalysed(context.begin)),
        scope_(view.index().scopeAt(analysis_.program().main().id, at_)) {}

  std::vector<protocol::CompletionItem> complete();

private:
  /// What a chain stands for: a symbol that is no value, or a value's type.
  struct Meaning {
    const Symbol *symbol = nullptr;
    const Type *type = nullptr;
  };
  Meaning meaning(const std::optional<Chain> &chain) const;
  Meaning follow(const Meaning &base, const Chain::Link &link) const;
  const Type *result(const FuncInfo &func, const Type *layer) const;
  Meaning memberOf(const Type *type, const std::string &name) const;
  const DataDecl *matched() const;

  void addMembers(const Meaning &base);
  void addNodeFields(const DataDecl &data);
  void addConstructors();
  void addArmFields();
  void addRecordFields();
  void addModules();
  void addScope();
  void addWords(const std::vector<std::string> &words);
  protocol::CompletionItem &add(const Symbol &symbol, char group);
  void addItem(const std::string &name, protocol::CompletionItemKind kind, const std::string &detail,
               char group);
  const Type *inDims(const Type *type, const Type *owner) const;

  const View &view_;
  const Analysis &analysis_;
  const CompletionContext &context_;
  uint32_t at_;
  const Scope *scope_;
  std::vector<protocol::CompletionItem> items_;
};

//===----------------------------------------------------------------------===//
// What stands before
//===----------------------------------------------------------------------===//

Completer::Meaning Completer::meaning(const std::optional<Chain> &chain) const {
  Meaning meaning;
  if (!chain)
    return meaning;
  for (const Chain::Link &link : chain->links)
    meaning = follow(meaning, link);
  return meaning;
}

/// A type with the dims of a layer or record as its owner's type says them.
const Type *Completer::inDims(const Type *type, const Type *owner) const {
  if (!type || !owner)
    return type;
  DimMap dims;
  const std::vector<const DimVar *> *own = owner->layer    ? &owner->layer->dims
                                           : owner->record ? &owner->record->dims
                                                           : nullptr;
  for (size_t i = 0; own && i < own->size() && i < owner->arguments.size(); ++i)
    dims[(*own)[i]] = owner->arguments[i];
  return analysis_.types().substitute(type, dims);
}

const Type *Completer::result(const FuncInfo &func, const Type *layer) const {
  return inDims(func.result, layer);
}

Completer::Meaning Completer::memberOf(const Type *type, const std::string &name) const {
  Meaning meaning;
  if (!type)
    return meaning;
  if (type->isRecord()) {
    const int field = type->record->fieldIndex(name);
    if (field >= 0)
      meaning.type = inDims(type->record->fields[field].type, type);
  } else if (type->isNode()) {
    for (const ConstructorInfo &constructor : type->data->constructors)
      if (const int field = constructor.fieldIndex(name); field >= 0 && !meaning.type)
        meaning.type = constructor.fields[field].type;
  } else if (type->isLayer()) {
    if (const Binding *member = type->layer->member(name)) {
      meaning.symbol = view_.index().declaredAt(member->range);
      meaning.type = member->kind == Binding::Kind::Func ? type : inDims(member->type, type);
    }
  }
  return meaning;
}

Completer::Meaning Completer::follow(const Meaning &base, const Chain::Link &link) const {
  Meaning next;
  switch (link.step) {
  case Chain::Step::Name:
    next.symbol = scope_ ? scope_->find(link.name, at_) : nullptr;
    next.type = next.symbol ? next.symbol->type : nullptr;
    if (next.symbol && next.symbol->kind == NameKind::Data)
      next.type = nullptr; // the type's name is no value
    return next;
  case Chain::Step::Member:
    if (base.symbol && base.symbol->kind == NameKind::Module) {
      next.symbol = view_.index().scopeOf(base.symbol->file)->find(link.name, 0);
      next.type = next.symbol ? next.symbol->type : nullptr;
      return next;
    }
    return memberOf(base.type, link.name);
  case Chain::Step::Call: {
    const FuncInfo *func = nullptr;
    if (base.symbol && base.symbol->kind == NameKind::Func && base.symbol->decl->resolved)
      func = base.symbol->decl->resolved->func;
    else if (base.type && base.type->isLayer())
      if (const Binding *call = base.type->layer->member("call"))
        func = call->func;
    if (func)
      next.type = result(*func, base.type);
    return next;
  }
  case Chain::Step::Element:
    if (base.type && (base.type->isList() || base.type->isTable()))
      next.type = base.type->element;
    return next;
  }
  return next;
}

const DataDecl *Completer::matched() const {
  const Meaning subject = meaning(context_.base);
  return subject.type && subject.type->isNode() ? subject.type->data->decl : nullptr;
}

//===----------------------------------------------------------------------===//
// What can stand here
//===----------------------------------------------------------------------===//

void Completer::addItem(const std::string &name, protocol::CompletionItemKind kind, const std::string &detail,
                        char group) {
  // Within a group in this order.
  const std::string number = std::to_string(items_.size());
  items_.emplace_back(name, kind, group + std::string(6 - std::min<size_t>(6, number.size()), '0') + number);
  items_.back().detail = detail;
}

protocol::CompletionItem &Completer::add(const Symbol &symbol, char group) {
  addItem(symbol.name, itemKind(symbol.kind), detailOf(analysis_, symbol), group);
  if (std::string comment = commentOf(analysis_, symbol); !comment.empty())
    items_.back().documentation = protocol::MarkupContent{protocol::MarkupKind::Markdown, comment};
  return items_.back();
}

void Completer::addNodeFields(const DataDecl &data) {
  std::set<const Symbol *> seen;
  for (const Constructor &constructor : data.constructors)
    for (const Field &field : constructor.fields) {
      const Symbol *symbol = view_.index().declaredAt(field.name.range);
      // `t.f` needs f in every constructor (T6).
      const bool isEverywhere = symbol && symbol->declarations.size() == data.constructors.size();
      if (isEverywhere && seen.insert(symbol).second)
        add(*symbol, '0');
    }
}

void Completer::addMembers(const Meaning &base) {
  if (base.symbol && base.symbol->kind == NameKind::Module) {
    for (const DeclPtr &decl : base.symbol->file->decls)
      if (const Symbol *symbol = view_.index().declaredAt(decl->name.range))
        add(*symbol, '0');
    return;
  }
  if (!base.type || (base.symbol && base.symbol->kind == NameKind::Func))
    return;
  if (base.type->isNode())
    return addNodeFields(*base.type->data->decl);
  if (base.type->isRecord())
    for (const FieldInfo &field : base.type->record->fields)
      if (const Symbol *symbol = view_.index().declaredAt(field.range))
        add(*symbol, '0').detail = typeText(inDims(field.type, base.type));
  if (base.type->isLayer())
    for (const Binding *member : base.type->layer->members)
      if (const Symbol *symbol = view_.index().declaredAt(member->range)) {
        protocol::CompletionItem &item = add(*symbol, '0');
        if (member->kind != Binding::Kind::Func && member->type)
          item.detail = typeText(inDims(member->type, base.type));
      }
}

void Completer::addConstructors() {
  addItem("_", protocol::CompletionItemKind::Keyword, "all other constructors", '1');
  const DataDecl *data = matched();
  if (!data)
    return;
  for (const Constructor &constructor : data->constructors) {
    std::string fields;
    for (const Field &field : constructor.fields)
      fields += (fields.empty() ? "(" : ", ") + field.name.text;
    if (const Symbol *symbol = view_.index().declaredAt(constructor.name.range)) {
      protocol::CompletionItem &item = add(*symbol, '0');
      item.kind = protocol::CompletionItemKind::EnumMember;
      item.insertText = constructor.name.text + fields + (fields.empty() ? "" : ")");
    }
  }
}

void Completer::addArmFields() {
  const DataDecl *data = matched();
  if (!data)
    return;
  for (const Constructor &constructor : data->constructors)
    if (constructor.name.text == context_.constructor)
      for (const Field &field : constructor.fields)
        if (const Symbol *symbol = view_.index().declaredAt(field.name.range))
          add(*symbol, '0');
}

void Completer::addRecordFields() {
  const Meaning record = meaning(context_.record);
  if (record.symbol && record.symbol->kind == NameKind::Record)
    for (const Symbol *field : view_.index().membersOf(record.symbol))
      add(*field, '0');
}

void Completer::addModules() {
  namespace fs = std::filesystem;
  const LoadOptions &options = view_.documents().options();
  std::vector<std::string> folders = {fs::path(view_.document().path()).parent_path().string()};
  folders.insert(folders.end(), options.includeDirs.begin(), options.includeDirs.end());
  folders.push_back(options.libraryDir);
  std::set<std::string> names;
  const std::string own = fs::path(view_.document().path()).stem().string();
  for (fs::path folder : folders) {
    for (const std::string &part : context_.path)
      folder /= part;
    std::error_code problem;
    for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem))
      if (it->path().extension() == ".dyn" && isName(it->path().stem().string()))
        names.insert(it->path().stem().string());
  }
  for (const std::string &name : names)
    if (name != own)
      addItem(name, protocol::CompletionItemKind::Module, "", '0');
}

void Completer::addScope() {
  std::set<std::string> seen;
  for (const Scope *scope = scope_; scope; scope = scope->parent) {
    std::set<std::string> names; // in the order of the alphabet, whatever the table's is
    for (const auto &[name, entries] : scope->names)
      names.insert(name);
    for (const std::string &name : names)
      if (const Symbol *symbol = scope_->find(name, at_); symbol && seen.insert(name).second)
        add(*symbol, scope->parent ? '1' : '2');
  }
  for (const std::string &name : builtinNames())
    if (seen.insert(name).second)
      addItem(name, protocol::CompletionItemKind::Function, findBuiltin(name)->usage, '3');
}

void Completer::addWords(const std::vector<std::string> &words) {
  for (const std::string &word : words)
    addItem(word, protocol::CompletionItemKind::Keyword, "", '4');
}

std::vector<protocol::CompletionItem> Completer::complete() {
  switch (context_.kind) {
  case ContextKind::None:
    break;
  case ContextKind::Import:
    addModules();
    break;
  case ContextKind::Member:
    addMembers(meaning(context_.base));
    break;
  case ContextKind::Arm:
    addConstructors();
    break;
  case ContextKind::ArmField:
    addArmFields();
    break;
  case ContextKind::Declaration:
    addWords(declarationWords());
    break;
  case ContextKind::LayerMember:
    addWords({"param", "const", "fn", "cell"});
    addScope();
    break;
  case ContextKind::Expression:
    addRecordFields();
    addScope();
    addWords(expressionWords());
    break;
  }
  return std::move(items_);
}

} // namespace

protocol::CompletionList completionOfWords(const Document &document, protocol::Position position) {
  protocol::CompletionList list;
  auto add = [&](const std::string &word, const char *detail) {
    list.items.emplace_back(word, *detail ? protocol::CompletionItemKind::Function
                                          : protocol::CompletionItemKind::Keyword);
    list.items.back().detail = detail;
  };
  const ContextKind kind = contextAt(document.text, Positions(document.text).offset(position)).kind;
  if (kind == ContextKind::Declaration)
    for (const std::string &word : declarationWords())
      add(word, "");
  if (kind != ContextKind::Expression)
    return list;
  for (const std::string &name : builtinNames())
    add(name, findBuiltin(name)->usage);
  for (const std::string &word : expressionWords())
    add(word, "");
  return list;
}

protocol::CompletionList completion(const View &view, protocol::Position position) {
  const std::string &text = view.document().text;
  const CompletionContext context = contextAt(text, Positions(text).offset(position));
  protocol::CompletionList list;
  list.items = Completer(view, context).complete();
  return list;
}

} // namespace dbc::lsp
