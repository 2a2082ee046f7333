// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-lambda-lift: captured arguments of cells become cells of their own.
//
// A call from outside of a recursion that passes captured arguments starts instances of its own (manual, C2,
// C4). What tells them from those of other calls is where the call stands: in the source, in which instance,
// at which positions of the binders around it. So the recursion is copied for each such call: the caller's
// keys and these positions are secondary keys of the copy's cells, their CONTEXT (`frame` of the cell). Where
// a cell uses a value it calls a cell that has the context alone for keys, and whose body computes the value.
// Where values change on the way down (C5), calls are edges of relations (dyn.relation). An instance asks by
// which one it is called and from where, and a cell of what that call gives.
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Numbers.h"
#include "ir/Dyn/Recursion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Passes.h"
#include "passes/Refusal.h"
#include "passes/dyn/FrameCopy.h"
#include "passes/dyn/OrderSteps.h"
#include "llvm/Support/DebugLog.h"
#include <deque>
#include <unordered_map>

#define DEBUG_TYPE "dyn-lambda-lift"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNLAMBDALIFT
#include "passes/Passes.h.inc"

namespace {

/// A recursion whose cells have captured arguments, and its copies.
struct CapturingRecursion {
  explicit CapturingRecursion(std::vector<dyn::CellOp> cells)
      : cells(std::move(cells)), values(this->cells) {}

  bool has(dyn::CellOp cell) const { return llvm::is_contained(cells, cell); }
  bool changes() const {
    return llvm::any_of(cells, [&](dyn::CellOp cell) { return values.changes(cell); });
  }

  std::vector<dyn::CellOp> cells;
  dyn::CapturedValues values;
};

struct LambdaLifting {
  explicit LambdaLifting(ModuleOp module) : module(module), cells(module) {
    auto cellOf = [&](StringAttr name) { return cells.table().lookup<dyn::CellOp>(name); };
    llvm::DenseSet<Operation *> asked; // which of their calls are made
    module.walk([&](Call call) {
      if (call.getEvery())
        asked.insert(calleeOf(call));
    });
    for (auto &group : dyn::recursions(module, cellOf)) {
      if (llvm::all_of(group,
                       [&](dyn::CellOp cell) { return cell.getValues().empty() && !asked.contains(cell); }))
        continue;
      auto recursion = std::make_shared<CapturingRecursion>(group);
      for (dyn::CellOp cell : group)
        recursionOf[cell] = recursion;
    }
  }

  LogicalResult run() {
    if (recursionOf.empty())
      return success();
    SmallVector<Operation *> open;
    for (Operation &op : *module.getBody())
      if (isa<dyn::EntryOp>(op) || (isa<dyn::CellOp>(op) && !recursionOf.count(&op)))
        open.push_back(&op);
    for (Operation *function : open)
      lift(function);
    if (tooMany)
      return failure();
    cells.spreadLists();
    erase();
    cells.markContexts();
    markSites();
    return cells.cleanRanges();
  }

  unsigned liftedCalls = 0;
  size_t madeCopies() const { return copies.size(); }

private:
  using Call = dyn::CallOp;

  dyn::CellOp calleeOf(Call call) { return cells.table().lookup<dyn::CellOp>(call.getCallee()); }

  /// Rewrites all calls with captured arguments in a function that has none, in the order of the program:
  /// what one passes may depend on those before it.
  void lift(Operation *function) {
    SmallVector<Call> sites;
    function->walk([&](Call call) {
      if (!call.getValues().empty() || recursionOf.count(calleeOf(call)))
        sites.push_back(call);
    });
    for (Call call : sites) {
      stripBarriers(call);
      cells.lifted.insert(call);
      for (Operation *binder : frameOf(call).binders)
        cells.addPosition(binder);
    }
    for (Call call : sites) {
      auto inside = copyOf.find(calleeOf(call));
      if (inside == copyOf.end())
        rewrite(call);
      else
        rewriteInside(call, *inside->second);
    }
    if (tooMany)
      return;
    cells.readValues(function);
    cells.finishStates(function);
  }

