// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The frame of a batch program: its cells and their groups, spaces, arrays, and the order of scheduling.
#include "passes/lower/Flatten.h"
#include "ir/Dyn/Numbers.h"
#include "ir/Dyn/Recursion.h"
#include "passes/lower/FlattenWalk.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace dbc::passes {

int Flattening::columnOf(dyn::DataOp data, StringRef ctor, StringRef field) {
  auto [at, isNew] = fieldColumns.try_emplace(data);
  if (isNew)
    for (auto [op, numbers] : llvm::zip(data.getCtors(), dyn::columnNumbers(data)))
      for (auto [name, number] : llvm::zip(op.getFields(), numbers)) {
        StringRef text = cast<StringAttr>(name).getValue();
        at->second.try_emplace((op.getName() + "/" + text).str(), number);
        at->second.try_emplace(("/" + text).str(), number); // of the first constructor that has it
      }
  return at->second.at((ctor + "/" + field).str());
}

void SpaceInfo::addColumn(std::string name) {
  auto [taken, isNew] = numbers.try_emplace(name, 1);
  if (!isNew) {
    std::string base = name;
    int &number = taken->second;
    do
      name = base + std::to_string(++number);
    while (!numbers.try_emplace(name, 1).second);
  }
  columns.push_back(std::move(name));
}

Flattening::Flattening(ModuleOp module, const SymbolTable &symbols, dyn::EntryOp entry)
    : module(module), symbols(symbols), entry(entry), context(module.getContext()), declare(context),
      stages(context) {
  for (auto [name, surface] : llvm::zip(entry.getArgNames(), entry.getArgTypes())) {
    SmallVector<Type> flat;
    dyn::flatten(cast<TypeAttr>(surface).getValue(), flat);
    std::string label = cast<StringAttr>(name).getValue().str();
    for (unsigned leaf = 0; leaf < flat.size(); ++leaf)
      argumentNames.push_back(flat.size() > 1 ? label + "." + std::to_string(leaf) : label);
  }
}

std::string Flattening::unique(StringRef name) {
  // What a program declares hides a parameter of that name, which its stages may read, and a data type, which
  // a relation may lead to.
  auto [at, isNew] = names.try_emplace(name, 0);
  if (isNew)
    at->second = isa_and_nonnull<dyn::ParamOp, dyn::DataOp>(symbols.lookup(name)) ? 1 : 0;
  int n = at->second++;
  std::string result = n ? (name + "." + Twine(n + 1)).str() : name.str();
  if (n)
    return unique(result);
  return result;
}

SpaceInfo *Flattening::addSpace(Location loc, StringRef name, kernel::SpaceKind kind, SpaceInfo *parent) {
  return &spaces.emplace_back(unique(name), kind, loc, parent);
}

std::string Flattening::addBuffer(StringRef name, SpaceInfo *space, Type type) {
  std::string symbol = unique(name);
  declared[symbol] = batch::BufferOp::create(declare, entry.getLoc(), symbol, space->name, type,
                                             /*slot=*/IntegerAttr(), /*live=*/IntegerAttr());
  bufferSpace[symbol] = space;
  return symbol;
}

static std::string nameOf(FlatSymbolRefAttr rows) { return rows ? rows.getValue().str() : ""; }

FlatSymbolRefAttr Flattening::relation(Location loc, StringRef from, StringRef column, StringRef array) {
  FlatSymbolRefAttr to = batch::rowsOf(declared.lookup(array));
  FlatSymbolRefAttr &known = relations[(from + "/" + column + "/" + nameOf(to)).str()];
  if (!known)
    known = FlatSymbolRefAttr::get(
        batch::RelationOp::create(declare, loc,
                                  declare.getStringAttr(unique(("rel." + from + "." + column).str())),
                                  FlatSymbolRefAttr::get(context, from), to, declare.getStringAttr(column),
                                  batch::MultiplicityAttr())
            .getOperation());
  return known;
}

