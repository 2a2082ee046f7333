// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/cuda/DeviceRegions.h"
#include "codegen/common/BufferMemory.h"
#include "codegen/common/Writer.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

DeviceRegions::DeviceRegions(const ModelNames &model, const Program &program, const DeviceArrays &arrays,
                             NameScope &locals)
    : model_(model), program_(program), arrays_(arrays), locals_(locals) {
  findScratch();
}

/// What a block of threads needs at most of scratch in global memory, and how many blocks there are.
void DeviceRegions::findScratch() {
  for (kernel::FuncOp stage : program_.stages) {
    if (kernel::gemmOf(stage))
      continue;
    const int64_t bytes = kernel::blockBytes(stage, kernel::Memory::Global, model_.bytes("real"));
    if (bytes == 0)
      continue;
    scratch_ = std::max(scratch_, bytes);
    StageBlocks blocks = stageBlocks(stage);
    int64_t most = *stage.getMostBlocks();
    if (const int64_t slices = stage.getSliceCount(); slices > 1) { // a block has one of a tile
      blocks.rows = kernel::kSliceRows;
      most = std::min(most, slices * blocks.tiles);
    }
    const bool isBound =
        bool(program_.distinctInRun(program_.find<kernel::IndexSetOp>(*stage.getIndexSet())));
    scratchBlocks_.push_back({isBound ? Count::LookupBlocks : Count::Blocks, stage.getIndexSet()->str(), 0,
                              -1, blocks.rows, blocks.tiles, most});
  }
  for (MemoryPlan::Term &blocks : scratchBlocks_)
    blocks.bytes = scratch_;
}

/// A field's or argument's array: the rows of the sub-batch's inputs.
DeviceRegion DeviceRegions::fieldRegion(const std::string &symbol) {
  Array array = model_.array(program_, symbol);
  const int64_t bytes = array.rowSize() * model_.bytes(array.pointee);
  DeviceRegion region{Kind::Input, array.member, "", array.member, "", {}, {}};
  std::string view, rows, column;
  kernel::FieldArray which;
  int64_t level = 0;
  if (auto argument = program_.find<kernel::ArgumentOp>(symbol)) {
    which = argument.getArray();
    level = argument.getLevel().value_or(0);
    column = argument.getName().str();
    view = "run.arg(" + std::to_string(argument.getComponent()) + ")";
    rows = "run.range";
    region.terms.push_back({Count::Inputs, "", bytes});
  } else {
    auto field = program_.find<kernel::FieldOp>(symbol);
    which = field.getArray();
    level = field.getLevel().value_or(0);
    column = field.getData().str() + "." + field.getName().str();
    std::string table = std::to_string(model_.data(field.getData()).number);
    view = "run.batch.column(" + table + ", " + std::to_string(field.getColumn()) + ")";
    rows = "run.batch.rows(" + table + ", run.range)";
    region.terms.push_back({Count::Nodes, field.getData().str(), bytes});
  }
  if (which == kernel::FieldArray::Items) {
    rows = "dbc::cuda::elements(" + view + ", " + rows + ")";
    region.terms = {{Count::Elements, column, bytes}};
  } else if ((which == kernel::FieldArray::Begin || which == kernel::FieldArray::End) && level > 0) {
    rows = "dbc::cuda::elements(" + view + ", " + rows + ", " + std::to_string(level) + ")";
    region.terms = {{Count::Elements, column, bytes, level}};
  }
  region.size = rows + ", " + std::to_string(array.rowSize());
  if ((which == kernel::FieldArray::Value || which == kernel::FieldArray::Items) && array.pointee == "float")
    region.device =
        view + ".device" + (array.rowSize() % 4 == 0 ? ", /*align=*/16" : ""); // see AlignedSegment
  return region;
}

