# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# The optional part of the runtime that trains over the processes of MPI, built where MPI is found. Included by
# runtime/CMakeLists.txt.
if(DBC_IO)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(MPI_CXX_FOUND)
  set(DBC_MPI_LIBRARIES ${MPI_CXX_LIBRARIES})
  list(FILTER DBC_MPI_LIBRARIES EXCLUDE REGEX "mpi_cxx|mpicxx")
  set(DBC_MPI_LIBRARIES ${DBC_MPI_LIBRARIES} CACHE INTERNAL "what programs link that train over MPI")
  add_library(dbc_mpi STATIC mpi/World.cpp)
  add_library(dbc::mpi ALIAS dbc_mpi)
  dbc_warnings(dbc_mpi)
  set_target_properties(dbc_mpi PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(dbc_mpi SYSTEM PRIVATE ${MPI_CXX_INCLUDE_DIRS})
  target_compile_definitions(dbc_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX) # the interface of C alone
  target_link_libraries(dbc_mpi PUBLIC dbc_trainer ${DBC_MPI_LIBRARIES})
else()
  message(STATUS "dbc: no MPI, training is by single processes")
endif()
