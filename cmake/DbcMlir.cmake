# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# The one way anything here links LLVM and MLIR: through the two shared libraries, never the static ones beside them.
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE FILEPATH "")
set(LLVM_LIT_ARGS "-sv" CACHE STRING "")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(NOT LLVM_ENABLE_ASSERTIONS) # counters of passes are as libMLIR has them, see cmake/llvm
  include_directories(SYSTEM ${PROJECT_SOURCE_DIR}/cmake/llvm)
endif()
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_library(dbc_mlir INTERFACE)
separate_arguments(llvm_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
# The runtime's flags too, which the oracle and the driver get along with it: precompiled headers want the same everywhere.
target_compile_options(dbc_mlir INTERFACE ${llvm_defs} ${DBC_NUMERIC_FLAGS})
# What the compiler takes for certain is tested in every build: where it errs, it says so instead of writing wrong code.
target_compile_options(dbc_mlir INTERFACE -UNDEBUG)
target_link_libraries(dbc_mlir INTERFACE MLIR LLVM)

# Most of dbc's time goes to libMLIR: by -O1 it compiles models as fast as by -O3, and is built sooner (a pass in 0.6 of the
# time). Generated code is not concerned.
target_compile_options(dbc_mlir INTERFACE $<$<CONFIG:Release>:-O1>)

# MLIR's headers take most of a file's time to compile; they are read once for all libraries and programs, which have the
# same flags for that: what is position-independent by the C++ compiler's own choice is so. A build with
# CMAKE_DISABLE_PRECOMPILE_HEADERS (scripts/test --full makes one) shows that each file includes what it uses.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "int main() {}\n")
add_library(dbc_headers STATIC ${PROJECT_BINARY_DIR}/headers.cpp)
set_target_properties(dbc_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
dbc_warnings(dbc_headers)
target_link_libraries(dbc_headers PRIVATE dbc_mlir)
target_precompile_headers(dbc_headers PRIVATE
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/Tensor/IR/Tensor.h> <mlir/IR/DialectImplementation.h> <mlir/Pass/PassManager.h>
  <llvm/ADT/TypeSwitch.h>)
