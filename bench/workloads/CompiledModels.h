// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Models compiled by dbc come as plug-ins: sizes are fixed when dbc compiles, and the same model at two sizes
// could not be linked into one program.
#pragma once

#include <cstdint>
#include <string>

namespace dbc::bench {

/// The function `symbol` of the plug-in `bench-models/<workload>-<hidden>.so` beside this program; null if
/// there is no such plug-in, with the reason in `why`. Plug-ins stay loaded.
void *compiled_model(const std::string &workload, int32_t hidden, const char *symbol, std::string &why);

} // namespace dbc::bench
