// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "frontend/syntax/Parse.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace dbc::frontend::parsetest {

std::string syntaxErrors(const std::string &source) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  std::unique_ptr<File> file = parseFile(sources.add("m.dyn", source), diags);
  EXPECT_EQ(file == nullptr, diags.hasErrors());
  return "\n" + diags.str();
}

static std::string parsed(const std::string &source, bool onlyExpression) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  std::unique_ptr<File> file = parseFile(sources.add("m.dyn", source), diags);
  if (!file)
    return "\n" + diags.str();
  std::ostringstream out;
  if (onlyExpression)
    dump(*file->decls[0]->as<FuncDecl>()->body.result, out);
  else
    dump(*file, out);
  std::string text = out.str();
  text.pop_back(); // the line end
  return text;
}

std::string tree(const std::string &declarations) {
  std::string text = parsed("model m;\n" + declarations, false);
  const std::string header = "(model m)\n";
  return text.compare(0, header.size(), header) == 0 ? text.substr(header.size()) : text;
}

std::string exprTree(const std::string &expression) {
  return parsed("model m;\nfn f() -> f32 {\n" + expression + "\n}", true);
}

std::string input(const std::string &name) {
  std::ifstream in(std::string(DBC_PARSE_INPUTS "/") + name);
  EXPECT_TRUE(in.good()) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

} // namespace dbc::frontend::parsetest
