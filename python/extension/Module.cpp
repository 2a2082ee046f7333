// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The module `dbc._dbc`: what the package needs of the runtime. One for all models.

#include "Model.h"

#include <dbc/version.h>

#define DBC_TEXT_OF(x) #x
#define DBC_TEXT(x) DBC_TEXT_OF(x)

NB_MODULE(_dbc, module) {
  module.doc() = "The runtime of dbc for Python; use the package `dbc`.";
  module.attr("version") =
      DBC_TEXT(DBC_VERSION_MAJOR) "." DBC_TEXT(DBC_VERSION_MINOR) "." DBC_TEXT(DBC_VERSION_PATCH);
  // Modules of PyTorch that a program has to its end keep models to its end.
  nanobind::set_leak_warnings(false);
  dbc::python::bind_code(module);
  dbc::python::bind_batch(module);
  dbc::python::bind_model(module);
  dbc::python::bind_optimizer(module);
}
