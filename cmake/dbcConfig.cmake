# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# find_package(dbc [COMPONENTS runtime compiler cuda mpi]): all that is there where none is named. Of OPTIONAL_COMPONENTS
# dbc_<component>_FOUND says whether they are. Each is a Debian package, dbc-<component>.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/dbcRuntime.cmake)
set(dbc_runtime_FOUND TRUE)
foreach(file dbcCompiler DbcAddModel)
  include(${CMAKE_CURRENT_LIST_DIR}/${file}.cmake OPTIONAL RESULT_VARIABLE dbc_compiler_FOUND)
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/dbcMpi.cmake OPTIONAL RESULT_VARIABLE dbc_mpi_FOUND)
get_target_property(_dbc_include dbc::runtime INTERFACE_INCLUDE_DIRECTORIES)
find_path(_dbc_cuda dbc/cuda/context.h PATHS ${_dbc_include} NO_DEFAULT_PATH NO_CACHE)
if(_dbc_cuda)
  set(dbc_cuda_FOUND TRUE)
endif()
foreach(component ${dbc_FIND_COMPONENTS})
  if(dbc_FIND_REQUIRED_${component} AND NOT dbc_${component}_FOUND)
    set(dbc_FOUND FALSE)
    if(component MATCHES "^(runtime|compiler|cuda|mpi)$")
      set(dbc_NOT_FOUND_MESSAGE "its component `${component}` is not installed (Debian package dbc-${component})")
    else()
      string(CONCAT dbc_NOT_FOUND_MESSAGE "it has no component `${component}`: its components are runtime (dbc::runtime, "
        "dbc::runtime_io, dbc::trainer), compiler (dbc::dbc, dbc_add_model), cuda (headers) and mpi (dbc::mpi)")
    endif()
  endif()
endforeach()
