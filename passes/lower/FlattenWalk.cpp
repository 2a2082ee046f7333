// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Structure: fields, calls, matches and what a function returns.
#include "passes/lower/FlattenWalk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dbc::passes {

Walk::Walk(ProgramWriter &program, CellMap &cells, kernel::FuncOp func, Operation *owner, SpaceInfo *space)
    : program(program), cells(cells), structure(func, owner), env(structure), stages(program, structure, env),
      arithmetic(program, structure, env, stages), lists(program, structure),
      copies(program, structure, stages, lists), listOperations(structure, env, stages, lists, copies),
      binders(program, structure, env, stages, lists, *this),
      recurrences(program, structure, env, stages, lists, copies, *this), b(structure.builder()) {
  if (!structure.isIndex())
    return;
  Region &body = func.getBody();
  top = {space, body.getArgument(0)};
  for (auto [column, argument] : llvm::enumerate(body.getArguments().drop_front())) {
    space->values.push_back(argument);
    space->columnOf[argument] = column;
  }
}

LogicalResult Walk::run() {
  auto cell = dyn_cast<dyn::CellOp>(structure.owner());
  if (structure.is(kernel::FuncKind::Place)) {
    place(cells[cell.getSymNameAttr()]);
    return failure(env.hasFailed());
  }
  Region &region = structure.owner()->getRegion(0);
  auto arguments = structure.function().getBody().getArguments().drop_front(structure.isIndex() ? 1 : 0);
  Value key = arguments[0];
  if (cell) {
    bindKeys(cell, region.front(), SmallVector<Value>(arguments));
    // Instances of a node's one key are no more than the input has nodes.
    if (!structure.isIndex() && !dyn::furtherKeys(cell).empty())
      structure.claim(cell.getLoc(), structure.integer(1), cells[cell.getSymNameAttr()].space);
  } else {
    for (BlockArgument argument : region.getArguments())
      if (!argument.use_empty())
        env.set(argument,
                this->argument(argument.getLoc(), argument.getType(), argument.getArgNumber(), key));
  }
  walkBlock(region.front(), top);
  if (structure.isIndex())
    stages.push(top);
  return failure(env.hasFailed());
}

/// A flat argument of the entry.
AbstractValue Walk::argument(Location loc, Type type, unsigned leaf, Value input) {
  return lists.fromArray(loc, type, input, [&](kernel::FieldPart part, int level) {
    return program.argumentArray(leaf, part, type, level);
  });
}

/// The arguments of a cell's body, or of a range, which has the first ones: `numbers` are the instance's node
/// or input and its further keys, as int32.
void Walk::bindKeys(dyn::CellOp cell, Block &block, ValueRange numbers) {
  unsigned first = dyn::startsWithNode(cell) ? 0 : 1;
  for (BlockArgument argument : block.getArguments()) {
    Value number = numbers[first + argument.getArgNumber()];
    if (argument.getType().isInteger(1))
      number =
          arith::CmpIOp::create(b, argument.getLoc(), arith::CmpIPredicate::ne, number, structure.integer(0));
    env.set(argument, AbstractValue::structural(number));
  }
}

void Walk::place(CellInfo &cell) {
  auto arguments = SmallVector<Value>(structure.function().getBody().getArguments());
  Value place = arguments[0];
  for (auto [k, key] : llvm::enumerate(dyn::furtherKeys(cell.op))) {
    FlatSymbolRefAttr data;
    if (auto node = dyn_cast<dyn::NodeType>(key.getType()))
      data = node.getData();
    auto op = kernel::KeyOp::create(b, key.getLoc(), b.getI32Type(), cell.group, cell.number, k, place,
                                    arguments[k + 1], data, dyn::sourcePlace(key.getLoc()));
    place = op.getResult();
    if (data)
      continue;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&op.getRange().emplaceBlock());
    Block &range = cell.op.getRange(key.getArgNumber())->front();
    bindKeys(cell.op, range, arguments);
    walkBlock(range, top);
    SmallVector<Value> bounds;
    for (Value bound : range.getTerminator()->getOperands())
      bounds.push_back(env.structural(bound));
    kernel::YieldOp::create(b, key.getLoc(), bounds);
  }
  kernel::YieldOp::create(b, cell.op.getLoc(), place);
}

void Walk::walkBlock(Block &block, RowContext at) {
  for (Operation &op : block)
    walkOperation(&op, at);
}

