// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include <dbc/cuda/memory.h>

namespace dbc::cuda {

bool Reservation::allocate(const Backend &backend, size_t bytes) {
  data_ =
      static_cast<unsigned char *>(place_ == Device ? backend.allocate(bytes) : backend.allocate_host(bytes));
  bytes_ = data_ != nullptr ? bytes : 0;
  return data_ != nullptr;
}

bool Reservation::reserve(const Backend &backend, size_t bytes) {
  if (bytes <= bytes_)
    return true;
  release(backend);
  return allocate(backend, lines(bytes + bytes / 4)) || allocate(backend, lines(bytes));
}

void Reservation::release(const Backend &backend) {
  if (data_ == nullptr)
    return;
  (place_ == Device ? backend.release : backend.release_host)(data_);
  data_ = nullptr;
  bytes_ = 0;
}

} // namespace dbc::cuda
