// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Where a tool finds what belongs to dbc: the library of modules, the runtime and more.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace dbc::driver {

/// Two paths as one, without `.` and `..`.
std::string joinPath(llvm::StringRef a, llvm::StringRef b);

/// What lies around the running program: in a build tree build/bin/dbc beside the sources, in an install tree
/// bin/dbc beside include/, lib/ and share/dbc/.
struct Surroundings {
  std::string library;   ///< the folder of nn.dyn
  std::string include;   ///< the folder of dbc/runtime.h
  std::string archives;  ///< the folder of libdbc_runtime.a
  std::string devices;   ///< the folder of h100.json
  std::string manual;    ///< REFERENCE.md
  std::string templates; ///< the folder of what `dbc new` copies
  std::string page;      ///< report.html, what `dbc report --html` puts data into
};
const Surroundings &surroundings();

} // namespace dbc::driver
