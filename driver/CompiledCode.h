// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Generated code compiled into the cache: a shared object, loaded into this program, or a program of its own,
// which takes this one's place.
#pragma once

#include "driver/Exit.h"
#include <dbc/model.h>
#include <string>

namespace dbc::driver {

/// The text of a model's generated files.
struct GeneratedCode {
  std::string model;                 ///< the model's name
  std::string space;                 ///< the namespace of its classes
  std::string header;                ///< <model>.h
  std::string cHeader;               ///< <model>_c.h
  std::string source;                ///< <model>.cpp
  std::string manifest;              ///< <model>.json
  std::string deviceHeader, kernels; ///< <model>.cuh and <model>.cu; empty: not for a device
  bool blas = false;                 ///< the kernels want cuBLAS
  bool mpi = false;                  ///< `main` trains over the processes of MPI
  std::string main; ///< <model>-trainer.cpp, which has `main`: for a program; empty: for a shared object
};

/// Compiles with $CXX (else c++) and $CXXFLAGS unless the cache has the result, loads it, and returns what it
/// offers. What is loaded stays loaded until the program ends. The object has no runtime of its own: it uses
/// this program's. Of several programs that want the same at once one compiles it. Says what is wrong: that
/// there is no compiler or no folder for the cache is the user's error, that the compiler refuses the code is
/// ours. Kernels are compiled by $CUDACXX (else nvcc), or with `onCpu` by the C++ compiler, to run on the
/// CPU. With `file` says where in the cache the object is.
Exit loadShared(const GeneratedCode &code, bool onCpu, bool verbose, const ModelCode *&loaded,
                std::string *file = nullptr);

/// Whether programs can be compiled that train over the processes of MPI.
bool hasMpi();

/// Compiles in the same way a program of the model and its `main`, linked with dbc's trainer, and goes on as
/// that program, in this process, with one argument. Returns only what is wrong. `onCpu` as above.
Exit becomeTrainer(const GeneratedCode &code, bool onCpu, bool verbose, const std::string &argument);

} // namespace dbc::driver
