// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What is decided about a function before it is printed: which values are written inside the expression that
// uses them, which row pointers are made where, and under which names arrays are known.
#include "codegen/common/FunctionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string scalarType(Type type) { return type.isF32() ? "real" : type.isInteger(1) ? "bool" : "int32_t"; }

FunctionEmitter::FunctionEmitter(const ModelNames &model, const Program &program, kernel::FuncOp func)
    : model_(model), program_(program), func_(func),
      top_(func.getKind() == kernel::FuncKind::Stage ? nullptr : &program.members), scope_(&top_) {
  if (isStage())
    for (StringRef word : {"plan", "begin", "end", "tile_begin", "tile_end", "scratch", "math"})
      top_.reserve(word);
  // Parameters have their names even where only the declaration is printed.
  static constexpr StringRef roots[] = {"input"}, calls[] = {"node"}, index[] = {"row", "key"},
                             stage[] = {"begin", "end", "tile_begin", "tile_end"};
  ArrayRef<StringRef> roles = func.getKind() == kernel::FuncKind::Roots   ? ArrayRef<StringRef>(roots)
                              : func.getKind() == kernel::FuncKind::Calls ? ArrayRef<StringRef>(calls)
                              : func.getKind() == kernel::FuncKind::Slot  ? ArrayRef<StringRef>(calls)
                              : func.getKind() == kernel::FuncKind::Index ? ArrayRef<StringRef>(index)
                                                                          : ArrayRef<StringRef>(stage);
  for (auto [number, argument] : llvm::enumerate(func.getBody().getArguments())) {
    StringRef role = number < roles.size() ? roles[number] : "key";
    if (isStage())
      values_[argument] = {role.str()};
    else
      nameValue(argument, role);
  }
}

//===-- Names -------------------------------------------------------------------------------------------===//

std::string sourceName(Value value) {
  Location loc = value.getLoc();
  auto named = dyn_cast<NameLoc>(loc);
  return named ? named.getName().getValue().split('$').first.str() : std::string();
}

/// The number of a row, by the index array that holds it.
static std::string rowName(StringRef indexArray) {
  StringRef name = indexArray.rtrim("0123456789"); // of arrays of one name
  return name.consume_back("_of") ? name.str() : indexArray.str();
}

/// Scratch, by what is written there.
static std::string localName(const Program &program, kernel::LocalOp local) {
  std::string name = local.getType().getElement().isInteger(32) ? "rows" : "x";
  for (Operation *user : local->getUsers()) {
    if (auto product = dyn_cast<kernel::ProductOp>(user); product && product.getInto() == local.getResult())
      return program.find<kernel::WeightsOp>(product.getWeights()).getGates().value_or(1) > 1 ? "gates"
                                                                                              : "product";
    if (auto rows = dyn_cast<kernel::RowsOp>(user); rows && rows.getCopy() == local.getResult())
      return kernel::unqualifiedName(*rows.getArray()).str() + "_copy";
    if (auto multiply = dyn_cast<kernel::MultiplyOp>(user))
      return multiply.getMemory() == local.getResult() ? "memory" : "product";
    if (isa<kernel::OuterOp>(user))
      return "memory";
    auto write = dyn_cast<kernel::WriteOp>(user);
    auto load = write ? write.getValue().getDefiningOp<kernel::LoadOp>() : kernel::LoadOp();
    if (load && load.getIndexArray())
      if (std::string row = rowName(*load.getIndexArray()); row != "row")
        name = row + "_rows";
  }
  return name;
}

/// What a value without a name is called.
std::string FunctionEmitter::wish(Value value) {
  std::string name = sourceName(value);
  if (!name.empty())
    return name;
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<kernel::LoadOp>(op))
    return load.getIndexArray() ? rowName(*load.getIndexArray())
                                : kernel::unqualifiedName(load.getArray()).str();
  if (auto row = dyn_cast_or_null<kernel::RowOfOp>(op))
    return kernel::unqualifiedName(row.getIndexSet()).str() + "_row";
  if (isa_and_nonnull<kernel::OrderOp>(op))
    return "row";
  if (auto window = dyn_cast_or_null<kernel::WindowOp>(op))
    return kernel::unqualifiedName(window.getIndexSet()).str() + (window.getAgo() > 0 ? "_before" : "_now");
  if (isa_and_nonnull<kernel::CallerOp>(op))
    return "caller";
  if (isa_and_nonnull<kernel::SlotOp, kernel::KeyOp>(op))
    return "slot";
  if (auto local = dyn_cast_or_null<kernel::LocalOp>(op))
    return localName(program_, local);
  if (value.getType().isF32())
    return "x";
  return value.getType().isInteger(1) ? "holds" : "n";
}

std::string FunctionEmitter::nameValue(Value value, StringRef role) {
  std::string name = sourceName(value);
  std::string fresh = scope_->fresh(!name.empty() ? name : !role.empty() ? role.str() : wish(value));
  values_[value] = {fresh};
  return fresh;
}

std::string FunctionEmitter::arrayName(StringRef symbol) {
  if (isStage())
    return aliases_.at(symbol.str()).name;
  return model_.array(program_, symbol).member;
}

