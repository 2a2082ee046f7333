// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Files of tensors that other programs wrote: safetensors, and NumPy's .npz.
#pragma once

#include "driver/weights/Elements.h"
#include <cstdint>
#include <dbc/status.h>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dbc::driver {

/// A tensor as its file describes it.
struct SourceTensor {
  std::string name;
  std::string dtype; ///< safetensors' name, "F32"; of what has none there NumPy's
  std::vector<int64_t> extents;
  std::string unreadable; ///< why its elements cannot become f32; empty if they can
};

/// An open file. Its names differ. Not thread-safe.
class TensorSource {
public:
  virtual ~TensorSource() = default;
  /// In the order of the file.
  const std::vector<SourceTensor> &tensors() const { return tensors_; }
  /// The number of the tensor of a name, or -1.
  int64_t find(const std::string &name) const;
  /// All elements of a readable tensor as f32. An error says what is wrong with its bytes. May throw
  /// std::bad_alloc.
  virtual Status read(size_t tensor, std::unique_ptr<Elements> &elements) = 0;

protected:
  /// False if its name is taken.
  bool add(SourceTensor tensor);

private:
  std::vector<SourceTensor> tensors_;
  std::map<std::string, size_t> byName_;
};

/// Maps a file into memory and reads what is in it; which format it has is told from its first bytes.
/// Messages name the file.
Status openSource(const std::string &path, std::unique_ptr<TensorSource> &source);

/// The same of bytes, which must stay where they are as long as the source lives. Messages name no file.
Status parseSource(std::string_view bytes, std::unique_ptr<TensorSource> &source);

} // namespace dbc::driver
