// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The header of an .npy array is a Python dict of a fixed form, read by hand:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
#include "NpyHeader.h"
#include "Nearest.h"
#include <dbc/counted.h>

namespace dbc::io {

namespace {

constexpr uint64_t max_header = 1 << 20;
constexpr size_t max_rank = 64; // NumPy's own limit

/// Reads the dict from left to right.
class Dict {
public:
  explicit Dict(std::string_view text) : rest_(text) {}
  void space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    space();
    if (rest_.substr(0, word.size()) != word)
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool string(std::string_view &value) {
    space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"'))
      return false;
    size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos)
      return false;
    value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return value.find('\\') == std::string_view::npos;
  }
  bool number(int64_t &value) {
    space();
    size_t n = 0;
    value = 0;
    for (; n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '9'; ++n)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, rest_[n] - '0', &value))
        return false;
    rest_.remove_prefix(n);
    return n > 0;
  }
  bool shape(std::vector<int64_t> &extents) {
    if (!take("("))
      return false;
    // "()", "(3,)", "(3, 4)": a comma stands after each number but may be left out after the last of several.
    while (!take(")")) {
      int64_t e;
      if (extents.size() == max_rank || !number(e))
        return false;
      extents.push_back(e);
      if (!take(","))
        return extents.size() > 1 && take(")");
    }
    return true;
  }
  bool done() {
    space();
    return rest_.empty();
  }

private:
  std::string_view rest_;
};

} // namespace

bool parse_npy_header(std::string_view text, std::string_view dtypes, NpyHeader &header, std::string &error) {
  Dict dict(text);
  bool descr = false, order = false, shape = false;
  error = "its header is not a dict of 'descr', 'fortran_order' and 'shape'";
  if (!dict.take("{"))
    return false;
  while (!dict.take("}")) {
    std::string_view key, value;
    if (!dict.string(key) || !dict.take(":"))
      return false;
    if (key == "descr" && !descr) {
      descr = true;
      if (!dict.string(value)) {
        error = "records are not read, only " + std::string(dtypes);
        return false;
      }
      header.descr = value;
    } else if (key == "fortran_order" && !order) {
      order = true;
      header.fortran_order = dict.take("True");
      if (!header.fortran_order && !dict.take("False"))
        return false;
    } else if (key == "shape" && !shape) {
      shape = true;
      if (!dict.shape(header.extents)) {
        error = "its shape is not a tuple of extents";
        return false;
      }
    } else {
      error = "its header has the key '" + shown(key) + "'" +
              (key == "descr" || key == "fortran_order" || key == "shape" ? " twice" : "");
      return false;
    }
    if (!dict.take(",")) {
      if (!dict.take("}"))
        return false;
      break;
    }
  }
  if (!dict.done() || !descr || !order || !shape)
    return false;
  error.clear();
  return true;
}

bool npy_preamble(std::string_view head, uint64_t size, uint64_t &text_begin, uint64_t &data_begin,
                  std::string &error) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(head[i]); };
  error = "it is not a .npy file";
  if (head.size() < 10 || head.substr(0, 6) != "\x93NUMPY")
    return false;
  unsigned major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    error = "its format version is " + std::to_string(major) + "." + std::to_string(minor) +
            "; 1.0, 2.0 and 3.0 are read";
    return false;
  }
  uint64_t length = byte(8) | byte(9) << 8;
  text_begin = 10;
  if (major > 1) {
    if (head.size() < 12)
      return false;
    length |= static_cast<uint64_t>(byte(10)) << 16 | static_cast<uint64_t>(byte(11)) << 24;
    text_begin = 12;
  }
  data_begin = text_begin + length;
  if (length > max_header || data_begin > size) {
    error = "its header would have " + counted(length, "byte");
    return false;
  }
  return true;
}

bool check_npy_size(const NpyHeader &header, uint64_t width, uint64_t have, std::string &error) {
  // The extents other than zero must multiply without overflow even where another is zero: then so does every
  // part of the product, in whatever order a user takes it.
  int64_t want = static_cast<int64_t>(width);
  bool empty = false;
  for (int64_t e : header.extents) {
    empty |= e == 0;
    if (e != 0 && __builtin_mul_overflow(want, e, &want)) {
      error = "its shape is beyond all bounds";
      return false;
    }
  }
  if (empty)
    want = 0;
  if (static_cast<uint64_t>(want) != have) {
    error = "its shape needs " + counted(want, "byte") + " of data, it has " + std::to_string(have);
    return false;
  }
  return true;
}

} // namespace dbc::io