void Walk::walkOperation(Operation *op, RowContext at) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](dyn::FieldOp op) { field(op, at); })
      .Case([&](dyn::ArgumentOp op) {
        Value input = kernel::InputOp::create(b, op.getLoc(), b.getI32Type());
        env.set(op.getResult(), argument(op.getLoc(), op.getType(), op.getLeaf(), input));
      })
      .Case([&](dyn::OptimizationBarrierOp op) { env.set(op.getResult(), env.lookup(op.getValue())); })
      .Case([&](dyn::SiteOp op) { site(op); })
      .Case([&](dyn::CallerOp op) { caller(op); })
      .Case([&](dyn::CallOp op) { call(op, at); })
      .Case([&](dyn::MatchOp op) { match(op, at); })
      .Case([&](dyn::IfOp op) {
        Value condition = env.structural(op.getCondition());
        branch(
            op, {&op.getThen(), &op.getOtherwise()}, {"then", "else"}, [&](unsigned) { return condition; },
            at);
      })
      .Case([&](dyn::MapOp op) { binders.map(op, at); })
      .Case([&](dyn::FilterOp op) { binders.filter(op, at); })
      .Case([&](dyn::ScanOp op) { recurrences.scan(op, at); })
      .Case([&](dyn::FoldOp op) { recurrences.fold(op, at); })
      .Case([&](dyn::ReduceListOp op) { listOperations.reduce(op, at); })
      .Case([&](dyn::NodesOp op) { listOperations.nodes(op); })
      .Case([&](dyn::EmptyOp op) { listOperations.empty(op); })
      .Case([&](dyn::RangeOp op) { listOperations.range(op); })
      .Case([&](dyn::LenOp op) { listOperations.length(op); })
      .Case([&](dyn::ZipOp op) { listOperations.zip(op); })
      .Case([&](dyn::ReverseOp op) { listOperations.reverse(op); })
      .Case([&](dyn::SliceOp op) { listOperations.slice(op); })
      .Case([&](dyn::AtOp op) { listOperations.at(op, at); })
      .Case([&](dyn::ReturnOp op) { returned(op, at); })
      .Case<dyn::YieldOp, dyn::NeedOp>([](Operation *) {})
      .Default([&](Operation *op) { arithmetic.operation(op, at); });
}

void Walk::field(dyn::FieldOp op, RowContext at) {
  dyn::DataOp data = program.dataOf(op.getNode().getType());
  StringRef ctor = op.getCtor().value_or("");
  env.set(op.getResult(),
          lists.fromArray(op.getLoc(), op.getType(), env.structural(op.getNode()),
                          [&](kernel::FieldPart part, int level) {
                            return program.fieldArray(data, ctor, op.getName(), part, op.getType(), level,
                                                      /*inCells=*/isa<dyn::CellOp>(structure.owner()));
                          }));
}

Value Walk::placeIn(CellInfo &cell, Location loc, ValueRange keys) {
  if (keys.empty())
    return kernel::InputOp::create(b, loc, b.getI32Type());
  if (cell.place.empty())
    return env.structural(keys[0]);
  SmallVector<Value> numbers;
  for (Value key : keys)
    numbers.push_back(structure.asColumn(env.structural(key)));
  return kernel::PlaceOp::create(b, loc, b.getI32Type(), cell.place, numbers, dyn::sourcePlace(loc));
}

/// Which call led to an instance of a cell whose values change.
void Walk::site(dyn::SiteOp op) {
  CellInfo &cell = cells[op.getCellAttr().getAttr()];
  Value place = placeIn(cell, op.getLoc(), op.getKeys());
  env.set(op.getResult(), AbstractValue::structural(kernel::OriginOp::create(
                              b, op.getLoc(), b.getI32Type(), cell.group, cell.number, place, 0)));
}

void Walk::caller(dyn::CallerOp op) {
  Location loc = op.getLoc();
  CellInfo &cell = cells[op.getCellAttr().getAttr()];
  Value place = placeIn(cell, loc, op.getKeys());
  for (auto [n, result] : llvm::enumerate(op.getResults())) {
    Value number = kernel::OriginOp::create(b, loc, b.getI32Type(), cell.group, cell.number, place, 1 + n);
    if (result.getType().isInteger(1))
      number = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, number, structure.integer(0));
    env.set(result, AbstractValue::structural(number));
  }
}

