// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Random numbers that are the same on every machine: integers only, no library of the platform's.
#pragma once

#include <cstdint>

namespace dbc::io {

/// splitmix64: one 64-bit state, passes the usual tests, any seed will do.
class Random {
public:
  Random(uint64_t seed, uint64_t stream) : state_(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) {
    // The stream's number goes through the mixer too, so that neighbours have nothing in common.
    state_ = next() ^ (stream * 0xD1B54A32D192ED03u);
    next();
  }
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 0 .. n - 1, n at least 1. The bias of at most n / 2^32 does not matter here.
  int64_t below(int64_t n) { return static_cast<int64_t>((next() >> 32) * static_cast<uint64_t>(n) >> 32); }
  /// low .. high, both included.
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  /// Thousandths of a normal variable, mean 0 and deviation 1000: the sum of twelve uniform ones.
  int64_t normal_thousandths() {
    int64_t sum = 0;
    for (int i = 0; i < 12; ++i)
      sum += below(1001) - 500;
    return sum;
  }

private:
  uint64_t state_;
};

} // namespace dbc::io
