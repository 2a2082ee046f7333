// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/Flatten.h"
#include "ir/Dyn/Numbers.h"
#include "ir/Dyn/Recursion.h"
#include "passes/lower/FlattenWalk.h"

using namespace mlir;

namespace dbc::passes {

LogicalResult Flattening::run() {
  findCells();
  inputs = program.addIndexSet(entry.getLoc(), "input", kernel::IndexSetKind::Inputs, nullptr);
  inputs->addArray(kernel::kInputArray.str());
  for (auto relation : entry->getParentOfType<ModuleOp>().getOps<dyn::RelationOp>())
    program.keepName(relation.getSymName());
  for (auto &group : groups) {
    std::string symbol = program.unique(group.front().str() + ".group");
    for (auto [i, name] : llvm::enumerate(group)) {
      cells[name].group = symbol;
      cells[name].number = i;
    }
  }
  for (auto relation : entry->getParentOfType<ModuleOp>().getOps<dyn::RelationOp>())
    if (auto to = cells.find(relation.getToAttr().getAttr()); to != cells.end())
      program.declareRelation(relation, to->second);
  for (auto &[name, cell] : cells)
    declareCell(cell);
  writeCalls();
  if (failed)
    return failure();
  for (auto &group : groups)
    declareGroup(group);
  writeIndex();
  if (failed)
    return failure();
  program.declareIndexSets();
  return success();
}

void Flattening::findCells() {
  auto cellOf = [&](StringAttr name) { return symbols.lookup<dyn::CellOp>(name); };
  for (auto &recursion : dyn::recursions(entry, cellOf)) {
    groups.emplace_back();
    for (dyn::CellOp cell : recursion) {
      groups.back().push_back(cell.getSymNameAttr());
      cells[cell.getSymNameAttr()].op = cell;
    }
  }
}

/// The name of each flat component of a surface type, "" for a plain value: h, c for a State.
static void componentNames(Type surface, const std::string &prefix, SmallVectorImpl<std::string> &names) {
  auto join = [&](StringRef name) { return prefix.empty() ? name.str() : prefix + "." + name.str(); };
  if (auto record = dyn_cast<dyn::RecordType>(surface)) {
    for (auto [name, type] : llvm::zip(record.getNames(), record.getTypes()))
      componentNames(type, join(cast<StringAttr>(name).getValue()), names);
  } else if (auto tuple = dyn_cast<TupleType>(surface)) {
    for (auto [i, type] : llvm::enumerate(tuple.getTypes()))
      componentNames(type, join(std::to_string(i)), names);
  } else if (auto list = dyn_cast<dyn::ListType>(surface)) {
    componentNames(list.getElement(), prefix, names);
  } else {
    names.push_back(prefix.empty() ? "value" : prefix);
  }
}

void Flattening::declareCell(CellInfo &cell) {
  StringRef name = cell.op.getSymName();
  cell.indexSet = program.addIndexSet(cell.op.getLoc(), name, kernel::IndexSetKind::Instances, nullptr);
  cell.indexSet->sites = cell.op.getSitesAttr();
  cell.indexSet->addArray((dyn::startsWithNode(cell.op) ? kernel::kNodeArray : kernel::kInputArray).str());
  for (BlockArgument key : dyn::secondaryKeys(cell.op)) {
    std::string name = dyn::sourceName(key.getLoc());
    while (name.empty() || cell.indexSet->numbers.count(name))
      name += name.empty() ? "key" : "_";
    cell.indexSet->addArray(name);
  }
  cell.indexSet->given = cell.indexSet->arrays.size();
  cell.indexSet->group = cell.group;
  cell.indexSet->cell = cell.number;
  SmallVector<std::string> names;
  componentNames(cell.op.getSurface(), "", names);
  cell.lists.resize(names.size());
  cell.firsts.resize(names.size());
  cell.lengths.resize(names.size());
  for (auto [component, type] : llvm::zip(names, cell.op.getResults())) {
    Type flat = cast<TypeAttr>(type).getValue();
    cell.results.push_back(isa<dyn::ListType>(flat)
                               ? std::string()
                               : program.addBuffer((name + "." + component).str(), cell.indexSet, flat));
  }
}

/// A function that runs for inputs, or for the instances of a cell.
kernel::FuncOp Flattening::addFunction(kernel::FuncKind kind, const std::string &name, IndexSetInfo *indexSet,
                                       dyn::CellOp cell) {
  kernel::FuncOp func = program.addFunction(kind, name, indexSet);
  Builder b(entry.getContext());
  auto add = [&](StringRef name, BlockArgument key = {}) {
    Location loc = NameLoc::get(b.getStringAttr(name));
    auto number = key ? dyn::numberOf(key.getLoc()) : std::nullopt;
    func.getBody().addArgument(b.getI32Type(), number ? dyn::numbered(loc, *number) : loc);
  };
  if (kind == kernel::FuncKind::Index)
    add("row");
  std::string owner = "input";
  BlockArgument node;
  if (cell && dyn::startsWithNode(cell)) {
    node = cell.getBody().getArgument(0);
    owner = dyn::sourceName(node.getLoc());
  }
  add(owner.empty() ? "node" : owner, node);
  if (cell)
    for (BlockArgument key : dyn::secondaryKeys(cell)) {
      std::string name = dyn::sourceName(key.getLoc());
      add(name.empty() ? "key" : name, key);
    }
  return func;
}

void Flattening::walk(kernel::FuncOp func, Operation *owner, IndexSetInfo *indexSet) {
  failed |= mlir::failed(Walk(program, cells, func, owner, indexSet).run());
}

void Flattening::writeCalls() {
  for (auto &[name, cell] : cells)
    if (!dyn::secondaryKeys(cell.op).empty()) {
      auto func = addFunction(kernel::FuncKind::Slot, "slot." + name.str(), nullptr, cell.op);
      cell.slot = func.getSymName();
      walk(func, cell.op, nullptr);
    }
  for (auto &[name, cell] : cells) {
    auto func = addFunction(kernel::FuncKind::Calls, "calls." + name.str(), nullptr, cell.op);
    walk(func, cell.op, nullptr);
    callsOf[cell.group].push_back(FlatSymbolRefAttr::get(func.getSymNameAttr()));
  }
  auto roots = addFunction(kernel::FuncKind::Roots, "roots", nullptr, {});
  walk(roots, entry, nullptr);
  kernel::StartOp::create(program.schedule(), entry.getLoc(), roots.getSymName());
}

/// A group is sorted when all instances are known that it is called for.
void Flattening::declareGroup(ArrayRef<StringAttr> group) {
  OpBuilder &declare = program.declarations();
  SmallVector<StringRef> cellNames;
  SmallVector<Attribute> datas, keys;
  SmallVector<dyn::CellOp> ops;
  bool further = false;
  for (StringAttr name : group) {
    dyn::CellOp cell = ops.emplace_back(cells[name].op);
    cellNames.push_back(cell.getSourceName().value_or(name.getValue()));
    datas.push_back(dyn::startsWithNode(cell)
                        ? Attribute(cast<dyn::NodeType>(cell.getBody().getArgument(0).getType()).getData())
                        : declare.getUnitAttr());
    ArrayRef<std::string> arrays = cells[name].indexSet->arrays;
    SmallVector<StringRef> names(arrays.slice(1, cells[name].indexSet->given - 1));
    if (std::optional<ArrayRef<int64_t>> frame = cell.getFrame()) // not the source's: without names
      for (int64_t k = 0; k < (*frame)[1]; ++k)
        if (int64_t number = (*frame)[0] + k - dyn::startsWithNode(cell); number >= 0)
          names[number] = "";
    keys.push_back(declare.getStrArrayAttr(names));
    further |= cells[name].indexSet->given > 1;
  }
  StringRef symbol = cells[group[0]].group;
  auto cellOf = [&](StringAttr name) { return cells[name].op; };
  kernel::GroupOp::create(declare, entry.getLoc(), symbol, declare.getStrArrayAttr(cellNames),
                          declare.getArrayAttr(datas), further ? declare.getArrayAttr(keys) : ArrayAttr(),
                          declare.getArrayAttr(callsOf[symbol]), dyn::isOfFields(ops, cellOf),
                          /*level_key=*/IntegerAttr());
  kernel::SortOp::create(program.schedule(), entry.getLoc(), symbol);
}

/// Callees first, so that a caller knows where a callee's lists lie.
void Flattening::writeIndex() {
  auto index = [&](const std::string &name, Operation *owner, IndexSetInfo *indexSet, dyn::CellOp cell) {
    auto func = addFunction(kernel::FuncKind::Index, name, indexSet, cell);
    walk(func, owner, indexSet);
    kernel::IndexOp::create(program.schedule(), entry.getLoc(), func.getSymName());
  };
  for (auto &[name, cell] : cells)
    index("index." + name.str(), cell.op, cell.indexSet, cell.op);
  index("index", entry, inputs, {});
}

} // namespace dbc::passes
