// What the tests of the parser share.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_TEST_PARSE_TESTSUPPORT_H
#define DBC_TEST_PARSE_TESTSUPPORT_H

#include "frontend/syntax/Ast.h"

#include <string>

namespace dbc::frontend::parsetest {

/// All that is printed about a source text called m.dyn, behind a line end (so that raw strings can begin on
/// a line of their own). Fails the test if a tree is returned although there were errors, or none although
/// there were not.
std::string syntaxErrors(const std::string &source);

/// The tree of a declaration list behind `model m;`, printed; or what syntaxErrors() gives.
std::string tree(const std::string &declarations);

/// The tree of one expression; or what syntaxErrors() gives.
std::string exprTree(const std::string &expression);

/// The text of a file of test/parse/Inputs.
std::string input(const std::string &name);

} // namespace dbc::frontend::parsetest

#endif // DBC_TEST_PARSE_TESTSUPPORT_H
