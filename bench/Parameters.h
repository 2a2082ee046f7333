// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The weights that all implementations of a workload share.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace dbc::bench {

/// Arrays, row-major, under the names that the model gives them ("fwd.W").
class Parameters {
public:
  /// Draws `count` numbers from -bound .. bound. They depend on all that was drawn before, and are the same
  /// on every machine.
  void draw(const std::string &name, int64_t count, double bound);
  /// The values of a parameter that has been drawn elsewhere.
  void set(const std::string &name, std::vector<float> values);

  struct Parameter {
    std::string name;
    std::vector<float> values;
  };
  const std::vector<Parameter> &all() const { return all_; }
  /// Ends the program if there is no such parameter. Valid until another one is added.
  const std::vector<float> &operator[](const std::string &name) const;

private:
  std::vector<Parameter> all_;
  uint64_t drawn_ = 0;
};

/// The bound that keeps the size of numbers through a matrix of so many rows and columns.
inline double glorot(int64_t rows, int64_t columns) {
  return std::sqrt(6.0 / static_cast<double>(rows + columns));
}

} // namespace dbc::bench
