// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The memory of buffers, in C++.
#pragma once

#include "codegen/common/ModelNames.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace dbc::codegen {

/// How many elements a buffer has: its rows, with what lies between them.
std::string elementsOf(const ModelNames &model, const Program &program, kernel::BufferOp buffer);

/// Memory that buffers share: what its pointer is called, its C++ type, elements, and the lines that set the
/// members to it. Of one buffer only the type and the elements matter.
struct SharedMemory {
  std::string name, type, size;
  std::vector<std::string> members;
};
/// `member` says what a buffer is called.
SharedMemory sharedMemory(const ModelNames &model, const Program &program, const Storage &storage,
                          llvm::function_ref<std::string(kernel::BufferOp)> member);

} // namespace dbc::codegen
