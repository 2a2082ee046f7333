// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "codegen/cpu/SharedStages.h"
#include "codegen/cpu/CpuFunctionEmitter.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

static const PlanMember *find(ArrayRef<PlanMember> members, StringRef name) {
  const PlanMember *found = find_if(members, [&](const PlanMember &member) { return member.name == name; });
  return found == members.end() ? nullptr : found;
}

SharedStages::SharedStages(const ModelNames &model) : model_(model) {
  llvm::StringMap<const Program *> programs;
  for (const auto &program : model.programs) {
    programs[program->source] = program.get();
    membersOf_[program.get()] = planMembers(model, *program);
  }
  for (const auto &program : model.programs)
    for (const auto &stages : {program->modelStages, program->stages})
      for (kernel::FuncOp stage : stages)
        if (SymbolRefAttr same = stage.getSameAsAttr()) {
          const Program &first = *programs.lookup(same.getRootReference());
          share(*program, stage, first, first.find<kernel::FuncOp>(same.getLeafReference()));
        }
}

void SharedStages::share(const Program &program, kernel::FuncOp stage, const Program &first,
                         kernel::FuncOp of) {
  const std::string &name = first.nameOf(of);
  for (auto [printed, owner] : printed_)
    if (printed != of && owner->nameOf(printed) == name)
      return;
  // Not by the names alone: `a.b` of the one may be called as `a_b` is in the other.
  const std::map<std::string, std::string> named = membersOf(first, of);
  if (named != membersOf(program, stage))
    return;
  llvm::StringSet<> used;
  for (const auto &[symbol, name] : named)
    used.insert(name);
  std::vector<const PlanMember *> more;
  for (const PlanMember &member : membersOf_[&first]) {
    if (!used.contains(member.name))
      continue;
    const PlanMember *own = find(membersOf_[&program], member.name), *known = find(members_, member.name);
    if (own->declaration != member.declaration || (known && known->declaration != member.declaration))
      return;
    if (!known)
      more.push_back(&member);
  }
  for (const PlanMember *member : more)
    members_.push_back(*member);
  printed_[of] = &first;
  shared_[stage] = shared_[of] = of;
  users_.insert(&program);
  users_.insert(&first);
}

LogicalResult SharedStages::emit(Writer &out) {
  if (printed_.empty())
    return success();
  out.line("//===-- shared by several entries " + std::string(71, '-') + "===//");
  out.blank();
  out.line("namespace " + model_.sharedSpace + " {");
  out.raw("\n");
  out.comment(
      "What the stages below read and write; the plans of the entries that have them are derived from it.");
  out.open("struct Plan : dbc::EntryPlan");
  for (PlanMember::Section section :
       {PlanMember::Batch, PlanMember::Rows, PlanMember::Values, PlanMember::Constants})
    out.aligned(memberLines(members_, section));
  out.close("};");
  out.blank();
  for (auto [op, program] : printed_) {
    auto stage = cast<kernel::FuncOp>(op);
    CpuFunctionEmitter emitter(model_, *program, stage);
    if (failed(emitter.emit(out)))
      return failure();
    out.blank();
  }
  out.line("} // namespace " + model_.sharedSpace);
  out.blank();
  return success();
}

std::string SharedStages::functionOf(kernel::FuncOp stage) const {
  Operation *printed = shared_.lookup(stage);
  if (!printed)
    return "";
  return model_.sharedSpace + "::" + printed_.lookup(printed)->nameOf(cast<kernel::FuncOp>(printed));
}

std::string SharedStages::baseOf(const Program &program) const {
  return users_.contains(&program) ? model_.sharedSpace + "::Plan" : "dbc::EntryPlan";
}

bool SharedStages::inherits(const Program &program, const PlanMember &member) const {
  const PlanMember *known = find(members_, member.name);
  return users_.contains(&program) && known && known->declaration == member.declaration;
}

} // namespace dbc::codegen
