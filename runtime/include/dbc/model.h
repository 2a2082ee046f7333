// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model ready to run: what generated code makes of Weights, and the table by which hosts find a compiled
// model.
#pragma once

#include <dbc/batch.h>
#include <dbc/buffer.h>
#include <dbc/first_error.h>
#include <dbc/model_info.h>
#include <dbc/product.h>
#include <dbc/status.h>
#include <dbc/weights.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dbc {

struct Run;
class Model;
class Optimizer;
namespace cuda {
class Context;
struct Backend;
} // namespace cuda

/// What a session keeps of one entry from run to run: index sets, groups, whatever generated code needs.
/// Generated code derives one class an entry.
class EntryPlan {
public:
  virtual ~EntryPlan();
  /// Structure in, row numbers out. Reports what is wrong in single inputs to run.errors and may return early
  /// then: it is called again without the inputs that failed. Also gives the sizes of list results
  /// (Outputs::list).
  virtual void schedule(Run &run) = 0;
  /// Runs the stages in order and fills the outputs.
  virtual void compute(Run &run) = 0;
  /// The same on a device, in two halves: all is begun; it is waited for, and the outputs are filled. Fails
  /// with bad_call if the model was not compiled for one.
  virtual Status begin_on(Run &run, cuda::Context &device);
  virtual Status finish_on(Run &run, cuda::Context &device);
  /// Whether the host decides from what a device computes: then what schedule() said of outputs holds only
  /// when a sub-batch is finished.
  virtual bool decides() const { return false; }
};

/// One entry or loss of a compiled model.
struct EntryCode {
  int32_t entry;                       ///< number in ModelInfo::entries
  std::vector<ColumnRef> reads;        ///< columns to check before scheduling; arguments by Batch::arg_column
  std::vector<int32_t> reads_args;     ///< components of the entry's arguments that it reads
  bool shares;                         ///< whether cells of it can share, see Session::share_subtrees
  std::vector<ColumnRef> shared_reads; ///< if so, columns that its cells read: nodes must be alike in these
  std::vector<const char *> stages;    ///< names, in order; RunProfile has one line for each
  std::unique_ptr<EntryPlan> (*make_plan)();
  EvaluationOrder order = {}; ///< by which the first of an input's errors is reported; empty: not known
  std::vector<int32_t> backward = {}; ///< the numbers of those of `stages` that are of the backward pass
};

/// What a compiled model offers to a host. Each has `extern "C" const dbc::ModelCode *dbc_code_<model>()`
/// beside `extern "C" const dbc::ModelInfo *dbc_model_<model>()`.
struct ModelCode {
  const ModelInfo *info;
  bool f64; ///< compiled with --real f64: buffers and packed products are double
  /// Fills a model from weights that are all given, or again one that it filled before. Called by Model::make
  /// and Model::renew only. May throw std::bad_alloc.
  void (*make_model)(const Weights &weights, Model &model);
  /// Compiled with --weights bf16: the parameters that are rounded to bfloat16 when a model is made, all
  /// those of packed products. Empty: none.
  std::vector<int32_t> bf16_params;
  std::vector<EntryCode> entries; ///< in the order of ModelInfo::entries
  /// Compiled with --target cuda: how to reach a device, see dbc/cuda/context.h. Else null.
  const cuda::Backend &(*cuda)() = nullptr;
};

/// Which weights the numbers of a buffer or matrix are, see WeightPlaces; kNone: 0.
struct Sources {
  static constexpr int32_t kNone = -1;
  Array<int32_t> places; ///< empty: not weights, but something that is computed of them
  size_t tf32 = 0;       ///< so many of them, the first ones, are rounded, see cuda::finite_tf32
};

/// A snapshot of weights in the form the kernels want: raw copies, packed products, tables. Made once, then
/// shared by any number of sessions and threads, and never changed but by renew(), which is for one that
/// nobody reads meanwhile. Moved from, it is as if it had never been made.
class Model {
public:
  Model();
  ~Model();
  Model(Model &&other) noexcept;
  Model &operator=(Model &&other) noexcept;

