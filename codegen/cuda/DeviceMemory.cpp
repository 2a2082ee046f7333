// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/cuda/DeviceMemory.h"
#include "codegen/cuda/DeviceRegions.h"
#include <optional>

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

/// Constants of the model: all that dbc::cuda::Model::make copies there.
static int64_t constantBytes(const ModelNames &model, const ModelNames &device) {
  int64_t bytes = 0;
  for (const Param &param : model.params)
    if (param.raw || device.params[param.number].raw)
      bytes += param.size() * model.bytes("real");
  for (const PackedMatrix &matrix : device.packed) {
    kernel::WeightsOp op = matrix.op;
    // For the tensor cores tiles are filled up, see dbc::cuda::Fragments.
    bytes += op.getContract()
                 ? op.getTileCount() * op.getTileBytes()
                 : biasBehind(op.getTables().value_or(1) * op.getIn() * op.getOut()) * model.bytes("real");
    bytes += op.getOut() * model.bytes("real");
  }
  for (const auto &program : model.programs)
    for (const Storage &storage : program->storages) {
      if (!storage.ofModel)
        continue;
      kernel::BufferOp buffer = storage.buffers.front();
      Array array = model.array(*program, buffer.getSymName());
      bytes += program->find<kernel::IndexSetOp>(buffer.getIndexSet()).getExtent().value_or(1) *
               array.rowSize() * model.bytes(array.pointee);
    }
  return bytes;
}

MemoryPlan planMemory(const ModelNames &host, const ModelNames &device) {
  MemoryPlan plan;
  plan.model = constantBytes(host, device);
  for (const auto &program : device.programs) {
    plan.entries.push_back({program->source, {}});
    const DeviceArrays arrays(device, *program);
    NameScope locals(&program->members);
    for (DeviceRegion &region : DeviceRegions(device, *program, arrays, locals).all())
      plan.entries.back().arrays.push_back({region.name, region.kind, std::move(region.terms)});
  }
  return plan;
}

} // namespace dbc::codegen
