// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The header of a safetensors file, read event by event: its form leaves no room for anything that would have
// to be kept, so a hostile header costs no more memory than its tensors' names and shapes.
#include "SafetensorsHeader.h"
#include "JsonSax.h"

#include <algorithm>
#include <dbc/counted.h>
#include <limits>
#include <tuple>

namespace dbc::io {

namespace {

// Shapes of real tensors have a handful of axes; a header of 100 MB of ones should not pass.
constexpr size_t max_rank = 32;

/// Bytes of one element, 0 for a dtype that the format does not have.
uint64_t bytes_of(std::string_view dtype) {
  static constexpr std::pair<std::string_view, uint64_t> known[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"F64", 8},     {"I64", 8}, {"U64", 8}};
  for (auto &[name, bytes] : known)
    if (name == dtype)
      return bytes;
  return 0;
}

/// Where in the header the next event stands.
enum class At {
  Top,
  Entries,
  EntryValue,
  Keys,
  Dtype,
  Shape,
  InShape,
  Offsets,
  InOffsets,
  Metadata,
  InMetadata,
  Done
};

struct HeaderHandler : JsonEvents {
  SafetensorsHeader &header;
  At at = At::Top;
  bool has_dtype = false, has_shape = false, has_offsets = false, has_metadata = false;
  int offsets = 0;
  HeaderHandler(SafetensorsHeader &header) : header(header) {}

  SafetensorsEntry &entry() { return header.tensors.back(); }
  std::string where() {
    switch (at) {
    case At::Top:
    case At::Done:
    case At::Entries:
      return "the header";
    case At::Metadata:
    case At::InMetadata:
      return "`__metadata__`";
    default:
      return "tensor `" + shown(entry().name) + "`";
    }
  }
  bool fail(const std::string &what) {
    error = where() + ": " + what;
    return false;
  }
  bool unexpected(const char *what) {
    static const char *const wanted[] = {"an object",
                                         "a name",
                                         "an object",
                                         "a key",
                                         "a string for `dtype`",
                                         "an array for `shape`",
                                         "extents",
                                         "an array for `data_offsets`",
                                         "two offsets",
                                         "an object",
                                         "strings",
                                         "nothing"};
    return fail(std::string(what) + " where " + wanted[static_cast<int>(at)] + " must stand");
  }

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a bool"); }
  bool number_integer(int64_t) { return unexpected("a negative number"); }
  bool number_float(double, const std::string &) { return unexpected("a number that is no integer"); }
  bool number_unsigned(uint64_t v) {
    if (at == At::InShape) {
      if (v > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
          entry().extents.size() == max_rank)
        return fail("shape is beyond all bounds");
      entry().extents.push_back(static_cast<int64_t>(v));
      return true;
    }
    if (at == At::InOffsets && offsets < 2) {
      (offsets++ ? entry().end : entry().begin) = v;
      return true;
    }
    return unexpected("a number");
  }
  bool string(std::string &s) {
    if (at == At::Dtype) {
      entry().dtype = s;
      at = At::Keys;
      return true;
    }
    if (at == At::InMetadata) {
      header.metadata.back().second = s;
      return true;
    }
    return unexpected("a string");
  }
  bool start_array(size_t) {
    if (at != At::Shape && at != At::Offsets)
      return unexpected("an array");
    at = at == At::Shape ? At::InShape : At::InOffsets;
    return true;
  }
  bool end_array() {
    if (at == At::InOffsets && offsets != 2)
      return fail("`data_offsets` must be two numbers");
    at = At::Keys;
    return true;
  }
  bool start_object(size_t) {
    switch (at) {
    case At::Top:
      at = At::Entries;
      return true;
    case At::EntryValue:
      at = At::Keys;
      return true;
    case At::Metadata:
      at = At::InMetadata;
      return true;
    default:
      return unexpected("an object");
    }
  }
  bool key(std::string &s) {
    if (at == At::InMetadata) {
      header.metadata.emplace_back(s, std::string());
      return true;
    }
    if (at == At::Entries) {
      if (s == "__metadata__") {
        if (has_metadata)
          return fail("`__metadata__` stands twice");
        has_metadata = true;
        at = At::Metadata;
        return true;
      }
      header.tensors.emplace_back();
      entry().name = s;
      has_dtype = has_shape = has_offsets = false;
      offsets = 0;
      at = At::EntryValue;
      return true;
    }
    // The three keys of a tensor.
    bool *seen = s == "dtype"          ? &has_dtype
                 : s == "shape"        ? &has_shape
                 : s == "data_offsets" ? &has_offsets
                                       : nullptr;
    if (!seen)
      return fail("unknown key `" + shown(s) + "`");
    if (*seen)
      return fail("`" + s + "` stands twice");
    *seen = true;
    at = seen == &has_dtype ? At::Dtype : seen == &has_shape ? At::Shape : At::Offsets;
    return true;
  }
  bool end_object() {
    if (at == At::Keys) {
      if (!has_dtype || !has_shape || !has_offsets)
        return fail(std::string("no `") +
                    (!has_dtype   ? "dtype"
                     : !has_shape ? "shape"
                                  : "data_offsets") +
                    "`");
      at = At::Entries;
    } else if (at == At::InMetadata) {
      at = At::Entries;
    } else {
      at = At::Done;
    }
    return true;
  }
};

/// Checks the bytes of one tensor against its dtype and shape.
bool check_size(const SafetensorsEntry &t, uint64_t data_size, std::string &error) {
  uint64_t bytes = bytes_of(t.dtype);
  error = "tensor `" + shown(t.name) + "`: ";
  if (!bytes) {
    error += "unknown dtype `" + shown(t.dtype) + "`";
    return false;
  }
  if (t.begin > t.end || t.end > data_size) {
    error += "data_offsets " + std::to_string(t.begin) + " .. " + std::to_string(t.end) +
             " are not within the file's " + counted(data_size, "byte") + " of data";
    return false;
  }
  bool none = std::find(t.extents.begin(), t.extents.end(), 0) != t.extents.end();
  uint64_t want = none ? 0 : bytes;
  for (int64_t e : t.extents)
    if (__builtin_mul_overflow(want, static_cast<uint64_t>(e), &want)) {
      error += "shape is beyond all bounds";
      return false;
    }
  if (t.end - t.begin != want) {
    error += "shape and dtype need " + counted(want, "byte") + ", data_offsets give " +
             std::to_string(t.end - t.begin);
    return false;
  }
  error.clear();
  return true;
}

} // namespace

