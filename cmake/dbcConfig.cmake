# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/dbcTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/DbcAddModel.cmake)
