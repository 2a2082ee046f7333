// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The emitters: one a file of a compiled model, and the parts of the source file.
#pragma once

#include "codegen/FunctionEmitter.h"
#include "codegen/ModelNames.h"
#include "codegen/Writer.h"

namespace dbc::codegen {

std::string emitHeader(const ModelNames &model);
mlir::FailureOr<std::string> emitSource(const ModelNames &model);
std::string emitManifest(const ModelNames &model);

/// NAME.cuh and NAME.cu, of a model for a device whose kernels are made.
std::string emitDeviceHeader(const ModelNames &model);
std::string emitKernels(const ModelNames &model);
/// Whether cuBLAS computes a product of it; `model` is that for the device.
bool usesBlas(const ModelNames &model);

// Parts of the source.

/// `make_info()`: data types, parameters, entries.
void emitInfo(const ModelNames &model, Writer &out);
/// A program's plan, stages and schedule, in a namespace of its own.
llvm::LogicalResult emitProgram(const ModelNames &model, const Program &program, Writer &out);
/// `void Plan::schedule(dbc::Run &run)`
void emitSchedule(const ModelNames &model, const Program &program, Writer &out);
/// `void Plan::compute(dbc::Run &run)`
void emitCompute(const ModelNames &model, const Program &program, Writer &out);
/// `dbc::Status Plan::begin_on(dbc::Run &run, dbc::cuda::Context &device)` and `finish_on`, of a model for a
/// device.
void emitComputeOn(const ModelNames &model, const Program &program, Writer &out);
/// Whether the host decides which rows there are in the course of computing.
bool decides(const Program &program);
/// Whether kernels may find something wrong: then the plan has `report`.
bool hasChecks(const ModelNames &model, const Program &program);
/// Where a field's or argument's array lies in the batch: "run.batch.column(0, 2).i32".
std::string arrayOf(const ModelNames &model, const Program &program, mlir::Operation *op, bool isArgument);
/// `make_model`
void emitMakeModel(const ModelNames &model, Writer &out);
/// The table of entries by which hosts find the code.
void emitCode(const ModelNames &model, Writer &out);

/// A comment line for a constant's shape: "450 x 300".
std::string shapeText(const std::vector<int64_t> &shape);
/// A number of the IR's attributes, as short as it reads back.
std::string number(double value);

} // namespace dbc::codegen
