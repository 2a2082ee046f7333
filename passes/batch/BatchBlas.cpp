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

/// What costs no more than reading what it would be kept in: each part of a stage has its own.
bool isReadAgain(Operation *op) {
  if (isa<batch::ReadOp, batch::GatherOp, batch::ColumnOp, dyn::GetOp, tensor::EmptyOp>(op) ||
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

/// A stage in parts: what its products need, the products, what becomes of them.
class Splitter {
public:
  Splitter(batch::StageOp stage, batch::ProgramOp program, llvm::StringSet<> &names,
           const llvm::DenseSet<Operation *> &taken)
      : stage_(stage), program_(program), names_(names), taken_(taken), b_(stage) {}

  void run() {
    findTurns();
    for (int turn = 0; turn <= last_; ++turn)
      parts_.push_back({makeStage(turn == last_ ? "" : "operands", stage_.getLoc()), {}});
    for (Operation &op : stage_.getBody().front()) {
      if (taken_.contains(&op))
        makeProduct(cast<linalg::ContractOp>(op));
      else if (!isReadAgain(&op) && !done_.contains(&op))
        put(&op, parts_[turns_.lookup(&op)]);
    }
    for (Part &part : parts_)
      if (part.stage.getBody().front().empty())
        part.stage.erase();
    stage_.erase();
  }

private:
  struct Part {
    batch::StageOp stage;
    IRMapping map;
  };

  /// A product is of the turn of what it needs, its result is there in the next one. All else is computed as
  /// late as it may: operands of products are small beside results.
  void findTurns() {
    Block &body = stage_.getBody().front();
    for (Operation &op : body) {
      int turn = 0;
      for (Value operand : op.getOperands())
        if (Operation *from = operand.getDefiningOp(); from && from->getBlock() == &body)
          turn = std::max(turn, turns_.lookup(from) + (taken_.contains(from) ? 1 : 0));
      turns_[&op] = turn;
      last_ = std::max(last_, turn + (taken_.contains(&op) ? 1 : 0));
    }
    for (Operation &op : llvm::reverse(body)) {
      if (taken_.contains(&op) || op.use_empty())
        continue;
      int turn = last_;
      for (Operation *user : op.getUsers())
        turn = std::min(turn, turns_.lookup(user));
      turns_[&op] = turn;
    }
  }

  std::string fresh(StringRef what) {
    std::string base = (stage_.getSymName() + "." + what).str(), name = base;
    for (int n = 1; !names_.insert(name).second; ++n)
      name = base + "." + std::to_string(n);
    return name;
  }

  batch::StageOp makeStage(StringRef what, Location loc) {
    std::string name = what.empty() ? stage_.getSymName().str() : fresh(what);
    b_.setInsertionPoint(stage_);
    auto made = batch::StageOp::create(b_, loc, name, stage_.getSpace());
    made.getBody().emplaceBlock();
    return made;
  }

  void put(Operation *op, Part &part) {
    for (Value operand : op->getOperands())
      (void)in(part, operand);
    b_.setInsertionPointToEnd(&part.stage.getBody().front());
    b_.clone(*op, part.map);
  }

  /// A value of the stage in a part of it.
  Value in(Part &part, Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &stage_.getBody().front())
      return value;
    if (Value known = part.map.lookupOrNull(value))
      return known;
    if (isReadAgain(op)) {
      put(op, part);
      return part.map.lookup(value);
    }
    FlatSymbolRefAttr buffer = bufferOf(value);
    b_.setInsertionPointToEnd(&part.stage.getBody().front());
    Value read = batch::ReadOp::create(b_, value.getLoc(), value.getType(), buffer);
    part.map.map(value, read);
    return read;
  }

  /// Where a value is for the parts that do not compute it: what it is read from or written to, or a buffer
  /// of its own.
  FlatSymbolRefAttr bufferOf(Value value) {
    auto [known, isNew] = buffers_.try_emplace(value);
    if (!isNew)
      return known->second;
    if (auto read = value.getDefiningOp<batch::ReadOp>(); read && !ofModel(read.getBuffer()))
      return known->second = read.getBufferAttr();
    for (Operation *user : value.getUsers())
      if (auto write = dyn_cast<batch::WriteOp>(user);
          write && turns_.lookup(write) == turns_.lookup(value.getDefiningOp()))
        return known->second = write.getBufferAttr();
    FlatSymbolRefAttr buffer = makeBuffer(value, "x");
    buffers_[value] = buffer;
    Part &home = parts_[turns_.lookup(value.getDefiningOp())];
    Value computed = in(home, value);
    b_.setInsertionPointToEnd(&home.stage.getBody().front());
    batch::WriteOp::create(b_, value.getLoc(), computed, buffer);
    return buffer;
  }

  bool ofModel(StringRef buffer) {
    auto space =
        program_.lookupSymbol<kernel::SpaceOp>(program_.lookupSymbol<batch::BufferOp>(buffer).getSpace());
    return space.getKind() == kernel::SpaceKind::Model;
  }

  FlatSymbolRefAttr makeBuffer(Value value, StringRef what) {
    b_.setInsertionPointAfter(llvm::to_vector(program_.getOps<batch::BufferOp>()).back());
    auto buffer = batch::BufferOp::create(b_, value.getLoc(), fresh(what), stage_.getSpace(), value.getType(),
                                          /*slot=*/IntegerAttr(), /*live=*/IntegerAttr());
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
    Part part{makeStage("product", product.getLoc()), {}};
    part.stage.setBlas(true);
    part.stage->moveBefore(parts_[turns_.lookup(product) + 1].stage);
    b_.setInsertionPointToEnd(&part.stage.getBody().front());
    part.map.map(x, batch::ReadOp::create(b_, x.getLoc(), x.getType(), from).getResult());
    put(product, part);
    if (sum)
      put(sum, part);
    batch::WriteOp::create(b_, product.getLoc(), part.map.lookup(result), to);
  }

  batch::StageOp stage_;
  batch::ProgramOp program_;
  llvm::StringSet<> &names_; ///< of all that the program has
  const llvm::DenseSet<Operation *> &taken_;
  OpBuilder b_;
  llvm::DenseMap<Operation *, int> turns_;
  int last_ = 0;
  SmallVector<Part> parts_; ///< of each turn, without its products
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
      });
      for (auto stage : llvm::to_vector(program.getBody().front().getOps<batch::StageOp>())) {
        auto space = program.lookupSymbol<kernel::SpaceOp>(stage.getSpace());
        // All rows of its space, in whichever order: those of a `while` are not all.
        if (stage.getWhen() || space.getKept() || space.getKind() == kernel::SpaceKind::Model ||
            !mayRepeat(stage))
          continue;
        llvm::DenseSet<Operation *> taken;
        for (auto product : stage.getBody().front().getOps<linalg::ContractOp>())
          if (takes(product))
            taken.insert(product);
        if (taken.empty())
          continue;
        LDBG() << taken.size() << " products of @" << stage.getSymName() << " have " << weights.getValue()
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
