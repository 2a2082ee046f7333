// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What an entry stands for: the tensors behind patterns, and the shape that it has.

#include "driver/weights/Elements.h"
#include "driver/weights/Mapping.h"
#include "driver/weights/Names.h"
#include "runtime/io/Nearest.h"
#include <algorithm>
#include <cassert>
#include <dbc/counted.h>

namespace dbc::driver {

using frontend::DiagnosticEngine;
using Kind = MapExpr::Kind;
using Shape = std::vector<int64_t>;

namespace {

/// More tensors than that no mapping stands for, however its patterns multiply.
constexpr size_t kMostExpressions = 100000;

//---- Patterns ----

/// All names in an expression, those of patterns within it too, which have placeholders of their own.
void namesIn(const MapExpr &expr, std::vector<const std::string *> &names) {
  if (expr.kind == Kind::Tensor)
    names.push_back(&expr.name);
  for (const MapExpr &operand : expr.operands)
    namesIn(operand, names);
}

/// Puts a number for `{index}`; an inner pattern of the same index keeps its own.
void substitute(MapExpr &expr, const std::string &index, int64_t number) {
  if (expr.kind == Kind::Tensor)
    expr.name = withNumber(expr.name, index, number);
  if (expr.isPattern && expr.index == index)
    return;
  for (MapExpr &operand : expr.operands)
    substitute(operand, index, number);
}

/// Whether a name has `{index}` that is not an inner pattern's own.
bool hasPlaceholder(const MapExpr &expr, const std::string &index) {
  if (expr.kind == Kind::Tensor)
    return expr.name.find("{" + index + "}") != std::string::npos;
  return !(expr.isPattern && expr.index == index) &&
         std::any_of(expr.operands.begin(), expr.operands.end(),
                     [&](const MapExpr &operand) { return hasPlaceholder(operand, index); });
}

class Expander {
public:
  /// Without `diagnostics` nothing is said.
  Expander(const TensorSource &source, const std::string &sourceName, DiagnosticEngine *diagnostics)
      : source_(source), sourceName_(sourceName), diagnostics_(diagnostics) {}

