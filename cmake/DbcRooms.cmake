# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# Which way rooms depend on one another, warnings for all of our own code, and the helper that every compiler library is
# made with.

# A header of a room that its includer must not depend on fails the build.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(sources "")
foreach(room ir frontend passes codegen cost oracle driver lsp runtime python examples bench)
  foreach(ending h cpp inc)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.${ending})
    list(APPEND sources ${files})
  endforeach()
endforeach()
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/rooms.stamp
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_rooms.py ${PROJECT_SOURCE_DIR}
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/rooms.stamp
  DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/scripts/check_rooms.py
  COMMENT "Directions of dependence between rooms"
  VERBATIM)
add_custom_target(rooms ALL DEPENDS ${PROJECT_BINARY_DIR}/rooms.stamp)

function(dbc_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter)
endfunction()

# GoogleTest's fixtures in anonymous namespaces: where several files are compiled as one, g++ takes each for a header.
function(dbc_fixtures target)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:$<TARGET_PROPERTY:${target},UNITY_BUILD>>>:-Wno-subobject-linkage>)
endfunction()

# The headers of MLIR for a library or program of the compiler, which is made with the flags that they were made with.
function(dbc_precompiled_headers target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${target} REUSE_FROM dbc_headers)
endfunction()

# dbc_library(Name a.cpp b.cpp LINK OtherLib ...): a static library of the compiler.
function(dbc_library name)
  cmake_parse_arguments(A "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${A_UNPARSED_ARGUMENTS})
  dbc_warnings(${name})
  # Each pass has its own.
  set_target_properties(${name} PROPERTIES UNITY_BUILD_CODE_AFTER_INCLUDE "#undef DEBUG_TYPE")
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PUBLIC dbc_mlir ${A_LINK})
  dbc_precompiled_headers(${name})
  add_dependencies(${name} DbcIrIncGen)
endfunction()

# dbc_tool(name a.cpp LINK Lib ...): a program in build/bin.
function(dbc_tool name)
  cmake_parse_arguments(A "" "" "LINK" ${ARGN})
  add_executable(${name} ${A_UNPARSED_ARGUMENTS})
  dbc_warnings(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${A_LINK})
  dbc_precompiled_headers(${name})
  add_dependencies(${name} DbcIrIncGen)
endfunction()
