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
#include <type_traits>
#include <utility>
#include <vector>

namespace dbc {

/// One array for each leaf of the result type (flatten order: tuples and records depth first).
///
/// A leaf of depth 0 has one value an input: input i's starts at i * extent. A leaf of depth d has d arrays
/// of offsets: input i's list is elements offsets(leaf, 0)[i] .. offsets(leaf, 0)[i + 1] - 1; those are
/// numbers of inner lists (offsets(leaf, 1)) or, at the last depth, of values, value e starting at e *
/// extent. Inputs that failed have zeros and empty lists. F32 leaves are float (double in a model compiled
/// with --real f64); all other leaves are int32_t: bools 0 and 1, nodes by their number in the batch's table.
///
/// Memory belongs to this object and is reused by the next run, or to the caller, who hands it in by
/// `use_...`. A run whose results do not fit into the caller's memory fails with bad_call and writes nothing
/// there. Reading what is not there gives null, 0 or nothing, never memory of something else. Moved from,
/// they are as before the first run.
class Outputs {
public:
  struct Leaf {
    ColumnInfo info;
    int64_t values = 0; ///< number of values (each `info.extent` numbers) of the last run
  };

  Outputs() = default;
  Outputs(Outputs &&other) noexcept { *this = std::move(other); }
  Outputs &operator=(Outputs &&other) noexcept;

  int32_t leaves() const { return static_cast<int32_t>(leaves_.size()); }
  /// Of no number of a leaf: one without values.
  const Leaf &leaf(int32_t number) const;
  /// Of the last run; 0 before it, and where there was no memory for results.
  int32_t inputs() const { return inputs_; }

  /// Values of a leaf, by their type, and where its lists begin. Null where there are none: before the first
  /// run, of another type or no such leaf, and where they stay on a device (cuda::Context::leave_results).
  const float *f32(int32_t leaf) const {
    return static_cast<const float *>(memory(leaf, /*real=*/true, /*f64=*/false));
  }
  const double *f64(int32_t leaf) const {
    return static_cast<const double *>(memory(leaf, /*real=*/true, /*f64=*/true));
  }
  const int32_t *i32(int32_t leaf) const {
    return static_cast<const int32_t *>(memory(leaf, /*real=*/false, f64_));
  }
  /// The same of whatever type.
  const void *data(int32_t leaf) const { return has(leaf) ? leaves_[leaf].memory : nullptr; }
  template <class Number> const Number *numbers(int32_t leaf) const {
    if constexpr (std::is_same_v<Number, float>)
      return f32(leaf);
    else if constexpr (std::is_same_v<Number, double>)
      return f64(leaf);
    else
      return i32(leaf);
  }
  const int32_t *offsets(int32_t leaf, int32_t depth) const {
    return has(leaf, depth) ? leaves_[leaf].lists[depth].offsets : nullptr;
  }
  /// Number of lists that offsets(leaf, depth) cuts: it has one number more.
  int64_t lists(int32_t leaf, int32_t depth) const {
    return has(leaf, depth) ? leaves_[leaf].lists[depth].count : 0;
  }
  /// These, if they are of that entry of a model; else ones without leaves and inputs.
  const Outputs &of(const EntryInfo &entry) const;

  /// The caller's memory for a leaf's values, `capacity` in numbers; null: own memory again. Stays until
  /// changed. For a leaf that is not there, as before prepare(), every run into these outputs fails with
  /// bad_call.
  void use_values(int32_t leaf, void *memory, size_t capacity);
  /// The caller's memory for offsets; `capacity` counts the last offset too.
  void use_offsets(int32_t leaf, int32_t depth, int32_t *memory, size_t capacity);

  /// For hosts and tests: leaf's number `i` as a double, whatever its type; 0 where there is none.
  double number(int32_t leaf, size_t i) const;

  // --- for sessions and generated code
  // ------------------------------------------------------------------------------

