// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_DESCENT_H
#define DBC_FRONTEND_DESCENT_H

#include "frontend/check/AbstractValue.h"
#include "frontend/syntax/Diagnostics.h"

#include <deque>
#include <map>

namespace dbc::frontend {

/// Whether recursions end (C3): each call inside one lowers a measure, or keeps it and goes on to another
/// node. What is not proven here is tested by the scheduler for each batch, and remarked.
///
/// Keys, and the elements of ranges, are unknowns of polynomials (frontend/check/Shape.h); ranges bound them.
class Descent {
public:
  using Number = std::optional<Shape>;

  /// An unknown integer low .. high - 1; bounds that are not known have no number.
  Shape unknown(const std::string &name, Number low, Number high);

  /// A cell, by its keys: the unknown of each that is an integer, no number for others. `measure` is what
  /// `by` says.
  void cell(const FuncInfo &cell, std::vector<Number> keys, bool stated, Number measure);
  /// A call inside the body of a cell: what is known of the keys given.
  void call(const FuncInfo &caller, const FuncInfo &callee, SourceRange range,
            const std::vector<AbstractValue> &keys);
  /// After all calls are added: finds the recursions.
  void finish();
  /// Remarks a call of each recursion over numbers that does not end for all that is known.
  void report(DiagnosticEngine &diags) const;
  /// Whether two cells call each other in a circle; of one, whether it is recursive.
  bool inOneRecursion(const FuncInfo *a, const FuncInfo *b) const;

private:
  struct Cell {
    std::vector<Number> keys;
    bool stated = false;
    Number measure;
  };
  struct Call {
    const FuncInfo *caller, *callee;
    SourceRange range;
    std::vector<Number> keys;
    bool goesOn; ///< a node is given that is not the caller's own
  };
  /// The cells that call each other in a circle, and the calls among them.
  struct Recursion {
    std::vector<const FuncInfo *> cells;
    std::vector<const Call *> calls;
  };
  using Measure = std::map<const FuncInfo *, Shape>; ///< of each cell of a recursion, in its keys

  std::vector<Measure> candidates(const Recursion &recursion) const;
  /// How the measure goes on from caller to callee: it falls (also where it stays and a node goes on), it
  /// does not rise, or it may.
  enum class Course { Falls, Stays, Open };
  Course courseOf(const Call &call, const Measure &measure) const;
  const Call *openCall(const Recursion &recursion, const Measure &measure) const;
  bool isBelow(Shape shape, int64_t limit) const;

  std::deque<DimVar> unknowns_;
  std::map<const DimVar *, std::pair<Number, Number>> bounds_;
  std::map<const FuncInfo *, Cell> cells_;
  std::vector<Call> calls_;
  std::vector<Recursion> recursions_;
  std::map<const FuncInfo *, size_t> recursionOf_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_DESCENT_H
