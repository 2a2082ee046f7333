// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The memory that one part of a batch needs on a device: all of it is known before anything begins, so it is
// one reservation, kept from part to part.
#pragma once

#include <dbc/cuda/arrays.h>

#include <cstddef>
#include <cstdint>

namespace dbc::cuda {

/// Arrays begin where any load may: at a multiple of this many bytes.
constexpr size_t kLine = 256;
/// What an array of so many bytes takes.
constexpr size_t lines(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// An array that a part of a batch has in the device's memory, and where its address is to be written.
struct Region {
  enum Kind : uint8_t { Result, Input, Rows, Decided };
  Kind kind;
  void *at;         ///< of the pointer that gets the address; null where there is no array
  const void *from; ///< Input: what is copied there
  size_t bytes;
};
/// An array that the host wants at the end.
template <class T> Region result(T **at, size_t count) {
  return {Region::Result, at, nullptr, count * sizeof(T)};
}
/// One that the host has; `from` null: there is none.
template <class T> Region input(const T **at, const T *from, size_t count) {
  return {Region::Input, at, from, from != nullptr ? count * sizeof(T) : 0};
}
/// One that kernels write for each other.
template <class T> Region rows(T **at, size_t count) {
  return {Region::Rows, at, nullptr, count * sizeof(T)};
}
/// One that the host decides from what kernels computed, see Context::put.
inline Region decided(int32_t **at, size_t count) {
  return {Region::Decided, at, nullptr, count * sizeof(int32_t)};
}

/// A piece of memory that grows and never shrinks, of a device or of the host where a device copies fast.
/// Growing forgets what was there.
class Reservation {
public:
  enum Place : uint8_t { Device, Host };
  explicit Reservation(Place place) : place_(place) {}
  Reservation(const Reservation &) = delete;
  Reservation &operator=(const Reservation &) = delete;

  /// Room for so many bytes, and a quarter more where it has to grow, so that batches that grow slowly do not
  /// make it grow each time. Nothing may be using the memory. False where there is no more: then it has none.
  bool reserve(const Backend &backend, size_t bytes);
  void release(const Backend &backend);
  unsigned char *data() const { return data_; }
  size_t bytes() const { return bytes_; }

private:
  bool allocate(const Backend &backend, size_t bytes);
  Place place_;
  unsigned char *data_ = nullptr;
  size_t bytes_ = 0;
};

} // namespace dbc::cuda
