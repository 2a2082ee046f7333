// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc sample`: random inputs that fit an entry. An input that the model refuses, say for lists that it zips,
// is no sample of what fits; so each is computed as far as that depends on it, by the oracle.

#include "driver/Commands.h"
#include "driver/Lines.h"
#include "driver/Progress.h"
#include "oracle/Describe.h"
#include "oracle/Validity.h"
#include "llvm/Support/raw_ostream.h"
#include <dbc/io/instance.h>

namespace dbc::driver {

namespace {

/// Tells whether an entry takes an input.
class Judge {
public:
  Judge(mlir::ModuleOp module, const ModelInfo &info, int32_t entry, uint64_t seed)
      : validity(oracle::validityOf(
            module, mlir::SymbolTable(module).lookup<dyn::EntryOp>(info.entries[entry].name))),
        structure(validity == oracle::Validity::Numbers ? mlir::OwningOpRef<mlir::ModuleOp>()
                                                        : oracle::structureOf(module)),
        weights(info), interpreter(structure ? *structure : module, weightsView(weights)),
        oracle(interpreter, entry) {
    if (validity == oracle::Validity::Numbers)
      weights.draw(seed);
    interpreter.setLimit(kSteps);
  }

  /// Ok if it does. `cycles`: references may form some.
  Status judge(const std::string &line, bool cycles) {
    if (validity == oracle::Validity::Form && !cycles)
      return Status();
    std::vector<LineResult> results;
    if (Status status = oracle.compute({line}, results); !status.ok())
      return status;
    return results[0].status;
  }

private:
  const oracle::Validity validity;
  mlir::OwningOpRef<mlir::ModuleOp> structure; ///< where numbers do not matter
  Weights weights;
  oracle::Interpreter interpreter;
  OracleRunner oracle;
};

} // namespace

Exit sampleCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  ModelInfo info = oracle::describe(unit.meaning());
  int32_t number = findEntry(info, options.entry);
  if (number < 0)
    return kUserError;
  const EntryInfo &entry = info.entries[number];
  Judge judge(unit.meaning(), info, number, options.seed);
  std::string refused;
  int64_t printed = 0;
  Progress progress("inputs drawn", !llvm::outs().is_displayed());
  for (int64_t i = 0; printed < options.count && i < kDrawsPerInput * options.count; ++i) {
    progress.show(printed, options.count);
    // One in four has cycles, where the model allows them.
    for (bool cycles : {i % 4 == 3, false}) {
      DrawOptions sizes = options.sizes;
      sizes.cycles = cycles;
      sizes.long_elements = kLongElements;
      Instance instance;
      if (Status status = draw_instance(info, entry, options.seed, i, instance, sizes); !status.ok()) {
        progress.clear();
        return fail(status);
      }
      std::string line = instance_json(info, entry, instance);
      Status judged = judge.judge(line, cycles);
      if (judged.ok()) {
        llvm::outs() << line << "\n";
        ++printed;
        break;
      }
      refused = without_input(judged.message);
    }
  }
  if (printed == options.count)
    return kFine;
  progress.clear();
  printError("only " + llvm::Twine(printed) + " of " + llvm::Twine(kDrawsPerInput * options.count) +
             " random inputs fit; others fail like this one: " + refused);
  return kUserError;
}

} // namespace dbc::driver
