// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-order-errors: the steps of a walk through an input's structure in the order of evaluation. What numbers
// are computed does not matter to it: all that is no structure is one unknown value.
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Numbers.h"
#include "ir/Dyn/Recursion.h"
#include "ir/Dyn/Structural.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Passes.h"
#include "passes/dyn/OrderSteps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-order-errors"

using namespace mlir;

namespace dbc::passes {

#define GEN_PASS_DEF_DYNORDERERRORS
#include "passes/Passes.h.inc"

namespace {

std::optional<Logic> logicOf(Operation *op) {
  using P = arith::CmpIPredicate;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    switch (compare.getPredicate()) {
    case P::eq:
      return Logic::Equal;
    case P::ne:
      return Logic::NotEqual;
    case P::slt:
      return Logic::Less;
    case P::sle:
      return Logic::LessEqual;
    case P::sgt:
      return Logic::Greater;
    case P::sge:
      return Logic::GreaterEqual;
    default: // integers of the language have signs
      llvm::report_fatal_error(llvm::Twine("no such comparison in the language: ") +
                               arith::stringifyCmpIPredicate(compare.getPredicate()));
    }
  return llvm::TypeSwitch<Operation *, std::optional<Logic>>(op)
      .Case([](arith::AndIOp) { return Logic::And; })
      .Case([](arith::OrIOp) { return Logic::Or; })
      .Case([](arith::XOrIOp) { return Logic::Xor; })
      .Case([](arith::MaxSIOp) { return Logic::Largest; })
      .Case([](arith::MinSIOp) { return Logic::Least; })
      .Case([](dyn::SameOp) { return Logic::Equal; })
      .Default([](Operation *) { return std::nullopt; });
}

Reduction reductionOf(dyn::ReduceKind kind) {
  switch (kind) {
  case dyn::ReduceKind::Sum:
    return Reduction::Sum;
  case dyn::ReduceKind::Max:
    return Reduction::Max;
  case dyn::ReduceKind::Min:
    return Reduction::Min;
  case dyn::ReduceKind::Any:
    return Reduction::Any;
  case dyn::ReduceKind::All:
    return Reduction::All;
  default:
    llvm_unreachable("the others give what is computed");
  }
}

/// The steps of one entry.
class EntrySteps {
public:
  EntrySteps(ModuleOp module, dyn::EntryOp entry) : module(module), entry(entry) {
    for (dyn::DataOp data : module.getOps<dyn::DataOp>())
      tables.try_emplace(data.getSymName(), tables.size());
    auto cellOf = [&](StringAttr name) { return module.lookupSymbol<dyn::CellOp>(name); };
    for (auto &group : dyn::recursions(entry, cellOf)) {
      if (llvm::all_of(group, [](dyn::CellOp cell) { return cell.getValues().empty(); }))
        continue;
      auto recursion = std::make_shared<Recursion>(group);
      for (dyn::CellOp cell : group)
        recursions[cell] = recursion;
    }
  }

  /// kernel.evaluation, of the words and the code of dbc::EvaluationOrder.
  void create(OpBuilder &b) {
    functions.insert({entry, 0});
    SmallVector<SmallVector<int32_t>> bodies;
    for (size_t f = 0; f < functions.size(); ++f) // grows
      bodies.push_back(function(functions.begin()[f].first));
    SmallVector<int32_t> whole{static_cast<int32_t>(bodies.size())};
    whole.append(bodies.size(), 0);
    for (auto [f, body] : llvm::enumerate(bodies)) {
      whole[1 + f] = whole.size();
      // Targets in the code were counted from the function's beginning.
      for (int32_t target : jumps[f])
        body[target] += whole.size();
      llvm::append_range(whole, body);
    }
    SmallVector<StringRef> texts;
    for (const auto &[text, number] : words)
      texts.push_back(text);
    LDBG() << "@" << entry.getSymName() << ": " << bodies.size() << " functions in " << whole.size()
           << " words of code";
    kernel::EvaluationOp::create(b, entry.getLoc(), entry.getSymName(), b.getStrArrayAttr(texts), whole);
  }

private:
  struct Recursion {
    explicit Recursion(std::vector<dyn::CellOp> cells) : cells(std::move(cells)), values(this->cells) {}
    std::vector<dyn::CellOp> cells;
    dyn::CapturedValues values;
  };

