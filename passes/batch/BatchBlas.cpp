// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-blas: products that a library is to compute become stages of their own.
#include "ir/Batch/Batch.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/Products.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-blas"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHBLAS
#include "passes/Passes.h.inc"

namespace {

/// What costs no more than reading what it would be kept in: each substage has its own.
bool isReadAgain(Operation *op) {
  if (isa<batch::ReadOp, batch::GatherOp, batch::ReadIndexOp, dyn::GetOp, tensor::EmptyOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return true;
  bool isView = isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::SplatOp,
                    linalg::FillOp, tensor::ConcatOp>(op);
  if (isa<tensor::ConcatOp>(op) && !isWeights(op->getResult(0)))
    return false;
  return isView && llvm::all_of(op->getOperands(), [](Value operand) {
           Operation *from = operand.getDefiningOp();
           return from && isReadAgain(from);
         });
}

/// A stage cut into substages: what its products need, the products, what becomes of them.
class Splitter {
public:
  Splitter(batch::StageOp stage, batch::ProgramOp program, llvm::StringSet<> &names,
           const llvm::DenseSet<Operation *> &taken)
      : stage_(stage), program_(program), names_(names), taken_(taken), b_(stage) {}

  void run() {
    findPhases();
    for (int phase = 0; phase <= last_; ++phase)
      substages_.push_back({makeStage(phase == last_ ? "" : "operands", stage_.getLoc()), {}});
    for (Operation &op : stage_.getBody().front()) {
      if (taken_.contains(&op))
        makeProduct(cast<linalg::ContractOp>(op));
      else if (!isReadAgain(&op) && !done_.contains(&op))
        put(&op, substages_[phases_.lookup(&op)]);
    }
    for (Substage &substage : substages_)
      if (substage.stage.getBody().front().empty())
        substage.stage.erase();
    stage_.erase();
  }

private:
  struct Substage {
    batch::StageOp stage;
    IRMapping map;
  };

  /// A product is of the phase of what it needs, its result is there in the next one. All else is computed as
  /// late as it may: operands of products are small beside results.
  void findPhases() {
    Block &body = stage_.getBody().front();
    for (Operation &op : body) {
      int phase = 0;
      for (Value operand : op.getOperands())
        if (Operation *from = operand.getDefiningOp(); from && from->getBlock() == &body)
          phase = std::max(phase, phases_.lookup(from) + (taken_.contains(from) ? 1 : 0));
      phases_[&op] = phase;
      last_ = std::max(last_, phase + (taken_.contains(&op) ? 1 : 0));
    }
    for (Operation &op : llvm::reverse(body)) {
      if (taken_.contains(&op) || op.use_empty())
        continue;
      int phase = last_;
      for (Operation *user : op.getUsers())
        phase = std::min(phase, phases_.lookup(user));
      phases_[&op] = phase;
    }
  }

  std::string fresh(StringRef what) {
    std::string base = (stage_.getName() + "." + what).str(), name = base;
    for (int n = 1; !names_.insert(name).second; ++n)
      name = base + "." + std::to_string(n);
    return name;
  }

  batch::StageOp makeStage(StringRef what, Location loc) {
    std::string name = what.empty() ? stage_.getName().str() : fresh(what);
    b_.setInsertionPoint(stage_);
    auto made = batch::StageOp::create(b_, loc, name, stage_.getIndexSet(), stage_.getRole());
    made.getBody().emplaceBlock();
    return made;
  }

  void put(Operation *op, Substage &substage) {
    for (Value operand : op->getOperands())
      (void)in(substage, operand);
    b_.setInsertionPointToEnd(&substage.stage.getBody().front());
    b_.clone(*op, substage.map);
  }

  /// A value of the stage in a substage.
  Value in(Substage &substage, Value value) {
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

  /// Where a value is for the substages that do not compute it: what it is read from or written to, or a
  /// buffer of its own.
  FlatSymbolRefAttr bufferOf(Value value) {
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

  bool ofModel(StringRef buffer) {
    auto indexSet = program_.lookupSymbol<kernel::IndexSetOp>(
        program_.lookupSymbol<batch::BufferOp>(buffer).getIndexSet());
    return indexSet.getKind() == kernel::IndexSetKind::Model;
  }

  FlatSymbolRefAttr makeBuffer(Value value, StringRef what) {
    b_.setInsertionPointAfter(llvm::to_vector(program_.getOps<batch::BufferOp>()).back());
    auto buffer =
        batch::BufferOp::create(b_, value.getLoc(), fresh(what), stage_.getIndexSet(), value.getType(),
                                /*storage=*/IntegerAttr(), /*live=*/IntegerAttr());
    return FlatSymbolRefAttr::get(buffer.getSymNameAttr());
  }

  /// Row of a buffer, product and its bias, row of another one.
  void makeProduct(linalg::ContractOp product) {
    Value x = matVec(product)->x, result = product->getResult(0);
    arith::AddFOp sum = biasedSum(product);
    if (sum) {
      result = sum.getResult();
      done_.insert(sum);
    }
    FlatSymbolRefAttr from = bufferOf(x), to;
    for (Operation *user : result.getUsers())
      if (auto write = dyn_cast<batch::WriteOp>(user); write && !to) {
        to = write.getBufferAttr();
        done_.insert(write);
      }
    if (!to)
      to = makeBuffer(result, "y");
    buffers_[result] = to;
    Substage substage{makeStage("product", product.getLoc()), {}};
    substage.stage.setBlas(true);
    substage.stage->moveBefore(substages_[phases_.lookup(product) + 1].stage);
    b_.setInsertionPointToEnd(&substage.stage.getBody().front());
    substage.map.map(x, batch::ReadOp::create(b_, x.getLoc(), x.getType(), from).getResult());
    put(product, substage);
    if (sum)
      put(sum, substage);
    batch::WriteOp::create(b_, product.getLoc(), substage.map.lookup(result), to);
  }

  batch::StageOp stage_;
  batch::ProgramOp program_;
  llvm::StringSet<> &names_; ///< of all that the program has
  const llvm::DenseSet<Operation *> &taken_;
  OpBuilder b_;
  llvm::DenseMap<Operation *, int> phases_;
  int last_ = 0;
  SmallVector<Substage> substages_; ///< of each phase, without its products
  llvm::DenseMap<Value, FlatSymbolRefAttr> buffers_;
  llvm::DenseSet<Operation *> done_; ///< by the stages of products: biases added, results written
};

struct BatchBlasPass : impl::BatchBlasBase<BatchBlasPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<batch::ProgramOp>()) {
      llvm::StringSet<> names;
      program.walk([&](Operation *op) {
        if (auto name = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
          names.insert(name.getValue());
        if (auto stage = dyn_cast<batch::StageOp>(op))
          names.insert(stage.getName());
      });
      for (auto stage : llvm::to_vector(program.getBody().front().getOps<batch::StageOp>())) {
        auto indexSet = program.lookupSymbol<kernel::IndexSetOp>(stage.getIndexSet());
        // All rows of its index set, in whichever order: those of a `while` are not all.
        if (stage.getWhen() || indexSet.getMasked() || indexSet.getKind() == kernel::IndexSetKind::Model ||
            !mayRepeat(stage))
          continue;
        llvm::DenseSet<Operation *> taken;
        for (auto product : stage.getBody().front().getOps<linalg::ContractOp>())
          if (takes(product))
            taken.insert(product);
        if (taken.empty())
          continue;
        LDBG() << taken.size() << " products of @" << stage.getName() << " have " << weights.getValue()
               << " weights or more";
        ++cutStages;
        productStages += taken.size();
        Splitter(stage, program, names, taken).run();
      }
    }
  }

  /// A product with one matrix of parameters that is large enough.
  bool takes(linalg::ContractOp product) {
    auto found = matVec(product);
    if (!found || !isWeights(found->weights) || isWeights(found->x) ||
        !dyn::scalar(product->getResult(0).getType()).isF32())
      return false;
    ArrayRef<int64_t> shape = dyn::extents(found->weights.getType());
    return shape.size() == 2 && shape[0] * shape[1] >= weights;
  }
};
} // namespace
} // namespace dbc::passes