/// In the walk that writes calls: how long the lists are that a call gives is structure. The callee says,
/// which is no recursive cell (LANGUAGE C6): of its body only that is walked which lengths depend on.
void Walk::calledLists(dyn::CallOp op, RowContext at) {
  Block &body = cells[op.getCalleeAttr().getAttr()].op.getBody().front();
  llvm::DenseSet<Operation *> walked; // for these keys
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    if (!isa<dyn::ListType>(result.getType())) {
      env.set(result, AbstractValue());
      continue;
    }
    // Not of a cell without lists: it may be the one that is being walked.
    for (auto [argument, key] : llvm::zip(body.getArguments(), op.getKeys()))
      env.set(argument, AbstractValue::structural(env.structural(key)));
    env.set(result, AbstractValue::of(lengthsIn(body.getTerminator()->getOperand(k), at, walked)));
  }
}

ListInfo Walk::lengthsIn(Value list, RowContext at, llvm::DenseSet<Operation *> &walked) {
  if (!isa<dyn::ListType>(cast<dyn::ListType>(list.getType()).getElement()))
    for (Value from = list; from; from = dyn::lengthFrom(from))
      list = from;
  if (auto call = list.getDefiningOp<dyn::CallOp>(); call && !call.getEvery()) { // not made here
    for (Value key : call.getKeys())
      walkFor(key, at, walked);
    calledLists(call, at);
  } else {
    walkFor(list, at, walked);
  }
  ListInfo info = env.lookup(list).list;
  if (info.from != From::Lists) { // of its elements only the length counts
    info.from = From::Rows;
    info.first = structure.integer(0);
    info.stride = 1;
  }
  return info;
}

/// Walks what a value is made of.
void Walk::walkFor(Value value, RowContext at, llvm::DenseSet<Operation *> &walked) {
  Operation *op = value.getDefiningOp();
  if (!op || !walked.insert(op).second)
    return;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        walkFor(operand, at, walked);
  });
  walkOperation(op, at);
}

void Walk::call(dyn::CallOp op, RowContext at) {
  CellInfo &cell = cells[op.getCalleeAttr().getAttr()];
  if (op.getEvery() &&
      (structure.isIndex() || structure.is(kernel::FuncKind::Place))) // it is called elsewhere
    return every(op, cell);
  Value place = placeIn(cell, op.getLoc(), op.getKeys());
  if (!structure.isIndex()) {
    SmallVector<Value> origin;
    for (Value number : op.getOrigin())
      origin.push_back(structure.asColumn(env.structural(number)));
    kernel::CallOp::create(b, op.getLoc(), cell.group, cell.number, place, op.getSiteAttr(), origin,
                           op.getSite() ? b.getStringAttr(dyn::sourcePlace(cell.op.getLoc())) : StringAttr());
    return op.getEvery() ? every(op, cell) : calledLists(op, at);
  }
  // The relation: the callee's row for each row here.
  Value row = kernel::RowOfOp::create(b, op.getLoc(), cell.space->name, place);
  std::string carried;
  if (auto mine = dyn_cast<dyn::CellOp>(structure.owner()))
    if (cells[mine.getSymNameAttr()].group == cell.group)
      carried = cell.group;
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    if (!isa<dyn::ListType>(result.getType())) {
      env.set(result, AbstractValue::stored(cell.results[k], row, carried));
      continue;
    }
    ListInfo info = cell.lists[k];
    Type i32 = b.getI32Type();
    info.first =
        kernel::LoadOp::create(b, op.getLoc(), i32, cell.space->name, b.getStringAttr(cell.firsts[k]), row);
    info.length =
        kernel::LoadOp::create(b, op.getLoc(), i32, cell.space->name, b.getStringAttr(cell.lengths[k]), row);
    env.set(result, AbstractValue::of(info));
  }
}

