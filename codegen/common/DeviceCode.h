// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a model that is compiled for a device too has besides.
#pragma once

#include "codegen/common/MemoryPlan.h"
#include "codegen/common/ModelNames.h"
#include "codegen/common/Writer.h"

namespace dbc::codegen {

/// The sections of NAME.cpp and NAME.json that hand the work of a batch over to a device. The emitters of
/// cpu/ ask for them where they belong; beside that they know how NAME.cuh is called and what a manifest says
/// of a GPU. Programs and parameters are those of the host's model.
class DeviceCode {
public:
  virtual ~DeviceCode() = default;

  /// `#include` lines for the runtime of the device.
  virtual void includes(Writer &out) const = 0;
  /// Declarations in a program's `Plan`: its functions, and its variables.
  virtual void planFunctions(const Program &program, Writer &out) const = 0;
  virtual void planVariables(const Program &program, Writer &out) const = 0;
  /// The definitions of these functions.
  virtual void compute(const Program &program, Writer &out) const = 0;
  /// Whether kernels read a parameter as an array: then the Model has a copy of it.
  virtual bool readsArray(const Param &param) const = 0;
  /// In `make_model`: what only the device has.
  virtual void makeModel(Writer &out) const = 0;
  /// In `code_of_model`.
  virtual void code(Writer &out) const = 0;

  /// The memory that it takes.
  virtual MemoryPlan memory() const = 0;
  /// Entries of which a library computes products.
  virtual std::vector<std::string> blasEntries() const = 0;
};

} // namespace dbc::codegen
