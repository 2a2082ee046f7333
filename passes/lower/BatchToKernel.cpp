// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-to-kernel: programs, stages and loops of `batch` become those of `kernel`. Stage bodies are in
// StageToKernel.cpp.
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "passes/lower/InputOrders.h"
#include "passes/lower/RowLists.h"
#include "passes/lower/StageToKernel.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-to-kernel"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHTOKERNEL
#include "passes/Passes.h.inc"

namespace {

/// What a launch moves for each row, for the profile and the report: real numbers, bytes of other numbers,
/// and rows read through an index; and what its products compute. How many elements a list has the input
/// says, so they are apart.
struct Traffic {
  struct Amount {
    int64_t reals = 0, bytes = 0;
    void add(Type type) {
      const int64_t n = llvm::product_of(dyn::extents(type));
      Type number = getElementTypeOrSelf(type);
      if (number.isF32())
        reals += n;
      else
        bytes += n * kernel::bytesOf(number, /*realBytes=*/4);
    }
  } read, written;
  int64_t gathers = 0, operations = 0;
  SmallVector<Attribute> elements; ///< kernel::ElementsAttr, one for each list that is reduced

  /// `relations` are those of the stage's program, `arrays` what the function's program has.
  Traffic(batch::StageOp stage, const SymbolTable &relations, const SymbolTable &arrays) {
    stage.walk([&](Operation *op) {
      if (auto r = dyn_cast<batch::ReadOp>(op)) {
        read.add(r.getType());
      } else if (auto g = dyn_cast<batch::GatherOp>(op)) {
        read.add(g.getType());
        ++gathers;
      } else if (auto segment = dyn_cast<batch::SegmentOp>(op)) {
        addList(segment, relations, arrays);
      } else if (auto gather = dyn_cast<dyn::GatherOp>(op)) {
        if (gather.getTensor().getDefiningOp<dyn::GetOp>()) {
          read.add(gather.getType());
          ++gathers;
        }
      } else if (auto product = dyn_cast<linalg::ContractOp>(op)) {
        operations += 2 * llvm::product_of(product.getStaticLoopRanges());
      } else if (batch::isWrite(op)) {
        written.add(op->getOperand(0).getType());
        if (auto accumulate = dyn_cast<batch::AccumulateOp>(op); accumulate && accumulate.getOuter())
          operations += 2 * dyn::extents(accumulate.getValue().getType())[0] *
                        dyn::extents(accumulate.getOuter().getType())[0];
      }
    });
  }

  void addList(batch::SegmentOp segment, const SymbolTable &relations, const SymbolTable &arrays) {
    if (segment.getKind() == dyn::ReduceKind::Pick) {
      read.add(segment.getType());
      ++gathers;
      return;
    }
    Amount each;
    each.add(elementOf(arrays.lookup(segment.getArray())));
    auto add = [&](bool gathered, FlatSymbolRefAttr of, StringAttr array, StringAttr at) {
      elements.push_back(
          kernel::ElementsAttr::get(segment.getContext(), each.reals, each.bytes, gathered, of, array, at));
    };
    auto name = [&](StringRef text) { return StringAttr::get(segment.getContext(), text); };
    if (auto list = relations.lookup<batch::ListRelationOp>(segment.getList()))
      return add(segment.getVia().has_value(), list.getFromAttr(), list.getLengthAttr(), name(""));
    StringAttr at = name("");
    if (segment.getAt())
      at = relations.lookup<batch::RelationOp>(*segment.getAt()).getIndexArrayAttr();
    add(/*gathered=*/true, segment.getListAttr(), name(kernel::kBeginArray), at);
  }

  /// Of an array's rows: a reduction may give another type.
  static Type elementOf(Operation *array) {
    return llvm::TypeSwitch<Operation *, Type>(array)
        .Case<kernel::BufferOp, kernel::FieldOp, kernel::ArgumentOp>([](auto op) { return op.getType(); });
  }

  void describe(kernel::FuncOp func) const {
    func.setWorkAttr(kernel::WorkAttr::get(func.getContext(), read.reals, read.bytes, written.reals,
                                           written.bytes, gathers, operations));
    if (!elements.empty())
      func.setElementsAttr(ArrayAttr::get(func.getContext(), elements));
  }
};

struct Lowering {
  Lowering(kernel::ProgramOp from, StageForms forms) : forms(forms), from(from), b(from) {}

