// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Values of the oracle. Every number is a double: f32 because the oracle is the more exact side, integers of
// 32 bits and bools because a double holds them exactly. Copying a value is cheap; nothing is ever changed
// once it is shared. Not thread-safe: a copy counts in what it shares.
#pragma once

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include <cassert>
#include <cstdint>
#include <vector>

namespace dbc::oracle {

/// One flat value of `dyn`: a number, a node, a list; or *unknown*.
///
/// Unknown stands for what cannot be computed: the result of a call whose instance has no value yet, or of an
/// operation that failed. Whatever meets an unknown is unknown. So a body can be walked to its end although
/// parts are missing, which finds all the calls it makes and all the mistakes it contains: by rule S2 neither
/// depends on results.
class Value {
public:
  Value() = default;
  static Value number(double x) {
    Value v;
    v.kind = Kind::Number;
    v.scalar_ = x;
    return v;
  }
  static Value tensor(std::vector<int64_t> shape, std::vector<double> elements) {
    if (shape.empty())
      return number(elements.front());
    Value v;
    v.kind = Kind::Number;
    v.shared_ = new Shared{std::move(shape), std::move(elements), {}};
    return v;
  }
  /// `number` counts among the nodes of the batch.
  static Value node(int32_t number) {
    Value v;
    v.kind = Kind::Node;
    v.scalar_ = number;
    return v;
  }
  static Value list(std::vector<Value> elements) {
    Value v;
    v.kind = Kind::List;
    v.shared_ = new Shared{{}, {}, std::move(elements)};
    return v;
  }

  bool unknown() const { return kind == Kind::Unknown; }
  bool isList() const { return kind == Kind::List; }
  bool isNode() const { return kind == Kind::Node; }
  bool isScalar() const { return kind == Kind::Number && !shared_; }

  double scalar() const {
    assert(isScalar());
    return scalar_;
  }
  int64_t integer() const { return static_cast<int64_t>(scalar()); }
  int32_t node() const {
    assert(kind == Kind::Node);
    return static_cast<int32_t>(scalar_);
  }
  const std::vector<Value> &elements() const {
    assert(kind == Kind::List);
    return shared_->list;
  }
  /// Of a number: its extents, none for a scalar.
  const std::vector<int64_t> &shape() const {
    static const std::vector<int64_t> ofScalar;
    return shared_ ? shared_->shape : ofScalar;
  }
  /// Of a number: how many scalars it holds, and each of them in row-major order.
  int64_t size() const { return shared_ ? static_cast<int64_t>(shared_->elements.size()) : 1; }
  double at(int64_t i) const { return shared_ ? shared_->elements[i] : scalar_; }

  /// What all tensors and lists that this thread made and holds take, in bytes.
  static int64_t liveBytes() { return Shared::live; }

  /// What a tape knows a number by; -1: it is on none, and has no gradient.
  int64_t variable() const { return variable_; }
  Value withVariable(int64_t variable) const {
    Value v = *this;
    v.variable_ = variable;
    return v;
  }

private:
  enum class Kind : uint8_t { Unknown, Number, Node, List };
  /// A tensor, or the elements of a list.
  struct Shared : llvm::RefCountedBase<Shared> {
    Shared(std::vector<int64_t> shape, std::vector<double> elements, std::vector<Value> list)
        : shape(std::move(shape)), elements(std::move(elements)), list(std::move(list)) {
      live += bytes();
    }
    ~Shared() { live -= bytes(); }
    int64_t bytes() const {
      return static_cast<int64_t>(sizeof(Shared) + shape.capacity() * sizeof(int64_t) +
                                  elements.capacity() * sizeof(double) + list.capacity() * sizeof(Value));
    }
    static inline thread_local int64_t live = 0;
    // Never changed, nor is their capacity.
    std::vector<int64_t> shape;   ///< at least one extent
    std::vector<double> elements; ///< row-major
    std::vector<Value> list;
  };
  Kind kind = Kind::Unknown;
  double scalar_ = 0;
  int64_t variable_ = -1;
  llvm::IntrusiveRefCntPtr<const Shared> shared_;
};

} // namespace dbc::oracle
