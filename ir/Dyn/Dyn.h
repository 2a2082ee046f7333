// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `dyn` dialect in C++: see Dyn.td for what each op means.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dbc::dyn {
/// Whether `type` is f32, i32, i1 or a statically shaped tensor of one of them.
bool isNumber(mlir::Type type);
/// Whether `type` may be the type of an SSA value of this dialect: a number, a node, or a list of flat types.
bool isFlat(mlir::Type type);
/// Appends the flat types of a surface type, one a component (see the dialect's description).
void flatten(mlir::Type surface, llvm::SmallVectorImpl<mlir::Type> &flat);
/// The extents of a number: empty for a scalar.
llvm::ArrayRef<int64_t> extents(mlir::Type number);
/// The scalar type of a number.
mlir::Type scalar(mlir::Type number);
/// Where an operation stands in the source, for messages: "tree_lstm.dyn:12:5", without folders; "" if not
/// known.
std::string sourceLocation(mlir::Location location);
/// The source's name for a value, from its location; "" if it has none.
std::string sourceName(mlir::Location location);
/// What the source calls what `op` computes: its name there, or the function or construct that it is a call
/// of; "" if it is written with an operator, or by no word of the source.
std::string sourceWord(mlir::Operation *op);

/// Whether `value` is made of the input's structure alone (manual, S1): known before any arithmetic. A list
/// is structural if its elements are, at any depth; lengths are in any case.
bool isStructural(mlir::Value value);

/// The operand of what makes a list that the list has its length from; null if there is none. A scan's list
/// has no more elements than that.
mlir::Value lengthFrom(mlir::Value list);
/// Whether a `while` ends a list, so that its length is computed (manual, S4).
bool isEnded(mlir::Value list);

/// Whether computing `op` may fail an input (manual, E2): it must not be computed where the source does not.
bool mayFail(mlir::Operation *op);
/// The same, or of an operation inside of it, but for fields: one that is not given fails the input wherever
/// it stands (manual, S3).
bool mayFailButForFields(mlir::Operation *op);
/// Whether it may do so by what is computed, not by structure alone.
bool mayFailComputed(mlir::Operation *op);
/// Lets an operation that may fail by what is computed do no harm where `when` does not hold: what it gives
/// there must not be used (manual, S3, S4). Leaves others as they are.
void guard(mlir::Operation *op, mlir::Value when);

/// An operand that a check looks at, and the number that does no harm there.
struct CheckedOperand {
  unsigned number;
  int64_t harmless;
};
} // namespace dbc::dyn

#include "ir/Dyn/DynDialect.h.inc"
#include "ir/Dyn/DynEnums.h.inc"
#include "ir/Dyn/DynInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Dyn/DynAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/Dyn/DynTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/Dyn/DynOps.h.inc"

namespace dbc::dyn {
/// The numbers of the columns that the values of fields are kept in, over all constructors of a data type, in
/// order: fields of one name and type share one. The same numbering is printed into the model's interface.
llvm::SmallVector<llvm::SmallVector<int>> columnNumbers(DataOp data);

/// Whether a reduction takes numbers of a scalar type.
bool takes(ReduceKind kind, mlir::Type scalar);
/// Whether the reduction of an empty list is an error (manual, E2): it has no value.
bool needsElement(ReduceKind kind);

/// Checks that a type names data types alone that the module has, in this dialect or in `kernel`.
llvm::LogicalResult verifyNodes(mlir::Operation *op, mlir::Type type, mlir::SymbolTableCollection &symbols);

/// Whether the first key of a cell is a node; if not, an instance belongs to an input.
bool startsWithNode(CellOp cell);
/// The keys of a cell behind its node or input.
mlir::Block::BlockArgListType secondaryKeys(CellOp cell);
} // namespace dbc::dyn
