// What a short text makes large, by doubling: values of many components, layers of many params. For fns that
// call fns see Expansion.h. Nothing else in a model becomes more than a small multiple of its text, so these
// have limits of their own.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_SIZES_H
#define DBC_FRONTEND_SIZES_H

#include "frontend/check/CheckerBase.h"

#include <map>
#include <unordered_map>

namespace dbc::frontend {

/// What values and layers hold: never themselves, nor too many components.
class Sizes : CheckerBase {
public:
  Sizes(CheckedProgram &out, Reporter &reporter) : CheckerBase(out, reporter) {}

  /// Reports a type whose values have too many components, or an extent that no shape holds, and gives false.
  bool isBounded(const Type *type, SourceRange range);
  void checkRecords();
  bool checkLayers(); ///< false where one holds itself

private:
  /// Of how many numbers, tensors, nodes and lists of these a value is made; what is beyond kMostComponents
  /// is kMostComponents + 1.
  size_t componentsOf(const Type *type);
  void checkRecordSizes();
  void checkParamCount();

  std::unordered_map<const Type *, size_t> tupleComponents_; ///< of tuples
  std::map<const RecordInfo *, size_t> recordComponents_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_SIZES_H
