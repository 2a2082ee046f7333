// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Counts what a program allocates by `new`. For one source file of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

static std::atomic<long> allocations{0};
static void *take(size_t bytes, size_t alignment) {
  ++allocations;
  void *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr)
    throw std::bad_alloc();
  return memory;
}
void *operator new(size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
void *operator new(size_t bytes, std::align_val_t alignment) { return take(bytes, static_cast<size_t>(alignment)); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }
