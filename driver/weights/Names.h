// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Names of params and tensors: how near they are to one another, and numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dbc::driver {

/// The name with `number` for each `{index}`.
std::string withNumber(const std::string &name, const std::string &index, int64_t number);

/// Whether `name` is `pattern` with a number of decimal digits for each `{..}`.
bool matchesPattern(const std::string &name, const std::string &pattern);

/// A number in a name, and the name with `{i}` in its place.
struct NumberInName {
  std::string pattern;
  int64_t number = 0;
};
/// All numbers in a name, each by itself: of at most six digits, without zeros in front. None where the name
/// has a brace.
std::vector<NumberInName> numbersIn(const std::string &name);

/// A name's words, in small letters: "encoder.selfAttn_2" has encoder, self, attn, 2.
std::vector<std::string> wordsOf(const std::string &name);

/// How alike two names' words are, in their order: 0 for nothing, 1 for the same. Abbreviations count.
double likeness(const std::vector<std::string> &a, const std::vector<std::string> &b);

/// Whether names stand in this order where numbers count as numbers: "l.2" before "l.10".
bool inNaturalOrder(const std::string &a, const std::string &b);

} // namespace dbc::driver
