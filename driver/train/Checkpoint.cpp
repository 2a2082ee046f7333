// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/train/Checkpoint.h"
#include "driver/Files.h"
#include "driver/train/Digits.h"
#include "driver/train/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cmath>
#include <dbc/io/optimizer.h>
#include <dbc/io/safetensors.h>
#include <fcntl.h>
#include <regex>
#include <sys/file.h>
#include <unistd.h>

namespace dbc::driver {

namespace json = llvm::json;
namespace fs = llvm::sys::fs;

namespace {

constexpr int64_t kVersion = 1;
constexpr char kState[] = "state.json";
constexpr char kWeights[] = "last.safetensors", kOptimizer[] = "last.optimizer.safetensors";
constexpr char kBest[] = "best.safetensors";
constexpr char kNew[] = ".new";

/// JSON has no NaN.
json::Value number(double value) { return std::isfinite(value) ? json::Value(value) : json::Value(nullptr); }

double number(const json::Object &object, llvm::StringRef key) {
  return object.getNumber(key).value_or(std::numeric_limits<double>::quiet_NaN());
}

json::Object toJson(const Progress &progress) {
  return json::Object{
      {"epoch", progress.epoch},
      {"batch", progress.batch},
      {"step", progress.step},
      {"loss_sum", number(progress.lossSum)},
      {"inputs", progress.inputs},
      {"seconds", progress.seconds},
      {"best", json::Object{{"epoch", progress.best.epoch},
                            {"loss", number(progress.best.loss)},
                            {"metric", number(progress.best.metric)}}},
      {"since_best", progress.sinceBest},
      {"plateau", json::Object{{"best", number(progress.plateau.best)},
                               {"metrics", progress.plateau.metrics},
                               {"no_better", progress.plateau.no_better},
                               {"scale", progress.plateau.scale}}},
      {"log_bytes", static_cast<int64_t>(progress.logBytes)},
  };
}

/// False: something is missing.
bool fromJson(const json::Object &object, Progress &progress) {
  bool whole = true;
  auto integer = [&](const json::Object &from, llvm::StringRef key) {
    std::optional<int64_t> value = from.getInteger(key);
    whole &= value && *value >= 0;
    return value.value_or(0);
  };
  const json::Object *best = object.getObject("best"), *plateau = object.getObject("plateau");
  if (!best || !plateau)
    return false;
  progress.epoch = integer(object, "epoch");
  progress.batch = integer(object, "batch");
  progress.step = integer(object, "step");
  progress.lossSum = number(object, "loss_sum");
  progress.inputs = integer(object, "inputs");
  progress.seconds = number(object, "seconds");
  progress.best = {integer(*best, "epoch"), number(*best, "loss"), number(*best, "metric")};
  progress.sinceBest = integer(object, "since_best");
  progress.plateau.best = number(*plateau, "best");
  progress.plateau.metrics = integer(*plateau, "metrics");
  progress.plateau.no_better = integer(*plateau, "no_better");
  progress.plateau.scale = number(*plateau, "scale");
  progress.logBytes = static_cast<uint64_t>(integer(object, "log_bytes"));
  return whole;
}

llvm::Expected<std::string> hashOfFile(const std::string &file) {
  llvm::Expected<std::string> text = readFile(file);
  if (!text)
    return text.takeError();
  return hashOf({*text});
}

/// As it would be typed.
std::string shown(const json::Value *value) {
  if (!value)
    return "nothing";
  if (std::optional<double> number = value->getAsNumber())
    return general(*number, 9);
  std::string text;
  llvm::raw_string_ostream(text) << *value;
  return text;
}

/// Gives a file of the checkpoint its name, if that has not happened: the file, or the new one, is that of
/// `hash`.
llvm::Error settle(const std::string &file, llvm::StringRef hash) {
  for (const std::string &name : {file, file + kNew}) {
    if (!fs::exists(name))
      continue;
    llvm::Expected<std::string> found = hashOfFile(name);
    if (!found)
      return found.takeError();
    if (*found == hash)
      return name == file ? llvm::Error::success() : llvm::errorCodeToError(fs::rename(name, file));
  }
  return error(file + ": is not the file that was written with " + kState + " beside it" +
               (fs::exists(file) ? "; it was cut or changed" : "; it is not there"));
}

/// What was being written when a training was killed.
llvm::Error removeLeftovers(const std::string &folder) {
  static const std::regex leftover(
      "(last|last\\.optimizer|best)\\.safetensors((\\.new)?\\.tmp[0-9]+\\.[0-9]+|\\.new)"
      "|(state\\.json|log\\.csv)\\.[0-9a-f]{8}");
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; at != end && !code; at.increment(code))
    if (std::regex_match(llvm::sys::path::filename(at->path()).str(), leftover))
      code = fs::remove(at->path());
  return code ? llvm::createStringError(code, folder + ": " + code.message()) : llvm::Error::success();
}

} // namespace

