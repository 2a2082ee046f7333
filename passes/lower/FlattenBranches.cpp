// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenBranches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

using Kind = AbstractValue::Kind;

void Branches::match(dyn::MatchOp op, RowContext at) {
  dyn::DataOp data = program.dataOf(op.getNode().getType());
  llvm::StringMap<int> numbers;
  for (auto [n, ctor] : llvm::enumerate(data.getCtors()))
    numbers[ctor.getName()] = n;
  std::vector<Region *> regions;
  std::vector<std::string> names;
  for (auto [name, region] : llvm::zip(op.getCtors(), op.getArms())) {
    regions.push_back(&region);
    StringRef ctor = cast<StringAttr>(name).getValue();
    names.push_back(ctor == "_" ? "other" : ctor.str());
  }
  if (regions.size() == 1) { // there is nothing to choose
    Block &arm = regions[0]->front();
    walker.walkBlock(arm, at);
    for (auto [result, value] : llvm::zip(op->getResults(), arm.getTerminator()->getOperands()))
      env.set(result, env.lookup(value));
    return;
  }
  Value node = env.structural(op.getNode());
  std::string kinds =
      program.fieldArray(data, "", "", kernel::FieldArray::Kind, b.getI32Type(), 0, /*inCells=*/false);
  Value kind = structure.load(op.getLoc(), b.getI32Type(), kinds, node);
  auto isArm = [&](unsigned n) -> Value {
    StringRef ctor = cast<StringAttr>(op.getCtors()[n]).getValue();
    return arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, kind,
                                 structure.integer(numbers.at(ctor)));
  };
  write({op, regions, names, isArm, at});
}

void Branches::branch(dyn::IfOp op, RowContext at) {
  Value condition = env.structural(op.getCondition());
  auto isArm = [&](unsigned) { return condition; };
  write({op, {&op.getThen(), &op.getOtherwise()}, {"then", "else"}, isArm, at});
}

void Branches::write(Branch branch) {
  Operation *op = branch.op;
  for (auto [k, result] : llvm::enumerate(op->getResults())) {
    bool computed = structure.isIndex() && dyn::isNumber(result.getType()) && !allStructural(branch, k);
    branch.buffers.push_back(computed ? stages.addOwnBuffer(StageWriter::label(op, branch.at),
                                                            branch.at.indexSet, result.getType())
                                      : std::string());
  }
  kernel::IfOp cond = walkArms(branch);
  for (auto [k, result] : llvm::enumerate(op->getResults()))
    if (isa<dyn::ListType>(result.getType()))
      joinLists(branch, k);
  if (structure.isIndex())
    for (Arm &arm : branch.arms) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(arm.block);
      stages.push(arm.at);
    }
  setResults(branch, cond);
}

/// Whether every arm yields an integer that the structure function knows.
bool Branches::allStructural(const Branch &branch, unsigned result) {
  auto yielded = [&](Region *region) { return region->front().getTerminator()->getOperand(result); };
  Type type = yielded(branch.regions[0]).getType();
  if (isa<dyn::NodeType>(type))
    return true;
  return (type.isInteger(32) || type.isInteger(1)) &&
         llvm::all_of(branch.regions, [&](Region *region) { return env.isStructural(yielded(region)); });
}

/// Writes the chain of branches from the next arm on; the last one is the innermost `else`.
kernel::IfOp Branches::walkArms(Branch &branch) {
  Value condition = branch.isArm(branch.arms.size());
  auto cond = kernel::IfOp::create(b, branch.op->getLoc(), TypeRange(), condition);
  Block &then = cond.getThen().emplaceBlock(), &otherwise = cond.getOtherwise().emplaceBlock();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&then);
  walkArm(branch, then);
  b.setInsertionPointToEnd(&otherwise);
  if (branch.arms.size() + 1 == branch.regions.size())
    walkArm(branch, otherwise);
  else
    walkArms(branch);
  return cond;
}

