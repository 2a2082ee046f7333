# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# What find_package(dbc) finds, in this build tree and, laid out alike, where it is installed. It has components, and so has
# what is installed and what `cpack` packs (a Debian package each, dbc-<component>):
#   runtime    dbc::runtime, dbc::runtime_io, dbc::trainer, and their headers: what a compiled model needs
#   mpi        dbc::mpi and its header, where dbc was built with MPI
#   cuda       the headers of models compiled with --target cuda
#   compiler   dbc::dbc, dbc_add_model, and all that dbc reads
set(package lib/cmake/dbc)
include(CMakePackageConfigHelpers)
# Generated code and the runtime are of one version (dbc/version.h).
write_basic_package_version_file(${PROJECT_BINARY_DIR}/${package}/dbcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/dbcConfig.cmake ${PROJECT_BINARY_DIR}/${package}/dbcConfig.cmake COPYONLY)
configure_file(cmake/DbcAddModel.cmake ${PROJECT_BINARY_DIR}/${package}/DbcAddModel.cmake COPYONLY)
install(FILES cmake/dbcConfig.cmake ${PROJECT_BINARY_DIR}/${package}/dbcConfigVersion.cmake
  DESTINATION ${package} COMPONENT runtime)
install(FILES cmake/DbcAddModel.cmake DESTINATION ${package} COMPONENT compiler)

set_target_properties(dbc_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(dbc_runtime_io PROPERTIES EXPORT_NAME runtime_io)
set_target_properties(dbc_trainer PROPERTIES EXPORT_NAME trainer)
install(TARGETS dbc_runtime dbc_runtime_io dbc_trainer EXPORT dbcRuntime ARCHIVE DESTINATION lib COMPONENT runtime)
install(TARGETS dbc EXPORT dbcCompiler RUNTIME DESTINATION bin COMPONENT compiler)
install(TARGETS dbc-opt dbc-lsp RUNTIME DESTINATION bin COMPONENT compiler)
set(exports Runtime Compiler)
set(packed runtime cuda compiler)
if(TARGET dbc_mpi)
  set_target_properties(dbc_mpi PROPERTIES EXPORT_NAME mpi)
  install(TARGETS dbc_mpi EXPORT dbcMpi ARCHIVE DESTINATION lib COMPONENT mpi)
  install(FILES runtime/include/dbc/mpi.h DESTINATION include/dbc COMPONENT mpi)
  list(APPEND exports Mpi)
  list(APPEND packed mpi)
endif()
foreach(component ${exports})
  string(TOLOWER ${component} installed)
  install(EXPORT dbc${component} NAMESPACE dbc:: DESTINATION ${package} COMPONENT ${installed})
  export(EXPORT dbc${component} NAMESPACE dbc:: FILE ${PROJECT_BINARY_DIR}/${package}/dbc${component}.cmake)
endforeach()

# The runtime's headers, and what dbc reads: the library of modules, templates of projects, the constants of devices and the
# manual (driver/surroundings/Surroundings.cpp looks for them).
install(DIRECTORY runtime/include/dbc DESTINATION include COMPONENT runtime PATTERN cuda EXCLUDE PATTERN mpi.h EXCLUDE)
install(DIRECTORY runtime/include/dbc/cuda DESTINATION include/dbc COMPONENT cuda)
install(DIRECTORY dsl/lib dsl/templates cost/devices DESTINATION share/dbc COMPONENT compiler)
install(FILES dsl/REFERENCE.md driver/report/report.html DESTINATION share/dbc COMPONENT compiler)
install(FILES editors/package.json editors/dyn.tmLanguage.json editors/language-configuration.json
  DESTINATION share/dbc/editors COMPONENT compiler)
install(FILES editors/dbc.bash DESTINATION share/bash-completion/completions RENAME dbc COMPONENT compiler)

# The licence of each package, where Debian's policy wants it.
foreach(component ${packed})
  install(FILES LICENSE DESTINATION share/doc/dbc-${component} RENAME copyright COMPONENT ${component})
endforeach()
# The documents, laid out as in a checkout, so that links from one to another lead somewhere. Those to headers do by a link to
# where headers are installed.
set(documents share/doc/dbc-compiler)
file(GLOB pages CONFIGURE_DEPENDS docs/*.md docs/*.svg docs/*.json)
install(FILES ${pages} DESTINATION ${documents}/docs COMPONENT compiler)
install(FILES README.md CONTRIBUTING.md LICENSE DESTINATION ${documents} COMPONENT compiler)
foreach(page dsl/REFERENCE.md dsl/Dyn.g4 editors/README.md codegen/MANIFEST.md driver/weights/MAPPING.md bench/README.md
             bench/training/README.md cost/DeviceCost.h)
  cmake_path(GET page PARENT_PATH folder)
  install(FILES ${page} DESTINATION ${documents}/${folder} COMPONENT compiler)
endforeach()
install(DIRECTORY examples DESTINATION ${documents} COMPONENT compiler PATTERN __pycache__ EXCLUDE)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/links)
file(CREATE_LINK ../../../../include ${PROJECT_BINARY_DIR}/links/include SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/links/include DESTINATION ${documents}/runtime COMPONENT compiler)
install(DIRECTORY dsl/lib DESTINATION ${documents}/dsl COMPONENT compiler)

# For builds that are not CMake's: `pkg-config --cflags --libs dbc-runtime`.
string(JOIN " " numeric_flags ${DBC_NUMERIC_FLAGS})
function(install_pkgconfig name component)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/lib/pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/lib/pkgconfig/${name}.pc DESTINATION lib/pkgconfig COMPONENT ${component})
endfunction()
install_pkgconfig(dbc-runtime runtime)
install_pkgconfig(dbc-trainer runtime)
if(TARGET dbc_mpi)
  install_pkgconfig(dbc-mpi mpi)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${packed})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "the dbc authors")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME dbc-runtime)
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME dbc-cuda)
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME dbc-compiler)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME dbc-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "dbc-runtime (= ${PROJECT_VERSION}), libopenmpi-dev, openmpi-bin")
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "dbc-runtime (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "dbc-runtime (= ${PROJECT_VERSION}), dbc-cuda (= ${PROJECT_VERSION}), g++")
set(CPACK_DEBIAN_COMPILER_PACKAGE_RECOMMENDS "cmake, ninja-build, python3") # what the first example needs
set(CPACK_DEBIAN_COMPILER_PACKAGE_SUGGESTS "bash-completion, pkg-config")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "pkg-config")
set(CPACK_DEBIAN_COMPILER_PACKAGE_SHLIBDEPS ON) # of ANTLR and libzip
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "what models compiled by dbc need: libraries and headers")
set(CPACK_COMPONENT_MPI_DESCRIPTION "the library that trains models over the processes of MPI")
set(CPACK_COMPONENT_CUDA_DESCRIPTION "headers of models that dbc compiled for GPUs")
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "dbc, which compiles models of one input to C++ and CUDA for batches")
set(CPACK_STRIP_FILES ON)
include(CPack)
