// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect: registration, printing. Verifiers are in KernelVerify*.cpp.
#include "ir/Kernel/Kernel.h"
#include "ir/Kernel/LargeM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dbc::kernel;

#include "ir/Kernel/KernelDialect.cpp.inc"
#include "ir/Kernel/KernelEnums.cpp.inc"
#include "ir/Kernel/KernelInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Kernel/KernelAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/Kernel/KernelTypes.cpp.inc"

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/Kernel/KernelOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/Kernel/KernelAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/Kernel/KernelTypes.cpp.inc"
      >();
}

Type LocalType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return get(parser.getContext(), shape, element);
}

void LocalType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElement() << '>';
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  StringRef keyword;
  SmallVector<OpAsmParser::Argument> args;
  if (parser.parseKeyword(&keyword))
    return failure();
  auto kind = symbolizeFuncKind(keyword);
  if (!kind)
    return parser.emitError(parser.getCurrentLocation(), "unknown kind of function ") << keyword;
  state.addAttribute("kind", FuncKindAttr::get(parser.getContext(), *kind));
  if (parser.parseSymbolName(name, "sym_name", state.attributes) ||
      parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren, /*allowType=*/true))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("over"))) {
    FlatSymbolRefAttr indexSet;
    if (parser.parseAttribute(indexSet, "index_set", state.attributes))
      return failure();
  }
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  return parser.parseRegion(*state.addRegion(), args);
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyFuncKind(getKind()) << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument a) { printer.printRegionArgument(a); });
  printer << ')';
  if (getIndexSetAttr())
    printer << " over " << getIndexSetAttr();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"sym_name", "kind", "index_set"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

StringRef dbc::kernel::unqualifiedName(StringRef symbol) {
  auto [path, last] = symbol.rsplit('.');
  if (last.empty())
    return symbol;
  return llvm::all_of(last, llvm::isDigit) ? symbol.take_back(last.size() + 1 + unqualifiedName(path).size())
                                           : last;
}

StringRef FuncOp::getStageName() {
  StringRef name = getSymName();
  name.consume_front("stage.");
  return name;
}

/// The attributes of an operation but for some.
static DictionaryAttr without(ArrayRef<StringAttr> names, Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  for (StringAttr name : names)
    attributes.erase(name);
  return attributes.getDictionary(op->getContext());
}

DictionaryAttr WeightsOp::getPacked() { return without({getSymNameAttrName()}, *this); }

DictionaryAttr WeightsOp::getMatrix() {
  return without({getSymNameAttrName(), getGatesAttrName(), getWidthAttrName(), getContractAttrName()},
                 *this);
}

int64_t FuncOp::getSliceCount() { return getSlicesAttr() ? getSlicesAttr().getCount() : 1; }

SmallVector<StringRef> GroupOp::getSecondaryKeys(unsigned cell) {
  SmallVector<StringRef> names;
  if (getKeys())
    for (Attribute name : cast<ArrayAttr>((*getKeys())[cell]))
      names.push_back(cast<StringAttr>(name).getValue());
  return names;
}

KeyOp GroupOp::getFixedKey(unsigned cell) {
  if (getSecondaryKeys(cell).size() != 1)
    return {};
  for (auto func : (*this)->getParentRegion()->getOps<FuncOp>())
    for (auto key : func.getBody().getOps<KeyOp>())
      if (key.getFixed() && key.getGroup() == getSymName() && key.getCell() == cell)
        return key;
  return {};
}

std::optional<KeyRange> KeyOp::getConstantRange() {
  APInt low, high;
  if (getRange().empty() ||
      !matchPattern(getRange().front().getTerminator()->getOperand(0), m_ConstantInt(&low)) ||
      !matchPattern(getRange().front().getTerminator()->getOperand(1), m_ConstantInt(&high)))
    return std::nullopt;
  return KeyRange{low.getSExtValue(), high.getSExtValue() - low.getSExtValue()};
}

