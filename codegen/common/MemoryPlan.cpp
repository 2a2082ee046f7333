// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "codegen/common/MemoryPlan.h"
#include "llvm/Support/ErrorHandling.h"

namespace dbc::codegen {

llvm::StringRef wordOf(MemoryPlan::Count count) {
  switch (count) {
  case MemoryPlan::Count::Rows:
    return "rows";
  case MemoryPlan::Count::Order:
    return "order";
  case MemoryPlan::Count::Begins:
    return "begins";
  case MemoryPlan::Count::Lookups:
    return "lookups";
  case MemoryPlan::Count::TimeSteps:
    return "time_steps";
  case MemoryPlan::Count::Inputs:
    return "inputs";
  case MemoryPlan::Count::Nodes:
    return "nodes";
  case MemoryPlan::Count::Elements:
    return "elements";
  case MemoryPlan::Count::Blocks:
    return "blocks";
  case MemoryPlan::Count::LookupBlocks:
    return "lookup_blocks";
  case MemoryPlan::Count::SubBatch:
    return "sub_batch";
  }
  llvm_unreachable("a count");
}

llvm::StringRef wordOf(MemoryPlan::Kind kind) {
  switch (kind) {
  case MemoryPlan::Kind::Result:
    return "result";
  case MemoryPlan::Kind::Input:
    return "input";
  case MemoryPlan::Kind::Zeros:
    return "zeros";
  case MemoryPlan::Kind::Rows:
    return "rows";
  case MemoryPlan::Kind::Decided:
    return "decided";
  }
  llvm_unreachable("a kind");
}

} // namespace dbc::codegen
