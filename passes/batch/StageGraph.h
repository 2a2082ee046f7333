// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the stages of a program read from each other.
#pragma once

#include "ir/Batch/Batch.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <vector>

namespace dbc::passes {

/// One read of an array by a stage.
struct StageRead {
  llvm::StringRef array;
  llvm::StringRef carried; ///< the loop that carries the read, or empty
  bool own;                ///< of this very row, not through an index array or a list
};

/// The arrays that the stages inside `op` (a stage or a loop) read and write.
struct StageAccess {
  llvm::SmallVector<StageRead> reads;
  llvm::SmallVector<llvm::StringRef> writes;
  /// Of these, arrays written at the stage's own rows; at others they are by a relation, or sums.
  llvm::SmallVector<llvm::StringRef> ownWrites;
};
StageAccess accessesOf(mlir::Operation *op);

/// What some stages read and write, all together.
struct AccessSet {
  llvm::StringSet<> reads, writes;

  void add(const StageAccess &access);
  /// Whether one of them must run before, or behind, a stage or loop that touches this.
  bool conflictsWith(const StageAccess &other) const;
};

/// The buffers that one write sets, at the row of its stage, and nothing else: by name.
llvm::StringMap<batch::WriteOp> soleWrites(kernel::ProgramOp program);

/// The stages of a program and the edges writer -> reader.
class StageGraph {
public:
  struct Edge {
    unsigned from, to;
    llvm::StringRef carried;
  };
  explicit StageGraph(kernel::ProgramOp program);

  llvm::SmallVector<batch::StageOp> stages;  ///< in the order of the program
  std::vector<llvm::SmallVector<Edge>> into; ///< of each stage: the edges to it

  /// Strongly connected components of the stages in `subset`, along edges for which `follow` holds; in an
  /// order in which every component comes after those that it reads from. Within a component, program order.
  llvm::SmallVector<llvm::SmallVector<unsigned>>
  components(llvm::ArrayRef<unsigned> subset, llvm::function_ref<bool(const Edge &)> follow) const;
};

} // namespace dbc::passes
