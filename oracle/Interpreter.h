// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The oracle: what a `dyn` module means, computed for one input at a time in double precision, slowly and
// obviously. Everything that dbc compiles is compared with it.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "ir/Dyn/Recursion.h"
#include "ir/Dyn/Structural.h"
#include "oracle/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <dbc/batch.h>
#include <dbc/dropout.h>
#include <dbc/model_info.h>
#include <dbc/status.h>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace dbc::oracle {

class Tape;

/// Gives the elements of a parameter or tensor const by its path, row-major. They are borrowed while an
/// interpreter lives, and there must be as many as the parameter's shape says.
using WeightsView = std::function<llvm::ArrayRef<float>(llvm::StringRef path)>;

/// d loss / d x of one input. Empty where the loss does not depend on x.
struct Gradient {
  std::map<std::string, std::vector<double>> parameters; ///< by path, row-major; of those that were read
  /// Of floats of fields and arguments that were read: by column of the batch, and position of the tensor in
  /// it.
  std::map<std::pair<int32_t, int32_t>, std::map<int64_t, std::vector<double>>> inputs;
  /// How near the nearest kink was that something but 0 went back through: the distance to 0 of what `relu`
  /// or `abs` got, and of two between which `maximum`, `minimum`, `max` or `min` chose to each other.
  double kink = std::numeric_limits<double>::infinity();
};

/// What came of one input.
struct Outcome {
  /// Ok, or the first failure in the order of evaluation (manual, E2), in the words that compiled code uses
  /// too.
  Status status;
  /// If ok: the flat values of the result, in the order of `dbc::flatten` over the entry's result type. Node
  /// values count among the nodes of the batch.
  std::vector<Value> values;
  /// All failures that the input contains, `status` among them, in no order.
  std::vector<Status> failures;
  /// How near the nearest computed decision (argmax, comparison or truncation of an f32) was to going the
  /// other way.
  double margin = std::numeric_limits<double>::infinity();
  /// Whether it takes more memory than one input may have: `status` may be that, `failures` lack others. Each
  /// way of computing counts its own memory, so another one may say something else of the input.
  bool tooLarge = false;
  /// Of the first value, if ok and asked for.
  Gradient gradient;
};

/// The value that a `let` gave at one instance, or at one element or step of a binder there.
struct Traced {
  std::string location; ///< "tree_lstm.dyn:12:5", of what was computed
  std::string name;     ///< of the source; components of what has several as `state.h`, `pair.0`
  mlir::Type type;      ///< a flat type of `dyn`
  Value value;
};
/// What was traced while one instance was computed: its captured arguments, what each `let` bound (in binders
/// with positions, `h[2]`), and as `gives` what it gives: "encode(Tree node 3)", or of the entry its name.
/// Called when the instance has its values, callees before callers.
using Trace = std::function<void(const std::string &instance, const std::vector<Traced> &lets)>;

/// Interprets one module. Not thread-safe. Uses machine stack only for the nesting of the source, never for
/// the structure of an input.
class Interpreter {
public:
  /// `module` must have been verified and must outlive the interpreter.
  Interpreter(mlir::ModuleOp module, WeightsView weights);
  ~Interpreter();

  /// The module's description, see `describe`. Batches for `run` are made with this or an equal one.
  const ModelInfo &info() const { return info_; }

  /// From now on every `let` is traced. The compiler's simplifications come first: of two equal expressions
  /// one is traced.
  void setTrace(Trace trace) { trace_ = std::move(trace); }

  /// From now on an input that takes more steps, each an operation evaluated, is given up with Code::limit.
  void setLimit(int64_t steps) { limit_ = steps; }

  /// From now on a loss is differentiated, too: by parameters, and by floats of fields and arguments.
  void setDifferentiates(bool on) { differentiates_ = on; }
  /// From now on by floats of these columns of the batch alone, as code that is compiled to give their
  /// gradients.
  void differentiateColumns(std::set<std::pair<int32_t, int32_t>> columns) { columns_ = std::move(columns); }

  /// From now on losses drop as the run of that seed and step does, of an input that has that number
  /// (manual, G2). Before, and in entries, `dropout` is the identity.
  void setDropout(uint64_t seed, int64_t step, int64_t number) {
    dropoutKeys_ = {dropout_key(seed, step), dropout_key(seed, step, number)};
  }

  /// Computes entry or loss `entry` for one input of the batch. An unknown name gives Code::bad_call.
  Outcome run(llvm::StringRef entry, Batch &batch, int32_t input);

private:
  friend class Evaluation;

