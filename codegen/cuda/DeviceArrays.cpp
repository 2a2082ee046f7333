// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/cuda/DeviceArrays.h"
#include "codegen/common/Writer.h"
#include "ir/Kernel/LargeM.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

DeviceArrays::DeviceArrays(const ModelNames &model, const Program &program) {
  buffers = program.buffers;
  drops = program.drops;
  for (kernel::FuncOp func : program.stages)
    func.walk([&](Operation *op) { add(op, model, program); });
  NameScope members = nameMembers(model, program);
  if (kernel::RunOp run = program.run) {
    graph = run.getGraph() && !program.stages.empty();
    NameScope kernels;
    for (auto [number, loop] : enumerate(kernel::persistentLoops(run->getParentOfType<kernel::ProgramOp>())))
      add(loop, number, program, members, kernels);
  }
}

/// What an operation of a stage reads and writes.
void DeviceArrays::add(Operation *op, const ModelNames &model, const Program &program) {
  auto addArray = [&](StringRef symbol) {
    if (program.find<kernel::BufferOp>(symbol))
      return; // all of them are there
    bool param = model.array(program, symbol).kind == Array::Param;
    auto &list = param ? params : fields;
    if (!is_contained(list, symbol.str()))
      list.push_back(symbol.str());
  };
  auto addWeights = [&](StringRef symbol) {
    auto matrix = program.find<kernel::WeightsOp>(symbol);
    if (!is_contained(weights, matrix))
      weights.push_back(matrix);
  };
  auto addIndexArray = [&](StringRef symbol, StringRef name) {
    auto indexSet = program.find<kernel::IndexSetOp>(symbol);
    for (const IndexArray &known : indexArrays)
      if (known.indexSet == indexSet && known.name == name)
        return;
    indexArrays.push_back({indexSet, name.str(), ""});
  };
  if (auto accesses = dyn_cast<kernel::AccessOpInterface>(op))
    for (const kernel::Access &access : accesses.getAccesses())
      addArray(access.array.getValue());
  if (auto load = dyn_cast<kernel::LoadOp>(op)) {
    if (load.getIndexArray())
      addIndexArray(load.getArray(), *load.getIndexArray());
  } else if (auto rows = dyn_cast<kernel::RowsOp>(op)) {
    if (rows.getIndexSet())
      addIndexArray(*rows.getIndexSet(), *rows.getIndexArray());
  } else if (auto product = dyn_cast<kernel::ProductOp>(op)) {
    addWeights(product.getWeights());
  } else if (auto gemm = dyn_cast<kernel::GemmOp>(op)) {
    addWeights(gemm.getWeights());
    blas = true;
  } else if (auto order = dyn_cast<kernel::OrderOp>(op)) {
    auto indexSet = program.find<kernel::IndexSetOp>(order.getIndexSet());
    if (this->order(indexSet).empty())
      orders.push_back({indexSet, "?"});
  } else if (op->hasTrait<kernel::FailsInput>()) {
    checks.push_back(op);
  }
}

/// Arrays are called as in the plan; the others make way for them.
NameScope DeviceArrays::nameMembers(const ModelNames &model, const Program &program) {
  NameScope members;
  for (StringRef word : kNoArrays)
    members.reserve(word);
  for (kernel::BufferOp buffer : buffers)
    members.reserve(model.array(program, buffer.getSymName()).member);
  for (auto *list : {&fields, &params})
    for (const std::string &symbol : *list)
      members.reserve(model.array(program, symbol).member);
  for (kernel::WeightsOp matrix : weights)
    members.reserve(program.nameOf(matrix));
  for (IndexArray &array : indexArrays)
    array.member = members.fresh(program.nameOf(array.indexSet) + "_" + array.name);
  for (auto &[indexSet, member] : orders)
    member = members.fresh(program.nameOf(indexSet) + "_order");
  return members;
}

/// The persistent loop of a number, if it has a stage.
void DeviceArrays::add(kernel::TimeStepLoopInterface op, size_t number, const Program &program,
                       NameScope &members, NameScope &kernels) {
  auto timeStepsOf = [&](kernel::IndexSetOp indexSet) {
    for (const auto &[known, member] : timeSteps)
      if (known == indexSet)
        return member;
    timeSteps.push_back({indexSet, members.fresh(program.nameOf(indexSet) + "_time_steps")});
    return timeSteps.back().second;
  };
  const std::string name = (isa<kernel::LevelsOp>(op) ? "levels_" : "steps_") +
                           program.nameOf(program.symbols.lookup(op.getCarrier()));
  const std::optional<ArrayAttr> syncs = op.getSyncs();
  Loop loop;
  loop.op = op;
  loop.number = number;
  loop.name = kernels.fresh(name);
  op->walk([&](kernel::CopyAsyncOp copy) {
    loop.resident.push_back(program.find<kernel::WeightsOp>(copy.getWeights()));
  });
  loop.syncsElements = syncs.has_value();
  for (Attribute buffer : syncs ? syncs->getValue() : ArrayRef<Attribute>())
    loop.synced.push_back(cast<FlatSymbolRefAttr>(buffer).getValue().str());
  op->walk([&](kernel::LaunchOp launch) {
    auto func = program.find<kernel::FuncOp>(launch.getFunc());
    if (program.stageNumber(func) < 0)
      return;
    loop.stages.push_back(func);
    loop.timeSteps.push_back(timeStepsOf(program.find<kernel::IndexSetOp>(*func.getIndexSet())));
  });
  if (!loop.stages.empty())
    loops.push_back(std::move(loop));
}

