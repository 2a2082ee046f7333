// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What is said of mistakes on the command line, where a name is nearly right with the name that may be meant.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dbc::driver {

/// The value of an option is one of these names; `shown`: --help says so.
CLI::Validator oneOf(const std::vector<std::string> &names, bool shown = false);

/// The value of an option is a number from `least` to `most`, so neither infinite nor NaN.
CLI::Validator numberFrom(double least, double most);

/// Puts `name=value` of -D into a map of dims. What is wrong with it, in words; empty if nothing is.
std::string bindDim(std::map<std::string, int64_t> &dims, const std::string &text);

/// What is wrong with the words, and where help is, without `dbc: error: `. `app` has parsed them.
std::string describeMistake(const CLI::ParseError &error, CLI::App &app, int argc, char **argv);

} // namespace dbc::driver
