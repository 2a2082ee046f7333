// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Options, trees, the check before timing, statistics and rows.
#include "bench/Dump.h"
#include "bench/Measure.h"
#include "bench/Options.h"
#include "bench/Plot.h"
#include "bench/Report.h"
#include "bench/Trees.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

using namespace dbc::bench;

namespace {

TEST(Options, Values) {
  Options options;
  EXPECT_EQ(
      parse({"--quick", "--hidden", "256", "--batch=10", "--seconds", "0.5", "--json", "--threads", "2"},
            options),
      "");
  EXPECT_TRUE(options.quick);
  EXPECT_EQ(options.hidden, 256);
  EXPECT_EQ(options.batch, 10);
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.seconds_each(), 0.5);
  EXPECT_TRUE(options.json);
  EXPECT_EQ(options.json_file, "");
  EXPECT_EQ(parse({"--json", "rows.json", "--plot", "bars.svg"}, options), "");
  EXPECT_EQ(options.plot, "bars.svg");
  EXPECT_EQ(options.json_file, "rows.json");
}

TEST(Options, Modes) {
  Options options;
  EXPECT_EQ(options.mode, Mode::Infer);
  EXPECT_EQ(parse({"--mode", "train"}, options), "");
  EXPECT_EQ(options.mode, Mode::Train);
  EXPECT_EQ(parse({"--mode=infer"}, options), "");
  EXPECT_EQ(options.mode, Mode::Infer);
  EXPECT_EQ(parse({"--mode", "test"}, options), "`test` does not fit `--mode`");
}

TEST(Options, Dump) {
  Options options;
  EXPECT_EQ(parse({"--dump", "folder", "--workload", "ggnn"}, options), "");
  EXPECT_EQ(options.dump, "folder");
  EXPECT_EQ(parse({"--dump"}, options), "`--dump` needs a value");
}

// Vectors and lists, references and kinds stand in the text as they do in memory.
TEST(Dump, Columns) {
  Inputs inputs({{"Atom", {vectors("x", 2), lists("near", 0)}, {}}}, {numbers("start", 0)});
  Table &atoms = inputs.table(0);
  atoms.kinds = {0, 1};
  atoms.columns[0].floats = {1, 2, 3, 4.5f};
  atoms.columns[1].end_list();
  atoms.columns[1].ints = {0};
  atoms.columns[1].end_list();
  inputs.arguments().columns[0].ints = {1};
  inputs.end_input({2});
  EXPECT_EQ(
      dump("energy", "generated", inputs),
      R"({"entry":"energy","data":"generated","tables":[{"name":"Atom","begin":[0,2],"kinds":[0,1],"columns":[)"
      R"({"name":"x","target":-1,"extent":2,"offsets":[],"values":[1.0,2.0,3.0,4.5]},)"
      R"({"name":"near","target":0,"extent":0,"offsets":[0,0,1],"values":[0]}]},)"
      R"({"name":"","begin":[0,1],"kinds":[],"columns":[)"
      R"({"name":"start","target":0,"extent":0,"offsets":[],"values":[1]}]}]})"
      "\n");
}

TEST(Options, Mistakes) {
  Options options;
  EXPECT_EQ(parse({"--fast"}, options), "unknown option `--fast`");
  EXPECT_EQ(parse({"--hidden"}, options), "`--hidden` needs a value");
  EXPECT_EQ(parse({"--hidden", "--quick"}, options), "`--hidden` needs a value");
  EXPECT_EQ(parse({"--hidden", "15x"}, options), "`15x` does not fit `--hidden`");
  EXPECT_EQ(parse({"--seconds", "-1"}, options), "`-1` does not fit `--seconds`");
  EXPECT_EQ(parse({"--quick=2"}, options), "`--quick` takes no value");
  EXPECT_EQ(parse({"--dynet", "nowhere"}, options), "`nowhere` has no dynet.py");
}

