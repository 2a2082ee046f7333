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
  /// Beyond the last one a value of zeros.
  const T &operator[](size_t i) const {
    static const T none{};
    return i < count_ ? data_[i] : none;
  }

private:
  const T *data_ = nullptr;
  size_t count_ = 0;
};

namespace detail {
/// What stands in place of a tensor that is not there. Nobody writes it; it costs address space, and memory
/// only where it is read.
template <class T, int64_t Size> const T *zeros() {
  static T zeros[Size > 0 ? Size : 1];
  return zeros;
}
} // namespace detail

// Views of results are made by the typed header. They borrow the memory of the outputs that they are of, and
// are valid until the next run into these; what they show is of one run. Reading an input that is not there
// (before a run, of a number beyond the batch's) gives zeros and empty lists, as an input that failed has
// them, never memory of something else. That costs a comparison: a loop over all of them may read data().

/// The gradient of a field or argument, at each node or input.
template <class Real> class InputGradient {
public:
  InputGradient(const Outputs &out, std::string_view name)
      : out_(&out), number_(out.input_gradient_number(name)), width_(out.input_gradient_width(number_)) {
    if constexpr (std::is_same_v<Real, double>)
      data_ = out.input_gradient_f64(number_);
    else
      data_ = out.input_gradient_f32(number_);
  }
  /// Whether there is one: the loss depends on it and has run.
  explicit operator bool() const { return data_ != nullptr; }
  /// All values one after the other, `width()` numbers each, in the order of flat arrays; null: none.
  const Real *data() const { return data_; }
  int64_t width() const { return width_; }
  int32_t values() const { return out_->input_gradient_values(number_); }
  /// The numbers of one node, by its `id`, or input: of a list those of all its elements. Empty where there
  /// are none.
  View<Real> operator[](int32_t owner) const {
    if (data_ == nullptr)
      return {};
    const Range range = out_->input_gradient_range(number_, owner);
    return {data_ + range.begin * width_, static_cast<size_t>((range.end - range.begin) * width_)};
  }

private:
  const Outputs *out_;
  int32_t number_;
  int64_t width_;
  const Real *data_;
};

/// One result that is a number for each input.
template <class T> class Scalars {
public:
  Scalars(const Outputs &out, int32_t component)
      : data_(out.numbers<T>(component)), inputs_(data_ != nullptr ? out.inputs() : 0) {}
  /// How many inputs have a result here: all of the run, or none where it is not on the host.
  int32_t inputs() const { return inputs_; }
  const T *data() const { return data_; }
  T operator[](int64_t input) const { return input >= 0 && input < inputs_ ? data_[input] : T(); }

private:
  const T *data_;
  int32_t inputs_;
};

/// One result that is a tensor of `Size` elements, row-major, for each input.
template <class T, int64_t Size> class Tensors {
public:
  static constexpr int64_t size = Size;
  Tensors(const Outputs &out, int32_t component)
      : data_(out.numbers<T>(component)), inputs_(data_ != nullptr ? out.inputs() : 0) {}
  /// How many inputs have a result here: all of the run, or none where it is not on the host.
  int32_t inputs() const { return inputs_; }
  const T *data() const { return data_; }
  /// The `size` elements of one input; never null.
  const T *operator[](int64_t input) const {
    return input >= 0 && input < inputs_ ? data_ + input * Size : detail::zeros<T, Size>();
  }

private:
  const T *data_;
  int32_t inputs_;
};

/// One result that is a list (Depth 1), or a list of lists, for each input; each element is `Size` numbers.
template <class T, int64_t Size, int Depth> class Lists {
public:
  static constexpr int64_t size = Size;
  Lists(const Outputs &out, int32_t component) : data_(out.numbers<T>(component)) {
    for (int d = 0; d < Depth; ++d)
      offsets_[d] = out.offsets(component, d);
    inputs_ = offsets_[0] != nullptr ? out.inputs() : 0;
  }
  int32_t inputs() const { return inputs_; }
  const T *data() const { return data_; }
  /// Where the lists of a depth begin and end: list i of it is offsets(depth)[i] .. offsets(depth)[i + 1]
  /// - 1. Null before a run, and of no such depth.
  const int32_t *offsets(int depth = 0) const {
    return depth >= 0 && depth < Depth ? offsets_[depth] : nullptr;
  }
  /// Number of elements of an input's (outermost) list; 0 of one that is not there.
  int32_t length(int64_t input) const {
    return input >= 0 && input < inputs_ ? offsets_[0][input + 1] - offsets_[0][input] : 0;
  }
  /// Depth 1: where element `i` of the list of `input` begins, `Size` numbers; never null.
  const T *at(int64_t input, int64_t i) const {
    static_assert(Depth == 1, "lists of lists are read through offsets()");
    return i >= 0 && i < length(input) && data_ != nullptr ? data_ + (offsets_[0][input] + i) * Size
                                                           : detail::zeros<T, Size>();
  }

private:
  const T *data_;
  const int32_t *offsets_[Depth];
  int32_t inputs_;
};

} // namespace dbc
