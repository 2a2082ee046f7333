// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The results of an entry for a whole batch.
#pragma once

#include <dbc/batch.h>
#include <dbc/buffer.h>
#include <dbc/model_info.h>
#include <dbc/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dbc {

/// Which rows of a table a sparse gradient is of: those that were looked up. The other rows' gradient is 0.
struct GradientRows {
  const int32_t *rows = nullptr; ///< `count` numbers of rows, ascending, each once
  int32_t count = 0;             ///< may be 0: nothing was looked up
  int64_t width = 0; ///< numbers in a row of the table; 0: the gradient is dense, or there is none
  explicit operator bool() const { return width != 0; }
};

/// A sparse gradient with its numbers: those of row rows[r] of the table are values[r * width] and on.
template <class Real> struct SparseGradient : GradientRows { const Real *values = nullptr; };

/// One array for each flattened component of the result type (tuples and records depth first).
///
/// A component of depth 0 has one value an input: input i's starts at i * extent. A component of depth d has
/// d arrays of offsets: input i's list is elements
/// offsets(component, 0)[i] .. offsets(component, 0)[i + 1] - 1; those are numbers of inner lists
/// (offsets(component, 1)) or, at the last depth, of values, value e starting at e * extent. Inputs that
/// failed have zeros and empty lists. F32 components are float (double in a model compiled with --real f64);
/// all other components are int32_t: bools 0 and 1, nodes by their number in the batch's table.
///
/// Memory belongs to this object and is reused by the next run, or to the caller, who hands it in by
/// `use_...`. A run whose results do not fit into the caller's memory fails with bad_call and writes nothing
/// there. Reading what is not there gives null, 0 or nothing, never memory of something else. Moved from,
/// they are as before the first run.
class Outputs {
public:
  struct Component {
    ColumnInfo info;
    int64_t values = 0; ///< number of values (each `info.extent` elements) of the last run
  };

  Outputs() = default;
  Outputs(Outputs &&other) noexcept { *this = std::move(other); }
  Outputs &operator=(Outputs &&other) noexcept;

  int32_t components() const { return static_cast<int32_t>(components_.size()); }
  /// Of no number of a component: one without values.
  const Component &component(int32_t number) const;
  /// Of the last run; 0 before it, and where there was no memory for results.
  int32_t inputs() const { return inputs_; }

  /// Values of a component, by their type, and where its lists begin. Null where there are none: before the
  /// first run, of another type or no such component, and where they stay on a device
  /// (cuda::Context::keep_results_on_device).
  const float *f32(int32_t component) const {
    return static_cast<const float *>(memory(component, /*real=*/true, /*f64=*/false));
  }
  const double *f64(int32_t component) const {
    return static_cast<const double *>(memory(component, /*real=*/true, /*f64=*/true));
  }
  const int32_t *i32(int32_t component) const {
    return static_cast<const int32_t *>(memory(component, /*real=*/false, f64_));
  }
  /// The same of whatever type.
  const void *data(int32_t component) const {
    return has(component) ? components_[component].memory : nullptr;
  }
  template <class Number> const Number *numbers(int32_t component) const {
    if constexpr (std::is_same_v<Number, float>)
      return f32(component);
    else if constexpr (std::is_same_v<Number, double>)
      return f64(component);
    else
      return i32(component);
  }
  const int32_t *offsets(int32_t component, int32_t depth) const {
    return has(component, depth) ? components_[component].lists[depth].offsets : nullptr;
  }
  /// Number of lists that offsets(component, depth) cuts: it has one number more.
  int64_t lists(int32_t component, int32_t depth) const {
    return has(component, depth) ? components_[component].lists[depth].count : 0;
  }
  /// Whether the last run left a gradient of a parameter, by its number, dense or sparse.
  bool has_gradient(int32_t param) const {
    return static_cast<size_t>(param) < gradients_.size() && gradients_[param].is_given;
  }
  /// The gradient of a parameter over the whole batch: that of the sum of each input's weight times its loss.
  /// A dense one has as many numbers as the parameter. A sparse one, of a table of which rows were looked up,
  /// has the numbers of gradient_rows(param) only, row after row: numbers r * width .. are of row rows[r].
  /// Null where there is none, and of another type.
  const float *gradient_f32(int32_t param) const {
    return f64_ ? nullptr : static_cast<const float *>(gradient_memory(param));
  }
  const double *gradient_f64(int32_t param) const {
    return f64_ ? static_cast<const double *>(gradient_memory(param)) : nullptr;
  }
  /// How many numbers these are; 0 where there is none, as after a run that failed as a whole, and of a
  /// sparse one without rows.
  size_t gradient_size(int32_t param) const {
    return has_gradient(param) ? gradients_[param].values.size() / (f64_ ? sizeof(double) : sizeof(float))
                               : 0;
  }
  /// The rows of a sparse gradient, until the next run; false of a dense one and where there is none.
  GradientRows gradient_rows(int32_t param) const {
    if (!has_gradient(param))
      return {};
    const Gradient &gradient = gradients_[param];
    return {gradient.rows.data(), static_cast<int32_t>(gradient.rows.size()), gradient.width};
  }
  /// Adds a gradient, dense or sparse, to `dense`, which has a number for each of the parameter's `size`
  /// numbers. Fails with bad_call, and adds nothing, where there is no gradient of that type or it does not
  /// fit into `size`.
  Status add_gradient_to(int32_t param, float *dense, size_t size) const;
  Status add_gradient_to(int32_t param, double *dense, size_t size) const;
  /// The gradient of a field or argument, by the position of its name in EntryInfo::input_gradients: for each
  /// value that it has in the batch, in the order of the batch's columns (Batch::column), as many numbers as
  /// a value has. 0 for what was not read, and for what belongs to inputs that failed. Null where there is
  /// none, and of another type.
  const float *input_gradient_f32(int32_t number) const {
    return f64_ ? nullptr : static_cast<const float *>(input_gradient_memory(number));
  }
  const double *input_gradient_f64(int32_t number) const {
    return f64_ ? static_cast<const double *>(input_gradient_memory(number)) : nullptr;
  }
  /// How many values these are; 0 where there is none.
  int32_t input_gradient_values(int32_t number) const {
    return has_input_gradient(number) ? input_gradients_[number].count : 0;
  }
  /// Those of one node, or input: the first, and how many.
  Range input_gradient_range(int32_t number, int32_t owner) const;
  /// The position of a name in EntryInfo::input_gradients; -1: there is none.
  int32_t input_gradient_number(std::string_view name) const;
  /// Numbers of a value of it; 0: there is none.
  int64_t input_gradient_width(int32_t number) const {
    return has_input_gradient(number) ? entry_->input_gradients[number].width : 0;
  }
  /// These, if they are of that entry of a model; else ones without components and inputs.
  const Outputs &of(const EntryInfo &entry) const;