  /// Replaces patterns by the lists that they stand for; false after a message.
  bool expand(MapExpr &expr) {
    if (++count_ > kMostExpressions)
      return tooMany(expr);
    if (expr.isPattern && !expandPattern(expr))
      return false;
    if (expr.kind == Kind::Tensor)
      return isThere(expr);
    bool fine = true;
    for (MapExpr &operand : expr.operands)
      fine = expand(operand) && fine && count_ <= kMostExpressions;
    return fine;
  }

private:
  bool wrong(const MapExpr &expr, const std::string &what, const std::string &hint = "") {
    if (diagnostics_)
      diagnostics_->error(expr.range, what).hint(hint);
    return false;
  }
  bool tooMany(const MapExpr &expr) {
    return wrong(expr, "the mapping stands for more than " + std::to_string(kMostExpressions) + " tensors");
  }
  bool expandPattern(MapExpr &expr) {
    std::vector<const std::string *> names;
    namesIn(expr.operands[0], names);
    const std::string placeholder = "{" + expr.index + "}";
    if (!hasPlaceholder(expr.operands[0], expr.index)) {
      if (std::any_of(names.begin(), names.end(),
                      [&](const std::string *name) { return name->find(placeholder) != std::string::npos; }))
        return wrong(
            expr, "`" + placeholder + "` is that of the `stack` within this one",
            R"(another name for one of the two: {"stack": {"stack": "blocks.{i}.{j}", "index": "j"}})");
      return wrong(expr, "no name in this `stack` has `" + placeholder + "`",
                   R"({"stack": "blocks.)" + placeholder + R"(.weight"}, or a list of tensors)");
    }
    const int64_t first = expr.first.value_or(0);
    if (first < 0 || expr.last.value_or(first) < first)
      return wrong(expr, "`first` and `last` are numbers from 0 on, in this order");
    const MapExpr pattern = std::move(expr.operands[0]);
    expr.operands.clear();
    expr.isPattern = false;
    for (int64_t number = first; number <= expr.last.value_or(number); ++number) {
      MapExpr operand = pattern;
      substitute(operand, expr.index, number);
      // With `last` given all must be there; the first one must in any case.
      if (!expr.last && !expr.operands.empty() && !mayBeThere(operand))
        break;
      expr.operands.push_back(std::move(operand));
      if (count_ + expr.operands.size() * names.size() > kMostExpressions)
        return tooMany(expr);
    }
    assert(!expr.operands.empty());
    // A list has none of these.
    expr.index = MapExpr().index;
    expr.first.reset();
    expr.last.reset();
    return true;
  }
  /// Whether there is a tensor for each name, `{j}` of inner patterns standing for any number.
  bool mayBeThere(const MapExpr &expr) const {
    std::vector<const std::string *> names;
    namesIn(expr, names);
    return std::all_of(names.begin(), names.end(), [&](const std::string *name) {
      if (source_.find(*name) >= 0)
        return true;
      const std::vector<SourceTensor> &all = source_.tensors();
      return name->find('{') != std::string::npos &&
             std::any_of(all.begin(), all.end(),
                         [&](const SourceTensor &tensor) { return matchesPattern(tensor.name, *name); });
    });
  }
  bool isThere(const MapExpr &expr) {
    const int64_t tensor = source_.find(expr.name);
    if (tensor < 0) {
      const bool hasIndex = expr.name.find('{') != std::string::npos;
      return wrong(expr, "`" + sourceName_ + "` has no tensor `" + io::shown(expr.name, 200) + "`",
                   hasIndex ? "`{i}` stands for numbers in a `stack` alone" : nearestTo(expr.name));
    }
    const SourceTensor &about = source_.tensors()[static_cast<size_t>(tensor)];
    if (about.unreadable.empty())
      return true;
    const bool isOther = !about.dtype.empty() && bytesOfFloat(about.dtype) == 0;
    return wrong(expr, "tensor `" + io::shown(expr.name, 200) + "` " +
                           (isOther ? "is " + shownTensor(about.dtype, about.extents)
                                    : std::string("cannot be read")) +
                           ": " + about.unreadable);
  }
  std::string nearestTo(const std::string &name) const {
    if (!diagnostics_)
      return "";
    std::vector<std::string> names;
    for (const SourceTensor &tensor : source_.tensors())
      names.push_back(io::shown(tensor.name, 200));
    return frontend::didYouMean(name, names);
  }

  const TensorSource &source_;
  const std::string &sourceName_;
  DiagnosticEngine *diagnostics_;
  size_t count_ = 0;
};

//---- Shapes ----

/// An operand with its shape, for notes.
struct Shaped {
  const MapExpr &expr;
  Shape shape;
};

class Shaper {
public:
  /// Without `diagnostics` nothing is said.
  Shaper(const TensorSource &source, const Shape &ofParam, DiagnosticEngine *diagnostics)
      : source_(source), ofParam_(ofParam), diagnostics_(diagnostics) {}

  std::optional<Shape> shapeOf(const MapExpr &expr) {
    if (expr.kind == Kind::Number)
      return ofParam_;
    if (expr.kind == Kind::Tensor) {
      const int64_t tensor = source_.find(expr.name);
      if (tensor < 0)
        return std::nullopt;
      return source_.tensors()[static_cast<size_t>(tensor)].extents;
    }
    std::vector<Shaped> operands;
    for (const MapExpr &operand : expr.operands) {
      std::optional<Shape> shape = shapeOf(operand);
      if (!shape)
        return std::nullopt;
      operands.push_back({operand, std::move(*shape)});
    }
    switch (expr.kind) {
    case Kind::Transpose:
      return transposed(expr, operands);
    case Kind::Permute:
      return permuted(expr, operands);
    case Kind::Reshape:
      return reshaped(expr, operands);
    case Kind::Gates:
      return ofGates(expr, operands);
    case Kind::Concat:
      return concatenated(expr, operands);
    case Kind::Add:
      return sameShapes(expr, operands, "add") ? std::optional(operands[0].shape) : std::nullopt;
    default:
      if (!sameShapes(expr, operands, "stack"))
        return std::nullopt;
      Shape shape = operands[0].shape;
      shape.insert(shape.begin(), static_cast<int64_t>(operands.size()));
      return shape;
    }
  }

private:
  std::nullopt_t wrong(const MapExpr &expr, const std::vector<Shaped> &operands, const std::string &what,
                       const std::string &hint = "") {
    if (!diagnostics_)
      return std::nullopt;
    frontend::Diagnostic &error = diagnostics_->error(expr.range, what).hint(hint);
    for (const Shaped &operand : operands)
      error.note(operand.expr.range, describe(operand));
    return std::nullopt;
  }
  static std::string describe(const Shaped &operand) {
    const bool isTensor = operand.expr.kind == Kind::Tensor;
    return (isTensor ? "`" + io::shown(operand.expr.name, 200) + "`" : std::string("this")) + " is " +
           shownTensor("f32", operand.shape);
  }

