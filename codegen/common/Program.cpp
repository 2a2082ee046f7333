// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What is asked of a program's symbols.
#include "codegen/common/ModelNames.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

static bool launches(kernel::LevelsOp loop, kernel::FuncOp stage) {
  return loop
      .walk([&](kernel::LaunchOp launch) {
        return launch.getFunc() == stage.getSymName() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===-- What a program has ---------------------------------------------------------------------------===//

kernel::IndexSetOp Program::inputIndexSet() const {
  for (kernel::IndexSetOp indexSet : indexSets)
    if (indexSet.getKind() == kernel::IndexSetKind::Inputs)
      return indexSet;
  return {};
}

const Program::Window &Program::window(StringRef indexSet, int64_t live, kernel::FuncOp stage) const {
  const Window *found = nullptr;
  for (const Window &window : windows)
    if (window.live == live && kernel::IndexSetOp(window.indexSet).getSymName() == indexSet) {
      if (!found)
        found = &window;
      if (stage && launches(window.loop, stage))
        return window;
    }
  assert(found && "a buffer keeps so many levels");
  return *found;
}

int Program::stageNumber(kernel::FuncOp func) const {
  for (auto [number, stage] : llvm::enumerate(stages))
    if (stage == func)
      return number;
  return -1;
}

int Program::indexArray(kernel::IndexSetOp indexSet, StringRef name) const {
  for (auto [number, array] : llvm::enumerate(indexSet.getIndexArrays()))
    if (cast<StringAttr>(array).getValue() == name)
      return number;
  return -1;
}

kernel::IndexSetOp Program::parent(kernel::IndexSetOp indexSet) const {
  return indexSet.getParent() ? find<kernel::IndexSetOp>(*indexSet.getParent()) : kernel::IndexSetOp();
}

kernel::GroupOp Program::groupOf(kernel::IndexSetOp indexSet) const {
  for (; indexSet; indexSet = parent(indexSet))
    if (indexSet.getGroup())
      return find<kernel::GroupOp>(*indexSet.getGroup());
  return {};
}

std::pair<kernel::GroupOp, unsigned> Program::cellOf(kernel::FuncOp func) const {
  if (func.getKind() == kernel::FuncKind::Slot) {
    auto key = *func.getBody().getOps<kernel::KeyOp>().begin();
    return {find<kernel::GroupOp>(key.getGroup()), key.getCell()};
  }
  for (kernel::GroupOp group : groups)
    for (auto [number, calls] : llvm::enumerate(group.getCalls()))
      if (cast<FlatSymbolRefAttr>(calls).getValue() == func.getSymName())
        return {group, number};
  llvm_unreachable("each such function is of a cell");
}

std::string Program::countOf(kernel::TimeStepLoopInterface loop) const {
  return nameOf(symbols.lookup(loop.getCarrier())) +
         (isa<kernel::LevelsOp>(loop) ? ".levels()" : ".time_steps.count");
}

std::string Program::timeSteps(kernel::IndexSetOp indexSet) const {
  if (indexSet.getKind() == kernel::IndexSetKind::Instances)
    return nameOf(groupOf(indexSet)) + ".cell(" + std::to_string(*indexSet.getCell()) + ").time_steps";
  return nameOf(indexSet) + ".time_steps";
}

std::string Program::rows(kernel::IndexSetOp indexSet) const {
  if (indexSet.isTable() || indexSet.hasOneRow())
    return std::to_string(indexSet.getExtent().value_or(1));
  return nameOf(indexSet) + (isOnlyCounted(indexSet) ? "" : ".rows()");
}

kernel::GradientOp Program::gradientIn(StringRef buffer) const {
  auto found = find_if(gradients, [&](kernel::GradientOp each) { return each.getBuffer() == buffer; });
  return found == gradients.end() ? kernel::GradientOp() : *found;
}

/// The first of the operations of a kind, before the run and in it, for which `holds`.
template <class Op, class Holds> static Op firstOf(const Program &program, bool onlyInRun, Holds holds) {
  Op found;
  auto visit = [&](Op op) {
    if (!holds(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  };
  if (kernel::ScheduleOp schedule = program.schedule; schedule && !onlyInRun)
    schedule.walk(visit);
  if (kernel::RunOp run = program.run; run && !found)
    run.walk(visit);
  return found;
}

kernel::TransposeOp Program::transposeOf(kernel::IndexSetOp indexSet) const {
  return firstOf<kernel::TransposeOp>(*this, /*onlyInRun=*/false, [&](kernel::TransposeOp op) {
    return op.getIndexSet() == indexSet.getSymName();
  });
}

kernel::DistinctOp Program::distinctInRun(kernel::IndexSetOp indexSet) const {
  return firstOf<kernel::DistinctOp>(*this, /*onlyInRun=*/true, [&](kernel::DistinctOp op) {
    return op.getIndexSet() == indexSet.getSymName();
  });
}

kernel::DistinctOp Program::filledInRun(kernel::IndexSetOp indexSet, StringRef array) const {
  return firstOf<kernel::DistinctOp>(*this, /*onlyInRun=*/true, [&](kernel::DistinctOp op) {
    for (auto [from, rows] :
         zip(op.getFrom().getAsRange<FlatSymbolRefAttr>(), op.getRows().getAsValueRange<StringAttr>()))
      if (from.getValue() == indexSet.getSymName() && rows == array)
        return true;
    return false;
  });
}

int Program::inputGradientIn(StringRef buffer) const {
  auto found =
      find_if(inputGradients, [&](kernel::InputGradientOp each) { return each.getBuffer() == buffer; });
  return found == inputGradients.end() ? -1 : static_cast<int>(found - inputGradients.begin());
}

int Program::callerSize(kernel::GroupOp group, unsigned cell) const {
  int size = 0;
  for (kernel::RelationOp relation : relations)
    if (relation.getGroup() == group.getSymName() && relation.getCell() == cell)
      size = std::max<int>(size, 1 + relation.getKeeps());
  return size;
}

int Program::relationNumber(kernel::RelationOp relation) const {
  return static_cast<int>(llvm::find(relations, relation) - relations.begin());
}

} // namespace dbc::codegen
