// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The elements of a mapping's entries, once all shapes are known to fit.

#include "driver/weights/Mapping.h"
#include "driver/weights/Reorder.h"
#include "runtime/io/Nearest.h"
#include <algorithm>

namespace dbc::driver {

using Kind = MapExpr::Kind;
using Shape = std::vector<int64_t>;

namespace {

/// Elements with their shape.
struct Computed {
  std::unique_ptr<Elements> elements;
  Shape shape;
};

size_t axisOf(const MapExpr &expr, const Shape &shape) {
  return static_cast<size_t>(expr.axis < 0 ? expr.axis + static_cast<int64_t>(shape.size()) : expr.axis);
}

std::vector<float> reordered(const MapExpr &expr, const Computed &operand) {
  if (expr.kind == Kind::Gates) {
    std::vector<size_t> order;
    for (const std::string &gate : expr.to)
      order.push_back(
          static_cast<size_t>(std::find(expr.from.begin(), expr.from.end(), gate) - expr.from.begin()));
    return withBlocks(*operand.elements, operand.shape, axisOf(expr, operand.shape), expr.from.size(), order);
  }
  std::vector<int64_t> axes = expr.axes;
  if (expr.kind == Kind::Transpose) {
    for (size_t k = 0; k < operand.shape.size(); ++k)
      axes.push_back(static_cast<int64_t>(k));
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  }
  return permuted(*operand.elements, operand.shape, axes);
}

std::vector<float> added(const std::vector<std::unique_ptr<Elements>> &parts) {
  std::vector<float> sum(parts[0]->data(), parts[0]->data() + parts[0]->size());
  for (size_t p = 1; p < parts.size(); ++p)
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += (*parts[p])[i];
  return sum;
}

/// Computes operands first. Shapes are those that resolve() found.
Status compute(const MapExpr &expr, const Shape &ofParam, TensorSource &source, Computed &result) {
  result.shape = *shapeOf(expr, source, ofParam);
  if (expr.kind == Kind::Number) {
    result.elements =
        std::make_unique<Elements>(std::vector<float>(countOf(ofParam), static_cast<float>(expr.number)));
    return Status();
  }
  if (expr.kind == Kind::Tensor) {
    Status status = source.read(static_cast<size_t>(source.find(expr.name)), result.elements);
    return status.ok()
               ? status
               : Status::error(status.code, "tensor `" + io::shown(expr.name, 200) + "`: " + status.message);
  }
  std::vector<std::unique_ptr<Elements>> parts;
  std::vector<Shape> shapes;
  for (const MapExpr &operand : expr.operands) {
    Computed part;
    if (Status status = compute(operand, ofParam, source, part); !status.ok())
      return status;
    parts.push_back(std::move(part.elements));
    shapes.push_back(std::move(part.shape));
  }
  if (expr.kind == Kind::Reshape)
    result.elements = std::move(parts[0]);
  else if (expr.kind == Kind::Add)
    result.elements = std::make_unique<Elements>(added(parts));
  else if (expr.kind == Kind::Concat)
    result.elements = std::make_unique<Elements>(concatenated(parts, shapes, axisOf(expr, shapes[0])));
  else if (expr.kind == Kind::Stack)
    result.elements = std::make_unique<Elements>(concatenated(parts, shapes, 0));
  else
    result.elements = std::make_unique<Elements>(reordered(expr, {std::move(parts[0]), shapes[0]}));
  return Status();
}

} // namespace

Status evaluate(const MapExpr &expr, const Shape &ofParam, TensorSource &source,
                std::unique_ptr<Elements> &elements) {
  Computed computed;
  Status status = compute(expr, ofParam, source, computed);
  elements = std::move(computed.elements);
  return status;
}

} // namespace dbc::driver
