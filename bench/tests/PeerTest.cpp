// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The protocol with peers, and that one which does not keep it is an error in words.
#include "bench/Peer.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>

using namespace dbc::bench;

namespace {

PeerProgram program(const std::string &how) {
  PeerProgram program;
  program.command = {DBC_BENCH_PYTHON, DBC_BENCH_TEST_PEER, how, "a peer", "3"};
  program.patience = 20;
  return program;
}

/// Two batches, the first of two inputs.
std::vector<Inputs> batches() {
  Inputs inputs({{"Node", {lists("words")}, {1, 0, 1}}}, {vectors("x", 2)});
  Column &words = inputs.table(0).columns[0];
  for (const std::vector<int32_t> &row : {std::vector<int32_t>{10, 20}, {}, {300}}) {
    words.ints.insert(words.ints.end(), row.begin(), row.end());
    words.end_list();
    inputs.end_input({1});
  }
  inputs.arguments().columns[0].floats = {0.5, 0, 0, 0.25, 1000, 1000};
  return inputs.cut(2);
}

/// A peer that has been started and has its inputs.
std::unique_ptr<Peer> loaded(const PeerProgram &program) {
  auto peer = std::make_unique<Peer>("test", program, 3);
  Parameters parameters;
  parameters.set("layer.b", {7, 8});
  std::string absent;
  EXPECT_EQ(peer->start(absent), "");
  EXPECT_EQ(absent, "");
  EXPECT_EQ(peer->load(parameters, batches()), "");
  return peer;
}

TEST(Peer, ComputesWhatItWasGiven) {
  std::unique_ptr<Peer> peer = loaded(program("sums"));
  EXPECT_EQ(peer->note(), "a peer of 3");
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<float> out(3);
    ASSERT_EQ(peer->try_pass(out.data()), "");
    EXPECT_EQ(out, (std::vector<float>{38.75, 7.75, 2308}));
    EXPECT_EQ(peer->schedule_seconds(), 0.5); // a quarter each batch
    EXPECT_GE(peer->pass_seconds(), 0);
    EXPECT_LT(peer->pass_seconds(), 20);
  }
}

TEST(Peer, SaysWhatItHasLearnt) {
  std::unique_ptr<Peer> peer = loaded(program("sums"));
  EXPECT_EQ(peer->parameter("layer.W"), (std::vector<float>{3, 4}));
  EXPECT_EQ(peer->parameter("layer.b"), std::vector<float>());
  std::vector<float> out(3), values;
  EXPECT_EQ(peer->try_pass(out.data()), ""); // and goes on
  peer = loaded(program("dies"));
  EXPECT_NE(peer->try_pass(out.data()), "");
  EXPECT_EQ(peer->try_parameter("layer.W", values), "test: its program has ended");
}

// What was handed over lies in a folder only as long as it is read.
TEST(Peer, LeavesNoFolder) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "dbc-peer-test";
  fs::create_directories(folder);
  const char *old = std::getenv("TMPDIR");
  const std::string before = old ? old : "";
  setenv("TMPDIR", folder.c_str(), 1);
  loaded(program("sums"));
  EXPECT_TRUE(fs::is_empty(folder));
  if (old)
    setenv("TMPDIR", before.c_str(), 1);
  else
    unsetenv("TMPDIR");
  fs::remove_all(folder);
}

std::string why_absent(const PeerProgram &program) {
  Peer peer("test", program, 3);
  std::string absent;
  EXPECT_EQ(peer.start(absent), "");
  return absent;
}

TEST(Peer, Absent) {
  EXPECT_EQ(why_absent(program("of another kind")), "No module named 'peer'");
  PeerProgram none;
  none.command = {"dbc-no-such-program"};
  EXPECT_EQ(why_absent(none), "cannot start `dbc-no-such-program`: No such file or directory");
}

std::string start_error(const std::vector<std::string> &command, double patience = 20) {
  PeerProgram program;
  program.command = command;
  program.patience = patience;
  std::string absent;
  return Peer("test", program, 3).start(absent);
}

TEST(Peer, BadStart) {
  EXPECT_EQ(start_error(program("nonsense").command), "test: its program answered `what?`");
  EXPECT_EQ(start_error({"false"}), "test: its program ended with exit status 1");
  EXPECT_EQ(start_error({"sleep", "1000"}, 0.1), "test: its program was silent for 0.1 s");
  EXPECT_EQ(start_error({"yes", std::string(5000, 'x')}),
            "test: its program answered with a line of more than 4096 characters");
}

std::string pass_error(const std::string &how, double patience = 20) {
  PeerProgram one = program(how);
  one.patience = patience;
  std::vector<float> out(3);
  return loaded(one)->try_pass(out.data());
}

TEST(Peer, BadPass) {
  EXPECT_EQ(pass_error("fails"), "test: its program ended with exit status 1");
  EXPECT_EQ(pass_error("dies"),
            std::string("test: its program was ended by a signal: ") + strsignal(SIGKILL));
  EXPECT_EQ(pass_error("has one more"), "test: its program gave 5 values instead of 3");
  EXPECT_EQ(pass_error("is silent", 2), "test: its program was silent for 2 s");
}

// A peer that is gone is sent nothing more, and that ends no test.
TEST(Peer, PassAfterTheEnd) {
  std::unique_ptr<Peer> peer = loaded(program("dies"));
  std::vector<float> out(3);
  EXPECT_NE(peer->try_pass(out.data()), "");
  EXPECT_EQ(peer->try_pass(out.data()), "test: its program has ended");
  EXPECT_EXIT(peer->pass(out.data()), testing::ExitedWithCode(1), "dbc-bench: test: its program has ended");
}

TEST(Peer, Program) {
  setenv("DBC_PYTHON", "python3.99", 1);
  PeerProgram program = peer_program("tree_lstm", 0, "dynet-depth", 2, "folder");
  unsetenv("DBC_PYTHON");
  ASSERT_EQ(program.command.size(), 5u);
  EXPECT_EQ(program.command[0], "python3.99");
  EXPECT_EQ(program.command[3], "dynet-depth");
  EXPECT_EQ(program.command[4], "2");
  program = peer_program("tree_lstm", 0.25F, "dynet-depth", 2, "folder");
  ASSERT_EQ(program.command.size(), 6u);
  EXPECT_EQ(std::stof(program.command[5]), 0.25F);
  EXPECT_EQ(program.environment[0], "OMP_NUM_THREADS=2");
  EXPECT_EQ(program.environment.back().rfind("PYTHONPATH=folder", 0), 0u);
  EXPECT_EQ(peer_program("tree_lstm", 0, "pytorch-node", 2, "folder").environment.size(), 3u);
}

} // namespace
