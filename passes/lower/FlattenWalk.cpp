// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Structure: fields, calls, matches and what a function returns. Lists are in FlattenLists.cpp, scans in
// FlattenScans.cpp, stages in FlattenStages.cpp.
#include "passes/lower/FlattenWalk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dbc::passes {

Walk::Walk(ProgramWriter &program, CellMap &cells, kernel::FuncOp func, Operation *owner, SpaceInfo *space)
    : program(program), cells(cells), func(func), owner(owner),
      indexing(func.getKind() == kernel::FuncKind::Index), b(func.getContext()) {
  Block &body = func.getBody().front();
  b.setInsertionPointToEnd(&body);
  if (indexing) {
    top.space = space;
    top.row = body.getArgument(0);
    for (auto [column, argument] : llvm::enumerate(body.getArguments().drop_front())) {
      space->values.push_back(argument);
      space->columnOf[argument] = column;
    }
  }
}

LogicalResult Walk::run() {
  auto cell = dyn_cast<dyn::CellOp>(owner);
  if (func.getKind() == kernel::FuncKind::Place) {
    place(cells[cell.getSymNameAttr()]);
    return failure(failed);
  }
  Region &region = owner->getRegion(0);
  auto arguments = func.getBody().getArguments().drop_front(indexing ? 1 : 0);
  Value key = arguments[0];
  if (cell) {
    bindKeys(cell, region.front(), SmallVector<Value>(arguments));
    // Instances of a node's one key are no more than the input has nodes.
    if (!indexing && !dyn::furtherKeys(cell).empty())
      claim(cell.getLoc(), integer(1), cells[cell.getSymNameAttr()].space);
  } else {
    for (BlockArgument argument : region.getArguments())
      if (!argument.use_empty())
        set(argument, this->argument(argument.getLoc(), argument.getType(), argument.getArgNumber(), key));
  }
  block(region.front(), top);
  if (indexing)
    push(top);
  return failure(failed);
}

/// A flat argument of the entry.
AbstractValue Walk::argument(Location loc, Type type, unsigned leaf, Value input) {
  return fromArray(loc, type, input, [&](kernel::FieldPart part, int level) {
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
      number = arith::CmpIOp::create(b, argument.getLoc(), arith::CmpIPredicate::ne, number, integer(0));
    set(argument, AbstractValue::structural(number));
  }
}

void Walk::place(CellInfo &cell) {
  auto arguments = SmallVector<Value>(func.getBody().getArguments());
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
    block(range, top);
    SmallVector<Value> bounds;
    for (Value bound : range.getTerminator()->getOperands())
      bounds.push_back(structural(bound));
    kernel::YieldOp::create(b, key.getLoc(), bounds);
  }
  kernel::YieldOp::create(b, cell.op.getLoc(), place);
}

/// A value that the batch holds: a field of node `row`, or an argument of input `row`.
AbstractValue Walk::fromArray(Location loc, Type type, Value row, ArrayOf array) {
  using kernel::FieldPart;
  if (auto list = dyn_cast<dyn::ListType>(type)) {
    std::string begin = array(FieldPart::Begin, 0), end = array(FieldPart::End, 0);
    kernel::RequireOp::create(b, loc, begin, row, dyn::sourcePlace(loc));
    ListInfo info = storedList(list, 0, array);
    Type i32 = b.getI32Type();
    info.first = kernel::LoadOp::create(b, loc, i32, begin, StringAttr(), row);
    Value last = kernel::LoadOp::create(b, loc, i32, end, StringAttr(), row);
    info.length = sub(last, info.first);
    return AbstractValue::of(info);
  }
  std::string symbol = array(FieldPart::Value, 0);
  kernel::RequireOp::create(b, loc, symbol, row, dyn::sourcePlace(loc));
  if (isa<dyn::NodeType>(type) || type.isInteger(32) || type.isInteger(1)) {
    Type loaded = type.isInteger(1) ? Type(b.getI1Type()) : Type(b.getI32Type());
    return AbstractValue::structural(kernel::LoadOp::create(b, loc, loaded, symbol, StringAttr(), row));
  }
  return AbstractValue::stored(symbol, row);
}

