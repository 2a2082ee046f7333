// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The emitters: one a file of a compiled model that any has, and the sections of the source file.
#pragma once

#include "codegen/common/DeviceCode.h"
#include "codegen/common/ModelNames.h"
#include "codegen/common/Writer.h"
#include "codegen/cpu/SharedStages.h"

namespace dbc::codegen {

std::string emitHeader(const ModelNames &model);
std::string emitCHeader(const ModelNames &model);
/// `device` is null where a model is compiled for the CPU alone.
mlir::FailureOr<std::string> emitSource(const ModelNames &model, const DeviceCode *device);
std::string emitManifest(const ModelNames &model, const DeviceCode *device);

// Sections of the source.

/// A program's plan, stages and schedule, in a namespace of its own.
llvm::LogicalResult emitProgram(const ModelNames &model, const Program &program, const SharedStages &shared,
                                const DeviceCode *device, Writer &out);
/// `void Plan::schedule(dbc::Run &run)`
void emitSchedule(const ModelNames &model, const Program &program, Writer &out);
/// `void Plan::compute(dbc::Run &run)`
void emitCompute(const ModelNames &model, const Program &program, Writer &out);
/// Where a field's or argument's array lies in the batch: "run.batch.column(0, 2).i32".
std::string arrayOf(const ModelNames &model, const Program &program, mlir::Operation *op, bool isArgument);

} // namespace dbc::codegen