  LogicalResult run() {
    to = kernel::ProgramOp::create(b, from.getLoc(), from.getSymName(), from.getArgNames(),
                                   from.getArgTypes(), from.getSurface(), from.getLoss());
    Block *body = &to.getBody().emplaceBlock();
    b.setInsertionPointToEnd(body);
    auto run = kernel::RunOp::create(b, from.getLoc());
    run.getBody().emplaceBlock();
    b.setInsertionPoint(run);
    from.walk([&](batch::StageOp stage) {
      if (stage.getWhen())
        truths.insert(*stage.getWhen());
    });
    SmallVector<Operation *> order;
    for (Operation &op : llvm::make_early_inc_range(from.getBody().front())) {
      if (batch::isScheduled(&op))
        order.push_back(&op);
      else if (isa<kernel::BufferOp>(op)) // relations that are left need to know of it
        b.clone(op);
      else if (!isa<batch::RelationOp, batch::ListRelationOp, batch::TransposeOp, batch::DistinctOp>(op))
        op.moveBefore(run);
    }
    const llvm::DenseSet<Operation *> needed = neededByResults(order);
    relations.emplace(from);
    SymbolTable names(to);
    inputOrders.emplace(names);
    lists.emplace(from, *relations, names, *inputOrders);
    lists->lower(b);
    // Functions before the schedule, which stays in front of the run.
    for (auto schedule : llvm::make_early_inc_range(body->getOps<kernel::ScheduleOp>()))
      schedule->moveBefore(run);
    Operation *schedule = run->getPrevNode() ? run->getPrevNode() : run.getOperation();
    auto declared = to.getOps<kernel::FuncOp>();
    PackedWeights packed(names, declared.empty() ? run.getOperation() : (*declared.begin()).getOperation());
    // Stage bodies look arrays up in the program that is being taken apart.
    for (auto indexSet : to.getOps<kernel::IndexSetOp>())
      indexSets[indexSet.getSymName()] = indexSet;
    functions.setInsertionPoint(schedule);
    OpBuilder launches = OpBuilder::atBlockEnd(&run.getBody().front());
    kernel::GradientsOp gradients; // while what comes is for them alone
    for (Operation *op : order) {
      if (needed.contains(op)) {
        gradients = {};
      } else if (!gradients) {
        gradients = kernel::GradientsOp::create(launches, op->getLoc());
        gradients.getBody().emplaceBlock();
      }
      OpBuilder inside = gradients ? OpBuilder::atBlockEnd(&gradients.getBody().front()) : launches;
      if (failed(lower(op, inside, packed)))
        return failure();
    }
    from.erase();
    if (forms.epilogues)
      mergeWholeMatrices(to);
    return success();
  }

