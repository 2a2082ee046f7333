// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The version of the runtime. Generated code goes with a runtime of the same major and minor version: with
// headers of another one it is not compiled, and with a library of another one not linked or loaded.
#pragma once

#define DBC_VERSION_MAJOR 0
#define DBC_VERSION_MINOR 1
#define DBC_VERSION_PATCH 0

#ifdef __cplusplus
namespace dbc {

/// Does nothing. Generated code calls it, and only the library of this version has it: where a linker or
/// loader misses it, compile the model again with the dbc that the runtime belongs to.
void generated_code_needs_runtime_0_1();

} // namespace dbc
#endif
