// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "ParameterOptions.h"
#include "../io/Nearest.h"
#include "../io/Result.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace dbc::train {

/// What may have been meant in place of a param's name: one of `names`, a layer that holds some, or what is
/// called so inside of a layer.
static std::string near_param(const std::string &name, const std::vector<std::string> &names) {
  const std::string inner = "." + name;
  std::vector<std::string> all = names, inside;
  for (const std::string &each : names) {
    for (size_t dot = each.find('.'); dot != std::string::npos; dot = each.find('.', dot + 1))
      all.push_back(each.substr(0, dot));
    if (each.size() > inner.size() && each.compare(each.size() - inner.size(), inner.size(), inner) == 0)
      inside.push_back(each);
  }
  if (inside.size() == 1)
    return "; did you mean `" + inside[0] + "`?";
  if (const std::string near = io::hint(name, all, "it has"); near.compare(0, 14, "; did you mean") == 0)
    return near;
  return io::hint(name, names, "it has");
}

/// Calls `set` with each parameter of that path, or under it; an error if there is none.
static Status set_each(const ModelInfo &info, const std::string &option, const std::string &name,
                       const std::function<void(int32_t)> &set) {
  bool found = false;
  std::vector<std::string> names;
  for (size_t i = 0; i < info.params.size(); ++i) {
    const ParamInfo &param = info.params[i];
    if (param.is_const)
      continue;
    names.push_back(param.name);
    if (param.name != name && param.name.compare(0, name.size() + 1, name + ".") != 0)
      continue;
    set(static_cast<int32_t>(i));
    found = true;
  }
  if (found)
    return Status();
  return io::failure(option + ": model `" + info.name + "` has no param `" + name + "`" +
                         near_param(name, names),
                     Code::bad_call);
}

Status set_parameters(const TrainOptions &options, const ModelInfo &info, const EntryInfo &loss,
                      Optimizer &optimizer) {
  for (const std::string &name : options.freeze)
    if (Status status = set_each(info, "--freeze", name, [&](int32_t param) { optimizer.freeze(param); });
        !status.ok())
      return status;
  if (std::all_of(loss.gradients.begin(), loss.gradients.end(),
                  [&](int32_t param) { return optimizer.is_frozen(param); }))
    return io::failure("--freeze keeps every param that loss `" + std::string(loss.name) +
                           "` depends on: there is nothing to train",
                       Code::bad_call);
  if (!options.rate_of.empty() && !(options.rate.base > 0))
    return io::failure(
        "--lr NAME=X is a part of the rate of all, which is 0; --freeze keeps parameters as they are",
        Code::bad_call);
  for (const auto &[name, rate] : options.rate_of) {
    const auto scale = static_cast<float>(rate / options.rate.base);
    if (Status status =
            set_each(info, "--lr", name, [&](int32_t param) { optimizer.set_lr_scale(param, scale); });
        !status.ok())
      return status;
  }
  for (const auto &[name, each] : options.decay_of) {
    const auto decay = static_cast<float>(each);
    if (Status status = set_each(info, "--weight-decay", name,
                                 [&](int32_t param) { optimizer.set_weight_decay(param, decay); });
        !status.ok())
      return status;
  }
  return Status();
}

} // namespace dbc::train