  std::optional<Shape> transposed(const MapExpr &expr, const std::vector<Shaped> &operands) {
    Shape shape = operands[0].shape;
    if (shape.size() < 2)
      return wrong(expr, operands, "`transpose` swaps the last two axes; here are fewer");
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    return shape;
  }
  std::optional<Shape> permuted(const MapExpr &expr, const std::vector<Shaped> &operands) {
    const Shape &from = operands[0].shape;
    Shape shape, sorted = expr.axes;
    std::sort(sorted.begin(), sorted.end());
    for (size_t k = 0; k < sorted.size(); ++k)
      if (sorted[k] != static_cast<int64_t>(k) || sorted.size() != from.size())
        return wrong(expr, operands, "`axes` must be each axis from 0 on, once");
    for (int64_t axis : expr.axes)
      shape.push_back(from[static_cast<size_t>(axis)]);
    return shape;
  }
  std::optional<Shape> reshaped(const MapExpr &expr, const std::vector<Shaped> &operands) {
    const Shape &to = expr.shape ? *expr.shape : ofParam_;
    int64_t before = 1, behind = 1;
    bool fits = std::all_of(to.begin(), to.end(), [](int64_t extent) { return extent > 0; });
    for (int64_t extent : operands[0].shape)
      fits &= !__builtin_mul_overflow(before, extent, &before);
    for (int64_t extent : to)
      fits &= !__builtin_mul_overflow(behind, extent, &behind);
    if (!fits || before != behind)
      return wrong(expr, operands, "`reshape` to " + shownTensor("f32", to) + " needs as many elements");
    return to;
  }
  /// The axis that is meant; counted from the last where it is below 0.
  std::optional<size_t> axisOf(const MapExpr &expr, const std::vector<Shaped> &operands) {
    const int64_t rank = static_cast<int64_t>(operands[0].shape.size());
    const int64_t axis = expr.axis < 0 ? expr.axis + rank : expr.axis;
    if (axis < 0 || axis >= rank)
      return wrong(expr, operands, "there is no axis " + std::to_string(expr.axis));
    return static_cast<size_t>(axis);
  }
  std::optional<Shape> ofGates(const MapExpr &expr, const std::vector<Shaped> &operands) {
    Shape shape = operands[0].shape;
    const std::optional<size_t> axis = axisOf(expr, operands);
    if (!axis)
      return std::nullopt;
    const int64_t gates = static_cast<int64_t>(expr.from.size());
    if (shape[*axis] % gates != 0)
      return wrong(expr, operands,
                   "axis " + std::to_string(*axis) + " has " + counted(shape[*axis], "element") + ", not " +
                       counted(gates, "gate") + " of equal size");
    shape[*axis] = shape[*axis] / gates * static_cast<int64_t>(expr.to.size());
    return shape;
  }
  std::optional<Shape> concatenated(const MapExpr &expr, const std::vector<Shaped> &operands) {
    const std::optional<size_t> axis = axisOf(expr, operands);
    if (!axis)
      return std::nullopt;
    Shape shape = operands[0].shape;
    for (size_t k = 1; k < operands.size(); ++k) {
      Shape other = operands[k].shape;
      if (other.size() == shape.size() && __builtin_add_overflow(shape[*axis], other[*axis], &shape[*axis]))
        return wrong(expr, {}, "the axis becomes too long");
      if (other.size() == shape.size())
        other[*axis] = shape[*axis];
      if (other != shape)
        return wrong(expr, operands, "shapes differ in `concat` beside axis " + std::to_string(*axis));
    }
    return shape;
  }
  bool sameShapes(const MapExpr &expr, const std::vector<Shaped> &operands, const char *what) {
    for (const Shaped &operand : operands)
      if (operand.shape != operands[0].shape) {
        // The first of many says enough.
        wrong(expr, {operands[0], operand}, std::string("shapes differ in `") + what + "`");
        return false;
      }
    return true;
  }