/// The nodes that can be reached from the call's own and for which the cell is called with its further keys.
void Walk::every(dyn::CallOp op, CellInfo &cell) {
  Location loc = op.getLoc();
  auto node = cast<dyn::NodeType>(op.getKeys()[0].getType());
  ListInfo reached = lists.reached(loc, node, env.structural(op.getKeys()[0])), called;
  SpaceInfo *space =
      program.addSpace(loc, cell.op.getSymName().str() + ".every", kernel::SpaceKind::States, nullptr);
  space->addColumn("node");
  space->used = true;
  SmallVector<Value> keys;
  for (Value key : op.getKeys())
    keys.push_back(structure.asColumn(env.structural(key)));
  called = reached;
  called.of = space->name;
  called.first = kernel::CountOp::create(b, loc, b.getI32Type(), space->name);
  structure.claim(loc, reached.length, space);
  structure.loop(loc, reached.length, [&](Value j) {
    keys[0] = lists.element(reached, j).scalar;
    Value is = kernel::CalledOp::create(b, loc, b.getI1Type(), cell.group, cell.number, keys);
    auto cond = kernel::IfOp::create(b, loc, TypeRange(), is);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&cond.getThen().emplaceBlock());
    kernel::PushOp::create(b, loc, space->name, keys[0]);
    kernel::YieldOp::create(b, loc, ValueRange());
    b.setInsertionPointToEnd(&cond.getOtherwise().emplaceBlock());
    kernel::YieldOp::create(b, loc, ValueRange());
  });
  called.length = structure.sub(kernel::CountOp::create(b, loc, b.getI32Type(), space->name), called.first);
  env.set(op.getResult(0), AbstractValue::of(called));
}

void Walk::match(dyn::MatchOp op, RowContext at) {
  dyn::DataOp data = program.dataOf(op.getNode().getType());
  llvm::StringMap<int> numbers;
  for (auto [n, ctor] : llvm::enumerate(data.getCtors()))
    numbers[ctor.getName()] = n;
  SmallVector<Region *> regions;
  std::vector<std::string> names;
  for (auto [name, region] : llvm::zip(op.getCtors(), op.getArms())) {
    regions.push_back(&region);
    StringRef ctor = cast<StringAttr>(name).getValue();
    names.push_back(ctor == "_" ? "other" : ctor.str());
  }
  if (regions.size() == 1)
    return only(op, *regions[0], at);
  Value node = env.structural(op.getNode());
  std::string kinds =
      program.fieldArray(data, "", "", kernel::FieldPart::Kind, b.getI32Type(), 0, /*inCells=*/false);
  Value kind = kernel::LoadOp::create(b, op.getLoc(), b.getI32Type(), kinds, StringAttr(), node);
  branch(
      op, regions, names,
      [&](unsigned n) -> Value {
        StringRef ctor = cast<StringAttr>(op.getCtors()[n]).getValue();
        return arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, kind,
                                     structure.integer(numbers.at(ctor)));
      },
      at);
}

/// A match with one arm: its region is simply computed.
void Walk::only(Operation *op, Region &region, RowContext at) {
  walkBlock(region.front(), at);
  for (auto [result, value] : llvm::zip(op->getResults(), region.front().getTerminator()->getOperands()))
    env.set(result, env.lookup(value));
}

/// Match and if: each arm is a space of its own in the space outside. Integer results come out of the
/// structure function's own branch, computed ones go to a buffer of the space outside.
void Walk::branch(Operation *op, ArrayRef<Region *> regions, ArrayRef<std::string> names,
                  function_ref<Value(unsigned)> isArm, RowContext at) {
  std::vector<std::string> buffers(op->getNumResults());
  for (auto [buffer, result] : llvm::zip(buffers, op->getResults()))
    if (structure.isIndex() && dyn::isNumber(result.getType()) &&
        !allStructural(regions, cast<OpResult>(result).getResultNumber())) {
      buffer = stages.addOwnBuffer(stages.label(op, at), at.space, result.getType());
    }
  std::vector<Arm> arms;
  kernel::IfOp cond = walkArms(op, regions, names, isArm, buffers, at, arms);
  for (auto [k, result] : llvm::enumerate(op->getResults()))
    if (isa<dyn::ListType>(result.getType()))
      joinLists(op, k, arms, at);
  if (structure.isIndex())
    for (Arm &arm : arms) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(arm.block);
      stages.push(arm.at);
    }

  // Integers of the arms become results of the branch.
  SmallVector<Type> types;
  SmallVector<SmallVector<Value>> values(regions.size());
  struct Result {
    int scalar = -1, first = -1, length = -1;
  };
  SmallVector<Result> places(op->getNumResults());
  for (auto [k, result] : llvm::enumerate(op->getResults())) {
    auto all = [&](Kind kind) {
      return llvm::all_of(arms, [&](Arm &arm) { return arm.yields[k].is(kind); });
    };
    if (!buffers[k].empty() || (!all(Kind::Structural) && !all(Kind::List)))
      continue;
    if (all(Kind::Structural)) {
      places[k].scalar = types.size();
      types.push_back(arms[0].yields[k].scalar.getType());
      for (auto [v, arm] : llvm::zip(values, arms))
        v.push_back(arm.yields[k].scalar);
      continue;
    }
    places[k].first = types.size();
    places[k].length = types.size() + 1;
    types.append(2, b.getI32Type());
    for (auto [v, arm] : llvm::zip(values, arms)) {
      v.push_back(arm.yields[k].list.first);
      v.push_back(arm.yields[k].list.length);
    }
  }
  SmallVector<Value> outs = withResults(cond, types, values, 0);
  for (auto [k, result] : llvm::enumerate(op->getResults())) {
    if (!buffers[k].empty())
      env.set(result, AbstractValue::stored(buffers[k], at.row));
    else if (places[k].scalar >= 0)
      env.set(result, AbstractValue::structural(outs[places[k].scalar]));
    else if (places[k].first >= 0) {
      ListInfo info = arms[0].yields[k].list;
      info.first = outs[places[k].first];
      info.length = outs[places[k].length];
      env.set(result, AbstractValue::of(info));
    } else
      env.set(result, AbstractValue());
  }
}

