// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/cuda/KernelEmitter.h"
#include "ir/Kernel/LargeM.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

KernelEmitter::KernelEmitter(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
                             kernel::FuncOp func)
    : FunctionEmitter(model, program, func), arrays_(arrays), blocks_(stageBlocks(func)) {
  for (StringRef word : {"arrays", "launch", "threadIdx", "blockIdx", "blockDim", "gridDim", "kRows",
                         "kTiles", "block_group", "BlockGroup"})
    top_.reserve(word);
}

std::vector<SliceSums> KernelEmitter::sliceSums() const {
  std::vector<SliceSums> found;
  int64_t numbers = 0;
  for (FlatSymbolRefAttr array : kernel::FuncOp(func_).getSlicesAttr().getArrays()) {
    auto buffer = program_.find<kernel::BufferOp>(array.getValue());
    found.push_back({array.getValue(), numbers, llvm::product_of(dyn::extents(buffer.getType()))});
    numbers += found.back().numbers;
  }
  return found;
}

int64_t KernelEmitter::numbersOfSlice() const {
  FlatSymbolRefAttr sums = kernel::FuncOp(func_).getSlicesAttr().getSums();
  return dyn::extents(program_.find<kernel::BufferOp>(sums.getValue()).getType())[1];
}

bool KernelEmitter::checks() const {
  bool found = false;
  kernel::FuncOp(func_).walk([&](Operation *op) { found |= op->hasTrait<kernel::FailsInput>(); });
  return found;
}

std::vector<kernel::WeightsOp> KernelEmitter::matrices() const {
  std::vector<kernel::WeightsOp> found;
  kernel::FuncOp(func_).walk([&](kernel::ProductOp product) {
    auto matrix = program_.find<kernel::WeightsOp>(product.getWeights());
    if (product.getSums() && !is_contained(found, matrix))
      found.push_back(matrix);
  });
  return found;
}

std::string KernelEmitter::either(int64_t number, int64_t largeM) const {
  return !hasLargeM() || number == largeM ? std::to_string(number)
                                          : "kRows == " + std::to_string(rows()) + " ? " +
                                                std::to_string(number) + " : " + std::to_string(largeM);
}

std::string KernelEmitter::arraySource(StringRef symbol) {
  return uses_(model_.array(program_, symbol).member);
}

/// Of the batch's columns a sub-batch has some rows.
std::string KernelEmitter::arrayType(const Array &array, const std::string &pointer) {
  return array.kind == Array::Field || array.kind == Array::Argument ? "const " + columnType(array) + " "
                                                                     : pointer;
}

/// In a loop that is one launch other stages write a batch's buffers, and other blocks do.
bool KernelEmitter::restricts(StringRef symbol) {
  auto buffer = program_.find<kernel::BufferOp>(symbol);
  return !buffer ||
         program_.find<kernel::IndexSetOp>(buffer.getIndexSet()).getKind() == kernel::IndexSetKind::Model;
}

/// Whether the stage's own loop may be run by blocks that wait for a buffer's elements: its block group reads
/// and writes them.
bool KernelEmitter::isSynced(StringRef symbol) const {
  return loop() && is_contained(loop()->synced, symbol);
}

Expr KernelEmitter::reading(StringRef symbol, const Expr &element) {
  return isSynced(symbol) ? call("block_group.read", {element.text}) : element;
}

std::string KernelEmitter::writing(StringRef symbol, const std::string &element, const std::string &value) {
  if (isSynced(symbol))
    return "block_group.write(" + element + ", " + value + ");";
  if (arrays_.isSynced(symbol))
    return element + " = dbc::cuda::canonicalise_nan(" + value + ");";
  return FunctionEmitter::writing(symbol, element, value);
}

std::string KernelEmitter::indexArraySource(kernel::IndexSetOp indexSet, StringRef indexArray) {
  return uses_(arrays_.indexArray(indexSet, indexArray));
}

