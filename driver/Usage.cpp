// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Usage.h"
#include "frontend/syntax/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace dbc::driver {

namespace {

/// "`a`, `b` or `c`".
std::string listOf(const std::vector<std::string> &names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i)
    list += (i == 0 ? "`" : i + 1 == names.size() ? " or `" : ", `") + names[i] + "`";
  return list;
}

/// "; did you mean `x`?", or nothing.
std::string nearOf(const std::string &name, const std::vector<std::string> &names) {
  const std::string near = dbc::frontend::didYouMean(name, names);
  return near.empty() ? "" : "; " + near;
}

/// The command that the words name, as far as they do, and its words: "dbc weights map".
struct Named {
  CLI::App *command;
  std::string words;
  int next; ///< the word behind them
};

Named namedBy(CLI::App &app, int argc, char **argv) {
  Named named{&app, "dbc", 1};
  for (; named.next < argc; ++named.next) {
    const std::vector<CLI::App *> below = named.command->get_subcommands({});
    const auto at = std::find_if(below.begin(), below.end(), [&](const CLI::App *command) {
      return command->get_name() == argv[named.next];
    });
    if (at == below.end())
      break;
    named.command = *at;
    named.words += std::string(" ") + argv[named.next];
  }
  return named;
}

/// What is wrong with a word where a command should stand; empty if one stands there or none is wanted.
std::string unknownCommand(const Named &named, int argc, char **argv) {
  std::vector<std::string> names;
  for (const CLI::App *command : named.command->get_subcommands({}))
    names.push_back(command->get_name());
  if (names.empty() || named.next == argc || argv[named.next][0] == '-')
    return "";
  const std::string above = named.words == "dbc" ? "" : named.words.substr(4) + " ";
  return "there is no command `" + above + argv[named.next] + "`" + nearOf(argv[named.next], names);
}

/// What is wrong with the first word that the command does not take; empty if all are taken.
std::string unknownOption(CLI::App &app, const Named &named, int argc, char **argv) {
  std::vector<std::string> names;
  for (const CLI::Option *option : named.command->get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
  }
  std::vector<std::string> left = app.remaining(/*recurse=*/true);
  std::string further;
  for (int i = named.next; i < argc; ++i) {
    if (std::find(left.begin(), left.end(), argv[i]) == left.end())
      continue;
    const std::string name = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (name.size() > 1 && name[0] == '-' && name != "--")
      return "`" + named.words + "` has no option `" + name + "`" + nearOf(name, names);
    if (further.empty())
      further = "`" + named.words + "` takes no further argument `" + name + "`";
  }
  return further;
}

} // namespace

CLI::Validator oneOf(const std::vector<std::string> &names, bool shown) {
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ",") + name;
  return CLI::Validator(
      [names](std::string &text) {
        if (std::find(names.begin(), names.end(), text) != names.end())
          return std::string();
        return "takes " + listOf(names) + ", not `" + text + "`" + nearOf(text, names);
      },
      shown ? "{" + all + "}" : "");
}

CLI::Validator numberFrom(double least, double most) {
  return CLI::Validator(
      [least, most](std::string &text) {
        double number = 0;
        if (!llvm::StringRef(text).getAsDouble(number) && number >= least && number <= most)
          return std::string();
        char range[80];
        std::snprintf(range, sizeof(range), "from %g to %g", least, most);
        return std::string("takes a number ") + range + ", not `" + text + "`";
      },
      "");
}

std::string bindDim(std::map<std::string, int64_t> &dims, const std::string &text) {
  size_t equals = text.find('=');
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto read = std::from_chars(text.data() + std::min(equals, text.size() - 1) + 1, end, value);
  if (equals == 0 || equals == std::string::npos || read.ec != std::errc() || read.ptr != end)
    return "-D takes name=number, not `" + text + "`";
  std::string name = text.substr(0, equals);
  if (auto known = dims.find(name); known != dims.end() && known->second != value)
    return "-D" + text + ": dim `" + name + "` is already set to " + std::to_string(known->second);
  dims[name] = value;
  return "";
}

std::string HelpFormatter::make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const {
  printsAll = mode == CLI::AppFormatMode::All;
  return CLI::Formatter::make_help(app, std::move(name), mode);
}

std::string HelpFormatter::make_group(std::string group, bool isPositional,
                                      std::vector<const CLI::Option *> options) const {
  return group == kFurther && !printsAll ? "" : CLI::Formatter::make_group(group, isPositional, options);
}

std::string describeMistake(const CLI::ParseError &error, CLI::App &app, int argc, char **argv) {
  const Named named = namedBy(app, argc, argv);
  const std::string help = "\nhint: `" + named.words + " --help` says what there is";
  if (std::string unknown = unknownCommand(named, argc, argv); !unknown.empty())
    return unknown + help;
  if (std::string unknown = unknownOption(app, named, argc, argv); !unknown.empty())
    return unknown + help;
  std::string words = error.what();
  if (words.substr(0, 2) == "A ")
    words[0] = 'a';
  return words + help;
}

} // namespace dbc::driver
