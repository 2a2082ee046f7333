// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Results that stay on a device until they are taken.
#include <dbc/cuda/context.h>

#include <new>
#include <string>

namespace dbc::cuda {

/// `from[r]`: where in the context's memory row r of the result is, -1: nowhere.
void Context::leave(Run &run, int32_t leaf, LeftResult result) {
  Outputs &out = run.out;
  std::vector<int32_t> &from = left_from_;
  result.info = out.leaf(leaf).info;
  result.rows = static_cast<int64_t>(from.size());
  // Inputs that failed have zeros.
  for (int32_t input = 0; run.statuses.failed() > 0 && input < out.inputs(); ++input) {
    if (run.statuses[input].ok())
      continue;
    int32_t first = input, last = input + 1;
    for (int32_t depth = 0; depth < result.info.depth; ++depth) {
      first = out.offsets(leaf, depth)[first];
      last = out.offsets(leaf, depth)[last];
    }
    std::fill(from.begin() + first, from.begin() + last, -1);
  }
  for (int64_t row = 0; row < result.rows; ++row) {
    const int32_t at = from[row];
    if (!result.pieces.empty()) {
      LeftResult::Piece &piece = result.pieces.back();
      if (piece.from < 0 ? at < 0 : at == piece.from + piece.count) {
        ++piece.count;
        continue;
      }
    }
    result.pieces.push_back({at, row, 1});
  }
  if (static_cast<size_t>(leaf) >= left_.size())
    left_.resize(leaf + 1);
  left_[leaf] = std::move(result);
  out.leave_values(leaf);
}

Status Context::take(int32_t leaf, Taken *result) {
  const std::string name = model_.empty() ? "" : model_.host().info().name + ": ";
  if (result == nullptr)
    return Status::error(Code::bad_call, name + "a result is taken into nothing, a null pointer");
  *result = Taken();
  if (!status_.ok())
    return status_;
  if (left_.empty())
    return Status::error(Code::bad_call, name + "no results stay on the device");
  if (leaf < 0 || static_cast<size_t>(leaf) >= left_.size())
    return Status::error(Code::bad_call, name + "there is no result number " + std::to_string(leaf));
  try {
    const LeftResult &left = left_[leaf];
    const size_t row = static_cast<size_t>(left.stride * left.number_bytes);
    int64_t most = 0; // zeros next to each other
    for (const LeftResult::Piece &piece : left.pieces)
      most = piece.from < 0 ? std::max(most, piece.count) : most;
    const std::vector<unsigned char> zeros(static_cast<size_t>(most) * row);
    Taken taken;
    taken.memory_ = memory_;
    taken.bytes_ = static_cast<size_t>(left.rows) * row;
    taken.info_ = left.info;
    taken.rows_ = left.rows;
    taken.stride_ = left.stride;
    taken.number_bytes_ = left.number_bytes;
    taken.device_ = model_.device();
    backend_->use(taken.device_);
    if (taken.bytes_ > 0) {
      taken.data_ = memory_.allocate(taken.bytes_);
      if (taken.data_ == nullptr) {
        Status status = memory_.missing("a result", taken.bytes_, 0);
        status.message = name + status.message;
        return status;
      }
      for (const LeftResult::Piece &piece : left.pieces)
        backend_->copy(static_cast<unsigned char *>(taken.data_) + static_cast<size_t>(piece.to) * row,
                       piece.from < 0 ? zeros.data() : left.data + static_cast<size_t>(piece.from) * row,
                       static_cast<size_t>(piece.count) * row, stream_);
      check(wait());
      if (!status_.ok())
        return status_;
    }
    *result = std::move(taken);
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, name + "not enough memory to take a result");
  }
  return Status();
}

} // namespace dbc::cuda