std::string KernelEmitter::weightsAlias(kernel::WeightsOp weights, const std::string &name) {
  if (weights.getContract())
    return ""; // a parameter
  return "const dbc::cuda::Matrix<real> " + name + " = " + uses_(program_.nameOf(weights)) + ";";
}

Expr KernelEmitter::orderedRow(kernel::OrderOp op) {
  std::string order = arrays_.order(program_.find<kernel::IndexSetOp>(op.getIndexSet()));
  return call("dbc::cuda::row_at", {uses_(order), use(op.getPosition()).text});
}

void KernelEmitter::emitStageHead(Writer &out) {
  std::string shape = "A block of threads: " + std::to_string(rows()) + " rows";
  if (sums())
    shape = "A block of threads: " + std::string(slices() > 1 ? "a slice of the rows, " : "all rows, ") +
            std::to_string(rows()) + " at once";
  if (hasLargeM())
    shape = "A block of threads: " + std::to_string(rows()) + " or " + std::to_string(largeMRows()) + " rows";
  if (tiles() > 1)
    shape += " of one of " + std::to_string(tiles()) + " tiles";
  if (largeMTiles() > 1)
    shape += ", or of " + std::to_string(largeMTiles()) + " of them";
  for (const std::string &sum : sums_)
    shape += "; " + sum;
  out.comment(shape + ".");
  std::vector<std::string> parameters = {"const Arrays &arrays"};
  for (kernel::WeightsOp matrix : matrices())
    parameters.push_back("const dbc::cuda::Fragments &" +
                         aliases_.at("weights " + matrix.getSymName().str()).name);
  if (loop())
    parameters.push_back("const BlockGroup &block_group");
  parameters.insert(parameters.end(), {"int32_t begin", "int32_t end"});
  if (checks())
    parameters.push_back("int32_t launch");
  if (hasLargeM() || loop())
    out.line(hasLargeM() && loop() ? "template <int32_t kRows, class BlockGroup>"
             : hasLargeM()         ? "template <int32_t kRows>"
                                   : "template <class BlockGroup>");
  out.open("__device__ __forceinline__ void " + program_.nameOf(func_) + "(" + commas(parameters) + ")");
  if (largeMTiles() > 1)
    out.line("constexpr int32_t kTiles = " + either(1, largeMTiles()) + ";");
}

/// Of tiles that blocks share each has one.
void KernelEmitter::emitFor(kernel::ForOp op) {
  if (tiles() == 1 || op.getLow() != func_.getBody().getArgument(2))
    return FunctionEmitter::emitFor(op);
  if (largeMTiles() == 1) {
    std::string tile = nameValue(op.getBody().getArgument(0), "tile");
    out_->line("const int32_t " + tile + " = " + work_ + ".tile();");
    return emitBlock(op.getBody().front(), [](ValueRange) {});
  }
  firstTile_ = scope_->fresh("first_tile");
  out_->line("const int32_t " + firstTile_ + " = " + work_ + ".tile() * kTiles;");
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  tile_ = nameValue(op.getBody().getArgument(0), "tile");
  std::string end = firstTile_ + " + kTiles";
  if (tiles() % largeMTiles() != 0)
    end = "(kTiles == 1 ? " + firstTile_ + " + 1 : std::min(" + end + ", " + std::to_string(tiles()) + "))";
  out_->open("for (int32_t " + tile_ + " = " + firstTile_ + "; " + tile_ + " < " + end + "; ++" + tile_ +
             ")");
  out_->line(arrayOfTile_ + " + (" + tile_ + " - " + firstTile_ + ") * " + sizeOfTile_ + ";");
  emitBlock(op.getBody().front(), [](ValueRange) {});
  out_->close();
  scope_ = outer;
}

