// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The ranks of a training as its loop sees them: one, or those of a Communicator. All ranks make the same
// calls in the same order, and all get the same answers, errors of one of them included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <dbc/status.h>
#include <dbc/train/communicator.h>
#include <string>
#include <vector>

namespace dbc::train {

class Ranks {
public:
  /// `communicator` is borrowed; null: this process alone.
  explicit Ranks(Communicator *communicator) : communicator_(communicator) {}

  int32_t rank() const { return communicator_ != nullptr ? communicator_->rank() : 0; }
  int32_t size() const { return communicator_ != nullptr ? communicator_->size() : 1; }
  bool is_first() const { return rank() == 0; }
  bool is_alone() const { return size() == 1; }

  /// As Communicator::exchange; alone it does nothing.
  Status exchange(const std::vector<SentBytes> &sent, const std::vector<ReceivedBytes> &received);
  /// Every rank's `bytes` bytes, in the order of ranks: size() times as many.
  Status gather(const void *own, size_t bytes, void *all);
  /// Every rank's text, which may be of any length.
  Status gather_texts(const std::string &own, std::vector<std::string> &all);
  /// The first rank's bytes, to all.
  Status broadcast(void *data, size_t bytes);
  /// What failed on the first of the ranks where something did; ok: on none.
  Status agree(const Status &own);
  /// Says that all ranks have this error, because each has found it in what all of them have.
  Status agreed(Status failed) {
    is_agreed_ = true;
    return failed;
  }
  /// How long all exchanges took so far, waiting for other ranks included.
  int64_t exchange_ns() const { return exchange_ns_; }
  /// Whether the error that ends the training is one that all ranks have.
  bool is_agreed() const { return is_alone() || is_agreed_; }

private:
  Communicator *communicator_;
  std::string gathered_; ///< memory of gather()
  bool is_agreed_ = false;
  int64_t exchange_ns_ = 0;
};

/// Of the inputs of a batch, of these sizes, those of each rank, by their positions, ascending: from the
/// largest on they go forth and back, and the smallest ones go each to the rank that has least so far.
/// A rank has at most the size of one input more than another.
std::vector<std::vector<size_t>> distribute(const std::vector<int64_t> &sizes, int32_t ranks);

} // namespace dbc::train
