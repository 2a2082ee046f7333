// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The state of an optimizer from and to safetensors files.
#include "Result.h"
#include "TensorFile.h"

#include <dbc/counted.h>
#include <dbc/io/optimizer.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

namespace dbc {

namespace {

/// A checksum of all values by their bits, as 16 digits: it tells weights of one step from those of another.
/// Each number is mixed in by an exclusive or and a multiplication, as FNV does, and the high bits, which
/// such products stir best, come down to the low ones.
std::string checksum(const Weights &weights) {
  uint64_t sum = 0;
  for (int32_t p = 0; p < weights.count(); ++p)
    for (size_t i = 0; i < weights.size(p); ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, weights.data(p) + i, sizeof bits);
      sum = (sum ^ bits) * 0x9E3779B97F4A7C15;
      sum ^= sum >> 32;
    }
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4)
    digits += "0123456789abcdef"[sum >> shift & 15];
  return digits;
}

/// The tensors of parameter `p` that hold its arrays, as the kind of `optimizer` keeps them.
void add_arrays(const Weights &weights, const Optimizer &optimizer, int32_t p, const OptimizerState &state,
                std::vector<io::Tensor> &tensors) {
  const ParamInfo &info = weights.info().params[p];
  const uint64_t bytes = sizeof(float) * weights.size(p);
  // One that is empty, as after the kind has changed, stands for zeros.
  if (optimizer.keeps_first())
    tensors.push_back({info.name + ".first", "F32", info.extents, bytes, state.first.data()});
  if (optimizer.keeps_second())
    tensors.push_back({info.name + ".second", "F32", info.extents, bytes, state.second.data()});
}

/// A file with the state of an optimizer, read piece by piece; each step says what is wrong.
class Reader {
public:
  Reader(const std::string &path, const Weights &weights, const Optimizer &optimizer)
      : path_(path), weights_(weights), optimizer_(optimizer), states_(weights.count()) {}

  Status read() {
    if (Status status = file_.open(path_); !status.ok())
      return io::failure(weights_.info().name + ": " + status.message, status.code);
    for (auto piece : {&Reader::read_metadata, &Reader::read_steps, &Reader::read_arrays})
      if (Status status = (this->*piece)(); !status.ok())
        return status;
    return Status();
  }
  int64_t steps() const { return steps_; }
  std::vector<OptimizerState> take_states() { return std::move(states_); }

private:
  Status bad(const std::string &what) const {
    return io::failure(weights_.info().name + ": the state of the optimizer in `" + path_ + "` " + what,
                       Code::bad_weights);
  }
  const std::string *metadata(const std::string &key) const {
    for (const auto &[name, value] : file_.header().metadata)
      if (name == key)
        return &value;
    return nullptr;
  }

  Status read_metadata() {
    const std::string *kind = metadata("optimizer"), *steps = metadata("steps"), *sum = metadata("weights");
    if (kind == nullptr || steps == nullptr || sum == nullptr)
      return bad("is none: its metadata must have `optimizer`, `steps` and `weights`");
    if (*kind != name_of(optimizer_.options().kind))
      return bad("is of `" + *kind + "`, not of `" + name_of(optimizer_.options().kind) + "`");
    const char *end = steps->data() + steps->size();
    const auto [rest, error] = std::from_chars(steps->data(), end, steps_);
    if (error != std::errc() || rest != end || steps_ < 0)
      return bad("has `" + *steps + "` where the number of steps must stand");
    sum_ = *sum;
    return Status();
  }

  /// Which arrays there must be follows from the steps, whose tensors are small.
  Status read_steps() {
    std::vector<io::Tensor> wanted;
    std::string error;
    for (int32_t p = 0; p < weights_.count(); ++p) {
      const std::string name = weights_.info().params[p].name + ".steps";
      wanted.push_back({name, "I64", {}});
      const SafetensorsEntry *tensor = file_.find(name);
      const bool is_there = tensor != nullptr && tensor->dtype == "I64" && tensor->extents.empty();
      int64_t &steps = states_[p].steps;
      if (is_there && !file_.read(*tensor, &steps, error))
        return io::failure(weights_.info().name + ": " + error);
      if (steps < 0 || steps > steps_)
        return bad("has " + std::to_string(steps) + " in `" + name + "`, of " + counted(steps_, "step") +
                   " in all");
      if (!is_there || steps > 0)
        add_arrays(weights_, optimizer_, p, states_[p], wanted);
    }
    const std::string misfits = file_.misfits(wanted);
    return misfits.empty() ? Status() : bad("does not fit the model" + misfits);
  }

