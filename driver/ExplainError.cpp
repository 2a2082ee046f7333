// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc explain-error`: what the manual says of the rule in brackets behind a message.
#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/surroundings/Surroundings.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace dbc::driver {

/// A rule is a section "### G3 Losses" of the manual, up to the next heading of at least its level.
static bool isHeading(llvm::StringRef line) {
  return line.starts_with("# ") || line.starts_with("## ") || line.starts_with("### ");
}

/// The code of a rule that a line begins the section of; empty where it begins none.
static llvm::StringRef ruleOf(llvm::StringRef line) {
  if (!line.consume_front("### "))
    return {};
  llvm::StringRef code = line.split(' ').first;
  const bool isCode = code.size() == 2 && llvm::isUpper(code[0]) && llvm::isDigit(code[1]);
  return isCode ? code : llvm::StringRef();
}

Exit explainErrorCommand(const Options &options) {
  llvm::Expected<std::string> manual = readFile(surroundings().manual);
  if (!manual)
    return fail(manual.takeError());
  const std::string wanted = llvm::StringRef(options.rule).trim("[]").upper();
  std::vector<std::string> rules;
  bool inRule = false, inCode = false, found = false;
  for (llvm::StringRef line : llvm::split(*manual, '\n')) {
    const bool isFence = line.starts_with("```");
    inCode ^= isFence;
    if (!inCode && isHeading(line)) {
      llvm::StringRef rule = ruleOf(line);
      inRule = rule == wanted && !rule.empty();
      found |= inRule;
      if (!rule.empty())
        rules.push_back(rule.str());
      line.consume_front("### ");
    }
    if (inRule && !isFence)
      llvm::outs() << (inCode && !line.empty() ? "    " : "") << line << '\n';
  }
  if (found) {
    if (llvm::Error error = flushStdout())
      return fail(std::move(error));
    return kFine;
  }
  printError("there is no rule `" + options.rule + "`; the rules are " + llvm::join(rules, " "));
  return kUserError;
}

} // namespace dbc::driver
