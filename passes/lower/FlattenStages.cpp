// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenStages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

using Kind = AbstractValue::Kind;

std::string StageWriter::label(Operation *op, RowContext at) {
  return batch::valueName(at.indexSet->name, op);
}

batch::StageOp StageWriter::stage(Location loc, StringRef name, RowContext at) {
  std::string alive = aliveIn(at.indexSet);
  batch::StageOp stage = stageOfAll(loc, name, at);
  if (!alive.empty())
    stage.setWhenAttr(program.symbol(alive));
  return stage;
}

/// A stage for all rows, whether or not they are there.
batch::StageOp StageWriter::stageOfAll(Location loc, StringRef name, RowContext at) {
  for (IndexSetInfo *indexSet = at.indexSet; indexSet; indexSet = indexSet->parent)
    indexSet->used = true;
  return made.emplace_back(program.addStage(loc, name, at.indexSet));
}

Value StageWriter::load(OpBuilder &inside, Location loc, Value source, const AbstractValue &what,
                        RowContext at) {
  switch (what.kind) {
  case Kind::Structural:
    return batch::ReadIndexOp::create(
               inside, loc, what.scalar.getType(),
               indexArray(at.indexSet, what.scalar, source ? dyn::sourceName(source.getLoc()) : ""))
        .getResult();
  case Kind::Stored: {
    IndexSetInfo *home = program.indexSetOf(what.array);
    Type type = source ? source.getType() : program.typeOf(what.array);
    if (home == program.modelIndexSet() || (home == at.indexSet && what.scalar == at.row))
      return batch::ReadOp::create(inside, loc, type, what.array);
    std::string by = indexArray(at.indexSet, what.scalar, source ? dyn::sourceName(source.getLoc()) : "");
    return batch::GatherOp::create(inside, loc, type, program.symbol(what.array),
                                   program.relation(loc, at.indexSet->name, by, what.array),
                                   program.symbol(what.carried), /*ago=*/IntegerAttr());
  }
  case Kind::Model:
    return env.cloneModel(inside, what.scalar);
  default:
    break;
  }
  llvm_unreachable("only numbers are loaded");
}

