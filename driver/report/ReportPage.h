// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The report as a page: report.html with the report's data in it.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace dbc::driver {

/// Adds to a report's data what only the page has (docs/report-page.schema.json): the command, and the
/// sources from `files`, the model last there and first here. Fails where one cannot be read.
llvm::Error addSources(llvm::json::Object &data, const std::string &command,
                       const std::vector<std::string> &files);

/// Writes the page: one file that fetches nothing. Whatever the data's texts are, they stay data.
llvm::Error writePage(const std::string &path, llvm::json::Object data);

} // namespace dbc::driver
