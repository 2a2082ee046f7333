// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The trainer as a class and as a program.
#include "../io/Nearest.h"
#include "../io/Result.h"
#include "Crash.h"
#include "Json.h"
#include "TrainingLoop.h"

#include <dbc/train/trainer.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dbc {

namespace {

// Exit codes.
constexpr int kFine = 0, kUserError = 1, kUsage = 2, kInternal = 70;

int fail(const Status &status, int code) {
  std::fprintf(stderr, "dbc: error: %s\n", status.message.c_str());
  return code;
}

int exit_code(const Status &status) { return status.code == Code::internal ? kInternal : kUserError; }

/// Whether this rank says what all have in common.
bool is_first(const Communicator *communicator) {
  return communicator == nullptr || communicator->rank() == 0;
}

/// Says what the best epoch is.
Status print(const EpochResult &best) {
  const train::Json object = {{"epoch", best.epoch},
                              {"loss", train::finite_or_null(best.loss)},
                              {"metric", train::finite_or_null(best.metric)}};
  if (std::puts(train::to_text(object).c_str()) >= 0 && std::fflush(stdout) == 0)
    return Status();
  const int why = errno;
  return io::failure(std::string("stdout: ") + std::strerror(why));
}

} // namespace

Status find_loss(const ModelInfo &info, const std::string &name, int32_t &loss) {
  const auto bad = [](const std::string &message) { return io::failure(message, Code::bad_call); };
  std::vector<std::string> losses;
  int32_t found = -1;
  for (size_t i = 0; i < info.entries.size(); ++i)
    if (info.entries[i].is_loss) {
      losses.push_back(info.entries[i].name);
      if (name.empty() || info.entries[i].name == name)
        found = static_cast<int32_t>(i);
    }
  if (losses.empty())
    return bad("model `" + info.name + "` has no loss: there is nothing to train by");
  if (found < 0)
    return bad("model `" + info.name + "` has no loss `" + name + "`" +
               io::hint(name, losses, "its losses are"));
  if (name.empty() && losses.size() > 1) {
    std::string list;
    for (const std::string &each : losses)
      list += (list.empty() ? "`" : ", `") + each + "`";
    return bad("which one? --loss takes one of " + list);
  }
  loss = found;
  return Status();
}

Trainer::Trainer(const TrainOptions &options, const ModelCode &code, Communicator *communicator)
    : communicator_(communicator), loop_(std::make_unique<train::TrainingLoop>(options, code, communicator)) {
}
Trainer::~Trainer() = default;

Status Trainer::run() {
  if (std::exchange(ran_, true))
    return io::failure("a trainer runs once", Code::bad_call);
  Status status = io::guarded([&] {
    Status prepared = loop_->prepare();
    return prepared.ok() ? loop_->run() : prepared;
  });
  // The others would wait for this rank.
  if (!status.ok() && !loop_->failed_together())
    communicator_->abort(fail(status, exit_code(status)));
  return status;
}

const EpochResult &Trainer::best() const { return loop_->best(); }
const Weights &Trainer::weights() const { return loop_->weights(); }

int launched_processes() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char *text = std::getenv(name)) {
      int processes = 0;
      if (std::from_chars(text, text + std::strlen(text), processes).ec == std::errc() && processes > 0)
        return processes;
    }
  return 1;
}

int train_main(const TrainOptions &options, const ModelCode &code, Communicator *communicator) {
  const Status status = io::guarded([&] {
    if (communicator == nullptr && launched_processes() > 1)
      return io::failure("this is one of " + std::to_string(launched_processes()) +
                             " processes, and each would train for itself; dbc::mpi::train_main, of "
                             "<dbc/mpi.h>, has them train together",
                         Code::bad_call);
    std::optional<Trainer> trainer;
    const Status made = io::guarded([&] {
      trainer.emplace(options, code, communicator);
      return Status();
    });
    if (!made.ok()) {
      if (communicator != nullptr && communicator->size() > 1) // the others would wait for this one
        communicator->abort(fail(made, exit_code(made)));
      return made;
    }
    Status trained = trainer->run();
    return trained.ok() && is_first(communicator) ? print(trainer->best()) : trained;
  });
  if (status.ok())
    return kFine;
  return is_first(communicator) ? fail(status, exit_code(status)) : exit_code(status);
}

int train_main(int argc, char **argv, const ModelCode &code, Communicator *communicator) {
  train::report_crashes(argc, argv);
  TrainOptions options;
  const Status status = argc == 2 ? parse_options(argv[1], options)
                                  : io::failure("a trainer has one argument, its options as JSON");
  if (status.ok())
    return train_main(options, code, communicator);
  return is_first(communicator) ? fail(status, kUsage) : kUsage;
}

} // namespace dbc