std::vector<DeviceArrays::Member> DeviceArrays::members(const ModelNames &model,
                                                        const Program &program) const {
  std::vector<Member> members;
  auto add = [&](const std::string &type, const std::string &name, const std::string &comment) {
    members.push_back({type, name, comment});
  };
  for (const std::string &symbol : fields) {
    Array array = model.array(program, symbol);
    add(columnType(array), array.member, "of the batch");
  }
  for (const IndexArray &array : indexArrays)
    add("const int32_t *", array.member, "rows of " + program.nameOf(array.indexSet));
  for (const auto &[indexSet, member] : orders)
    add("const int32_t *", member, "position -> row; null: in order");
  for (kernel::BufferOp buffer : buffers) {
    Array array = model.array(program, buffer.getSymName());
    auto indexSet = program.find<kernel::IndexSetOp>(buffer.getIndexSet());
    bool ofModel = indexSet.getKind() == kernel::IndexSetKind::Model;
    std::string shape = array.extents.empty() ? "" : ": " + shapeText(array.extents);
    add((ofModel ? "const " : "") + array.pointee + " *", array.member,
        (ofModel ? "of the model" : program.nameOf(indexSet)) + shape);
  }
  for (const std::string &symbol : params)
    add("const real *", model.array(program, symbol).member, shapeText(model.param(symbol)->shape));
  for (kernel::WeightsOp matrix : weights)
    add(matrix.getContract() ? "dbc::cuda::Fragments" : "dbc::cuda::Matrix<real>", program.nameOf(matrix),
        (matrix.getTables() ? std::to_string(*matrix.getTables()) + " of " : "") +
            std::to_string(matrix.getOut()) + " x " + std::to_string(matrix.getIn()));
  for (const auto &[indexSet, member] : timeSteps)
    add("const int32_t *", member, "rows of each time step and block group of " + program.nameOf(indexSet));
  if (!loops.empty())
    add("int32_t *", "counters", "of block groups in persistent kernels");
  if (blas)
    add("dbc::cuda::Blas *", "blas", "the library of products; the host's");
  if (drops)
    add("dbc::Dropout", "dropout", "what the run drops");
  add("dbc::cuda::Errors", "errors", "what kernels find wrong");
  add("dbc::cuda::BlockScratch", "scratch", "of blocks of threads");
  return members;
}

const DeviceArrays::Loop *DeviceArrays::loop(Operation *op) const {
  auto found = find_if(loops, [&](const Loop &loop) { return loop.op == op; });
  return found == loops.end() ? nullptr : &*found;
}

const DeviceArrays::Loop *DeviceArrays::loopOf(kernel::FuncOp stage) const {
  auto found = find_if(loops, [&](const Loop &loop) { return is_contained(loop.stages, stage); });
  return found == loops.end() ? nullptr : &*found;
}

bool DeviceArrays::isSynced(StringRef buffer) const {
  return any_of(loops, [&](const Loop &loop) { return is_contained(loop.synced, buffer); });
}

const std::string &DeviceArrays::indexArray(kernel::IndexSetOp indexSet, StringRef name) const {
  auto found = find_if(
      indexArrays, [&](const IndexArray &array) { return array.indexSet == indexSet && array.name == name; });
  return found->member;
}

std::string DeviceArrays::order(kernel::IndexSetOp indexSet) const {
  for (const auto &[known, member] : orders)
    if (known == indexSet)
      return member;
  return "";
}

StageBlocks stageBlocks(kernel::FuncOp stage) {
  StageBlocks found;
  stage.walk([&](kernel::BlocksOp blocks) { found.rows = blocks.getSize(); });
  found.tiles = stage.getTiles().value_or(1);
  found.largeMTiles = kernel::largeMTiles(stage);
  if (stage.getLargeM())
    found.largeMShares = divideCeil(found.tiles, found.largeMTiles);
  return found;
}

} // namespace dbc::codegen
