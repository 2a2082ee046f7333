// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Words become numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace dbc::bench {

/// Numbers words from 0 by first occurrence; those that come when all but one of `limit` numbers are taken
/// share the last.
class Numbering {
public:
  explicit Numbering(int32_t limit) : limit_(limit) {}

  int32_t operator()(const std::string &word) {
    auto next = static_cast<int32_t>(std::min<size_t>(numbers_.size(), limit_ - 1));
    return numbers_.emplace(word, next).first->second;
  }

private:
  int32_t limit_;
  std::unordered_map<std::string, int32_t> numbers_;
};

} // namespace dbc::bench
