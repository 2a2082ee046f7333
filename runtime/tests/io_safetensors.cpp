// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Weights in files: what is written reads back, and whatever does not fit is refused whole.
#include "io_models.h"

#include <cstdio>
#include <cstring>
#include <dbc/io/safetensors.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dbc;
using namespace dbc::test;

namespace {

std::string bytes_of(const std::string &header, size_t data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return bytes + header + std::string(data, '\0');
}

class Safetensors : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "dbc_safetensors_" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    path = folder + "/w.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void put(const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  /// The message of a load that must fail and leave the weights alone.
  std::string load_says(const std::string &bytes) {
    put(bytes);
    Weights weights(model);
    weights.data(0)[0] = 42;
    Status status = load_weights(path, weights);
    EXPECT_EQ(status.code, Code::bad_weights);
    EXPECT_EQ(weights.data(0)[0], 42);
    for (int32_t p = 0; p < weights.count(); ++p)
      EXPECT_FALSE(weights.given(p));
    return status.message;
  }
  std::string folder, path;
  ModelInfo model = tree_model();
};

std::string header_says(const std::string &header, size_t data = 0) {
  SafetensorsHeader read;
  std::string bytes = bytes_of(header, data);
  Status status = parse_safetensors_header(bytes, bytes.size(), read);
  EXPECT_EQ(status.code, Code::bad_weights);
  EXPECT_TRUE(read.tensors.empty());
  return status.message;
}

TEST_F(Safetensors, WhatIsSavedLoads) {
  Weights weights(model);
  weights.draw(7);
  weights.data(0)[1] = -0.0f;
  ASSERT_TRUE(save_weights(path, weights).ok());
  // Nothing but the file is left in the folder.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()),
            1);

  SafetensorsHeader header;
  Status status = read_safetensors_header(path, header);
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_EQ(header.tensors.size(), 4u);
  EXPECT_EQ(header.data_begin % 8, 0u);
  EXPECT_EQ(header.tensors[1].name, "fwd.W");
  EXPECT_EQ(header.tensors[1].dtype, "F32");
  EXPECT_EQ(header.tensors[1].extents, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(header.tensors[1].begin, 120u);
  EXPECT_EQ(header.tensors[1].end, 144u);
  EXPECT_TRUE(header.tensors[3].extents.empty());

  Weights read(model);
  float *where = read.data(0);
  status = load_weights(path, read);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(read.data(0), where);
  for (int32_t p = 0; p < read.count(); ++p) {
    EXPECT_TRUE(read.given(p));
    EXPECT_EQ(std::memcmp(read.data(p), weights.data(p), 4 * read.size(p)), 0);
  }
}

TEST_F(Safetensors, SavingIsAllOrNothing) {
  Weights weights(model);
  EXPECT_FALSE(save_weights(path, weights).ok()); // nothing is given yet
  EXPECT_FALSE(std::filesystem::exists(path));
  weights.draw(0);
  Status status = save_weights(folder + "/no/w.safetensors", weights);
  EXPECT_EQ(status.code, Code::io);
  EXPECT_EQ(status.message,
            "tree_lstm: cannot write `" + folder + "/no/w.safetensors`: No such file or directory");
  // A folder cannot be replaced: the temporary file goes away again.
  std::filesystem::create_directories(folder + "/taken/x");
  EXPECT_FALSE(save_weights(folder + "/taken", weights).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()),
            1);
}

TEST_F(Safetensors, TheNearestNamesAreOfTheSameShapeIfAnyAre) {
  EXPECT_EQ(load_says(bytes_of("{\"E\":{\"dtype\":\"F32\",\"shape\":[10,3],\"data_offsets\":[0,120]},"
                               "\"fwd.V\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[120,128]},"
                               "\"fw.Ws\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[128,152]},"
                               "\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[152,156]}}",
                               156)),
            "tree_lstm: weights in `" + path +
                "` do not fit the model\n"
                "  missing: `fwd.W` f32[2, 3] (nearest in the file: `fw.Ws`)\n"
                "  missing: `fwd.b` f32[2] (nearest in the file: `fwd.V`)\n"
                "  unexpected: `fwd.V` (nearest in the model: `fwd.b`)\n"
                "  unexpected: `fw.Ws` (nearest in the model: `fwd.W`)");
}

