// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/DeviceReport.h"
#include "ir/Kernel/Kernel.h"

using namespace mlir;

namespace dbc::driver {

static KernelReport reportKernel(kernel::FuncOp func, int64_t realBytes) {
  KernelReport report;
  report.name = func.getSymName().drop_front(StringRef("stage.").size()).str();
  if (auto tiles = func->getAttrOfType<IntegerAttr>("tiles"))
    report.tiles = tiles.getInt();
  func.walk([&](Operation *op) {
    if (auto blocks = dyn_cast<kernel::BlocksOp>(op)) {
      report.rows = blocks.getSize();
    } else if (auto local = dyn_cast<kernel::LocalOp>(op)) {
      int64_t bytes = local.getType().getElement().isF32() ? realBytes : 4;
      for (int64_t extent : local.getType().getShape())
        bytes *= extent;
      (local.getMemory() == kernel::Memory::Shared ? report.shared : report.global) += (bytes + 15) / 16 * 16;
    } else if (auto threads = dyn_cast<kernel::ThreadsOp>(op)) {
      auto blocks = threads->getParentOfType<kernel::BlocksOp>();
      bool loops = false; // row numbers are read by one thread each, too: nothing is lost by that
      threads.walk([&](kernel::ForOp) { loops = true; });
      report.byRow |= loops && threads.getCount() == blocks.getBody().getArgument(1);
    }
  });
  return report;
}

std::vector<DeviceReport> reportKernels(ModuleOp kernels, int64_t realBytes) {
  std::vector<DeviceReport> reports;
  for (auto program : kernels.getOps<kernel::ProgramOp>()) {
    DeviceReport report{program.getSymName().str(), {}};
    SymbolTable names(program);
    program.walk([&](kernel::LaunchOp launch) {
      auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
      if (names.lookup<kernel::SpaceOp>(*func.getSpace()).getKind() == kernel::SpaceKind::Model)
        return;
      KernelReport kernel = reportKernel(func, realBytes);
      kernel.launch = "once";
      for (Operation *loop = launch->getParentOp(); loop != program; loop = loop->getParentOp()) {
        if (!isa<kernel::LevelsOp, kernel::StepsOp>(loop))
          continue;
        auto apart = loop->getAttrOfType<StringAttr>("apart");
        if (loop->hasAttr("persistent"))
          kernel.launch = "with its whole loop";
        else if (apart)
          kernel.launch = "each time: " + apart.getValue().str();
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
    out << "  " << kernel.name << ": " << kernel.rows << " rows a block of threads";
    if (kernel.tiles > 1)
      out << ", " << kernel.tiles << " tiles";
    out << ", " << kernel.shared << " bytes shared";
    if (kernel.global > 0)
      out << " and " << kernel.global << " bytes of global memory, as they do not fit";
    out << (kernel.byRow ? "; partly one thread a row" : "") << "; launched " << kernel.launch << "\n";
  }
}

llvm::json::Value toJson(const DeviceReport &report) {
  llvm::json::Array kernels;
  for (const KernelReport &kernel : report.kernels)
    kernels.push_back(llvm::json::Object{{"name", kernel.name},
                                         {"rows", kernel.rows},
                                         {"tiles", kernel.tiles},
                                         {"shared_bytes", kernel.shared},
                                         {"global_bytes", kernel.global},
                                         {"by_row", kernel.byRow},
                                         {"launch", kernel.launch}});
  return llvm::json::Object{{"entry", report.entry}, {"kernels", std::move(kernels)}};
}

} // namespace dbc::driver
