// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How large values of a model's data types must be and can be: what inputs are drawn by (Draw.cpp).
#pragma once

#include <cstdint>
#include <dbc/model_info.h>
#include <vector>

namespace dbc::io {

/// Of values without sharing. Lists have a number of elements from a range, at every depth.
struct Sizes {
  /// What is counted: all nodes, or those on the longest way down.
  enum class Of { Nodes, Ways };
  static constexpr int64_t never = 1 << 20; ///< a size beyond all budgets

  Sizes(const ModelInfo &model, int64_t fewest, int64_t elements, Of of = Of::Nodes);

  std::vector<int64_t> least, most; ///< by data type; `least` is `never` without finite values
  std::vector<std::vector<int64_t>> ctor_least, ctor_most; ///< by data type and constructor

private:
  void round(const ModelInfo &model, const std::vector<int64_t> &old_most);
  void count(const TypeInfo &field, const std::vector<int64_t> &old_most, int64_t &low, int64_t &high) const;

  const int64_t fewest_, elements_;
  const Of of_;
};

} // namespace dbc::io
