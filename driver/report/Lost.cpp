// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a model loses, with what would mend it.
#include "driver/report/StageReport.h"
#include <dbc/counted.h>

namespace dbc::driver {

static std::string mendOfKept(llvm::StringRef recompute) {
  if (recompute == "none")
    return "`--recompute cheap` finds again what elementwise operations give of the rest, `--recompute "
           "cells` "
           "all that no other row reads";
  if (recompute == "cheap")
    return "`--recompute cells` finds again all that no other row reads";
  return "nothing: what is left is read by other rows, or would take more time to find again";
}

void findLost(ProgramReport &program, llvm::StringRef recompute) {
  for (const StageReport &stage : program.stages) {
    if (stage.whyNotOnce.empty())
      continue;
    program.lost.push_back(
        {"levels", stage.name, "`" + stage.name + "` runs " + stage.when, stage.location, stage.whyNotOnce,
         stage.readsEarlier
             ? "nothing in this expression, which is the recursion itself; what needs no earlier result "
               "runs once by itself, and of inputs that are less deep there are fewer levels"
             : "a recursion that does not read what this gives, or a value here that reads no result of "
               "its own level: then it runs once, behind or in front of the levels"});
  }
  for (const RepeatReport &repeat : program.repeats)
    program.lost.push_back({"repeated", "",
                            repeat.what + " is computed for each " + repeat.variables + " of " +
                                repeat.binder + ", which it does not use",
                            repeat.location, repeat.why, repeat.mend});
  for (const StageReport &stage : program.stages) {
    int64_t bytes = 0;
    for (const KeptReport &kept : stage.kept)
      bytes += kept.bytes;
    if (bytes > 0)
      program.lost.push_back({"kept", stage.name,
                              "`" + stage.name + "` keeps " + counted(bytes, "byte") + " a row",
                              stage.location, "the gradient is computed from them", mendOfKept(recompute)});
  }
}

} // namespace dbc::driver