StringRef GroupOp::getDataOf(unsigned cell) {
  auto data = dyn_cast<FlatSymbolRefAttr>(getDatas()[cell]);
  return data ? data.getValue() : StringRef();
}

int64_t WeightsOp::getTileCount() {
  int64_t channels = getOut() / getGates().value_or(1);
  return getGates() ? llvm::divideCeil(channels, *getWidth()) : 1;
}

int64_t WeightsOp::getKTileCount() {
  int64_t kTiles = 0;
  for (int64_t length : getContract()->getLengths())
    kTiles += llvm::divideCeil(length, kKTile);
  return kTiles;
}

int64_t WeightsOp::getNTileCount() {
  int64_t outputs = getGates() ? *getGates() * *getWidth() : getOut(), atOnce = getContract()->getNTiles();
  return llvm::divideCeil(outputs, kNTile * atOnce) * atOnce;
}

int64_t WeightsOp::getTileBytes() { return getKTileCount() * getNTileCount() * kKTile * kNTile * 4; }

#define GET_OP_CLASSES
#include "ir/Kernel/KernelOps.cpp.inc"

namespace dbc::kernel {

Type stored(Type type) { return isa<dyn::NodeType>(type) ? IntegerType::get(type.getContext(), 32) : type; }

Type rowType(Operation *array) { return stored(array->getAttrOfType<TypeAttr>("type").getValue()); }

bool isValue(Operation *op) {
  return op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<LoadOp, ReadOp, OrderOp>(op));
}

GemmOp gemmOf(FuncOp func) {
  auto found = func.getBody().getOps<GemmOp>();
  return found.empty() ? GemmOp() : *found.begin();
}

IndexSetOp parentOf(IndexSetOp indexSet, const SymbolTable &names) {
  return indexSet.getParent() ? names.lookup<IndexSetOp>(*indexSet.getParent()) : IndexSetOp();
}

FlatSymbolRefAttr resultOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, FlatSymbolRefAttr>(op)
      .Case<OutputOp, GradientOp, InputGradientOp>([](auto result) { return result.getBufferAttr(); })
      .Default(FlatSymbolRefAttr());
}

llvm::StringSet<> resultsOf(ProgramOp program) {
  llvm::StringSet<> results;
  for (Operation &op : program.getBody().front())
    if (FlatSymbolRefAttr result = resultOf(&op))
      results.insert(result.getValue());
  return results;
}

uint32_t nextStorage(ProgramOp program) {
  uint32_t next = 0;
  for (auto buffer : program.getOps<BufferOp>())
    if (buffer.getStorage())
      next = std::max(next, *buffer.getStorage() + 1);
  return next;
}

int64_t bytesOf(Type element, int64_t realBytes) {
  return element.isF32() ? realBytes : element.isInteger(1) ? 1 : 4;
}

bool isSumOf(Value value, Value one, Value other) {
  auto sum = value.getDefiningOp<arith::AddIOp>();
  return sum &&
         ((sum.getLhs() == one && sum.getRhs() == other) || (sum.getLhs() == other && sum.getRhs() == one));
}

int64_t blockBytes(LocalOp local, int64_t realBytes, bool largeM) {
  ArrayRef<int64_t> shape = local.getType().getShape();
  const int64_t bytes = llvm::product_of(shape) * bytesOf(local.getType().getElement(), realBytes);
  if (largeM)
    return largeMBytes(local);
  // Where a block may have more rows, what one has begins at a multiple of 4.
  if (local->getParentOfType<FuncOp>().getLargeM() && isOfRows(local))
    return shape.front() * llvm::alignTo(bytes / shape.front(), 4);
  return llvm::alignTo(bytes, local.getMemory() == Memory::Global ? 256 : 16);
}

