// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Reporter.h"

#include <algorithm>

namespace dbc::frontend {

std::string Reporter::quote(SourceRange range) const {
  constexpr size_t kLongest = 40;
  std::string text(shown_.sources().text(range));
  size_t end = text.find('\n');
  if (end != std::string::npos || text.size() > kLongest) {
    text = text.substr(0, std::min(end, kLongest - 3));
    // Do not cut a character of several bytes in two.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80))
      text.pop_back();
    while (!text.empty() && text.back() == ' ')
      text.pop_back();
    text += " ..";
  }
  return "`" + text + "`";
}

std::string Reporter::letComponent(const Type *tuple, const std::string &what) const {
  std::string pattern = "a";
  for (size_t i = 1; i < tuple->elements.size(); ++i)
    pattern += ", _";
  const bool isCut = what.find(" ..`") != std::string::npos;
  return "let (" + pattern + ") = " + (isCut ? ".." : what.substr(1, what.size() - 2)) + ";";
}

Diagnostic &Reporter::noteOperands(Diagnostic &diagnostic, const std::vector<const Expr *> &operands) const {
  for (const Expr *operand : operands)
    diagnostic.note(operand->range, quote(*operand) + " is " + quote(operand->type));
  if (operands.size() == 2)
    noteNamesakes(diagnostic, operands[0]->type, operands[1]->type);
  return diagnostic;
}

static void collectDims(const Type *type, std::vector<const DimVar *> &dims) {
  std::vector<Shape> shapes = type->extents;
  shapes.insert(shapes.end(), type->arguments.begin(), type->arguments.end());
  shapes.push_back(type->bound);
  shapes.push_back(type->count);
  for (const Shape &shape : shapes)
    for (const Shape::Term &term : shape.terms())
      dims.insert(dims.end(), term.dims.begin(), term.dims.end());
  if (type->element)
    collectDims(type->element, dims);
  for (const Type *element : type->elements)
    collectDims(element, dims);
}

void Reporter::noteNamesakes(Diagnostic &diagnostic, const Type *a, const Type *b) const {
  if (!a || !b)
    return;
  std::vector<const DimVar *> left, right;
  collectDims(a, left);
  collectDims(b, right);
  for (const DimVar *one : left)
    for (const DimVar *other : right)
      if (one != other && one->name == other->name) {
        diagnostic.note(one->range, "the first `" + one->name + "` is this dim");
        diagnostic.note(other->range, "the other one is this");
        return;
      }
}

} // namespace dbc::frontend
