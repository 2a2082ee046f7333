// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Views that the typed headers of compiled models hand in and out. Nothing here owns memory.
#pragma once

#include <dbc/outputs.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace dbc {

/// Some values in a row: borrowed from a vector, from `{a, b}`, or from a pointer and a count. As an argument
/// it need live no longer than the call.
template <class T> class View {
public:
  View() = default;
  View(const T *data, size_t count) : data_(data), count_(count) {}
  View(const std::vector<T> &values) : data_(values.data()), count_(values.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime" // the list lives as long as the call
#endif
  View(std::initializer_list<T> values) : data_(values.begin()), count_(values.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  const T *data() const { return data_; }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + count_; }
  const T &operator[](size_t i) const { return data_[i]; }

private:
  const T *data_ = nullptr;
  size_t count_ = 0;
};

/// One result that is a number for each input.
template <class T> class Scalars {
public:
  Scalars(const T *data, int32_t inputs) : data_(data), inputs_(inputs) {}
  int32_t inputs() const { return inputs_; }
  const T *data() const { return data_; }
  T operator[](int32_t input) const { return data_[input]; }

private:
  const T *data_;
  int32_t inputs_;
};

/// One result that is a tensor of `Size` numbers, row-major, for each input.
template <class T, int64_t Size> class Tensors {
public:
  static constexpr int64_t size = Size;
  Tensors(const T *data, int32_t inputs) : data_(data), inputs_(inputs) {}
  int32_t inputs() const { return inputs_; }
  const T *data() const { return data_; }
  /// The `size` numbers of one input.
  const T *operator[](int32_t input) const { return data_ + input * Size; }

private:
  const T *data_;
  int32_t inputs_;
};

/// One result that is a list (Depth 1), or a list of lists, for each input; each element is `Size` numbers.
template <class T, int64_t Size, int Depth> class Lists {
public:
  static constexpr int64_t size = Size;
  Lists(const T *data, const Outputs &out, int32_t leaf) : data_(data), inputs_(out.inputs()) {
    for (int d = 0; d < Depth; ++d)
      offsets_[d] = out.offsets(leaf, d);
  }
  int32_t inputs() const { return inputs_; }
  const T *data() const { return data_; }
  /// Where the lists of a depth begin and end: list i of it is offsets(depth)[i] .. offsets(depth)[i + 1]
  /// - 1.
  const int32_t *offsets(int depth = 0) const { return offsets_[depth]; }
  /// Number of elements of an input's (outermost) list.
  int32_t length(int32_t input) const { return offsets_[0][input + 1] - offsets_[0][input]; }
  /// Depth 1: where element `i` of the list of `input` begins, `Size` numbers.
  const T *at(int32_t input, int32_t i) const {
    static_assert(Depth == 1, "lists of lists are read through offsets()");
    return data_ + (offsets_[0][input] + int64_t(i)) * Size;
  }

private:
  const T *data_;
  const int32_t *offsets_[Depth];
  int32_t inputs_;
};

} // namespace dbc
