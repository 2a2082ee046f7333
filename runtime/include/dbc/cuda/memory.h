// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The memory that one sub-batch needs on a device: all of it is known before anything begins, so it is one
// reservation, kept from sub-batch to sub-batch.
#pragma once

#include <dbc/batch.h>
#include <dbc/cuda/arrays.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dbc::cuda {

/// Arrays begin where any load may: at a multiple of this many bytes.
constexpr size_t kLine = 256;
/// What an array of so many bytes takes.
constexpr size_t lines(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// An array that a sub-batch has in the device's memory, and where its address is to be written.
struct Region {
  enum Kind : uint8_t { Result, Input, Rows, Decided };
  Kind kind;
  void *at;         ///< of the pointer that gets the address; null where there is no array
  const void *from; ///< Input: what is copied there
  size_t bytes;
  int32_t device = -1; ///< Input: whose memory `from` is in already; then it is used there. -1: the host's
  int32_t align = 1;   ///< Input: kernels load so many bytes at once
  bool synced = false; ///< holds kUnset before, where persistent kernels wait for elements
  const char *name = nullptr; ///< of the array, for messages; and bytes of a row, 0: not all are alike
  size_t row = 0;

  /// The same, with these.
  Region named(const char *what, size_t row_bytes) const {
    Region region = *this;
    region.name = what;
    region.row = row_bytes;
    return region;
  }
};
/// An array that the host wants at the end.
template <class T> Region result(T **at, size_t count) {
  return {Region::Result, at, nullptr, count * sizeof(T)};
}
/// One that the host has; `from` null: there is none.
template <class T> Region input(const T **at, const T *from, size_t count) {
  return {Region::Input, at, from, from != nullptr ? count * sizeof(T) : 0};
}
/// The same of zeros.
template <class T> Region zeros(T **at, size_t count) {
  return {Region::Input, at, nullptr, count * sizeof(T)};
}
/// Of a column, which begins at `from`, the given rows of `size` elements; all of it where a device has it
/// already.
template <class T>
Region input(Column<T> *at, const T *from, Range rows, int64_t size, int32_t device = -1, int32_t align = 1) {
  const bool copied = from != nullptr && device < 0;
  at->first = copied ? rows.begin * size : 0;
  if (!copied)
    return {Region::Input, &at->data, from, 0, device, align};
  return input(&at->data, from + at->first,
               static_cast<size_t>(int64_t(rows.end) - rows.begin) * static_cast<size_t>(size));
}
/// An array in which blocks of threads may wait for elements that others write, see ElementSyncGroup.
inline Region synced(Region region) {
  region.synced = true;
  return region;
}
/// One that kernels write for each other.
template <class T> Region rows(T **at, size_t count) {
  return {Region::Rows, at, nullptr, count * sizeof(T)};
}
/// One that the host decides from what kernels computed, see Context::put.
inline Region decided(int32_t **at, size_t count) {
  return {Region::Decided, at, nullptr, count * sizeof(int32_t)};
}

/// Where memory of a device comes from in place of cudaMalloc: a pool of the application's, say. Both are
/// called where memory grows and at the end, with the device the calling thread's current one; but a result
/// that stays there (DeviceResult) is released by whoever drops it, whatever device is the current one there.
struct Allocator {
  /// At least so many bytes at a multiple of 256; null where there is no more.
  void *(*allocate)(size_t bytes, void *user) = nullptr;
  /// Takes back what it gave, as many bytes as were asked for. Nothing that was begun uses them any more.
  void (*release)(void *memory, size_t bytes, void *user) = nullptr;
  void *user = nullptr;
};

/// A device's memory, by the allocator if there is one.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const Backend &backend, const Allocator &allocator)
      : backend_(&backend), allocator_(allocator) {}
  /// Null where there is no more, or where it is not at a multiple of 256.
  void *allocate(size_t bytes) const;
  void release(void *memory, size_t bytes) const;
  /// What is said where there is not enough for `what`. `limit`: of what may be held; 0: none.
  Status missing(const char *what, size_t needed, size_t limit) const;

private:
  const Backend *backend_ = nullptr;
  Allocator allocator_;
};

/// A piece of memory that grows and never shrinks. Growing forgets what was there.
class Reservation {
public:
  /// Room for so many bytes, and a quarter more where it has to grow, so that batches that grow slowly do not
  /// make it grow each time; at most `limit` bytes, 0: any number. Nothing may be using the memory. False
  /// where there is no more: then it has none.
  template <class Memory> bool reserve(const Memory &memory, size_t bytes, size_t limit = 0) {
    if (bytes <= bytes_)
      return true;
    release(memory);
    size_t more = lines(bytes + bytes / 4);
    if (limit > 0) {
      if (bytes > limit)
        return false;
      more = std::min(more, limit);
    }
    for (const size_t wanted : {more, bytes}) {
      data_ = static_cast<unsigned char *>(memory.allocate(wanted));
      bytes_ = data_ != nullptr ? wanted : 0;
      if (data_ != nullptr)
        return true;
    }
    return false;
  }
  template <class Memory> void release(const Memory &memory) {
    if (data_ != nullptr)
      memory.release(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }
  unsigned char *data() const { return data_; }
  size_t bytes() const { return bytes_; }

private:
  unsigned char *data_ = nullptr;
  size_t bytes_ = 0;
};

/// Memory of the host that a device copies from and to fast.
struct HostMemory {
  const Backend &backend;
  void *allocate(size_t bytes) const { return backend.allocate_host(bytes); }
  void release(void *memory, size_t) const { backend.release_host(memory); }
};

} // namespace dbc::cuda