  /// What tells a call from outside of a recursion from others: where its values are computed. Where values
  /// change, or it is asked which calls it leads to, each call is one of its own.
  Frame frameOf(Call call) {
    auto recursion = recursionOf.find(calleeOf(call));
    if (recursion == recursionOf.end() || recursion->second->changes() || call.getEvery())
      return LiftedCells::frameAround(call);
    if (llvm::all_of(call.getValues(), [](Value value) { return LiftedCells::isOfModel(value); }))
      return {}; // the same everywhere
    return whereComputed(call);
  }

  /// Within the innermost of the binders around a call that one of its values depends on.
  static Frame whereComputed(Call call) {
    Frame frame = LiftedCells::frameAround(call);
    auto isIn = [](Value value, Operation *binder) {
      return binder->isAncestor(value.getParentBlock()->getParentOp());
    };
    while (!frame.binders.empty() &&
           llvm::none_of(call.getValues(), [&](Value v) { return isIn(v, frame.binders.back()); }))
      frame.binders.pop_back();
    return frame;
  }

  /// One copy of a recursion.
  struct Copy {
    Copy(CapturingRecursion &recursion, dyn::CellOp callee, const Frame &frame, ArrayRef<Value> captured)
        : recursion(recursion), callee(callee), frame(frame), captured(captured) {}

    CapturingRecursion &recursion;
    dyn::CellOp callee; ///< of the call from outside
    Frame frame;
    SmallVector<Value> captured;
    llvm::DenseMap<Operation *, dyn::CellOp> cells;    ///< of each cell: its copy
    llvm::DenseMap<Operation *, dyn::CellOp> changing; ///< of a copy: the cell of its values that change
    /// A relation by which instances of a copy are reached, and the cell of what a call of it gives. Null:
    /// from outside.
    struct Way {
      dyn::RelationOp relation;
      dyn::CellOp values;
    };
    llvm::DenseMap<Operation *, SmallVector<Way>> ways;
    Operation *caller = nullptr;    ///< the function of the calls from outside
    llvm::SetVector<int64_t> sites; ///< their numbers, as dyn-order-errors gave them

    dyn::CellOp originalOf(dyn::CellOp copied) {
      return *llvm::find_if(recursion.cells, [&](dyn::CellOp cell) { return cells[cell] == copied; });
    }
    /// What the call from outside gives for a value of a cell; null where it changes.
    Value outside(dyn::CellOp cell, BlockArgument value) {
      if (recursion.values.changes(value))
        return {};
      return initially(recursion.values.sameIn(callee, value));
    }
    Value initially(BlockArgument value) { return captured[value.getArgNumber() - callee.getKeys().size()]; }
  };