/// What the elements of a list in the batch are; its bounds are not set.
ListInfo Walk::storedList(dyn::ListType type, int level, ArrayOf array) {
  ListInfo info;
  info.element = type.getElement();
  if (auto inner = dyn_cast<dyn::ListType>(info.element)) {
    info.from = From::Lists;
    info.firsts = array(kernel::FieldPart::Begin, level + 1);
    info.lastEnds = array(kernel::FieldPart::End, level + 1);
    info.inner = std::make_shared<ListInfo>(storedList(inner, level + 1, array));
    return info;
  }
  info.array = array(kernel::FieldPart::Items, 0);
  bool integer = isa<dyn::NodeType>(info.element) || info.element.isInteger(32) || info.element.isInteger(1);
  info.from = integer ? From::Items : From::Rows;
  return info;
}

void Walk::block(Block &block, RowContext at) {
  for (Operation &each : block)
    op(&each, at);
}

void Walk::op(Operation *op, RowContext at) {
  if (auto field = dyn_cast<dyn::FieldOp>(op))
    return this->field(field, at);
  if (auto argument = dyn_cast<dyn::ArgumentOp>(op)) {
    Value input = kernel::InputOp::create(b, op->getLoc(), b.getI32Type());
    return set(argument.getResult(),
               this->argument(op->getLoc(), argument.getType(), argument.getLeaf(), input));
  }
  if (auto barrier = dyn_cast<dyn::OptimizationBarrierOp>(op))
    return set(barrier.getResult(), known(barrier.getValue()));
  if (auto site = dyn_cast<dyn::SiteOp>(op))
    return this->site(site);
  if (auto caller = dyn_cast<dyn::CallerOp>(op))
    return this->caller(caller);
  if (auto call = dyn_cast<dyn::CallOp>(op))
    return this->call(call, at);
  if (auto match = dyn_cast<dyn::MatchOp>(op))
    return this->match(match, at);
  if (auto cond = dyn_cast<dyn::IfOp>(op)) {
    Value condition = structural(cond.getCondition());
    return branch(
        op, {&cond.getThen(), &cond.getOtherwise()}, {"then", "else"}, [&](unsigned) { return condition; },
        at);
  }
  if (auto map = dyn_cast<dyn::MapOp>(op))
    return this->map(map, at);
  if (auto filter = dyn_cast<dyn::FilterOp>(op))
    return this->filter(filter, at);
  if (auto scan = dyn_cast<dyn::ScanOp>(op))
    return recurrence(op, scan.getLists(), scan.getInit(), scan.getBody().front(), scan.getBack(),
                      scan.getStops(), at);
  if (auto fold = dyn_cast<dyn::FoldOp>(op))
    return recurrence(op, fold.getLists(), fold.getInit(), fold.getBody().front(), false, fold.getStops(),
                      at);
  if (auto reduce = dyn_cast<dyn::ReduceListOp>(op))
    return reduceList(reduce, at);
  if (isa<dyn::ReturnOp>(op))
    return indexing ? returned(op, at) : void();
  if (isa<dyn::YieldOp, dyn::NeedOp>(op))
    return;
  if (isa<dyn::NodesOp, dyn::EmptyOp, dyn::RangeOp, dyn::LenOp, dyn::ZipOp, dyn::ReverseOp, dyn::SliceOp,
          dyn::AtOp>(op))
    return listOp(op, at);
  if (structuralOp(op, at))
    return;
  computed(op, at);
}

void Walk::field(dyn::FieldOp op, RowContext at) {
  dyn::DataOp data = program.dataOf(op.getNode().getType());
  StringRef ctor = op.getCtor().value_or("");
  set(op.getResult(),
      fromArray(op.getLoc(), op.getType(), structural(op.getNode()), [&](kernel::FieldPart part, int level) {
        return program.fieldArray(data, ctor, op.getName(), part, op.getType(), level,
                                  /*inCells=*/isa<dyn::CellOp>(owner));
      }));
}