  int32_t word(const std::string &text) {
    return words.insert({text, static_cast<int32_t>(words.size())}).first->second;
  }
  int32_t location(Location loc) { return word(dyn::sourceLocation(loc)); }
  int32_t table(Type node) { return tables.lookup(cast<dyn::NodeType>(node).getData().getValue()); }

  /// The column of a field; without a constructor of the first one that has it.
  int32_t columnOf(dyn::DataOp data, StringRef ctor, StringRef field) {
    auto [at, fresh] = columns.try_emplace(data);
    if (fresh)
      for (auto [op, numbers] : llvm::zip(data.getCtors(), dyn::columnNumbers(data)))
        for (auto [name, number] : llvm::zip(op.getFields(), numbers)) {
          std::string text = "/" + cast<StringAttr>(name).str();
          at->second.try_emplace(op.getName().str() + text, number);
          at->second.try_emplace(text, number);
        }
    return at->second.at((ctor + "/" + field).str());
  }

  void put(Step step, std::initializer_list<int32_t> operands) {
    code.push_back(static_cast<int32_t>(step));
    llvm::append_range(code, operands);
  }
  void list(ValueRange values) {
    code.push_back(values.size());
    for (Value value : values)
      code.push_back(registerOf(value));
  }
  void results(ValueRange values) {
    code.push_back(values.size());
    for (Value value : values)
      code.push_back(define(value));
  }
  /// Room for the target of a jump that is not known yet.
  int32_t targetLater() {
    jumps[current].push_back(code.size());
    code.push_back(0);
    return code.size() - 1;
  }
  void here(int32_t target) { code[target] = code.size(); }

  bool isComputed(Value value) {
    return !isa<dyn::ListType, dyn::NodeType>(value.getType()) && !structural.has(value);
  }
  int32_t registerOf(Value value) {
    if (isComputed(value))
      return unknown;
    assert(registers.contains(value) && "structure is there before its uses");
    return registers.lookup(value);
  }
  int32_t define(Value value) {
    if (isComputed(value))
      return dropped;
    return registers[value] = count++;
  }

  SmallVector<int32_t> function(Operation *function) {
    current = functions.lookup(function);
    code.clear();
    registers.clear();
    count = 0;
    Block &body = function->getRegion(0).front();
    auto cell = dyn_cast<dyn::CellOp>(function);
    SmallVector<int32_t> head{0, word(cast<SymbolOpInterface>(function).getName().str()), -1, 0};
    if (cell) {
      head[3] = cell.getKeys().size();
      if (dyn::startsWithNode(cell))
        head[2] = table(body.getArgument(0).getType());
      for (BlockArgument key : cell.getKeys()) {
        head.push_back(dyn::numberOf(key.getLoc()).value_or(-1));
        head.push_back(word(dyn::sourceName(key.getLoc())));
      }
      for (BlockArgument argument : body.getArguments())
        registers[argument] = count++;
    }
    llvm::append_range(code, head);
    unknown = count++;
    dropped = count++;
    if (!cell)
      for (BlockArgument argument : body.getArguments())
        if (!argument.use_empty())
          put(Step::Argument, {define(argument), static_cast<int32_t>(argument.getArgNumber()), word("")});
    block(body);
    code.push_back(static_cast<int32_t>(Step::Return));
    list(body.getTerminator()->getOperands());
    code[0] = count;
    return code;
  }

  void block(Block &block) {
    for (Operation &each : block.without_terminator())
      op(&each);
  }

