// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_INVARIANTPARAMETERS_H
#define DBC_FRONTEND_INVARIANTPARAMETERS_H

#include <set>
#include <utility>
#include <vector>

namespace dbc::frontend {

/// Which captured arguments of the cells of one recursion are loop-invariant parameters (manual, C4): those
/// that every call inside passes on, from one parameter to another. On `dyn` it is CapturedValues in
/// ir/Dyn/Recursion.h.
class InvariantParameters {
public:
  /// A parameter of a cell, by the cell's number; gives the parameter's.
  unsigned add(unsigned cell) {
    same_.push_back(same_.size());
    cells_.push_back(cell);
    changed_.push_back(false);
    return same_.size() - 1;
  }
  /// A call passes its caller's parameter `from` as `to`.
  void pass(unsigned from, unsigned to) { same_[find(from)] = find(to); }
  /// A call passes something else as `to`.
  void change(unsigned to) { changes_.push_back(to); }
  /// After all calls are added.
  void finish() {
    for (unsigned to : changes_)
      changed_[find(to)] = true;
    // Two parameters of one cell that calls pass as each other swap: neither is invariant.
    std::set<std::pair<unsigned, unsigned>> seen;
    for (unsigned n = 0; n < same_.size(); ++n)
      if (!seen.insert({cells_[n], find(n)}).second)
        changed_[find(n)] = true;
  }
  bool changes(unsigned parameter) const { return changed_[find(parameter)]; }
  bool same(unsigned a, unsigned b) const { return find(a) == find(b); }

private:
  unsigned find(unsigned n) const {
    while (same_[n] != n)
      n = same_[n];
    return n;
  }

  std::vector<unsigned> same_, cells_, changes_; ///< same_: union-find
  std::vector<bool> changed_;                    ///< of each root
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_INVARIANTPARAMETERS_H
