// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/StageCut.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Products.h"

using namespace mlir;

namespace dbc::passes {

llvm::StringSet<> namesOf(kernel::ProgramOp program) {
  llvm::StringSet<> names;
  program.walk([&](Operation *op) {
    if (auto name = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      names.insert(name.getValue());
    if (auto stage = dyn_cast<batch::StageOp>(op))
      names.insert(stage.getName());
  });
  return names;
}

std::string freshName(llvm::StringSet<> &names, const std::string &base) {
  std::string name = base;
  for (int n = 1; !names.insert(name).second; ++n)
    name = base + "." + std::to_string(n);
  return name;
}

bool StageCut::isReadAgain(Operation *op) const {
  if (isa<batch::ReadOp, batch::GatherOp, batch::ReadIndexOp, dyn::GetOp, tensor::EmptyOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return true;
  bool isView = isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::SplatOp,
                    linalg::FillOp, tensor::ConcatOp>(op) ||
                (isa<dyn::TransposeOp>(op) && isTurned(op->getResult(0)));
  if (isa<tensor::ConcatOp>(op) && !isWeights(op->getResult(0)))
    return false;
  return isView && llvm::all_of(op->getOperands(), [this](Value operand) {
           Operation *from = operand.getDefiningOp();
           return from && isReadAgain(from);
         });
}

void StageCut::findPhases() {
  Block &body = stage_.getBody().front();
  for (Operation &op : body) {
    int phase = 0;
    for (Value operand : op.getOperands())
      if (Operation *from = operand.getDefiningOp(); from && from->getBlock() == &body)
        phase = std::max(phase, phases_.lookup(from) + comesBefore(from, &op));
    phases_[&op] = phase;
    last_ = std::max(last_, phase);
  }
  for (Operation &op : llvm::reverse(body)) {
    if (op.use_empty() || isProduct(&op))
      continue;
    int phase = last_;
    for (Operation *user : op.getUsers())
      phase = std::min(phase, phases_.lookup(user) - comesBefore(&op, user));
    phases_[&op] = phase;
  }
}

void StageCut::makeSubstages() {
  for (int phase = 0; phase <= last_; ++phase)
    substages_.push_back({makeStage(phase == last_ ? "" : "operands", stage_.getLoc()), {}});
}

void StageCut::finish() {
  for (Substage &substage : substages_)
    if (substage.stage.getBody().front().empty())
      substage.stage.erase();
  stage_.erase();
}

std::string StageCut::fresh(StringRef what) {
  return freshName(names_, (stage_.getName() + "." + what).str());
}

batch::StageOp StageCut::makeStage(StringRef what, Location loc) {
  std::string name = what.empty() ? stage_.getName().str() : fresh(what);
  b_.setInsertionPoint(stage_);
  auto made = batch::StageOp::create(b_, loc, name, stage_.getIndexSet(), stage_.getRole());
  made.setWhenAttr(stage_.getWhenAttr());
  made.getBody().emplaceBlock();
  return made;
}

void StageCut::put(Operation *op, Substage &substage) {
  assert(phases_.lookup(op) >= 0 && "nothing is needed before the first phase");
  for (Value operand : op->getOperands())
    (void)in(substage, operand);
  b_.setInsertionPointToEnd(&substage.stage.getBody().front());
  b_.clone(*op, substage.map);
}

Value StageCut::in(Substage &substage, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &stage_.getBody().front())
    return value;
  if (Value known = substage.map.lookupOrNull(value))
    return known;
  if (isReadAgain(op)) {
    put(op, substage);
    return substage.map.lookup(value);
  }
  FlatSymbolRefAttr buffer = bufferOf(value);
  b_.setInsertionPointToEnd(&substage.stage.getBody().front());
  Value read = batch::ReadOp::create(b_, value.getLoc(), value.getType(), buffer);
  substage.map.map(value, read);
  return read;
}

FlatSymbolRefAttr StageCut::bufferOf(Value value) {
  auto [known, isNew] = buffers_.try_emplace(value);
  if (!isNew)
    return known->second;
  if (auto read = value.getDefiningOp<batch::ReadOp>(); read && !ofModel(read.getBuffer()))
    return known->second = read.getBufferAttr();
  for (Operation *user : value.getUsers())
    if (auto write = dyn_cast<batch::WriteOp>(user);
        write && phases_.lookup(write) == phases_.lookup(value.getDefiningOp()))
      return known->second = write.getBufferAttr();
  FlatSymbolRefAttr buffer = makeBuffer(value, "x");
  buffers_[value] = buffer;
  Substage &home = substages_[phases_.lookup(value.getDefiningOp())];
  Value computed = in(home, value);
  b_.setInsertionPointToEnd(&home.stage.getBody().front());
  batch::WriteOp::create(b_, value.getLoc(), computed, buffer);
  return buffer;
}

bool StageCut::ofModel(StringRef buffer) {
  auto indexSet = program_.lookupSymbol<kernel::IndexSetOp>(
      program_.lookupSymbol<kernel::BufferOp>(buffer).getIndexSet());
  return indexSet.getKind() == kernel::IndexSetKind::Model;
}

FlatSymbolRefAttr StageCut::makeBuffer(Value value, StringRef what) {
  b_.setInsertionPointAfter(llvm::to_vector(program_.getOps<kernel::BufferOp>()).back());
  auto buffer =
      kernel::BufferOp::create(b_, value.getLoc(), fresh(what), stage_.getIndexSet(), value.getType());
  return FlatSymbolRefAttr::get(buffer.getSymNameAttr());
}

} // namespace dbc::passes
