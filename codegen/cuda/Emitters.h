// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The emitters of a model for a device: its files, and the section of NAME.cpp that begins and ends its work.
#pragma once

#include "codegen/common/Writer.h"
#include "codegen/cuda/DeviceKernels.h"

namespace dbc::codegen {

/// NAME.cuh and NAME.cu.
std::string emitDeviceHeader(const ModelNames &model, const DeviceKernels &kernels);
std::string emitKernels(const ModelNames &model, const DeviceKernels &kernels);
/// Whether a library computes a product of it.
bool usesBlas(const ModelNames &model);

/// `dbc::Status Plan::begin_on(dbc::Run &run, dbc::cuda::Context &device)` and `finish_on`.
void emitComputeOn(const ModelNames &model, const Program &program, const DeviceKernels &kernels,
                   Writer &out);
/// Whether the host decides which rows there are in the course of computing.
bool decides(const Program &program);
/// Whether kernels may find something wrong: then the plan has `report`.
bool hasChecks(const ModelNames &model, const Program &program);

} // namespace dbc::codegen
