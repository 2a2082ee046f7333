// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StagePlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace dbc::passes {

/// Operations that follow on each other in one expression, at most: more are materialised in between.
static constexpr int kMostSteps = 256;

StagePlan::StagePlan(batch::StageOp stage, StageForms forms)
    : forms(forms), body(stage.getBody().front()),
      tileChannels(stage.getSchedule() ? stage.getSchedule()->getChannels() : 0) {
  // A product with a bias starts from it.
  for (auto op : body.getOps<linalg::ContractOp>()) {
    if (arith::AddFOp sum = biasedSum(op))
      results[op->getResult(0)] = sum.getResult();
  }
  if (forms.epilogues)
    findEpilogues();
  findTiles();
  if (forms.byElement)
    findByElement();
  for (Operation &op : body) {
    materialiseResults(&op);
    materialiseOperands(&op);
  }
  materialiseRowsOfProducts();
  for (Value value : joined)
    materialised_.remove(value);
  materialiseShared();
  listActions();
}

/// Whether a join of parameters serves products alone, which pack it.
static bool onlyPacked(Operation *op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    if (auto product = dyn_cast<linalg::ContractOp>(user)) {
      auto found = matVec(product);
      return found && found->weights == op->getResult(0) &&
             dyn::extents(found->weights.getType()).size() == 2;
    }
    return isa<tensor::ConcatOp>(user) && onlyPacked(user);
  });
}

bool StagePlan::isSpecial(Operation *op) const {
  if (byElement.contains(op))
    return false;
  if (isa<tensor::ConcatOp>(op) && isWeights(op->getResult(0)))
    return !onlyPacked(op);
  auto row = dyn_cast<dyn::RowOpInterface>(op);
  return row && row.getRowKind() >= dyn::RowKind::Join && !isWeights(op->getResult(0));
}

bool StagePlan::loadable(Value value) const {
  if (materialised_.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa<batch::ReadOp, batch::GatherOp, dyn::GetOp, batch::ReadIndexOp, arith::ConstantOp, linalg::FillOp>(
          op))
    return true;
  return dyn::isRowOp(op, dyn::RowKind::View) && !isa<dyn::PatchesOp>(op) && loadable(op->getOperand(0));
}

bool StagePlan::addressable(Value value) const {
  return isInMemory(value, [&](Value kept) { return materialised_.contains(kept); });
}

//===-- Epilogues ---------------------------------------------------------------------------------------===//

/// Whether all rows of a block are multiplied, with the same matrix.
static bool isOfOneMatrix(const MatVec &product) {
  return !product.weights.getDefiningOp<dyn::GatherOp>() && !product.x.getDefiningOp<batch::SegmentOp>();
}

/// Whether a value is the operand of products by packed weights, and nothing else.
static bool isMultiplied(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
    auto product = dyn_cast<linalg::ContractOp>(user);
    auto found = product ? matVec(product) : std::nullopt;
    return found && packs(found->weights);
  });
}

/// Whether products may all be in one loop over many tiles, which threads share: none needs another one.
bool StagePlan::mayShareTiles(ArrayRef<linalg::ContractOp> products) const {
  llvm::DenseSet<Operation *> behind; // products, and what is made of their results
  for (Operation &op : body) {
    const bool needs = llvm::any_of(op.getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && behind.contains(operand.getDefiningOp());
    });
    auto product = dyn_cast<linalg::ContractOp>(op);
    const bool isProduct = product && llvm::is_contained(products, product);
    if (isProduct && needs)
      return false;
    if (isProduct || needs)
      behind.insert(&op);
  }
  return tileChannels > 0 && llvm::all_of(products, [&](linalg::ContractOp op) {
           return dyn::extents(op->getResult(0).getType())[0] >= kFewestSharedTiles * tileChannels;
         });
}

/// Products that do what is done with their results: relu, and the write of what nothing else reads. Where
/// threads may share tiles of all products that is worth more.
void StagePlan::findEpilogues() {
  SmallVector<linalg::ContractOp> products;
  for (auto op : body.getOps<linalg::ContractOp>())
    if (auto found = matVec(op); found && packs(found->weights))
      products.push_back(op);
  if (mayShareTiles(products))
    return;
  for (linalg::ContractOp op : products) {
    Value result = resultOf(op->getResult(0));
    auto relu = result.hasOneUse() ? dyn_cast<dyn::FunctionOp>(*result.user_begin()) : dyn::FunctionOp();
    const bool isRelu = relu && relu.getKind() == dyn::FunctionKind::Relu && isOfOneMatrix(*matVec(op));
    if (isRelu)
      result = relu.getResult();
    if (result.hasOneUse() && isa<batch::WriteOp, batch::ScatterOp>(*result.user_begin()))
      written[result] = *result.user_begin();
    else if (!isRelu || !isMultiplied(result))
      continue;
    results[op->getResult(0)] = result;
  }
}

