// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Aligned memory, and what a session keeps of it. It goes through operator new, so that a program's own
// allocator sees it.
#include <dbc/buffer.h>
#include <dbc/run.h>

namespace dbc {

void *allocate_aligned(size_t bytes) { return ::operator new(bytes, std::align_val_t(kAlignment)); }

void free_aligned(void *memory) noexcept {
  if (memory)
    ::operator delete(memory, std::align_val_t(kAlignment));
}

void Scratch::grow(size_t bytes) {
  // A little more than asked, so that batches of slowly growing size do not allocate every time.
  size_t wanted = bytes + bytes / 4;
  wanted = (wanted + kAlignment) / kAlignment * kAlignment;
  free_aligned(data_);
  data_ = nullptr;
  bytes_ = 0;
  data_ = allocate_aligned(wanted);
  bytes_ = wanted;
}

Scratch &SessionMemory::buffer_at(int32_t number) {
  if (static_cast<size_t>(number) >= buffers_.size())
    buffers_.resize(number + 1);
  return buffers_[number];
}

void SessionMemory::serve(int32_t workers) {
  if (scratch_.empty())
    scratch_.resize(workers);
}

} // namespace dbc
