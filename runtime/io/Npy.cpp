// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The .npy reader.
#include "File.h"
#include "Nearest.h"
#include "NpyHeader.h"
#include "Result.h"

#include <cstring>
#include <dbc/io/npy.h>

namespace dbc {

namespace {

/// Reads what stands in a header text, and tests it against the bytes behind it.
bool parse_header(std::string_view text, uint64_t data_size, NpyArray &array, std::string &error) {
  static constexpr std::pair<std::string_view, NpyArray::Type> types[] = {{"<f4", NpyArray::Type::F32},
                                                                          {"<f8", NpyArray::Type::F64},
                                                                          {"<i4", NpyArray::Type::I32},
                                                                          {"<i8", NpyArray::Type::I64}};
  io::NpyHeader header;
  if (!io::parse_npy_header(text, "the dtypes '<f4', '<f8', '<i4' and '<i8'", header, error))
    return false;
  if (header.fortran_order) {
    error = "it is in Fortran order; only C order is read";
    return false;
  }
  for (const auto &[descr, type] : types)
    if (descr == header.descr) {
      array.type = type;
      array.extents = header.extents;
      return io::check_npy_size(header, static_cast<uint64_t>(descr[2] - '0'), data_size, error);
    }
  error = "its dtype is '" + io::shown(header.descr) + "'; '<f4', '<f8', '<i4' and '<i8' are read";
  return false;
}

template <typename T> void widen(const std::vector<unsigned char> &bytes, std::vector<double> &to) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T v;
    std::memcpy(&v, &bytes[i], sizeof v);
    to.push_back(static_cast<double>(v));
  }
}

} // namespace

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are copied as they stand in the file");

std::vector<double> NpyArray::to_doubles() const {
  std::vector<double> all;
  switch (type) {
  case Type::F32:
    widen<float>(bytes, all);
    break;
  case Type::F64:
    widen<double>(bytes, all);
    break;
  case Type::I32:
    widen<int32_t>(bytes, all);
    break;
  case Type::I64:
    widen<int64_t>(bytes, all);
    break;
  }
  return all;
}

Status parse_npy(std::string_view bytes, NpyArray &array) {
  return io::guarded([&]() -> Status {
    NpyArray read;
    std::string error;
    uint64_t text = 0, data = 0;
    if (!io::npy_preamble(bytes, bytes.size(), text, data, error) ||
        !parse_header(bytes.substr(text, data - text), bytes.size() - data, read, error))
      return io::failure("not readable as .npy: " + error);
    read.bytes.assign(bytes.begin() + static_cast<ptrdiff_t>(data), bytes.end());
    array = std::move(read);
    return Status();
  });
}

Status read_npy(const std::string &path, NpyArray &array) {
  return io::guarded([&]() -> Status {
    io::InputFile file;
    std::string error;
    if (!file.open(path, error))
      return io::failure(error);
    char start[12];
    uint64_t n = file.size() < sizeof start ? file.size() : sizeof start;
    if (!file.read(0, start, n, error))
      return io::failure(error);
    NpyArray read;
    uint64_t text = 0, data = 0;
    if (!io::npy_preamble(std::string_view(start, n), file.size(), text, data, error))
      return io::failure("`" + path + "`: " + error);
    std::string head(data - text, '\0');
    if (!file.read(text, head.data(), head.size(), error))
      return io::failure(error);
    if (!parse_header(head, file.size() - data, read, error))
      return io::failure("`" + path + "`: " + error);
    read.bytes.resize(file.size() - data);
    if (!file.read(data, read.bytes.data(), read.bytes.size(), error))
      return io::failure(error);
    array = std::move(read);
    return Status();
  });
}

} // namespace dbc
