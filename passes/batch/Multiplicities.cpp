// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/Multiplicities.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

Multiplicities::Multiplicities(kernel::ProgramOp program) : names(program) {
  program.walk([&](kernel::PushOp push) { pushes[push.getIndexSet()].push_back(push); });
  for (auto &[name, all] : pushes)
    if (all.size() == 1)
      for (auto [indexArray, value] : llvm::zip(find(name).getIndexArrays(), all[0].getValues()))
        onlyPush[{name, cast<StringAttr>(indexArray).getValue()}] = value;
}

kernel::IndexSetOp Multiplicities::find(StringRef indexSet) const {
  return names.lookup<kernel::IndexSetOp>(indexSet);
}

/// The value that the only push of an index set writes to an index array; null where there are several.
Value Multiplicities::pushed(StringRef indexSet, StringRef indexArray) const {
  return onlyPush.lookup({indexSet, indexArray});
}

batch::Multiplicity Multiplicities::of(batch::RelationOp relation) const {
  using batch::Multiplicity;
  StringRef indexSet = relation.getFrom(), indexArray = relation.getIndexArray();
  kernel::IndexSetOp from = find(indexSet);
  if (!from)
    return Multiplicity::ManyToOne;
  if (indexArray == kernel::kParentArray && from.getKind() == kernel::IndexSetKind::Arm)
    return Multiplicity::OneToOne; // an arm has each row of its parent at most once
  if (indexArray == kernel::kNodeArray && from.getKind() == kernel::IndexSetKind::Instances) {
    // One instance of a cell for each node and the keys behind it.
    auto group = names.lookup<kernel::GroupOp>(*from.getGroup());
    return group.getSecondaryKeys(*from.getCell()).empty() ? Multiplicity::OneToOne : Multiplicity::ManyToOne;
  }
  if (indexArray == kernel::kInputArray && from.getKind() == kernel::IndexSetKind::Inputs)
    return Multiplicity::OneToOne;
  if (relation.getTo() && alignedWith(indexSet, indexArray, *relation.getTo()))
    return Multiplicity::OneToOne;
  Value value = pushed(indexSet, indexArray);
  return value && isReservedForRow(pushes.lookup(indexSet).front(), value) ? Multiplicity::OneToOne
                                                                           : Multiplicity::ManyToOne;
}

/// Whether the row of the value is reserved for the row that is pushed. That is so where the value is
///   reserve(..)                     and the push stands in the same block: one push for each reservation, or
///   reserve(..) + i + constants     and the push stands in the loop over i, the only loop between the two:
///   the
///                                   rounds of one reservation name different rows of it.
/// With a second loop between them, `map(x in xs) map(h in states(x)) h` say, rounds of the inner one would
/// name the same row again.
bool Multiplicities::isReservedForRow(kernel::PushOp push, Value value) const {
  kernel::ReserveOp reserved;
  BlockArgument counter;
  SmallVector<Value> terms{value};
  while (!terms.empty()) {
    Value term = terms.pop_back_val();
    if (auto add = term.getDefiningOp<arith::AddIOp>()) {
      llvm::append_range(terms, add.getOperands());
    } else if (auto reserve = term.getDefiningOp<kernel::ReserveOp>(); reserve && !reserved) {
      reserved = reserve;
    } else if (auto argument = dyn_cast<BlockArgument>(term); argument && !counter) {
      counter = argument;
    } else if (!term.getDefiningOp<arith::ConstantOp>()) {
      return false;
    }
  }
  if (!reserved)
    return false;
  // The loops between the two.
  SmallVector<kernel::ForOp> loops;
  for (Operation *op = push; op->getBlock() != reserved->getBlock();) {
    op = op->getParentOp();
    if (!op)
      return false;
    if (auto loop = dyn_cast<kernel::ForOp>(op))
      loops.push_back(loop);
  }
  const bool isCounted = bool(counter);
  if (loops.empty())
    return !isCounted;
  return loops.size() == 1 && isCounted && counter.getOwner()->getParentOp() == loops.front() &&
         counter.getArgNumber() == 0;
}

static bool isZero(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return constant && cast<IntegerAttr>(constant.getValue()).getInt() == 0;
}

bool Multiplicities::areAligned(StringRef indexSet, StringRef indexArray, StringRef array) const {
  auto buffer = names.lookup<kernel::BufferOp>(array);
  return buffer && alignedWith(indexSet, indexArray, buffer.getIndexSet());
}

bool Multiplicities::alignedWith(StringRef indexSet, StringRef indexArray, StringRef to) const {
  Value value = pushed(indexSet, indexArray);
  if (!value || find(indexSet).getKind() == kernel::IndexSetKind::Steps || find(indexSet).getMasked())
    return false;
  auto sum = value.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return false;
  auto count = sum.getLhs().getDefiningOp<kernel::CountOp>();
  auto counter = dyn_cast<BlockArgument>(sum.getRhs());
  if (!count) {
    count = sum.getRhs().getDefiningOp<kernel::CountOp>();
    counter = dyn_cast<BlockArgument>(sum.getLhs());
  }
  auto theirPushes = pushes.find(to);
  if (!count || !counter || count.getIndexSet() != to || theirPushes == pushes.end() ||
      theirPushes->second.size() != 1)
    return false;
  auto mine = dyn_cast<kernel::ForOp>(pushes.find(indexSet)->second.front()->getParentOp());
  auto theirs = dyn_cast<kernel::ForOp>(theirPushes->second.front()->getParentOp());
  return mine && theirs && mine != theirs && counter.getOwner()->getParentOp() == mine &&
         mine->getBlock() == theirs->getBlock() && mine.getHigh() == theirs.getHigh() &&
         count->getBlock() == theirs->getBlock() && count->isBeforeInBlock(theirs) && isZero(mine.getLow()) &&
         isZero(theirs.getLow()) && find(to).getKind() != kernel::IndexSetKind::Steps;
}

} // namespace dbc::passes
