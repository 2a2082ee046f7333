// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a training writes has the same bytes on every machine: hashes, numbers, JSON.
#include "Digits.h"
#include "Json.h"
#include "WholeFiles.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <unistd.h>

using namespace dbc;
using namespace dbc::train;

namespace {

TEST(TrainFiles, NumbersAreThoseOfPrintf) {
  for (double value : {0.0, -0.0, 0.1, 1.0, 123456789.0, 1e-5, 1e300, -2.5, 5e-324, 0.40000000000000002}) {
    char text[400];
    for (int digits : {0, 1, 4}) {
      std::snprintf(text, sizeof text, "%.*f", digits, value);
      EXPECT_EQ(fixed(value, digits), text);
    }
    for (int digits : {4, 9, 17}) {
      std::snprintf(text, sizeof text, "%.*g", digits, value);
      EXPECT_EQ(general(value, digits), text);
    }
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(general(std::copysign(nan, -1.0), 9), "nan");
  EXPECT_EQ(fixed(-std::numeric_limits<double>::infinity(), 4), "-inf");
}

TEST(TrainFiles, JsonHasSortedKeysAndShortNumbers) {
  const Json value = {
      {"b", {1, 0.1, true}}, {"a", {{"x", nullptr}, {"t", "\"\n\xFF"}}}, {"c", Json::array()}};
  EXPECT_EQ(to_text(value), R"({"a":{"t":"\"\n)"
                            "\xEF\xBF\xBD"
                            R"(","x":null},"b":[1,0.1,true],"c":[]})");
  EXPECT_EQ(to_text({{"a", {1}}, {"b", Json::object()}}, 2), "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}");
}

std::string letters(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += static_cast<char>('a' + i % 23);
  return text;
}

TEST(TrainFiles, HashIsThatOfXxhsum) {
  // What `xxhsum -H2` prints; texts of each of its ways of reading.
  EXPECT_EQ(hash_of(letters(0)), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_of(letters(1)), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(hash_of(letters(100)), "60cbf554edbdf702c180ab345ba3d51d");
  EXPECT_EQ(hash_of(letters(100000)), "5a74cdece22ae5aa48b10fe59c2b815f");
}

class Folder : public ::testing::Test {
protected:
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() override { std::filesystem::remove_all(path); }
  const std::string path = ::testing::TempDir() + "dbc_train_files_" + std::to_string(::getpid());
};

TEST_F(Folder, FilesAreReadAndWrittenWhole) {
  const std::string file = path + "/file", written(100000, 'x');
  std::string text;
  ASSERT_TRUE(write_file(file, written).ok());
  ASSERT_TRUE(read_file(file, text).ok());
  EXPECT_EQ(text, written);
  const auto time = std::filesystem::last_write_time(file) - std::chrono::hours(1);
  std::filesystem::last_write_time(file, time);
  ASSERT_TRUE(write_file(file, written).ok());
  EXPECT_EQ(std::filesystem::last_write_time(file), time); // it had this text already
  ASSERT_TRUE(write_file(file, "").ok());
  ASSERT_TRUE(read_file(file, text).ok());
  EXPECT_EQ(text, "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 1);
}

TEST_F(Folder, WhatCannotBeReadOrWrittenIsSaid) {
  std::string text;
  EXPECT_EQ(read_file(path + "/none", text).message, path + "/none: No such file or directory");
  EXPECT_EQ(read_file(path, text).message, path + ": Is a directory");
  EXPECT_EQ(write_file(path + "/none/file", "x").message, path + "/none/file: No such file or directory");
  EXPECT_EQ(write_file("/dev/full", "x").message, "/dev/full: No space left on device");
  EXPECT_TRUE(write_file("/dev/null", "x").ok());
  std::ofstream(path + "/file") << "x";
  EXPECT_EQ(make_folder(path + "/file/below").message, path + "/file/below: Not a directory");
  EXPECT_TRUE(make_folder(path + "/a/b").ok());
  EXPECT_TRUE(make_folder(path + "/a/b").ok());
}

} // namespace