Value Walk::placeIn(CellInfo &cell, Location loc, ValueRange keys) {
  if (keys.empty())
    return kernel::InputOp::create(b, loc, b.getI32Type());
  if (cell.place.empty())
    return structural(keys[0]);
  SmallVector<Value> numbers;
  for (Value key : keys)
    numbers.push_back(asColumn(structural(key)));
  return kernel::PlaceOp::create(b, loc, b.getI32Type(), cell.place, numbers, dyn::sourcePlace(loc));
}

/// Which call led to an instance of a cell whose values change.
void Walk::site(dyn::SiteOp op) {
  CellInfo &cell = cells[op.getCellAttr().getAttr()];
  Value place = placeIn(cell, op.getLoc(), op.getKeys());
  set(op.getResult(), AbstractValue::structural(kernel::OriginOp::create(b, op.getLoc(), b.getI32Type(),
                                                                         cell.group, cell.number, place, 0)));
}

void Walk::caller(dyn::CallerOp op) {
  Location loc = op.getLoc();
  CellInfo &cell = cells[op.getCellAttr().getAttr()];
  Value place = placeIn(cell, loc, op.getKeys());
  for (auto [n, result] : llvm::enumerate(op.getResults())) {
    Value number = kernel::OriginOp::create(b, loc, b.getI32Type(), cell.group, cell.number, place, 1 + n);
    if (result.getType().isInteger(1))
      number = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, number, integer(0));
    set(result, AbstractValue::structural(number));
  }
}

/// In the walk that writes calls: how long the lists are that a call gives is structure. The callee says,
/// which is no recursive cell (LANGUAGE C6): of its body only that is walked which lengths depend on.
void Walk::calledLists(dyn::CallOp op, RowContext at) {
  Block &body = cells[op.getCalleeAttr().getAttr()].op.getBody().front();
  llvm::DenseSet<Operation *> walked; // for these keys
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    if (!isa<dyn::ListType>(result.getType())) {
      set(result, AbstractValue());
      continue;
    }
    // Not of a cell without lists: it may be the one that is being walked.
    for (auto [argument, key] : llvm::zip(body.getArguments(), op.getKeys()))
      set(argument, AbstractValue::structural(structural(key)));
    set(result, AbstractValue::of(lengthsIn(body.getTerminator()->getOperand(k), at, walked)));
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
  ListInfo info = known(list).list;
  if (info.from != From::Lists) { // of its elements only the length counts
    info.from = From::Rows;
    info.first = integer(0);
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
  this->op(op, at);
}

void Walk::call(dyn::CallOp op, RowContext at) {
  CellInfo &cell = cells[op.getCalleeAttr().getAttr()];
  if (op.getEvery() && (indexing || func.getKind() == kernel::FuncKind::Place)) // it is called elsewhere
    return every(op, cell);
  Value place = placeIn(cell, op.getLoc(), op.getKeys());
  if (!indexing) {
    SmallVector<Value> origin;
    for (Value number : op.getOrigin())
      origin.push_back(asColumn(structural(number)));
    kernel::CallOp::create(b, op.getLoc(), cell.group, cell.number, place, op.getSiteAttr(), origin,
                           op.getSite() ? b.getStringAttr(dyn::sourcePlace(cell.op.getLoc())) : StringAttr());
    return op.getEvery() ? every(op, cell) : calledLists(op, at);
  }
  // The relation: the callee's row for each row here.
  Value row = kernel::RowOfOp::create(b, op.getLoc(), cell.space->name, place);
  std::string carried;
  if (auto mine = dyn_cast<dyn::CellOp>(owner))
    if (cells[mine.getSymNameAttr()].group == cell.group)
      carried = cell.group;
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    if (!isa<dyn::ListType>(result.getType())) {
      set(result, AbstractValue::stored(cell.results[k], row, carried));
      continue;
    }
    ListInfo info = cell.lists[k];
    Type i32 = b.getI32Type();
    info.first =
        kernel::LoadOp::create(b, op.getLoc(), i32, cell.space->name, b.getStringAttr(cell.firsts[k]), row);
    info.length =
        kernel::LoadOp::create(b, op.getLoc(), i32, cell.space->name, b.getStringAttr(cell.lengths[k]), row);
    set(result, AbstractValue::of(info));
  }
}

