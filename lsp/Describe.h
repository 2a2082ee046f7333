// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What names are, in words and in the language.
#pragma once

#include "lsp/Analysis.h"

namespace dbc::lsp {

/// "parameter of a function", "dim", "constructor of `Tree`" ..
std::string kindOf(const Symbol &symbol);
/// How the language would declare it: `param W: f32[m, n]`, `fn call(x: f32[n]) -> f32[m]`, `x: f32[m]`; of a
/// layer also its members.
std::string declarationOf(const Analysis &analysis, const Symbol &symbol);
/// In one line, behind the name in a list: a type, a signature.
std::string detailOf(const Analysis &analysis, const Symbol &symbol);
/// The comment on the lines right before its declaration, or else behind it on its line; "" if there is none.
std::string commentOf(const Analysis &analysis, const Symbol &symbol);
/// A type as the source would write it; "" for null and what had an error.
std::string typeText(const frontend::Type *type);

} // namespace dbc::lsp
