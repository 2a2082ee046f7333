// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What went wrong in single inputs, put into words. All of this is off the fast path.
#include <dbc/schedule.h>

#include <new>

namespace dbc {

void ScheduleErrors::add(Status status) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  reported_ = true;
  int32_t input = status.input;
  statuses_.fail(input, std::move(status));
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