TEST_F(Safetensors, ATensorOfTheSameShapeIsNearerThanANameThatIs) {
  EXPECT_EQ(load_says(bytes_of(
                "{\"E\":{\"dtype\":\"F32\",\"shape\":[10,3],\"data_offsets\":[0,120]},"
                "\"fwd.c\":{\"dtype\":\"F32\",\"shape\":[12],\"data_offsets\":[120,168]},"
                "\"recurrent.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[168,192]},"
                "\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[192,196]}}",
                196)),
            "tree_lstm: weights in `" + path +
                "` do not fit the model\n"
                "  missing: `fwd.W` f32[2, 3] (nearest in the file: `recurrent.weight`)\n"
                "  missing: `fwd.b` f32[2] (nearest in the file: `fwd.c`)\n"
                "  unexpected: `fwd.c` (nearest in the model: `fwd.W`)\n"
                "  unexpected: `recurrent.weight` (nearest in the model: `fwd.W`)");
}

// Pipes, not /dev/null: a mistake would put a file in its place.
TEST_F(Safetensors, WhatIsNoRegularFileIsWrittenAsItIs) {
  Weights weights(model);
  weights.draw(0);
  ASSERT_TRUE(save_weights(path, weights).ok());
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  Status status = save_weights(pipe, weights);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::string got(1 << 16, '\0');
  const ssize_t count = ::read(reader, got.data(), got.size());
  ::close(reader);
  EXPECT_EQ(count, static_cast<ssize_t>(std::filesystem::file_size(path)));
}

TEST_F(Safetensors, ALinkStaysOne) {
  Weights weights(model);
  weights.draw(0);
  std::filesystem::create_directory(folder + "/real");
  put("old");
  std::filesystem::rename(path, folder + "/real/w.safetensors");
  std::filesystem::create_symlink("real/w.safetensors", path);
  Status status = save_weights(path, weights);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_TRUE(load_weights(folder + "/real/w.safetensors", weights).ok());
  // One that leads to nothing yet, and one that leads nowhere.
  std::filesystem::remove(folder + "/real/w.safetensors");
  EXPECT_TRUE(save_weights(path, weights).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_TRUE(load_weights(folder + "/real/w.safetensors", weights).ok());
  std::filesystem::create_symlink("circle", folder + "/circle");
  EXPECT_EQ(save_weights(folder + "/circle", weights).message,
            "tree_lstm: cannot write `" + folder + "/circle`: Too many levels of symbolic links");
}

TEST_F(Safetensors, EverythingThatDoesNotFitIsListedAtOnce) {
  EXPECT_EQ(load_says(bytes_of("{\"E\":{\"dtype\":\"F32\",\"shape\":[3,10],\"data_offsets\":[0,120]},"
                               "\"fwd.w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[120,144]},"
                               "\"s\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[144,146]}}",
                               146)),
            "tree_lstm: weights in `" + path +
                "` do not fit the model\n"
                "  missing: `fwd.W` f32[2, 3] (nearest in the file: `fwd.w`)\n"
                "  missing: `fwd.b` f32[2] (nearest in the file: `fwd.w`)\n"
                "  unexpected: `fwd.w` (nearest in the model: `fwd.W`)\n"
                "  mis-shaped: `E` is f32[3, 10], the model has f32[10, 3]\n"
                "  mis-shaped: `s` is f32[1], the model has f32\n"
                "  mis-typed: `s` is F16, only F32 is read");
}

TEST_F(Safetensors, AnEmptyFileLacksEverything) {
  EXPECT_EQ(load_says(bytes_of("{\"__metadata__\":{\"format\":\"pt\"}}", 0)),
            "tree_lstm: weights in `" + path +
                "` do not fit the model\n  missing: `E` f32[10, 3]\n  missing: `fwd.W` f32[2, 3]\n"
                "  missing: `fwd.b` f32[2]\n  missing: `s` f32");
}

TEST_F(Safetensors, FilesThatCannotBeRead) {
  Weights weights(model);
  Status status = load_weights(path, weights);
  EXPECT_EQ(status.code, Code::io);
  EXPECT_EQ(status.message, "tree_lstm: cannot read `" + path + "`: No such file or directory");
  EXPECT_EQ(load_says("short"), "tree_lstm: `" + path + "`: too short for a safetensors file");
  EXPECT_EQ(load_says(std::string(8, '\xFF')),
            "tree_lstm: `" + path +
                "`: not a safetensors file: its header would have 18446744073709551615 bytes, at most "
                "100000000 are allowed");
  EXPECT_EQ(load_says(std::string("\x40\0\0\0\0\0\0\0{}", 10)),
            "tree_lstm: `" + path + "`: the file ends within its header: 64 bytes are promised, 2 are there");
  EXPECT_EQ(load_says(bytes_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7)),
            "tree_lstm: `" + path +
                "`: tensor `a`: data_offsets 0 .. 8 are not within the file's 7 bytes of data");
}