  /// Fails with bad_weights if a parameter is not given, bad_call for another model's weights or a null
  /// `model`, limit without memory. A model that is made anew while sessions have it is theirs from then on,
  /// if it is of the same code.
  static Status make(const ModelCode &code, const Weights &weights, Model *model);

  /// Takes over what weights have become, into the memory that the model has: for training, where a model is
  /// one session's own. Nothing may read the model meanwhile; sessions need not be told. Fails as make()
  /// does (without memory it may have taken over a part: renew it again before it is used), and with bad_call
  /// for a model that was never made. What a device has of it is to be renewed too (cuda::Model::renew).
  Status renew(const Weights &weights);
  /// The same where the optimizer's last step is all that has changed: of a table of which the step has
  /// changed some rows these alone are taken over, so that a small batch costs what it looks up. All is taken
  /// over where that step does not follow the one of the renewal before, or where Weights::accesses() says
  /// that others may have changed something since. What is written through a pointer that was asked for
  /// before the last renewal is not seen: renew(weights) is for that.
  Status renew(const Weights &weights, const Optimizer &optimizer);

  /// Finds which weights its buffers and matrices are, for weights that change where a device has them, and
  /// takes over these. Until forget_sources(), which gives their memory back.
  /// Fails with limit without memory, or where there are 2^31 weights or more.
  Status find_sources(const Weights &weights);
  void forget_sources() {
    buffer_sources_.clear();
    matrix_sources_.clear();
  }
  const Sources &buffer_sources(int32_t number) const { return sources_of(buffer_sources_, number); }
  const Sources &matrix_sources(int32_t number) const { return sources_of(matrix_sources_, number); }

  bool empty() const { return !code_; }
  /// Of a model that was never made: without a name, data types, params and entries.
  const ModelCode &code() const { return code_ != nullptr ? *code_ : no_code(); }
  const ModelInfo &info() const { return *code().info; }
  /// Another one for each make() of a program, and of a model compiled for a device for each renew(); 0: was
  /// never made.
  uint64_t number() const { return number_; }
  /// Memory held, in bytes.
  size_t bytes() const;
  /// That of packed products alone.
  size_t packed_bytes() const;

  /// For generated code: raw buffers and packed products by number.
  template <class Real> const Real *buffer(int32_t number) const {
    return reinterpret_cast<const Real *>(buffers_[number].data());
  }
  template <class Real> const Packed<Real> &packed(int32_t number) const;