  /// Says whose results these are; also for callers who want to hand in memory before the first run. Costs
  /// nothing while the entry is the same, else forgets memory that was handed in.
  void prepare(const EntryInfo &entry, bool f64);
  /// Starts a run of `inputs` inputs. It comes in parts: ranges of inputs, one behind the other, the last of
  /// which ends with the last input.
  void begin(int32_t inputs);
  /// Whether all must be one part: where lists go to the caller's memory, nothing may be written before it is
  /// known that everything fits.
  bool is_one_part() const;
  /// Starts a part. What follows is about its inputs, rows of its lists, and their values.
  void begin_part(Range inputs);
  /// In EntryPlan::schedule: level `depth` of leaf has `rows` elements, parent[r] being the row outside that
  /// element r belongs to, nondecreasing. At depth 0 parents are rows of the space of inputs,
  /// `inputs[parent]` the input's number. Deepest level last. Said again it replaces what was said of this
  /// part.
  void list(int32_t leaf, int32_t depth, const int32_t *parent, int32_t rows, const int32_t *inputs,
            int32_t parents);
  /// In EntryPlan::compute: of the rows that list(leaf, 0, ..) was told of, `count` remain, rows[0] .. in
  /// order: their values are the first ones. What the caller handed in must have room for all.
  void shorten(int32_t leaf, const int32_t *parent, const int32_t *rows, int32_t count,
               const int32_t *inputs);
  /// In EntryPlan::compute: where generated code writes: depth 0 by input, else the first value of this part.
  /// Real is float, double or int32_t.
  template <class Real> Real *values(int32_t leaf) {
    const Slot &slot = leaves_[leaf];
    return static_cast<Real *>(slot.memory) + slot.first_value * slot.leaf.info.extent;
  }
  /// After scheduling a part: makes room for its values, which are not set. Fails if the caller's memory is
  /// too small.
  Status commit();
  /// Where the part in hand stands, to go on with it when others have begun behind it; their lists must not
  /// be shortened meanwhile.
  struct Part {
    Range inputs;
    std::vector<int64_t> first_values;
    std::vector<std::array<int64_t, kMaxListDepth>> first_lists;
  };
  void leave_part(Part &part) const;
  void enter_part(const Part &part);
  /// A leaf's values of this run stay on a device: f32() and the others give null.
  void leave_values(int32_t leaf) { leaves_[leaf].memory = nullptr; }
  /// Zeroes the values of an input: of one that failed.
  void blank(int32_t input);

private:
  struct Lists {
    IntColumn own;
    int32_t *offsets = nullptr;
    int32_t *caller = nullptr;
    size_t capacity = 0;
    int64_t count = 0;
    int64_t first = 0; ///< list of this part; at depth 0 that is an input
  };
  struct Slot {
    Leaf leaf;
    void *memory = nullptr;
    int64_t first_value = 0; ///< of this part; of depth 0: 0
    Array<unsigned char> own;
    void *caller = nullptr;
    size_t capacity = 0;
    Lists lists[kMaxListDepth];
  };
  size_t number_bytes(const Slot &slot) const;
  bool has(int32_t leaf) const { return static_cast<size_t>(leaf) < leaves_.size(); }
  bool has(int32_t leaf, int32_t depth) const {
    return has(leaf) && depth >= 0 && depth < leaves_[leaf].leaf.info.depth;
  }
  const void *memory(int32_t leaf, bool real, bool f64) const {
    return has(leaf) && (leaves_[leaf].leaf.info.elem == Elem::F32) == real && f64 == f64_
               ? leaves_[leaf].memory
               : nullptr;
  }

  const EntryInfo *entry_ = nullptr;
  bool f64_ = false;
  int32_t inputs_ = 0;
  Range part_;
  std::vector<Slot> leaves_;
  /// Memory was handed in for what is not there: a leaf, and a depth of its lists or -1.
  struct Wrong {
    int32_t leaf, depth;
  };
  std::optional<Wrong> wrong_;
};

} // namespace dbc
