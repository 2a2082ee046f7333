# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# The one way anything here links LLVM and MLIR: by their static libraries, never the two shared ones beside them. A program
# holds the tenth that it uses, runs where LLVM is not installed, and starts in 15 ms in place of 70.
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE FILEPATH "")
set(LLVM_LIT_ARGS "-sv" CACHE STRING "")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(NOT LLVM_ENABLE_ASSERTIONS) # counters of passes are as MLIR's libraries have them, see cmake/llvm
  include_directories(SYSTEM ${PROJECT_SOURCE_DIR}/cmake/llvm)
endif()
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_library(dbc_mlir INTERFACE)
separate_arguments(llvm_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
# The runtime's flags too, which the oracle and the driver get along with it: precompiled headers want the same everywhere.
target_compile_options(dbc_mlir INTERFACE ${llvm_defs} ${DBC_NUMERIC_FLAGS})
# What the compiler takes for certain is tested in every build: where it errs, it says so instead of writing wrong code.
target_compile_options(dbc_mlir INTERFACE -UNDEBUG)

# dbc_static_libraries(FILES target..): the files of these static libraries of MLIR and of those that they need. Not by linking
# the targets themselves, which name libLLVM.so.
function(dbc_static_libraries files)
  set(waiting ${ARGN})
  set(seen "")
  set(found "")
  while(waiting)
    list(POP_FRONT waiting library)
    if(library IN_LIST seen OR NOT library MATCHES "^MLIR")
      continue()
    endif()
    list(APPEND seen ${library})
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND found $<TARGET_FILE:${library}>)
    endif()
    get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
    if(needed)
      list(TRANSFORM needed REPLACE "^\\$<LINK_ONLY:(.+)>$" "\\1")
      list(APPEND waiting ${needed})
    endif()
  endwhile()
  set(${files} ${found} PARENT_SCOPE)
endfunction()
dbc_static_libraries(mlir_files MLIRArithDialect MLIRAsmParser MLIRLinalgDialect MLIRMathDialect MLIROptLib MLIRPass
  MLIRTensorDialect MLIRTransforms)
# What dbc-lsp needs too. Of LLVMSupport nothing is linked that compresses, so neither zlib nor zstd is.
set(llvm_files $<TARGET_FILE:LLVMSupport> $<TARGET_FILE:LLVMDemangle>)
add_library(dbc_llvm INTERFACE)
target_link_libraries(dbc_llvm INTERFACE ${llvm_files} ${CMAKE_DL_LIBS})
# LLVM's libraries are not sanitized: they use memory of arenas that the headers' code, which is, has poisoned.
if(DBC_SANITIZE MATCHES "address")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/asan.cpp
       CONTENT "extern \"C\" const char *__asan_default_options() { return \"allow_user_poisoning=0\"; }\n")
  add_library(dbc_asan OBJECT ${PROJECT_BINARY_DIR}/asan.cpp)
  target_link_libraries(dbc_llvm INTERFACE $<TARGET_OBJECTS:dbc_asan>)
endif()
# MLIR's libraries need one another in circles.
list(APPEND mlir_files $<TARGET_FILE:LLVMRemarks> $<TARGET_FILE:LLVMBitstreamReader>)
target_link_libraries(dbc_mlir INTERFACE "$<LINK_GROUP:RESCAN,${mlir_files}>" dbc_llvm)
target_link_options(dbc_mlir INTERFACE -Wl,--gc-sections)

# Most of dbc's time goes to MLIR: by -O1 it compiles models as fast as by -O3, and is built sooner (a pass in 0.6 of the
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
