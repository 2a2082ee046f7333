// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What goes wrong in single inputs while a batch is scheduled or computed.
#pragma once

#include <dbc/batch.h>
#include <dbc/first_error.h>
#include <dbc/messages.h>
#include <dbc/status.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

/// Before a function that is hardly ever called, so that the way to it is laid out of the way.
#define DBC_COLD __attribute__((cold, noinline))

namespace dbc {

/// Collects what goes wrong in single inputs while an entry is scheduled or computed. The first failure of
/// each input stays, and of those that threads report from the same launch of a stage the one of the least
/// row; at the end of a run select_first() puts that in its place which comes first in the order of
/// evaluation, so that it depends neither on threads nor on the batch nor on how stages were cut. All
/// reporting functions are cold, may be called from several threads, never throw, and return so that the
/// caller can go on with any harmless value. `at` is a location in the source, "tree_lstm.dyn:12:5", or null.
class ScheduleErrors {
public:
  ScheduleErrors(const Batch &batch, InputStatuses &statuses) : batch_(batch), statuses_(statuses) {}

  /// A field is read that the node (or, with table == batch.args(), the input) does not have.
  DBC_COLD void missing(int32_t table, int32_t row, int32_t column, const char *at = nullptr) noexcept;
  /// Any other error of rule E2; `what`, a, b, c as messages.h says at its kind.
  DBC_COLD void error(int32_t table, int32_t row, ErrorKind kind, const char *at, const char *what = "",
                      int64_t a = 0, int64_t b = 0, int64_t c = 0) noexcept;
  /// The same from row `p` of the index set that a stage runs over, whose failures do not come in order.
  /// `event`: its number, then pairs of a coordinate and its value, see ComputedError.
  DBC_COLD void error_in_row(std::initializer_list<int32_t> event, int32_t p, int32_t table, int32_t row,
                             ErrorKind kind, const char *at, const char *what = "", int64_t a = 0,
                             int64_t b = 0, int64_t c = 0) noexcept;
  /// Anything else: `what` is the end of the message.
  DBC_COLD void fail(int32_t table, int32_t row, const std::string &what) noexcept;

  /// Whether anything was reported since the last begin_round().
  bool any() const { return reported_; }
  void begin_round() { reported_ = false; }
  /// A stage is launched; all that is reported until the next one comes from it, in any order. By the run's
  /// own thread.
  void begin_launch() { ++launch_; }
  /// At the end of a run: each input that failed is left with the first of its errors in the order of
  /// evaluation, of the entry number `entry`.
  void select_first(const EvaluationOrder &order, int32_t entry) noexcept;

private:
  void add(Status status, int32_t p = -1) noexcept; ///< -1: while scheduling
  void remember(size_t input, int32_t p) noexcept;
  void note(int32_t input) noexcept;
  void add_wordless(int32_t table, int32_t row) noexcept; ///< there is no memory for words

  const Batch &batch_;
  InputStatuses &statuses_;
  std::atomic_flag adding_ = ATOMIC_FLAG_INIT; ///< by one thread at a time; a mutex is much to compile
  std::atomic<bool> reported_{false};
  int64_t launch_ = 0; ///< 0: while scheduling, where failures come in order
  struct Origin {
    int64_t launch;
    int32_t row;
  };
  std::vector<Origin> from_;    ///< of the failure of each input; empty if nothing failed yet
  std::vector<int32_t> failed_; ///< inputs that failed while they were scheduled
  /// What stages found wrong.
  struct Computed {
    int32_t input, table, row;
    Origin from;
    ComputedError error;
    ErrorKind kind;
    const char *at, *what;
    int64_t a, b, c;
  };
  void select_first_computed(const EvaluationOrder &order, int32_t entry);
  std::vector<Computed> computed_;
};

} // namespace dbc
