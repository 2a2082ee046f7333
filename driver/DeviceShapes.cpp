// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/DeviceShapes.h"
#include "driver/DeviceReport.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <dbc/cuda/arrays.h>

using namespace mlir;

namespace dbc::driver {

static std::optional<int64_t> constant(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

/// Operations that one thread does one behind the other. A loop whose length the model does not say counts
/// as one iteration.
static int64_t operationsOf(Block &block) {
  constexpr int64_t kFunction = 20; // of exp, tanh and the like
  int64_t operations = 0;
  for (Operation &op : block) {
    if (isa<arith::ConstantOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto loop = dyn_cast<kernel::ForOp>(op)) {
      std::optional<int64_t> low = constant(loop.getLow()), high = constant(loop.getHigh());
      operations += (low && high ? *high - *low : 1) * operationsOf(loop.getBody().front());
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

/// How many elements of each row a block's threads share.
static int64_t elementsOf(kernel::ThreadsOp threads) {
  auto times = threads.getCount().getDefiningOp<arith::MulIOp>();
  return times ? constant(times.getRhs()).value_or(1) : 1;
}

/// Products by a named instruction say which; the others are multiply-adds of f32, in order.
static std::string instructionOf(Operation *product) {
  auto named = product->getAttrOfType<StringAttr>("instruction");
  return named ? named.getValue().str() : "ffma";
}

static KernelShape shapeOf(kernel::FuncOp func, SymbolTable &names) {
  constexpr int64_t kRowsAtOnce = 4; // dbc/cuda/kernels.h: rows that share each load of a weight
  KernelShape shape;
  shape.name = stageName(func);
  shape.threads = cuda::kThreads;
  auto figure = [&](StringRef name) {
    auto value = func->getAttrOfType<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  shape.tiles = std::max<int64_t>(1, figure("tiles"));
  shape.bytesRead = figure("reals_read") * int64_t(sizeof(float)) + figure("bytes_read");
  shape.bytesWritten = figure("reals_written") * int64_t(sizeof(float)) + figure("bytes_written");
  shape.shared = sharedBytes(func, sizeof(float));
  func.walk([&](Operation *op) {
    if (auto blocks = dyn_cast<kernel::BlocksOp>(op)) {
      shape.rows = blocks.getSize();
    } else if (auto product = dyn_cast<kernel::ProductOp>(op)) {
      auto weights = names.lookup<kernel::WeightsOp>(product.getWeights());
      const bool one = !weights.getTables();
      const int64_t outputs =
          product.getTile() ? *weights.getGates() * *weights.getWidth() : int64_t(weights.getOut());
      shape.products.push_back(
          {outputs, int64_t(weights.getIn()), instructionOf(op), one ? kRowsAtOnce : 1, one});
    } else if (auto multiply = dyn_cast<kernel::MultiplyOp>(op)) {
      int64_t inputs = 0;
      for (int64_t length : multiply.getLengths())
        inputs += length;
      shape.products.push_back({int64_t(multiply.getHeight() * multiply.getOutputs()), inputs,
                                instructionOf(op), /*rowsAtOnce=*/1, /*shared=*/false});
    } else if (auto threads = dyn_cast<kernel::ThreadsOp>(op)) {
      shape.elements.push_back({elementsOf(threads), operationsOf(threads.getBody().front())});
    }
  });
  return shape;
}

std::vector<ProgramShape> shapesOf(ModuleOp kernels) {
  std::vector<ProgramShape> shapes;
  for (auto program : kernels.getOps<kernel::ProgramOp>()) {
    ProgramShape shape;
    shape.entry = program.getSymName().str();
    SymbolTable names(program);
    SmallVector<Operation *> loops;
    program.walk([&](Operation *op) {
      // What the host decides in the course of a run cannot be in a graph; else `apart` says why not.
      shape.keeps |= isa<kernel::KeepOp>(op);
      if (isa<kernel::KeepOp>(op) || (isa<kernel::RunOp>(op) && op->hasAttr("apart")))
        shape.graph = false;
      auto launch = dyn_cast<kernel::LaunchOp>(op);
      if (!launch)
        return;
      auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
      if (names.lookup<kernel::SpaceOp>(*func.getSpace()).getKind() == kernel::SpaceKind::Model)
        return;
      KernelShape kernel = shapeOf(func, names);
      for (Operation *loop = launch->getParentOp(); loop != program; loop = loop->getParentOp())
        if (loop->hasAttr("persistent")) {
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

} // namespace dbc::driver
