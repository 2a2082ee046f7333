// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Changes.h"

#include <algorithm>

namespace dbc::lsp {

CommonEnds commonEnds(std::string_view a, std::string_view b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t prefix = 0, suffix = 0;
  while (prefix < shorter && a[prefix] == b[prefix])
    ++prefix;
  while (suffix < shorter - prefix && a[a.size() - 1 - suffix] == b[b.size() - 1 - suffix])
    ++suffix;
  return {static_cast<uint32_t>(prefix), static_cast<uint32_t>(suffix)};
}

} // namespace dbc::lsp