TEST_F(Safetensors, Headers) {
  SafetensorsHeader header;
  std::string good =
      bytes_of("{\"b\":{\"data_offsets\":[8,12],\"dtype\":\"I8\",\"shape\":[2,2]},\"__metadata__\":"
               "{\"x\":\"y\"},\"a\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
               "\"none\":{\"dtype\":\"BF16\",\"shape\":[4,0],\"data_offsets\":[8,8]}}   ",
               12);
  Status status = parse_safetensors_header(good, good.size(), header);
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(header.tensors[1].name, "none");
  EXPECT_EQ(header.tensors[2].name, "b");
  EXPECT_EQ(header.metadata[0].second, "y");

  EXPECT_EQ(header_says(" {}"), "the header must begin with `{`");
  EXPECT_EQ(header_says(""), "the header must begin with `{`");
  EXPECT_EQ(header_says("{"),
            "not valid JSON at byte 2: syntax error while parsing object key - unexpected end of "
            "input; expected string literal");
  EXPECT_EQ(header_says(std::string("{}\0", 3)), "not valid JSON at byte 3: a zero byte");
  EXPECT_EQ(header_says("{\"a\":1}"), "tensor `a`: a number where an object must stand");
  EXPECT_EQ(header_says("{\"a\":[]}"), "tensor `a`: an array where an object must stand");
  EXPECT_EQ(header_says("{\"a\":{}}"), "tensor `a`: no `dtype`");
  EXPECT_EQ(header_says("{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}"), "tensor `a`: no `data_offsets`");
  EXPECT_EQ(header_says("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}"), "tensor `a`: `dtype` stands twice");
  EXPECT_EQ(header_says("{\"a\":{\"size\":3}}"), "tensor `a`: unknown key `size`");
  EXPECT_EQ(header_says("{\"a\":{\"dtype\":32}}"),
            "tensor `a`: a number where a string for `dtype` must stand");
  EXPECT_EQ(header_says("{\"a\":{\"shape\":[-1]}}"),
            "tensor `a`: a negative number where extents must stand");
  EXPECT_EQ(header_says("{\"a\":{\"shape\":[2.0]}}"),
            "tensor `a`: a number that is no integer where extents must stand");
  EXPECT_EQ(header_says("{\"a\":{\"shape\":[[2]]}}"), "tensor `a`: an array where extents must stand");
  EXPECT_EQ(header_says("{\"a\":{\"shape\":[18446744073709551615]}}"),
            "tensor `a`: shape is beyond all bounds");
  EXPECT_EQ(header_says("{\"a\":{\"data_offsets\":[0]}}"), "tensor `a`: `data_offsets` must be two numbers");
  EXPECT_EQ(header_says("{\"a\":{\"data_offsets\":[0,1,2]}}"),
            "tensor `a`: a number where two offsets must stand");
  EXPECT_EQ(header_says("{\"__metadata__\":{\"a\":1}}"), "`__metadata__`: a number where strings must stand");
  EXPECT_EQ(header_says("{\"__metadata__\":{},\"__metadata__\":{}}"),
            "the header: `__metadata__` stands twice");
  EXPECT_EQ(header_says("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}"), "`__metadata__`: `a` stands twice");

  auto tensor = [](const char *name, const char *dtype, const char *shape, const char *offsets) {
    return std::string("\"") + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  };
  auto one = [&](const char *dtype, const char *shape, const char *offsets) {
    return "{" + tensor("a", dtype, shape, offsets) + "}";
  };
  EXPECT_EQ(header_says(one("F33", "[1]", "[0,4]"), 4), "tensor `a`: unknown dtype `F33`");
  EXPECT_EQ(header_says(one("F32", "[1]", "[4,0]"), 4),
            "tensor `a`: data_offsets 4 .. 0 are not within the file's 4 bytes of data");
  EXPECT_EQ(header_says(one("F32", "[2]", "[0,4]"), 4),
            "tensor `a`: shape and dtype need 8 bytes, data_offsets give 4");
  EXPECT_EQ(header_says(one("F32", "[4294967296,4294967296]", "[0,0]")),
            "tensor `a`: shape is beyond all bounds");
  EXPECT_EQ(header_says(one("F32", "[1]", "[0,4]"), 8), "the tensors take 4 bytes of data, the file has 8");
  EXPECT_EQ(header_says(one("F32", "[1]", "[4,8]"), 8),
            "tensor `a` begins at byte 4 of the data, after a hole (expected 0)");
  EXPECT_EQ(
      header_says("{" + tensor("a", "F32", "[2]", "[0,8]") + "," + tensor("b", "F32", "[2]", "[4,12]") + "}",
                  12),
      "tensor `b` begins at byte 4 of the data, within the tensor before it (expected 8)");
  EXPECT_EQ(header_says(
                "{" + tensor("a", "F32", "[1]", "[0,4]") + "," + tensor("a", "F32", "[1]", "[4,8]") + "}", 8),
            "tensor `a` stands twice");
}

} // namespace
