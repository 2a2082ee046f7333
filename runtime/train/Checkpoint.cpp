// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Checkpoint.h"
#include "../io/Result.h"
#include "Digits.h"
#include "WholeFiles.h"

#include <algorithm>
#include <cerrno>
#include <dbc/io/optimizer.h>
#include <dbc/io/safetensors.h>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <regex>
#include <set>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace dbc::train {

namespace fs = std::filesystem;

using io::failure;

namespace {

constexpr int64_t kVersion = 2;
constexpr char kState[] = "state.json";
constexpr char kWeights[] = "last.safetensors", kOptimizer[] = "last.optimizer.safetensors";
constexpr char kBest[] = "best.safetensors";
constexpr char kNew[] = ".new";
constexpr char kProgress[] = "progress"; // what has no file of its own has a hash, too

/// The object that stands under a key; null if there is none.
const Json *object_in(const Json &object, const char *key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

double number_in(const Json &object, const char *key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>()
                                                     : std::numeric_limits<double>::quiet_NaN();
}

Json to_json(const Progress &progress) {
  return {
      {"epoch", progress.epoch},
      {"batch", progress.batch},
      {"step", progress.step},
      {"loss_sum", finite_or_null(progress.loss_sum)},
      {"inputs", progress.inputs},
      {"seconds", progress.seconds},
      {"best",
       {{"epoch", progress.best.epoch},
        {"loss", finite_or_null(progress.best.loss)},
        {"metric", finite_or_null(progress.best.metric)}}},
      {"since_best", progress.since_best},
      {"plateau",
       {{"best", finite_or_null(progress.plateau.best)},
        {"metrics", progress.plateau.metrics},
        {"no_better", progress.plateau.no_better},
        {"scale", progress.plateau.scale}}},
      {"log_bytes", static_cast<int64_t>(progress.log_bytes)},
  };
}

/// False: something is missing.
bool from_json(const Json &object, Progress &progress) {
  bool whole = true;
  const auto integer = [&](const Json &from, const char *key) -> int64_t {
    const auto found = from.find(key);
    const bool is = found != from.end() && found->is_number_unsigned();
    whole &= is;
    return is ? found->get<int64_t>() : 0;
  };
  const Json *best = object_in(object, "best"), *plateau = object_in(object, "plateau");
  if (!best || !plateau)
    return false;
  progress.epoch = integer(object, "epoch");
  progress.batch = integer(object, "batch");
  progress.step = integer(object, "step");
  progress.loss_sum = number_in(object, "loss_sum");
  progress.inputs = integer(object, "inputs");
  progress.seconds = number_in(object, "seconds");
  progress.best = {integer(*best, "epoch"), number_in(*best, "loss"), number_in(*best, "metric")};
  progress.since_best = integer(object, "since_best");
  progress.plateau.best = number_in(*plateau, "best");
  progress.plateau.metrics = integer(*plateau, "metrics");
  progress.plateau.no_better = integer(*plateau, "no_better");
  progress.plateau.scale = number_in(*plateau, "scale");
  progress.log_bytes = static_cast<uint64_t>(integer(object, "log_bytes"));
  return whole;
}

Status hash_of_file(const std::string &file, std::string &hash) {
  std::string text;
  if (Status status = read_file(file, text); !status.ok())
    return status;
  hash = hash_of(text);
  return Status();
}

/// As it would be typed.
std::string shown(const Json &object, const std::string &key) {
  const auto value = object.find(key);
  return value == object.end() ? "nothing"
         : value->is_number()  ? general(value->get<double>(), 9)
                               : to_text(*value);
}

/// Gives a file its name; with the words for it where that fails.
Status rename(const std::string &from, const std::string &to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? failure(to + ": " + error.message()) : Status();
}

/// Gives a file of the checkpoint its name, if that has not happened: the file, or the new one, is that of
/// `hash`.
Status settle(const std::string &file, const std::string &hash) {
  for (const std::string &name : {file, file + kNew}) {
    if (!exists(name))
      continue;
    std::string found;
    if (Status status = hash_of_file(name, found); !status.ok())
      return status;
    if (found == hash)
      return name == file ? Status() : rename(name, file);
  }
  return failure(file + ": is not the file that was written with " + kState + " beside it" +
                 (exists(file) ? "; it was cut or changed" : "; it is not there"));
}

/// What was being written when a training was killed.
Status remove_leftovers(const std::string &folder) {
  static const std::regex leftover("(last|last\\.optimizer|best)\\.safetensors(\\.new)?\\.tmp[0-9]+\\.[0-9]+"
                                   "|(last|last\\.optimizer)\\.safetensors\\.new"
                                   "|(state\\.json|log\\.csv)\\.tmp[0-9]+\\.[0-9]+");
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code failed;
    if (std::regex_match(at->path().filename().string(), leftover) && !fs::remove(at->path(), failed) &&
        failed)
      return failure(folder + ": " + failed.message());
  }
  return error ? failure(folder + ": " + error.message()) : Status();
}

/// How a program differs from that which a training began with; whether either is known, as those of
/// `dbc train` are.
std::string otherProgram(bool was_known, bool is_known) {
  if (was_known && is_known)
    return "this training began with another program: the model, or what it is compiled with or by, has "
           "changed";
  if (was_known)
    return "this training began with `dbc train`, or with what else TrainOptions::program says; this program "
           "says nothing there, and may compute other bits";
  return "this training began with a program of one's own, whose TrainOptions::program is empty: whether "
         "this one computes the same bits is not known. That program goes on with it";
}

} // namespace

