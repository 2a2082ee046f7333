// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Results that stay on a device.
#include <dbc/cuda/context.h>

#include <new>
#include <string>

namespace dbc::cuda {

/// `from[r]`: where in the context's memory row r of the result is, -1: nowhere.
void Context::keep_result(Run &run, int32_t component, StayingResult result) {
  Outputs &out = run.out;
  std::vector<int32_t> &from = staying_from_;
  result.info = out.component(component).info;
  result.rows = static_cast<int64_t>(from.size());
  // Inputs that failed have zeros.
  for (int32_t input = 0; run.statuses.failed() > 0 && input < out.inputs(); ++input) {
    if (run.statuses[input].ok())
      continue;
    int32_t first = input, last = input + 1;
    for (int32_t depth = 0; depth < result.info.depth; ++depth) {
      first = out.offsets(component, depth)[first];
      last = out.offsets(component, depth)[last];
    }
    std::fill(from.begin() + first, from.begin() + last, -1);
  }
  for (int64_t row = 0; row < result.rows; ++row) {
    const int32_t at = from[row];
    if (!result.pieces.empty()) {
      StayingResult::Piece &piece = result.pieces.back();
      if (piece.from < 0 ? at < 0 : at == piece.from + piece.count) {
        ++piece.count;
        continue;
      }
    }
    result.pieces.push_back({at, row, 1});
  }
  if (static_cast<size_t>(component) >= staying_.size())
    staying_.resize(component + 1);
  staying_[component] = std::move(result);
  out.keep_values_on_device(component);
}

Status Context::get_result(int32_t component, DeviceResult *result) {
  const std::string name = model_.empty() ? "" : model_.host().info().name + ": ";
  if (result == nullptr)
    return Status::error(Code::bad_call, name + "a result is asked for with a null pointer");
  *result = DeviceResult();
  if (!status_.ok())
    return status_;
  if (staying_.empty())
    return Status::error(Code::bad_call, name + "no results stay on the device");
  if (component < 0 || static_cast<size_t>(component) >= staying_.size())
    return Status::error(Code::bad_call, name + "there is no result number " + std::to_string(component));
  try {
    const StayingResult &staying = staying_[component];
    const size_t row = static_cast<size_t>(staying.stride * staying.number_bytes);
    int64_t most = 0; // zeros next to each other
    for (const StayingResult::Piece &piece : staying.pieces)
      most = piece.from < 0 ? std::max(most, piece.count) : most;
    const std::vector<unsigned char> zeros(static_cast<size_t>(most) * row);
    DeviceResult copy;
    copy.memory_ = memory_;
    copy.bytes_ = static_cast<size_t>(staying.rows) * row;
    copy.info_ = staying.info;
    copy.rows_ = staying.rows;
    copy.stride_ = staying.stride;
    copy.number_bytes_ = staying.number_bytes;
    copy.device_ = model_.device();
    backend_->use(copy.device_);
    if (copy.bytes_ > 0) {
      copy.data_ = memory_.allocate(copy.bytes_);
      if (copy.data_ == nullptr) {
        Status status = memory_.missing("a result", copy.bytes_, 0);
        status.message = name + status.message;
        return status;
      }
      for (const StayingResult::Piece &piece : staying.pieces)
        backend_->copy(static_cast<unsigned char *>(copy.data_) + static_cast<size_t>(piece.to) * row,
                       piece.from < 0 ? zeros.data() : staying.data + static_cast<size_t>(piece.from) * row,
                       static_cast<size_t>(piece.count) * row, stream_);
      check(wait());
      if (!status_.ok())
        return status_;
    }
    *result = std::move(copy);
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, name + "not enough memory to take a result");
  }
  return Status();
}

} // namespace dbc::cuda
