// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What went wrong in single inputs, put into words. All of this is off the fast path.
#include <dbc/schedule.h>

#include <new>

namespace dbc {

void ScheduleErrors::add(Status status, int32_t p) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  reported_ = true;
  size_t input = static_cast<size_t>(status.input);
  bool first = statuses_[status.input].ok();
  // Of one launch the least row counts, and in a row, which one thread computes, what comes first.
  if (!first &&
      !(launch_ > 0 && input < from_.size() && from_[input].launch == launch_ && p < from_[input].row))
    return;
  remember(input, p);
  if (first)
    statuses_.fail(status.input, std::move(status));
  else
    statuses_.replace(status.input, std::move(status));
}

void ScheduleErrors::remember(size_t input, int32_t p) noexcept {
  try {
    if (from_.empty())
      from_.resize(static_cast<size_t>(statuses_.inputs()));
    from_[input] = {launch_, p};
  } catch (const std::bad_alloc &) {
    // Then the first to arrive stays.
  }
}

void ScheduleErrors::missing(int32_t table, int32_t row, int32_t column, const char *at) noexcept {
  try {
    add(batch_.describe_missing(table, row, column, at));
  } catch (const std::bad_alloc &) {
    add_wordless(table, row);
  }
}

void ScheduleErrors::fault(int32_t table, int32_t row, Fault fault, const char *at, const char *what,
                           int64_t a, int64_t b, int64_t c) noexcept {
  try {
    fail(table, row, messages::fault_text(fault, what, a, b, c, at));
  } catch (const std::bad_alloc &) {
    add_wordless(table, row);
  }
}

void ScheduleErrors::fault_in_row(int32_t p, int32_t table, int32_t row, Fault fault, const char *at,
                                  const char *what, int64_t a, int64_t b, int64_t c) noexcept {
  try {
    std::string text = messages::fault_text(fault, what, a, b, c, at);
    add(batch_.describe(Code::bad_input, table, row, -1, text), p);
  } catch (const std::bad_alloc &) {
    add_wordless(table, row);
  }
}

void ScheduleErrors::fail(int32_t table, int32_t row, const std::string &what) noexcept {
  try {
    add(batch_.describe(Code::bad_input, table, row, -1, what));
  } catch (const std::bad_alloc &) {
    add_wordless(table, row);
  }
}

void ScheduleErrors::add_wordless(int32_t table, int32_t row) noexcept {
  Status status;
  status.code = Code::limit;
  status.input = batch_.input_of(table, row);
  add(std::move(status));
}

} // namespace dbc
