// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Hints for misspelt names: the nearest of a set of names by edit distance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dbc::io {

/// Number of single-character insertions, deletions, replacements and swaps of neighbours that make `a` into
/// `b`, or `limit + 1` when it is more than `limit`.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

/// The name in `known` that is nearest to `name`, the first of equals; nullptr when none is within `limit`
/// edits.
const std::string *nearest(std::string_view name, const std::vector<std::string> &known, size_t limit);

/// "; did you mean `x`?" when a known name is close to `name`; otherwise "; known: `a`, `b`" for a short list
/// of names; otherwise nothing. `what` replaces the word "known".
std::string hint(std::string_view name, const std::vector<std::string> &known, std::string_view what);

/// `text` fit for a message: cut to `limit` bytes (at the border of a UTF-8 character, "..." added), control
/// characters replaced by '?'.
std::string shown(std::string_view text, size_t limit = 60);

} // namespace dbc::io
