// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/KernelEmitter.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

KernelEmitter::KernelEmitter(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
                             kernel::FuncOp func)
    : FunctionEmitter(model, program, func), arrays_(arrays) {
  for (StringRef word : {"arrays", "launch", "threadIdx", "blockIdx", "blockDim", "gridDim"})
    top_.reserve(word);
}

int64_t KernelEmitter::rows() {
  int64_t rows = 1;
  func_.walk([&](kernel::BlocksOp blocks) { rows = blocks.getSize(); });
  return rows;
}

bool KernelEmitter::checks() {
  bool found = false;
  func_.walk([&](Operation *op) { found |= isa<kernel::CheckOp, kernel::IntOp>(op); });
  return found;
}

int64_t KernelEmitter::tiles() {
  auto tiles = func_->getAttrOfType<IntegerAttr>("tiles");
  return tiles ? tiles.getInt() : 1;
}

std::string KernelEmitter::arraySource(StringRef symbol) {
  return "arrays." + model_.array(program_, symbol).member;
}

/// In a loop that is one launch other stages write a batch's buffers, and other blocks do.
bool KernelEmitter::restricts(StringRef symbol) {
  auto buffer = program_.find<kernel::BufferOp>(symbol);
  return !buffer || program_.find<kernel::SpaceOp>(buffer.getSpace()).getKind() == kernel::SpaceKind::Model;
}

std::string KernelEmitter::columnSource(kernel::SpaceOp space, StringRef column) {
  return "arrays." + arrays_.column(space, column);
}

std::string KernelEmitter::weightsAlias(kernel::WeightsOp weights, const std::string &name) {
  return "const dbc::cuda::Matrix<real> " + name + " = arrays." + program_.nameOf(weights) + ";";
}

Expr KernelEmitter::orderedRow(kernel::OrderOp op) {
  std::string order = arrays_.order(program_.find<kernel::SpaceOp>(op.getSpace()));
  return call("dbc::cuda::row_at", {"arrays." + order, use(op.getPosition()).text});
}

void KernelEmitter::emitStageHead(Writer &out) {
  std::string shape = "A block of threads: " + std::to_string(rows()) + " rows";
  if (tiles() > 1)
    shape += " of one of " + std::to_string(tiles()) + " tiles";
  if (hasProduct_)
    shape += "; sums of products run in the order of their inputs";
  out.comment(shape + ".");
  out.open("__device__ __forceinline__ void " + program_.nameOf(func_) +
           "(const Arrays &arrays, int32_t begin, int32_t end" + (checks() ? ", int32_t launch" : "") + ")");
}

/// Of tiles that blocks share each has one.
void KernelEmitter::emitFor(kernel::ForOp op) {
  if (tiles() == 1 || op.getLow() != func_.getBody().getArgument(2))
    return FunctionEmitter::emitFor(op);
  std::string tile = nameValue(op.getBody().getArgument(0), "tile");
  out_->line("const int32_t " + tile + " = " + work_ + " % " + std::to_string(tiles()) + ";");
  emitBlock(op.getBody().front(), [](ValueRange) {});
}

void KernelEmitter::emitBlocks(kernel::BlocksOp op) {
  std::string size = std::to_string(op.getSize()), tiles = std::to_string(this->tiles());
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  work_ = scope_->fresh("work");
  std::string blocks = "(end - begin + " + std::to_string(op.getSize() - 1) + ") / " + size, number = work_;
  if (this->tiles() > 1) {
    blocks += " * " + tiles;
    number += " / " + tiles;
  }
  std::string all = scope_->fresh("blocks");
  out_->line("const int32_t " + all + " = " + blocks + ";");
  out_->open("for (int32_t " + work_ + " = blockIdx.x; " + work_ + " < " + all + "; " + work_ +
             " += gridDim.x)");
  std::string first = nameValue(op.getBody().getArgument(0), "first");
  std::string count = nameValue(op.getBody().getArgument(1), "count");
  out_->line("const int32_t " + first + " = begin + " + number + " * " + size + ";");
  out_->line("const int32_t " + count + " = std::min(" + size + ", end - " + first + ");");
  emitBlock(op.getBody().front(), [](ValueRange) {});
  out_->close();
  scope_ = outer;
}

void KernelEmitter::emitOfThreads(Operation *op) {
  if (isa<kernel::BarrierOp>(op))
    return out_->line("__syncthreads();");
  auto threads = cast<kernel::ThreadsOp>(op);
  std::string count = inside(use(threads.getCount()), Bind::Add);
  NameScope inner(scope_), *outer = scope_;
  scope_ = &inner;
  std::string name = nameValue(threads.getBody().getArgument(0), "n");
  body("for (int32_t " + name + " = threadIdx.x; " + name + " < " + count + "; " + name + " += blockDim.x)",
       [&] { emitBlock(threads.getBody().front(), [](ValueRange) {}); });
  scope_ = outer;
}