const char *other_format(std::string_view head) {
  if (head.substr(0, 4) == std::string_view("PK\3\4", 4))
    return "a zip archive";
  return head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5 ? "a pickle" : nullptr;
}

bool header_length(std::string_view head, uint64_t file_size, uint64_t &length, std::string &error) {
  if (file_size < 8 || head.size() < 8) {
    error = "too short for a safetensors file";
    return false;
  }
  length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(head[i]);
  if (const char *other = other_format(head); other && length > std::min(max_header, file_size - 8)) {
    error = std::string("not a safetensors file but ") + other;
    return false;
  }
  if (length > max_header) {
    error = "not a safetensors file: its header would have " + std::to_string(length) + " bytes, at most " +
            std::to_string(max_header) + " are allowed";
    return false;
  }
  if (length > file_size - 8) {
    error = "the file ends within its header: " + counted(length, "byte is", "bytes are") + " promised, " +
            std::to_string(file_size - 8) + " are there";
    return false;
  }
  return true;
}

bool parse_header(std::string_view head, uint64_t file_size, SafetensorsHeader &header, std::string &error) {
  header = SafetensorsHeader();
  uint64_t length = 0;
  if (!header_length(head, file_size, length, error))
    return false;
  if (head.size() - 8 < length) {
    error = "the file ends within its header";
    return false;
  }
  std::string_view text = head.substr(8, length);
  if (text.empty() || text[0] != '{') {
    error = "the header must begin with `{`";
    return false;
  }
  HeaderHandler handler(header);
  if (!parse_json(text, handler)) {
    error = handler.error;
    return false;
  }
  header.data_begin = 8 + length;
  uint64_t data_size = file_size - header.data_begin;

  // Two tensors of one name, then the bytes: in order of their offsets each must begin where the last one
  // ended.
  std::vector<SafetensorsEntry> &all = header.tensors;
  std::sort(all.begin(), all.end(), [](auto &a, auto &b) { return a.name < b.name; });
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].name == all[i - 1].name) {
      error = "tensor `" + shown(all[i].name) + "` stands twice";
      return false;
    }
  std::vector<std::string_view> keys;
  for (const auto &m : header.metadata)
    keys.push_back(m.first);
  std::sort(keys.begin(), keys.end());
  auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) {
    error = "`__metadata__`: `" + shown(*twice) + "` stands twice";
    return false;
  }
  for (const SafetensorsEntry &t : all)
    if (!check_size(t, data_size, error))
      return false;
  // Tensors without elements come before the one that begins where they do.
  std::sort(all.begin(), all.end(), [](auto &a, auto &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const SafetensorsEntry &t : all) {
    if (t.begin != at) {
      error = "tensor `" + shown(t.name) + "` begins at byte " + std::to_string(t.begin) + " of the data, " +
              (t.begin < at ? "within the tensor before it" : "after a hole") + " (expected " +
              std::to_string(at) + ")";
      return false;
    }
    at = t.end;
  }
  if (at != data_size) {
    error = "the tensors take " + counted(at, "byte") + " of data, the file has " + std::to_string(data_size);
    return false;
  }
  return true;
}

} // namespace dbc::io
