// A model from text to the oracle's answer, for tests.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_TEST_ORACLE_TESTSUPPORT_H
#define DBC_TEST_ORACLE_TESTSUPPORT_H

#include "frontend/lower/Lower.h"
#include "mlir/IR/MLIRContext.h"
#include "oracle/Interpreter.h"
#include <dbc/weights.h>

namespace dbc::oracletest {

/// A compiled text with its weights.
class Model {
public:
  /// Imports are looked for in the library. Where the text does not compile, diagnostics() says why and the
  /// running functions fail the test.
  explicit Model(const std::string &text, const std::map<std::string, int64_t> &dims = {},
                 bool train = false);

  /// What the compiler said; empty if all is well.
  const std::string &diagnostics() const { return diagnostics_; }
  mlir::ModuleOp module() const { return *module_; }
  /// The module as `dbc compile --emit dyn` prints it.
  std::string print();

  /// All numbers of a parameter, row-major.
  void set(const std::string &path, const std::vector<float> &numbers);
  /// Draws all parameters.
  void draw(uint64_t seed) {
    if (weights_)
      weights_->draw(seed);
  }
  /// A parameter's number as a double.
  double weight(const std::string &path, size_t i) const;
  Weights &weights() { return *weights_; }
  const ModelInfo &info() const { return info_; }

  oracle::Interpreter &interpreter() { return *interpreter_; }
  /// Lets runs see weights that were changed after a run.
  void renew();

  /// Runs an entry on one input given as a JSON line.
  oracle::Outcome run(const std::string &entry, const std::string &line);
  oracle::Outcome run(const std::string &entry, Batch &batch, int32_t input = 0) {
    return interpreter_->run(entry, batch, input);
  }
  /// The same of a loss, with its gradient.
  oracle::Outcome differentiate(const std::string &loss, const std::string &line);
  /// All numbers of the result, component after component, lists flattened; fails the test where the input
  /// fails.
  std::vector<double> numbers(const std::string &entry, const std::string &line);
  /// The message of an input that fails; "" and a failed test if it does not.
  std::string error(const std::string &entry, const std::string &line);

private:
  frontend::SourceManager sources_;
  std::unique_ptr<frontend::Program> program_;
  std::unique_ptr<frontend::CheckedProgram> checked_;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  ModelInfo info_;
  std::unique_ptr<oracle::Interpreter> interpreter_;
  std::unique_ptr<Weights> weights_;
  std::string diagnostics_;
};

/// Tests that numbers are as expected, up to the rounding of f32 constants.
void expectNear(const std::vector<double> &found, const std::vector<double> &expected);

} // namespace dbc::oracletest

#endif // DBC_TEST_ORACLE_TESTSUPPORT_H