std::vector<std::string> CheckpointFolder::files() const {
  return {file(kState), file(kWeights), file(kOptimizer), file(kBest)};
}

bool CheckpointFolder::exists() const { return train::exists(file(kState)); }

Status CheckpointFolder::open() {
  if (Status status = make_folder(folder_); !status.ok())
    return status;
  // Before anything in it is touched. Not every file system has locks.
  lock_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return failure(folder_ + ": another training is at work there");
  if (exists())
    return Status();
  if (train::exists(file(kWeights)))
    return failure(file(kWeights) + ": is there without " + kState + "; it is left alone");
  return remove_leftovers(folder_);
}

CheckpointFolder::~CheckpointFolder() {
  if (lock_ >= 0)
    ::close(lock_);
}

Status CheckpointFolder::save(const Weights &weights, const Optimizer &optimizer, const Progress &progress,
                              const Json &asked) const {
  std::string state;
  if (Status status = write_new(weights, optimizer, progress, asked, state); !status.ok()) {
    std::error_code none;
    for (const char *name : {kWeights, kOptimizer})
      fs::remove(file(name) + kNew, none);
    return status;
  }
  // An error from here on leaves the new files where they are: the state may have been replaced, and load()
  // finds out whether it was.
  if (Status status = write_file(file(kState), state); !status.ok())
    return status;
  for (const char *name : {kWeights, kOptimizer})
    if (Status status = rename(file(name) + kNew, file(name)); !status.ok())
      return status;
  return Status();
}

/// Writes the new files and makes the text of the state that names them.
Status CheckpointFolder::write_new(const Weights &weights, const Optimizer &optimizer,
                                   const Progress &progress, const Json &asked, std::string &state) const {
  if (Status status = save_weights(file(kWeights) + kNew, weights); !status.ok())
    return status;
  if (Status status = save_optimizer(file(kOptimizer) + kNew, weights, optimizer); !status.ok())
    return status;
  Json hashes;
  for (const char *name : {kWeights, kOptimizer}) {
    std::string hash;
    if (Status status = hash_of_file(file(name) + kNew, hash); !status.ok())
      return status;
    hashes[name] = hash;
  }
  const Json made = to_json(progress);
  hashes[kProgress] = hash_of(to_text(made));
  const Json all = {
      {"version", kVersion}, {"asked", asked}, {"progress", made}, {"hashes", std::move(hashes)}};
  state = to_text(all, /*indent=*/2) + "\n";
  return Status();
}

/// What a state that was read says, other than how far it has come, is as it should be.
Status CheckpointFolder::check(const Json &state, const Json &asked) const {
  const auto unreadable = [&](const std::string &what) { return failure(file(kState) + ": " + what); };
  if (state.is_discarded())
    return unreadable("is no JSON: it was cut or changed");
  const Json *was = object_in(state, "asked");
  if (!was || !object_in(state, "progress") || !object_in(state, "hashes"))
    return unreadable("is no state of a training");
  if (const auto version = state.find("version"); version == state.end() || *version != kVersion)
    return unreadable("was written by another version of dbc");
  // The model first: where that is another one, much else is.
  std::vector<std::string> keys = {"model", "dims", "program", "--schedule"};
  for (const Json *all : {&asked, was})
    for (const auto &item : all->items())
      keys.push_back(item.key());
  std::sort(keys.begin() + 4, keys.end());
  const auto value = [](const Json &object, const std::string &key) { return object.value(key, Json()); };
  for (const std::string &key : keys) {
    if (was->contains(key) && asked.contains(key) && was->at(key) == asked.at(key))
      continue;
    if (key == "program")
      return unreadable(otherProgram(value(*was, key).is_string(), value(asked, key).is_string()) +
                        "; to begin a new training with its weights: --weights " + file(kWeights) +
                        " with another --out");
    const bool had = !value(*was, key).is_null(), has = !value(asked, key).is_null();
    if (had != has && key[0] == '-') // an option
      return unreadable("this training began " + std::string(had ? "with " : "without ") + key +
                        ", which is " + (had ? "not given" : "given") +
                        " now; one goes on with what it began with");
    return unreadable("this training began with " + key + " " + shown(*was, key) + ", not " +
                      shown(asked, key) + "; one goes on with what it began with");
  }
  return Status();
}

Status CheckpointFolder::load(Weights &weights, Optimizer &optimizer, Progress &progress,
                              const Json &asked) const {
  std::string text;
  if (Status status = read_file(file(kState), text); !status.ok())
    return status;
  const Json state = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (Status status = check(state, asked); !status.ok())
    return status;
  Progress read;
  if (!from_json(state["progress"], read))
    return failure(file(kState) + ": is no whole state of a training");
  if (state["hashes"].value(kProgress, Json()) != hash_of(to_text(state["progress"])))
    return failure(file(kState) + ": was changed since the training wrote it");
  for (const char *name : {kWeights, kOptimizer}) {
    const auto hash = state["hashes"].find(name);
    const bool known = hash != state["hashes"].end() && hash->is_string();
    if (Status status = settle(file(name), known ? hash->get<std::string>() : ""); !status.ok())
      return status;
  }
  if (Status status = load_weights(file(kWeights), weights); !status.ok())
    return status;
  if (Status status = load_optimizer(file(kOptimizer), weights, optimizer); !status.ok())
    return status;
  if (read.best.epoch > 0) {
    Weights best(weights.info());
    if (Status status = load_weights(file(kBest), best); !status.ok())
      return status;
  }
  progress = read;
  return remove_leftovers(folder_);
}

} // namespace dbc::train