  void op(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](dyn::FieldOp o) {
          dyn::DataOp data = module.lookupSymbol<dyn::DataOp>(o.getNode().getType().getData());
          int32_t column = columnOf(data, o.getCtor().value_or(""), o.getName());
          int32_t node = registerOf(o.getNode());
          put(Step::Field,
              {define(o.getResult()), node, table(o.getNode().getType()), column, location(o.getLoc())});
        })
        .Case([&](dyn::CallOp o) { call(o); })
        .Case([&](dyn::MatchOp o) { match(o); })
        .Case([&](dyn::IfOp o) {
          put(Step::Unless, {registerOf(o.getCondition())});
          int32_t otherwise = targetLater();
          arms(o, {{&o.getThen(), {}}, {&o.getOtherwise(), {otherwise}}});
        })
        .Case([&](dyn::NodesOp o) {
          int32_t node = registerOf(o.getNode());
          put(Step::Nodes, {define(o.getResult()), node, table(o.getNode().getType())});
        })
        .Case<dyn::MapOp, dyn::FilterOp, dyn::ScanOp, dyn::FoldOp>([&](auto o) { binder(o); })
        .Case([&](dyn::EmptyOp o) {
          int32_t none = count++;
          put(Step::Constant, {none, 0});
          put(Step::Range, {define(o.getResult()), none, none, location(o.getLoc())});
        })
        .Case([&](dyn::RangeOp o) {
          int32_t low = registerOf(o.getLow()), high = registerOf(o.getHigh());
          put(Step::Range, {define(o.getResult()), low, high, location(o.getLoc())});
        })
        .Case([&](dyn::LenOp o) {
          int32_t list = registerOf(o.getList());
          put(Step::Length, {define(o.getResult()), list});
        })
        .Case([&](dyn::ZipOp o) {
          put(Step::Zip, {location(o.getLoc())});
          list(o.getLists());
          for (auto [result, list] : llvm::zip(o.getResults(), o.getLists()))
            registers[result] = registerOf(list);
        })
        .Case([&](dyn::ReverseOp o) {
          int32_t list = registerOf(o.getList());
          put(Step::Reverse, {define(o.getResult()), list});
        })
        .Case([&](dyn::SliceOp o) {
          int32_t list = registerOf(o.getList()), low = registerOf(o.getLow()),
                  high = registerOf(o.getHigh());
          put(Step::Slice, {define(o.getResult()), list, low, high, location(o.getLoc())});
        })
        .Case([&](dyn::AtOp o) {
          int32_t list = registerOf(o.getList()), index = registerOf(o.getIndex());
          put(Step::At, {define(o.getResult()), list, index, location(o.getLoc())});
        })
        .Case([&](dyn::SoftmaxListOp o) { registers[o.getResult()] = registerOf(o.getList()); })
        .Case([&](dyn::ReduceListOp o) { reduce(o); })
        .Case([&](dyn::GatherOp o) {
          int32_t extent = dyn::extents(o.getTensor().getType())[0];
          if (o.getChecked() && o.getIndex().getType().isInteger(32))
            put(Step::Narrow, {registerOf(o.getIndex()), extent, location(o.getLoc())});
        })
        .Case([&](dyn::NarrowOp o) {
          put(Step::Narrow,
              {registerOf(o.getValue()), static_cast<int32_t>(o.getBound()), location(o.getLoc())});
          registers[o.getResult()] = registerOf(o.getValue());
        })
        .Default([&](Operation *o) { number(o); });
    if (dyn::mayFailComputed(op, structural))
      put(Step::Event, {static_cast<int32_t>(dyn::numberOf(op->getLoc()).value_or(-1))});
  }

