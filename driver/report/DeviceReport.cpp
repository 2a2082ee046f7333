// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/DeviceReport.h"
#include "codegen/cuda/DeviceArrays.h"
#include "driver/report/StageReport.h"
#include "ir/Kernel/LargeM.h"
#include "llvm/ADT/STLExtras.h"
#include <dbc/counted.h>
#include <dbc/cuda/arrays.h>
#include <dbc/cuda/blas.h>

using namespace mlir;

namespace dbc::driver {

// What a batch takes, as codegen plans it, is what the runtime makes of it.
static_assert(codegen::kCounterBytes == cuda::kCounters * sizeof(int32_t) &&
                  codegen::kBlasWorkspace == cuda::kBlasWorkspace &&
                  codegen::biasBehind(5) == cuda::bias_behind(5),
              "the memory formula is the runtime's");

/// What a matrix is made of, without how it is laid out, which its symbol begins with.
static StringRef nameOfMatrix(StringRef symbol) { return symbol.split('.').second; }

static ProductReport reportProduct(kernel::ProductOp product, SymbolTable &names) {
  auto matrix = names.lookup<kernel::WeightsOp>(product.getWeights());
  ProductReport report{nameOfMatrix(product.getWeights()).str(), dyn::sourceLocation(product.getLoc()), ""};
  report.bias = matrix.getInit().has_value();
  if (product.getSums()) {
    report.instruction = kernel::stringifyInstruction(matrix.getContract()->getInstruction()).str();
    report.slices = matrix.getContract()->getSlices();
  }
  return report;
}

static ProductReport reportGemm(kernel::GemmOp gemm, SymbolTable &names) {
  ProductReport report{nameOfMatrix(gemm.getWeights()).str(), dyn::sourceLocation(gemm.getLoc()),
                       gemm.getTf32() ? "tf32" : ""};
  report.bias = names.lookup<kernel::WeightsOp>(gemm.getWeights()).getInit().has_value();
  report.blas = true;
  return report;
}

static KernelReport reportKernel(kernel::FuncOp func, SymbolTable &names, int64_t realBytes) {
  KernelReport report;
  report.name = func.getStageName().str();
  report.shared = kernel::blockBytes(func, kernel::Memory::Shared, realBytes);
  report.global = kernel::blockBytes(func, kernel::Memory::Global, realBytes);
  report.sums = func.getSums();
  report.slices = func.getSliceCount();
  report.clears = func.getClearsAttr() ? func.getClearsAttr().size() : 0;
  report.byRow = kernel::computesByRow(func);
  report.registers = kernel::registersOf(kernel::residentBlocks(func, realBytes));
  report.tiles = func.getTiles().value_or(1);
  report.largeM = func.getLargeM() ? kernel::kLargeMRows : 0;
  report.largeMTiles = kernel::largeMTiles(func);
  report.largeMShared = kernel::blockBytes(func, kernel::Memory::Shared, realBytes, report.largeM > 0);
  report.largeMRegisters = kernel::registersOf(kernel::residentBlocks(func, realBytes, report.largeM > 0));
  func.walk([&](Operation *op) {
    if (auto blocks = dyn_cast<kernel::BlocksOp>(op)) {
      report.rows = blocks.getSize();
    } else if (auto product = dyn_cast<kernel::ProductOp>(op)) {
      report.products.push_back(reportProduct(product, names));
    } else if (auto gemm = dyn_cast<kernel::GemmOp>(op)) {
      report.products.push_back(reportGemm(gemm, names));
    } else if (isa<kernel::WarpsOp>(op)) {
      report.byWarp = true;
    }
  });
  return report;
}

std::vector<DeviceReport> reportKernels(ModuleOp kernels, int64_t realBytes) {
  std::vector<DeviceReport> reports;
  for (auto program : kernels.getOps<kernel::ProgramOp>()) {
    DeviceReport report{program.getSymName().str(), {}, ""};
    SymbolTable names(program);
    program.walk([&](kernel::RunOp run) {
      if (auto reason = run.getNoGraphReason())
        report.noGraph = reason->str();
    });
    program.walk([&](kernel::LaunchOp launch) {
      auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
      if (names.lookup<kernel::IndexSetOp>(*func.getIndexSet()).getKind() == kernel::IndexSetKind::Model)
        return;
      KernelReport kernel = reportKernel(func, names, realBytes);
      kernel.launch = "once";
      for (Operation *loop = launch->getParentOp(); loop != program; loop = loop->getParentOp()) {
        auto timeStepLoop = dyn_cast<kernel::TimeStepLoopInterface>(loop);
        if (!timeStepLoop)
          continue;
        loop->walk([&](kernel::CopyAsyncOp copy) {
          for (ProductReport &product : kernel.products)
            if (nameOfMatrix(copy.getWeights()) == product.matrix)
              product.residentBytes = names.lookup<kernel::WeightsOp>(copy.getWeights()).getTileBytes();
        });
        if (auto reason = timeStepLoop.getBarrierReason())
          kernel.launch = "in a persistent kernel; a barrier behind it, as " + reason->str();
        else if (timeStepLoop.getPersistent())
          kernel.launch = "in a persistent kernel; blocks wait for the elements that they need";
        else if (auto whyNot = timeStepLoop.getNotPersistentReason())
          kernel.launch = "each time: " + whyNot->str();
      }
      report.kernels.push_back(std::move(kernel));
    });
    reports.push_back(std::move(report));
  }
  return reports;
}

void print(llvm::raw_ostream &out, const DeviceReport &report) {
  out << "`" << report.entry << "` on a device\n";
  for (const KernelReport &kernel : report.kernels) {
    if (kernel.rows == 0) { // no kernel of its own
      const ProductReport &product = kernel.products.front();
      out << "  " << kernel.name << ": launched " << kernel.launch << "\n    `" << product.matrix << "` ("
          << product.location << "): by cuBLAS, " << (product.bias ? "with its bias, " : "")
          << (product.instruction.empty() ? "" : "operands may be cut to tf32, ")
          << "in an order of its own: bits may depend on the batch\n";
      continue;
    }
    if (kernel.clears > 0) {
      out << "  " << kernel.name << ": makes its rows of " << counted(kernel.clears, "array")
          << " 0; launched " << kernel.launch << "\n";
      continue;
    }
    auto either = [&](int64_t small, int64_t large, const char *what) {
      return kernel.largeM > 0 ? std::to_string(small) + " or " + counted(large, what) : counted(small, what);
    };
    out << "  " << kernel.name << ": ";
    if (kernel.sums && kernel.slices > 1)
      out << "one of at most " << kernel.slices << " slices of the rows a block of threads, " << kernel.rows
          << " at once";
    else if (kernel.sums)
      out << "all rows a block of threads, " << kernel.rows << " at once";
    else
      out << either(kernel.rows, kernel.largeM, "row") << " a block of threads";
    if (kernel.tiles > 1)
      out << ", " << kernel.tiles << " tiles";
    if (kernel.largeMTiles > 1)
      out << ", of which a block of " << kernel.largeM << " rows has " << kernel.largeMTiles << " at once";
    out << ", " << either(kernel.shared, kernel.largeMShared, "byte") << " shared";
    if (kernel.global > 0)
      out << " and " << counted(kernel.global, "byte") << " of global memory, as they do not fit";
    out << ", at most " << either(kernel.registers, kernel.largeMRegisters, "register") << " a thread";
    out << (kernel.byRow ? "; partly one thread a row" : "")
        << (kernel.byWarp ? "; partly one warp a row" : "") << "; launched " << kernel.launch << "\n";
    for (const ProductReport &product : kernel.products) {
      out << "    `" << product.matrix << "` (" << product.location << "): ";
      if (product.instruction.empty())
        out << "one number at a time, not on the tensor cores";
      else
        out << "on the tensor cores, " << product.instruction << ", in "
            << counted(product.slices, "split-K slice");
      if (product.residentBytes > 0)
        out << "; resident in each block's shared memory, " << counted(product.residentBytes, "byte")
            << " of it";
      out << "\n";
    }
  }
  if (!report.kernels.empty())
    out << "  as a graph: " << (report.noGraph.empty() ? "all launches" : "no, " + report.noGraph) << "\n";
}

llvm::json::Value toJson(const DeviceReport &report) {
  llvm::json::Array kernels;
  for (const KernelReport &kernel : report.kernels) {
    llvm::json::Array products;
    for (const ProductReport &product : kernel.products) {
      llvm::json::Object object{{"matrix", product.matrix}, {"location", inJson(product.location)}};
      if (product.instruction.empty())
        object["instruction"] = nullptr;
      else
        object["instruction"] = product.instruction;
      object["slices"] = product.slices;
      object["bias"] = product.bias;
      object["blas"] = product.blas;
      object["resident_bytes"] = product.residentBytes;
      products.push_back(std::move(object));
    }
    kernels.push_back(llvm::json::Object{{"name", kernel.name},
                                         {"products", std::move(products)},
                                         {"rows", kernel.rows},
                                         {"large_m_rows", kernel.largeM > 0 ? kernel.largeM : kernel.rows},
                                         {"sums", kernel.sums},
                                         {"slices", kernel.slices},
                                         {"clears", kernel.clears},
                                         {"tiles", kernel.tiles},
                                         {"shared_bytes", kernel.shared},
                                         {"large_m_shared_bytes", kernel.largeMShared},
                                         {"large_m_tiles", kernel.largeMTiles},
                                         {"global_bytes", kernel.global},
                                         {"registers", kernel.registers},
                                         {"large_m_registers", kernel.largeMRegisters},
                                         {"by_row", kernel.byRow},
                                         {"by_warp", kernel.byWarp},
                                         {"launch", inJson(kernel.launch)}});
  }
  return llvm::json::Object{{"entry", report.entry},
                            {"kernels", std::move(kernels)},
                            {"graph", report.noGraph.empty()},
                            {"no_graph", inJson(report.noGraph)}};
}

using codegen::MemoryPlan;

/// "row of `encode`".
static std::string inWords(const MemoryPlan::Term &term) {
  std::string of = " of `" + term.of + "`";
  switch (term.count) {
  case MemoryPlan::Count::Rows:
    return "row" + of;
  case MemoryPlan::Count::Order:
    return "row" + of + ", if they are out of order";
  case MemoryPlan::Count::Begins:
    return "row" + of + ", and one more";
  case MemoryPlan::Count::Lookups:
    return "number that is looked up" + of + ", and one more";
  case MemoryPlan::Count::TimeSteps:
    return "level or step" + of + " and each block group, and one more";
  case MemoryPlan::Count::Inputs:
    return "input";
  case MemoryPlan::Count::SubBatch:
    return "sub-batch";
  case MemoryPlan::Count::Nodes:
    return "node" + of;
  case MemoryPlan::Count::Elements:
    return "element" + of + (term.level < 0 ? "" : " behind " + counted(term.level, "list"));
  case MemoryPlan::Count::Blocks:
  case MemoryPlan::Count::LookupBlocks:
    return "block of " + counted(term.rows, "row") + of +
           (term.tiles > 1 ? " and each of " + std::to_string(term.tiles) + " tiles" : "") + ", at most " +
           counted(term.most, "block");
  }
  llvm_unreachable("a count");
}

void print(llvm::raw_ostream &out, const MemoryPlan &plan, const MemoryPlan::Entry &entry) {
  out << "  memory: " << counted(plan.model, "byte") << " of the model; of a batch "
      << counted(plan.fixed, "byte") << ", and each of " << counted(entry.arrays.size(), "array")
      << " rounded up to " << plan.line << " bytes:\n";
  std::vector<std::pair<std::string, int64_t>> sums; // of arrays that nothing shares
  for (const MemoryPlan::Array &array : entry.arrays) {
    if (array.largest.size() != 1)
      continue;
    std::string words = inWords(array.largest[0]);
    auto same = llvm::find_if(sums, [&](const auto &sum) { return sum.first == words; });
    if (same == sums.end())
      sums.push_back({words, array.largest[0].bytes});
    else
      same->second += array.largest[0].bytes;
  }
  for (const auto &[words, bytes] : sums)
    out << "    " << counted(bytes, "byte") << " for each " << words << "\n";
  for (const MemoryPlan::Array &array : entry.arrays) {
    if (array.largest.size() == 1)
      continue;
    out << "    the most of";
    for (const auto &[number, term] : llvm::enumerate(array.largest))
      out << (number > 0 ? "; " : " ") << counted(term.bytes, "byte") << " for each " << inWords(term);
    out << "\n";
  }
}

llvm::json::Value toJson(const MemoryPlan &plan, const MemoryPlan::Entry &entry) {
  llvm::json::Array arrays;
  for (const MemoryPlan::Array &array : entry.arrays) {
    llvm::json::Array largest;
    for (const MemoryPlan::Term &term : array.largest)
      largest.push_back(llvm::json::Object{{"bytes", term.bytes}, {"for_each", inWords(term)}});
    arrays.push_back(llvm::json::Object{{"name", array.name}, {"largest", std::move(largest)}});
  }
  return llvm::json::Object{{"model_bytes", plan.model},
                            {"fixed_bytes", plan.fixed},
                            {"line", plan.line},
                            {"arrays", std::move(arrays)}};
}

} // namespace dbc::driver