void KernelEmitter::emitLocal(kernel::LocalOp op) {
  if (op->use_empty())
    return;
  int64_t count = 1;
  std::string extents;
  for (int64_t extent : op.getType().getShape()) {
    count *= extent;
    extents += (extents.empty() ? "" : " * ") + std::to_string(extent);
  }
  std::string element = pointee(op.getType().getElement(), false), name = nameValue(op.getResult());
  if (op.getMemory() == kernel::Memory::Shared) {
    out_->line("DBC_SHARED(" + commas({element, name, std::to_string(sharedBytes_), extents}) + ");");
    sharedBytes_ += (count * model_.bytes(element) + 15) / 16 * 16;
    return;
  }
  out_->line(element + " *const " + name + " = dbc::cuda::block_scratch<" + element + ">(arrays.scratch, " +
             std::to_string(blockScratch_) + ");");
  blockScratch_ += (count * model_.bytes(element) + 255) / 256 * 256;
}

//===-- Products ----------------------------------------------------------------------------------------===//

std::string KernelEmitter::segment(Value value, int64_t length) {
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
    stride = model_.array(program_, *op.getArray()).rowSize();
    base = arrayName(*op.getArray());
    if (op.getVia())
      via = use(op.getVia()).text;
    else if (op.getFrom())
      base = plus(base, "int64_t(" + use(op.getFrom()).text + ")" +
                            (stride == 1 ? "" : " * " + std::to_string(stride)));
    base = plus(base, offset);
  }
  return call("dbc::cuda::segment", {base, via, std::to_string(stride), std::to_string(length)}).text;
}

void KernelEmitter::emitProduct(kernel::ProductOp op) {
  hasProduct_ = true;
  auto weights = program_.find<kernel::WeightsOp>(op.getWeights());
  std::string name = aliases_.at("weights " + op.getWeights().str()).name;
  int64_t gates = weights.getGates().value_or(1), units = weights.getOut() / gates;
  std::string tile =
      op.getTile() ? call("dbc::cuda::tile_of", {use(op.getTile()).text, std::to_string(gates),
                                                 std::to_string(units), std::to_string(*weights.getWidth())})
                         .text
                   : call("dbc::cuda::all_of", {std::to_string(weights.getOut())}).text;
  std::vector<std::string> arguments = {use(op.getCount()).text};
  if (op.getTable())
    arguments.push_back(use(op.getTable()).text);
  arguments.insert(arguments.end(), {name, tile, use(op.getInto()).text});
  for (auto [x, length] : llvm::zip(op.getX(), op.getLengths()))
    arguments.push_back(segment(x, length));
  out_->line((op.getTable() ? "dbc::cuda::product_of_tables(" : "dbc::cuda::product(") + commas(arguments) +
             ");");
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
  for (auto [part, length] : llvm::zip(op.getB(), op.getLengths()))
    arguments.push_back(segment(part, length));
  out_->line("dbc::cuda::multiply(" + commas(arguments) + ");");
}

//===-- What is wrong -----------------------------------------------------------------------------------===//

std::string KernelEmitter::fault(Operation *op, const std::string &row,
                                 const std::vector<std::string> &numbers) {
  auto threads = op->getParentOfType<kernel::ThreadsOp>();
  assert(threads && "checks are made by one thread");
  int loop = 0;
  func_.walk<WalkOrder::PreOrder>([&](kernel::ThreadsOp other) {
    if (other == threads)
      return WalkResult::interrupt();
    ++loop;
    return WalkResult::advance();
  });
  std::string place =
      "{" + commas({row, std::to_string(loop), use(threads.getBody().getArgument(0)).text}) + "}";
  std::vector<std::string> arguments = {"arrays.faults", "launch", std::to_string(arrays_.check(op)), place};
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  return "dbc::cuda::fault(" + commas(arguments) + ");";
}

void KernelEmitter::emitCheck(kernel::CheckOp op) {
  std::vector<std::string> numbers;
  for (Value value : op.getValues())
    numbers.push_back(use(value).text);
  std::string row = numbers.front();
  numbers.erase(numbers.begin());
  std::string text = fault(op, row, numbers);
  body("if (" + negated(use(op.getCondition())).text + ")", [&] { out_->line(text); });
}

void KernelEmitter::emitInt(kernel::IntOp op) {
  std::string row = use(op.getRow()).text, a = use(op.getA()).text, b = use(op.getB()).text,
              name = nameValue(op.getResult());
  out_->line("int32_t " + name + " = 0;");
  body("if (!dbc::cuda::checked_" + intFunction(op.getKind()).str() + "(" + commas({a, b, "&" + name}) + "))",
       [&] { out_->line(fault(op, row, {a, b})); });
}

} // namespace dbc::codegen
