// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Checker.h"

#include "frontend/check/EndlessCells.h"
#include "frontend/check/StructureChecker.h"

namespace dbc::frontend {

Checker::Checker(Program &program, DiagnosticEngine &diags, CheckedProgram &out)
    : program_(program), out_(out), reporter_(diags), scopes_(out, reporter_),
      shapes_(out, reporter_, scopes_), dims_(out, reporter_), rules_(out.types),
      coercion_(out, reporter_, shapes_, rules_), sizes_(out, reporter_),
      resolver_(out, reporter_, scopes_, shapes_, sizes_),
      calls_(out, reporter_, scopes_), context_{out,   reporter_, scopes_,   shapes_,
                                                dims_, rules_,    coercion_, calls_},
      expressions_(context_, resolver_, sizes_), functions_(context_, expressions_, resolver_),
      collector_(out, reporter_, scopes_, program.main()),
      declarations_(out, reporter_, scopes_, collector_, shapes_, resolver_, dims_, functions_) {}

void Checker::run() {
  for (auto &file : program_.files)
    collector_.collectFile(*file);
  for (auto &file : program_.files)
    declarations_.resolveDims(*file);
  for (auto &file : program_.files)
    declarations_.resolveMembers(*file);
  sizes_.checkRecords();
  bool layersFinite = sizes_.checkLayers();

  for (FuncInfo &func : out_.funcInfos)
    functions_.checkBody(func);
  if (layersFinite) {
    bool fnsFinite = calls_.checkFns();
    calls_.checkCells();
    if (fnsFinite)
      Expansion(out_, reporter_, calls_).check();
  }
  // Structure is followed through whole calls: that needs a tree without holes. So does what is unused.
  if (!reporter_.shown().hasErrors())
    StructureChecker(out_, program_.main(), reporter_).run();
  if (!reporter_.shown().hasErrors()) {
    EndlessCells(out_, reporter_, calls_).warn();
    scopes_.warnUnused();
  }
}

} // namespace dbc::frontend
