// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Describe.h"
#include "lsp/Requests.h"

namespace dbc::lsp {

using namespace frontend;

static std::string code(const std::string &text) { return "```dyn\n" + text + "\n```\n"; }

/// `f32`, `index` .. where a type stands.
static bool isTypeWord(const Occurrence &occurrence) {
  const Builtin builtin = occurrence.symbol->builtin;
  const bool isScalar = builtin == Builtin::F32 || builtin == Builtin::Int || builtin == Builtin::Bool ||
                        builtin == Builtin::Index;
  return isScalar && !occurrence.isCallee && occurrence.type;
}

/// What is known of a name.
static std::string describe(const View &view, const Occurrence &occurrence) {
  const Symbol &symbol = *occurrence.symbol;
  const std::string type = typeText(occurrence.type);
  if (isTypeWord(occurrence))
    return code(type) + "type";
  std::string text = code(declarationOf(view.analysis(), symbol)) + kindOf(symbol);
  if (occurrence.field)
    text += ", " + kindOf(*occurrence.field);
  // A dim is an extent wherever it stands; other names may have another type in the dims of this place.
  const bool hasOwn = symbol.kind != NameKind::Dim && occurrence.type != symbol.type && !type.empty();
  if (hasOwn)
    text += (occurrence.isCallee ? "; this gives `" : "; here `") + type + "`";
  if (std::string comment = commentOf(view.analysis(), symbol); !comment.empty())
    text += "\n\n" + comment;
  return text;
}

std::optional<protocol::Hover> hover(const View &view, protocol::Position position) {
  std::optional<uint32_t> offset = view.analysed(position);
  if (!offset)
    return std::nullopt;
  SourceRange range;
  std::string text;
  if (const Occurrence *occurrence = view.index().at(*offset)) {
    range = occurrence->range;
    text = describe(view, *occurrence);
  } else if (const Typed *typed = view.index().typedAt(*offset)) {
    range = typed->range;
    text = code(typeText(typed->type));
  } else {
    return std::nullopt;
  }
  std::optional<protocol::Range> now = view.range(range);
  if (!now)
    return std::nullopt;
  protocol::Hover result(*now);
  result.contents.value = std::move(text);
  return result;
}

} // namespace dbc::lsp
