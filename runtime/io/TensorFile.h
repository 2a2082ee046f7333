// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Files of named tensors, in the safetensors format: compared with what must be in them, read, and written
// whole.
#pragma once

#include "File.h"

#include <dbc/io/safetensors.h>

namespace dbc::io {

/// A tensor that a file must have, or gets.
struct Tensor {
  std::string name;
  const char *dtype; ///< "F32", "I64"
  std::vector<int64_t> extents;
  uint64_t bytes = 0;
  const void *data = nullptr; ///< to be written, of `bytes`; null: zeros
};

/// A file open for reading, with its header.
class TensorFile {
public:
  /// Reads the header. The message names the file.
  Status open(const std::string &path);
  const SafetensorsHeader &header() const { return header_; }
  /// Null if there is none of that name.
  const SafetensorsEntry *find(const std::string &name) const;
  /// What of the file is not as `wanted`: missing, unexpected, mis-shaped and mis-typed tensors, each on a
  /// line that begins with a line's end; empty if all fits.
  /// `lacking`: tensors that may be there and are not, for hints.
  std::string misfits(const std::vector<Tensor> &wanted, const std::vector<Tensor> &lacking = {}) const;
  /// Reads all bytes of a tensor.
  bool read(const SafetensorsEntry &tensor, void *to, std::string &error) {
    return file_.read(header_.data_begin + tensor.begin, to, tensor.end - tensor.begin, error);
  }

private:
  InputFile file_;
  SafetensorsHeader header_;
  std::vector<size_t> by_name_; ///< numbers of the header's tensors, by their names
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Writes the tensors in their order to `file`, which then is finished and needs but its name.
bool write_tensors(OutputFile &file, const std::string &path, const Metadata &metadata,
                   const std::vector<Tensor> &tensors, std::string &error);

/// A tensor for each parameter, with its data.
std::vector<Tensor> tensors_of(const Weights &weights);

} // namespace dbc::io
