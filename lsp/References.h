// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "lsp/Documents.h"

namespace dbc::lsp {

/// One place that a name stands in.
struct Found {
  protocol::Location location;
  const Occurrence *occurrence;
  const Symbol *symbol;                     ///< what was sought, as that document's program has it
  std::shared_ptr<const Analysis> analysis; ///< which owns both
};

/// All places of a symbol of the view's program: in it, and in other open documents whose texts parse and
/// that read the same text where it is declared. Sorted, each once.
std::vector<Found> occurrencesOf(const View &view, const Symbol &symbol);

} // namespace dbc::lsp
