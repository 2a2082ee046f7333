// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "SharedState.h"
#include "../io/Result.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dbc::train {

Status compare(Ranks &ranks, const Json &asked) {
  if (ranks.is_alone())
    return Status();
  std::vector<std::string> all;
  if (Status status = ranks.gather_texts(to_text(asked), all); !status.ok())
    return status;
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0])
      continue;
    const Json first = Json::parse(all[0]), other = Json::parse(all[r]);
    for (const auto &[name, value] : first.items())
      if (!other.contains(name) || other[name] != value)
        return ranks.agreed(io::failure("process " + std::to_string(r) + " of " + std::to_string(all.size()) +
                                            " has " + name + " " + to_text(other.value(name, Json())) +
                                            ", not " + to_text(value) +
                                            " as process 0; all take the same options and files",
                                        Code::bad_call));
  }
  return Status();
}

Status share_state(Ranks &ranks, Progress &progress, Weights &weights, Optimizer &optimizer) {
  static_assert(std::is_trivially_copyable_v<Progress>);
  if (Status status = ranks.broadcast(&progress, sizeof progress); !status.ok())
    return status;
  for (int32_t param = 0; param < weights.count(); ++param)
    if (Status status = ranks.broadcast(weights.data(param), weights.size(param) * sizeof(float));
        !status.ok())
      return status;
  int64_t steps = optimizer.steps();
  if (Status status = ranks.broadcast(&steps, sizeof steps); !status.ok())
    return status;
  std::vector<OptimizerState> states(static_cast<size_t>(weights.count()));
  for (int32_t param = 0; param < weights.count(); ++param) {
    const OptimizerState &own = optimizer.state(param);
    OptimizerState &state = states[param];
    uint64_t sizes[] = {static_cast<uint64_t>(own.steps), own.first.size(), own.second.size()};
    if (Status status = ranks.broadcast(sizes, sizeof sizes); !status.ok())
      return status;
    state.steps = static_cast<int64_t>(sizes[0]);
    state.first.append(own.first.data(), own.first.size());
    state.second.append(own.second.data(), own.second.size());
    state.first.resize(sizes[1]);
    state.second.resize(sizes[2]);
    for (Array<float> *array : {&state.first, &state.second})
      if (Status status = ranks.broadcast(array->data(), array->size() * sizeof(float)); !status.ok())
        return status;
  }
  optimizer.restore(steps, std::move(states));
  return Status();
}

} // namespace dbc::train
