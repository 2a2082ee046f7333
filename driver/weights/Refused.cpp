// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/weights/Refused.h"
#include "driver/weights/TensorSource.h"
#include <algorithm>
#include <dbc/io/safetensors.h>
#include <set>

namespace dbc::driver {

/// Whether a tensor is called as one of a state dict of PyTorch.
static bool isOfStateDict(const std::string &name) {
  const size_t dot = name.rfind('.');
  const std::string own = dot == std::string::npos ? name : name.substr(dot + 1);
  return own == "weight" || own == "in_proj_weight" || own.compare(0, 10, "weight_ih_") == 0;
}

Status explainRefused(const Status &refused, const std::string &path, const ModelInfo &model) {
  if (refused.code != Code::bad_weights)
    return refused;
  SafetensorsHeader header;
  if (read_safetensors_header(path, header).ok()) {
    std::set<std::string> own;
    for (const ParamInfo &param : model.params)
      own.insert(param.name);
    if (std::none_of(header.tensors.begin(), header.tensors.end(), [&](const SafetensorsEntry &tensor) {
          return isOfStateDict(tensor.name) && !own.count(tensor.name);
        }))
      return refused;
  } else {
    std::unique_ptr<TensorSource> source;
    if (Status opened = openSource(path, source); !opened.ok()) // a checkpoint that is a pickle, for one
      return opened.code == Code::bad_weights
                 ? Status::error(Code::bad_weights, model.name + ": " + opened.message)
                 : refused;
  }
  return Status::error(Code::bad_weights, refused.message + "\nhint: `dbc weights map MODEL --from " + path +
                                              " --suggest` makes weights of another program's tensors");
}

} // namespace dbc::driver