/// Of all rows those of a slice, of their sums a tile.
void KernelEmitter::emitRowsInOrder(kernel::BlocksOp op) {
  assert(!loop() && "all blocks of a launch share the slices");
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  work_ = scope_->fresh("work");
  std::string begin = "begin", end = "end", slices = "1";
  if (this->slices() > 1) {
    slices = scope_->fresh("slices");
    out_->line("const int32_t " + slices + " = dbc::cuda::slices_of(end - begin, " +
               std::to_string(this->slices()) + ");");
  }
  out_->open("for (dbc::cuda::TileScheduler " + work_ + "(" + slices + ", " + std::to_string(tiles()) +
             "); " + work_ + ".any(); " + work_ + ".next())");
  if (this->slices() > 1) {
    const std::string slice = scope_->fresh("slice");
    out_->line("const dbc::cuda::RowSlice " + slice + "(begin, end, " + work_ + ".item(), " + slices + ");");
    begin = slice + ".begin";
    end = slice + ".end";
    slices_ = slices;
    // What outer products alone are added to is found where they are: not all addresses are there at once.
    for (const SliceSums &sums : sliceSums())
      if (storesOneByOne(sums.array))
        out_->line(arrayName(sums.array) + " = " + sumsOfSlice(sums.array, arraySource(sums.array)) + ";");
  }
  if (tiles() > 1)
    out_->line("const int32_t tile_begin = " + work_ + ".tile();");
  const std::string size = std::to_string(op.getSize());
  std::string first = nameValue(op.getBody().getArgument(0), "first");
  std::string count = nameValue(op.getBody().getArgument(1), "count");
  out_->open("for (int32_t " + first + " = " + begin + "; " + first + " < " + end + "; " + first +
             " += " + size + ")");
  out_->line("const int32_t " + count + " = std::min(" + size + ", " + end + " - " + first + ");");
  emitBlock(op.getBody().front(), [](ValueRange) {});
  out_->close();
  out_->close();
  scope_ = outer;
}

void KernelEmitter::emitBlocks(kernel::BlocksOp op) {
  if (sums())
    return emitRowsInOrder(op);
  std::string size = rowsText(), tiles = std::to_string(this->tiles());
  if (largeMTiles() > 1)
    tiles = "(" + std::to_string(this->tiles() - 1) + " + kTiles) / kTiles";
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  work_ = scope_->fresh("work");
  out_->open("for (dbc::cuda::TileScheduler " + work_ + "((end - begin + " +
             (hasLargeM() ? "kRows - 1" : std::to_string(op.getSize() - 1)) + ") / " + size + ", " + tiles +
             (loop() ? ", block_group" : "") + "); " + work_ + ".any(); " + work_ + ".next())");
  std::string first = nameValue(op.getBody().getArgument(0), "first");
  std::string count = nameValue(op.getBody().getArgument(1), "count");
  out_->line("const int32_t " + first + " = begin + " + work_ + ".item() * " + size + ";");
  out_->line("const int32_t " + count + " = std::min(" + size + ", end - " + first + ");");
  emitBlock(op.getBody().front(), [](ValueRange) {});
  out_->close();
  scope_ = outer;
}

void KernelEmitter::emitOfThreads(Operation *op) {
  if (isa<kernel::BarrierOp>(op))
    return out_->line("__syncthreads();");
  if (auto warps = dyn_cast<kernel::WarpsOp>(op))
    return emitWarps(warps);
  if (auto lanes = dyn_cast<kernel::LanesOp>(op))
    return emitLanes(lanes);
  auto threads = cast<kernel::ThreadsOp>(op);
  std::string count = inside(use(threads.getCount()), Bind::Add);
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  std::string name = nameValue(threads.getBody().getArgument(0), "n");
  body("for (int32_t " + name + " = threadIdx.x; " + name + " < " + count + "; " + name + " += blockDim.x)",
       [&] { emitBlock(threads.getBody().front(), [](ValueRange) {}); });
  scope_ = outer;
}

