// What the tests of the formatter share.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_TEST_FORMAT_TESTSUPPORT_H
#define DBC_TEST_FORMAT_TESTSUPPORT_H

#include <string>
#include <vector>

namespace dbc::frontend::formattest {

/// A text called m.dyn, formatted; what is said of it where it does not parse. Fails the test if formatting
/// the result changes it.
std::string formatted(const std::string &source);

/// What `declarations` become behind `model m;`, each line with its end.
std::string declarations(const std::string &text);

/// What an expression becomes that stands in a body of several lines, without the body and its indentation.
std::string expression(const std::string &text);

/// Names, numbers and signs of a text, and its comments without white space at the ends of lines, as a
/// scanner finds them that has nothing in common with that of dbc.
std::vector<std::string> words(const std::string &text);

/// All .dyn files of the repository, and what is in them.
struct SourceText {
  std::string path;
  std::string text;
};
const std::vector<SourceText> &repository();

} // namespace dbc::frontend::formattest

#endif // DBC_TEST_FORMAT_TESTSUPPORT_H
