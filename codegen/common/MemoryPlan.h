// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The memory that a batch takes on a device, as a formula.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dbc::codegen {

/// How much memory a sub-batch needs on a device: `fixed` bytes and those of arrays, each rounded up to
/// `line` bytes. An array that a batch does not have takes none.
struct MemoryPlan {
  /// `bytes` for each of what is counted. Counts are: "rows" of an index set; "order": rows of an index set
  /// if they are out of order; "begins": rows of an index set, and one more;
  /// "lookups": numbers that are looked up of an index set, at most all that there are, and one more;
  /// "time_steps": time steps of an index set, and one more; "inputs" of the sub-batch; its "nodes" of a data
  /// type; "elements" of a list column in it, behind `level` lists in lists if that is not -1; "blocks": of
  /// threads for the rows of an index set, `rows` each, times tiles, `most` at most; "lookup_blocks": the
  /// same for "lookups"; "sub_batch": the sub-batch itself.
  struct Term {
    std::string count, of;
    int64_t bytes;
    int64_t level = -1;
    int64_t rows = 0, tiles = 0, most = 0;
  };
  struct Array {
    std::string name, kind;
    std::vector<Term> largest; ///< of these; one, but where rows of several index sets share memory
  };
  struct Entry {
    std::string name;
    std::vector<Array> arrays;
  };
  int64_t line = 256;
  int64_t fixed = 256 + 8192; ///< the number of errors; room for 256 of them
  int64_t model = 0;          ///< constants of the model, once for all sessions
  std::vector<Entry> entries;
};

} // namespace dbc::codegen
