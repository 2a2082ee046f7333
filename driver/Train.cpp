// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc train`: compiles a model with the gradients of its losses, and trains it.

#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/train/Trainer.h"
#include "oracle/Describe.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace dbc::driver {

Exit trainCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  // Before the C++ is compiled, which takes a while.
  if (llvm::Expected<int32_t> loss = findLoss(oracle::describe(unit.meaning()), options.train.loss); !loss)
    return fail(loss.takeError());
  LoadedModel loaded;
  if (Exit exit = load(options, unit, loaded, /*change=*/nullptr, makeSomeWeights))
    return exit;
  TrainOptions asked = options.train;
  asked.seed = options.seed;
  asked.weights = options.weights;
  if (asked.optimizer.kind == OptimizerOptions::Kind::Adagrad)
    asked.optimizer.epsilon = 1e-10F; // as torch.optim has it
  Trainer trainer(asked, loaded, options.model.dims);
  if (llvm::Error error = trainer.prepare())
    return fail(std::move(error));
  if (llvm::Error error = trainer.run())
    return fail(std::move(error));
  const EpochResult &best = trainer.best();
  auto number = [](double value) {
    return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
  };
  llvm::outs() << llvm::json::Value(llvm::json::Object{
                      {"epoch", best.epoch}, {"loss", number(best.loss)}, {"metric", number(best.metric)}})
               << "\n";
  if (llvm::Error error = flushStdout())
    return fail(std::move(error));
  return kFine;
}

} // namespace dbc::driver
