// What the tests of the checker share.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_TEST_CHECK_TESTSUPPORT_H
#define DBC_TEST_CHECK_TESTSUPPORT_H

#include <string>
#include <vector>

namespace dbc::frontend::checktest {

/// One source text and what the compiler says about it.
///   === title
///   source
///   ---
///   diagnostics
struct Case {
  std::string file; ///< without folder and suffix
  std::string title;
  std::string source;
  std::string expected;
};

/// All cases of all test/check/*.cases, in the order of the files' names.
const std::vector<Case> &allCases();

/// Puts what was found in the place of what is expected and writes the file anew (DBC_UPDATE=1; the
/// difference is to be read before it is committed).
void update(const Case &one, const std::string &found);

/// What check() prints about a text called m.dyn; imports are looked for in the library.
std::string diagnostics(const std::string &source);

/// The same for a file; its path is printed as its name alone.
std::string diagnosticsOfFile(const std::string &path);

} // namespace dbc::frontend::checktest

#endif // DBC_TEST_CHECK_TESTSUPPORT_H
