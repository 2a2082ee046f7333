// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The memory of buffers, in C++.
#pragma once

#include "codegen/common/ModelNames.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace dbc::codegen {

/// How many elements a buffer has: its rows, `stride` elements each.
std::string elementsOf(const Program &program, kernel::BufferOp buffer, int64_t stride);

/// Memory that buffers share: what its pointer is called, its C++ type, elements, and the lines that set the
/// members to it. Of one buffer only the type and the elements matter.
struct SharedMemory {
  std::string name, type, size;
  std::vector<std::string> members;
};
/// `strideOf` says how many elements from row to row a buffer has, `member` what it is called.
SharedMemory sharedMemory(const ModelNames &model, const Program &program, const Storage &storage,
                          llvm::function_ref<int64_t(kernel::BufferOp)> strideOf,
                          llvm::function_ref<std::string(kernel::BufferOp)> member);

} // namespace dbc::codegen
