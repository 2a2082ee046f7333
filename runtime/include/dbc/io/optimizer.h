// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The state of an optimizer in a file beside that of the weights, so that a training goes on where it was:
// from the weights and the state that were saved after a step, the next steps give the same bits as without
// an interruption. No function here throws.
#pragma once

#include <dbc/optimizer.h>
#include <dbc/status.h>
#include <dbc/weights.h>
#include <string>

namespace dbc {

/// Writes the state as a safetensors file: for each parameter its steps, `<param>.steps` (I64), and where it
/// had any, `<param>.first` and `<param>.second` (F32, the parameter's shape) as the kind keeps them; the
/// kind, the number of steps, and which weights these are by a checksum, as metadata. Options, frozen
/// parameters and what was set for single ones are not in it. The file is replaced as a whole, as by
/// save_weights, or left as it was: then the message has the reason.
Status save_optimizer(const std::string &path, const Weights &weights, const Optimizer &optimizer);

/// save_weights and save_optimizer at once: both files are written whole before one of them is replaced, so
/// that on a full disk the old ones stay, and stay together.
Status save_training(const std::string &weights_path, const std::string &optimizer_path,
                     const Weights &weights, const Optimizer &optimizer);

/// Takes over the state from a file, for an optimizer with the options that it goes on with. The kind must be
/// the one that was saved, Sgd's momentum 0 or not as it was; each parameter must be there with its shape and
/// nothing else; and `weights` must have the values that they had then: load_weights comes first. On any
/// error the message names the file and the tensors, and `optimizer` stays as it was.
Status load_optimizer(const std::string &path, const Weights &weights, Optimizer &optimizer);

} // namespace dbc
