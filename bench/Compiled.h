// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Models compiled by dbc come as plug-ins: sizes are fixed when dbc compiles, and the same model at two sizes
// could not be linked into one program.
#pragma once

#include "bench/Implementation.h"
#include "bench/Inputs.h"
#include "bench/Parameters.h"

#include <dbc/model.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dbc::bench {

/// The model in the plug-in `bench-models/<workload>-<hidden><variant>.so` beside this program; null if there
/// is no such plug-in, with the reason in `why`. `variant` is "" (no tables), "-table", "-bf16" or "-train".
/// Plug-ins stay loaded.
const ModelCode *compiled_model(const std::string &workload, int32_t hidden, const std::string &variant,
                                std::string &why);

/// A compiled model that borrows its inputs as flat arrays and `batches` must outlive. Fields and arguments
/// are found by name. Ends the program with a message if the model refuses weights or inputs or has other
/// names, which would be a bug.
std::unique_ptr<Implementation> compiled(const ModelCode &code, const std::string &entry,
                                         const Parameters &parameters, const std::vector<Inputs> &batches,
                                         int32_t threads);

/// The training of a compiled model by the loss of that name, at that rate; as `compiled`.
std::unique_ptr<Implementation> compiled_training(const ModelCode &code, const std::string &loss,
                                                  const Parameters &parameters,
                                                  const std::vector<Inputs> &batches, int32_t threads,
                                                  float rate);

} // namespace dbc::bench