void KernelEmitter::emitWarps(kernel::WarpsOp op) {
  std::string count = inside(use(op.getCount()), Bind::Add);
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  std::string name = nameValue(op.getBody().getArgument(0), "n");
  out_->open("for (int32_t " + name + " = threadIdx.x / dbc::cuda::kWarp; " + name + " < " + count + "; " +
             name + " += dbc::cuda::kWarps)");
  lane_ = scope_->fresh("lane");
  out_->line("const int32_t " + lane_ + " = threadIdx.x % dbc::cuda::kWarp;");
  emitBlock(op.getBody().front(), [](ValueRange) {});
  lane_ = "";
  out_->close();
  scope_ = outer;
}

void KernelEmitter::emitLanes(kernel::LanesOp op) {
  static constexpr struct {
    const char *function, *role;
  } kinds[] = {{"sum_of_lanes", "sum"}, {"most_of_lanes", "most"}, {"least_of_lanes", "least"}};
  Block &block = op.getBody().front();
  std::string carried, function, at;
  if (op.getCombine()) {
    function = kinds[int(*op.getCombine())].function;
    Value soFar = block.getArgument(1);
    std::string start = use(op.getInit()).text;
    carried = nameValue(op.getResult(),
                        sourceName(soFar).empty() ? kinds[int(*op.getCombine())].role : sourceName(soFar));
    values_[soFar] = {carried};
    out_->line(declare(op.getResult(), carried) + " = " + start + ";");
    if (*op.getCombine() != kernel::Combine::Add) { // of equals the first: zeros have two signs
      at = scope_->fresh(carried + "_at");
      out_->line("int32_t " + at + " = -1;");
    }
    addSum("of a row each lane of a warp has every 32nd number, then those 16, 8, 4, 2 and 1 apart combine "
           "theirs");
  }
  std::string lane = std::exchange(lane_, ""), low = use(op.getLow()).text,
              high = inside(use(op.getHigh()), Bind::Add);
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  std::string name = nameCounter(block.getArgument(0));
  body("for (int32_t " + name + " = " + (low == "0" ? "" : low + " + ") + lane + "; " + name + " < " + high +
           "; " + name + " += dbc::cuda::kWarp)",
       [&] {
         emitBlock(block, [&](ValueRange values) {
           if (values.empty())
             return;
           std::string before = at.empty() ? "" : scope_->fresh("before");
           if (!at.empty())
             out_->line("const " + scalarType(values[0].getType()) + " " + before + " = " + carried + ";");
           out_->line(assignment(carried, values[0]));
           if (!at.empty())
             body("if (" + carried + " != " + before + ")", [&] { out_->line(at + " = " + name + ";"); });
         });
       });
  scope_ = outer;
  lane_ = lane;
  if (!carried.empty())
    out_->line(carried + " = dbc::cuda::" + function + "(" + carried + (at.empty() ? "" : ", " + at) + ");");
}

void KernelEmitter::emitWrite(const std::string &statement) {
  if (lane_.empty())
    return out_->line(statement);
  body("if (" + lane_ + " == 0)", [&] { out_->line(statement); });
}

void KernelEmitter::emitLocal(kernel::LocalOp op) {
  if (op->use_empty())
    return;
  std::string element = pointee(op.getType().getElement(), false), name = nameValue(op.getResult());
  if (op.getMemory() == kernel::Memory::Shared)
    return emitShared(op, element, name);
  out_->line(element + " *const " + name + " = dbc::cuda::block_scratch<" + element + ">(" +
             uses_("scratch") + ", " + std::to_string(*op.getOffset()) + ");");
}