  /// For make_model: a zeroed, 64-byte aligned buffer of `count` elements.
  template <class Real> Real *add_buffer(int32_t number, size_t count) {
    Real *out = buffer_room<Real>(number, count);
    std::fill_n(out, count, Real(0));
    return out;
  }
  /// For make_model: a copy of a parameter, converted to Real.
  template <class Real> const Real *add_param(int32_t number, const Weights &weights, int32_t param) {
    if (finds_sources_) {
      const int64_t first = WeightPlaces(weights).first(param);
      int32_t *places = room_for_sources(buffer_sources_, number, weights.size(param)).places.data();
      for (size_t i = 0; i < weights.size(param); ++i)
        places[i] = static_cast<int32_t>(first + static_cast<int64_t>(i));
    }
    Real *out = buffer_room<Real>(number, weights.size(param)); // a large table is renewed in each step
    const float *from = weights.data(param);
    const auto copy = [&](size_t begin, size_t count) {
      for (size_t i = begin; i < begin + count; ++i)
        out[i] = static_cast<Real>(from[i]);
    };
    const ParamChange *change = change_of(param);
    if (change == nullptr || change->kind == ParamChange::Kind::All)
      copy(0, weights.size(param));
    else if (change->kind == ParamChange::Kind::Rows)
      for (int32_t row : change->rows)
        copy(static_cast<size_t>(row) * static_cast<size_t>(change->width),
             static_cast<size_t>(change->width));
    return out;
  }
  /// For make_model: a matrix for products on a device, see cuda::Matrix.
  template <class Real> Real *add_matrix(int32_t number, size_t count) {
    if (static_cast<size_t>(number) >= matrices_.size())
      matrices_.resize(number + 1);
    matrices_[number].assign(count * sizeof(Real), 0);
    return reinterpret_cast<Real *>(matrices_[number].data());
  }
  /// For make_model: where the sources of a matrix of `count` numbers are to be written; null: they are not
  /// wanted.
  int32_t *add_matrix_sources(int32_t number, size_t count, size_t tf32 = 0) {
    if (!finds_sources_)
      return nullptr;
    Sources &sources = room_for_sources(matrix_sources_, number, count);
    sources.tf32 = tf32;
    return sources.places.data();
  }
  /// For make_model: room for `count` elements, which are not set, until the next call. A model that is
  /// renewed keeps the memory.
  template <class Real> Real *scratch(size_t count) {
    scratch_.resize(count * sizeof(Real));
    return reinterpret_cast<Real *>(scratch_.data());
  }
  /// For make_model: the plan number `number` by which stages run that compute something once for the model,
  /// bound to the model as it is. A model that is renewed keeps the memory.
  template <class Plan> Plan &plan(size_t number) {
    if (number >= plans_.size())
      plans_.resize(number + 1);
    if (!plans_[number])
      plans_[number] = std::make_unique<Plan>();
    auto &plan = static_cast<Plan &>(*plans_[number]);
    plan.bind(*this);
    return plan;
  }
  /// All of these, as bytes: for a device. Empty where there is none of that number.
  int32_t buffers() const { return static_cast<int32_t>(buffers_.size()); }
  int32_t matrices() const { return static_cast<int32_t>(matrices_.size()); }
  const Array<unsigned char> &raw_buffer(int32_t number) const { return buffers_[number]; }
  const Array<unsigned char> &raw_matrix(int32_t number) const { return matrices_[number]; }

  /// For make_model: to be packed.
  template <class Real> Packed<Real> &add_packed(int32_t number);

private:
  /// A buffer whose elements are not set.
  template <class Real> Real *buffer_room(int32_t number, size_t count) {
    if (static_cast<size_t>(number) >= buffers_.size())
      buffers_.resize(number + 1);
    buffers_[number].resize(count * sizeof(Real));
    return reinterpret_cast<Real *>(buffers_[number].data());
  }
  static const Sources &sources_of(const std::vector<Sources> &all, int32_t number) {
    static const Sources none;
    return static_cast<size_t>(number) < all.size() ? all[number] : none;
  }
  static Sources &room_for_sources(std::vector<Sources> &all, int32_t number, size_t count) {
    if (static_cast<size_t>(number) >= all.size())
      all.resize(number + 1);
    all[number].places.resize(count);
    return all[number];
  }
  /// While the model is renewed: what has changed since the renewal before; null: that is not known.
  const ParamChange *change_of(int32_t param) const;
  /// Of what the model has come: which weights, and after which step of which optimizer.
  struct Origin {
    const Weights *weights = nullptr;
    uint64_t accesses = 0;
    const Optimizer *optimizer = nullptr;
    int64_t steps = 0;
  };
  static const ModelCode &no_code();
  const ModelCode *code_ = nullptr;
  uint64_t number_ = 0;
  std::vector<Array<unsigned char>> buffers_, matrices_;
  Array<unsigned char> scratch_;
  std::vector<std::unique_ptr<EntryPlan>> plans_;
  std::vector<Sources> buffer_sources_, matrix_sources_;
  bool finds_sources_ = false;
  Origin origin_;
  const Optimizer *step_ = nullptr; ///< while it is renewed by what a step has changed alone
  std::vector<Packed<float>> packed32_;
  std::vector<Packed<double>> packed64_;
};

template <> inline const Packed<float> &Model::packed<float>(int32_t number) const {
  return packed32_[number];
}
template <> inline const Packed<double> &Model::packed<double>(int32_t number) const {
  return packed64_[number];
}
template <> Packed<float> &Model::add_packed<float>(int32_t number);
template <> Packed<double> &Model::add_packed<double>(int32_t number);

} // namespace dbc
