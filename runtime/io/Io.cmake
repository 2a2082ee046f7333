# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# The optional part of the runtime that reads and writes files: weights (safetensors), arrays (.npy), instances and
# results (JSON lines), and random instances. Included by runtime/CMakeLists.txt.
option(DBC_IO "Build the runtime's readers and writers of files" ON)

if(DBC_IO)
  find_package(nlohmann_json 3.9 REQUIRED)
  add_library(dbc_runtime_io STATIC
    c/Files.cpp
    io/Draw.cpp
    io/DrawSizes.cpp
    io/File.cpp
    io/Instance.cpp
    io/InstanceCheck.cpp
    io/InstanceEmit.cpp
    io/InstanceReader.cpp
    io/InstanceSchema.cpp
    io/JsonTape.cpp
    io/JsonText.cpp
    io/Nearest.cpp
    io/Npy.cpp
    io/NpyHeader.cpp
    io/Optimizer.cpp
    io/OutputValue.cpp
    io/Profile.cpp
    io/Safetensors.cpp
    io/SafetensorsHeader.cpp
    io/Shrink.cpp
    io/TensorFile.cpp
    io/Value.cpp)
  add_library(dbc::runtime_io ALIAS dbc_runtime_io)
  dbc_warnings(dbc_runtime_io)
  set_target_properties(dbc_runtime_io PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # The JSON library is headers only and used inside only: nothing of it is installed or seen by users.
  target_link_libraries(dbc_runtime_io PUBLIC dbc_runtime)
  target_include_directories(dbc_runtime_io SYSTEM PRIVATE
    $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)

  if(BUILD_TESTING)
    find_package(GTest REQUIRED)
    include(GoogleTest)
    add_executable(dbc_io_tests
      tests/io_draw.cpp
      tests/io_instances.cpp
      tests/io_instance_errors.cpp
      tests/io_npy.cpp
      tests/io_optimizer.cpp
      tests/io_profile.cpp
      tests/io_safetensors.cpp
      tests/io_value.cpp)
    dbc_warnings(dbc_io_tests)
    set_target_properties(dbc_io_tests PROPERTIES UNITY_BUILD OFF) # each file has helpers of the same names
    target_include_directories(dbc_io_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/io)
    target_link_libraries(dbc_io_tests PRIVATE dbc_runtime_io GTest::gtest_main)
    gtest_discover_tests(dbc_io_tests)
  endif()

  foreach(what instances npy safetensors)
    dbc_fuzz(${what} fuzz/${what}.cpp dbc_runtime_io)
  endforeach()
endif()
