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

/// Options of this group are printed by --help-all alone.
inline constexpr char kFurther[] = "Further options";

/// Help that fits a screen: --help leaves further options out.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_group(std::string group, bool isPositional,
                         std::vector<const CLI::Option *> options) const override;

private:
  mutable bool printsAll = false; ///< of the help in hand: CLI11 does not say it of a group
};

/// What is wrong with the words, and where help is, without `dbc: error: `. `app` has parsed them.
std::string describeMistake(const CLI::ParseError &error, CLI::App &app, int argc, char **argv);

} // namespace dbc::driver