/// Buffers, of which several may share memory.
DeviceRegion DeviceRegions::rowsRegion(const Storage &storage) {
  const SharedMemory shared = sharedMemory(
      model_, program_, storage, [&](kernel::BufferOp buffer) { return "arrays." + member(buffer); });
  const bool alone = storage.buffers.size() == 1;
  DeviceRegion region{Kind::Rows,
                      alone ? member(storage.buffers.front()) : shared.name,
                      alone ? "" : shared.type,
                      "",
                      shared.size,
                      alone ? std::vector<std::string>() : shared.members,
                      {}};
  region.synced = isSynced(storage);
  for (kernel::BufferOp buffer : storage.buffers) {
    Array array = model_.array(program_, buffer.getSymName());
    std::string of = buffer.getIndexSet().str();
    const int64_t bytes = array.stride * model_.bytes(array.pointee);
    if (kernel::DistinctOp numbers = program_.distinctInRun(program_.find<kernel::IndexSetOp>(of))) {
      assert(alone && "what holds a gradient shares no memory");
      region.size = "(" + lookups(numbers) + ") * " + std::to_string(array.stride);
      region.terms = {{Count::Lookups, of, bytes}};
      return region;
    }
    auto same = llvm::find_if(region.terms, [&](const MemoryPlan::Term &term) { return term.of == of; });
    if (same == region.terms.end())
      region.terms.push_back({Count::Rows, of, bytes});
    else
      same->bytes = std::max(same->bytes, bytes);
  }
  return region;
}

/// Scratch of blocks of threads.
DeviceRegion DeviceRegions::scratchRegion() {
  std::vector<std::string> blocks;
  for (const MemoryPlan::Term &term : scratchBlocks_) {
    auto indexSet = program_.find<kernel::IndexSetOp>(term.of);
    kernel::DistinctOp numbers = program_.distinctInRun(indexSet);
    blocks.push_back(
        "dbc::cuda::blocks_of(" +
        commas({"0", numbers ? "int32_t(" + lookups(numbers) + ")" : program_.rows(indexSet),
                std::to_string(term.rows), std::to_string(term.tiles), std::to_string(term.most)}) +
        ")");
  }
  std::string most = blocks.size() == 1 ? blocks[0] : "std::max({" + commas(blocks) + "})";
  return {Kind::Rows, "scratch.memory", "", "", "size_t(" + most + ") * " + std::to_string(scratch_),
          {},         scratchBlocks_};
}

/// The array where the host puts the rows of an index set that stay.
std::string DeviceRegions::activeOf(kernel::IndexSetOp indexSet) {
  std::string &name = active_[indexSet];
  if (name.empty())
    name = locals_.fresh(program_.nameOf(indexSet) + "_active");
  return name;
}

/// What the host has of an index set. Of a transpose one array says where its lists begin: one number more
/// than there are lists.
DeviceRegion DeviceRegions::indexArrayRegion(const DeviceArrays::IndexArray &array) {
  kernel::IndexSetOp indexSet = array.indexSet;
  const std::string name = program_.nameOf(indexSet),
                    number = std::to_string(program_.indexArray(indexSet, array.name));
  DeviceRegion region{Kind::Input, array.member, "", name + "[" + number + "]", "", {}, {}};
  if (kernel::TransposeOp transpose = program_.transposeOf(indexSet)) {
    const auto to = program_.find<kernel::IndexSetOp>(transpose.getTo());
    const kernel::DistinctOp numbers = program_.distinctInRun(to);
    const bool begins = array.name == kernel::kBeginArray;
    region.terms = {{!begins   ? Count::Rows
                     : numbers ? Count::Lookups
                               : Count::Begins,
                     (begins ? transpose.getTo() : transpose.getFrom()).str(), 4}};
    if (!transpose->getParentOfType<kernel::RunOp>()) {
      region.size = name + ".array(" + number + ").size()";
      return region;
    }
    region.size =
        begins ? numbers ? lookups(numbers) : "size_t(" + program_.rows(to) + ") + 1"
               : "size_t(" + program_.rows(program_.find<kernel::IndexSetOp>(transpose.getFrom())) + ")";
    return madeInRun(array, region);
  }
  region.size = "size_t(" + program_.rows(indexSet) + ")";
  region.terms = {{Count::Rows, indexSet.getSymName().str(), 4}};
  if (kernel::DistinctOp numbers = program_.distinctInRun(indexSet)) {
    region.size = lookups(numbers);
    region.terms = {{Count::Lookups, indexSet.getSymName().str(), 4}};
    return madeInRun(array, region);
  }
  return program_.filledInRun(indexSet, array.name) ? madeInRun(array, region) : region;
}

