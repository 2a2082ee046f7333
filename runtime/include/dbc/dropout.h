// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The masks of dropout (manual, G2). Whether an element is kept is computed from what tells it from all
// others: a counter, and no state, says it. So it is the same in any batch, in any order, by any number of
// threads, and a gradient finds it again where nothing was kept.
#pragma once

#include <cstdint>

namespace dbc {

/// One more word into a 64-bit state: different words of one state, and one word of different states, give
/// different states. The step and the finaliser are those of SplitMix64 (Steele, Lea and Flood, Fast
/// Splittable Pseudorandom Number Generators, OOPSLA 2014), with Stafford's thirteenth choice of constants.
constexpr uint64_t mix(uint64_t state, uint64_t word) {
  uint64_t z = state + (word + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// What the masks of a run begin with, from its seed and step; of one input, with its own number.
constexpr uint64_t dropout_key(uint64_t seed, int64_t step) {
  return mix(mix(0, seed), static_cast<uint64_t>(step));
}
constexpr uint64_t dropout_key(uint64_t seed, int64_t step, int64_t number) {
  return mix(dropout_key(seed, step), static_cast<uint64_t>(number));
}

/// Whether an element of a mask is kept. `mask`: the key of the run or input, with the place and the keys of
/// the instance mixed in. `rate`: the share that is dropped, 0 <= rate < 1.
constexpr bool keeps(uint64_t mask, int32_t element, double rate) {
  return (mix(mask, static_cast<uint32_t>(element)) >> 32) >= static_cast<uint64_t>(rate * 4294967296.0);
}

/// What a run drops: nothing by default.
struct Dropout {
  bool drops = false;
  uint64_t run = 0;                 ///< dropout_key(seed, step)
  const uint64_t *inputs = nullptr; ///< dropout_key(seed, step, number) of each input of the batch; borrowed

  /// An element of what a dropout gives: 0 where it is dropped, else x / (1 - rate). `place` says which
  /// dropout of the source, `keys` which of its masks: numbers of the instance, positions, of tables.
  template <class Real, class... Keys>
  constexpr Real in_input(Real x, Real rate, int32_t element, uint64_t place, int32_t input,
                          Keys... keys) const {
    return drops ? of_mask(x, rate, element, with(mix(inputs[input], place), keys...)) : x;
  }
  /// The same of a mask that all inputs of a run share.
  template <class Real, class... Keys>
  constexpr Real in_run(Real x, Real rate, int32_t element, uint64_t place, Keys... keys) const {
    return drops ? of_mask(x, rate, element, with(mix(run, place), keys...)) : x;
  }

private:
  template <class Real> static constexpr Real of_mask(Real x, Real rate, int32_t element, uint64_t mask) {
    return keeps(mask, element, static_cast<double>(rate)) ? x / (1 - rate) : Real(0);
  }
  static constexpr uint64_t with(uint64_t mask) { return mask; }
  template <class... Keys> static constexpr uint64_t with(uint64_t mask, int32_t key, Keys... keys) {
    return with(mix(mask, static_cast<uint32_t>(key)), keys...);
  }
};

} // namespace dbc
