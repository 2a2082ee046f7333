// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What makes the rows of looked-up numbers, and lists of rows, before a run or in its course.
#pragma once

#include "codegen/common/ModelNames.h"
#include "codegen/common/Writer.h"
#include <functional>

namespace dbc::codegen {

/// C++ for the numbers of a buffer, where the host has them; may print lines that fetch them.
using NumbersOf = std::function<std::string(kernel::BufferOp)>;

/// The numbers of an index array, in C++.
std::string indexArrayText(const Program &program, kernel::IndexSetOp indexSet, llvm::StringRef array);
void emitDistinct(const Program &program, kernel::DistinctOp op, const NumbersOf &numbersOf, Writer &out);
void emitTranspose(const Program &program, kernel::TransposeOp op, const NumbersOf &numbersOf, Writer &out);

} // namespace dbc::codegen
