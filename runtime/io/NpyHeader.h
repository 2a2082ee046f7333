// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The header of an .npy array, whatever its elements are: what the readers of .npy and of .npz share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dbc::io {

struct NpyHeader {
  std::string descr;            ///< NumPy's word for the elements: "<f4"
  bool fortran_order = false;   ///< the first axis is the one whose elements lie side by side
  std::vector<int64_t> extents; ///< empty for a scalar
};

/// Where an array's header text and its data begin, of `size` bytes. `head` is at least its first 12 bytes,
/// or all of them. False when it is no .npy array; the reason is in `error`.
bool npy_preamble(std::string_view head, uint64_t size, uint64_t &text_begin, uint64_t &data_begin,
                  std::string &error);

/// Reads the header text. Strict: the three keys and nothing else. `dtypes` are those that the caller takes,
/// in the words of messages.
bool parse_npy_header(std::string_view text, std::string_view dtypes, NpyHeader &header, std::string &error);

/// Whether extents times `width`, the bytes of an element, are the `have` bytes that there are.
bool check_npy_size(const NpyHeader &header, uint64_t width, uint64_t have, std::string &error);

} // namespace dbc::io