/// The nodes that can be reached from the call's own and for which the cell is called with its further keys.
void Walk::every(dyn::CallOp op, CellInfo &cell) {
  Location loc = op.getLoc();
  auto node = cast<dyn::NodeType>(op.getKeys()[0].getType());
  ListInfo reached = this->reached(loc, node, structural(op.getKeys()[0])), called;
  SpaceInfo *space =
      program.addSpace(loc, cell.op.getSymName().str() + ".every", kernel::SpaceKind::States, nullptr);
  space->addColumn("node");
  space->used = true;
  SmallVector<Value> keys;
  for (Value key : op.getKeys())
    keys.push_back(asColumn(structural(key)));
  called = reached;
  called.of = space->name;
  called.first = kernel::CountOp::create(b, loc, b.getI32Type(), space->name);
  claim(loc, reached.length, space);
  loop(loc, reached.length, [&](Value j) {
    keys[0] = element(reached, j).scalar;
    Value is = kernel::CalledOp::create(b, loc, b.getI1Type(), cell.group, cell.number, keys);
    auto cond = kernel::IfOp::create(b, loc, TypeRange(), is);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&cond.getThen().emplaceBlock());
    kernel::PushOp::create(b, loc, space->name, keys[0]);
    kernel::YieldOp::create(b, loc, ValueRange());
    b.setInsertionPointToEnd(&cond.getOtherwise().emplaceBlock());
    kernel::YieldOp::create(b, loc, ValueRange());
  });
  called.length = sub(kernel::CountOp::create(b, loc, b.getI32Type(), space->name), called.first);
  set(op.getResult(0), AbstractValue::of(called));
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
  Value node = structural(op.getNode());
  std::string kinds =
      program.fieldArray(data, "", "", kernel::FieldPart::Kind, b.getI32Type(), 0, /*inCells=*/false);
  Value kind = kernel::LoadOp::create(b, op.getLoc(), b.getI32Type(), kinds, StringAttr(), node);
  branch(
      op, regions, names,
      [&](unsigned n) -> Value {
        StringRef ctor = cast<StringAttr>(op.getCtors()[n]).getValue();
        return arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, kind,
                                     integer(numbers.at(ctor)));
      },
      at);
}

/// A match with one arm: its region is simply computed.
void Walk::only(Operation *op, Region &region, RowContext at) {
  block(region.front(), at);
  for (auto [result, value] : llvm::zip(op->getResults(), region.front().getTerminator()->getOperands()))
    set(result, known(value));
}

/// Match and if: each arm is a space of its own in the space outside. Integer results come out of the
/// structure function's own branch, computed ones go to a buffer of the space outside.
void Walk::branch(Operation *op, ArrayRef<Region *> regions, ArrayRef<std::string> names,
                  function_ref<Value(unsigned)> isArm, RowContext at) {
  std::vector<std::string> buffers(op->getNumResults());
  for (auto [buffer, result] : llvm::zip(buffers, op->getResults()))
    if (indexing && dyn::isNumber(result.getType()) &&
        !allStructural(regions, cast<OpResult>(result).getResultNumber())) {
      buffer = program.addBuffer(label(op, at), at.space, result.getType());
      own[buffer] = true;
    }
  std::vector<Arm> arms;
  kernel::IfOp cond = walkArms(op, regions, names, isArm, buffers, at, arms);
  for (auto [k, result] : llvm::enumerate(op->getResults()))
    if (isa<dyn::ListType>(result.getType()))
      joinLists(op, k, arms, at);
  if (indexing)
    for (Arm &arm : arms) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(arm.block);
      push(arm.at);
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
      set(result, AbstractValue::stored(buffers[k], at.row));
    else if (places[k].scalar >= 0)
      set(result, AbstractValue::structural(outs[places[k].scalar]));
    else if (places[k].first >= 0) {
      ListInfo info = arms[0].yields[k].list;
      info.first = outs[places[k].first];
      info.length = outs[places[k].length];
      set(result, AbstractValue::of(info));
    } else
      set(result, AbstractValue());
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
      regions, [&](Region *r) { return isStructural(r->front().getTerminator()->getOperand(result)); });
}

