// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// .npy files: every version and type, and everything that is refused.
#include <cstdio>
#include <cstring>
#include <dbc/io/npy.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace dbc;

namespace {

std::string file(const std::string &dict, const std::string &data, int version = 1) {
  std::string text = dict + "\n";
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return bytes + text + data;
}
template <typename T> std::string raw(std::vector<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
std::string says(const std::string &bytes) {
  NpyArray array;
  array.extents = {77};
  Status status = parse_npy(bytes, array);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code, Code::io);
  EXPECT_EQ(array.extents, std::vector<int64_t>{77}); // untouched
  return status.message;
}
std::string header_says(const std::string &dict) { return says(file(dict, raw<float>({1}))); }

TEST(Npy, ReadsEveryVersionAndType) {
  NpyArray array;
  for (int version : {1, 2, 3}) {
    Status status = parse_npy(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          ",
                                   raw<float>({1, 2, 3, 4, 5, 6.5f}), version),
                              array);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(array.type, NpyArray::Type::F32);
    EXPECT_EQ(array.extents, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array.size(), 6);
    EXPECT_EQ(array.to_doubles(), (std::vector<double>{1, 2, 3, 4, 5, 6.5}));
  }
  ASSERT_TRUE(
      parse_npy(file("{\"shape\":(2,),\"descr\":\"<f8\",\"fortran_order\":False}", raw<double>({0.1, -2})),
                array)
          .ok());
  EXPECT_EQ(array.to_doubles(), (std::vector<double>{0.1, -2}));
  ASSERT_TRUE(
      parse_npy(file("{'descr': '<i4', 'fortran_order': False, 'shape': ()}", raw<int32_t>({-7})), array)
          .ok());
  EXPECT_EQ(array.extents, std::vector<int64_t>{});
  EXPECT_EQ(array.to_doubles(), std::vector<double>{-7});
  ASSERT_TRUE(
      parse_npy(file("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1)}", raw<int64_t>({1LL << 40})),
                array)
          .ok());
  EXPECT_EQ(array.to_doubles(), std::vector<double>{1099511627776.0});
  ASSERT_TRUE(parse_npy(file("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5)}", ""), array).ok());
  EXPECT_EQ(array.size(), 0);
}

TEST(Npy, RefusesWhatItDoesNotRead) {
  const std::string p = "not readable as .npy: ";
  EXPECT_EQ(says(""), p + "it is not a .npy file");
  EXPECT_EQ(says("\x93NUMPX\x01\x01\x01\x01\x01\x01"), p + "it is not a .npy file");
  EXPECT_EQ(says(file("{}", "", 4)), p + "its format version is 4.0; 1.0, 2.0 and 3.0 are read");
  EXPECT_EQ(says(file("{", "").substr(0, 11)), p + "its header would have 2 bytes");
  EXPECT_EQ(says(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F{}", 14)),
            p + "its header would have 2147483647 bytes");
  const std::string form = p + "its header is not a dict of 'descr', 'fortran_order' and 'shape'";
  EXPECT_EQ(header_says("{}"), form);
  EXPECT_EQ(header_says("'descr'"), form);
  EXPECT_EQ(header_says("{'descr': '<f4', 'fortran_order': False}"), form);
  EXPECT_EQ(header_says("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"), form);
  EXPECT_EQ(header_says("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x"), form);
  EXPECT_EQ(header_says("{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}"), form);
  EXPECT_EQ(header_says("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}"),
            p + "its dtype is '>f4'; '<f4', '<f8', '<i4' and '<i8' are read");
  EXPECT_EQ(header_says("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}"),
            p + "records are not read, only the dtypes '<f4', '<f8', '<i4' and '<i8'");
  EXPECT_EQ(header_says("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}"),
            p + "it is in Fortran order; only C order is read");
  EXPECT_EQ(header_says("{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}"),
            p + "its header has the key 'descr' twice");
  EXPECT_EQ(header_says("{'extra': 1}"), p + "its header has the key 'extra'");
  for (const char *shape : {"(1", "1", "(-1,)", "(1 2)", "(1)", "(99999999999999999999,)", "(1.0,)", "[1]"})
    EXPECT_EQ(header_says(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + "}"),
              p + "its shape is not a tuple of extents");
  EXPECT_EQ(header_says("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
            p + "its shape needs 8 bytes of data, it has 4");
  EXPECT_EQ(header_says("{'descr': '<f4', 'fortran_order': False, 'shape': ()}x"), form);
  EXPECT_EQ(header_says("{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952, 9)}"),
            p + "its shape is beyond all bounds");
  // Nor may the extents beside a zero: a user who multiplies them up meets no overflow.
  EXPECT_EQ(
      header_says(
          "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904, 0)}"),
      p + "its shape is beyond all bounds");
}

TEST(Npy, ReadsFiles) {
  std::string path = testing::TempDir() + "dbc_npy_" + std::to_string(getpid()) + ".npy";
  NpyArray array;
  EXPECT_EQ(read_npy(path, array).message, "cannot read `" + path + "`: No such file or directory");
  std::ofstream(path) << file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", raw<float>({1, 2}),
                              2);
  Status status = read_npy(path, array);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(array.to_doubles(), (std::vector<double>{1, 2}));
  std::ofstream(path) << "no";
  EXPECT_EQ(read_npy(path, array).message, "`" + path + "`: it is not a .npy file");
  EXPECT_EQ(array.size(), 2);
  std::remove(path.c_str());
  EXPECT_EQ(read_npy("/", array).message, "cannot read `/`: not a regular file");
}

} // namespace
