// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "lsp/Documents.h"
#include "lsp/Messages.h"

namespace dbc::lsp {

/// What the front end found in a document's text, as `dbc check` prints it: sorted, equal ones once. What is
/// wrong in a file that it imports stands at the import. A hint is the message's last line.
std::vector<CodedDiagnostic> diagnosticsOf(const Documents &documents, const Document &document);

} // namespace dbc::lsp
