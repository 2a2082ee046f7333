// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include <dbc/cuda/memory.h>

#include <string>

namespace dbc::cuda {

void *DeviceMemory::allocate(size_t bytes) const {
  if (allocator_.allocate == nullptr)
    return backend_->allocate(bytes);
  void *memory = allocator_.allocate(bytes, allocator_.user);
  if (reinterpret_cast<uintptr_t>(memory) % kLine == 0)
    return memory;
  release(memory, bytes); // loads of whole lines would fail
  return nullptr;
}

void DeviceMemory::release(void *memory, size_t bytes) const {
  if (allocator_.allocate == nullptr)
    backend_->release(memory);
  else if (allocator_.release != nullptr)
    allocator_.release(memory, bytes, allocator_.user);
}

Status DeviceMemory::missing(const char *what, size_t needed, size_t limit) const {
  std::string message = std::string("not enough memory on the device for ") + what + ": " +
                        std::to_string(needed) + " bytes are needed";
  if (limit > 0 && needed > limit)
    message += ", " + std::to_string(limit) + " may be held";
  else if (allocator_.allocate != nullptr)
    message +=
        ", which the allocator does not give, or not at a multiple of " + std::to_string(kLine) + " bytes";
  else if (backend_->available != nullptr)
    message += ", " + std::to_string(backend_->available()) + " are available";
  return Status::error(Code::limit, message);
}

} // namespace dbc::cuda