  /// Arithmetic of the structure.
  void number(Operation *op) {
    if (op->getNumResults() != 1 || isComputed(op->getResult(0)))
      return;
    Value result = op->getResult(0);
    auto of = [&](unsigned operand) { return registerOf(op->getOperand(operand)); };
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto attr = cast<IntegerAttr>(constant.getValue());
      int64_t number = attr.getType().isInteger(1) ? attr.getValue().getZExtValue() : attr.getInt();
      return put(Step::Constant, {define(result), static_cast<int32_t>(number)});
    }
    if (auto ints = dyn_cast<dyn::IntOp>(op)) {
      int32_t a = of(0), b = of(1);
      return put(Step::Int,
                 {define(result), static_cast<int32_t>(ints.getKind()), a, b, location(op->getLoc())});
    }
    if (auto logic = logicOf(op)) {
      int32_t a = of(0), b = of(1);
      return put(Step::Logic, {define(result), static_cast<int32_t>(*logic), a, b});
    }
    if (isa<arith::SelectOp>(op)) {
      int32_t condition = of(0), a = of(1), b = of(2);
      return put(Step::Select, {define(result), condition, a, b});
    }
    if (isa<arith::ExtUIOp>(op)) {
      registers[result] = of(0);
      return;
    }
    llvm_unreachable("structure is made by no other operation");
  }

  void reduce(dyn::ReduceListOp op) {
    dyn::ReduceKind kind = op.getKind();
    if (dyn::needsElement(kind))
      put(Step::Some,
          {registerOf(op.getList()), word(dyn::stringifyReduceKind(kind).str()), location(op.getLoc())});
    if (isComputed(op.getResult()))
      return;
    int32_t list = registerOf(op.getList());
    put(Step::Reduce,
        {define(op.getResult()), static_cast<int32_t>(reductionOf(kind)), list, location(op.getLoc())});
  }

  /// Arms one behind the other, each with the targets that lead to it; without any it follows.
  void arms(Operation *op, ArrayRef<std::pair<Region *, SmallVector<int32_t>>> arms) {
    SmallVector<int32_t> to = llvm::map_to_vector(op->getResults(), [&](Value v) { return define(v); });
    SmallVector<int32_t> ends;
    for (auto &[region, targets] : arms) {
      for (int32_t target : targets)
        here(target);
      block(region->front());
      for (auto [result, value] : llvm::zip(to, region->front().getTerminator()->getOperands()))
        if (result != dropped)
          put(Step::Move, {result, registerOf(value)});
      put(Step::Jump, {});
      ends.push_back(targetLater());
    }
    for (int32_t end : ends)
      here(end);
  }

  void match(dyn::MatchOp op) {
    dyn::DataOp data = module.lookupSymbol<dyn::DataOp>(op.getNode().getType().getData());
    auto ctors = data.getCtors();
    put(Step::Switch,
        {registerOf(op.getNode()), table(op.getNode().getType()), static_cast<int32_t>(ctors.size())});
    int32_t first = code.size();
    for (size_t k = 0; k < ctors.size(); ++k)
      targetLater();
    llvm::DenseSet<int32_t> taken;
    SmallVector<std::pair<Region *, SmallVector<int32_t>>> all;
    for (auto [name, region] : llvm::zip(op.getCtors(), op.getArms())) {
      StringRef wanted = cast<StringAttr>(name).getValue();
      auto &targets = all.emplace_back(&region, SmallVector<int32_t>()).second;
      for (auto [k, ctor] : llvm::enumerate(ctors))
        if ((wanted == "_" || ctor.getName() == wanted) && taken.insert(k).second)
          targets.push_back(first + k);
    }
    arms(op, all);
  }

  template <class Op> void binder(Op op) {
    Block &body = op.getBody().front();
    bool back = false;
    Binder kind = Binder::Map;
    SmallVector<Value> states;
    if constexpr (std::is_same_v<Op, dyn::ScanOp>) {
      kind = Binder::Scan;
      back = op.getBack();
    } else if constexpr (std::is_same_v<Op, dyn::FoldOp>) {
      kind = Binder::Fold;
    } else if constexpr (std::is_same_v<Op, dyn::FilterOp>) {
      kind = Binder::Filter;
    }
    if (dyn::isRecurrence(op))
      llvm::append_range(states, dyn::initOf(op));
    put(Step::Begin,
        {static_cast<int32_t>(kind), static_cast<int32_t>(dyn::numberOf(op.getLoc()).value_or(-1)), back});
    int32_t end = targetLater();
    code.push_back(location(op.getLoc()));
    list(dyn::listsOf(op));
    list(states);
    for (BlockArgument argument : body.getArguments())
      code.push_back(define(argument));
    results(op->getResults());
    block(body);
    code.push_back(static_cast<int32_t>(Step::Next));
    list(body.getTerminator()->getOperands());
    here(end);
  }

  void call(dyn::CallOp op) {
    auto callee = module.lookupSymbol<dyn::CellOp>(op.getCalleeAttr());
    int32_t f = functions.insert({callee, static_cast<int32_t>(functions.size())}).first->second;
    auto recursion = recursions.find(callee);
    int32_t gives = 0, number = static_cast<int32_t>(*dyn::numberOf(op.getLoc()));
    if (recursion != recursions.end())
      gives = llvm::is_contained(recursion->second->cells, op->getParentOfType<dyn::CellOp>()) ? 1 : 2;
    int32_t where = location(callee.getLoc());
    if (gives && recursion->second->values.changes(callee)) {
      put(Step::Discover, {f, number, gives, where});
      list(op.getKeys());
    }
    ranges(op, callee, gives);
    put(op.getEvery() ? Step::Every : Step::Call, {f, number, gives, where});
    list(op.getKeys());
    list(op.getValues());
    results(op.getResults());
  }

  /// Keys that are numbers must be in their ranges, which are found at the callee's node.
  void ranges(dyn::CallOp op, dyn::CellOp callee, int32_t gives) {
    bool any = false;
    for (auto [argument, key] : llvm::zip(callee.getKeys(), op.getKeys())) {
      Region *range = callee.getRange(argument.getArgNumber());
      if (!range)
        continue;
      if (!std::exchange(any, true)) {
        if (dyn::startsWithNode(callee))
          put(Step::Owner, {table(op.getKeys()[0].getType()), registerOf(op.getKeys()[0])});
        else
          put(Step::Owner, {static_cast<int32_t>(gives == 0   ? OwnerKind::Input
                                                 : gives == 1 ? OwnerKind::OfCall
                                                              : OwnerKind::Own),
                            0});
      }
      Block &body = range->front();
      SmallVector<Value> arguments(op.getKeys().take_front(argument.getArgNumber()));
      llvm::append_range(arguments, op.getValues());
      for (auto [inner, value] : llvm::zip(body.getArguments(), arguments))
        registers[inner] = registerOf(value);
      block(body);
      auto bounds = body.getTerminator()->getOperands();
      std::string name =
          "`" + dyn::sourceName(argument.getLoc()) + "` of `" + callee.getSymName().str() + "`";
      put(Step::Key,
          {registerOf(key), registerOf(bounds[0]), registerOf(bounds[1]), word(name), location(op.getLoc())});
    }
    if (any)
      put(Step::Owner, {static_cast<int32_t>(OwnerKind::Own), 0});
  }

  ModuleOp module;
  dyn::EntryOp entry;
  llvm::StringMap<int32_t> tables; ///< data type -> its number
  llvm::DenseMap<Operation *, llvm::StringMap<int32_t>> columns;
  llvm::DenseMap<Operation *, std::shared_ptr<Recursion>> recursions;
  llvm::MapVector<std::string, int32_t, std::map<std::string, unsigned>> words;
  llvm::MapVector<Operation *, int32_t> functions;
  llvm::DenseMap<int32_t, SmallVector<int32_t>> jumps; ///< of each function: where its code names targets
  dyn::Structural structural;

  // Of the current function.
  int32_t current = 0, count = 0, unknown = 0, dropped = 0;
  SmallVector<int32_t> code;
  llvm::DenseMap<Value, int32_t> registers;
};

struct DynOrderErrorsPass : impl::DynOrderErrorsBase<DynOrderErrorsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t numbers = 0;
    dyn::Structural structural;
    module.walk([&](Operation *op) {
      if (dyn::isBinder(op) || dyn::mayFailComputed(op, structural))
        op->setLoc(dyn::numbered(op->getLoc(), numbers++));
      if (auto cell = dyn_cast<dyn::CellOp>(op))
        for (BlockArgument key : cell.getKeys())
          key.setLoc(dyn::numbered(key.getLoc(), numbers++));
    });
    module.walk([&](dyn::CallOp call) { call->setLoc(dyn::numbered(call->getLoc(), numbers++)); });
    numbered += numbers;
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    for (dyn::EntryOp entry : llvm::to_vector(module.getOps<dyn::EntryOp>()))
      EntrySteps(module, entry).create(b);
  }
};
} // namespace
} // namespace dbc::passes