  /// The caller's memory for a component's values, `capacity` in numbers; null: own memory again. Stays until
  /// changed. For a component that is not there, as before prepare(), every run into these outputs fails with
  /// bad_call.
  void use_values(int32_t component, void *memory, size_t capacity);
  /// The caller's memory for offsets; `capacity` counts the last offset too.
  void use_offsets(int32_t component, int32_t depth, int32_t *memory, size_t capacity);

  /// For hosts and tests: a component's number `i` as a double, whatever its type; 0 where there is none.
  double number(int32_t component, size_t i) const;

  // --- for sessions and generated code -------------------------------------------------------------------

  /// Says whose results these are; also for callers who want to hand in memory before the first run. Costs
  /// nothing while the entry is the same, else forgets memory that was handed in.
  void prepare(const EntryInfo &entry, bool f64);
  /// Starts a run of `inputs` inputs. It comes in sub-batches: ranges of inputs, one behind the other, the
  /// last of which ends with the last input.
  void begin(int32_t inputs);
  /// Whether the batch must be one sub-batch: where lists go to the caller's memory, nothing may be written
  /// before it is known that everything fits.
  bool is_one_sub_batch() const;
  /// Starts a sub-batch. What follows is about its inputs, rows of its lists, and their values.
  void begin_sub_batch(Range inputs);
  /// In EntryPlan::schedule: level `depth` of a component has `rows` elements, parent[r] being the row
  /// outside that element r belongs to, nondecreasing. At depth 0 parents are rows of the index set of
  /// inputs, `inputs[parent]` the input's number. Deepest level last. Said again it replaces what was said of
  /// this sub-batch.
  void list(int32_t component, int32_t depth, const int32_t *parent, int32_t rows, const int32_t *inputs,
            int32_t parents);
  /// In EntryPlan::compute: of the rows that list(component, 0, ..) was given, `count` remain, rows[0] .. in
  /// order: their values are the first ones. What the caller handed in must have room for all.
  void shorten(int32_t component, const int32_t *parent, const int32_t *rows, int32_t count,
               const int32_t *inputs);
  /// In EntryPlan::compute: where generated code writes: depth 0 by input, else the first value of this
  /// sub-batch. Real is float, double or int32_t.
  template <class Real> Real *values(int32_t component) {
    const Storage &storage = components_[component];
    return static_cast<Real *>(storage.memory) + storage.first_value * storage.component.info.extent;
  }
  /// After scheduling a sub-batch: makes room for its values, which are not set. Fails if the caller's memory
  /// is too small.
  Status commit();
  /// Where the sub-batch in hand stands, to go on with it when others have begun behind it; their lists must
  /// not be shortened meanwhile.
  struct SubBatch {
    Range inputs;
    std::vector<int64_t> first_values;
    std::vector<std::array<int64_t, kMaxListDepth>> first_lists;
  };
  void leave_sub_batch(SubBatch &sub_batch) const;
  void enter_sub_batch(const SubBatch &sub_batch);
  /// A component's values of this run stay on a device: f32() and the others give null.
  void keep_values_on_device(int32_t component) { components_[component].memory = nullptr; }
  /// In EntryPlan::compute: where generated code adds up the gradient of a parameter; not set. Throws
  /// std::bad_alloc.
  template <class Real> Real *gradient(int32_t param, size_t count) {
    return static_cast<Real *>(gradient_room(param, count * sizeof(Real), {}));
  }
  /// The same for a table of which only rows were looked up: room for the gradients of `count` rows of
  /// `width` numbers, which are not set. `rows` are their numbers, ascending, each once; they are copied.
  template <class Real>
  Real *sparse_gradient(int32_t param, const int32_t *rows, int32_t count, int64_t width) {
    const size_t numbers = static_cast<size_t>(count) * static_cast<size_t>(width);
    return static_cast<Real *>(gradient_room(param, numbers * sizeof(Real), {rows, count, width}));
  }
  /// The same for a field or argument: room for `count` values of `width` numbers, which are not set.
  /// `column` holds them, `owners` is the number of nodes or inputs; where their lists lie is copied.
  template <class Real>
  Real *input_gradient(int32_t number, const ColumnView &column, int32_t owners, int32_t count,
                       int64_t width) {
    const size_t numbers = static_cast<size_t>(count) * static_cast<size_t>(width);
    return static_cast<Real *>(input_gradient_room(number, numbers * sizeof(Real), column, owners, count));
  }
  /// Zeroes the values of an input: of one that failed.
  void blank(int32_t input);

private:
  struct Lists {
    IndexArray own;
    int32_t *offsets = nullptr;
    int32_t *caller = nullptr;
    size_t capacity = 0;
    int64_t count = 0;
    int64_t first = 0; ///< list of this sub-batch; at depth 0 that is an input
  };
  struct Storage {
    Component component;
    void *memory = nullptr;
    int64_t first_value = 0; ///< of this sub-batch; of depth 0: 0
    Array<unsigned char> own;
    void *caller = nullptr;
    size_t capacity = 0;
    Lists lists[kMaxListDepth];
  };
  struct Gradient {
    Array<unsigned char> values;
    IndexArray rows;   ///< of a sparse one
    int64_t width = 0; ///< of a sparse one's row; else 0
    bool is_given = false;
  };
  /// Of a field or argument.
  struct InputValues {
    Array<unsigned char> values;
    IndexArray begin, end; ///< of a list: the first value of each owner, and the one behind its last
    int32_t count = 0, owners = 0;
    bool is_list = false, is_given = false;
  };
  void *input_gradient_room(int32_t number, size_t bytes, const ColumnView &column, int32_t owners,
                            int32_t count);
  bool has_input_gradient(int32_t number) const {
    return static_cast<size_t>(number) < input_gradients_.size() && input_gradients_[number].is_given;
  }
  const void *input_gradient_memory(int32_t number) const {
    return has_input_gradient(number) ? input_gradients_[number].values.data() : nullptr;
  }
  void *gradient_room(int32_t param, size_t bytes, const GradientRows &rows);
  const void *gradient_memory(int32_t param) const {
    return has_gradient(param) ? gradients_[param].values.data() : nullptr;
  }
  template <class Real>
  Status add_gradient(int32_t param, const Real *gradient, Real *dense, size_t size) const;
  size_t number_bytes(const Storage &storage) const;
  bool has(int32_t component) const { return static_cast<size_t>(component) < components_.size(); }
  bool has(int32_t component, int32_t depth) const {
    return has(component) && depth >= 0 && depth < components_[component].component.info.depth;
  }
  const void *memory(int32_t component, bool real, bool f64) const {
    return has(component) && (components_[component].component.info.elem == Elem::F32) == real && f64 == f64_
               ? components_[component].memory
               : nullptr;
  }

  const EntryInfo *entry_ = nullptr;
  bool f64_ = false;
  int32_t inputs_ = 0;
  Range sub_batch_;
  std::vector<Storage> components_;
  std::vector<Gradient> gradients_; ///< by parameter
  std::vector<InputValues> input_gradients_;
  /// Memory was handed in for what is not there: a component, and a depth of its lists or -1.
  struct Wrong {
    int32_t component, depth;
  };
  std::optional<Wrong> wrong_;
};

} // namespace dbc