  /// The operations that values are made of, those that a region reads too, each before what it is made of.
  static llvm::SetVector<Operation *> sourcesOf(ValueRange values) {
    llvm::SetVector<Operation *> sources;
    auto add = [&](Value value) {
      if (Operation *op = value.getDefiningOp())
        sources.insert(op);
    };
    llvm::for_each(values, add);
    for (size_t n = 0; n < sources.size(); ++n) {
      Operation *op = sources[n];
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
            add(operand);
      });
    }
    return sources;
  }

  /// Whether what a value is made of may fail an input, but for fields, which every node has.
  static bool makingMayFail(Value value) { return llvm::any_of(sourcesOf(value), dyn::mayFailButForFields); }

  /// What a call passes is computed elsewhere, and only where the call is made. What stands outside of the
  /// call's arm may fail an input where the arm is not taken, too.
  static void needOutside(Call call) {
    for (Operation *op : sourcesOf(call.getValues()))
      if (op->getBlock() != call->getBlock() && dyn::anyInside(op, dyn::mayFail)) {
        OpBuilder b(op->getContext());
        b.setInsertionPointAfter(op);
        need(b, op->getResult(0));
      }
  }

  static void need(OpBuilder &b, Value value) {
    if (llvm::none_of(value.getUsers(), [](Operation *user) { return isa<dyn::NeedOp>(user); }))
      dyn::NeedOp::create(b, value.getLoc(), value);
  }

  void rewrite(Call call) {
    if (tooMany)
      return;
    ++liftedCalls;
    needOutside(call);
    dyn::CellOp callee = calleeOf(call);
    CapturingRecursion &recursion = *recursionOf[callee];
    Frame frame = frameOf(call);
    Copy &copy = copyFor(recursion, callee, frame, call);
    if (auto number = dyn::numberOf(call.getLoc()))
      copy.sites.insert(*number);
    SmallVector<Value> keys =
        cells.keysFor(copy.cells[callee], LiftedCells::keysInside(frame).all(), call.getKeys());
    OpBuilder b(call);
    for (Value value : call.getValues()) // what makes it elsewhere must not be the first to fail
      if (dyn::isStructural(value) && makingMayFail(value))
        need(b, value);
    TypeRange types = call.getResultTypes();
    FlatSymbolRefAttr from;
    if (recursion.changes())
      from = FlatSymbolRefAttr::get(copy.ways[copy.cells[callee]].front().relation.getSymNameAttr());
    auto plain = Call::create(b, call.getLoc(), call.getEvery() ? types.take_front() : types,
                              copy.cells[callee].getSymName(), keys, ValueRange(), from, ValueRange(),
                              call.getEvery());
    SmallVector<Value> results(plain.getResults());
    if (call.getEvery())
      llvm::append_range(results, ofEvery(b, plain, types.drop_front()));
    call->replaceAllUsesWith(results);
    cells.lifted.erase(call);
    cells.lifted.insert(plain);
    call->erase();
  }

  /// What the instances give whose nodes a call with `every` gives.
  static ValueRange ofEvery(OpBuilder &b, Call call, TypeRange lists) {
    auto map = dyn::MapOp::create(b, call.getLoc(), lists, call.getResult(0));
    Block &body = map.getBody().emplaceBlock();
    SmallVector<Value> keys(call.getKeys());
    keys[0] = body.addArgument(keys[0].getType(), call.getLoc());
    SmallVector<Type> types;
    for (Type list : lists)
      types.push_back(cast<dyn::ListType>(list).getElement());
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    auto each = Call::create(inside, call.getLoc(), types, call.getCallee(), keys, ValueRange(),
                             FlatSymbolRefAttr(), ValueRange());
    dyn::YieldOp::create(inside, call.getLoc(), each.getResults());
    return map.getResults();
  }

  Copy &copyFor(CapturingRecursion &recursion, dyn::CellOp callee, const Frame &frame, Call call) {
    SmallVector<Value> captured(call.getValues());
    size_t hash = llvm::hash_combine(callee.getOperation(), frame.function,
                                     llvm::hash_combine_range(captured.begin(), captured.end()));
    SmallVector<Copy *> &alike = copiesLike[hash];
    if (!recursion.changes() && !call.getEvery())
      for (Copy *copy : alike)
        if (copy->frame == frame && copy->callee == callee && copy->captured == captured)
          return *copy;
    Copy &copy = copies.emplace_back(recursion, callee, frame, captured);
    copy.caller = LiftedCells::frameAround(call).function;
    LDBG() << "copy " << copies.size() << " is of the recursion of @" << callee.getSymName()
           << ", for the call at " << dyn::sourceLocation(call.getLoc()) << " and what it depends on in "
           << frame.binders.size() << " binders";
    if (!call.getEvery()) // whose copy is of that call alone
      alike.push_back(&copy);
    if (copies.size() == kMostCopies && !tooMany) {
      refuse(call.getLoc())
          << "cells are copied for each call that has captured arguments of its own: here more than "
          << kMostCopies << " copies are made";
      tooMany = true;
    }
    for (dyn::CellOp cell : recursion.cells) {
      SmallVector<Value> values;
      for (BlockArgument value : cell.getValues())
        values.push_back(copy.outside(cell, value));
      dyn::CellOp into = cells.makeCell(cell.getSymName(), cell.getLoc(), LiftedCells::resultsOf(cell),
                                        cell.getSurface(), frame, cell, values);
      copy.cells[cell] = into;
      copyOf[into] = &copy;
      SmallVector<Type> changing;
      for (BlockArgument value : cell.getValues())
        if (recursion.values.changes(value))
          changing.push_back(value.getType());
      if (!changing.empty())
        copy.changing[into] = cells.makeCell((cell.getSymName() + ".captured").str(), cell.getLoc(), changing,
                                             LiftedCells::surfaceOf(changing), frame, cell, values);
    }
    makeSources(frame, captured, call);
    for (dyn::CellOp cell : recursion.cells)
      fill(cell, copy);
    if (recursion.changes())
      copy.ways[copy.cells[callee]].push_back(
          {relation(call, SymbolTable::getSymbolName(frame.function).getValue(), callee, copy, 0), {}});
    for (dyn::CellOp cell : recursion.cells)
      lift(copy.cells[cell]);
    if (tooMany)
      return copy;
    for (dyn::CellOp cell : recursion.cells)
      choose(cell, copy);
    return copy;
  }

  /// Says of each cell that was made by which calls from outside its instances are reached: those of its own
  /// copy, one of which it is, and of the copies that these calls stand in.
  void markSites() {
    for (dyn::CellOp cell : module.getOps<dyn::CellOp>()) {
      SmallVector<Copy *> around; // the innermost first
      for (Operation *at = cell; at;) {
        Copy *copy = copyOf.lookup(at);
        if (copy)
          around.push_back(copy);
        at = copy ? copy->caller : cells.functionOf(at);
      }
      SmallVector<int64_t> sites;
      for (auto [depth, copy] : llvm::enumerate(llvm::reverse(around)))
        for (int64_t call : copy->sites)
          sites.append({siteCoordinate(depth), call});
      if (!sites.empty())
        cell.setSites(sites);
    }
  }

  static bool isArgument(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<dyn::EntryOp>(argument.getOwner()->getParentOp());
  }

  /// Cells that compute the values of a call from outside: one of the numbers, one of each list.
  void makeSources(const Frame &frame, ArrayRef<Value> captured, Call call) {
    llvm::SetVector<Value> numbers, lists;
    for (Value value : captured)
      if (LiftedCells::isComputed(value) && !isArgument(value))
        (isa<dyn::ListType>(value.getType()) ? lists : numbers).insert(value);
    if (numbers.empty() && lists.empty())
      return;
    std::string name =
        (SymbolTable::getSymbolName(frame.function).getValue() + "." + call.getCallee() + ".captured").str();
    if (!numbers.empty())
      cells.makeValues(name, call.getLoc(), frame, numbers.getArrayRef());
    for (Value list : lists)
      cells.makeValues(name, call.getLoc(), frame, list);
  }

  /// A captured number as what it is in a cell: computed (manual, S2), and not known. Of parameters nothing
  /// is known anyway.
  static Value behindBarrier(OpBuilder &b, Value value) {
    if (!dyn::isNumber(value.getType()))
      return value;
    bool constant = LiftedCells::isOfModel(value) &&
                    llvm::none_of(sourcesOf(value), [](Operation *op) { return isa<dyn::GetOp>(op); });
    if (!constant && !dyn::isStructural(value))
      return value;
    return dyn::OptimizationBarrierOp::create(b, value.getLoc(), value);
  }

  /// What a call in a cell hands on of what the cell captured: the callee says itself that it is unknown.
  static void stripBarriers(Call call) {
    for (OpOperand &value : call.getValuesMutable())
      if (auto barrier = value.get().getDefiningOp<dyn::OptimizationBarrierOp>())
        value.set(barrier.getValue());
  }

  /// A value of the call from outside, in a cell with the copy's context.
  Value fromOutside(OpBuilder &b, Copy &copy, dyn::CellOp in, Value value) {
    FrameCopy outside(cells, b, copy.frame, cells.keysOf(in, copy.frame));
    return outside.get(value);
  }

  /// The body of a cell's copy. Calls inside of the recursion keep the values that change
  /// until it is lifted.
  void fill(dyn::CellOp cell, Copy &copy) {
    dyn::CellOp into = copy.cells[cell];
    Block &body = into.getBody().front();
    OpBuilder b = OpBuilder::atBlockEnd(&body);
    SmallVector<Value> context = cells.keysOf(into, copy.frame).all();
    IRMapping map;
    for (auto [own, key] : llvm::zip(cell.getKeys(), cells.ownKeys(into, body)))
      map.map(own, key);
    dyn::CallOp changing;
    if (dyn::CellOp captured = copy.changing.lookup(into))
      changing = LiftedCells::call(b, cell.getLoc(), captured, SmallVector<Value>(into.getKeys()));
    unsigned number = 0;
    for (BlockArgument value : cell.getValues()) {
      if (copy.recursion.values.changes(value))
        map.map(value, changing.getResult(number++));
      else if (!value.use_empty())
        map.map(value, behindBarrier(b, fromOutside(b, copy, into, copy.outside(cell, value))));
    }
    for (Operation &op : cell.getBody().front())
      b.clone(op, map);
    into.walk([&](Call call) {
      dyn::CellOp callee = calleeOf(call), inside = copy.cells.lookup(callee);
      if (!inside)
        return;
      SmallVector<Value> keys = cells.keysFor(inside, context, call.getKeys()), values;
      for (auto [parameter, value] : llvm::zip(callee.getValues(), call.getValues()))
        if (copy.recursion.values.changes(parameter))
          values.push_back(value);
      call.getKeysMutable().assign(keys);
      call.getValuesMutable().assign(values);
      call.setCallee(inside.getSymName());
    });
  }

  /// A call inside of a recursion with captured arguments that change (manual, C5): a cell computes them,
  /// for the keys of the caller and those of the positions of the call that they depend on.
  void rewriteInside(Call call, Copy &copy) {
    needOutside(call);
    auto caller = call->getParentOfType<dyn::CellOp>();
    StringRef name = copy.originalOf(caller).getSymName();
    dyn::CellOp values = cells.makeValues((name + ".gives").str(), call.getLoc(), whereComputed(call),
                                          SmallVector<Value>(call.getValues()));
    call.getValuesMutable().clear();
    SmallVector<Value> origin = LiftedCells::keysInside(LiftedCells::frameAround(call)).all();
    dyn::RelationOp by = relation(call, name, copy.originalOf(calleeOf(call)), copy, origin.size());
    call.setRelation(by.getSymName());
    call.getOriginMutable().assign(origin);
    copy.ways[calleeOf(call)].push_back({by, values});
  }

  /// The relation of a call to the copy of `to`, whose edges keep so many values.
  dyn::RelationOp relation(Call call, StringRef caller, dyn::CellOp to, Copy &copy, unsigned keeps) {
    OpBuilder b(copy.cells[to]);
    Operation *from = LiftedCells::frameAround(call).function;
    auto made = dyn::RelationOp::create(b, call.getLoc(), ("rel." + caller + "." + to.getSymName()).str(),
                                        SymbolTable::getSymbolName(from).getValue(),
                                        copy.cells[to].getSymName(), keeps);
    cells.table().insert(made);
    return made;
  }

  /// The cell of a cell's values that change: an instance asks by which relation it is called.
  void choose(dyn::CellOp cell, Copy &copy) {
    dyn::CellOp into = copy.cells[cell], captured = copy.changing.lookup(into);
    if (!captured)
      return;
    Location loc = cell.getLoc();
    OpBuilder b = OpBuilder::atBlockEnd(&captured.getBody().front());
    SmallVector<Value> keys(captured.getKeys());
    SmallVector<Type> types = LiftedCells::resultsOf(captured);
    auto valuesOf = [&](OpBuilder &at, Copy::Way way) {
      SmallVector<Value> results;
      if (way.values) {
        SmallVector<Type> ofCaller =
            llvm::map_to_vector(way.values.getKeys(), [](Value key) { return key.getType(); });
        auto from = dyn::CallerOp::create(at, loc, ofCaller, way.relation.getSymName(), keys);
        llvm::append_range(results, LiftedCells::call(at, loc, way.values, from.getResults()).getResults());
        return results;
      }
      for (BlockArgument value : cell.getValues())
        if (copy.recursion.values.changes(value))
          results.push_back(fromOutside(at, copy, captured, copy.initially(value)));
      return results;
    };
    // A chain of branches, the last way in the innermost `else`.
    ArrayRef<Copy::Way> ways = copy.ways[into];
    OpBuilder at = b;
    Operation *outermost = nullptr;
    for (Copy::Way way : ways.drop_back()) {
      Value here = dyn::CalledByOp::create(at, loc, b.getI1Type(), way.relation.getSymName(), keys);
      auto branch = dyn::IfOp::create(at, loc, types, here);
      if (outermost)
        dyn::YieldOp::create(at, loc, branch.getResults());
      else
        outermost = branch;
      OpBuilder then = OpBuilder::atBlockEnd(&branch.getThen().emplaceBlock());
      dyn::YieldOp::create(then, loc, valuesOf(then, way));
      at = OpBuilder::atBlockEnd(&branch.getOtherwise().emplaceBlock());
    }
    SmallVector<Value> last = valuesOf(at, ways.back());
    if (outermost)
      dyn::YieldOp::create(at, loc, last);
    dyn::ReturnOp::create(b, loc, outermost ? ValueRange(outermost->getResults()) : ValueRange(last));
  }

  /// The recursions that were copied; a single copy gets the name.
  void erase() {
    llvm::MapVector<Operation *, SmallVector<dyn::CellOp>> copiesOf;
    for (Copy &copy : copies)
      for (dyn::CellOp cell : copy.recursion.cells)
        copiesOf[cell].push_back(copy.cells[cell]);
    SmallVector<std::pair<std::string, SmallVector<dyn::CellOp>>> names;
    for (auto &[cell, into] : copiesOf)
      names.push_back({cast<dyn::CellOp>(cell).getSymName().str(), into});
    for (auto &[cell, recursion] : recursionOf)
      cells.table().erase(cell);
    for (auto &[name, into] : names)
      for (auto [n, cell] : llvm::enumerate(into)) {
        std::string wanted = n ? name + "." + std::to_string(n + 1) : name;
        if (!cells.table().lookup(wanted))
          (void)cells.table().rename(cell, wanted);
        if (cell.getSymName() != name)
          cell.setSourceName(name);
      }
  }

  ModuleOp module;
  LiftedCells cells;
  /// Of the cells with captured arguments.
  llvm::MapVector<Operation *, std::shared_ptr<CapturingRecursion>> recursionOf;
  /// Cells that call others twice, with values of their own, which do the same: copies double.
  static constexpr size_t kMostCopies = 1024;
  bool tooMany = false;
  std::deque<Copy> copies;
  std::unordered_map<size_t, SmallVector<Copy *>> copiesLike; ///< by what tells them apart
  llvm::DenseMap<Operation *, Copy *> copyOf;                 ///< of cells of copies
};

struct DynLambdaLiftPass : impl::DynLambdaLiftBase<DynLambdaLiftPass> {
  void runOnOperation() override {
    LambdaLifting lifting(getOperation());
    if (failed(lifting.run()))
      return signalPassFailure();
    liftedCalls += lifting.liftedCalls;
    copiedRecursions += lifting.madeCopies();
    getOperation().walk([](Operation *op) { op->removeAttr("position"); });
  }
};
} // namespace
} // namespace dbc::passes