FlatSymbolRefAttr Flattening::listRelation(Location loc, StringRef from, StringRef first, StringRef length,
                                           int stride, FlatSymbolRefAttr to) {
  FlatSymbolRefAttr &known =
      relations[(from + "/" + first + "/" + length + "/" + Twine(stride) + "/" + nameOf(to)).str()];
  if (!known)
    known = FlatSymbolRefAttr::get(
        batch::ListRelationOp::create(declare, loc,
                                      declare.getStringAttr(unique(("list." + from + "." + first).str())),
                                      FlatSymbolRefAttr::get(context, from), to, declare.getStringAttr(first),
                                      declare.getStringAttr(length), declare.getI32IntegerAttr(stride))
            .getOperation());
  return known;
}

dyn::DataOp Flattening::dataOf(Type node) {
  return symbols.lookup<dyn::DataOp>(cast<dyn::NodeType>(node).getData().getAttr());
}

static Type scalarElement(Type type) {
  while (auto list = dyn_cast<dyn::ListType>(type))
    type = list.getElement();
  if (isa<dyn::NodeType>(type))
    return IntegerType::get(type.getContext(), 32);
  return type;
}

static StringRef partName(kernel::FieldPart part) {
  return part == kernel::FieldPart::Value   ? ""
         : part == kernel::FieldPart::Begin ? ".begin"
         : part == kernel::FieldPart::End   ? ".end"
         : part == kernel::FieldPart::Items ? ".items"
                                            : ".kind";
}

/// ".begin", of the lists in lists ".begin2".
static std::string partName(kernel::FieldPart part, int level) {
  return partName(part).str() + (level ? std::to_string(level + 1) : "");
}

std::string Flattening::fieldArray(dyn::DataOp data, StringRef ctor, StringRef field, kernel::FieldPart part,
                                   Type type, int level) {
  int column = part == kernel::FieldPart::Kind ? -1 : columnOf(data, ctor, field);
  std::string key = (data.getSymName() + "/" + Twine(column) + partName(part, level)).str();
  auto [it, isNew] = arrays.try_emplace(key);
  if (isNew) {
    std::string base = data.getSymName().str();
    if (part != kernel::FieldPart::Kind)
      base += "." + field.str();
    it->second = unique(base + partName(part, level));
    Type element = scalarElement(type);
    if (isa<dyn::NodeType>(element) || part == kernel::FieldPart::Begin || part == kernel::FieldPart::End)
      element = declare.getI32Type();
    auto op = kernel::FieldOp::create(declare, entry.getLoc(), it->second, data.getSymName(), column,
                                      part == kernel::FieldPart::Kind ? "" : field, part, element,
                                      /*level=*/{}, /*in_cells=*/false);
    declared[it->second] = op;
    if (level)
      op.setLevel(level);
  }
  return it->second;
}

