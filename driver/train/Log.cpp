// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/train/Log.h"
#include "driver/Files.h"
#include "driver/train/Digits.h"
#include "driver/train/Errors.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace dbc::driver {

constexpr char kHeading[] = "epoch,step,loss,metric,lr,inputs_per_second,seconds\n";

static std::string textOf(const LogRow &row) {
  return llvm::formatv("{0},{1},{2},{3},{4},{5:f1},{6:f3}\n", row.epoch, row.step, general(row.loss, 9),
                       general(row.metric, 9), general(row.rate, 6), row.inputsPerSecond, row.seconds);
}

static bool read(llvm::StringRef line, LogRow &row) {
  llvm::SmallVector<llvm::StringRef, 7> cells;
  line.split(cells, ',');
  if (cells.size() != 7)
    return false;
  auto number = [](llvm::StringRef cell, double &to) { return !cell.getAsDouble(to); };
  return !cells[0].getAsInteger(10, row.epoch) && !cells[1].getAsInteger(10, row.step) &&
         number(cells[2], row.loss) && number(cells[3], row.metric) && number(cells[4], row.rate) &&
         number(cells[5], row.inputsPerSecond) && number(cells[6], row.seconds);
}

llvm::Expected<Log> Log::open(const std::string &file, uint64_t bytes) {
  Log log(file);
  log.text_ = kHeading;
  if (bytes > 0) {
    llvm::Expected<std::string> text = readFile(file);
    if (!text)
      return llvm::joinErrors(error("this training's log is elsewhere: --log names it"), text.takeError());
    // Rows of epochs that the checkpoint has not seen are made again.
    llvm::StringRef kept = llvm::StringRef(*text).take_front(bytes);
    auto wrong = [&] { return error(file + ": is not the log that this training has written"); };
    llvm::StringRef rest = kept;
    if (kept.size() < bytes || !rest.consume_front(kHeading))
      return wrong();
    while (!rest.empty()) {
      auto [line, after] = rest.split('\n');
      if (!driver::read(line, log.rows_.emplace_back()))
        return wrong();
      rest = after;
    }
    log.text_ = kept.str();
  }
  if (llvm::Error failed = writeFile(file, log.text_))
    return failed;
  return log;
}

llvm::Error Log::add(const LogRow &row) {
  rows_.push_back(row);
  text_ += textOf(row);
  return writeFile(file_, text_, /*durable=*/true); // a checkpoint says how long it is
}

} // namespace dbc::driver
