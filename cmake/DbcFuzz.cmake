# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# Fuzz targets: programs that hand any bytes to a reader and abort on what must not be. scripts/fuzz.py makes their seeds
# and runs them.
option(DBC_FUZZ "Build the fuzz targets (needs clang), with what of the front end and the driver knows nothing of MLIR" OFF)
if(DBC_FUZZ AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "DBC_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++-22")
endif()

# dbc_fuzz(name source.cpp Library ...): the target fuzz_<name>, steered by the branches of these libraries.
function(dbc_fuzz name source)
  if(NOT DBC_FUZZ)
    return()
  endif()
  add_executable(fuzz_${name} ${source})
  dbc_warnings(fuzz_${name})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${name} PRIVATE ${ARGN})
  foreach(library ${ARGN})
    get_target_property(options ${library} COMPILE_OPTIONS)
    if(NOT "-fsanitize=fuzzer-no-link" IN_LIST options)
      target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
      target_link_options(${library} INTERFACE -fsanitize=fuzzer-no-link)
    endif()
  endforeach()
endfunction()
