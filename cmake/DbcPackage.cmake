# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# What find_package(dbc) finds, in this build tree and, laid out alike, where it is installed: the compiler dbc::dbc, the
# libraries dbc::runtime, dbc::runtime_io and dbc::trainer, and dbc_add_model.
set(package lib/cmake/dbc)
foreach(name dbcConfig DbcAddModel)
  configure_file(cmake/${name}.cmake ${PROJECT_BINARY_DIR}/${package}/${name}.cmake COPYONLY)
  install(FILES cmake/${name}.cmake DESTINATION ${package})
endforeach()

set_target_properties(dbc_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(dbc_runtime_io PROPERTIES EXPORT_NAME runtime_io)
set_target_properties(dbc_trainer PROPERTIES EXPORT_NAME trainer)
install(TARGETS dbc dbc_runtime dbc_runtime_io dbc_trainer EXPORT dbcTargets
  RUNTIME DESTINATION bin ARCHIVE DESTINATION lib)
install(EXPORT dbcTargets NAMESPACE dbc:: DESTINATION ${package})
export(EXPORT dbcTargets NAMESPACE dbc:: FILE ${PROJECT_BINARY_DIR}/${package}/dbcTargets.cmake)

# What dbc and generated code read, beside the libraries: the runtime's headers, the library of modules, the constants of devices and
# the manual (driver/Files.cpp looks for them).
install(DIRECTORY runtime/include/dbc DESTINATION include)
install(DIRECTORY dsl/lib cost/devices DESTINATION share/dbc)
install(FILES dsl/REFERENCE.md DESTINATION share/dbc)

# For builds that are not CMake's: `pkg-config --cflags --libs dbc-runtime`.
string(JOIN " " numeric_flags ${DBC_NUMERIC_FLAGS})
configure_file(cmake/dbc-runtime.pc.in ${PROJECT_BINARY_DIR}/lib/pkgconfig/dbc-runtime.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lib/pkgconfig/dbc-runtime.pc DESTINATION lib/pkgconfig)
