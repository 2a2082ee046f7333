// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model with its weights, and runs of it.
#pragma once

#include "Batch.h"

#include <dbc/optimizer.h>
#include <dbc/outputs.h>
#include <dbc/session.h>
#include <dbc/weights.h>
#include <memory>
#include <sys/types.h>

namespace dbc::python {

/// The results of one run, for as long as an array shows them.
struct KeptOutputs {
  explicit KeptOutputs(nb::object code) : code(std::move(code)) {}
  nb::object code; ///< whose code describes them
  Outputs outputs;
};

/// The master copies of parameters, for as long as the model or a view of one is there.
struct KeptWeights {
  explicit KeptWeights(nb::object code)
      : code(std::move(code)), weights(nb::cast<const LoadedCode &>(this->code).info()) {}
  nb::object code; ///< what describes them
  Weights weights;
};

/// Weights, the model made of them, and the session of one thread at a time: `busy` is held by each call that
/// reads or changes them.
class LoadedModel {
public:
  /// `code` is a LoadedCode. There are no weights yet: draw, load or set them, then renew.
  LoadedModel(nb::object code, int32_t threads);
  ~LoadedModel();
  LoadedModel(const LoadedModel &) = delete;
  LoadedModel &operator=(const LoadedModel &) = delete;

  const LoadedCode &code() const { return *code_; }
  /// Memory for the results of a run of an entry: some that no array shows any more, or new.
  std::shared_ptr<KeptOutputs> outputs_for(int32_t entry);
  /// Runs an entry without the GIL. Throws CallError and the like where the run as a whole fails; what is
  /// wrong with inputs is asked of `session`.
  std::shared_ptr<KeptOutputs> run(int32_t entry, FilledBatch &filled);
  /// Makes the model of what the weights have become.
  void renew();
  /// Asks whether somebody whose memory the weights are has changed them: before each use of them. This and
  /// the next ones are for whoever holds the claim.
  void note_change() { note_change(changed_); }
  /// The same of a use of the model by itself. Throws CallError where a module of PyTorch has parameters in
  /// place of the weights, so that it is not clear which of both are meant.
  void refuse_replaced() { note_change(changed_by_itself_); }
  /// Whether the weights have changed since the model was made of them, as far as was asked.
  bool is_stale() const { return stale_; }
  /// What else has the weights' memory, or None: its method `_changed()` says whether it has written there
  /// since it was asked before, `_changed_by_itself()` is for refuse_replaced(). It must not hold this.
  const nb::object &shared() const { return shared_; }
  void set_shared(const nb::object &parameters);
  /// Renews the model if it is stale.
  void take_over();
  /// To be said before the weights are changed: until renew() has succeeded the model is of others.
  void set_stale() { stale_ = true; }
  /// The same of a change that stays, and that PyTorch does not see.
  void set_changed() {
    stale_ = true;
    ++version;
  }
  /// The model is of the weights.
  void set_renewed() { stale_ = false; }
  /// Whether the session's threads are those of a process that this one was forked from.
  bool lacks_threads() const;

  nb::object code_object;
  std::shared_ptr<KeptWeights> kept_weights;
  Weights &weights;
  dbc::Model model;
  std::unique_ptr<Session> session;
  std::atomic<bool> busy{false};
  uint64_t dropout_seed = 0;      ///< what runs of losses drop follows from this
  int64_t dropout_step = 0;       ///< and this, of the next one that drops
  int64_t version = 0;            ///< of the weights: counts what changed them, `shared()` aside
  std::atomic<int64_t> run_ns{0}; ///< how long the last run took; read while another one is under way

private:
  void note_change(const nb::object &asked);
  const LoadedCode *code_;
  int32_t threads_;
  pid_t session_pid_ = 0; ///< of the process that made the session: a forked one does not have its threads
  bool stale_ = false;
  nb::object shared_ = nb::none(), changed_, changed_by_itself_; ///< and its methods
  std::vector<std::vector<std::shared_ptr<KeptOutputs>>> kept_;  ///< by entry
};

/// What a run computes with in place of some weights: puts it there, and them back when it ends. For whoever
/// holds the model's claim.
class Substitution {
public:
  /// `values`: a dict of contiguous float32 arrays by the number of their parameter; None: the run is of the
  /// model's weights, see LoadedModel::refuse_replaced(). Throws, and changes nothing, where one does not
  /// fit.
  Substitution(LoadedModel &model, const nb::object &values);
  ~Substitution();
  Substitution(const Substitution &) = delete;
  Substitution &operator=(const Substitution &) = delete;

private:
  void swap();
  LoadedModel &model_;
  std::vector<std::pair<int32_t, std::vector<float>>> others_; ///< by parameter: what is not there now
};

/// One entry or loss of a model.
class Entry {
public:
  Entry(nb::object model, int32_t number);
  /// Runs it on a batch and gives the results, of a loss values alone. `dropout`: (seed, step) of what a loss
  /// drops; None: nothing. `substitutes`: see Substitution. Throws InputError where inputs are wrong; it has
  /// the others' results.
  nb::object call(nb::handle inputs, nb::object dropout, nb::object substitutes);
  /// Runs a loss and gives (value, result, gradients by name, what they are kept by). `weights` has a factor
  /// for each input; None: those of the lines divided by the number of inputs.
  nb::tuple value_and_grad(nb::handle inputs, nb::object weights, nb::object dropout, nb::object substitutes);
  /// A batch of what may stand for one: a batch, objects, lines or a file of lines.
  nb::object batch_of(nb::handle inputs) const;

  const EntryInfo &info() const { return model_->code().info().entries[number_]; }
  int32_t number() const { return number_; }
  LoadedModel &model() const { return *model_; }

private:
  nb::object model_object_;
  LoadedModel *model_;
  int32_t number_;
};

/// The results of an entry as arrays that show `kept`, which they keep. `session` is what ran it: an input
/// that failed there has None for a node.
nb::object results_of(const std::shared_ptr<KeptOutputs> &kept, const EntryInfo &entry,
                      const FilledBatch &filled, const Session &session);
/// The gradients of a loss by name: of parameters, fields and arguments.
nb::dict gradients_of(const std::shared_ptr<KeptOutputs> &kept, const EntryInfo &loss,
                      const FilledBatch &filled);

void bind_model(nb::module_ &module);
void bind_optimizer(nb::module_ &module);

} // namespace dbc::python