void Branches::walkArm(Branch &branch, Block &block) {
  unsigned n = branch.arms.size();
  Location loc = branch.op->getLoc();
  RowContext outer = branch.at;
  Arm arm{outer, &block, {}};
  if (structure.isIndex()) {
    arm.at.indexSet = program.addIndexSet(loc, outer.indexSet->name + "." + branch.names[n],
                                          kernel::IndexSetKind::Arm, outer.indexSet);
    arm.at.row = structure.count(loc, arm.at.indexSet);
    stages.indexArray(arm.at.indexSet, outer.row, kernel::kParentArray);
    arm.at.indexSet->used = false;
  }
  Block &source = branch.regions[n]->front();
  walker.walkBlock(source, arm.at);
  for (auto [r, value] : llvm::enumerate(source.getTerminator()->getOperands())) {
    AbstractValue result = env.lookup(value);
    if (!branch.buffers[r].empty())
      stages.write(loc, value, result, branch.buffers[r], arm.at, outer.row);
    else if (result.is(Kind::Model) && env.isStructural(value))
      result = AbstractValue::structural(env.structural(value));
    arm.yields.push_back(result);
  }
  branch.arms.push_back(std::move(arm));
}

/// A list as result: where those of the arms lie in different arrays, each arm copies its own to a common
/// one.
void Branches::joinLists(Branch &branch, unsigned result) {
  Location loc = branch.op->getLoc();
  auto listOf = [&](Arm &arm) -> ListInfo & { return arm.yields[result].list; };
  const ListInfo &one = listOf(branch.arms[0]);
  if (llvm::all_of(branch.arms, [&](Arm &arm) { return listOf(arm).sameSource(one); }))
    return;
  bool structural = llvm::all_of(branch.arms, [&](Arm &arm) { return listOf(arm).isStructural(); });
  std::string name = (branch.at.indexSet ? branch.at.indexSet->name + "." : "") + "list";
  ListCopies::Target target = copies.addTarget(loc, one, structural, name, branch.at);
  for (Arm &arm : branch.arms) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(arm.block);
    listOf(arm) = copies.copyTo(loc, listOf(arm), target, arm.at);
  }
}

/// Integers of the arms, bounds of lists among them, become results of the branch.
void Branches::setResults(Branch &branch, kernel::IfOp cond) {
  std::vector<AbstractValue> results(branch.op->getNumResults());
  SmallVector<Type> types;
  SmallVector<SmallVector<Value>> values(branch.arms.size()); // that an arm gives
  SmallVector<Value *> targets;                               // where results of the branch go
  auto add = [&](Value &target, function_ref<Value(Arm &)> valueOf) {
    targets.push_back(&target);
    types.push_back(valueOf(branch.arms[0]).getType());
    for (auto [given, arm] : llvm::zip(values, branch.arms))
      given.push_back(valueOf(arm));
  };
  for (auto [k, result] : llvm::enumerate(results)) {
    auto all = [&, k = k](Kind kind) {
      return llvm::all_of(branch.arms, [&](Arm &arm) { return arm.yields[k].is(kind); });
    };
    if (!branch.buffers[k].empty()) {
      result = AbstractValue::stored(branch.buffers[k], branch.at.row);
    } else if (all(Kind::Structural)) {
      result.kind = Kind::Structural;
      add(result.scalar, [&, k = k](Arm &arm) { return arm.yields[k].scalar; });
    } else if (all(Kind::List)) {
      result = branch.arms[0].yields[k];
      add(result.list.first, [&, k = k](Arm &arm) { return arm.yields[k].list.first; });
      add(result.list.length, [&, k = k](Arm &arm) { return arm.yields[k].list.length; });
    }
  }
  for (auto [target, value] : llvm::zip(targets, withResults(cond, types, values)))
    *target = value;
  for (auto [value, result] : llvm::zip(branch.op->getResults(), results))
    env.set(value, result);
}

/// Gives a chain of branches its results: arm k yields values[k].
SmallVector<Value> Branches::withResults(kernel::IfOp cond, TypeRange types,
                                         ArrayRef<SmallVector<Value>> values) {
  OpBuilder::InsertionGuard guard(b);
  Location loc = cond.getLoc();
  b.setInsertionPoint(cond);
  auto full = kernel::IfOp::create(b, loc, types, cond.getCondition());
  full.getThen().takeBody(cond.getThen());
  full.getOtherwise().takeBody(cond.getOtherwise());
  cond.erase();
  b.setInsertionPointToEnd(&full.getThen().front());
  kernel::YieldOp::create(b, loc, values[0]);
  Block &otherwise = full.getOtherwise().front();
  SmallVector<Value> rest = values[1];
  if (values.size() > 2)
    rest = withResults(cast<kernel::IfOp>(otherwise.back()), types, values.drop_front());
  b.setInsertionPointToEnd(&otherwise);
  kernel::YieldOp::create(b, loc, rest);
  return llvm::to_vector_of<Value>(full.getResults());
}

} // namespace dbc::passes
