// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a training over several processes needs of whatever joins them. dbc/mpi.h has that of MPI.
#pragma once

#include <dbc/status.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dbc {

/// What one rank sends to another, or receives from it. Borrowed; of 0 bytes nothing is sent.
struct SentBytes {
  const void *data = nullptr;
  size_t size = 0;
};
struct ReceivedBytes {
  void *data = nullptr;
  size_t size = 0;
};

/// The ranks of a training: processes, each with a part of the inputs, that make the same calls in the same
/// order. All sums are the trainer's own, in the order of ranks; this moves bytes alone. For one thread.
class Communicator {
public:
  Communicator() = default;
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;
  virtual ~Communicator() = default;

  /// The number of this rank, 0 .. size() - 1.
  virtual int32_t rank() const = 0;
  virtual int32_t size() const = 0;
  /// Sends sent[r] to each rank r, and receives received[r] from it; what is of this rank is passed over.
  /// Both have size() elements, and what one sends has as many bytes as the other expects. Returns when all
  /// of this rank's is sent and there. Fails with io; then nothing further can be exchanged.
  virtual Status exchange(const std::vector<SentBytes> &sent, const std::vector<ReceivedBytes> &received) = 0;
  /// Ends all ranks, for an error that the others do not know of. `code` is the exit code.
  [[noreturn]] virtual void abort(int code) = 0;
};

} // namespace dbc
