// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenProgram.h"

using namespace mlir;

namespace dbc::passes {

ProgramWriter::ProgramWriter(ModuleOp module, const SymbolTable &symbols, dyn::EntryOp entry)
    : symbols(symbols), entry(entry), context(module.getContext()), declare(context), order(context),
      stages(context) {
  for (auto [name, surface] : llvm::zip(entry.getArgNames(), entry.getArgTypes())) {
    SmallVector<Type> flat;
    dyn::flatten(cast<TypeAttr>(surface).getValue(), flat);
    std::string label = cast<StringAttr>(name).getValue().str();
    for (unsigned leaf = 0; leaf < flat.size(); ++leaf)
      argumentNames.push_back(flat.size() > 1 ? label + "." + std::to_string(leaf) : label);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  program = batch::ProgramOp::create(builder, loc(), entry.getSymName(), entry.getArgNames(),
                                     entry.getArgTypes(), entry.getSurface(), entry.getLoss());
  // Declarations and functions stand in front, then the schedule and the stages.
  stages.setInsertionPointToEnd(&program.getBody().emplaceBlock());
  auto schedule = kernel::ScheduleOp::create(stages, loc());
  order.setInsertionPointToEnd(&schedule.getBody().emplaceBlock());
  declare.setInsertionPoint(schedule);
  addSpace(loc(), "model", kernel::SpaceKind::Model, nullptr);
}

std::string ProgramWriter::unique(StringRef name) {
  // What a program declares hides a parameter of that name, which its stages may read, and a data type, which
  // a relation may lead to.
  auto [at, isNew] = names.try_emplace(name, 0);
  if (isNew)
    at->second = isa_and_nonnull<dyn::ParamOp, dyn::DataOp>(symbols.lookup(name)) ? 1 : 0;
  int n = at->second++;
  return n ? unique((name + "." + Twine(n + 1)).str()) : name.str();
}

FlatSymbolRefAttr ProgramWriter::symbol(StringRef name) {
  return name.empty() ? FlatSymbolRefAttr() : FlatSymbolRefAttr::get(context, name);
}

SpaceInfo *ProgramWriter::addSpace(Location loc, StringRef name, kernel::SpaceKind kind, SpaceInfo *parent) {
  return &spaces.emplace_back(unique(name), kind, loc, parent);
}

void ProgramWriter::declareSpaces() {
  OpBuilder front = OpBuilder::atBlockBegin(&program.getBody().front());
  for (SpaceInfo &space : spaces) {
    if (!space.used && space.kind != kernel::SpaceKind::Inputs && space.kind != kernel::SpaceKind::Instances)
      continue;
    SmallVector<StringRef> columns(space.columns.begin(), space.columns.end());
    kernel::SpaceOp::create(front, space.loc, space.name, space.kind,
                            symbol(space.parent ? space.parent->name : ""), front.getStrArrayAttr(columns),
                            symbol(space.group),
                            space.group.empty() ? IntegerAttr() : front.getI32IntegerAttr(space.cell),
                            /*ticked=*/false, /*steps_of=*/FlatSymbolRefAttr(), /*kept=*/!space.alive.empty(),
                            /*extent=*/IntegerAttr());
  }
}

std::string ProgramWriter::addBuffer(StringRef name, SpaceInfo *space, Type type) {
  std::string symbol = unique(name);
  declared[symbol] = batch::BufferOp::create(declare, loc(), symbol, space->name, type,
                                             /*slot=*/IntegerAttr(), /*live=*/IntegerAttr());
  bufferSpace[symbol] = space;
  return symbol;
}

void ProgramWriter::removeBuffer(StringRef name) {
  declared.lookup(name)->erase();
  declared.erase(name);
  bufferSpace.erase(name);
}

void ProgramWriter::addOutput(Location loc, unsigned leaf, StringRef buffer, unsigned depth, bool kept) {
  batch::OutputOp::create(declare, loc, leaf, buffer, depth, kept);
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

/// The type of a row of an array of a field or argument of type `type`.
static Type rowType(kernel::FieldPart part, Type type) {
  while (auto list = dyn_cast<dyn::ListType>(type))
    type = list.getElement();
  bool integer =
      isa<dyn::NodeType>(type) || part == kernel::FieldPart::Begin || part == kernel::FieldPart::End;
  return integer ? IntegerType::get(type.getContext(), 32) : type;
}

std::string ProgramWriter::fieldArray(dyn::DataOp data, StringRef ctor, StringRef field,
                                      kernel::FieldPart part, Type type, int level, bool inCells) {
  bool isKind = part == kernel::FieldPart::Kind;
  int column = isKind ? -1 : columnOf(data, ctor, field);
  std::string base = data.getSymName().str(), suffix = partName(part, level);
  auto [it, isNew] = arrays.try_emplace(base + "/" + std::to_string(column) + suffix);
  std::string &array = it->second;
  if (isNew) {
    array = unique((isKind ? base : base + "." + field.str()) + suffix);
    auto op = kernel::FieldOp::create(declare, loc(), array, base, column, isKind ? "" : field, part,
                                      rowType(part, type), /*level=*/{}, /*in_cells=*/false);
    if (level)
      op.setLevel(level);
    declared[array] = op;
  }
  if (inCells)
    cast<kernel::FieldOp>(declared.lookup(array)).setInCells(true);
  return array;
}

std::string ProgramWriter::argumentArray(unsigned leaf, kernel::FieldPart part, Type type, int level) {
  std::string name = argumentNames[leaf], suffix = partName(part, level);
  auto [it, isNew] = arrays.try_emplace("/arg/" + std::to_string(leaf) + suffix);
  std::string &array = it->second;
  if (isNew) {
    array = unique("arg." + name + suffix);
    auto op = kernel::ArgumentOp::create(declare, loc(), array, name, leaf, part, rowType(part, type),
                                         /*level=*/{});
    if (level)
      op.setLevel(level);
    declared[array] = op;
  }
  return array;
}

Type ProgramWriter::typeOf(StringRef array) {
  Operation *op = declared.lookup(array);
  if (auto buffer = dyn_cast<batch::BufferOp>(op))
    return buffer.getType();
  if (auto field = dyn_cast<kernel::FieldOp>(op))
    return field.getType();
  return cast<kernel::ArgumentOp>(op).getType();
}

dyn::DataOp ProgramWriter::dataOf(Type node) {
  return symbols.lookup<dyn::DataOp>(cast<dyn::NodeType>(node).getData().getAttr());
}

/// The number of the column that holds a field; without a constructor, of the first one that has it.
int ProgramWriter::columnOf(dyn::DataOp data, StringRef ctor, StringRef field) {
  auto [at, isNew] = fieldColumns.try_emplace(data);
  if (isNew)
    for (auto [op, numbers] : llvm::zip(data.getCtors(), dyn::columnNumbers(data)))
      for (auto [name, number] : llvm::zip(op.getFields(), numbers)) {
        StringRef text = cast<StringAttr>(name).getValue();
        at->second.try_emplace((op.getName() + "/" + text).str(), number);
        at->second.try_emplace(("/" + text).str(), number);
      }
  return at->second.at((ctor + "/" + field).str());
}

static std::string nameOf(FlatSymbolRefAttr rows) { return rows ? rows.getValue().str() : ""; }

FlatSymbolRefAttr ProgramWriter::relation(Location loc, StringRef from, StringRef column, StringRef array) {
  FlatSymbolRefAttr to = rowsOf(array);
  FlatSymbolRefAttr &known = relations[(from + "/" + column + "/" + nameOf(to)).str()];
  if (!known)
    known = FlatSymbolRefAttr::get(
        batch::RelationOp::create(declare, loc,
                                  declare.getStringAttr(unique(("rel." + from + "." + column).str())),
                                  symbol(from), to, declare.getStringAttr(column), batch::MultiplicityAttr())
            .getOperation());
  return known;
}

FlatSymbolRefAttr ProgramWriter::listRelation(Location loc, StringRef from, StringRef first, StringRef length,
                                              int stride, FlatSymbolRefAttr to) {
  FlatSymbolRefAttr &known =
      relations[(from + "/" + first + "/" + length + "/" + Twine(stride) + "/" + nameOf(to)).str()];
  if (!known)
    known = FlatSymbolRefAttr::get(
        batch::ListRelationOp::create(declare, loc,
                                      declare.getStringAttr(unique(("list." + from + "." + first).str())),
                                      symbol(from), to, declare.getStringAttr(first),
                                      declare.getStringAttr(length), declare.getI32IntegerAttr(stride))
            .getOperation());
  return known;
}

kernel::FuncOp ProgramWriter::addFunction(kernel::FuncKind kind, StringRef name, SpaceInfo *space) {
  auto func = kernel::FuncOp::create(declare, loc(), unique(name), kind, symbol(space ? space->name : ""),
                                     ArrayAttr());
  func.getBody().emplaceBlock();
  return func;
}

batch::StageOp ProgramWriter::addStage(Location loc, StringRef name, SpaceInfo *space) {
  auto stage = batch::StageOp::create(stages, loc, unique(name), space->name);
  stage.getBody().emplaceBlock();
  return stage;
}

} // namespace dbc::passes
