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
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_library(dbc_mlir INTERFACE)
separate_arguments(llvm_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(dbc_mlir INTERFACE ${llvm_defs})
target_link_libraries(dbc_mlir INTERFACE MLIR LLVM)
