// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Describe.h"
#include "lsp/Requests.h"

namespace dbc::lsp {

using namespace frontend;

static protocol::SymbolKind kindInList(NameKind kind) {
  switch (kind) {
  case NameKind::Dim:
    return protocol::SymbolKind::TypeParameter;
  case NameKind::Const:
    return protocol::SymbolKind::Constant;
  case NameKind::Param:
    return protocol::SymbolKind::Variable;
  case NameKind::Func:
    return protocol::SymbolKind::Function;
  case NameKind::Data:
    return protocol::SymbolKind::Enum;
  case NameKind::Constructor:
    return protocol::SymbolKind::EnumMember;
  case NameKind::Field:
    return protocol::SymbolKind::Field;
  case NameKind::Record:
    return protocol::SymbolKind::Struct;
  default:
    return protocol::SymbolKind::Class;
  }
}

namespace {

/// Makes the tree of one view.
class Outline {
public:
  explicit Outline(const View &view) : view_(view) {}

  void add(std::vector<protocol::DocumentSymbol> &list, const Decl &decl) {
    protocol::DocumentSymbol *symbol = add(list, decl.name, decl.range);
    if (!symbol)
      return;
    if (auto *data = decl.as<DataDecl>()) {
      for (const Constructor &constructor : data->constructors) {
        const bool isOwn = constructor.name.range == data->name.range;
        auto *inner = isOwn ? symbol : add(symbol->children, constructor.name, constructor.range);
        for (const Field &field : constructor.fields)
          if (inner)
            add(inner->children, field.name, field.range);
      }
    } else if (auto *record = decl.as<RecordDecl>()) {
      for (const Field &field : record->fields)
        add(symbol->children, field.name, field.range);
    } else if (auto *layer = decl.as<LayerDecl>()) {
      for (const DeclPtr &member : layer->members)
        add(symbol->children, *member);
    }
  }

private:
  /// Null if it stands where the text has changed.
  protocol::DocumentSymbol *add(std::vector<protocol::DocumentSymbol> &list, const Ident &name,
                                SourceRange whole) {
    const Symbol *symbol = view_.index().declaredAt(name.range);
    std::optional<protocol::Range> range = view_.range(whole), selection = view_.range(name.range);
    if (!symbol || !range || !selection)
      return nullptr;
    list.emplace_back(name.text, kindInList(symbol->kind), *range, *selection);
    list.back().detail = detailOf(view_.analysis(), *symbol);
    return &list.back();
  }

  const View &view_;
};

} // namespace

std::vector<protocol::DocumentSymbol> documentSymbols(const View &view) {
  std::vector<protocol::DocumentSymbol> result;
  Outline outline(view);
  for (const DeclPtr &decl : view.analysis().program().main().decls)
    outline.add(result, *decl);
  return result;
}

} // namespace dbc::lsp