/// Reads `text` as a file of trees.
TreeBatch read(const std::string &text, std::string &error, int32_t vocab = 100) {
  // Tests run side by side: each in a process of its own.
  std::string path = testing::TempDir() + "/trees-" + std::to_string(getpid()) + ".txt";
  std::ofstream(path) << text;
  TreeBatch trees = read_sst(path, vocab, error);
  std::remove(path.c_str());
  return trees;
}

TEST(Trees, Read) {
  std::string error;
  TreeBatch trees = read("(3 (2 It) (4 (2 's) (1 It)))\n(0 x)\n", error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(trees.kind, (std::vector<uint8_t>{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(trees.left, (std::vector<int32_t>{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(trees.right, (std::vector<int32_t>{0, 0, 0, 2, 3, 0}));
  EXPECT_EQ(trees.word, (std::vector<int32_t>{0, 1, 0, 0, 0, 2}));
  EXPECT_EQ(trees.label, (std::vector<int32_t>{2, 2, 1, 4, 3, 0}));
  EXPECT_EQ(trees.root, (std::vector<int32_t>{4, 5}));
  EXPECT_EQ(trees.begin, (std::vector<int32_t>{0, 5, 6}));
  EXPECT_EQ(trees.leaves(), 4);

  std::vector<TreeBatch> batches = cut(trees, 1);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[1].word, (std::vector<int32_t>{2}));
  TreeBatch twice = trees;
  append(trees, 1, twice);
  EXPECT_EQ(twice.trees(), 3);
  EXPECT_EQ(twice.right.back(), 9);
}

TEST(Trees, BrokenFiles) {
  auto error_of = [](const std::string &text, int32_t vocab = 100) {
    std::string error;
    read(text, error, vocab);
    return error;
  };
  EXPECT_EQ(error_of(""), "has no trees");
  EXPECT_EQ(error_of("(2 a)\n(2 (1 a)"), "line 2: the tree does not end");
  EXPECT_EQ(error_of("(2 (1 a))"), "line 1: a node needs either a word or two children");
  EXPECT_EQ(error_of("(2 (1 a) (1 b) (1 c))"),
            "line 1: a node has more than two children, or a word beside a child");
  EXPECT_EQ(error_of("(2 a b)"), "line 1: more than one word in a leaf");
  EXPECT_EQ(error_of("(a b)"), "line 1: a label from 0 to 4 is missing");
  EXPECT_EQ(error_of("(2 a) x"), "line 1: text after the end of the tree");
  EXPECT_EQ(error_of("x"), "line 1: a tree must start with `(`");
  EXPECT_EQ(error_of("(2 (1 a) (1 b))", 1), "line 1: more than 1 different words");
}

// The generator stands in for SST's dev set: 37.6 nodes a tree, 10.9 levels.
TEST(Trees, GeneratedShapes) {
  TreeBatch trees = generate_trees(1000, 500, 7);
  ASSERT_EQ(trees.trees(), 1000);
  std::vector<int32_t> depth(trees.nodes());
  double levels = 0;
  for (int32_t n = 0; n < trees.nodes(); ++n) {
    if (trees.kind[n] == TreeBatch::kNode) {
      ASSERT_LT(std::max(trees.left[n], trees.right[n]), n);
      depth[n] = std::max(depth[trees.left[n]], depth[trees.right[n]]);
    } else {
      ASSERT_LT(trees.word[n], 500);
      ASSERT_GE(trees.word[n], 0);
    }
    ++depth[n];
  }
  for (int32_t root : trees.root)
    levels += depth[root];
  EXPECT_NEAR(trees.nodes() / 1000.0, 37.6, 2.5);
  EXPECT_NEAR(levels / 1000, 10.9, 0.8);
}

/// Gives the same numbers always.
class Fixed final : public Implementation {
public:
  Fixed(std::vector<float> values, double schedule, double seconds = -1)
      : values_(std::move(values)), schedule_(schedule), seconds_(seconds) {}
  void pass(float *out) override { std::copy(values_.begin(), values_.end(), out); }
  double schedule_seconds() const override { return schedule_; }
  double pass_seconds() const override { return seconds_; }

private:
  std::vector<float> values_;
  double schedule_, seconds_;
};

std::vector<Contestant> contestants(std::vector<float> a, std::vector<float> b) {
  std::vector<Contestant> two;
  two.push_back({"a", std::make_unique<Fixed>(std::move(a), -1)});
  two.push_back({"absent", nullptr});
  two.push_back({"b", std::make_unique<Fixed>(std::move(b), 2e-6)});
  return two;
}

TEST(Measure, RefusesDifferentNumbers) {
  auto fine = contestants({1, 2}, {1, 2.0001f});
  EXPECT_EQ(check(fine, 2, {1}), "");
  auto wrong = contestants({1, 2}, {1, 2.1f});
  EXPECT_EQ(check(wrong, 2, {1}), "b differs from a by 0.05 (at most 0.0001 is allowed)");
  EXPECT_EQ(check(wrong, 2, {1.5}), "a differs from the reference by 0.333 (at most 0.0001 is allowed)");
  auto short_one = contestants({1, 2}, {1}); // the second value is never written
  EXPECT_EQ(check(short_one, 2, {1}), "b differs from a by inf (at most 0.0001 is allowed)");
}

/// A training that has left its only parameter as this.
class Trained final : public Implementation {
public:
  explicit Trained(std::vector<float> values) : values_(std::move(values)) {}
  void pass(float *) override {}
  std::vector<float> parameter(const std::string &) override { return values_; }

private:
  std::vector<float> values_;
};

// Trainings are compared by how far they have moved, as a step changes little of a weight.
TEST(Measure, RefusesOtherSteps) {
  Parameters start;
  start.set("W", {1, 2});
  auto wrong = [&](std::vector<float> a, std::vector<float> b) {
    std::vector<Contestant> two;
    two.push_back({"a", std::make_unique<Trained>(std::move(a))});
    two.push_back({"absent", nullptr});
    two.push_back({"b", std::make_unique<Trained>(std::move(b))});
    return check_trained(two, start);
  };
  EXPECT_EQ(wrong({1.5, 2}, {1.5, 2}), "");
  EXPECT_EQ(wrong({1, 2}, {1, 2}), "");
  EXPECT_EQ(wrong({1.5, 2}, {1.25, 2}), "b differs in `W` from a by 0.5 (at most 0.0001 is allowed)");
  EXPECT_EQ(wrong({1.0625, 2}, {1.0625, 2.0625}), "b differs in `W` from a by 1 (at most 0.0001 is allowed)");
  EXPECT_EQ(wrong({1, 2}, {1, 2.5}), "b differs in `W` from a by inf (at most 0.0001 is allowed)");
  EXPECT_EQ(wrong({1.5, 2}, {1.5}), "b differs in `W` from a by inf (at most 0.0001 is allowed)");
}

TEST(Measure, RowsOfAllContestants) {
  auto some = contestants({1}, {1});
  int calls = 0;
  Measurement found = measure(some, 1, 1e-6, [&] { return 10.0 * ++calls; });
  EXPECT_GE(found.rounds, 5);
  EXPECT_EQ(calls, found.rounds);
  EXPECT_EQ(found.sgemm, 5.0 * (calls + 1)); // the median
  Case shared;
  shared.workload = "w";
  shared.mode = "infer";
  shared.data = "generated";
  shared.inputs = 10;
  shared.instances = 1000;
  std::vector<Row> result = rows(shared, some, found);
  ASSERT_EQ(result.size(), 3u);
  EXPECT_GT(result[0].per_second.value_or(0), 0);
  EXPECT_FALSE(result[0].schedule_ns_per_node);
  EXPECT_NEAR(result[2].schedule_ns_per_node.value_or(0), 2, 1e-9);
  Row &absent = result[1];
  EXPECT_EQ(
      json({absent}),
      "[\n {\"workload\":\"w\",\"impl\":\"absent\",\"mode\":\"infer\",\"hidden\":0,\"batch\":0,\"threads\":1,"
      "\"per_second\":null,\"spread\":null,\"schedule_ns_per_node\":null,\"limit_share\":null,\"data\":"
      "\"generated\"}\n]\n");
}

// A panel for each case, a group for each batch, a bar for each implementation that is there; names are text.
TEST(Plot, Bars) {
  std::vector<Row> rows(5);
  for (Row &row : rows)
    row.workload = "trees", row.mode = "infer", row.hidden = 150, row.batch = 1, row.data = "a & b";
  rows[0].impl = "dbc", rows[0].per_second = 200;
  rows[1].impl = "<hand>", rows[1].per_second = 100;
  rows[2].impl = "absent";
  rows[3].impl = "dbc", rows[3].batch = 64, rows[3].per_second = 400;
  rows[4].impl = "dbc", rows[4].workload = "graphs", rows[4].per_second = 7;
  const std::string svg = plot(rows, "a machine");
  const auto count = [&](const std::string &what) {
    size_t found = 0;
    for (size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("<title>"), 4u) << svg;
  EXPECT_EQ(count("<title>dbc, batch 1: 200</title>"), 1u) << svg;
  EXPECT_EQ(count("class=\"title\""), 2u) << svg; // a panel each
  EXPECT_EQ(count(">batch 64<"), 1u) << svg;
  EXPECT_EQ(count("&lt;hand&gt;"), 2u) << svg; // its bar, and the legend
  EXPECT_EQ(count("(a &amp; b)"), 2u) << svg;
  EXPECT_EQ(count("absent"), 0u) << svg;
  EXPECT_EQ(count(">a machine<"), 1u) << svg;
  // Half of the most is half as high.
  EXPECT_EQ(count("height=\"100.0\" fill=\"#4a97e0\"><title>dbc, batch 1: 200"), 1u) << svg;
  EXPECT_EQ(count("height=\"200.0\" fill=\"#4a97e0\"><title>dbc, batch 64: 400"), 1u) << svg;
}

// No two implementations of a panel have one colour, and what they were measured on is a line.
TEST(Plot, Colours) {
  std::vector<Row> rows;
  for (const char *name : {"a", "b", "dbc", "dbc-table", "dbc-bf16", "dbc-unbatched", "c", "d", "e", "f"}) {
    rows.emplace_back();
    rows.back().impl = name;
    rows.back().per_second = 1;
  }
  const std::string many = plot(rows, "a machine\nwith kernels");
  std::set<std::string> colours;
  for (size_t at = many.find("height=\"11\" fill="); at != std::string::npos;
       at = many.find("height=\"11\" fill=", at + 1))
    colours.insert(many.substr(at + 18, 9));
  EXPECT_EQ(colours.size(), rows.size()) << many;
  EXPECT_NE(many.find(">a machine; with kernels<"), std::string::npos) << many;
}

// A peer's own clock counts, and the table says what peers are and why others are absent.
TEST(Measure, Peers) {
  std::vector<Contestant> two;
  two.push_back({"there", std::make_unique<Fixed>(std::vector<float>{1}, -1, 0.5), "version 3"});
  two.push_back({"away", nullptr, "not installed"});
  Measurement found = measure(
      two, 1, 1, [] { return 1; }, /*pause=*/1e-3); // which is not counted
  EXPECT_EQ(found.timings[0].seconds, 0.5);
  EXPECT_EQ(found.timings[0].spread, 0);
  std::string text = table(Case(), two, found);
  EXPECT_NE(text.find("\n  there is version 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  absent: away (not installed)\n"), std::string::npos) << text;
}

TEST(Measure, Quantiles) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 0.25), 2);
  EXPECT_EQ(quantile({1, 2}, 0.5), 1.5);
  EXPECT_EQ(quantile({7}, 0.75), 7);
}

} // namespace
