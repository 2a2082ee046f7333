// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Log.h"
#include "../io/Result.h"
#include "Digits.h"
#include "WholeFiles.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace dbc::train {

constexpr std::string_view kHeading = "epoch,step,loss,metric,lr,inputs_per_second,seconds\n";

static std::string text_of(const LogRow &row) {
  return std::to_string(row.epoch) + "," + std::to_string(row.step) + "," + general(row.loss, 9) + "," +
         general(row.metric, 9) + "," + general(row.rate, 6) + "," + fixed(row.inputs_per_second, 1) + "," +
         fixed(row.seconds, 3) + "\n";
}

/// Takes what stands before the next `end` from a text; false if there is none, or if it is no number.
template <class Number> static bool take(std::string_view &text, char end, Number &number) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos)
    return false;
  const auto read = std::from_chars(text.data(), text.data() + at, number);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + at;
  text.remove_prefix(at + 1);
  return whole;
}

/// Takes a row from a text.
static bool take(std::string_view &text, LogRow &row) {
  return take(text, ',', row.epoch) && take(text, ',', row.step) && take(text, ',', row.loss) &&
         take(text, ',', row.metric) && take(text, ',', row.rate) && take(text, ',', row.inputs_per_second) &&
         take(text, '\n', row.seconds);
}

Status Log::read(uint64_t bytes) {
  if (Status status = read_file(file_, text_); !status.ok())
    return io::failure("this training's log is elsewhere: --log names it\n" + status.message);
  const Status wrong = io::failure(file_ + ": is not the log that this training has written");
  if (text_.size() < bytes)
    return wrong;
  text_.resize(bytes); // rows of epochs that the checkpoint has not seen are made again
  std::string_view rest = text_;
  if (rest.substr(0, kHeading.size()) != kHeading)
    return wrong;
  rest.remove_prefix(kHeading.size());
  while (!rest.empty())
    if (!take(rest, rows_.emplace_back()))
      return wrong;
  return Status();
}

Status Log::open(const std::string &file, uint64_t bytes, std::optional<Log> &log) {
  Log opened(file);
  if (bytes == 0)
    opened.text_ = kHeading;
  else if (Status status = opened.read(bytes); !status.ok())
    return status;
  if (Status status = write_file(file, opened.text_); !status.ok())
    return status;
  log = std::move(opened);
  return Status();
}

Status Log::add(const LogRow &row) {
  rows_.push_back(row);
  text_ += text_of(row);
  return write_file(file_, text_); // a checkpoint says how long it is
}

} // namespace dbc::train
