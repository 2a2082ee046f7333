// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What went wrong in single inputs, put into words. All of this is off the fast path.
#include <dbc/schedule.h>

#include <algorithm>
#include <new>
#include <thread>
#include <tuple>

namespace dbc {

namespace {

/// What is done while it lives is done by one thread at a time. It is short, and rare.
class Alone {
public:
  explicit Alone(std::atomic_flag &flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire))
      std::this_thread::yield();
  }
  ~Alone() { flag_.clear(std::memory_order_release); }
  Alone(const Alone &) = delete;
  Alone &operator=(const Alone &) = delete;

private:
  std::atomic_flag &flag_;
};

} // namespace

int32_t position_of(const IndexSet &index_set, int32_t row, bool back) noexcept {
  const int32_t *parents = index_set[0];
  int32_t end = row;
  while (back ? end + 1 < index_set.rows() && parents[end + 1] == parents[row]
              : end > 0 && parents[end - 1] == parents[row])
    end += back ? 1 : -1;
  return back ? end - row : row - end;
}

void ScheduleErrors::add(Status status, int32_t p) noexcept {
  const Alone alone(adding_);
  reported_ = true;
  size_t input = static_cast<size_t>(status.input);
  bool first = statuses_[status.input].ok();
  // Of one launch the least row counts, and in a row, which one thread computes, what comes first.
  if (!first &&
      !(launch_ > 0 && input < from_.size() && from_[input].launch == launch_ && p < from_[input].row))
    return;
  remember(input, p);
  if (p < 0 && first)
    note(status.input);
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

void ScheduleErrors::select_first(const EvaluationOrder &order, int32_t entry) noexcept {
  if (order.code == nullptr)
    return;
  try {
    for (int32_t input : failed_)
      if (Status first = first_error(order, batch_, entry, input); !first.ok())
        statuses_.replace(input, std::move(first));
    select_first_computed(order, entry);
  } catch (const std::bad_alloc &) {
    // Then what was met first stays.
  }
}

/// Inputs that stages found something wrong with.
void ScheduleErrors::select_first_computed(const EvaluationOrder &order, int32_t entry) {
  auto key = [](const Computed &c) { return std::make_tuple(c.input, c.from.launch, c.from.row); };
  std::stable_sort(computed_.begin(), computed_.end(),
                   [&](const Computed &a, const Computed &b) { return key(a) < key(b); });
  for (size_t begin = 0, end = 0; begin < computed_.size(); begin = end) {
    std::vector<ComputedError> errors;
    for (end = begin; end < computed_.size() && computed_[end].input == computed_[begin].input; ++end)
      errors.push_back(computed_[end].error);
    if (errors.size() == 1)
      continue;
    const int32_t input = computed_[begin].input,
                  number = first_computed(order, batch_, entry, input, errors);
    if (number < 0)
      continue;
    const Computed &c = computed_[begin + number];
    statuses_.replace(input, batch_.describe(Code::bad_input, c.table, c.row, -1,
                                             messages::error_text(c.kind, c.what, c.a, c.b, c.c, c.at)));
  }
}

void ScheduleErrors::note(int32_t input) noexcept {
  try {
    failed_.push_back(input);
  } catch (const std::bad_alloc &) {
    // As above.
  }
}

void ScheduleErrors::missing(int32_t table, int32_t row, int32_t column, const char *at) noexcept {
  try {
    add(batch_.describe_missing(table, row, column, at));
  } catch (const std::bad_alloc &) {
    add_wordless(table, row);
  }
}

void ScheduleErrors::error(int32_t table, int32_t row, ErrorKind kind, const char *at, const char *what,
                           int64_t a, int64_t b, int64_t c) noexcept {
  try {
    fail(table, row, messages::error_text(kind, what, a, b, c, at));
  } catch (const std::bad_alloc &) {
    add_wordless(table, row);
  }
}

void ScheduleErrors::error_in_row(std::initializer_list<int32_t> event, int32_t p, int32_t table, int32_t row,
                                  ErrorKind kind, const char *at, const char *what, int64_t a, int64_t b,
                                  int64_t c) noexcept {
  try {
    std::string text = messages::error_text(kind, what, a, b, c, at);
    Status status = batch_.describe(Code::bad_input, table, row, -1, text);
    const int32_t input = status.input;
    add(std::move(status), p);
    const Alone alone(adding_);
    computed_.push_back({input,
                         table,
                         row,
                         {launch_, p},
                         {*event.begin(), std::vector<int32_t>(event.begin() + 1, event.end())},
                         kind,
                         at,
                         what,
                         a,
                         b,
                         c});
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