std::string FunctionEmitter::indexArrayName(StringRef indexSet, StringRef indexArray) {
  if (isStage())
    return aliases_.at((indexSet + " " + indexArray).str()).name;
  auto op = program_.find<kernel::IndexSetOp>(indexSet);
  return program_.nameOf(op) + "[" + std::to_string(program_.indexArray(op, indexArray)) + "]";
}

//===-- Inlining ----------------------------------------------------------------------------------------===//

static bool readsMemory(Operation *op) {
  return isa<kernel::LoadOp, kernel::ReadOp, kernel::CountOp, kernel::RowOfOp, kernel::OrderOp,
             kernel::CalledByOp, kernel::CallerOp, kernel::CalledOp>(op);
}

static bool isExpression(Operation *op) {
  return readsMemory(op) || isa<kernel::FunctionOp, kernel::DropoutOp, kernel::WindowOp>(op) ||
         ((isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) && op->getNumResults() == 1 &&
          op->getNumRegions() == 0);
}

static bool writesMemory(Operation *op) {
  if (isa<kernel::StoreOp, kernel::WriteOp, kernel::ProductOp, kernel::MultiplyOp, kernel::OuterOp,
          kernel::PushOp, kernel::SetOp, kernel::ReserveOp, kernel::CallOp, kernel::CollectNodesOp,
          kernel::SlotOp, kernel::KeyOp>(op))
    return true;
  bool nested = false;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      nested |= writesMemory(&inner);
  return nested;
}

/// Expressions that nobody reads, and what only they read.
void FunctionEmitter::findDead() {
  for (bool grew = true; grew;) {
    grew = false;
    func_.getBody().walk([&](Operation *op) {
      if (isExpression(op) && !dead_.contains(op) &&
          llvm::all_of(op->getUsers(), [&](Operation *user) { return dead_.contains(user); }))
        grew |= dead_.insert(op).second;
    });
  }
}

/// Decides for each op of a block, last first, whether it is printed inside its only user. A load may move
/// down to its user only past ops that write nothing.
void FunctionEmitter::planInlining(Block &block) {
  llvm::DenseMap<Operation *, Operation *> printedAt;
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  llvm::DenseMap<Operation *, unsigned> position;
  for (auto [number, op] : llvm::enumerate(ops))
    position[op] = number;
  for (Operation *op : llvm::reverse(ops)) {
    printedAt[op] = op;
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        planInlining(inner);
    if (isa<kernel::RowsOp, arith::ConstantOp>(op)) {
      deferred_.insert(op);
      if (op->hasOneUse() && printedAt.contains(*op->user_begin()))
        printedAt[op] = printedAt[*op->user_begin()];
      continue;
    }
    if (!isExpression(op))
      continue;
    if (dead_.contains(op)) {
      deferred_.insert(op);
      continue;
    }
    Value result = op->getResult(0);
    Operation *user = *result.user_begin();
    if (!result.hasOneUse() || user->getBlock() != &block || isa<NameLoc>(result.getLoc()) ||
        rowPointer("", {}, result))
      continue;
    Operation *at = printedAt[user];
    bool blocked = false;
    if (readsMemory(op))
      for (unsigned i = position[op] + 1; i < position[at] && !blocked; ++i)
        blocked = writesMemory(ops[i]);
    // A loop evaluates its bound again each time round.
    if (isa<kernel::ForOp, kernel::LanesOp>(user))
      blocked |= readsMemory(op) && writesMemory(user);
    if (blocked)
      continue;
    deferred_.insert(op);
    printedAt[op] = at;
  }
}

//===-- Row pointers ------------------------------------------------------------------------------------===//

static bool isZero(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && number.isZero();
}

void FunctionEmitter::addRowUse(Operation *user, StringRef array, Value local, Value row, bool write) {
  if (isZero(row))
    return;
  RowPointer *&known = rowOf_[{array.str(), local.getAsOpaquePointer(), row.getAsOpaquePointer()}];
  if (known) {
    known->written |= write;
    // The innermost block that holds all uses, before the first of them.
    Operation *a = known->before, *b = user;
    for (Block *block = a->getBlock(); block; a = block->getParentOp(), block = a->getBlock())
      if (Operation *other = block->findAncestorOpInBlock(*b)) {
        known->before = a->isBeforeInBlock(other) ? a : other;
        return;
      }
    return;
  }
  auto pointer = std::make_unique<RowPointer>();
  pointer->array = array.str();
  pointer->local = local;
  pointer->row = row;
  pointer->before = user;
  pointer->written = write;
  known = pointer.get();
  firstOfRow_.try_emplace(row, known);
  rows_.push_back(std::move(pointer));
}

/// The pointer for a row of an array; without array and local: any that is made of `row`.
FunctionEmitter::RowPointer *FunctionEmitter::rowPointer(StringRef array, Value local, Value row) {
  if (array.empty() && !local)
    return firstOfRow_.lookup(row);
  auto known = rowOf_.find({array.str(), local.getAsOpaquePointer(), row.getAsOpaquePointer()});
  return known == rowOf_.end() ? nullptr : known->second;
}