void StageWriter::write(Location loc, Value source, const AbstractValue &what, StringRef buffer,
                        RowContext at, Value row) {
  batch::StageOp stage = this->stage(loc, (at.indexSet->name + "." + "copy"), at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  Value loaded = load(inside, loc, source, what, at);
  if (!row || (program.indexSetOf(buffer) == at.indexSet && row == at.row)) {
    batch::WriteOp::create(inside, loc, loaded, buffer);
    return;
  }
  batch::ScatterOp::create(
      inside, loc, loaded, program.symbol(buffer),
      program.relation(loc, at.indexSet->name, indexArray(at.indexSet, row, "after"), buffer));
}

AbstractValue StageWriter::segment(Location loc, Type type, StringRef name, dyn::ReduceKind kind,
                                   const ListInfo &list, RowContext at, const AbstractValue &index,
                                   const AbstractValue &when) {
  batch::StageOp stage = this->stage(loc, name, at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  auto loaded = [&](const AbstractValue &what) {
    return what.is(Kind::Nothing) ? Value() : load(inside, loc, Value(), what, at);
  };
  bool via = list.from == ListInfo::From::Via;
  AbstractValue count = list.ends() ? AbstractValue::stored(list.end.count, list.end.owner) : AbstractValue();
  // The order in which the index set gets its arrays, which the emitted code shows.
  Value countValue = loaded(count), whenValue = loaded(when), indexValue = loaded(index);
  std::string length = indexArray(at.indexSet, list.length, "length"),
              first = indexArray(at.indexSet, list.first, "first");
  FlatSymbolRefAttr elements =
      program.listRelation(loc, at.indexSet->name, first, length, list.stride,
                           via ? program.symbol(list.of) : program.rowsOf(list.array));
  Value result = batch::SegmentOp::create(inside, loc, type, kind, list.array, elements.getValue(),
                                          via ? program.relation(loc, list.of, list.via, list.array)
                                              : FlatSymbolRefAttr(),
                                          program.symbol(list.carried), indexValue, whenValue, countValue,
                                          list.end.atEnd, /*at=*/FlatSymbolRefAttr(),
                                          /*ago=*/IntegerAttr(), /*numbers=*/FlatSymbolRefAttr());
  return writeOwn(inside, stage, result, at);
}

std::string StageWriter::indexArray(IndexSetInfo *indexSet, Value value, StringRef hint) {
  auto [it, isNew] = indexSet->arrayOf.try_emplace(value, indexSet->arrays.size());
  if (isNew) {
    std::string base = hint.empty() ? dyn::sourceName(value.getLoc()) : hint.str();
    if (auto row = value.getDefiningOp<kernel::RowOfOp>();
        row && base.empty()) { // a call's: of what, or whom
      base = dyn::sourceName(row.getSlot().getLoc());
      if (base.empty())
        base = kernel::unqualifiedName(row.getIndexSet());
    }
    if (base.empty())
      base = value.getDefiningOp() ? value.getDefiningOp()->getName().stripDialect().str() : "row";
    indexSet->addArray(std::move(base));
    indexSet->values.push_back(value);
  }
  for (IndexSetInfo *each = indexSet; each; each = each->parent)
    each->used = true;
  return indexSet->arrays[it->second];
}

void StageWriter::push(RowContext at) {
  IndexSetInfo *indexSet = at.indexSet;
  bool existing =
      indexSet->kind == kernel::IndexSetKind::Instances || indexSet->kind == kernel::IndexSetKind::Inputs;
  if (!indexSet->used && !existing)
    return;
  Location loc = structure.function().getLoc();
  SmallVector<Value> values;
  for (Value value : indexSet->values)
    values.push_back(structure.asIndex(value));
  if (!existing)
    return structure.push(loc, indexSet, values);
  for (auto [name, value] : llvm::drop_begin(llvm::zip(indexSet->arrays, values), indexSet->given))
    kernel::SetOp::create(b, loc, indexSet->name, name, at.row, value);
}

kernel::ForOp StageWriter::rows(Location loc, IndexSetInfo *indexSet, Value length, RowContext outer,
                                function_ref<void(RowContext, Value)> body) {
  return structure.loop(loc, length, [&](Value j) {
    RowContext inner{indexSet, structure.count(loc, indexSet)};
    indexArray(indexSet, outer.row, kernel::kParentArray);
    body(inner, j);
    push(inner);
  });
}

/// The buffer that says which rows of an index set there are; empty: all.
std::string StageWriter::aliveIn(IndexSetInfo *indexSet) {
  bool known = !indexSet || !indexSet->alive.empty() || !indexSet->parent;
  if (!known && !aliveIn(indexSet->parent).empty())
    keep(program.loc(), indexSet, {}, {});
  return indexSet ? indexSet->alive : std::string();
}

void StageWriter::keep(Location loc, IndexSetInfo *indexSet, const AbstractValue &taken, Value after) {
  std::string outer = aliveIn(indexSet->parent);
  indexSet->alive = program.addBuffer(indexSet->name + ".alive", indexSet, b.getI1Type());
  RowContext at{indexSet, {}};
  batch::StageOp stage = stageOfAll(loc, indexSet->alive, at);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().front());
  Value alive;
  if (!taken.is(Kind::Nothing))
    alive = load(inside, loc, Value(), taken, at);
  if (!outer.empty()) {
    Value around = batch::GatherOp::create(inside, loc, b.getI1Type(), program.symbol(outer),
                                           program.relation(loc, indexSet->name, indexSet->arrays[0], outer),
                                           FlatSymbolRefAttr(),
                                           /*ago=*/IntegerAttr());
    alive = alive ? arith::AndIOp::create(inside, loc, alive, around).getResult() : around;
  }
  batch::WriteOp::create(inside, loc, alive, indexSet->alive);
  if (after)
    batch::ScatterOp::create(
        inside, loc, arith::ConstantOp::create(inside, loc, b.getBoolAttr(false)),
        program.symbol(taken.array),
        program.relation(loc, indexSet->name, indexArray(indexSet, after, "after"), taken.array));
}

void StageWriter::keepElement(Location loc, IndexSetInfo *indexSet, const ListInfo &list, Value j) {
  if (!list.ends())
    return;
  Value row = list.end.atEnd ? structure.sub(list.end.taken, j) : structure.add(list.end.taken, j);
  keep(loc, indexSet, AbstractValue::stored(list.end.live, row));
}

std::string StageWriter::addOwnBuffer(StringRef name, IndexSetInfo *indexSet, Type type) {
  std::string buffer = program.addBuffer(name, indexSet, type);
  own.insert(buffer);
  return buffer;
}

AbstractValue StageWriter::writeOwn(OpBuilder &inside, batch::StageOp stage, Value value, RowContext at) {
  std::string buffer = addOwnBuffer(stage.getName(), at.indexSet, value.getType());
  batch::WriteOp::create(inside, stage.getLoc(), value, buffer);
  return AbstractValue::stored(buffer, at.row);
}

bool StageWriter::isOwn(const AbstractValue &what, RowContext at) {
  return own.contains(what.array) && what.scalar == at.row && program.indexSetOf(what.array) == at.indexSet;
}

void StageWriter::rename(const llvm::StringMap<std::string> &names) {
  if (names.empty())
    return;
  llvm::DenseMap<Attribute, Attribute> symbols;
  for (const auto &[from, to] : names) {
    symbols[program.symbol(from)] = program.symbol(to);
    program.removeBuffer(from);
    own.erase(from);
  }
  auto renameIn = [&](Operation *op) {
    for (NamedAttribute attr : llvm::to_vector(op->getAttrs()))
      if (Attribute to = symbols.lookup(attr.getValue()))
        op->setAttr(attr.getName(), to);
  };
  structure.function().walk(renameIn);
  for (batch::StageOp stage : made)
    stage.walk(renameIn);
}

} // namespace dbc::passes