bool CheckpointFolder::exists() const { return fs::exists(file(kState)); }

llvm::Error CheckpointFolder::open() {
  if (llvm::Error failed = makeFolder(folder_))
    return failed;
  // Before anything in it is touched. Not every file system has locks.
  lock_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return error(folder_ + ": another training is at work there");
  if (exists())
    return llvm::Error::success();
  if (fs::exists(file(kWeights)))
    return error(file(kWeights) + ": is there without " + kState + "; it is left alone");
  return removeLeftovers(folder_);
}

CheckpointFolder::~CheckpointFolder() {
  if (lock_ >= 0)
    ::close(lock_);
}

llvm::Error CheckpointFolder::save(const Weights &weights, const Optimizer &optimizer,
                                   const Progress &progress, const json::Object &asked) const {
  std::string state;
  if (llvm::Error failed = writeNew(weights, optimizer, progress, asked, state)) {
    for (const char *name : {kWeights, kOptimizer})
      fs::remove(file(name) + kNew);
    return failed;
  }
  // An error from here on leaves the new files where they are: the state may have been replaced, and load()
  // finds out whether it was.
  if (llvm::Error failed = writeFile(file(kState), state, /*durable=*/true))
    return failed;
  for (const char *name : {kWeights, kOptimizer})
    if (std::error_code code = fs::rename(file(name) + kNew, file(name)))
      return llvm::createStringError(code, file(name) + ": " + code.message());
  return llvm::Error::success();
}

/// Writes the new files and makes the text of the state that names them.
llvm::Error CheckpointFolder::writeNew(const Weights &weights, const Optimizer &optimizer,
                                       const Progress &progress, const json::Object &asked,
                                       std::string &state) const {
  if (Status status = save_weights(file(kWeights) + kNew, weights); !status.ok())
    return toError(status);
  if (Status status = save_optimizer(file(kOptimizer) + kNew, weights, optimizer); !status.ok())
    return toError(status);
  json::Object hashes;
  for (const char *name : {kWeights, kOptimizer}) {
    llvm::Expected<std::string> hash = hashOfFile(file(name) + kNew);
    if (!hash)
      return hash.takeError();
    hashes[name] = *hash;
  }
  state = llvm::formatv("{0:2}\n", json::Value(json::Object{{"version", kVersion},
                                                            {"asked", json::Object(asked)},
                                                            {"progress", toJson(progress)},
                                                            {"files", std::move(hashes)}}))
              .str();
  return llvm::Error::success();
}

llvm::Error CheckpointFolder::load(Weights &weights, Optimizer &optimizer, Progress &progress,
                                   const json::Object &asked) const {
  llvm::Expected<std::string> text = readFile(file(kState));
  if (!text)
    return text.takeError();
  llvm::Expected<json::Value> parsed = json::parse(*text);
  auto unreadable = [&](const llvm::Twine &what) { return error(file(kState) + ": " + what); };
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return unreadable("is no JSON: it was cut or changed");
  }
  const json::Object *state = parsed->getAsObject();
  const json::Object *was = state ? state->getObject("asked") : nullptr;
  const json::Object *progressed = state ? state->getObject("progress") : nullptr;
  const json::Object *files = state ? state->getObject("files") : nullptr;
  if (!was || !progressed || !files)
    return unreadable("is no state of a training");
  if (state->getInteger("version") != kVersion)
    return unreadable("was written by another version of dbc");
  // The model first: where that is another one, much else is.
  std::vector<llvm::StringRef> keys = {"model", "dims", "program", "--schedule"};
  for (const auto &[key, value] : asked)
    if (llvm::StringRef name = key; !llvm::is_contained(keys, name))
      keys.push_back(name);
  llvm::sort(keys.begin() + 4, keys.end());
  for (llvm::StringRef key : keys) {
    const json::Value *before = was->get(key), *now = asked.get(key);
    if (!before || *before != *now)
      return unreadable("this training began with " + key + " " + shown(before) + ", not " + shown(now) +
                        "; one goes on with what it began with");
  }
  Progress read;
  if (!fromJson(*progressed, read))
    return unreadable("is no whole state of a training");
  for (const char *name : {kWeights, kOptimizer})
    if (llvm::Error failed = settle(file(name), files->getString(name).value_or("")))
      return failed;
  if (llvm::Error failed = toError(load_weights(file(kWeights), weights)))
    return failed;
  if (llvm::Error failed = toError(load_optimizer(file(kOptimizer), weights, optimizer)))
    return failed;
  if (read.best.epoch > 0) {
    Weights best(weights.info());
    if (llvm::Error failed = toError(load_weights(file(kBest), best)))
      return failed;
  }
  progress = read;
  return removeLeftovers(folder_);
}

} // namespace dbc::driver
