// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The course of a training: a CSV file with a row an epoch.
#pragma once

#include <cstdint>
#include <dbc/status.h>
#include <optional>
#include <string>
#include <vector>

namespace dbc::train {

/// A row of the log.
struct LogRow {
  int64_t epoch = 0, step = 0;
  double loss = 0, metric = 0;
  double rate = 0;                           ///< of the last step
  double inputs_per_second = 0, seconds = 0; ///< of steps alone; seconds since the beginning of the training
};

/// A CSV file: epoch,step,loss,metric,lr,inputs_per_second,seconds.
class Log {
public:
  /// Begins a file, or goes on with the first `bytes` of one; reads the rows that it has.
  static Status open(const std::string &file, uint64_t bytes, std::optional<Log> &log);
  /// Writes a row to the file.
  Status add(const LogRow &row);
  uint64_t bytes() const { return text_.size(); }
  const std::vector<LogRow> &rows() const { return rows_; }

private:
  explicit Log(std::string file) : file_(std::move(file)) {}
  Status read(uint64_t bytes);
  std::string file_, text_;
  std::vector<LogRow> rows_;
};

} // namespace dbc::train
