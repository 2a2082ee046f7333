// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Random numbers that are the same on every machine and with every standard library.
#pragma once

#include <cstdint>

namespace dbc::bench {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// In 0 .. n - 1.
  int32_t below(int32_t n) { return static_cast<int32_t>(uniform() * n); }

private:
  uint64_t state_;
};

} // namespace dbc::bench