void KernelEmitter::emitShared(kernel::LocalOp op, const std::string &element, const std::string &name) {
  if (hasLargeM() && !kernel::isOfRows(op))
    return emitSums(op, element, name);
  std::string extents, offset = either(*op.getOffset(), op.getLargeM().value_or(0)), all = name;
  for (auto [axis, extent] : llvm::enumerate(op.getType().getShape()))
    extents +=
        (axis > 0 ? " * " : "") + (axis == 0 && kernel::isOfRows(op) ? rowsText() : std::to_string(extent));
  if (kernel::largeMTiles(op) > 1) {
    all = scope_->fresh(name + "_of_tiles");
    arrayOfTile_ = element + " *const " + name + " = " + all;
    sizeOfTile_ = "(" + extents + ")";
    extents = "kTiles * " + extents;
  }
  out_->line("DBC_SHARED(" + commas({element, all, offset, extents}) + ");");
}

/// What warps add up of a function's products is one array, which comes first: each has a part of it, or in
/// large-M tiles all of it.
void KernelEmitter::emitSums(kernel::LocalOp op, const std::string &element, const std::string &name) {
  if (allSums_.empty()) {
    int64_t bytes = 0, largeMBytes = 0;
    kernel::FuncOp(func_).walk([&](kernel::LocalOp local) {
      if (local->use_empty() || kernel::isOfRows(local))
        return;
      bytes += kernel::blockBytes(local, model_.bytes("real"));
      largeMBytes = std::max(largeMBytes, kernel::largeMBytes(local));
    });
    allSums_ = name;
    assert(op.getOffset() == 0 && "what warps add up comes first");
    out_->line("DBC_SHARED(" + commas({element, name, "0", either(bytes / 4, largeMBytes / 4)}) + ");");
  } else {
    out_->line(element + " *const " + name + " = " + allSums_ + " + (" + either(*op.getOffset() / 4, 0) +
               ");");
  }
}

//===-- Products ----------------------------------------------------------------------------------------===//

std::string KernelEmitter::segment(Value value, int64_t length, bool onTensorCores) {
  auto op = value.getDefiningOp<kernel::RowsOp>();
  auto plus = [](const std::string &base, const std::string &offset) {
    return offset == "0" ? base : base + " + " + offset;
  };
  std::string base, via = "nullptr", offset = std::to_string(op.getOffset());
  int64_t stride;
  if (Value local = op.getLocal()) {
    stride = rowSize(cast<kernel::LocalType>(local.getType()));
    base = plus(use(local).text, offset);
  } else {
    stride = model_.array(program_, *op.getArray()).stride;
    base = arrayName(*op.getArray());
    if (op.getVia())
      via = use(op.getVia()).text;
    else if (op.getIndexSet())
      via = plus(indexArrayName(*op.getIndexSet(), *op.getIndexArray()), use(op.getFrom()).text);
    else if (op.getFrom())
      base = plus(base, "int64_t(" + use(op.getFrom()).text + ")" +
                            (stride == 1 ? "" : " * " + std::to_string(stride)));
    base = plus(base, offset);
  }
  bool aligned = onTensorCores && stride % 4 == 0 && op.getOffset() % 4 == 0;
  std::vector<std::string> arguments = {base, via, std::to_string(stride), std::to_string(length)};
  if (op.getArray() && isSynced(*op.getArray()))
    arguments.push_back("block_group");
  std::string text = call(aligned ? "dbc::cuda::aligned_segment" : "dbc::cuda::segment", arguments).text;
  auto local = op.getLocal() ? op.getLocal().getDefiningOp<kernel::LocalOp>() : kernel::LocalOp();
  const bool shared = local && local.getMemory() == kernel::Memory::Shared;
  return (hasLargeM() || sums()) && shared ? call("dbc::cuda::shared_segment", {text}).text : text;
}

/// "1 slice", "8 slices".
static std::string counted(int64_t n, StringRef what) {
  return std::to_string(n) + " " + what.str() + (n == 1 ? "" : "s");
}

void KernelEmitter::addSum(std::string words) {
  if (!llvm::is_contained(sums_, words))
    sums_.push_back(std::move(words));
}

