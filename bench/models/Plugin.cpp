// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A compiled model as a plug-in: DBC_BENCH_CODE is the name of the function by which it says what it offers.
#include <dbc/model.h>

extern "C" const dbc::ModelCode *DBC_BENCH_CODE();

extern "C" __attribute__((visibility("default"))) const dbc::ModelCode *dbc_bench_model() {
  return DBC_BENCH_CODE();
}