//===-- Tiles -------------------------------------------------------------------------------------------===//

void StagePlan::findTiles() {
  if (tileChannels == 0)
    return;
  for (auto op : body.getOps<linalg::ContractOp>()) {
    auto found = matVec(op);
    if (!found || !packs(found->weights))
      continue;
    Value result = resultOf(op->getResult(0));
    auto shape = gatesOf(result);
    if (!shape || shape->channels < tileChannels || writeOf(result))
      continue;
    tiles[result] = *shape;
    // What is wanted at other positions than its own is materialised as a whole.
    for (Operation *user : result.getUsers())
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
        if (!llvm::all_of(slice->getUsers(), [&](Operation *u) { return isElementwise(u, slice.getType()); }))
          materialise(slice);
  }
}

Value StagePlan::productOf(Value gate) const {
  if (isTiled(gate))
    return gate;
  auto slice = gate.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && isTiled(slice.getSource()) ? slice.getSource() : Value();
}

SmallVector<int64_t> StagePlan::shapeOf(const Action &action) const {
  if (isTiled(action))
    return {gatesOfTiled(action.value).channels};
  return llvm::to_vector(dyn::extents(action.value.getType()));
}

//===-- By element --------------------------------------------------------------------------------------===//

void StagePlan::findByElement() {
  for (Operation &op : body)
    if (isSummedByElement(&op) || isJoinedByElement(&op))
      byElement.insert(&op);
}

SmallVector<batch::SegmentOp> StagePlan::sumsOf(ArrayRef<const Action *> group) const {
  llvm::SetVector<Operation *> sums;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<std::pair<Value, bool>> open; // a value, and whether it is computed and not read
  for (const Action *action : group)
    if (!isTiled(*action))
      open.push_back({action->value, !isMaterialised(action->value) || computes(*action)});
  while (!open.empty()) {
    auto [value, computed] = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if ((isMaterialised(value) && !computed) || op->getBlock() != &body || !seen.insert(op).second)
      continue;
    if (auto sum = dyn_cast<batch::SegmentOp>(op); sum && byElement.contains(op))
      sums.insert(op);
    for (Value operand : op->getOperands())
      open.push_back({operand, false});
  }
  SmallVector<batch::SegmentOp> found;
  for (Operation *op : llvm::reverse(sums))
    found.push_back(cast<batch::SegmentOp>(op));
  return found;
}

//===-- What is materialised ----------------------------------------------------------------------------===//

Value StagePlan::resultOf(Value product) const {
  Value result = results.lookup(product);
  return result ? result : product;
}

void StagePlan::materialiseResults(Operation *op) {
  if (!isSpecial(op))
    return;
  for (Value result : op->getResults())
    if (Value whole = resultOf(result); !isTiled(whole) && !writeOf(whole))
      materialise(whole);
}

/// The join behind an operand that its product makes itself, or null.
static tensor::ConcatOp joinedByProduct(linalg::ContractOp product, Value operand) {
  auto concat = operand.getDefiningOp<tensor::ConcatOp>();
  if (!product || !concat || !operand.hasOneUse())
    return {};
  if (auto matrices = matMul(product))
    return operand == matrices->b && concat.getDim() == 0 ? concat : tensor::ConcatOp();
  auto found = matVec(product);
  return found && packs(found->weights) ? concat : tensor::ConcatOp();
}

/// What an op reads more than once is not computed each time.
void StagePlan::materialiseOperands(Operation *op) {
  auto product = dyn_cast<linalg::ContractOp>(op);
  auto reduce = dyn_cast<dyn::ReduceOp>(op);
  if (!product && !isa<dyn::SoftmaxOp, dyn::TopKOp, dyn::SumPatchesOp>(op) &&
      !(reduce && reduce.getKind() == dyn::ReduceKind::LogSumExp))
    return;
  for (Value operand : op->getOperands().take_front(product ? 2 : 1)) {
    if (isWeights(operand) || isTurned(operand))
      continue;
    if (tensor::ConcatOp concat = joinedByProduct(product, operand)) {
      joined.insert(operand);
      for (Value input : concat.getInputs())
        if (!addressable(input))
          materialise(input);
    } else if (!loadable(operand)) {
      materialise(operand);
    }
  }
}

