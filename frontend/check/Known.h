// What is known about a value before any arithmetic (S1): the form in which StructureChecker.cpp follows
// values through a model.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_KNOWN_H
#define DBC_FRONTEND_KNOWN_H

#include "frontend/check/Builtins.h"
#include "frontend/check/Types.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dbc::frontend {

struct Known {
  bool computed = false;
  SourceRange where; ///< what made it computed, and why
  std::string why;
  Builtin origin = Builtin::None; ///< softmax, log_softmax, sigmoid: what the value was made by (E1)
  SourceRange originRange;
  size_t ownKey = 0; ///< a key of the cell being checked: its number among the arguments, from 1; else 0
  const Binding *ownValue = nullptr; ///< the value given to the cell being checked that it is, unchanged
  std::optional<Shape> number;       ///< a whole number, in dims and the unknowns of frontend/check/Descent.h
  std::shared_ptr<const Known> element; ///< of a list; null for `[]`
  SourceRange ends; ///< of a list: the `while` that its length depends on; invalid where it is structural
  std::vector<Known> parts; ///< of a tuple or record

  void mark(SourceRange range, const std::string &text) {
    if (computed)
      return;
    computed = true;
    where = range;
    why = text;
  }
  void taint(const Known &other) {
    if (other.computed)
      mark(other.where, other.why);
  }
};

/// What holds whichever of two values it is.
inline Known either(const Known &a, const Known &b) {
  Known result = a;
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
    result.element = std::make_shared<Known>(either(*a.element, *b.element));
  else if (b.element) // a is `[]`
    result.element = b.element;
  for (size_t i = 0; i < result.parts.size() && i < b.parts.size(); ++i)
    result.parts[i] = either(a.parts[i], b.parts[i]);
  return result;
}

/// All numbers of a value become computed.
inline void markAll(Known &known, const Known &why) {
  known.taint(why);
  if (known.element) {
    Known element = *known.element;
    markAll(element, why);
    known.element = std::make_shared<Known>(element);
  }
  for (Known &part : known.parts)
    markAll(part, why);
}

/// Two values with the same key are the same to every check.
inline void appendKey(const Known &known, std::string &key) {
  key += known.computed ? 'c' : 's';
  key += static_cast<char>('A' + static_cast<int>(known.origin));
  key += std::to_string(known.ownKey);
  if (known.ownValue)
    key += "v" + std::to_string(reinterpret_cast<uintptr_t>(known.ownValue));
  if (known.number)
    key += "=" + known.number->str() + ";";
  if (known.element) {
    key += known.ends.valid() ? 'w' : '-';
    key += '[';
    appendKey(*known.element, key);
  }
  for (const Known &part : known.parts) {
    key += '(';
    appendKey(part, key);
  }
}

} // namespace dbc::frontend

#endif // DBC_FRONTEND_KNOWN_H
