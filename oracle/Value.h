// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Values of the oracle. Every number is a double: f32 because the oracle is the more exact side, integers of
// 32 bits and bools because a double holds them exactly. Copying a value is cheap; nothing is ever changed
// once it is shared.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <vector>

namespace dbc::oracle {

struct Tensor {
  std::vector<int64_t> shape;   ///< at least one extent
  std::vector<double> elements; ///< row-major
};

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
    v.tensor_ = std::make_shared<const Tensor>(Tensor{std::move(shape), std::move(elements)});
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
    v.list_ = std::make_shared<const std::vector<Value>>(std::move(elements));
    return v;
  }

  bool unknown() const { return kind == Kind::Unknown; }
  bool isList() const { return kind == Kind::List; }
  bool isNode() const { return kind == Kind::Node; }
  bool isScalar() const { return kind == Kind::Number && !tensor_; }

  double scalar() const {
    assert(kind == Kind::Number && !tensor_);
    return scalar_;
  }
  int64_t integer() const { return static_cast<int64_t>(scalar()); }
  int32_t node() const {
    assert(kind == Kind::Node);
    return static_cast<int32_t>(scalar_);
  }
  const std::vector<Value> &elements() const {
    assert(kind == Kind::List);
    return *list_;
  }
  /// Of a number: its extents, none for a scalar.
  std::vector<int64_t> shape() const { return tensor_ ? tensor_->shape : std::vector<int64_t>(); }
  /// Of a number: how many scalars it holds, and each of them in row-major order.
  int64_t size() const { return tensor_ ? static_cast<int64_t>(tensor_->elements.size()) : 1; }
  double at(int64_t i) const { return tensor_ ? tensor_->elements[i] : scalar_; }

  /// What a tape knows a number by; -1: it is on none, and has no gradient.
  int64_t variable() const { return variable_; }
  Value withVariable(int64_t variable) const {
    Value v = *this;
    v.variable_ = variable;
    return v;
  }

private:
  enum class Kind : uint8_t { Unknown, Number, Node, List };
  Kind kind = Kind::Unknown;
  double scalar_ = 0;
  int64_t variable_ = -1;
  std::shared_ptr<const Tensor> tensor_;
  std::shared_ptr<const std::vector<Value>> list_;
};

} // namespace dbc::oracle
