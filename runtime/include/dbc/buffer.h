// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Memory that is kept from batch to batch: aligned arrays that grow and never shrink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

namespace dbc {

/// Every array of the runtime starts at a multiple of this many bytes: one cache line, one AVX-512 vector.
constexpr size_t kAlignment = 64;

/// 64-byte aligned memory for at least `bytes` bytes, rounded up to whole lines. Throws std::bad_alloc; the
/// runtime's entry points turn that into Code::limit.
void *allocate_aligned(size_t bytes);
void free_aligned(void *memory) noexcept;

/// A growable array of plain numbers, 64-byte aligned. `clear` keeps the memory, so that a second batch of
/// the same size allocates nothing.
template <class T> class Array {
  static_assert(std::is_trivially_copyable<T>::value, "plain numbers only");

public:
  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  Array(Array &&other) noexcept { swap(other); }
  Array &operator=(Array &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() { free_aligned(data_); }

  T *data() { return data_; }
  const T *data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T &operator[](size_t i) { return data_[i]; }
  const T &operator[](size_t i) const { return data_[i]; }
  T &back() { return data_[size_ - 1]; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }

  void clear() { size_ = 0; }
  void pop() { --size_; }
  void push(T value) {
    if (__builtin_expect(size_ == capacity_, 0))
      grow(size_ + 1);
    data_[size_++] = value;
  }
  /// Room for `n` elements in all; the elements that are there stay.
  void reserve(size_t n) {
    if (n > capacity_)
      grow(n);
  }
  /// `n` elements; those that are new are not set.
  void resize(size_t n) {
    reserve(n);
    size_ = n;
  }
  /// The same where there is room for `n`.
  void resize_in_room(size_t n) { size_ = n; }
  /// `n` elements, all of them `value`.
  void assign(size_t n, T value) {
    resize(n);
    for (size_t i = 0; i < n; ++i)
      data_[i] = value;
  }
  /// At least `n` elements; those that are new are `value`.
  void extend(size_t n, T value) {
    size_t old = size_;
    if (n <= old)
      return;
    resize(n);
    for (size_t i = old; i < n; ++i)
      data_[i] = value;
  }
  void append(const T *values, size_t n) {
    reserve(size_ + n);
    if (n)
      std::memcpy(data_ + size_, values, n * sizeof(T));
    size_ += n;
  }

private:
  void swap(Array &other) noexcept {
    T *d = data_;
    size_t s = size_, c = capacity_;
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = d, other.size_ = s, other.capacity_ = c;
  }
  __attribute__((cold, noinline)) void grow(size_t n) {
    if (n > SIZE_MAX / sizeof(T) / 2)
      throw std::bad_alloc();
    size_t wanted = n > 2 * capacity_ ? n : 2 * capacity_;
    size_t bytes = (wanted * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    T *fresh = static_cast<T *>(allocate_aligned(bytes));
    if (size_)
      std::memcpy(static_cast<void *>(fresh), data_, size_ * sizeof(T));
    free_aligned(data_);
    data_ = fresh;
    capacity_ = bytes / sizeof(T);
  }

  T *data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

/// An array of row or node numbers.
using IndexArray = Array<int32_t>;

/// Scratch memory of which only the newest contents matter: growing forgets what was there.
class Scratch {
public:
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  Scratch(Scratch &&other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  Scratch &operator=(Scratch &&) = delete;
  ~Scratch() { free_aligned(data_); }

  /// Memory for `count` elements, 64-byte aligned, contents undefined; valid until the next call. Throws
  /// std::bad_alloc.
  template <class T> T *get(size_t count) {
    if (count > SIZE_MAX / sizeof(T) / 2)
      throw std::bad_alloc();
    size_t bytes = count * sizeof(T);
    if (__builtin_expect(bytes > bytes_ || !data_, 0))
      grow(bytes);
    return static_cast<T *>(data_);
  }
  size_t bytes() const { return bytes_; }

private:
  void grow(size_t bytes);

  void *data_ = nullptr;
  size_t bytes_ = 0;
};

} // namespace dbc
