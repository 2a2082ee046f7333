// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/kernel/BlockMemory.h"

using namespace mlir;

namespace dbc::passes {

bool MemorySets::conflictsWith(const MemorySets &other) const {
  auto meet = [](const auto &a, const auto &b) {
    return llvm::any_of(a, [&](const void *memory) { return b.contains(memory); });
  };
  return meet(writes, other.reads) || meet(writes, other.writes) || meet(reads, other.writes);
}

void MemorySets::add(const MemorySets &other) {
  reads.insert(other.reads.begin(), other.reads.end());
  writes.insert(other.writes.begin(), other.writes.end());
}

BlockMemory::BlockMemory(kernel::ProgramOp program) {
  llvm::DenseMap<int32_t, const void *> storages;
  for (auto buffer : program.getOps<kernel::BufferOp>())
    if (buffer.getStorage()) {
      const void *own = buffer.getSymNameAttr().getAsOpaquePointer();
      arrays_[buffer.getSymNameAttr()] = storages.try_emplace(*buffer.getStorage(), own).first->second;
    }
}

BlockAccesses BlockMemory::touchedBy(Operation *root) const {
  BlockAccesses touched;
  auto array = [&](FlatSymbolRefAttr name) {
    auto it = arrays_.find(name.getAttr());
    return it != arrays_.end() ? it->second : name.getAttr().getAsOpaquePointer();
  };
  auto read = [&](Value local) {
    if (local)
      touched.locals.reads.insert(local.getAsOpaquePointer());
  };
  auto write = [&](Value local) {
    if (local)
      touched.locals.writes.insert(local.getAsOpaquePointer());
  };
  auto readRows = [&](Value operand) {
    auto rows = operand.getDefiningOp<kernel::RowsOp>();
    read(rows.getVia());
    read(rows.getLocal());
    if (rows.getArrayAttr())
      touched.arrays.reads.insert(array(rows.getArrayAttr()));
  };
  root->walk([&](Operation *op) {
    if (auto load = dyn_cast<kernel::LoadOp>(op)) {
      if (!load.getIndexArray())
        touched.arrays.reads.insert(array(load.getArrayAttr()));
    } else if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      touched.arrays.writes.insert(array(store.getArrayAttr()));
    } else if (auto local = dyn_cast<kernel::ReadOp>(op)) {
      read(local.getLocal());
    } else if (auto local = dyn_cast<kernel::WriteOp>(op)) {
      write(local.getLocal());
    } else if (auto product = dyn_cast<kernel::ProductOp>(op)) {
      llvm::for_each(product.getX(), readRows);
      read(product.getTable());
      write(product.getInto());
      write(product.getSums());
    } else if (auto multiply = dyn_cast<kernel::MultiplyOp>(op)) {
      readRows(multiply.getA());
      llvm::for_each(multiply.getB(), readRows);
      write(multiply.getInto());
    } else if (auto outer = dyn_cast<kernel::OuterOp>(op)) {
      readRows(outer.getA());
      readRows(outer.getX());
      if (outer.getMemory())
        write(outer.getMemory());
      touched.arrays.writes.insert(array(outer.getIntoAttr()));
      if (outer.getBiasAttr())
        touched.arrays.writes.insert(array(outer.getBiasAttr()));
    }
  });
  return touched;
}

} // namespace dbc::passes