std::string Flattening::argumentArray(unsigned leaf, StringRef name, kernel::FieldPart part, Type type,
                                      int level) {
  std::string key = ("/arg/" + Twine(leaf) + partName(part, level)).str();
  auto [it, isNew] = arrays.try_emplace(key);
  if (isNew) {
    it->second = unique("arg." + name.str() + partName(part, level));
    Type element = scalarElement(type);
    if (isa<dyn::NodeType>(element) || part == kernel::FieldPart::Begin || part == kernel::FieldPart::End)
      element = declare.getI32Type();
    auto op = kernel::ArgumentOp::create(declare, entry.getLoc(), it->second, name, leaf, part, element,
                                         /*level=*/{});
    declared[it->second] = op;
    if (level)
      op.setLevel(level);
  }
  return it->second;
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
  auto join = [&](StringRef part) { return prefix.empty() ? part.str() : prefix + "." + part.str(); };
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

void Flattening::declareCell(Cell &cell) {
  StringRef name = cell.op.getSymName();
  cell.space = addSpace(cell.op.getLoc(), name, kernel::SpaceKind::Instances, nullptr);
  cell.space->addColumn(dyn::startsWithNode(cell.op) ? "node" : "input");
  for (BlockArgument key : dyn::furtherKeys(cell.op)) {
    std::string column = dyn::sourceName(key.getLoc());
    while (column.empty() || cell.space->numbers.count(column))
      column += column.empty() ? "key" : "_";
    cell.space->addColumn(column);
  }
  cell.space->given = cell.space->columns.size();
  cell.space->group = cell.group;
  cell.space->cell = cell.number;
  SmallVector<std::string> names;
  componentNames(cell.op.getSurface(), "", names);
  cell.lists.resize(names.size());
  cell.firsts.resize(names.size());
  cell.lengths.resize(names.size());
  for (auto [component, type] : llvm::zip(names, cell.op.getResults())) {
    Type flat = cast<TypeAttr>(type).getValue();
    cell.results.push_back(isa<dyn::ListType>(flat)
                               ? std::string()
                               : addBuffer((name + "." + component).str(), cell.space, flat));
  }
}

/// The instance's place, key by key.
void Flattening::placeFunction(Cell &cell, kernel::FuncOp func) {
  Walk walk(*this, func, cell.op, /*indexing=*/false, nullptr);
  walk.place(cell);
}

LogicalResult Flattening::run() {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = entry.getLoc();
  program = batch::ProgramOp::create(builder, loc, entry.getSymName(), entry.getArgNames(),
                                     entry.getArgTypes(), entry.getSurface(), entry.getLoss());
  Block *body = &program.getBody().emplaceBlock();
  // Declarations stand in front, then functions, then the schedule and the stages.
  auto marker = kernel::ScheduleOp::create(builder, loc);
  marker->remove();
  body->push_back(marker);
  Block *order = &marker.getBody().emplaceBlock();
  declare.setInsertionPoint(marker);
  stages.setInsertionPointToEnd(body);

  findCells();
  SpaceInfo *model = addSpace(loc, "model", kernel::SpaceKind::Model, nullptr);
  SpaceInfo *inputs = addSpace(loc, "input", kernel::SpaceKind::Inputs, nullptr);
  inputs->addColumn("input");
  for (auto [n, group] : llvm::enumerate(groups)) {
    std::string symbol = unique("group" + std::to_string(n));
    for (auto [i, name] : llvm::enumerate(group)) {
      cells[name].group = symbol;
      cells[name].number = i;
      declareCell(cells[name]);
    }
  }

  OpBuilder functions(context);
  functions.setInsertionPoint(marker);
  OpBuilder schedule = OpBuilder::atBlockEnd(order);
  // A function that runs for inputs, or for the instances of a cell.
  auto function = [&](kernel::FuncKind kind, const std::string &name, SpaceInfo *space, dyn::CellOp cell) {
    std::string symbol = unique(name);
    auto func = kernel::FuncOp::create(
        functions, loc, symbol, kind,
        space ? FlatSymbolRefAttr::get(context, space->name) : FlatSymbolRefAttr(), ArrayAttr());
    Block *block = &func.getBody().emplaceBlock();
    Type i32 = functions.getI32Type();
    auto add = [&](StringRef name, BlockArgument key = {}) {
      Location loc = NameLoc::get(functions.getStringAttr(name));
      auto number = key ? dyn::numberOf(key.getLoc()) : std::nullopt;
      block->addArgument(i32, number ? dyn::numbered(loc, *number) : loc);
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
      for (BlockArgument key : dyn::furtherKeys(cell)) {
        std::string name = dyn::sourceName(key.getLoc());
        add(name.empty() ? "key" : name, key);
      }
    return func;
  };

  // First walk: who calls whom.
  auto walkCalls = [&](Operation *op, Region &region, kernel::FuncOp func) {
    Walk walk(*this, func, op, /*indexing=*/false, nullptr);
    walk.run(region);
  };
  for (auto &[name, cell] : cells)
    if (!dyn::furtherKeys(cell.op).empty()) {
      auto func = function(kernel::FuncKind::Place, "place." + name.str(), nullptr, cell.op);
      cell.place = func.getSymName();
      placeFunction(cell, func);
    }
  llvm::StringMap<SmallVector<Attribute>> callsOf;
  for (auto &[name, cell] : cells) {
    auto func = function(kernel::FuncKind::Calls, "calls." + name.str(), nullptr, cell.op);
    walkCalls(cell.op, cell.op.getBody(), func);
    callsOf[cell.group].push_back(FlatSymbolRefAttr::get(func.getSymNameAttr()));
  }
  auto roots = function(kernel::FuncKind::Roots, "roots", nullptr, {});
  walkCalls(entry, entry.getBody(), roots);
  if (failed)
    return failure();
  kernel::StartOp::create(schedule, loc, roots.getSymName());
  auto cellOf = [&](StringAttr name) { return cells[name].op; };
  for (auto &group : groups) {
    SmallVector<StringRef> cellNames;
    SmallVector<Attribute> datas, keys;
    SmallVector<dyn::CellOp> ops;
    bool further = false;
    for (StringAttr name : group) {
      dyn::CellOp cell = ops.emplace_back(cells[name].op);
      cellNames.push_back(cell.getSourceName().value_or(name.getValue()));
      datas.push_back(dyn::startsWithNode(cell)
                          ? Attribute(cast<dyn::NodeType>(cell.getBody().getArgument(0).getType()).getData())
                          : UnitAttr::get(context));
      ArrayRef<std::string> columns = cells[name].space->columns;
      SmallVector<StringRef> names(columns.slice(1, cells[name].space->given - 1));
      if (std::optional<ArrayRef<int64_t>> frame = cell.getFrame()) // not the source's: without names
        for (int64_t k = 0; k < (*frame)[1]; ++k)
          if (int64_t number = (*frame)[0] + k - dyn::startsWithNode(cell); number >= 0)
            names[number] = "";
      keys.push_back(declare.getStrArrayAttr(names));
      further |= cells[name].space->given > 1;
    }
    StringRef symbol = cells[group[0]].group;
    kernel::GroupOp::create(declare, loc, symbol, declare.getStrArrayAttr(cellNames),
                            declare.getArrayAttr(datas), further ? declare.getArrayAttr(keys) : ArrayAttr(),
                            declare.getArrayAttr(callsOf[symbol]), dyn::isOfFields(ops, cellOf),
                            /*level_key=*/IntegerAttr());
    kernel::SortOp::create(schedule, loc, symbol);
  }

  // Second walk: rows and stages. Callees first, so that a caller knows where a callee's lists lie.
  auto walkIndex = [&](Operation *op, Region &region, SpaceInfo *space, kernel::FuncOp func) {
    Walk walk(*this, func, op, /*indexing=*/true, space);
    walk.run(region);
    kernel::IndexOp::create(schedule, loc, func.getSymName());
  };
  modelSpace = model;
  for (auto &[name, cell] : cells) {
    auto func = function(kernel::FuncKind::Index, "index." + name.str(), cell.space, cell.op);
    walkIndex(cell.op, cell.op.getBody(), cell.space, func);
  }
  auto func = function(kernel::FuncKind::Index, "index", inputs, {});
  walkIndex(entry, entry.getBody(), inputs, func);
  if (failed)
    return failure();

  // The spaces' declarations, now that all columns are known: first of all.
  OpBuilder front = OpBuilder::atBlockBegin(body);
  for (SpaceInfo &space : spaces) {
    if (!space.used && space.kind != kernel::SpaceKind::Inputs && space.kind != kernel::SpaceKind::Instances)
      continue;
    SmallVector<StringRef> columns(space.columns.begin(), space.columns.end());
    kernel::SpaceOp::create(
        front, space.loc, space.name, space.kind,
        space.parent ? FlatSymbolRefAttr::get(context, space.parent->name) : FlatSymbolRefAttr(),
        front.getStrArrayAttr(columns),
        space.group.empty() ? FlatSymbolRefAttr() : FlatSymbolRefAttr::get(context, space.group),
        space.group.empty() ? IntegerAttr() : front.getI32IntegerAttr(space.cell),
        /*ticked=*/false, /*steps_of=*/FlatSymbolRefAttr(), /*kept=*/!space.alive.empty(),
        /*extent=*/IntegerAttr());
  }
  return success();
}

} // namespace dbc::passes
