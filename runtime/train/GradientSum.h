// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A step of an optimizer down the sum of all ranks' gradients.
#pragma once

#include "Messages.h"
#include "Ranks.h"

#include <cstdint>
#include <dbc/buffer.h>
#include <dbc/model_info.h>
#include <dbc/optimizer.h>
#include <dbc/outputs.h>
#include <dbc/status.h>
#include <dbc/weights.h>
#include <optional>
#include <vector>

namespace dbc::train {

/// Each rank owns a part of each parameter. It is sent that part of every rank's gradient, dense or the rows
/// that it has, and adds them up in the order of ranks, so that the bits of a sum follow from the number of
/// ranks and their inputs alone. The sums go back to all ranks, which make the same step; or, sharded, each
/// makes the step of what it owns, keeps the optimizer's state of that alone, and the weights go to all. Both
/// give the same bits. Of G bytes of gradients a rank sends about 2 G (ranks - 1) / ranks, and receives as
/// many.
class GradientSum {
public:
  /// `ranks` is borrowed. `f64`: gradients are double.
  GradientSum(Ranks &ranks, bool f64, bool sharded) : ranks_(ranks), f64_(f64), sharded_(sharded) {}

  /// Makes the step on all ranks. Afterwards all have the same weights, and optimizer.change() is what any
  /// rank changed. `own` has this rank's gradients of the loss `entry`, or none. Where all that have
  /// gradients are frozen nothing is done. Fails with bad_call, on all ranks alike and with nothing changed,
  /// if the gradient is not finite; other errors are of this rank alone. May throw std::bad_alloc.
  Status step(Optimizer &optimizer, Weights &weights, const EntryInfo &entry, const Outputs &own);

  /// Gives the first rank the whole state where each has a part; else `whole` stays empty.
  Status gather_state(const Optimizer &optimizer, const Weights &weights, std::optional<Optimizer> &whole);

private:
  /// What a rank says of its gradient of a parameter to the owner of a part.
  struct Told {
    int64_t width = kNone; ///< numbers in a row; 0: it is dense; kNone: it has none
    int64_t rows = 0;      ///< that lie in the part
  };
  /// What all ranks know of the gradient of a parameter.
  struct Part {
    bool is_given = false;     ///< some rank has it in this step
    bool is_ranged = false;    ///< the optimizer has a part of it alone
    int64_t width = 0;         ///< numbers in a row; 0: it is dense
    std::vector<int64_t> rows; ///< of the sum that each rank owns
  };
  static constexpr int64_t kNone = -1;
  /// Where `told_` and `heard_` have a rank's word of a parameter.
  size_t at(int32_t rank, int32_t param) const {
    return static_cast<size_t>(rank) * parts_.size() + static_cast<size_t>(param);
  }
  ParamRange range_of(int64_t width, size_t size, int32_t rank) const;
  ParamRange own_range(int32_t param, const Weights &weights) const {
    return range_of(parts_[param].width, weights.size(param), ranks_.rank());
  }
  Status tell(const Optimizer &optimizer, const Weights &weights, const Outputs &own);
  template <class Real> Status exchange_parts(const Weights &weights, const Outputs &own);
  template <class Real> void add_dense(int32_t param, const Weights &weights, const Outputs &own);
  template <class Real> void add_sparse(int32_t param, const Weights &weights, const Outputs &own);
  Status agree_on_norm(const Optimizer &optimizer, const Weights &weights, float &norm);
  template <class Real> Status give_sums(const Weights &weights);
  Status give_weights(Optimizer &optimizer, Weights &weights);
  template <class Real> Status add_up(const Weights &weights, const EntryInfo &entry, const Outputs &own);
  template <class ByRows>
  void count_given(const Weights &weights, int32_t rank, size_t number, ByRows by_rows,
                   Messages &messages) const;
  template <class Real>
  Status make_step(Optimizer &optimizer, Weights &weights, const EntryInfo &entry, const Outputs &own);

  Ranks &ranks_;
  const bool f64_, sharded_;
  std::vector<Part> parts_;        ///< by parameter
  std::vector<Told> told_, heard_; ///< by rank and parameter: for that rank, and from it
  Outputs owned_, sum_;            ///< the sum of this rank's parts; of all
  Messages sent_, received_;
  IndexArray rows_;
};

} // namespace dbc::train
