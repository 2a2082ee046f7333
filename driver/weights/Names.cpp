// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/weights/Names.h"
#include "runtime/io/Nearest.h"
#include <algorithm>
#include <cctype>

namespace dbc::driver {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)); }
static bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)); }

std::string withNumber(const std::string &name, const std::string &index, int64_t number) {
  const std::string placeholder = "{" + index + "}", digits = std::to_string(number);
  std::string result = name;
  for (size_t at = 0; (at = result.find(placeholder, at)) != std::string::npos; at += digits.size())
    result.replace(at, placeholder.size(), digits);
  return result;
}

bool matchesPattern(const std::string &name, const std::string &pattern) {
  size_t n = 0, p = 0;
  while (p < pattern.size()) {
    const size_t close = pattern[p] == '{' ? pattern.find('}', p) : std::string::npos;
    if (close != std::string::npos) {
      const size_t begin = n;
      while (n < name.size() && isDigit(name[n]))
        ++n;
      if (n == begin)
        return false;
      p = close + 1;
    } else {
      if (n == name.size() || name[n] != pattern[p])
        return false;
      ++n;
      ++p;
    }
  }
  return n == name.size();
}

std::vector<NumberInName> numbersIn(const std::string &name) {
  std::vector<NumberInName> found;
  if (name.find('{') != std::string::npos) // one that looks like a pattern itself
    return found;
  for (size_t at = 0; at < name.size(); ++at) {
    size_t end = at;
    while (end < name.size() && isDigit(name[end]))
      ++end;
    if (end == at)
      continue;
    // "00" would come back as "0".
    if (end - at <= 6 && (end - at == 1 || name[at] != '0'))
      found.push_back({name.substr(0, at) + "{i}" + name.substr(end), std::stoll(name.substr(at, end - at))});
    at = end;
  }
  return found;
}

std::vector<std::string> wordsOf(const std::string &name) {
  std::vector<std::string> words;
  std::string word;
  auto finish = [&] {
    if (!word.empty())
      words.push_back(word);
    word.clear();
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool isPart = isLetter(c) || isDigit(c);
    const bool begins = i > 0 && isPart &&
                        (isDigit(c) != isDigit(name[i - 1]) ||
                         (isUpper(c) && isLetter(name[i - 1]) && !isUpper(name[i - 1])));
    if (begins || !isPart)
      finish();
    if (isPart)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  finish();
  return words;
}

/// Whether `shorter` leaves letters of `longer` out, but not the first: attn, attention.
static bool abbreviates(const std::string &shorter, const std::string &longer) {
  if (shorter.size() < 2 || shorter[0] != longer[0])
    return false;
  size_t at = 0;
  for (char c : longer)
    at += at < shorter.size() && shorter[at] == c;
  return at == shorter.size();
}

static double likenessOfWords(const std::string &a, const std::string &b) {
  if (a == b)
    return 1;
  if (isDigit(a[0]) || isDigit(b[0]))
    return 0;
  if (abbreviates(a, b) || abbreviates(b, a))
    return 0.8;
  const size_t longest = std::max(a.size(), b.size()), limit = longest / 3;
  const size_t edits = io::edit_distance(a, b, limit);
  return edits <= limit ? 1 - static_cast<double>(edits) / static_cast<double>(longest) : 0;
}

double likeness(const std::vector<std::string> &a, const std::vector<std::string> &b) {
  constexpr size_t most = 32; // words; names of more are a hostile file's
  if (a.empty() || b.empty() || a.size() > most || b.size() > most)
    return a == b ? 1 : 0;
  // The best alignment that keeps the order: row[j] is that of a's first words and b's first j.
  std::vector<double> last(b.size() + 1), row(b.size() + 1);
  for (const std::string &word : a) {
    for (size_t j = 0; j < b.size(); ++j)
      row[j + 1] = std::max({last[j + 1], row[j], last[j] + likenessOfWords(word, b[j])});
    last = row;
  }
  return 2 * last.back() / static_cast<double>(a.size() + b.size());
}

bool inNaturalOrder(const std::string &a, const std::string &b) {
  size_t i = 0, j = 0;
  auto number = [](const std::string &text, size_t &at) {
    while (at < text.size() && text[at] == '0')
      ++at;
    const size_t begin = at;
    while (at < text.size() && isDigit(text[at]))
      ++at;
    return text.substr(begin, at - begin);
  };
  while (i < a.size() && j < b.size()) {
    if (isDigit(a[i]) && isDigit(b[j])) {
      const std::string x = number(a, i), y = number(b, j);
      if (x != y)
        return x.size() != y.size() ? x.size() < y.size() : x < y;
    } else {
      if (a[i] != b[j])
        return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if ((i == a.size()) != (j == b.size()))
    return i == a.size();
  return a < b; // "01" and "1"
}

} // namespace dbc::driver
