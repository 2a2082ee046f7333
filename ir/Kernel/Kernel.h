// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect in C++: see Kernel.td for what each op means.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

#include "ir/Kernel/KernelDialect.h.inc"
#include "ir/Kernel/KernelEnums.h.inc"

namespace dbc::kernel {
/// See KernelInterfaces.td.
template <class Op> class FailsInput : public mlir::OpTrait::TraitBase<Op, FailsInput> {};

/// An array that an operation reads or writes; one that it adds to, both.
struct Access {
  mlir::FlatSymbolRefAttr array;
  bool reads, writes;
};

/// The values low .. low + width - 1 of a secondary key.
struct KeyRange {
  int64_t low, width;
};
} // namespace dbc::kernel

#define GET_ATTRDEF_CLASSES
#include "ir/Kernel/KernelAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/Kernel/KernelInterfaces.h.inc"
#include "ir/Kernel/KernelTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/Kernel/KernelOps.h.inc"

namespace dbc::kernel {

/// Index arrays that index sets have by their kind, see kernel.index_set: the input or the node that a row is
/// of, the row of the parent that it lies in, its step; of a transpose its rows, and where those of each one
/// begin.
constexpr llvm::StringLiteral kInputArray = "input", kNodeArray = "node", kParentArray = "parent",
                              kStepArray = "step", kRowArray = "row", kBeginArray = "begin";

/// The name of a symbol behind its last dot: "h" of "encode.h"; a number stays with its name: "h.2" of
/// "encode.h.2".
llvm::StringRef unqualifiedName(llvm::StringRef symbol);

/// Erases the locals of a function that are only written, and what writes them.
void dropUnreadLocals(FuncOp func);

/// The type of a number or node in memory: a node is its number there.
mlir::Type stored(mlir::Type type);
/// What a buffer, field or argument has for each row, and a parameter in all.
mlir::Type rowType(mlir::Operation *array);

/// Whether all that an op does is to make a value of what it reads: each thread may do it for itself.
bool isValue(mlir::Operation *op);

/// The buffer of which an operation says that it holds a result of the program: an output, or a gradient of a
/// parameter, a field or an argument. Null of any other operation.
mlir::FlatSymbolRefAttr resultOf(mlir::Operation *op);
/// The buffers that hold results of a program.
llvm::StringSet<> resultsOf(ProgramOp program);

/// Calls `see` with each array that operations within `root` read or write.
void walkAccesses(mlir::Operation *root, llvm::function_ref<void(mlir::Operation *, const Access &)> see);

/// What a library computes of a stage, which then is all of it; null: nothing.
GemmOp gemmOf(FuncOp func);

/// Rows of a sum of outer products that a tile has on a CPU, at most: the runtime's kMostTileRows.
constexpr int64_t kSumTileRows = 12;
/// On a GPU: rows and columns of a tile, and numbers that it has in shared memory, as cuda::kSumTile and
/// cuda::kSumTileScratch.
constexpr int64_t kSumTile = 64, kSumTileScratch = 9216;
int64_t sumTiles(OuterOp outer);
/// Rows of a slice of a sum over rows, as dbc/cuda/arrays.h has them; of more where there are many.
constexpr int64_t kSliceRows = 64;
/// A GPU's tensor cores, and the blocks of threads that use them, as dbc/cuda/arrays.h has them: outputs of
/// an N tile, inputs of a K tile, rows of an M tile, warps, rows of a block of threads in large-M tiles.
constexpr int64_t kNTile = 16, kKTile = 16, kMTile = 8, kWarps = 8, kLargeMRows = 128;

/// Lanes of a warp: threads that take each step together.
constexpr int64_t kLanes = 32;

/// Bytes of shared memory that a block of threads may have: on every GPU with tensor cores for tf32; in
/// large-M tiles, for which sm_80 and sm_90 have it, and where it is not there small tiles take their place;
/// on an H100, and on a GPU with less no matrix is resident.
constexpr int64_t kSharedOfAll = 96 << 10, kSharedOfLargeM = 160 << 10, kSharedOfH100 = 227 << 10;

/// The index set that an index set's rows lie in; null: none.
IndexSetOp parentOf(IndexSetOp indexSet, const mlir::SymbolTable &names);
/// The number of a storage that no buffer of the program has.
uint32_t nextStorage(ProgramOp program);
/// Bytes of a number in an array, `realBytes` those of a real one.
int64_t bytesOf(mlir::Type element, int64_t realBytes);
/// Whether a value is the sum of two others, in either order.
bool isSumOf(mlir::Value value, mlir::Value one, mlir::Value other);

/// Bytes that a local takes in memory of a GPU's block of threads, a multiple of 16, in global memory of 256;
/// or all locals of a function that lie in `memory` and are used. `realBytes` are those of a number.
/// `largeM`: in its large-M tiles.
int64_t blockBytes(LocalOp local, int64_t realBytes, bool largeM = false);
int64_t blockBytes(FuncOp func, Memory memory, int64_t realBytes, bool largeM = false);
/// Whether a local has a slice for each row of a block; what warps add up has none.
bool isOfRows(LocalOp local);

/// A program's persistent loops, in order: the number of one names its kernel.
llvm::SmallVector<TimeStepLoopInterface> persistentLoops(ProgramOp program);

/// Whether a thread does some of a stage's loops for a whole row.
bool computesByRow(FuncOp func);

/// How many blocks of threads a processor's registers are for at once, 4, 2 or 1: a stage's kernel is
/// compiled so that it has no more than its share. Large-M tiles have many numbers in each thread, other
/// products and what threads do for whole rows some, else there are few. A number of 8 bytes takes two
/// registers, and so does the address of each array. Stages of a loop that may be one launch are for the
/// fewest of them all.
int64_t residentBlocks(FuncOp func, int64_t realBytes, bool largeM = false);
/// The most registers of a thread where so many blocks are on a processor at once.
int64_t registersOf(int64_t blocks);

} // namespace dbc::kernel
