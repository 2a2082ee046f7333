// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the runtime needs to tell the first of an input's errors, see dbc/first_error.h.
#pragma once

#include "codegen/common/ModelNames.h"
#include "codegen/common/Writer.h"

namespace dbc::codegen {

/// The order of evaluation of a program's entry, in the program's namespace; and how the table of entries
/// names it, "" where it is not known.
void emitOrder(const ModelNames &model, const Program &program, Writer &out);
std::string orderOf(const ModelNames &model, const Program &program);

/// What the runtime knows a check in a row of a stage's index set by, as dbc::ComputedError has it:
/// "{7, 3, dbc::position_of(plan.map, row)}". `plan` stands before members of the plan.
std::string eventOfRow(const ModelNames &model, const Program &program, mlir::Operation *check,
                       std::string row, llvm::StringRef plan);

/// "table, row" of what an index set's row belongs to: its node or its input. `plan` stands before names of
/// the plan's members.
std::pair<std::string, std::string> ownerOfRow(const ModelNames &model, const Program &program,
                                               kernel::IndexSetOp indexSet, std::string row,
                                               llvm::StringRef plan);
std::string ownerText(const ModelNames &model, const Program &program, kernel::IndexSetOp indexSet,
                      std::string row, llvm::StringRef plan);

} // namespace dbc::codegen