void KernelEmitter::emitProduct(kernel::ProductOp op) {
  auto weights = program_.find<kernel::WeightsOp>(op.getWeights());
  std::string name = aliases_.at("weights " + op.getWeights().str()).name;
  int64_t gates = weights.getGates().value_or(1), channels = weights.getOut() / gates;
  std::string number = op.getTile() ? use(op.getTile()).text : "0";
  std::string tile =
      op.getTile() ? call("dbc::cuda::tile_of", {number, std::to_string(gates), std::to_string(channels),
                                                 std::to_string(*weights.getWidth())})
                         .text
                   : call("dbc::cuda::all_of", {std::to_string(weights.getOut())}).text;
  kernel::ContractAttr contract = op.getSums() ? weights.getContractAttr() : kernel::ContractAttr();
  std::string function = op.getTable() ? "product_of_tables" : "product",
              sums = "sums of products run in the order of their inputs";
  std::vector<std::string> arguments = {use(op.getCount()).text};
  if (contract) {
    std::string instruction = kernel::stringifyInstruction(contract.getInstruction()).str();
    function =
        "TensorCores<" +
        commas({"dbc::cuda::Math::" + instruction, std::to_string(contract.getSlices()),
                std::to_string(contract.getNTiles())}) +
        ">::" + (hasLargeM() ? "template " : "") + "product<" +
        commas({rowsText(), std::to_string(kernel::outputsOf(op)), largeMTiles() > 1 ? "kTiles" : "1"}) + ">";
    sums = "products on the tensor cores (" + instruction + ") in " +
           counted(contract.getSlices(), "split-K slice");
    arguments.insert(arguments.end(), {name, number, tile, use(op.getSums()).text, use(op.getInto()).text});
  } else {
    if (op.getTable())
      arguments.push_back(use(op.getTable()).text);
    arguments.insert(arguments.end(), {name, tile, use(op.getInto()).text});
  }
  addSum(sums);
  for (auto [x, length] : llvm::zip(op.getX(), op.getLengths()))
    arguments.push_back(segment(x, length, contract != nullptr));
  std::string text = "dbc::cuda::" + function + "(" + commas(arguments) + ");";
  if (largeMTiles() == 1)
    return out_->line(text);
  body("if (" + tile_ + " == " + firstTile_ + ")", [&] { out_->line(text); }); // gives all tiles
}

void KernelEmitter::emitMultiply(kernel::MultiplyOp op) {
  auto into = cast<kernel::LocalType>(op.getInto().getType());
  std::string row = use(op.getRow()).text, y = use(op.getInto()).text;
  if (row != "0")
    y += " + " + row + " * " + std::to_string(rowSize(into));
  int64_t inputs = 0;
  for (int64_t length : op.getLengths())
    inputs += length;
  std::vector<std::string> arguments = {row, std::to_string(op.getHeight()), std::to_string(op.getOutputs()),
                                        y, segment(op.getA(), inputs)};
  for (auto [slice, length] : llvm::zip(op.getB(), op.getLengths()))
    arguments.push_back(segment(slice, length));
  out_->line("dbc::cuda::multiply(" + commas(arguments) + ");");
}

bool KernelEmitter::storesOneByOne(StringRef array) {
  bool found = false;
  kernel::FuncOp(func_).walk([&](kernel::StoreOp store) { found |= store.getArray() == array; });
  return found;
}

/// Where the slice in hand adds up what goes to an array, which lies at `base`.
std::string KernelEmitter::sumsOfSlice(StringRef array, const std::string &base) {
  const std::vector<SliceSums> all = sliceSums();
  const SliceSums &sums = *llvm::find_if(all, [&](const SliceSums &each) { return each.array == array; });
  return call("dbc::cuda::sums_of", {base, uses_(ofSlices()), std::to_string(sums.offset),
                                     std::to_string(numbersOfSlice()), work_ + ".item()", slices_})
      .text;
}

