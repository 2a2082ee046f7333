// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_DIMINFERENCE_H
#define DBC_FRONTEND_DIMINFERENCE_H

#include "frontend/check/CheckerBase.h"

namespace dbc::frontend {

/// Takes the dims of fns and records from the types that they are given (T5).
class DimInference : CheckerBase {
public:
  DimInference(CheckedProgram &out, Reporter &reporter) : CheckerBase(out, reporter) {}

  /// Takes dims from where they stand alone in `declared`.
  static void match(const Type *declared, const Type *actual, const std::set<const DimVar *> &dims,
                    DimMap &map);
  /// Reports dims of a fn or record that no part of it shows alone as an extent.
  void checkInferable(const std::vector<const DimVar *> &dims, const std::vector<const Type *> &types,
                      const std::string &what);
  /// Reports dims that `map` lacks, and gives false.
  bool requireAll(const std::vector<const DimVar *> &dims, const DimMap &map, SourceRange range,
                  const std::string &what);

private:
  std::set<const DimVar *> notInferable_; ///< reported where they are declared
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_DIMINFERENCE_H