/// Also of values whose region is not walked yet.
bool Walk::isStructural(Value value) {
  auto list = dyn_cast<dyn::ListType>(value.getType());
  if (isa<dyn::NodeType>(list ? list.getElement() : value.getType()))
    return true;
  if (auto it = env.find(value); it != env.end())
    return it->second.is(Kind::Structural) || (it->second.is(Kind::List) && it->second.list.isStructural()) ||
           isOfConstants(it->second);
  return dyn::isStructural(value);
}

/// Writes the chain of branches; the last arm is the innermost `else`.
kernel::IfOp Walk::walkArms(Operation *op, ArrayRef<Region *> regions, ArrayRef<std::string> names,
                            function_ref<Value(unsigned)> isArm, ArrayRef<std::string> buffers, RowContext at,
                            std::vector<Arm> &arms) {
  auto walkArm = [&](Block &block) {
    unsigned n = arms.size();
    Arm arm{at, &block, {}};
    if (indexing) {
      arm.at.space =
          program.addSpace(op->getLoc(), at.space->name + "." + names[n], kernel::SpaceKind::Arm, at.space);
      arm.at.row = kernel::CountOp::create(b, op->getLoc(), b.getI32Type(), arm.at.space->name);
      column(arm.at.space, at.row, "parent");
      arm.at.space->used = false;
    }
    Block &source = regions[n]->front();
    this->block(source, arm.at);
    for (auto [r, value] : llvm::enumerate(source.getTerminator()->getOperands())) {
      AbstractValue result = known(value);
      if (!buffers[r].empty())
        write(op->getLoc(), value, result, buffers[r], arm.at, at.row);
      else if (result.is(Kind::Model) && isStructural(value))
        result = AbstractValue::structural(structural(value));
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
  auto cell = dyn_cast<dyn::CellOp>(owner);
  llvm::StringMap<std::string> renamed;
  llvm::StringSet<> inLists; // buffers that keep their names
  for (Value value : op->getOperands())
    if (AbstractValue result = known(value); result.is(Kind::List))
      inLists.insert(result.list.leaf().array);
  for (auto [k, value] : llvm::enumerate(op->getOperands())) {
    AbstractValue result = known(value);
    if (result.is(Kind::List)) {
      if (cell) {
        CellInfo &mine = cells[cell.getSymNameAttr()];
        mine.lists[k] = result.list;
        mine.firsts[k] = column(at.space, result.list.first, "first");
        mine.lengths[k] = column(at.space, result.list.length, "length");
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
      if (own.lookup(result.array) && !inLists.contains(result.array) && result.scalar == at.row &&
          program.spaceOf(result.array) == at.space) {
        program.removeBuffer(result.array);
        own[result.array] = false;
        renamed[result.array] = target;
        continue;
      }
    }
    write(op->getLoc(), value, result, target, at);
  }
  rename(renamed);
}

void Walk::rename(const llvm::StringMap<std::string> &names) {
  if (names.empty())
    return;
  llvm::DenseMap<Attribute, Attribute> symbols;
  for (const auto &[from, to] : names)
    symbols[program.symbol(from)] = program.symbol(to);
  auto renameIn = [&](Operation *op) {
    for (NamedAttribute attr : llvm::to_vector(op->getAttrs()))
      if (Attribute to = symbols.lookup(attr.getValue()))
        op->setAttr(attr.getName(), to);
  };
  func.walk(renameIn);
  for (batch::StageOp stage : made)
    stage.walk(renameIn);
}

} // namespace dbc::passes
