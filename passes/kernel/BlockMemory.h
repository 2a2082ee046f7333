// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What operations of a stage touch of the memory that the threads of a GPU's block have in common.
#pragma once

#include "ir/Kernel/Kernel.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace dbc::passes {

/// Memory of one kind, by what identifies it.
struct MemorySets {
  llvm::SmallPtrSet<const void *, 8> reads, writes;

  bool conflictsWith(const MemorySets &other) const;
  void add(const MemorySets &other);
};

/// Locals, and arrays; buffers of one storage are one array.
struct BlockAccesses {
  MemorySets locals, arrays;

  /// Whether one reads or writes what the other writes.
  bool conflictsWith(const BlockAccesses &other) const {
    return locals.conflictsWith(other.locals) || arrays.conflictsWith(other.arrays);
  }
  bool isEmpty() const {
    return locals.reads.empty() && locals.writes.empty() && arrays.reads.empty() && arrays.writes.empty();
  }
  void add(const BlockAccesses &other) {
    locals.add(other.locals);
    arrays.add(other.arrays);
  }
};

/// The memory of a program's stages.
class BlockMemory {
public:
  explicit BlockMemory(kernel::ProgramOp program);
  /// By an operation and what stands in it. Index arrays are not counted: no stage writes them.
  BlockAccesses touchedBy(mlir::Operation *root) const;

private:
  llvm::DenseMap<mlir::StringAttr, const void *> arrays_;
};

} // namespace dbc::passes
