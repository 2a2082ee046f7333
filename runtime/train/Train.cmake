# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# The optional part of the runtime that trains: what `dbc train` links with a model. Included by runtime/CMakeLists.txt.
if(DBC_IO)
  add_library(dbc_trainer STATIC
    train/Checkpoint.cpp
    train/Crash.cpp
    train/Curves.cpp
    train/DataSet.cpp
    train/DevMetric.cpp
    train/DeviceSteps.cpp
    train/FileOptions.cpp
    train/Finite.cpp
    train/GradientSum.cpp
    train/LeftOut.cpp
    train/Log.cpp
    train/Meter.cpp
    train/Metric.cpp
    train/NotFiniteLine.cpp
    train/Options.cpp
    train/ParameterOptions.cpp
    train/Ranks.cpp
    train/SharedState.cpp
    train/StepProfile.cpp
    train/Trainer.cpp
    train/TrainingLoop.cpp
    train/WholeFiles.cpp)
  add_library(dbc::trainer ALIAS dbc_trainer)
  dbc_warnings(dbc_trainer)
  set_target_properties(dbc_trainer PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(dbc_trainer PUBLIC dbc_runtime_io)
  find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
  # Headers only, as for dbc_runtime_io.
  target_include_directories(dbc_trainer SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  target_include_directories(dbc_trainer SYSTEM PRIVATE
    $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)

  if(BUILD_TESTING)
    add_executable(dbc_train_tests tests/train_files.cpp tests/train_options.cpp tests/train_ranks.cpp)
    dbc_warnings(dbc_train_tests)
    target_include_directories(dbc_train_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/train)
    target_include_directories(dbc_train_tests SYSTEM PRIVATE
      $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(dbc_train_tests PRIVATE dbc_trainer GTest::gtest_main)
    gtest_discover_tests(dbc_train_tests)
  endif()
endif()
