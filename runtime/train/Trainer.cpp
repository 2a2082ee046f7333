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
#include <cstdio>
#include <cstring>
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

Trainer::Trainer(const TrainOptions &options, const ModelCode &code)
    : loop_(std::make_unique<train::TrainingLoop>(options, code)) {}
Trainer::~Trainer() = default;

Status Trainer::run() {
  if (std::exchange(ran_, true))
    return io::failure("a trainer runs once", Code::bad_call);
  return io::guarded([&] {
    Status status = loop_->prepare();
    return status.ok() ? loop_->run() : status;
  });
}

const EpochResult &Trainer::best() const { return loop_->best(); }
const Weights &Trainer::weights() const { return loop_->weights(); }

int train_main(const TrainOptions &options, const ModelCode &code) {
  const Status status = io::guarded([&] {
    Trainer trainer(options, code);
    Status trained = trainer.run();
    return trained.ok() ? print(trainer.best()) : trained;
  });
  if (status.ok())
    return kFine;
  return fail(status, status.code == Code::internal ? kInternal : kUserError);
}

int train_main(int argc, char **argv, const ModelCode &code) {
  train::report_crashes(argc, argv);
  TrainOptions options;
  const Status status = argc == 2 ? parse_options(argv[1], options)
                                  : io::failure("a trainer has one argument, its options as JSON");
  return status.ok() ? train_main(options, code) : fail(status, kUsage);
}

} // namespace dbc
