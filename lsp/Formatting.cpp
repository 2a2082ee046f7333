// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/format/Format.h"
#include "lsp/Changes.h"
#include "lsp/Requests.h"

namespace dbc::lsp {

/// Whether a character begins at a byte of a text in UTF-8.
static bool beginsCharacter(const std::string &text, size_t at) {
  return at >= text.size() || (text[at] & 0xC0) != 0x80;
}

std::optional<std::vector<protocol::TextEdit>> formatting(const Document &document) {
  frontend::SourceManager sources;
  frontend::DiagnosticEngine ignored(sources);
  std::optional<std::string> formatted =
      frontend::format(sources.add(document.path(), document.text), sources, ignored);
  if (!formatted)
    return std::nullopt;
  const std::string &now = document.text;
  if (*formatted == now)
    return std::vector<protocol::TextEdit>();
  // What is alike at both ends stays, and with it the editor's marks there.
  auto [begin, end] = commonEnds(now, *formatted);
  while (begin > 0 && !beginsCharacter(now, begin))
    --begin;
  while (end > 0 && !beginsCharacter(now, now.size() - end))
    --end;
  // No edit ends between the two characters of a line end.
  const size_t behind = now.size() - end;
  if (end > 0 && behind > begin && now[behind] == '\n' && now[behind - 1] == '\r')
    --end;
  protocol::TextEdit edit;
  edit.range = Positions(now).range(begin, static_cast<uint32_t>(now.size()) - end);
  edit.newText = formatted->substr(begin, formatted->size() - end - begin);
  return std::vector<protocol::TextEdit>{edit};
}

} // namespace dbc::lsp