  /// A cell at its keys: nodes, by number in the batch, and integers. `context`: of a cell with captured
  /// arguments, the call from outside of its recursion that led to the instance; else 0.
  using Keys = llvm::SmallVector<int32_t, 4>;
  struct Instance {
    dyn::CellOp cell;
    Keys keys;
    int32_t context = 0;
    bool operator==(const Instance &o) const {
      return cell == o.cell && context == o.context && keys == o.keys;
    }
  };
  struct HashOfInstance {
    size_t operator()(const Instance &instance) const {
      return llvm::hash_combine(dyn::CellOp(instance.cell).getOperation(), instance.context,
                                llvm::hash_combine_range(instance.keys.begin(), instance.keys.end()));
    }
  };
  template <class T> using ByInstance = std::unordered_map<Instance, T, HashOfInstance>;
  /// A call: whose, which, and at which positions of the binders around it.
  struct CallSite {
    mlir::Operation *caller = nullptr; ///< null: the entry
    Keys keys;
    int32_t context = 0;
    mlir::Operation *call = nullptr;
    std::vector<int64_t> positions;
    bool operator<(const CallSite &o) const {
      return std::tie(caller, keys, context, call, positions) <
             std::tie(o.caller, o.keys, o.context, o.call, o.positions);
    }
  };
  /// What is known of an instance: nothing; that it is being computed; its values.
  struct Memo {
    enum { New, Open, Done } state = New;
    std::vector<Value> values;
    std::vector<Value> captured;          ///< its captured arguments; unknown before they are computed
    std::optional<CallSite> discoveredBy; ///< where its values change
    std::vector<Instance> calls;          ///< what its body calls, in any order; if `keepsCalls_`
  };
  static constexpr int64_t kMemoBytes = sizeof(std::pair<const Instance, Memo>) + 3 * sizeof(void *);
  /// Stays where it is until the run's end.
  Memo &memo(const Instance &instance) {
    auto [at, isNew] = memos_.try_emplace(instance);
    memoBytes_ += isNew ? kMemoBytes : 0;
    return at->second;
  }
  /// Of the cells with captured arguments: their recursion.
  struct Recursion {
    std::vector<dyn::CellOp> cells;
    dyn::CapturedValues values;
  };
  /// What a walk is for: all that an input gives and contains; or the first failure, among those that
  /// structure alone decides, or among the others. For the first failure a body is left where a value is
  /// missing, and walked again when it is there, so that everything comes in the order of the source.
  enum class Phase { All, Structure, Computing };
  void forget();
  /// Whether the run ends without a result, which further walking does not change.
  bool isGivenUp() const { return steps_ > limit_ || exhausted_; }
  /// What the run holds, in bytes: lists, tensors and instances.
  int64_t heldBytes() const { return Value::liveBytes() - bytesBefore_ + memoBytes_; }
  void walk(dyn::EntryOp entry);
  std::optional<Status> firstFailure(dyn::EntryOp entry);
  const Recursion *recursionOf(mlir::Operation *cell) const {
    auto at = recursions_.find(cell);
    return at == recursions_.end() ? nullptr : at->second.get();
  }
  void compute(const std::vector<Instance> &wanted);
  /// Computes an instance while another is being walked, unless this is nested too deeply.
  bool computeWithin(const Instance &wanted);
  void reportCycle(const Instance &again);
  /// What an instance belongs to, as messages say it: its first key, if that is a node, else what the caller
  /// belongs to that gives it values, or the input.
  std::pair<int32_t, int32_t> ownerOf(const Instance &instance) const;
  /// "Tree node 3, t = 2".
  std::string wordsFor(const Instance &instance) const;
  const Value &parameter(llvm::StringRef path, mlir::Type type);
  int32_t table(dyn::NodeType type) const { return tables_.lookup(type.getData().getValue()); }

  mlir::ModuleOp module_;
  mlir::SymbolTable symbols_;
  WeightsView weights_;
  ModelInfo info_;
  llvm::StringMap<int32_t> tables_; ///< data type -> its number
  llvm::StringMap<Value> parameters_;
  llvm::DenseMap<mlir::Operation *, std::shared_ptr<Recursion>> recursions_;
  Trace trace_;
  int64_t limit_ = std::numeric_limits<int64_t>::max();

  // Of the current run.
  Batch *batch_ = nullptr;
  int32_t input_ = 0, entry_ = 0;
  InputStatuses statuses_;
  int64_t steps_ = 0;               ///< operations evaluated
  int64_t bytesBefore_ = 0;         ///< what values take that are not of the run
  int64_t memoBytes_ = 0;           ///< what `memos_` takes, but for the values that it shares
  int64_t tableBytes_ = 0;          ///< what compiled code takes for the ranges of keys
  std::optional<Status> exhausted_; ///< where all failures are wanted: the memory did not suffice
  ByInstance<Memo> memos_;
  /// The range of the key behind the keys that an instance has; nothing where it could not be computed.
  ByInstance<std::optional<std::pair<int32_t, int32_t>>> ranges_;
  std::vector<std::pair<int32_t, int32_t>> owners_; ///< of each context: what the caller belongs to
  std::map<CallSite, int32_t> contexts_; ///< calls from outside of recursions with captured arguments
  std::vector<Instance> stack_;          ///< of instances to compute
  int within_ = 0;                       ///< walks that wait for an instance to be computed
  Phase phase_ = Phase::All;
  std::optional<Status> first_; ///< failure, unless all are wanted
  dyn::Structural structural_;
  bool keepsCalls_ = false; ///< whether some call wants every instance that it leads to
  bool differentiates_ = false;
  std::optional<std::set<std::pair<int32_t, int32_t>>> columns_; ///< of the floats with a gradient; none: all
  struct DropoutKeys {
    uint64_t run, input;
  };
  std::optional<DropoutKeys> dropoutKeys_;
  bool drops_ = false;         ///< the current run
  std::unique_ptr<Tape> tape_; ///< if the run differentiates
  Outcome outcome_;
};

} // namespace dbc::oracle
