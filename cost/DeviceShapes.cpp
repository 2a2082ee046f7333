// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "cost/DeviceShapes.h"
#include "ir/Kernel/LargeM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include <dbc/cuda/arrays.h>

using namespace mlir;

namespace dbc::cost {

static std::optional<int64_t> constant(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

/// Operations that one thread does one behind the other. A loop whose length the model does not say counts
/// as one iteration.
static int64_t operationsOf(Block &block) {
  constexpr int64_t kFunction = 20; // of exp, tanh and the like
  constexpr int64_t kMeeting = 10;  // of a warp's lanes, which combine what they have in five steps
  int64_t operations = 0;
  for (Operation &op : block) {
    if (isa<arith::ConstantOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto loop = dyn_cast<kernel::ForOp>(op)) {
      std::optional<int64_t> low = constant(loop.getLow()), high = constant(loop.getHigh());
      operations += (low && high ? *high - *low : 1) * operationsOf(loop.getBody().front());
      continue;
    }
    if (auto lanes = dyn_cast<kernel::LanesOp>(op)) {
      std::optional<int64_t> low = constant(lanes.getLow()), high = constant(lanes.getHigh());
      operations += (low && high ? llvm::divideCeil(*high - *low, kernel::kLanes) : 1) *
                        operationsOf(lanes.getBody().front()) +
                    (lanes.getCombine() ? kMeeting : 0);
      continue;
    }
    bool function = isa<math::MathDialect>(op.getDialect()) || isa<kernel::FunctionOp>(op);
    operations += function ? kFunction : 1;
    for (Region &region : op.getRegions())
      if (!region.empty())
        operations += operationsOf(region.front());
  }
  return operations;
}

/// How often a block does an operation of a stage: loops around it whose length the model says, as over the
/// tiles that blocks do not share.
static int64_t timesOf(Operation *op) {
  int64_t times = 1;
  for (auto loop = op->getParentOfType<kernel::ForOp>(); loop; loop = loop->getParentOfType<kernel::ForOp>())
    if (std::optional<int64_t> low = constant(loop.getLow()), high = constant(loop.getHigh()); low && high)
      times *= *high - *low;
  return times;
}

/// How many iterations of each row a block's threads or warps share.
static int64_t elementsOf(Value count) {
  auto times = count.getDefiningOp<arith::MulIOp>();
  return times ? constant(times.getRhs()).value_or(1) : 1;
}

// The compiler plans for the tensor cores and blocks of threads that the runtime has.
static_assert(kernel::kNTile == cuda::kNTile && kernel::kKTile == cuda::kKTile &&
              kernel::kMTile == cuda::kMTile && kernel::kWarps == cuda::kWarps &&
              kernel::kLanes == cuda::kWarp && kernel::kLargeMRows == cuda::kLargeMRows &&
              kernel::kMostNTilesOfWarp == cuda::kMostNTilesOfWarp);
static constexpr bool plansLargeMAsTheRuntimeDoes() {
  for (int32_t outputs = 1; outputs <= 512; ++outputs)
    for (int32_t tiles : {1, 2, 4, 6, 8, 10})
      if (kernel::largeMNTiles(outputs, tiles) != cuda::large_m_n_tiles(outputs, tiles))
        return false;
  for (int32_t nTiles = 1; nTiles <= 64; ++nTiles)
    for (int32_t operands = 1; operands <= 8; ++operands)
      if (kernel::largeMScratch(nTiles, operands) !=
          cuda::large_m_scratch(nTiles, operands) * int64_t(sizeof(float)))
        return false;
  return true;
}
static_assert(plansLargeMAsTheRuntimeDoes());
static_assert(kernel::kSliceRows == cuda::kSliceRows);
static_assert(kernel::kSumTile == cuda::kSumTile && kernel::kSumTileScratch == cuda::kSumTileScratch);

/// Of a product with a matrix.
static ProductShape shapeOf(kernel::ProductOp product, SymbolTable &names) {
  auto weights = names.lookup<kernel::WeightsOp>(product.getWeights());
  const int64_t outputs = kernel::outputsOf(product);
  if (product.getSums()) {
    const int64_t atOnce = kernel::largeMTiles(product);
    ProductShape shape{weights.getNTileCount() * kernel::kNTile, weights.getKTileCount() * kernel::kKTile,
                       kernel::stringifyInstruction(weights.getContract()->getInstruction()).str(), 1, true};
    // Of several tiles empty halves of N tiles are left out; a single tile is filled up to what warps have.
    const int64_t nTiles = kernel::largeMNTiles(outputs, atOnce) * kernel::kNTile;
    shape.largeMOutputs = atOnce > 1 ? atOnce * llvm::alignTo(outputs, kernel::kNTile / 2)
                                     : int64_t(llvm::alignTo(outputs, nTiles));
    return shape;
  }
  const bool one = !weights.getTables();
  return {outputs, int64_t(weights.getIn()), "ffma", one ? cuda::kRowsAtOnce : 1, one};
}

static KernelShape shapeOf(kernel::FuncOp func, SymbolTable &names) {
  KernelShape shape;
  shape.name = func.getStageName().str();
  shape.threads = cuda::kThreads;
  shape.largeM = func.getLargeM() ? kernel::kLargeMRows : 0;
  shape.largeMTiles = kernel::largeMTiles(func);
  shape.tiles = func.getTiles().value_or(1);
  shape.sums = func.getSums();
  shape.slices = func.getSliceCount();
  if (kernel::SlicesAttr slices = func.getSlicesAttr())
    for (FlatSymbolRefAttr array : slices.getArrays())
      shape.summed +=
          llvm::product_of(dyn::extents(names.lookup<kernel::BufferOp>(array.getValue()).getType()));
  if (kernel::WorkAttr work = func.getWorkAttr()) {
    shape.bytesRead = work.getRealsRead() * sizeof(float) + work.getBytesRead();
    shape.bytesWritten = work.getRealsWritten() * sizeof(float) + work.getBytesWritten();
  }
  shape.shared = kernel::blockBytes(func, kernel::Memory::Shared, sizeof(float));
  shape.largeMShared = kernel::blockBytes(func, kernel::Memory::Shared, sizeof(float), shape.largeM > 0);
  shape.residentBlocks = kernel::residentBlocks(func, sizeof(float));
  shape.largeMResidentBlocks = kernel::residentBlocks(func, sizeof(float), shape.largeM > 0);
  if (func.getClears()) {
    int64_t numbers = 0, most = 0;
    for (auto array : func.getClearsAttr().getAsRange<FlatSymbolRefAttr>()) {
      const int64_t own =
          llvm::product_of(dyn::extents(names.lookup<kernel::BufferOp>(array.getValue()).getType()));
      numbers += own;
      most = std::max(most, own);
    }
    shape.tiles = cuda::blocks_of_numbers(most);
    shape.elements.push_back({int64_t(llvm::divideCeil(numbers, shape.tiles)), 1});
    return shape;
  }
  func.walk([&](Operation *op) {
    if (auto gemm = dyn_cast<kernel::GemmOp>(op)) {
      // As if a library had tiles of 128 x 128, of which each thread has 64 sums. Not measured.
      constexpr int64_t kTile = 128, kSums = 64;
      auto matrix = names.lookup<kernel::WeightsOp>(gemm.getWeights());
      shape.rows = kTile;
      shape.tiles = llvm::divideCeil(int64_t(matrix.getOut()), kTile);
      shape.products.push_back({std::min<int64_t>(matrix.getOut(), kTile), int64_t(matrix.getIn()),
                                gemm.getTf32() ? "tf32" : "ffma", kSums, true});
    } else if (auto blocks = dyn_cast<kernel::BlocksOp>(op)) {
      shape.rows = blocks.getSize();
    } else if (auto outer = dyn_cast<kernel::OuterOp>(op)) {
      const std::string instruction =
          outer.getInstruction() ? kernel::stringifyInstruction(*outer.getInstruction()).str() : "ffma";
      const int64_t own = llvm::divideCeil(kernel::sumTiles(outer), shape.tiles);
      shape.outerProducts.push_back({own * kernel::kSumTile * kernel::kSumTile, 1, instruction});
      shape.bytesOfTile += own *
                           (std::min<int64_t>(outer.getHeight(), kernel::kSumTile) +
                            std::min<int64_t>(outer.getOutputs(), kernel::kSumTile)) *
                           int64_t(sizeof(float));
    } else if (auto product = dyn_cast<kernel::ProductOp>(op)) {
      shape.products.push_back(shapeOf(product, names));
      shape.products.back().outputs *= timesOf(op);
    } else if (auto multiply = dyn_cast<kernel::MultiplyOp>(op)) {
      int64_t inputs = 0;
      for (int64_t length : multiply.getLengths())
        inputs += length;
      shape.products.push_back({int64_t(multiply.getHeight() * multiply.getOutputs()) * timesOf(op), inputs,
                                "ffma",
                                /*rowsAtOnce=*/1, /*shared=*/false});
    } else if (auto threads = dyn_cast<kernel::ThreadsOp>(op);
               threads && shape.sums && constant(threads.getCount())) {
      // The loop over rows counts with the rows.
      shape.summedElements.push_back(
          {*constant(threads.getCount()), operationsOf(threads.getBody().front())});
    } else if (auto threads = dyn_cast<kernel::ThreadsOp>(op)) {
      shape.elements.push_back(
          {elementsOf(threads.getCount()), operationsOf(threads.getBody().front()) * timesOf(op)});
    } else if (auto warps = dyn_cast<kernel::WarpsOp>(op)) {
      shape.elements.push_back({elementsOf(warps.getCount()) * kernel::kLanes,
                                operationsOf(warps.getBody().front()) * timesOf(op)});
    }
  });
  return shape;
}

/// A loop that may be one launch, and which of a kernel's matrices are resident in it.
static void putIn(Operation &loop, kernel::FuncOp func, SymbolTable &names, KernelShape &kernel) {
  llvm::SmallSetVector<Attribute, 4> resident;
  loop.walk([&](kernel::CopyAsyncOp copy) {
    if (!resident.insert(copy.getWeightsAttr()))
      return;
    auto matrix = names.lookup<kernel::WeightsOp>(copy.getWeights());
    kernel.persistent.residentBytes += matrix.getTileBytes();
    kernel.persistent.tiles = std::max(kernel.persistent.tiles, matrix.getTileCount());
  });
  loop.walk([&](kernel::LaunchOp launch) {
    auto stage = names.lookup<kernel::FuncOp>(launch.getFunc());
    kernel.persistent.shared =
        std::max(kernel.persistent.shared, kernel::blockBytes(stage, kernel::Memory::Shared, sizeof(float)));
  });
  size_t number = 0; // products of two matrices of a row are none of a matrix
  func.walk([&](Operation *op) {
    auto product = dyn_cast<kernel::ProductOp>(op);
    if (product)
      kernel.products[number].resident = resident.contains(product.getWeightsAttr());
    number += isa<kernel::ProductOp, kernel::MultiplyOp>(op);
  });
}

/// The bytes that a stage writes of a row of buffers whose elements blocks wait for.
static int64_t bytesSynced(kernel::TimeStepLoopInterface loop, kernel::FuncOp func, SymbolTable &names) {
  llvm::SmallSetVector<Attribute, 4> written;
  func.walk([&](kernel::StoreOp store) { written.insert(store.getArrayAttr()); });
  int64_t numbers = 0;
  if (auto synced = loop.getSyncs())
    for (auto buffer : synced->getAsRange<FlatSymbolRefAttr>())
      if (written.contains(buffer))
        numbers +=
            llvm::product_of(dyn::extents(names.lookup<kernel::BufferOp>(buffer.getValue()).getType()));
  return numbers * int64_t(sizeof(float));
}

/// What is filled at once at the start of a batch: results, and other arrays, lie behind each other.
static int64_t fillsOf(kernel::ProgramOp program) {
  llvm::StringSet<> results;
  for (auto output : program.getOps<kernel::OutputOp>())
    results.insert(output.getBuffer());
  bool ofResults = false, ofOthers = false;
  program.walk([&](kernel::TimeStepLoopInterface loop) {
    if (auto synced = loop.getSyncs())
      for (auto buffer : synced->getAsRange<FlatSymbolRefAttr>())
        (results.contains(buffer.getValue()) ? ofResults : ofOthers) = true;
  });
  return ofResults + ofOthers;
}

std::vector<ProgramShape> shapesOf(ModuleOp kernels) {
  std::vector<ProgramShape> shapes;
  for (auto program : kernels.getOps<kernel::ProgramOp>()) {
    ProgramShape shape;
    shape.entry = program.getSymName().str();
    shape.fills = fillsOf(program);
    SymbolTable names(program);
    SmallVector<Operation *> loops;
    program.walk([&](Operation *op) {
      // What the host decides during a run cannot be in a graph; else `no_graph_reason` says why not.
      shape.masked |= isa<kernel::MaskOp>(op);
      auto run = dyn_cast<kernel::RunOp>(op);
      if (isa<kernel::MaskOp>(op) || (run && run.getNoGraphReason()))
        shape.graph = false;
      auto launch = dyn_cast<kernel::LaunchOp>(op);
      if (!launch)
        return;
      auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
      if (names.lookup<kernel::IndexSetOp>(*func.getIndexSet()).getKind() == kernel::IndexSetKind::Model)
        return;
      KernelShape kernel = shapeOf(func, names);
      for (Operation *loop = launch->getParentOp(); loop != program; loop = loop->getParentOp())
        if (auto timeStepLoop = dyn_cast<kernel::TimeStepLoopInterface>(loop);
            timeStepLoop && timeStepLoop.getPersistent()) {
          putIn(*loop, func, names, kernel);
          kernel.syncsElements = timeStepLoop.getSyncs().has_value();
          kernel.bytesSynced = bytesSynced(timeStepLoop, func, names);
          kernel.reverse = timeStepLoop.getReverse();
          if (!is_contained(loops, loop))
            loops.push_back(loop);
          kernel.loop = static_cast<int32_t>(llvm::find(loops, loop) - loops.begin());
        }
      shape.kernels.push_back(std::move(kernel));
    });
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

} // namespace dbc::cost
