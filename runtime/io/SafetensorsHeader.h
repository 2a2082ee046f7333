// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The header of a safetensors file, without files and Status: what tests and the fuzz target can feed
// directly.
#pragma once

#include <dbc/io/safetensors.h>

namespace dbc::io {

/// The longest header that is read, as in the format's own implementation.
constexpr uint64_t max_header = 100 * 1000 * 1000;

/// The format that a file's first bytes tell, if it is one that weights of other programs are kept in: "a zip
/// archive" (of torch.save or numpy.savez), "a pickle" (of older torch.save); null else. The length of a
/// safetensors header may have the bytes of a pickle: ask once the file was refused.
const char *other_format(std::string_view head);

/// The header's length from a file's first eight bytes, checked against the file's size.
bool header_length(std::string_view head, uint64_t file_size, uint64_t &length, std::string &error);

/// See parse_safetensors_header.
bool parse_header(std::string_view head, uint64_t file_size, SafetensorsHeader &header, std::string &error);

} // namespace dbc::io
