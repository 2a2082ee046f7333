// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Running an entry over JSON lines, by compiled code or by the oracle: both take the same lines and answer in
// the same form, which is what `run`, `interpret` and `verify` are made of.
#pragma once

#include "oracle/Interpreter.h"
#include <dbc/cuda/context.h>
#include <dbc/io/instances.h>
#include <dbc/io/value.h>
#include <dbc/session.h>
#include <optional>
#include <string>
#include <vector>

namespace dbc::driver {

/// For each valid input asked for, so many of the usual sizes are drawn at most.
constexpr int64_t kDrawsPerInput = 20;
/// Lists of one input in ten have up to so many elements.
constexpr int32_t kLongElements = 30;
/// Inputs that take the oracle more steps are not drawn: a cell that calls itself with several values one
/// level below has many times more instances with each level.
constexpr int64_t kSteps = 300000;

/// What came of one line.
struct LineResult {
  Status status;    ///< its node, if any, is an index into the line's "nodes"
  std::string json; ///< the line to print, without '\n': the value, or {"error": ..}
  Value value;      ///< if status is ok
  // The oracle only:
  std::vector<Status> failures; ///< all that is wrong with the line
  double margin = std::numeric_limits<double>::infinity();
  bool tooLarge = false;     ///< see oracle::Outcome
  oracle::Gradient gradient; ///< if the interpreter differentiates
};

/// Something that computes an entry. `compute` appends one result for each line to `results`, in order; the
/// returned status tells of failures that concern no line.
class LineRunner {
public:
  LineRunner(const ModelInfo &info, int32_t entry, Real real)
      : info(info), entry(info.entries[entry]), number(entry), real(real), reader(info, this->entry),
        batch(info) {}
  virtual ~LineRunner() = default;
  Status compute(const std::vector<std::string> &lines, std::vector<LineResult> &results);
  /// The same of lines that were read before, by this or another runner of the entry.
  using Line = std::shared_ptr<const InstanceReader::Line>;
  Status compute(const std::vector<Line> &lines, std::vector<LineResult> &results);
  Line read(const std::string &line) { return reader.read(line); }
  /// Losses that are compiled for training drop from now on by this seed and step; of the lines of a batch
  /// the numbers are these, and behind the last one their positions.
  void drop(uint64_t seed, int64_t step, std::vector<int64_t> numbers) {
    dropping = {seed, step, std::move(numbers)};
  }

  /// The number of the line that was read last, from 1 on.
  int64_t line() const { return reader.line() - 1; }
  /// The inputs of the last `compute`, until the next.
  const Batch &inputs() const { return batch; }

  const ModelInfo &info;
  const EntryInfo &entry;

protected:
  /// Called with all lines in `batch`: anything that is done for the batch as a whole.
  virtual Status computeBatch() { return Status(); }
  /// The outcome of one input.
  virtual LineResult result(int32_t input) = 0;
  /// The printed form of an outcome.
  void print(LineResult &result) const;
  Status compute(std::vector<LineResult> &results);

  struct Dropping {
    uint64_t seed;
    int64_t step;
    std::vector<int64_t> numbers;
  };
  std::optional<Dropping> dropping; ///< none: as the computation does by itself
  const int32_t number;
  const Real real;
  InstanceReader reader;
  Batch batch;
};

/// Compiled code, the lines as one batch.
class CompiledRunner : public LineRunner {
public:
  /// `model` is borrowed, and so is `device`, which computes its stages if it is there.
  CompiledRunner(const Model &model, int32_t entry, int32_t threads, const cuda::Model *device = nullptr)
      : LineRunner(model.info(), entry, model.code().f64 ? Real::F64 : Real::F32), session(model, threads) {
    if (device != nullptr) {
      session.compute_on(&context.emplace(*device));
      next.emplace(*device);
    }
  }
  std::optional<cuda::Context> context, next; ///< `next` has nothing until sub-batches are interleaved
  Session session;
  RunProfile profile; ///< of all batches so far

protected:
  Status computeBatch() override {
    if (dropping) {
      session.set_dropout(dropping->seed, dropping->step);
      session.number_inputs(dropping->numbers.data(), static_cast<int32_t>(dropping->numbers.size()));
    }
    Status status = session.run(number, batch);
    profile.add(session.profile(number));
    return status;
  }
  LineResult result(int32_t input) override;
};

/// What the oracle reads parameters through; `weights` is borrowed.
oracle::WeightsView weightsView(const Weights &weights);

/// The oracle, line by line.
class OracleRunner : public LineRunner {
public:
  /// `interpreter` is borrowed.
  OracleRunner(oracle::Interpreter &interpreter, int32_t entry)
      : LineRunner(interpreter.info(), entry, Real::F32), interpreter(interpreter) {}

protected:
  LineResult result(int32_t input) override;

private:
  oracle::Interpreter &interpreter;
};

} // namespace dbc::driver