/// Operands of products by the kernel must lie in memory row by row.
void StagePlan::materialiseRowsOfProducts() {
  for (auto op : body.getOps<batch::AccumulateOp>())
    if (op.getOuter())
      for (Value operand : {op.getValue(), op.getOuter()})
        if (!addressable(operand))
          materialise(operand);
  for (auto op : body.getOps<linalg::ContractOp>())
    if (auto found = matMul(op))
      for (Value operand : {found->a, found->b})
        if (!joined.contains(operand) && !addressable(operand) && !operand.getDefiningOp<dyn::GetOp>())
          materialise(operand);
  for (auto op : body.getOps<linalg::ContractOp>())
    if (auto found = matVec(op);
        found && packs(found->weights) && !joined.contains(found->x) && !addressable(found->x))
      materialise(found->x);
}

/// Arithmetic that several loops want is done once. So is what ends a chain of many steps: an expression is
/// walked from its end, and the machine's stack must hold that.
void StagePlan::materialiseShared() {
  llvm::DenseMap<Value, int> steps;
  for (Operation &op : body) {
    int longest = 0;
    for (Value operand : op.getOperands())
      longest = std::max(longest, materialised_.contains(operand) ? 0 : steps.lookup(operand));
    for (Value result : op.getResults())
      steps[result] = longest + 1;
    if (!dyn::isRowOp(&op, dyn::RowKind::Elementwise) || isa<arith::ConstantOp>(op))
      continue;
    Value value = op.getResult(0);
    if (isTiled(value))
      continue;
    if (steps[value] >= kMostSteps)
      materialise(value);
    bool elementwise = llvm::all_of(value.getUsers(), [&](Operation *user) {
      return batch::isWrite(user) ||
             (!isSpecial(user) && user->getNumResults() == 1 &&
              dyn::extents(user->getResult(0).getType()) == dyn::extents(value.getType()) &&
              !isa<dyn::TransposeOp>(user));
    });
    if (!value.hasOneUse() || !elementwise)
      if (!value.use_empty() && !(value.hasOneUse() && isa<dyn::ReduceOp>(*value.user_begin())))
        materialise(value);
  }
}

SmallVector<Value> StagePlan::joinedOperands(Value operand) const {
  if (joined.contains(operand))
    return llvm::to_vector_of<Value>(operand.getDefiningOp<tensor::ConcatOp>().getInputs());
  return {operand};
}

//===-- Actions -----------------------------------------------------------------------------------------===//

void StagePlan::listActions() {
  auto action = [&](Value value, Operation *op) {
    actions_.push_back(std::make_unique<Action>());
    actions_.back()->value = value;
    actions_.back()->op = op;
    return actions_.back().get();
  };
  for (Value value : materialised_)
    if (value.getDefiningOp()->getBlock() != &body) // a constant, which stands outside
      actionOf[value] = action(value, nullptr);
  for (Operation &op : body) {
    if (auto accumulate = dyn_cast<batch::AccumulateOp>(op); accumulate && accumulate.getOuter()) {
      action(accumulate.getValue(), &op);
      continue;
    }
    if (batch::isWrite(&op)) {
      Value value = op.getOperand(0);
      if (writeOf(value))
        continue;
      auto write = [&](Value piece, ElementWrite to) {
        Action *&known = actionOf[piece];
        if (!known || known->op)
          action(piece, nullptr)->writes.push_back(to);
        else
          known->writes.push_back(to);
      };
      auto join = value.getDefiningOp<tensor::ConcatOp>();
      if (!join || !byElement.contains(join)) {
        write(value, {&op});
        continue;
      }
      ElementWrite to{&op, unsigned(join.getDim())};
      for (Value piece : join.getInputs()) {
        write(piece, to);
        to.offset += dyn::extents(piece.getType())[to.axis];
      }
      continue;
    }
    if (op.getNumResults() != 1)
      continue;
    Value value = op.getResult(0);
    if (isSpecial(&op) && !joined.contains(value)) {
      Value whole = resultOf(value);
      actionOf[whole] = action(whole, &op);
    } else if (materialised_.contains(value) && !actionOf.count(value) && !productOf(value))
      actionOf[value] = action(value, nullptr);
  }
}

const Action *StagePlan::actionFor(Value value) const {
  Value product = productOf(value);
  return actionOf.lookup(product ? product : value);
}

bool StagePlan::computes(const Action &action) const {
  return isMaterialised(action.value) && actionOf.lookup(action.value) == &action;
}

} // namespace dbc::passes
