// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Results that stay on a device: where a context has them, and one in memory of its own.
#pragma once

#include <dbc/batch.h>
#include <dbc/cuda/memory.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace dbc::cuda {

/// A result that stays on the device, in memory of its own: nobody overwrites it, and it outlives the
/// context and its model, but neither the program's code nor what the context's allocator needs. The memory
/// goes back with it, by any thread, whatever device is the current one there; what the application has begun
/// with it must be done by then. Movable.
class DeviceResult {
public:
  DeviceResult() = default;
  DeviceResult(DeviceResult &&other) noexcept { *this = std::move(other); }
  DeviceResult &operator=(DeviceResult &&other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(info_, other.info_);
    std::swap(rows_, other.rows_);
    std::swap(stride_, other.stride_);
    std::swap(number_bytes_, other.number_bytes_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~DeviceResult() {
    if (data_ != nullptr)
      memory_.release(data_, bytes_);
  }

  /// Of the result: its element type, and elements of a row.
  const ColumnInfo &info() const { return info_; }
  /// In the device's memory; null if there are no rows.
  void *data() const { return data_; }
  /// One an input, or one an element of its lists.
  int64_t rows() const { return rows_; }
  /// Elements from row to row, of which the first info().extent count.
  int64_t stride() const { return stride_; }
  /// Of a number: f32 4, or 8 with --real f64; bool 1, else 4.
  int64_t number_bytes() const { return number_bytes_; }
  int32_t device() const { return device_; }

private:
  friend class Context;
  DeviceMemory memory_;
  void *data_ = nullptr;
  size_t bytes_ = 0;
  ColumnInfo info_;
  int64_t rows_ = 0, stride_ = 0, number_bytes_ = 0;
  int32_t device_ = 0;
};

/// A result in a context's memory. Its rows are not where the result's are: rows of inputs that failed are
/// not there, and those of a list may be out of order.
struct StayingResult {
  const unsigned char *data = nullptr;
  ColumnInfo info;
  int64_t stride = 0, number_bytes = 0;
  int64_t rows = 0; ///< of the result
  /// Rows that lie together in both; `from` -1: zeros.
  struct Piece {
    int64_t from, to, count;
  };
  std::vector<Piece> pieces;
};

} // namespace dbc::cuda
