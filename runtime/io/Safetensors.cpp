// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Weights from and to safetensors files.
#include "Result.h"
#include "SafetensorsHeader.h"
#include "TensorFile.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dbc {

namespace {

/// A line for each tensor with a NaN. Infinities are numbers here: masks have them.
std::string find_nans(const Weights &weights) {
  std::string lines;
  for (int32_t p = 0; p < weights.count(); ++p) {
    const float *begin = weights.data(p), *end = begin + weights.size(p);
    auto nan = [](float x) { return std::isnan(x); };
    if (const float *first = std::find_if(begin, end, nan); first != end)
      lines += "\n  NaN: `" + weights.info().params[p].name + "`, " +
               std::to_string(std::count_if(first, end, nan)) + " of " + std::to_string(weights.size(p)) +
               " elements, the first is element " + std::to_string(first - begin);
  }
  return lines;
}

} // namespace

Status parse_safetensors_header(std::string_view head, uint64_t file_size, SafetensorsHeader &header) {
  return io::guarded([&]() -> Status {
    std::string error;
    SafetensorsHeader read;
    if (!io::parse_header(head, file_size, read, error))
      return io::failure(error, Code::bad_weights);
    header = std::move(read);
    return Status();
  });
}

Status read_safetensors_header(const std::string &path, SafetensorsHeader &header) {
  return io::guarded([&]() -> Status {
    io::TensorFile file;
    Status status = file.open(path);
    if (status.ok())
      header = file.header();
    return status;
  });
}

Status load_weights(const std::string &path, Weights &weights, std::vector<std::string> *missing) {
  return io::guarded([&]() -> Status {
    const ModelInfo &model = weights.info();
    io::TensorFile file;
    if (Status status = file.open(path); !status.ok())
      return io::failure(model.name + ": " + status.message, status.code);
    std::vector<io::Tensor> wanted = io::tensors_of(weights);
    std::vector<io::Tensor> absent;
    if (missing != nullptr) {
      auto is_absent = [&](const io::Tensor &tensor) { return file.find(tensor.name) == nullptr; };
      for (const io::Tensor &tensor : wanted)
        if (is_absent(tensor))
          absent.push_back(tensor);
      if (absent.size() < wanted.size()) // else all are foreign
        wanted.erase(std::remove_if(wanted.begin(), wanted.end(), is_absent), wanted.end());
      else
        absent.clear();
    }
    if (std::string misfits = file.misfits(wanted, absent); !misfits.empty())
      return io::failure(model.name + ": weights in `" + path + "` do not fit the model" + misfits,
                         Code::bad_weights);
    // All bytes are read before the first one is put in place: a disk that fails halfway changes nothing, and
    // pointers into the weights stay good.
    Weights read(model);
    std::string error;
    for (int32_t p = 0; p < weights.count(); ++p)
      if (const SafetensorsEntry *tensor = file.find(model.params[p].name))
        if (!file.read(*tensor, read.data(p), error))
          return io::failure(model.name + ": " + error);
    if (std::string nans = find_nans(read); !nans.empty())
      return io::failure(model.name + ": weights in `" + path + "` are not all numbers" + nans,
                         Code::bad_weights);
    for (int32_t p = 0; p < weights.count(); ++p)
      if (file.find(model.params[p].name) != nullptr) {
        std::memcpy(weights.data(p), read.data(p), sizeof(float) * read.size(p));
        weights.mark_given(p);
      }
    if (missing != nullptr) {
      missing->clear();
      for (const io::Tensor &tensor : absent)
        missing->push_back(tensor.name);
    }
    return Status();
  });
}

Status save_weights(const std::string &path, const Weights &weights) {
  return io::guarded([&]() -> Status {
    if (Status status = weights.check(); !status.ok())
      return status;
    io::OutputFile file;
    std::string error;
    if (!io::write_tensors(file, path, {}, io::tensors_of(weights), error) || !file.commit(error))
      return io::failure(weights.info().name + ": " + error);
    return Status();
  });
}

} // namespace dbc
