// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/cuda/CudaCode.h"
#include "codegen/common/MatrixText.h"
#include "codegen/cuda/DeviceMemory.h"
#include "codegen/cuda/Emitters.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

FailureOr<std::unique_ptr<CudaCode>> CudaCode::make(const ModelNames &host, ModuleOp module) {
  std::unique_ptr<CudaCode> code(new CudaCode(host, module));
  FailureOr<DeviceKernels> kernels = DeviceKernels::make(code->model_);
  if (failed(kernels))
    return failure();
  code->kernels_.emplace(std::move(*kernels));
  return code;
}

std::string CudaCode::header() const { return emitDeviceHeader(model_, *kernels_); }
std::string CudaCode::kernels() const { return emitKernels(model_, *kernels_); }
bool CudaCode::usesBlas() const { return codegen::usesBlas(model_); }

void CudaCode::includes(Writer &out) const {
  out.line("#include <dbc/cuda/context.h>");
  out.line("#include <dbc/cuda/layout.h>");
}

void CudaCode::planFunctions(const Program &program, Writer &out) const {
  out.line("dbc::Status begin_on(dbc::Run &run, dbc::cuda::Context &device) override;");
  out.line("dbc::Status finish_on(dbc::Run &run, dbc::cuda::Context &device) override;");
  if (decides(onDevice(program)))
    out.line("bool decides() const override { return true; }");
  if (hasChecks(model_, onDevice(program)))
    out.line("void report(const dbc::cuda::ErrorRecord &error);");
}

void CudaCode::planVariables(const Program &program, Writer &out) const {
  out.line(kernelsOf(program) + "::Arrays arrays; ///< on the device");
  if (!DeviceArrays(model_, onDevice(program)).loops.empty())
    out.line("dbc::cuda::BlockGroups block_groups; ///< of persistent kernels");
  out.line("int64_t begun = 0; ///< number of the sub-batch that the device computes");
}

void CudaCode::compute(const Program &program, Writer &out) const {
  emitComputeOn(model_, onDevice(program), *kernels_, out);
}

bool CudaCode::readsArray(const Param &param) const { return model_.params[param.number].raw; }

void CudaCode::makeModel(Writer &out) const {
  if (model_.packed.empty())
    return;
  out.comment("The same for a device.");
  for (const PackedMatrix &matrix : model_.packed) {
    kernel::WeightsOp op = matrix.op;
    if (kernel::ContractAttr contract = op.getContractAttr()) {
      std::vector<std::string> lengths;
      for (int64_t length : contract.getLengths())
        lengths.push_back(std::to_string(length));
      out.line("dbc::cuda::lay_out_fragments(" +
               commas({"model", std::to_string(matrix.number), "weights", matrixText(host_, op),
                       std::to_string(op.getNTileCount()), "{" + commas(lengths) + "}",
                       "dbc::cuda::Math::" + kernel::stringifyInstruction(contract.getInstruction()).str()}) +
               ");");
      continue;
    }
    out.line("dbc::cuda::lay_out_submatrices<real>(model, " + std::to_string(matrix.number) + ", weights, " +
             matrixText(host_, op) + (op.getTables() ? ", " + std::to_string(*op.getTables()) : "") + ");");
  }
}

void CudaCode::code(Writer &out) const { out.line("model.cuda = cuda_kernels::backend;"); }

MemoryPlan CudaCode::memory() const { return planMemory(host_, model_); }

std::vector<std::string> CudaCode::blasEntries() const {
  std::vector<std::string> entries;
  for (const auto &program : model_.programs)
    if (DeviceArrays(model_, *program).blas)
      entries.push_back(program->source);
  return entries;
}

} // namespace dbc::codegen
