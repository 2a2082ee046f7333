// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc verify`: gradients of fields and arguments beside the oracle's.
#pragma once

#include "oracle/Interpreter.h"
#include "llvm/ADT/ArrayRef.h"
#include <dbc/batch.h>
#include <dbc/outputs.h>

#include <string>

namespace dbc::driver {

/// Compares what a run of a loss over `batch`, whose inputs weigh the same, has left in `outputs` with the
/// oracle's gradients: of each input alone, computed from a batch of its own; null of one that failed. Every
/// value that the batch has of such a field or argument is compared, and those of which there is no gradient
/// must have none but 0. `largest` becomes the largest error if
/// that is larger; the words are those of the first one above `bound`, or empty.
std::string compareInputGradients(const EntryInfo &entry, int32_t number, const Batch &batch,
                                  const Outputs &outputs, llvm::ArrayRef<const oracle::Gradient *> expected,
                                  double bound, double &largest);

} // namespace dbc::driver
