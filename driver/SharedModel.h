// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Generated code made into a shared object, kept in the cache, and loaded into this program.
#pragma once

#include "llvm/Support/Error.h"
#include <dbc/model.h>
#include <string>

namespace dbc::driver {

/// The text of a model's generated files.
struct GeneratedCode {
  std::string model;    ///< the model's name
  std::string header;   ///< <model>.h
  std::string source;   ///< <model>.cpp
  std::string manifest; ///< <model>.json
};

/// Compiles with $CXX (else c++) and $CXXFLAGS unless the cache has the result, loads it, and returns what it
/// offers. What is loaded stays loaded until the program ends. The object has no runtime of its own: it uses
/// this program's.
llvm::Expected<const ModelCode *> loadShared(const GeneratedCode &code, bool verbose);

} // namespace dbc::driver
