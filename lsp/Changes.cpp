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

Change::Change(std::string_view then, std::string_view now)
    : isSame_(then == now), then_(static_cast<uint32_t>(then.size())),
      now_(static_cast<uint32_t>(now.size())), same_(commonEnds(then, now)) {}

std::optional<uint32_t> Change::nowOfBegin(uint32_t then) const {
  if (isSame_ || then < same_.prefix)
    return then;
  if (then >= then_ - same_.suffix)
    return then + now_ - then_;
  return std::nullopt;
}

std::optional<uint32_t> Change::nowOfEnd(uint32_t then) const {
  if (isSame_ || then <= same_.prefix)
    return then;
  if (then > then_ - same_.suffix)
    return then + now_ - then_;
  return std::nullopt;
}

std::optional<uint32_t> Change::then(uint32_t now) const {
  if (isSame_ || now < same_.prefix)
    return now;
  if (now > now_ - same_.suffix)
    return now + then_ - now_;
  return std::nullopt;
}

uint32_t Change::nearestThen(uint32_t now) const {
  if (now == same_.prefix)
    return now;
  return then(now).value_or(same_.prefix);
}

} // namespace dbc::lsp
