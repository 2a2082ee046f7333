// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A `dyn` module's data types, parameters and entries, as the runtime describes them.
#pragma once

#include "ir/Dyn/Dyn.h"
#include <dbc/batch.h>
#include <dbc/model_info.h>
#include <vector>

namespace dbc::oracle {

/// The description of a verified module. The model's name is the module's symbol name. Datas, parameters and
/// entries stand in the order of their operations; fields of one data type share a column where name and type
/// are the same, and columns are numbered in the order of their first field.
ModelInfo describe(mlir::ModuleOp module);

/// All columns of data types and arguments that `entry`, a function of the module that `info` describes, may
/// read, directly or through cells; each once, sorted. Those are what `Batch::validate` has to check.
std::vector<ColumnRef> columnsRead(dyn::EntryOp entry, const ModelInfo &info, const Batch &batch);

} // namespace dbc::oracle