/// The same where the host makes it when it has fetched what kernels computed: room for as much.
DeviceRegion DeviceRegions::madeInRun(const DeviceArrays::IndexArray &array, const DeviceRegion &before) {
  return {Kind::Decided, placeOf(array), "int32_t", "", before.size, {}, before.terms};
}

std::string DeviceRegions::placeOf(const DeviceArrays::IndexArray &array) {
  std::string &name = places_[array.member];
  if (name.empty())
    name = locals_.fresh(array.member + "_place");
  return name;
}

/// How many numbers there are to be looked up, at most all that there are, and one more: as many rows a set
/// has at most that is made in the run.
std::string DeviceRegions::lookups(kernel::DistinctOp op) {
  std::string all = "size_t(" + std::to_string(1 + (op.getAlways() ? op.getAlways()->size() : 0)) + ")";
  auto add = [&](StringRef indexSet) {
    all += " + size_t(" + program_.rows(program_.find<kernel::IndexSetOp>(indexSet)) + ")";
  };
  for (auto from : op.getFrom().getAsRange<FlatSymbolRefAttr>())
    add(from.getValue());
  for (Attribute each : op.getNumbersAttr() ? op.getNumbersAttr().getValue() : ArrayRef<Attribute>())
    add(program_.find<kernel::BufferOp>(cast<FlatSymbolRefAttr>(each).getValue()).getIndexSet());
  const int32_t extent = *program_.find<kernel::IndexSetOp>(op.getIndexSet()).getExtent();
  return "std::min(" + all + ", size_t(" + std::to_string(int64_t(extent) + 1) + "))";
}

/// Whether the host decides in the course of a run which rows an order has.
static bool isSelected(kernel::IndexSetOp order) {
  return order.getKind() == kernel::IndexSetKind::ByInput && order.getMasked();
}

/// Position -> row, where the host knows it before the run.
DeviceRegion DeviceRegions::orderRegion(kernel::IndexSetOp indexSet, const std::string &member) {
  if (indexSet.getKind() == kernel::IndexSetKind::ByInput) {
    const std::string name = program_.nameOf(indexSet);
    return {Kind::Input,
            member,
            "",
            name + ".order()",
            "size_t(" + name + ".rows())",
            {},
            {{Count::Order, indexSet.getSymName().str(), 4}}};
  }
  const std::string timeSteps = program_.timeSteps(indexSet);
  return {Kind::Input,
          member,
          "",
          timeSteps + ".rows()",
          timeSteps + ".order.size()",
          {},
          {{Count::Order, indexSet.getSymName().str(), 4}}};
}

/// The index set whose rows an order has, of kind `by_input` or its own.
kernel::IndexSetOp DeviceRegions::rowsOf(kernel::IndexSetOp order) {
  return order.getKind() == kernel::IndexSetKind::ByInput ? program_.parent(order) : order;
}