void KernelEmitter::emitOuter(kernel::OuterOp op) {
  auto into = [&](StringRef array) {
    return slices() > 1 && !storesOneByOne(array) ? sumsOfSlice(array, arrayName(array)) : arrayName(array);
  };
  const std::string tiles =
      op.getTiles().empty() ? "0, 1" : commas({use(op.getTiles()[0]).text, std::to_string(this->tiles())});
  std::vector<std::string> arguments = {use(op.getCount()).text, std::to_string(op.getHeight()), tiles};
  std::string function = "add_outer_products_in_order<real>";
  if (op.getInstruction()) {
    const std::string instruction = kernel::stringifyInstruction(*op.getInstruction()).str();
    function = "add_outer_products<dbc::cuda::Math::" + instruction + ">";
    addSum("outer products on the tensor cores (" + instruction + ")");
    arguments.push_back(use(op.getMemory()).text);
  } else {
    addSum("sums over rows run in their order");
  }
  arguments.insert(arguments.end(), {into(op.getInto()), op.getBias() ? into(*op.getBias()) : "nullptr",
                                     segment(op.getA(), op.getHeight(), op.getInstruction().has_value()),
                                     segment(op.getX(), op.getOutputs(), op.getInstruction().has_value())});
  out_->line("dbc::cuda::" + function + "(" + commas(arguments) + ");");
}

//===-- What is wrong -----------------------------------------------------------------------------------===//

std::string KernelEmitter::recordError(Operation *op, const std::string &row,
                                       const std::vector<std::string> &numbers) {
  Operation *mapped = op->getParentOp();
  while (!isa<kernel::ThreadsOp, kernel::WarpsOp>(mapped))
    mapped = mapped->getParentOp();
  int loop = 0;
  func_.walk<WalkOrder::PreOrder>([&](Operation *other) {
    if (other == mapped)
      return WalkResult::interrupt();
    loop += isa<kernel::ThreadsOp, kernel::WarpsOp>(other);
    return WalkResult::advance();
  });
  std::string iteration = use(mapped->getRegion(0).getArgument(0)).text;
  if (auto around = dyn_cast<kernel::ForOp>(mapped->getParentOp())) // a row has tiles, one behind the other
    iteration = inside(use(around.getBody().front().getArgument(0)), Bind::Multiply) + " * " +
                inside(use(mapped->getOperand(0)), Bind::Unary) + " + " + iteration;
  std::string position = "{" + commas({row, std::to_string(loop), iteration}) + "}";
  std::vector<std::string> arguments = {uses_("errors"), "launch", std::to_string(model_.check(op)),
                                        position};
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  return "dbc::cuda::record_error(" + commas(arguments) + ");";
}

std::string KernelEmitter::ofOneThread(const Expr &condition) {
  return lane_.empty() ? condition.text : inside(condition, Bind::LogicalAnd) + " && " + lane_ + " == 0";
}

void KernelEmitter::emitCheck(kernel::CheckOp op) {
  std::vector<std::string> numbers;
  for (Value value : op.getValues())
    numbers.push_back(use(value).text);
  std::string row = numbers.front();
  numbers.erase(numbers.begin());
  std::string text = recordError(op, row, numbers);
  body("if (" + ofOneThread(negated(use(op.getCondition()))) + ")", [&] { out_->line(text); });
}

void KernelEmitter::emitInt(kernel::IntOp op) {
  std::string row = use(op.getRow()).text, a = use(op.getA()).text, b = use(op.getB()).text,
              name = nameValue(op.getResult());
  out_->line("int32_t " + name + " = 0;");
  Expr fails = {"!dbc::cuda::checked_" + intFunction(op.getKind()).str() + "(" + commas({a, b, "&" + name}) +
                ")"};
  body("if (" + ofOneThread(fails) + ")", [&] { out_->line(recordError(op, row, {a, b})); });
}

} // namespace dbc::codegen
