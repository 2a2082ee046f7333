// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Drawing weights.
#include "bench/Parameters.h"

#include "bench/Random.h"

#include <cstdio>
#include <cstdlib>

namespace dbc::bench {

void Parameters::draw(const std::string &name, int64_t count, double bound) {
  Random random(++drawn_);
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>((2 * random.uniform() - 1) * bound);
  set(name, std::move(values));
}

void Parameters::set(const std::string &name, std::vector<float> values) {
  all_.push_back({name, std::move(values)});
}

const std::vector<float> &Parameters::operator[](const std::string &name) const {
  for (const Parameter &parameter : all_)
    if (parameter.name == name)
      return parameter.values;
  std::fprintf(stderr, "dbc-bench: there is no parameter `%s`\n", name.c_str());
  std::abort();
}

} // namespace dbc::bench
