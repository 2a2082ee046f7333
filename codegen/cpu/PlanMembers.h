// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The members of a plan that stages read: arrays, rows, weights.
#pragma once

#include "codegen/common/ModelNames.h"
#include <map>

namespace dbc::codegen {

/// A member of a plan.
struct PlanMember {
  enum Section { Batch, Rows, Values, Constants } section;
  std::string name, declaration, comment;
};

/// Those that stand for an operation of the program, or for a parameter that it reads as an array; in the
/// order of their declarations.
std::vector<PlanMember> planMembers(const ModelNames &model, const Program &program);

/// What the symbols that a stage names are called in the plan.
std::map<std::string, std::string> membersOf(const Program &program, kernel::FuncOp stage);

/// Declarations and comments of the members of a section, for Writer::aligned.
std::vector<std::pair<std::string, std::string>> memberLines(llvm::ArrayRef<PlanMember> members,
                                                             PlanMember::Section section);

} // namespace dbc::codegen