int64_t blockBytes(FuncOp func, Memory memory, int64_t realBytes, bool largeM) {
  if (largeM) // which all are shared there
    return memory == Memory::Shared ? largeMBytes(func) : 0;
  int64_t sum = 0;
  func.walk([&](LocalOp local) {
    if (local.getMemory() == memory && !local->use_empty())
      sum += blockBytes(local, realBytes);
  });
  return sum;
}

bool isOfRows(LocalOp local) {
  return llvm::none_of(local->getUsers(), [&](Operation *user) {
    auto product = dyn_cast<ProductOp>(user);
    auto outer = dyn_cast<OuterOp>(user);
    return (product && product.getSums() == local.getResult()) ||
           (outer && outer.getMemory() == local.getResult());
  });
}

bool computesByRow(FuncOp func) {
  bool found = false;
  func.walk([&](ThreadsOp threads) {
    bool loops = false; // row numbers are read by one thread each, too: nothing is lost by that
    threads.walk([&](ForOp) { loops = true; });
    auto blocks = threads->getParentOfType<BlocksOp>();
    found |= loops && threads.getCount() == blocks.getBody().getArgument(1);
  });
  return found;
}

SmallVector<TimeStepLoopInterface> persistentLoops(ProgramOp program) {
  SmallVector<TimeStepLoopInterface> loops;
  program.walk([&](TimeStepLoopInterface loop) {
    if (loop.getPersistent())
      loops.push_back(loop);
  });
  return loops;
}

/// By the stage alone.
static int64_t ownBlocks(FuncOp func, ProgramOp program, int64_t realBytes) {
  bool multiplies = false;
  llvm::DenseSet<std::pair<Attribute, Attribute>> arrays;
  int64_t registers = 0; // of addresses
  func.walk([&](Operation *op) {
    multiplies |= isa<ProductOp, MultiplyOp, GemmOp, OuterOp>(op);
    auto array = op->getAttrOfType<FlatSymbolRefAttr>("array");
    if (!array || !arrays.insert({array, op->getAttr("index_array")}).second)
      return;
    // A field's has the number too that it begins with.
    registers += isa_and_nonnull<FieldOp, ArgumentOp>(program.lookupSymbol(array.getValue())) ? 4 : 2;
  });
  int64_t blocks = (multiplies || computesByRow(func) ? 2 : 4) / (realBytes > 4 ? 2 : 1);
  while (blocks > 1 && registers > registersOf(blocks) / 2)
    blocks /= 2;
  return blocks;
}

int64_t sumTiles(OuterOp outer) {
  return llvm::divideCeil(int64_t(outer.getHeight()), kSumTile) *
         llvm::divideCeil(int64_t(outer.getOutputs()), kSumTile);
}

int64_t residentBlocks(FuncOp func, int64_t realBytes, bool largeM) {
  if (largeM)
    return 1;
  auto program = func->getParentOfType<ProgramOp>();
  int64_t blocks = ownBlocks(func, program, realBytes);
  for (TimeStepLoopInterface loop : persistentLoops(program)) {
    SmallVector<FuncOp> stages;
    loop->walk([&](LaunchOp launch) { stages.push_back(program.lookupSymbol<FuncOp>(launch.getFunc())); });
    if (llvm::is_contained(stages, func))
      for (FuncOp other : stages)
        blocks = std::min(blocks, ownBlocks(other, program, realBytes));
  }
  return blocks;
}

int64_t registersOf(int64_t blocks) {
  constexpr int64_t kOfProcessor = 64 << 10, kMost = 255; // of each GPU since sm_80
  return std::min(kMost, kOfProcessor / (blocks * kWarps * kLanes));
}

void dropUnreadLocals(FuncOp func) {
  SmallVector<LocalOp> locals(func.getBody().front().getOps<LocalOp>());
  for (LocalOp local : locals) {
    if (!llvm::all_of(local->getUsers(), [](Operation *user) { return isa<WriteOp>(user); }))
      continue;
    for (Operation *user : llvm::make_early_inc_range(local->getUsers()))
      user->erase();
    local.erase();
  }
}

} // namespace dbc::kernel
