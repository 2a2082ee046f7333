// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The module `dbc._dbc`: what the package needs of the runtime. One for all models.

#include "../../runtime/io/File.h"
#include "Model.h"

#include <dbc/version.h>

#define DBC_TEXT_OF(x) #x
#define DBC_TEXT(x) DBC_TEXT_OF(x)

/// A file as a whole or not at all, as the runtime writes all its files.
static void write_file(const nanobind::bytes &path, const nanobind::bytes &text) {
  dbc::io::OutputFile file;
  std::string error;
  if (!file.open(dbc::python::path_of(path), error) || !file.write(text.c_str(), text.size(), error) ||
      !file.finish(error) || !file.commit(error))
    dbc::python::raise_if_failed(dbc::Status::error(dbc::Code::io, error));
}

NB_MODULE(_dbc, module) {
  module.doc() = "The runtime of dbc for Python; use the package `dbc`.";
  module.attr("version") =
      DBC_TEXT(DBC_VERSION_MAJOR) "." DBC_TEXT(DBC_VERSION_MINOR) "." DBC_TEXT(DBC_VERSION_PATCH);
  // Modules of PyTorch that a program has to its end keep models to its end.
  nanobind::set_leak_warnings(false);
  module.def("_write_file", &write_file, nanobind::arg("path"), nanobind::arg("text"));
  dbc::python::bind_code(module);
  dbc::python::bind_batch(module);
  dbc::python::bind_model(module);
  dbc::python::bind_optimizer(module);
}