  /// Of the stages and outermost loops those that results need, or that may fail an input: all where there
  /// are no gradients. A stage that adds to a gradient or writes one is not asked whether it fails: what may
  /// fail in it is a copy of what a forward stage has computed before, and fails there too.
  llvm::DenseSet<Operation *> neededByResults(ArrayRef<Operation *> order) {
    Block &body = to.getBody().front();
    if (body.getOps<kernel::GradientOp>().empty() && body.getOps<kernel::InputGradientOp>().empty())
      return llvm::DenseSet<Operation *>(order.begin(), order.end());
    llvm::StringSet<> wanted, gradients;
    for (auto output : body.getOps<kernel::OutputOp>())
      wanted.insert(output.getBuffer());
    for (auto gradient : body.getOps<kernel::GradientOp>())
      gradients.insert(gradient.getBuffer());
    for (auto gradient : body.getOps<kernel::InputGradientOp>())
      gradients.insert(gradient.getBuffer());
    auto writesOneOf = [](const StageAccess &access, const llvm::StringSet<> &arrays) {
      return llvm::any_of(access.writes, [&](StringRef array) { return arrays.contains(array); });
    };
    auto mayFail = [&](Operation *op) {
      return op
          ->walk([&](batch::StageOp stage) {
            const bool fails =
                llvm::any_of(stage.getBody().front(), [](Operation &each) { return dyn::mayFail(&each); });
            return fails && !stage.accumulates() && !writesOneOf(accessesOf(stage), gradients)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
    };
    llvm::DenseSet<Operation *> needed;
    for (Operation *op : llvm::reverse(order)) {
      StageAccess access = accessesOf(op);
      if (!writesOneOf(access, wanted) && !mayFail(op))
        continue;
      assert(!writesOneOf(access, gradients) && "gradients are written where they are wanted");
      needed.insert(op);
      for (const StageRead &read : access.reads)
        wanted.insert(read.array);
    }
    return needed;
  }

  LogicalResult lower(Operation *op, OpBuilder &launches, PackedWeights &packed) {
    if (auto stage = dyn_cast<batch::StageOp>(op))
      return lowerStage(stage, launches, packed);
    Operation *loops = launches.cloneWithoutRegions(*op);
    OpBuilder inside = OpBuilder::atBlockEnd(&loops->getRegion(0).emplaceBlock());
    for (Operation &inner : llvm::make_early_inc_range(op->getRegion(0).front()))
      if (failed(lower(&inner, inside, packed)))
        return failure();
    return success();
  }

  LogicalResult lowerStage(batch::StageOp stage, OpBuilder &launches, PackedWeights &packed) {
    Type i32 = functions.getI32Type();
    std::string name = "stage." + stage.getName().str();
    auto func = kernel::FuncOp::create(functions, stage.getLoc(), name, kernel::FuncKind::Stage,
                                       stage.getIndexSetAttr(), docOf(stage));
    Block *body = &func.getBody().emplaceBlock();
    body->addArgument(i32, NameLoc::get(functions.getStringAttr("begin")));
    body->addArgument(i32, NameLoc::get(functions.getStringAttr("end")));
    Traffic(stage, *relations, packed.symbols()).describe(func);
    if (auto schedule = stage.getSchedule())
      func.setGrain(schedule->getGrain());
    func.setBlas(stage.getBlas());
    func.setSums(stage.accumulates());
    func.setBackward(stage.getRole() != batch::StageRole::Forward);
    lists->lowerBefore(stage, launches);
    const bool active = stage.getWhen().has_value();
    kernel::IndexSetOp indexSet = indexSets[stage.getIndexSet()];
    FlatSymbolRefAttr byInput = stage.accumulates() ? inputOrders->of(indexSet, active) : FlatSymbolRefAttr();
    kernel::LaunchOp::create(launches, stage.getLoc(), name, active && !byInput, byInput);
    for (StringRef written : accessesOf(stage).writes)
      if (truths.contains(written))
        kernel::MaskOp::create(launches, stage.getLoc(), stage.getIndexSet(), written);
    FlatSymbolRefAttr order = stage.accumulates() ? byInput : orderOfTimeSteps(indexSet);
    if (failed(
            StageToKernel(stage, func, indexSet, order, *relations, packed.symbols(), packed, forms).run()))
      return failure();
    kernel::dropUnreadLocals(func);
    // A stage of a persistent kernel has a function of its own.
    if (!order && !active && !isa<kernel::TimeStepLoopInterface>(stage->getParentOp()))
      setClears(func, stage);
    ++loweredStages;
    return success();
  }

  /// Where all that a stage does is to write zeros.
  static void setClears(kernel::FuncOp func, batch::StageOp stage) {
    SmallVector<Attribute> cleared;
    for (Operation &op : stage.getBody().front()) {
      auto write = dyn_cast<batch::WriteOp>(op);
      if (!write && !op.hasTrait<OpTrait::ConstantLike>())
        return;
      if (write && !matchPattern(write.getValue(), m_PosZeroFloat()))
        return;
      if (write)
        cleared.push_back(write.getBufferAttr());
    }
    if (!cleared.empty())
      func.setClearsAttr(ArrayAttr::get(func.getContext(), cleared));
  }

  /// The index set itself where its rows are reached through an order list; null: a row is at its number.
  static FlatSymbolRefAttr orderOfTimeSteps(kernel::IndexSetOp indexSet) {
    const bool isOrdered =
        indexSet.getKind() == kernel::IndexSetKind::Steps || indexSet.getStepsOf() || indexSet.getMasked();
    return isOrdered ? FlatSymbolRefAttr::get(indexSet) : FlatSymbolRefAttr();
  }

  /// What the stage computes, for the reader of the emitted code.
  ArrayAttr docOf(batch::StageOp stage) {
    SmallVector<Attribute> lines;
    auto line = [&](const Twine &text) { lines.push_back(functions.getStringAttr(text)); };
    stage.walk([&](Operation *op) {
      if (auto gather = dyn_cast<batch::GatherOp>(op)) {
        batch::RelationOp relation = batch::relationOf(*relations, gather);
        line("reads " + gather.getArray() + " of the rows in `" + relation.getIndexArray() + "` (" +
             batch::stringifyAccess(batch::accessOf(relation)) + ")");
      } else if (auto segment = dyn_cast<batch::SegmentOp>(op)) {
        line(dyn::stringifyReduceKind(segment.getKind()) + " of " + segment.getArray() + " over a list");
      }
    });
    return functions.getArrayAttr(lines);
  }

  unsigned loweredStages = 0;
  const StageForms forms;
  kernel::ProgramOp from;
  kernel::ProgramOp to;
  OpBuilder b;
  OpBuilder functions{b.getContext()};
  llvm::StringMap<kernel::IndexSetOp> indexSets;
  std::optional<SymbolTable> relations; ///< what is left in `from`
  std::optional<InputOrders> inputOrders;
  std::optional<RowLists> lists;
  llvm::StringSet<> truths; ///< buffers that say which rows there are
};

struct BatchToKernelPass : impl::BatchToKernelBase<BatchToKernelPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto program : llvm::to_vector(getOperation().getOps<kernel::ProgramOp>())) {
      Lowering lowering(program, {epilogues, byElement});
      if (failed(lowering.run()))
        return signalPassFailure();
      loweredStages += lowering.loweredStages;
    }
  }
};
} // namespace
} // namespace dbc::passes
