// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The master copies of a model's parameters.
#pragma once

#include <dbc/buffer.h>
#include <dbc/model_info.h>
#include <dbc/status.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dbc {

/// What a step of an optimizer has changed of a parameter: nothing, some rows, or all.
struct ParamChange {
  enum class Kind : uint8_t { None, Rows, All };
  Kind kind = Kind::None;
  IndexArray rows;   ///< Rows: their numbers, ascending
  int64_t width = 0; ///< Rows: numbers in one
};

/// All params and tensor consts of a model, in f32, row-major, mutable. Belongs to one thread at a time. Of a
/// number that no parameter has, and of all after they were moved from, there is nothing: null, 0, not given.
class Weights {
public:
  /// Allocates and zeroes all of them; none counts as given. `info` is borrowed and must outlive this. Throws
  /// std::bad_alloc.
  explicit Weights(const ModelInfo &info);

  const ModelInfo &info() const { return *info_; }
  int32_t count() const { return static_cast<int32_t>(info_->params.size()); }
  /// Number of the parameter of that path ("fwd.W"), or -1.
  int32_t find(const std::string &name) const;
  /// Number of elements.
  size_t size(int32_t param) const { return has(param) ? values_[param].size() : 0; }
  float *data(int32_t param) {
    ++accesses_;
    return data_of(param);
  }
  const float *data(int32_t param) const { return has(param) ? values_[param].data() : nullptr; }
  /// Null if there is no such parameter.
  float *data(const std::string &name);

  /// Copies `count` values and marks the parameter as given.
  Status set(const std::string &name, const float *values, size_t count);
  /// Says that a parameter was filled through data().
  void mark_given(int32_t param, bool given = true) {
    if (has(param))
      given_[param] = given;
  }
  bool given(int32_t param) const { return has(param) && given_[param]; }

  /// Draws every parameter by its initialiser (tensor consts from normal(0, 1)) and marks all as given. The
  /// elements depend on `seed` and each parameter's own name only, and are the same on every machine.
  void draw(uint64_t seed);

  /// Rounds the elements of a parameter to bfloat16, see to_bf16 in product.h.
  void round_to_bf16(int32_t param);

  /// Ok if all are given, else bad_weights naming all that are missing.
  Status check() const;

  /// How often somebody but an optimizer may have begun to change them: another number tells models that rows
  /// which a step has changed are not all.
  uint64_t accesses() const { return accesses_; }
  /// For optimizers: as data(), without being counted.
  float *data_of(int32_t param) { return has(param) ? values_[param].data() : nullptr; }

private:
  bool has(int32_t param) const { return static_cast<size_t>(param) < values_.size(); }
  const ModelInfo *info_;
  std::vector<Array<float>> values_;
  std::vector<bool> given_;
  uint64_t accesses_ = 0;
};

/// The places of weights in place of their numbers: all parameters one behind the other. What is made of
/// these as it is made of weights tells which weight each number of it is. Borrows the weights.
class WeightPlaces {
public:
  /// Of a parameter, from one of its numbers on.
  class Places {
  public:
    explicit Places(int64_t first) : first_(first) {}
    Places operator+(int64_t n) const { return Places(first_ + n); }
    int32_t operator[](int64_t n) const { return static_cast<int32_t>(first_ + n); }

  private:
    int64_t first_;
  };
  explicit WeightPlaces(const Weights &weights) : weights_(weights) {}
  Places data(int32_t param) const { return Places(first(param)); }
  /// Where a parameter begins; of count(): how many there are.
  int64_t first(int32_t param) const {
    int64_t numbers = 0;
    for (int32_t p = 0; p < param; ++p)
      numbers += static_cast<int64_t>(weights_.size(p));
    return numbers;
  }

private:
  const Weights &weights_;
};

} // namespace dbc