void FunctionEmitter::planRows() {
  func_.getBody().walk([&](Operation *op) {
    if (dead_.contains(op))
      return;
    if (auto accesses = dyn_cast<kernel::AccessOpInterface>(op))
      for (const kernel::Access &access : accesses.getAccesses())
        if (access.writes)
          stored_.insert(access.array.getValue());
    if (auto load = dyn_cast<kernel::LoadOp>(op)) {
      if (load.getIndexArray() || load.getIndices().empty())
        return;
      Array array = model_.array(program_, load.getArray());
      if (!array.extents.empty())
        addRowUse(op, load.getArray(), {}, load.getIndices()[0], false);
    } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      Array array = model_.array(program_, store.getArray());
      if (!array.extents.empty())
        addRowUse(op, store.getArray(), {}, store.getIndices()[0], true);
    } else if (auto read = dyn_cast<kernel::ReadOp>(op)) {
      if (read.getIndices().size() > 1)
        addRowUse(op, "", read.getLocal(), read.getIndices()[0], false);
    } else if (auto write = dyn_cast<kernel::WriteOp>(op)) {
      if (write.getIndices().size() > 1)
        addRowUse(op, "", write.getLocal(), write.getIndices()[0], true);
    }
  });
  // Out of the loops that do not change the row.
  for (auto &pointer : rows_)
    while (true) {
      Operation *loop = pointer->before->getParentOp();
      auto isInside = [&](Value value) {
        return value && loop->isAncestor(value.getParentBlock()->getParentOp());
      };
      if (!isa<kernel::ForOp, kernel::ThreadsOp, kernel::WarpsOp, kernel::LanesOp, kernel::BlocksOp>(loop) ||
          isInside(pointer->row) || isInside(pointer->local))
        break;
      pointer->before = loop;
    }
  for (auto &pointer : rows_)
    rowsBefore_[pointer->before].push_back(pointer.get());
}

//===-- Aliases -----------------------------------------------------------------------------------------===//

/// Stage functions know arrays under local names: `const real *__restrict encode_h = plan.encode_h;`.
void FunctionEmitter::planAliases() {
  if (!isStage())
    return;
  auto add = [&](const std::string &key, std::initializer_list<StringRef> wishes, auto &&declare) {
    if (aliases_.count(key))
      return;
    std::string name = top_.fresh(wishes);
    aliases_[key] = {name, declare(name)};
    aliasOrder_.push_back(key);
  };
  // Two buffers in the same memory must not be declared not to overlap.
  auto shared = [&](StringRef symbol, const Array &array) {
    if (array.kind != Array::Buffer || program_.storages[array.storage].buffers.size() < 2)
      return false;
    bool other = false;
    func_.getBody().walk([&](Operation *op) {
      for (StringRef attribute : {"array"})
        if (auto name = op->getAttrOfType<FlatSymbolRefAttr>(attribute))
          for (kernel::BufferOp buffer : program_.storages[array.storage].buffers)
            other |= name.getValue() != symbol && buffer.getSymName() == name.getValue();
    });
    return other;
  };
  auto addArray = [&](StringRef symbol) {
    Array array = model_.array(program_, symbol);
    add(symbol.str(), {array.member}, [&](const std::string &name) {
      std::string pointer = stored_.contains(symbol) ? array.pointee + " *" : "const " + array.pointee + " *";
      if (!shared(symbol, array) && restricts(symbol))
        pointer += "__restrict ";
      return arrayType(array, pointer) + name + " = " + arraySource(symbol) + ";";
    });
  };
  auto addIndexArray = [&](StringRef symbol, const std::string &array) {
    auto indexSet = program_.find<kernel::IndexSetOp>(symbol);
    add(symbol.str() + " " + array,
        {StringRef(array).ends_with("_of") ? array : array + "_of", program_.nameOf(indexSet) + "_" + array},
        [&](const std::string &name) {
          return "const int32_t *" + name + " = " + indexArraySource(indexSet, array) + ";";
        });
  };
  func_.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (dead_.contains(op))
      return;
    if (auto accesses = dyn_cast<kernel::AccessOpInterface>(op))
      for (const kernel::Access &access : accesses.getAccesses())
        addArray(access.array.getValue());
    if (auto load = dyn_cast<kernel::LoadOp>(op)) {
      if (load.getIndexArray())
        addIndexArray(load.getArray(), load.getIndexArray()->str());
    } else if (auto rows = dyn_cast<kernel::RowsOp>(op)) {
      if (rows.getIndexSet())
        addIndexArray(*rows.getIndexSet(), rows.getIndexArray()->str());
    } else if (auto product = dyn_cast<kernel::ProductOp>(op)) {
      auto weights = program_.find<kernel::WeightsOp>(product.getWeights());
      std::string member = program_.nameOf(weights);
      add("weights " + product.getWeights().str(), {member},
          [&](const std::string &name) { return weightsAlias(weights, name); });
    }
  });
}

} // namespace dbc::codegen