  Status read_arrays() {
    for (int32_t p = 0; p < weights_.count(); ++p) {
      OptimizerState &state = states_[p];
      if (state.steps == 0)
        continue;
      for (auto [array, suffix, is_kept] :
           {std::tuple(&state.first, ".first", optimizer_.keeps_first()),
            std::tuple(&state.second, ".second", optimizer_.keeps_second())}) {
        if (!is_kept)
          continue;
        const std::string name = weights_.info().params[p].name + suffix;
        std::string error;
        array->resize(weights_.size(p));
        if (!file_.read(*file_.find(name), array->data(), error))
          return io::failure(weights_.info().name + ": " + error);
        if (std::any_of(array->begin(), array->end(), [](float x) { return std::isnan(x); }))
          return bad("has a NaN in `" + name + "`");
        if (array == &state.second &&
            std::any_of(array->begin(), array->end(), [](float x) { return x < 0; }))
          return bad("has a sum of squares below 0 in `" + name + "`");
      }
    }
    // Last: of another model there is more to say.
    return sum_ == checksum(weights_) ? Status()
                                      : bad("belongs to other weights: they were saved at another step");
  }

  const std::string &path_;
  const Weights &weights_;
  const Optimizer &optimizer_;
  io::TensorFile file_;
  int64_t steps_ = 0;
  std::string sum_;
  std::vector<OptimizerState> states_;
};

bool write_state(io::OutputFile &file, const std::string &path, const Weights &weights,
                 const Optimizer &optimizer, std::string &error) {
  std::vector<io::Tensor> tensors; // steps first: then all of them are aligned
  for (int32_t p = 0; p < weights.count(); ++p)
    tensors.push_back(
        {weights.info().params[p].name + ".steps", "I64", {}, sizeof(int64_t), &optimizer.state(p).steps});
  for (int32_t p = 0; p < weights.count(); ++p)
    if (optimizer.state(p).steps > 0)
      add_arrays(weights, optimizer, p, optimizer.state(p), tensors);
  const io::Metadata metadata = {{"optimizer", name_of(optimizer.options().kind)},
                                 {"steps", std::to_string(optimizer.steps())},
                                 {"weights", checksum(weights)}};
  return io::write_tensors(file, path, metadata, tensors, error);
}

} // namespace

Status save_optimizer(const std::string &path, const Weights &weights, const Optimizer &optimizer) {
  return io::guarded([&]() -> Status {
    io::OutputFile file;
    std::string error;
    if (!write_state(file, path, weights, optimizer, error) || !file.commit(error))
      return io::failure(weights.info().name + ": " + error);
    return Status();
  });
}

Status save_training(const std::string &weights_path, const std::string &optimizer_path,
                     const Weights &weights, const Optimizer &optimizer) {
  return io::guarded([&]() -> Status {
    if (Status status = weights.check(); !status.ok())
      return status;
    io::OutputFile of_weights, of_optimizer;
    std::string error;
    if (!io::write_tensors(of_weights, weights_path, {}, io::tensors_of(weights), error) ||
        !write_state(of_optimizer, optimizer_path, weights, optimizer, error) || !of_weights.commit(error) ||
        !of_optimizer.commit(error))
      return io::failure(weights.info().name + ": " + error);
    return Status();
  });
}

Status load_optimizer(const std::string &path, const Weights &weights, Optimizer &optimizer) {
  return io::guarded([&]() -> Status {
    Reader reader(path, weights, optimizer);
    if (Status status = reader.read(); !status.ok())
      return status;
    optimizer.restore(reader.steps(), reader.take_states());
    return Status();
  });
}

} // namespace dbc