/// What the host has before the run.
void DeviceRegions::addInputs(std::vector<DeviceRegion> &regions) {
  for (const std::string &symbol : arrays_.fields)
    regions.push_back(fieldRegion(symbol));
  for (const DeviceArrays::IndexArray &array : arrays_.indexArrays)
    regions.push_back(indexArrayRegion(array));
  for (auto [indexSet, member] : arrays_.orders)
    if (!isSelected(indexSet))
      regions.push_back(orderRegion(indexSet, member));
  if (arrays_.drops) {
    const std::string keys = locals_.fresh("dropout_keys");
    regions.push_back({Kind::Input,
                       keys,
                       "const uint64_t",
                       "run.dropout.inputs",
                       "size_t(run.batch.inputs())",
                       {"arrays.dropout = {run.dropout.drops, run.dropout.run, " + keys + "};"},
                       {{Count::Inputs, "", 8}}});
  }
  for (auto [number, distributed] : llvm::enumerate(arrays_.timeSteps)) {
    auto [indexSet, member] = distributed;
    std::string of = "(" + std::to_string(number) + ")";
    regions.push_back({Kind::Input,
                       member,
                       "",
                       "block_groups.bounds" + of,
                       "block_groups.size" + of,
                       {},
                       {{Count::TimeSteps, indexSet.getSymName().str(), 4}}});
  }
}

/// What it decides in its course: orders of active rows, and which rows are active.
void DeviceRegions::addDecided(std::vector<DeviceRegion> &regions) {
  auto decided = [&](kernel::IndexSetOp indexSet) {
    regions.push_back({Kind::Decided,
                       activeOf(indexSet),
                       "int32_t",
                       "",
                       "size_t(" + program_.rows(rowsOf(indexSet)) + ")",
                       {},
                       {{Count::Rows, rowsOf(indexSet).getSymName().str(), 4}}});
  };
  for (auto [indexSet, member] : arrays_.orders)
    if (isSelected(indexSet))
      decided(indexSet);
  llvm::SmallPtrSet<Operation *, 4> masked;
  if (kernel::RunOp run = program_.run)
    run.walk([&](kernel::MaskOp op) {
      auto indexSet = program_.find<kernel::IndexSetOp>(op.getIndexSet());
      if (masked.insert(indexSet).second)
        decided(indexSet);
    });
}

std::vector<DeviceRegion> DeviceRegions::all() {
  std::vector<DeviceRegion> regions;
  auto isResult = [&](const Storage &storage) {
    return llvm::any_of(program_.outputs, [&](kernel::OutputOp output) {
      return output.getBuffer() == kernel::BufferOp(storage.buffers.front()).getSymName();
    });
  };
  for (const Storage &storage : program_.storages)
    if (!storage.ofModel && isResult(storage)) {
      regions.push_back(rowsRegion(storage));
      regions.back().kind = Kind::Result;
    }
  addInputs(regions);
  if (!arrays_.loops.empty())
    regions.push_back({Kind::Zeros,
                       "counters",
                       "",
                       "",
                       std::to_string(arrays_.loops.size()) + " * dbc::cuda::kCounters",
                       {},
                       {{Count::SubBatch, "", int64_t(arrays_.loops.size()) * kCounterBytes}}});
  // What is synchronised element by element is contiguous.
  for (bool synced : {true, false})
    for (const Storage &storage : program_.storages)
      if (!storage.ofModel && !isResult(storage) && isSynced(storage) == synced)
        regions.push_back(rowsRegion(storage));
  if (scratch_ > 0)
    regions.push_back(scratchRegion());
  if (arrays_.blas) {
    std::string workspace = locals_.fresh("blas_workspace");
    regions.push_back({Kind::Rows,
                       workspace,
                       "unsigned char",
                       "",
                       "dbc::cuda::kBlasWorkspace",
                       {"arrays.blas = device.blas(" + workspace + ");"},
                       {{Count::SubBatch, "", kBlasWorkspace}}});
  }
  addDecided(regions);
  return regions;
}

bool DeviceRegions::isSynced(const Storage &storage) {
  return llvm::any_of(storage.buffers,
                      [&](kernel::BufferOp buffer) { return arrays_.isSynced(buffer.getSymName()); });
}

} // namespace dbc::codegen
