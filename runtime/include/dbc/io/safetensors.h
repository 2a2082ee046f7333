// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Weights in files: the safetensors format (8 bytes with the header's length, a JSON header, the tensors'
// bytes). Reading is strict and either does all or nothing; no function here throws.
#pragma once

#include <cstdint>
#include <dbc/status.h>
#include <dbc/weights.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dbc {

/// One tensor as a safetensors header describes it. `begin` and `end` are bytes counted from the end of the
/// header.
struct SafetensorsEntry {
  std::string name;
  std::string dtype; ///< "F32", "I64", ...
  std::vector<int64_t> extents;
  uint64_t begin = 0, end = 0;
};

/// A checked header: names differ, every tensor's bytes are as many as dtype and shape say, and together they
/// fill the data section without hole or overlap. Tensors stand in the order of their bytes.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
  uint64_t data_begin = 0; ///< where the data section begins in the file
};

/// Reads and checks the header alone.
Status read_safetensors_header(const std::string &path, SafetensorsHeader &header);

/// The same from bytes: `head` is the file's beginning, at least its header if `file_size` allows one.
Status parse_safetensors_header(std::string_view head, uint64_t file_size, SafetensorsHeader &header);

/// Fills `weights` from the file: every parameter must be there under its path, with its shape, as F32, and
/// nothing else may be there ("__metadata__" aside). What is missing, unexpected, mis-shaped or mis-typed is
/// listed in one message, with the nearest name. NaN is an error too, infinities are not (masks have them).
/// On any error `weights` keeps its old content. With `missing` the file may lack parameters: these keep what
/// they have, and their names are put there.
Status load_weights(const std::string &path, Weights &weights, std::vector<std::string> *missing = nullptr);

/// Writes all parameters, in the model's order, to a temporary file beside `path`, brings it to the disk and
/// renames it. On any error, as on a full disk, the message has the reason and `path` is what it was.
Status save_weights(const std::string &path, const Weights &weights);

} // namespace dbc
