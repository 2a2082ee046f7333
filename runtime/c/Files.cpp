// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What of the interface for C needs readers and writers of files.
#include "Handles.h"
#include <dbc/io/safetensors.h>

using namespace dbc::c;

dbc_status dbc_weights_load(dbc_weights *weights, const char *path) {
  if (!path)
    return nullHandle();
  return kept(weights, [&] { return dbc::load_weights(path, weights->weights); });
}
dbc_status dbc_weights_save(dbc_weights *weights, const char *path) {
  if (!path)
    return nullHandle();
  return kept(weights, [&] { return dbc::save_weights(path, weights->weights); });
}
