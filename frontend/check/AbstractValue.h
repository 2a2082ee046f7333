// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_ABSTRACTVALUE_H
#define DBC_FRONTEND_ABSTRACTVALUE_H

#include "frontend/check/Builtins.h"
#include "frontend/check/Types.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dbc::frontend {

/// What is known about a value before any arithmetic (S1); a tree that has the form of its type.
struct AbstractValue {
  bool computed = false;
  SourceRange where; ///< what made it computed, and why
  std::string why;
  Builtin origin = Builtin::None; ///< softmax, log_softmax, sigmoid: what the value was made by (E1)
  SourceRange originRange;
  size_t ownKey = 0; ///< a key of the cell being checked: its number among the arguments, from 1; else 0
  const Binding *ownValue = nullptr; ///< the captured argument of the cell that it is, unchanged
  std::optional<Shape> number;       ///< an integer, in dims and the unknowns of frontend/check/Descent.h
  std::shared_ptr<const AbstractValue> element; ///< of a list; null for `[]`
  SourceRange ends; ///< of a list: the `while` that its length depends on; invalid where it is structural
  std::vector<AbstractValue> elements; ///< of a tuple or record

  void mark(SourceRange range, const std::string &text) {
    if (computed)
      return;
    computed = true;
    where = range;
    why = text;
  }
  void taint(const AbstractValue &other) {
    if (other.computed)
      mark(other.where, other.why);
  }
};

/// What holds whichever of two values it is.
inline AbstractValue either(const AbstractValue &a, const AbstractValue &b) {
  AbstractValue result = a;
  result.taint(b);
  result.ownKey = a.ownKey == b.ownKey ? a.ownKey : 0;
  result.ownValue = a.ownValue == b.ownValue ? a.ownValue : nullptr;
  if (result.origin == Builtin::None) {
    result.origin = b.origin;
    result.originRange = b.originRange;
  }
  if (!(a.number && b.number && *a.number == *b.number))
    result.number.reset();
  if (b.ends.valid())
    result.ends = b.ends;
  if (a.element && b.element)
    result.element = std::make_shared<AbstractValue>(either(*a.element, *b.element));
  else if (b.element) // a is `[]`
    result.element = b.element;
  for (size_t i = 0; i < result.elements.size() && i < b.elements.size(); ++i)
    result.elements[i] = either(a.elements[i], b.elements[i]);
  return result;
}

/// All numbers of a value become computed.
inline void markAll(AbstractValue &value, const AbstractValue &why) {
  value.taint(why);
  if (value.element) {
    AbstractValue element = *value.element;
    markAll(element, why);
    value.element = std::make_shared<AbstractValue>(element);
  }
  for (AbstractValue &element : value.elements)
    markAll(element, why);
}

/// Two values with the same key are the same to every check.
inline void appendKey(const AbstractValue &value, std::string &key) {
  key += value.computed ? 'c' : 's';
  key += static_cast<char>('A' + static_cast<int>(value.origin));
  key += std::to_string(value.ownKey);
  if (value.ownValue)
    key += "v" + std::to_string(reinterpret_cast<uintptr_t>(value.ownValue));
  if (value.number)
    key += "=" + value.number->str() + ";";
  if (value.element) {
    key += value.ends.valid() ? 'w' : '-';
    key += '[';
    appendKey(*value.element, key);
  }
  for (const AbstractValue &element : value.elements) {
    key += '(';
    appendKey(element, key);
  }
}

} // namespace dbc::frontend

#endif // DBC_FRONTEND_ABSTRACTVALUE_H
