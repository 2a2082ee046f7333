// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// NumPy's .npz: a zip archive of .npy arrays, stored or deflated.
#pragma once

#include "driver/weights/TensorSource.h"

namespace dbc::driver {

/// What one does with a file of torch.save, as the end of a message.
constexpr const char *kInsteadOfPickle = ": reading one runs its code; save the tensors in PyTorch by "
                                         "`safetensors.torch.save_file(model.state_dict(), FILE)`";

/// Whether bytes begin as a zip archive does.
bool isZip(std::string_view bytes);

/// See parseSource.
Status parseNpz(std::string_view bytes, std::unique_ptr<TensorSource> &source);

} // namespace dbc::driver