/// Whether every arm yields an integer that the structure function knows.
bool Walk::allStructural(ArrayRef<Region *> regions, unsigned result) {
  Type type = regions[0]->front().getTerminator()->getOperand(result).getType();
  if (isa<dyn::NodeType>(type))
    return true;
  if (!type.isInteger(32) && !type.isInteger(1))
    return false;
  return llvm::all_of(
      regions, [&](Region *r) { return env.isStructural(r->front().getTerminator()->getOperand(result)); });
}

/// Writes the chain of branches; the last arm is the innermost `else`.
kernel::IfOp Walk::walkArms(Operation *op, ArrayRef<Region *> regions, ArrayRef<std::string> names,
                            function_ref<Value(unsigned)> isArm, ArrayRef<std::string> buffers, RowContext at,
                            std::vector<Arm> &arms) {
  auto walkArm = [&](Block &block) {
    unsigned n = arms.size();
    Arm arm{at, &block, {}};
    if (structure.isIndex()) {
      arm.at.space =
          program.addSpace(op->getLoc(), at.space->name + "." + names[n], kernel::SpaceKind::Arm, at.space);
      arm.at.row = kernel::CountOp::create(b, op->getLoc(), b.getI32Type(), arm.at.space->name);
      stages.column(arm.at.space, at.row, "parent");
      arm.at.space->used = false;
    }
    Block &source = regions[n]->front();
    walkBlock(source, arm.at);
    for (auto [r, value] : llvm::enumerate(source.getTerminator()->getOperands())) {
      AbstractValue result = env.lookup(value);
      if (!buffers[r].empty())
        stages.write(op->getLoc(), value, result, buffers[r], arm.at, at.row);
      else if (result.is(Kind::Model) && env.isStructural(value))
        result = AbstractValue::structural(env.structural(value));
      arm.yields.push_back(result);
    }
    arms.push_back(std::move(arm));
  };
  Value condition = isArm(arms.size());
  auto cond = kernel::IfOp::create(b, op->getLoc(), TypeRange(), condition);
  Block &then = cond.getThen().emplaceBlock(), &otherwise = cond.getOtherwise().emplaceBlock();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&then);
  walkArm(then);
  b.setInsertionPointToEnd(&otherwise);
  if (arms.size() + 1 == regions.size())
    walkArm(otherwise);
  else
    walkArms(op, regions, names, isArm, buffers, at, arms);
  return cond;
}

/// Gives a chain of branches its results: arm k yields values[k].
SmallVector<Value> Walk::withResults(kernel::IfOp cond, TypeRange types, ArrayRef<SmallVector<Value>> values,
                                     unsigned n) {
  OpBuilder::InsertionGuard guard(b);
  Location loc = cond.getLoc();
  b.setInsertionPoint(cond);
  auto full = kernel::IfOp::create(b, loc, types, cond.getCondition());
  full.getThen().takeBody(cond.getThen());
  full.getOtherwise().takeBody(cond.getOtherwise());
  cond.erase();
  b.setInsertionPointToEnd(&full.getThen().front());
  kernel::YieldOp::create(b, loc, values[n]);
  Block &otherwise = full.getOtherwise().front();
  SmallVector<Value> rest = values[n + 1];
  if (n + 2 < values.size())
    rest = withResults(cast<kernel::IfOp>(otherwise.back()), types, values, n + 1);
  b.setInsertionPointToEnd(&otherwise);
  kernel::YieldOp::create(b, loc, rest);
  return llvm::to_vector_of<Value>(full.getResults());
}

