// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the passes decided about a model, in the source's words.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace dbc::driver {

/// One access of a stage to rows that need not be its own.
struct AccessReport {
  std::string what; ///< "reads" or "writes" an array, by its name in the program
  std::string array;
  std::string access;   ///< "contiguous", "strided", "unique", "shared"
  std::string why;      ///< why an index array is needed, or not
  std::string location; ///< file:line:column
};

/// What a stage writes that derivatives are computed from.
struct KeptReport {
  std::string array; ///< by its name in the program
  int64_t bytes = 0; ///< of a row
};

struct StageReport {
  std::string name, location;
  std::vector<std::string> lines;    ///< file:line of all that it computes, each once, in the order of places
  std::string indexSet;              ///< by its name in the program
  std::string rows;                  ///< what it has a row for
  std::string when;                  ///< once, or by level or step of what
  std::string whyNotOnce;            ///< empty if it runs once
  bool readsEarlier = false;         ///< that is as it reads results of earlier levels or steps itself
  std::vector<std::string> products; ///< "450 x 300, at tree_lstm.dyn:23:28"
  std::vector<AccessReport> accesses;
  std::vector<KeptReport> kept; ///< of a loss that is compiled with its gradient
};

/// The table of a cell that has keys behind its node.
struct TableReport {
  std::string cell;
  std::vector<std::string> keys; ///< "`t` in 0..5", "`j` in a range that the input says", "node `b`"
  std::string location;          ///< of the cell's declaration
};

/// Work that is done again for each element of a binder whose variables it does not use.
struct RepeatReport {
  std::string what, location;
  std::string variables, binder; ///< of the binder: "`x`, `s`", and where it stands
  std::string why;
  std::string mend; ///< what the model's author could write in its place
};

/// Something that a model would be faster, or smaller, without.
struct LostReport {
  std::string kind;     ///< "levels", "repeated" or "kept"
  std::string stage;    ///< its name, empty if it is of none
  std::string what;     ///< "`encode.Node` runs by level of `encode`"
  std::string location; ///< file:line:column
  std::string why, mend;
};

/// Buffers over one index set, that keep as many time steps.
struct MemoryReport {
  std::string rows;  ///< what there is a row for
  int64_t bytes = 0; ///< of a row, in all these buffers
  int64_t live = 0;  ///< levels whose rows are kept; 0: all rows are
};

/// Buffers that share memory: it takes what the largest needs, which is its rows' bytes. One that keeps the
/// rows of the last levels alone needs memory for as many as there are in `live` levels.
struct StorageReport {
  struct Part {
    std::string indexSet;
    int64_t bytes = 0; ///< of a row
    int64_t live = 0;  ///< levels whose rows are kept; 0: all rows are
  };
  std::vector<Part> parts;
};

struct ProgramReport {
  std::string entry;
  bool loss = false;
  std::vector<TableReport> tables;
  std::vector<MemoryReport> memory;
  std::vector<StorageReport> storages; ///< all memory of a batch but row numbers, results' and gradients'
  std::vector<StageReport> stages;     ///< in the order in which they run
  llvm::StringSet<> inTables;          ///< file:line:column of what is computed for each value of an index
                                       ///< alone, when the model is made or once a batch
  std::vector<KeptReport> recomputed;  ///< what gradients find again: with --recompute none it would be kept
  std::vector<RepeatReport> repeats;
  std::vector<LostReport> lost;
};

/// Reads all programs of a `batch` module that the whole pipeline of that level has gone over. A number of
/// the emitter's type has `realBytes`.
std::vector<ProgramReport> reportStages(mlir::ModuleOp batch, int64_t realBytes);
/// Fills in ProgramReport::recomputed from what the same programs report where everything is kept.
void addRecomputed(std::vector<ProgramReport> &programs, const std::vector<ProgramReport> &keepingAll);
/// What an entry or loss of a `dyn` module, behind all passes of that level, computes more than once, and no
/// table of its program holds.
std::vector<RepeatReport> reportRepeats(mlir::ModuleOp dyn, const ProgramReport &program);

/// Fills in ProgramReport::lost from the rest. `recompute` is what --recompute says.
void findLost(ProgramReport &program, llvm::StringRef recompute);

/// The shapes of a product's operands: "450 x 300 @ 300".
std::string shapesOf(mlir::linalg::ContractOp product);

/// Which products of the source are computed elsewhere, or could be, and why not.
void printMoves(llvm::raw_ostream &out, mlir::ModuleOp batch);
llvm::json::Value movesToJson(mlir::ModuleOp batch);

/// A table of the stages, and what of the work could not be batched or is done again. With `all` each stage
/// by itself, with each access and what is kept for the gradient.
void print(llvm::raw_ostream &out, const ProgramReport &program, bool all);
llvm::json::Value toJson(const ProgramReport &program);

/// A text that may name a file, whose name may be any bytes: what is not UTF-8, which JSON is, becomes
/// U+FFFD.
std::string inJson(const std::string &text);

} // namespace dbc::driver
