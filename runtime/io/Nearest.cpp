// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Hints for misspelt names, see Nearest.h.
#include "Nearest.h"

#include <algorithm>

namespace dbc::io {

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size())
    std::swap(a, b);
  if (b.size() - a.size() > limit)
    return limit + 1;
  // Three rows of the usual table: the row before the last is needed for swaps of neighbours.
  size_t width = a.size() + 1;
  std::vector<size_t> before(width), last(width), row(width);
  for (size_t i = 0; i < width; ++i)
    last[i] = i;
  for (size_t j = 1; j <= b.size(); ++j) {
    row[0] = j;
    size_t best = j;
    for (size_t i = 1; i < width; ++i) {
      size_t d = last[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d = std::min({d, last[i] + 1, row[i - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d = std::min(d, before[i - 2] + 1);
      row[i] = d;
      best = std::min(best, d);
    }
    if (best > limit)
      return limit + 1;
    before.swap(last);
    last.swap(row);
  }
  return std::min(last[width - 1], limit + 1);
}

const std::string *nearest(std::string_view name, const std::vector<std::string> &known, size_t limit) {
  // A name longer than any real one is a hostile file's; it is not worth a quadratic comparison.
  if (name.size() > 200)
    return nullptr;
  const std::string *best = nullptr;
  for (const std::string &k : known) {
    if (k.size() > 200)
      continue;
    size_t d = edit_distance(name, k, limit);
    if (d > limit)
      continue;
    best = &k;
    if (d == 0)
      break;
    limit = d - 1;
  }
  return best;
}

std::string hint(std::string_view name, const std::vector<std::string> &known, std::string_view what) {
  if (const std::string *k = nearest(name, known, name.size() < 3 ? 0 : std::max<size_t>(1, name.size() / 3)))
    return "; did you mean `" + *k + "`?";
  if (known.empty() || known.size() > 12)
    return "";
  std::string text = "; " + std::string(what) + " ";
  for (size_t i = 0; i < known.size(); ++i)
    text += (i ? ", `" : "`") + known[i] + "`";
  return text;
}

std::string shown(std::string_view text, size_t limit) {
  bool cut = text.size() > limit;
  if (cut) {
    text = text.substr(0, limit);
    // Step back over the bytes of a character that was cut in two.
    size_t n = text.size();
    while (n > 0 && n + 4 > text.size() && (static_cast<unsigned char>(text[n - 1]) & 0xC0) == 0x80)
      --n;
    if (n > 0 && static_cast<unsigned char>(text[n - 1]) >= 0xC0)
      --n;
    text = text.substr(0, n);
  }
  std::string out(text);
  for (char &c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      c = '?';
  return cut ? out + "..." : out;
}

} // namespace dbc::io