/// Results of a cell go to its buffers; those of an entry to outputs.
void Walk::returned(Operation *op, RowContext at) {
  if (!structure.isIndex())
    return;
  auto cell = dyn_cast<dyn::CellOp>(structure.owner());
  llvm::StringMap<std::string> renamed;
  llvm::StringSet<> inLists; // buffers that keep their names
  for (Value value : op->getOperands())
    if (AbstractValue result = env.lookup(value); result.is(Kind::List))
      inLists.insert(result.list.leaf().array);
  for (auto [k, value] : llvm::enumerate(op->getOperands())) {
    AbstractValue result = env.lookup(value);
    if (result.is(Kind::List)) {
      if (cell) {
        CellInfo &mine = cells[cell.getSymNameAttr()];
        mine.lists[k] = result.list;
        mine.firsts[k] = stages.column(at.space, result.list.first, "first");
        mine.lengths[k] = stages.column(at.space, result.list.length, "length");
      } else {
        returnList(op->getLoc(), k, result.list, at, 1);
      }
      continue;
    }
    std::string target;
    if (cell) {
      target = cells[cell.getSymNameAttr()].results[k];
    } else {
      target = program.addBuffer(op->getNumOperands() == 1 ? "result" : "result." + std::to_string(k),
                                 at.space, value.getType());
      program.addOutput(op->getLoc(), k, target, 0, /*kept=*/false);
    }
    // A buffer made here at the same row simply becomes the result.
    if (result.is(Kind::Stored)) {
      if (auto it = renamed.find(result.array); it != renamed.end())
        result.array = it->second;
      if (stages.isOwn(result, at) && !inLists.contains(result.array)) {
        renamed[result.array] = target;
        continue;
      }
    }
    stages.write(op->getLoc(), value, result, target, at);
  }
  stages.rename(renamed);
}

/// Lists that are result n of the arms of `op`: where they lie in different places, each arm copies its own
/// to a common one.
void Walk::joinLists(Operation *op, unsigned n, std::vector<Arm> &arms, RowContext at) {
  const ListInfo &one = arms[0].yields[n].list;
  if (llvm::all_of(arms, [&](Arm &arm) { return arm.yields[n].list.sameSource(one); }))
    return;
  bool structural = llvm::all_of(arms, [&](Arm &arm) { return arm.yields[n].list.isStructural(); });
  ListCopies::Target target =
      copies.addTarget(op->getLoc(), one, structural, (at.space ? at.space->name + "." : "") + "list", at);
  for (Arm &arm : arms) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(arm.block);
    ListInfo &list = arm.yields[n].list;
    list = copies.copyTo(op->getLoc(), list, target, arm.at);
  }
}

/// A list that an entry returns: a space of its own, so that its rows stand in the outputs' order.
void Walk::returnList(Location loc, unsigned leaf, const ListInfo &list, RowContext at, unsigned depth) {
  std::string name = leaf ? "result." + std::to_string(leaf) : "result";
  SpaceInfo *space = program.addSpace(loc, name + ".list", kernel::SpaceKind::Elements, at.space);
  std::string buffer;
  if (list.from != From::Lists) {
    Type flat = isa<dyn::NodeType>(list.element) ? Type(b.getI32Type()) : list.element;
    buffer = program.addBuffer(name, space, flat);
    program.addOutput(loc, leaf, buffer, depth, /*kept=*/list.ends());
  }
  structure.claim(loc, list.length, space);
  structure.loop(loc, list.length, [&](Value j) {
    RowContext inner{space, kernel::CountOp::create(b, loc, b.getI32Type(), space->name)};
    stages.column(space, at.row, "parent");
    stages.keepElement(loc, space, list, j);
    if (buffer.empty())
      returnList(loc, leaf, lists.element(list, j).list, inner, depth + 1);
    else
      stages.write(loc, Value(), lists.element(list, j), buffer, inner);
    stages.push(inner);
  });
}

} // namespace dbc::passes
