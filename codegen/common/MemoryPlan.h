// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The memory that a batch takes on a device, as a formula.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dbc::codegen {

/// How much memory a sub-batch needs on a device: `fixed` bytes and those of arrays, each rounded up to
/// `line` bytes. An array that a batch does not have takes none.
struct MemoryPlan {
  /// What is counted.
  enum class Count {
    Rows,         ///< of an index set
    Order,        ///< rows of an index set if they are out of order
    Begins,       ///< rows of an index set, and one more
    Lookups,      ///< numbers that are looked up of an index set, at most all that there are, and one more
    TimeSteps,    ///< time steps of an index set, and one more
    Inputs,       ///< of the sub-batch
    Nodes,        ///< of a data type in the sub-batch
    Elements,     ///< of a list column in it, behind `level` lists in lists if that is not -1
    Blocks,       ///< of threads for the rows of an index set, `rows` each, times tiles, `most` at most
    LookupBlocks, ///< the same for lookups
    SubBatch      ///< the sub-batch itself
  };
  /// `bytes` for each of what is counted.
  struct Term {
    Count count;
    std::string of;
    int64_t bytes;
    int64_t level = -1;
    int64_t rows = 0, tiles = 0, most = 0;
  };
  /// What an array is, as dbc::cuda has functions for it.
  enum class Kind { Result, Input, Zeros, Rows, Decided };
  struct Array {
    std::string name;
    Kind kind;
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

/// As a manifest and emitted code have them: "lookup_blocks", "zeros".
llvm::StringRef wordOf(MemoryPlan::Count count);
llvm::StringRef wordOf(MemoryPlan::Kind kind);

} // namespace dbc::codegen
