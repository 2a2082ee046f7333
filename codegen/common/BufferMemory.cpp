// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/common/BufferMemory.h"
#include "codegen/common/Writer.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string elementsOf(const ModelNames &model, const Program &program, kernel::BufferOp buffer) {
  std::string count = program.rows(program.find<kernel::IndexSetOp>(buffer.getIndexSet()));
  if (buffer.getLive())
    count = program.window(buffer.getIndexSet(), *buffer.getLive()).name + ".rows()";
  const std::string rows = "size_t(" + count + ")";
  const int64_t stride = model.array(program, buffer.getSymName()).stride;
  return stride == 1 ? rows : rows + " * " + std::to_string(stride);
}

/// They take what the longest needs.
SharedMemory sharedMemory(const ModelNames &model, const Program &program, const Storage &storage,
                          llvm::function_ref<std::string(kernel::BufferOp)> member) {
  const std::string first =
      model.array(program, kernel::BufferOp(storage.buffers.front()).getSymName()).pointee;
  const bool oneType = all_of(storage.buffers, [&](kernel::BufferOp buffer) {
    return model.array(program, buffer.getSymName()).pointee == first;
  });
  SharedMemory shared{"shared" + std::to_string(storage.number), oneType ? first : "unsigned char", "", {}};
  std::vector<std::string> sizes;
  for (kernel::BufferOp buffer : storage.buffers) {
    const Array array = model.array(program, buffer.getSymName());
    const std::string size =
        elementsOf(model, program, buffer) + (oneType ? "" : " * sizeof(" + array.pointee + ")");
    if (!is_contained(sizes, size))
      sizes.push_back(size);
    shared.members.push_back(
        member(buffer) + " = " +
        (oneType ? shared.name : "reinterpret_cast<" + array.pointee + " *>(" + shared.name + ")") + ";");
  }
  shared.size = sizes.size() == 1 ? sizes[0] : "std::max({" + commas(sizes) + "})";
  return shared;
}

} // namespace dbc::codegen
