// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Describe.h"

#include "llvm/ADT/StringRef.h"

namespace dbc::lsp {

using namespace frontend;
using llvm::StringRef;

static std::string quoted(const std::string &name) { return "`" + name + "`"; }

static std::string localKind(Binding::LocalKind kind) {
  switch (kind) {
  case Binding::LocalKind::Argument:
    return "parameter";
  case Binding::LocalKind::Let:
    return "let";
  case Binding::LocalKind::Element:
    return "element of a list";
  case Binding::LocalKind::State:
    return "state";
  case Binding::LocalKind::ArmField:
    return "field in an arm";
  }
  return "";
}

std::string kindOf(const Symbol &symbol) {
  const std::string owner = symbol.owner ? " of " + quoted(symbol.owner->name) : "";
  switch (symbol.kind) {
  case NameKind::Model:
    return "model";
  case NameKind::Module:
    return "module";
  case NameKind::Dim:
    return "dim" + owner;
  case NameKind::Const:
    return "const" + owner;
  case NameKind::Param:
    return "param" + owner;
  case NameKind::Func:
    return spelling(static_cast<const FuncDecl *>(symbol.decl)->funcKind) + owner;
  case NameKind::Data:
    return "data type";
  case NameKind::Constructor:
    return "constructor" + owner;
  case NameKind::Field:
    return "field" + owner;
  case NameKind::Record:
    return "record";
  case NameKind::Layer:
    return "layer";
  case NameKind::Local:
    return localKind(symbol.local);
  case NameKind::Language:
    return symbol.builtin == Builtin::None ? "word of the language" : "built-in function";
  }
  return "";
}

std::string typeText(const Type *type) {
  if (!type || type->isError() || type->isUnknown())
    return "";
  return type->str();
}

/// Text in one line, each stretch of white space one space.
static std::string squeezed(StringRef text) {
  std::string result;
  for (char c : text)
    if (!isspace(static_cast<unsigned char>(c)))
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  return StringRef(result).trim().str();
}

static std::string textOf(const Analysis &analysis, SourceRange range) {
  return range.valid() ? std::string(analysis.sources().text(range)) : "";
}

/// What the language's own words are for, where they are no built-in functions.
static std::string usageOf(const std::string &word) {
  if (word == "axis")
    return "axis = k: the axis that is reduced, from 0";
  if (word == "stride" || word == "padding")
    return word + " = n, of conv2d: rows and columns of the picture";
  if (word == "uniform")
    return "uniform(low, high): how a param begins";
  if (word == "normal")
    return "normal(mean, deviation): how a param begins";
  return word + "(): how a param begins, over its last two axes";
}

/// The layer's first line, and one for each member.
static std::string layerText(const Analysis &analysis, const Symbol &layer) {
  auto *decl = static_cast<const LayerDecl *>(layer.decl);
  std::string text = "layer " + layer.name;
  for (const Ident &dim : decl->dims)
    text += (&dim == &decl->dims.front() ? "[" : ", ") + dim.text;
  text += decl->dims.empty() ? " {" : "] {";
  for (const Symbol *member : analysis.index().membersOf(&layer))
    text += "\n  " + declarationOf(analysis, *member);
  return text + "\n}";
}

std::string declarationOf(const Analysis &analysis, const Symbol &symbol) {
  const std::string text = textOf(analysis, symbol.text);
  switch (symbol.kind) {
  case NameKind::Model:
    return "model " + squeezed(text);
  case NameKind::Dim:
    return "dim " + squeezed(text);
  case NameKind::Const:
    return "const " + squeezed(text);
  case NameKind::Param:
    return "param " + squeezed(text);
  case NameKind::Module:
    return "module " + symbol.name;
  case NameKind::Func:
  case NameKind::Constructor:
  case NameKind::Field:
    return squeezed(StringRef(text).rtrim(";"));
  case NameKind::Data:
  case NameKind::Record:
    return text;
  case NameKind::Layer:
    return layerText(analysis, symbol);
  case NameKind::Local:
    return symbol.name + (typeText(symbol.type).empty() ? "" : ": " + typeText(symbol.type));
  case NameKind::Language:
    return symbol.builtin == Builtin::None ? usageOf(symbol.name) : builtinInfo(symbol.builtin).usage;
  }
  return "";
}

std::string detailOf(const Analysis &analysis, const Symbol &symbol) {
  switch (symbol.kind) {
  case NameKind::Param:
  case NameKind::Const:
  case NameKind::Field:
  case NameKind::Local:
    if (std::string type = typeText(symbol.type); !type.empty())
      return type;
    return symbol.kind == NameKind::Local ? "" : declarationOf(analysis, symbol);
  case NameKind::Data:
  case NameKind::Record:
  case NameKind::Layer:
  case NameKind::Model:
  case NameKind::Module:
    return kindOf(symbol);
  default:
    return declarationOf(analysis, symbol);
  }
}

/// Whether the line is a comment alone; `line` is then what it says.
static bool takeComment(StringRef &line) {
  line = line.trim();
  if (!line.consume_front("//"))
    return false;
  line.consume_front(" ");
  return true;
}

std::string commentOf(const Analysis &analysis, const Symbol &symbol) {
  if (symbol.declarations.empty() || symbol.kind == NameKind::Local)
    return "";
  const SourceRange at = symbol.declarations.front();
  const SourceFile &file = analysis.sources().file(at.file);
  const uint32_t own = file.lineColumn(symbol.text.valid() ? symbol.text.begin : at.begin).line;
  std::string comment;
  const StringRef before(StringRef(file.line(own)).substr(0, at.begin - file.lineBegin(own)));
  // The second name of a line has no comment of its own before it.
  const bool isFirst = !before.contains(',') && !before.contains(';') && !before.contains('{');
  for (uint32_t number = own; isFirst && number > 1;) {
    StringRef line(file.line(--number));
    if (!takeComment(line))
      break;
    comment.insert(0, line.str() + (comment.empty() ? "" : "\n"));
  }
  if (!comment.empty())
    return comment;
  const StringRef line(file.line(file.lineColumn(at.begin).line));
  const size_t behind = line.find("//");
  if (behind == StringRef::npos)
    return "";
  StringRef rest = line.substr(behind);
  return takeComment(rest) ? rest.str() : "";
}

} // namespace dbc::lsp
