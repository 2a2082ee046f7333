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
    for (unsigned component = 0; component < flat.size(); ++component)
      argumentNames.push_back(flat.size() > 1 ? label + "." + std::to_string(component) : label);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  program = kernel::ProgramOp::create(builder, loc(), entry.getSymName(), entry.getArgNames(),
                                      entry.getArgTypes(), entry.getSurface(), entry.getLoss());
  // Declarations and functions stand in front, then the schedule and the stages.
  stages.setInsertionPointToEnd(&program.getBody().emplaceBlock());
  auto schedule = kernel::ScheduleOp::create(stages, loc());
  order.setInsertionPointToEnd(&schedule.getBody().emplaceBlock());
  declare.setInsertionPoint(schedule);
  addIndexSet(loc(), "model", kernel::IndexSetKind::Model, nullptr);
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

IndexSetInfo *ProgramWriter::addIndexSet(Location loc, StringRef name, kernel::IndexSetKind kind,
                                         IndexSetInfo *parent) {
  return &indexSets.emplace_back(unique(name), kind, loc, parent);
}

void ProgramWriter::keepName(StringRef name) {
  [[maybe_unused]] std::string kept = unique(name);
  assert(kept == name && "names are kept before others are made");
}

void ProgramWriter::declareRelation(dyn::RelationOp relation, const CellInfo &to) {
  kernel::RelationOp::create(declare, relation.getLoc(), relation.getSymName(), to.group, to.number,
                             relation.getKeeps(), dyn::sourceLocation(to.op->getLoc()));
}

void ProgramWriter::declareIndexSets() {
  OpBuilder front = OpBuilder::atBlockBegin(&program.getBody().front());
  for (IndexSetInfo &indexSet : indexSets) {
    if (!indexSet.used && indexSet.kind != kernel::IndexSetKind::Inputs &&
        indexSet.kind != kernel::IndexSetKind::Instances)
      continue;
    SmallVector<StringRef> arrays(indexSet.arrays.begin(), indexSet.arrays.end());
    kernel::IndexSetOp::create(
        front, indexSet.loc, indexSet.name, indexSet.kind,
        symbol(indexSet.parent ? indexSet.parent->name : ""), front.getStrArrayAttr(arrays),
        symbol(indexSet.group),
        indexSet.group.empty() ? IntegerAttr() : front.getI32IntegerAttr(indexSet.cell),
        /*by_time_step=*/false, /*steps_of=*/FlatSymbolRefAttr(), /*masked=*/!indexSet.alive.empty(),
        /*extent=*/IntegerAttr(), /*filled=*/0, indexSet.sites);
  }
}

std::string ProgramWriter::addBuffer(StringRef name, IndexSetInfo *indexSet, Type type) {
  std::string symbol = unique(name);
  declared[symbol] = kernel::BufferOp::create(declare, loc(), symbol, indexSet->name, type);
  bufferIndexSet[symbol] = indexSet;
  return symbol;
}

void ProgramWriter::removeBuffer(StringRef name) {
  declared.lookup(name)->erase();
  declared.erase(name);
  bufferIndexSet.erase(name);
}

void ProgramWriter::addOutput(Location loc, unsigned component, StringRef buffer, unsigned depth,
                              bool active) {
  kernel::OutputOp::create(declare, loc, component, buffer, depth, active);
}

static StringRef arraySuffix(kernel::FieldArray which) {
  return which == kernel::FieldArray::Value   ? ""
         : which == kernel::FieldArray::Begin ? ".begin"
         : which == kernel::FieldArray::End   ? ".end"
         : which == kernel::FieldArray::Items ? ".items"
                                              : ".kind";
}

/// ".begin", of the lists in lists ".begin2".
static std::string arraySuffix(kernel::FieldArray which, int level) {
  return arraySuffix(which).str() + (level ? std::to_string(level + 1) : "");
}

/// The type of a row of an array of a field or argument of type `type`.
static Type rowType(kernel::FieldArray which, Type type) {
  while (auto list = dyn_cast<dyn::ListType>(type))
    type = list.getElement();
  bool integer =
      isa<dyn::NodeType>(type) || which == kernel::FieldArray::Begin || which == kernel::FieldArray::End;
  return integer ? IntegerType::get(type.getContext(), 32) : type;
}

std::string ProgramWriter::fieldArray(dyn::DataOp data, StringRef ctor, StringRef field,
                                      kernel::FieldArray which, Type type, int level, bool inCells) {
  bool isKind = which == kernel::FieldArray::Kind;
  int column = isKind ? -1 : columnOf(data, ctor, field);
  std::string base = data.getSymName().str(), suffix = arraySuffix(which, level);
  auto [it, isNew] = arrays.try_emplace(base + "/" + std::to_string(column) + suffix);
  std::string &array = it->second;
  if (isNew) {
    array = unique((isKind ? base : base + "." + field.str()) + suffix);
    auto op = kernel::FieldOp::create(declare, loc(), array, base, column, isKind ? "" : field, which,
                                      rowType(which, type), /*level=*/{}, /*in_cells=*/false);
    if (level)
      op.setLevel(level);
    declared[array] = op;
  }
  if (inCells)
    cast<kernel::FieldOp>(declared.lookup(array)).setInCells(true);
  return array;
}

std::string ProgramWriter::argumentArray(unsigned component, kernel::FieldArray which, Type type, int level) {
  std::string name = argumentNames[component], suffix = arraySuffix(which, level);
  auto [it, isNew] = arrays.try_emplace("/arg/" + std::to_string(component) + suffix);
  std::string &array = it->second;
  if (isNew) {
    array = unique("arg." + name + suffix);
    auto op = kernel::ArgumentOp::create(declare, loc(), array, name, component, which, rowType(which, type),
                                         /*level=*/{});
    if (level)
      op.setLevel(level);
    declared[array] = op;
  }
  return array;
}

Type ProgramWriter::typeOf(StringRef array) {
  Operation *op = declared.lookup(array);
  if (auto buffer = dyn_cast<kernel::BufferOp>(op))
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

FlatSymbolRefAttr ProgramWriter::relation(Location loc, StringRef from, StringRef indexArray,
                                          StringRef array) {
  FlatSymbolRefAttr to = rowsOf(array);
  FlatSymbolRefAttr &known = relations[(from + "/" + indexArray + "/" + nameOf(to)).str()];
  if (!known)
    known = FlatSymbolRefAttr::get(
        batch::RelationOp::create(
            declare, loc, declare.getStringAttr(unique(("rel." + from + "." + indexArray).str())),
            symbol(from), to, declare.getStringAttr(indexArray), batch::MultiplicityAttr())
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

kernel::FuncOp ProgramWriter::addFunction(kernel::FuncKind kind, StringRef name, IndexSetInfo *indexSet) {
  auto func = kernel::FuncOp::create(declare, loc(), unique(name), kind,
                                     symbol(indexSet ? indexSet->name : ""), ArrayAttr());
  func.getBody().emplaceBlock();
  return func;
}

batch::StageOp ProgramWriter::addStage(Location loc, StringRef name, IndexSetInfo *indexSet) {
  auto stage = batch::StageOp::create(stages, loc, name, indexSet->name);
  stage.getBody().emplaceBlock();
  return stage;
}

} // namespace dbc::passes