  const TensorSource &source_;
  const Shape &ofParam_;
  DiagnosticEngine *diagnostics_;
};

/// Says that an entry has another shape than its param, and what might help.
void sayMisfit(const MapEntry &entry, const ParamInfo &param, const Shape &shape, const TensorSource &source,
               DiagnosticEngine &diagnostics) {
  std::vector<size_t> tensors;
  tensorsOf(entry.value, source, tensors);
  std::string given = "this gives " + shownTensor("f32", shape);
  if (entry.value.kind == Kind::Tensor) {
    const SourceTensor &tensor = source.tensors()[tensors[0]];
    given = "tensor `" + io::shown(tensor.name, 200) + "` is " + shownTensor(tensor.dtype, tensor.extents);
  }
  frontend::Diagnostic &error = diagnostics.error(
      entry.value.range, "`" + param.name + "` is " + shownTensor("f32", param.extents) + ", but " + given);
  constexpr size_t mostNotes = 8;
  if (entry.value.kind != Kind::Tensor)
    for (size_t k = 0; k < std::min(tensors.size(), mostNotes); ++k) {
      const SourceTensor &tensor = source.tensors()[tensors[k]];
      error.note({}, "tensor `" + io::shown(tensor.name, 200) + "` is " +
                         shownTensor(tensor.dtype, tensor.extents));
    }
  if (tensors.size() > mostNotes && entry.value.kind != Kind::Tensor)
    error.note({}, "and " + counted(tensors.size() - mostNotes, "more tensor"));
  const MapExpr turned = operation(Kind::Transpose, {entry.value});
  const bool isTransposed = entry.value.kind == Kind::Transpose;
  if (shapeOf(turned, source, param.extents) == param.extents)
    error.hint(isTransposed                       ? "without `transpose` it fits"
               : entry.value.kind == Kind::Tensor ? "transposed it fits: " + shownExpr(turned)
                                                  : R"(transposed it fits: {"transpose": ..})");
}

} // namespace

void resolve(Mapping &mapping, const ModelInfo &model, const TensorSource &source,
             const std::string &sourceName, DiagnosticEngine &diagnostics) {
  Expander expander(source, sourceName, &diagnostics);
  std::vector<MapEntry> fine;
  for (MapEntry &entry : mapping.entries) {
    const ParamInfo &param = model.params[static_cast<size_t>(entry.param)];
    if (!expander.expand(entry.value))
      continue;
    std::optional<Shape> shape = Shaper(source, param.extents, &diagnostics).shapeOf(entry.value);
    if (shape && *shape != param.extents)
      sayMisfit(entry, param, *shape, source, diagnostics);
    else if (shape)
      fine.push_back(std::move(entry));
  }
  mapping.entries = std::move(fine);
}

bool expandPatterns(MapExpr &expr, const TensorSource &source) {
  return Expander(source, "", nullptr).expand(expr);
}

std::optional<Shape> shapeOf(const MapExpr &expr, const TensorSource &source, const Shape &ofParam) {
  return Shaper(source, ofParam, nullptr).shapeOf(expr);
}

void tensorsOf(const MapExpr &expr, const TensorSource &source, std::vector<size_t> &tensors) {
  if (expr.kind == Kind::Tensor)
    tensors.push_back(static_cast<size_t>(source.find(expr.name)));
  for (const MapExpr &operand : expr.operands)
    tensorsOf(operand, source, tensors);
}

} // namespace dbc::driver
