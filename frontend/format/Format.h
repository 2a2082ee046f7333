// From text to the same text, laid out as docs/commands.md says under `fmt`.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_FORMAT_H
#define DBC_FRONTEND_FORMAT_H

#include "frontend/syntax/Diagnostics.h"

#include <optional>
#include <string>

namespace dbc::frontend {

/// The text of a file that `sources` knows, with the same tokens and comments and other white space;
/// formatting the result changes nothing. If it does not parse, reports what parseFile reports and returns
/// nothing. Takes time linear in the text.
///
/// Adds the result to `sources` to read it again. Throws std::logic_error if it does not say the same, which
/// is a bug of dbc.
std::optional<std::string> format(uint32_t file, SourceManager &sources, DiagnosticEngine &diags);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_FORMAT_H
