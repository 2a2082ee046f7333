// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One entry's compiled code beside the oracle.
#pragma once

#include "driver/Commands.h"
#include "driver/Lines.h"
#include "llvm/ADT/ArrayRef.h"
#include <dbc/io/instance.h>

namespace dbc::driver {

/// An input, drawn or given, and what the oracle makes of it.
struct Drawn {
  Instance instance;
  int64_t number = 0; ///< among all drawn or given, by which it drops
  LineRunner::Line line;
  LineResult expected; ///< the oracle's
  bool near = false;   ///< a decision is too near to call: f32 may take the other one
  bool atKink = false; ///< the gradient came by a kink so near that f32 may take its other side
};

/// What was found about one entry.
struct Finding {
  int64_t tried = 0; ///< inputs that were drawn for the valid ones, or given
  int64_t valid = 0, redrawn = 0;
  int64_t redrawnAtKinks = 0;     ///< of those
  int64_t atKinks = 0;            ///< of the valid ones
  int64_t wrong = 0, several = 0; ///< inputs that the oracle refuses; for which there are several reasons
  std::string refusal;            ///< of those given the first reason
  int64_t unclear = 0;            ///< of the valid ones: near or at a kink, and something else comes out
  int64_t firstUnclear = 0;       ///< if there are any: the number of one
  int64_t leftOut = 0;            ///< of those given: too large to compare
  int64_t notFinite = 0;          ///< of the valid ones: results hold an infinity or NaN
  std::vector<size_t> nodes;      ///< of each valid input
  double maxError = 0;
  double gradientError = 0;
  size_t gradients = 0; ///< valid inputs whose gradients were compared
  bool bitsEqual = true;
  bool comparesBits = true; ///< not where cuBLAS computes products
  std::string mismatch;     ///< what is wrong, in words; empty if nothing
  size_t culprit = 0;       ///< if so: the number of the drawn input that shows it
  bool shared = false;      ///< if so: beside a copy of itself, with sharing
  bool ofGradients = false; ///< if so: of gradients, of a batch that begins with the culprit
  bool ok() const { return mismatch.empty(); }
  int64_t medianNodes() {
    auto middle = nodes.begin() + nodes.size() / 2;
    std::nth_element(nodes.begin(), middle, nodes.end());
    return middle == nodes.end() ? 0 : *middle;
  }
};

/// Draws or takes inputs of one entry, and compares what compiled code makes of them with the oracle, and
/// with itself in other batches, orders and numbers of threads. What it finds is in `finding`.
class Verifier {
public:
  Verifier(oracle::Interpreter &interpreter, const LoadedModel &loaded, int32_t entry, double bound,
           double gradientBound, bool drops)
      : bound(bound), gradientBound(gradientBound), drops(drops), info(loaded.info()),
        entry(info.entries[entry]), oracle(interpreter, entry), one(loaded.model, entry, 1, loaded.device()),
        two(loaded.model, entry, 2, loaded.device()) {}

  /// Draws until `count` inputs are valid. Returns false if that does not come about, after saying why.
  bool draw(int64_t count, uint64_t seed, const DrawOptions &sizes);
  /// Draws as many inputs again and makes mistakes in them: those that are refused are compared too.
  Status drawWrong(int64_t count, uint64_t seed, const DrawOptions &sizes);
  /// Takes these inputs, JSON lines. Fails if they cannot be computed at all.
  Status take(const std::vector<std::string> &lines);
  Status compare();
  /// The gradients of a loss: of each valid input alone, and of all in one batch.
  Status compareGradients();
  /// Cuts the culprit down as long as it goes on failing.
  Instance shrink();
  const Drawn &culprit() const { return drawn[finding.culprit]; }

  Finding finding;

private:
  /// A way to run the drawn inputs again.
  struct Way {
    const char *how;
    CompiledRunner &runner;
    const std::vector<size_t> &order;
    size_t batch;
    int32_t subBatch; ///< inputs of a sub-batch; 0: as the session likes
    bool share = false;
    cuda::Path path = cuda::Path::Persistent; ///< of a device; and blocks of threads
    int32_t blocks = 0, largeMBlocks = 0;
    bool interleaved = false; ///< sub-batches on two contexts
    int32_t blockGroups = 0;  ///< in persistent kernels; 0: as the context likes
    cuda::Waits waits = cuda::Waits::Elements;

    /// Sets the runner to it.
    void choose() const;
  };
  /// All of them; the orders must outlive what this gives.
  std::vector<Way> ways(const std::vector<size_t> &order, const std::vector<size_t> &shuffled,
                        const std::vector<size_t> &twice);
  Status run(CompiledRunner &runner, const std::vector<size_t> &order, size_t batch,
             std::vector<LineResult> &results);
  Status compute(CompiledRunner &runner, llvm::ArrayRef<size_t> inputs, std::vector<LineResult> &results);
  Status compareGradient(CompiledRunner &runner, const std::vector<size_t> &inputs, const std::string &how);
  Status compareGradientBits(const std::vector<size_t> &inputs);
  std::string gradientDiffers(const CompiledRunner &runner, const std::vector<size_t> &inputs);
  std::vector<std::vector<double>> gradients(CompiledRunner &runner) const;
  std::vector<double> denseGradient(const Outputs &outputs, int32_t param) const;
  void compareWithOracle(const std::vector<LineResult> &results, const std::string &how = "");
  void compareRuns(const std::vector<LineResult> &first, const std::vector<LineResult> &second,
                   const std::string &how);
  void mismatch(size_t culprit, const std::string &words) {
    if (finding.mismatch.empty()) {
      finding.mismatch = words;
      finding.culprit = culprit;
    }
  }
  void keep(Drawn each);
  void countValid(const Drawn &each);
  /// A near one of which something else comes out.
  void countUnclear(const Drawn &each) {
    if (finding.unclear++ == 0)
      finding.firstUnclear = each.number;
  }
  /// Whether the oracle gives a value, and no decision is so near that rounding may turn it.
  bool usable(const LineResult &result) const;
  std::string differs(const LineResult &expected, const LineResult &got);
  bool failsAlone(const Instance &instance);

  const double bound;         ///< of an error
  const double gradientBound; ///< of an error of an element of a gradient, beside the larger of it and 1
  const bool drops;           ///< the model is compiled for training
  const ModelInfo &info;
  const EntryInfo &entry;
  OracleRunner oracle;
  CompiledRunner one, two;  ///< with one thread and with two
  std::vector<Drawn> drawn; ///< valid inputs, and those that the oracle refuses
};
} // namespace dbc::driver
