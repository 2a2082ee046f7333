// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Instances: lines into batches and back.
#include "io_models.h"

#include <cmath>
#include <dbc/io/instance.h>
#include <dbc/io/instances.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

using namespace dbc;
using namespace dbc::test;

namespace {

/// The last input of a batch as the line that it would be written as.
std::string written(const EntryInfo &entry, Batch &batch) {
  Instance instance;
  Status status = get_instance(entry, batch, batch.inputs() - 1, instance);
  return status.ok() ? instance_json(batch.info(), entry, instance) : status.message;
}

TEST(Instances, ReadsTheExampleOfTheFormat) {
  ModelInfo model = tree_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  std::string line =
      "{\"nodes\": [{\"Leaf\": {\"word\": 3, \"label\": 1}}, {\"Leaf\": {\"word\": 8, \"label\": 2}}, "
      "{\"Node\": {\"left\": 0, \"right\": 1, \"label\": 2}}], \"args\": {\"t\": 2}}";
  Status status = reader.append(line, batch);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(written(model.entries[0], batch), line);
  EXPECT_EQ(reader.weights(), std::vector<float>{1});
  EXPECT_EQ(reader.line(), 2);

  batch.finish();
  const std::vector<ConstructorInfo> &constructors = model.datas[0].constructors;
  EXPECT_EQ(batch.kinds(0)[2], 1);
  EXPECT_EQ(batch.column(0, constructors[1].fields[1].column).i32[2], 1);
  EXPECT_EQ(batch.column(0, constructors[0].fields[0].column).i32[1], 8);
  EXPECT_EQ(batch.column(batch.args(), batch.arg_column(0, 0)).i32[0], 2);
}

TEST(Instances, KeysStandInAnyOrderAndReferencesGoForwardAndRound) {
  ModelInfo model = tree_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  // A cycle and a node that two fields share: the format has nothing against either.
  Status status =
      reader.append("{\"weight\": 0.25, \"args\": {\"t\": 0}, \"nodes\": [{\"Node\": {\"right\": 1, "
                    "\"left\": 1}}, {\"Node\": {\"left\": 0, \"right\": 1}}]}\r",
                    batch);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(written(model.entries[0], batch),
            "{\"nodes\": [{\"Node\": {\"left\": 1, \"right\": 1}}, {\"Node\": "
            "{\"left\": 0, \"right\": 1}}], \"args\": {\"t\": 0}}");
  EXPECT_EQ(reader.weights()[0], 0.25f);
}

TEST(Instances, NodesOfSeveralInputsAndTypesKeepTheirIndex) {
  ModelInfo model = lattice_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  const char *line =
      "{\"nodes\": [{\"Word\": {\"form\": 1, \"start\": 2}}, {\"Char\": {\"glyph\": 5, \"before\": [2], "
      "\"ending\": [0]}}, {\"Char\": {\"glyph\": 6, \"before\": [], \"ending\": []}}], \"args\": {\"f\": "
      "[2, 1], \"b\": []}}";
  ASSERT_TRUE(reader.append(line, batch).ok());
  ASSERT_TRUE(reader.append(line, batch).ok());
  batch.finish();
  EXPECT_EQ(batch.begin(0)[1], 2);
  EXPECT_EQ(batch.begin(1)[1], 1);
  // The second input's nodes are 2 and 3 of Char and 1 of Word.
  EXPECT_EQ(reader.nodes().index(0, 2), 1);
  EXPECT_EQ(reader.nodes().index(0, 3), 2);
  EXPECT_EQ(reader.nodes().index(1, 1), 0);
  EXPECT_EQ(reader.nodes().index(1, 2), -1);
  EXPECT_EQ(reader.nodes().index(-1, 0), -1);
  EXPECT_EQ(batch.column(1, 1).i32[1], 3); // start of the second Word
  EXPECT_EQ(
      written(model.entries[0], batch),
      "{\"nodes\": [{\"Char\": {\"glyph\": 5, \"before\": [1], \"ending\": [2]}}, {\"Char\": {\"glyph\": 6, "
      "\"before\": [], \"ending\": []}}, {\"Word\": {\"form\": 1, \"start\": 1}}], \"args\": {\"f\": [1, 0], "
      "\"b\": []}}");
  reader.clear(batch);
  EXPECT_EQ(batch.inputs(), 0);
  EXPECT_EQ(reader.nodes().index(0, 0), -1);
  EXPECT_EQ(reader.line(), 3);
}

TEST(Instances, EveryKindOfFieldAndArgument) {
  ModelInfo model = kinds_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  std::string line =
      "{\"nodes\": [{\"Plain\": {\"i\": -5, \"b\": true, \"f\": \"-inf\", \"m\": [[1, 2.5], [\"nan\", "
      "-0.0]], \"iv\": "
      "[0, 3, 1], \"bv\": [false, true]}}, {\"Lists\": {\"ks\": [3, 0], \"bs\": [true, false], \"fs\": [0.1, "
      "2], "
      "\"vs\": [[1, 2], [3, 4]], \"nest\": [[0, 1], [], [2]], \"holders\": [4]}}, {\"Thing.Empty\": {}}, "
      "{\"Holder.Empty\": {}}, {\"Full\": {\"thing\": 2, \"holder\": 3}}], \"args\": {\"s\": {\"h\": [1, 2], "
      "\"n\": 7, "
      "\"at\": 0}, \"pairs\": [[true, 3], [false, 4]], \"deep\": [[], [{\"x\": 1.5, \"y\": [5, 0]}, {\"x\": "
      "2, \"y\": "
      "[1, 1]}]]}}";
  Status status = reader.append(line, batch);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(written(model.entries[0], batch), line);
}

// A node whose constructor several types have is decided by what refers to it, directly or through other such
// nodes.
TEST(Instances, AmbiguousConstructorsAreDecidedByReferences) {
  ModelInfo model = kinds_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  Status status =
      reader.append("{\"nodes\": [{\"Empty\": {}}, {\"Empty\": {}}, {\"Full\": {\"thing\": 0, \"holder\": "
                    "1}}, {\"Empty\": {}}], \"args\": {\"s\": {\"h\": [0, 0], \"n\": 0, \"at\": 3}, "
                    "\"pairs\": [], \"deep\": []}}",
                    batch);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(reader.nodes().index(0, 0), 0);
  EXPECT_EQ(reader.nodes().index(0, 1), 3);
  EXPECT_EQ(reader.nodes().index(1, 0), 1);
}

// A float is read as the float nearest to its text, not by way of a double.
TEST(Instances, FloatsAreRoundedOnce) {
  ModelInfo model = kinds_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  auto read = [&](const std::string &text) {
    reader.clear(batch);
    Status status =
        reader.append("{\"nodes\": [{\"Plain\": {\"f\": " + text +
                          "}}], \"args\": {\"s\": {\"h\": [0, 0], \"n\": 0, \"at\": 0}, \"pairs\": [], "
                          "\"deep\": []}}",
                      batch);
    EXPECT_TRUE(status.ok()) << status.message;
    batch.finish();
    return batch.column(0, 2).f32[0];
  };
  EXPECT_EQ(read("0.1"), 0.1f);
  EXPECT_EQ(read("16777217"), 16777216.0f);
  EXPECT_EQ(read("1.00000005960464477540"),
            1.00000011920928955f); // a hair above halfway; the double is halfway
  EXPECT_EQ(read("3.4028234663852886e38"), 3.4028234663852886e38f);
  EXPECT_EQ(read("1e-60"), 0.0f);
  EXPECT_EQ(read("1e-42"), 1e-42f);
  EXPECT_TRUE(std::signbit(read("-0.0")));
  EXPECT_EQ(read("18446744073709551617"), 18446744073709551616.0f);
}

TEST(Instances, ArgumentsOfOtherEntriesArePassedOver) {
  ModelInfo model = tree_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  Status status =
      reader.append("{\"nodes\": [{\"Leaf\": {}}], \"args\": {\"target\": [0.5, 0.5], \"t\": 0}}", batch);
  EXPECT_TRUE(status.ok()) << status.message;
}

TEST(Instances, AnEntryWithoutArgumentsNeedsNothing) {
  ModelInfo model = kinds_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[1]);
  EXPECT_TRUE(reader.append("{}", batch).ok());
  EXPECT_EQ(batch.inputs(), 1);
}

// A wrong line is an input of its own and changes nothing in its neighbours.
// What was read once is appended like its text: by another reader, several times, whether right or wrong.
TEST(Instances, ALineThatWasReadIsAppendedLikeItsText) {
  ModelInfo model = kinds_model();
  const EntryInfo &entry = model.entries[0];
  Batch texts(model), lines(model);
  InstanceReader reader(model, entry), by_text(model, entry), by_line(model, entry);
  for (uint64_t i = 0; i < 20; ++i) {
    Instance instance;
    ASSERT_TRUE(draw_instance(model, entry, 1, i, instance).ok());
    std::string text = instance_json(model, entry, instance);
    if (i % 5 == 3)
      text.replace(text.find("args"), 4, "arks");
    std::shared_ptr<const InstanceReader::Line> line = reader.read(text);
    (void)reader.read("{}"); // leaves nothing of the line in the reader
    for (int times = 0; times < 2; ++times) {
      Status expected = by_text.append(text, texts), status = by_line.append(*line, lines);
      EXPECT_EQ(status.ok(), i % 5 != 3);
      EXPECT_EQ(status.message, expected.message);
      if (status.ok()) {
        EXPECT_EQ(written(entry, lines), written(entry, texts));
      }
    }
  }
  EXPECT_EQ(by_line.weights(), by_text.weights());
}

TEST(Instances, AWrongLineKeepsItsPlace) {
  ModelInfo model = tree_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0], 10);
  std::string good = "{\"nodes\": [{\"Leaf\": {\"word\": 3}}], \"args\": {\"t\": 0}}";
  ASSERT_TRUE(reader.append(good, batch).ok());
  Status bad = reader.append(
      "{\"nodes\": [{\"Leaf\": {\"word\": 3}}, {\"Leaf\": {\"word\": 11}}], \"weight\": 3}", batch);
  reader.skip_line();
  ASSERT_TRUE(reader.append(good, batch).ok());
  EXPECT_EQ(batch.inputs(), 3);
  EXPECT_EQ(batch.rows(0), 2);
  EXPECT_TRUE(batch.status(0).ok());
  EXPECT_TRUE(batch.status(2).ok());
  EXPECT_EQ(batch.status(1).message, bad.message);
  EXPECT_EQ(bad.message, "tree_lstm: line 11: node 1 (Leaf): field `word`: 11 is out of range for index[10]");
  EXPECT_EQ(bad.code, Code::bad_input);
  EXPECT_EQ(bad.input, 1);
  EXPECT_EQ(bad.node, 1);
  EXPECT_EQ(bad.field, "word");
  EXPECT_EQ(reader.weights(), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(written(model.entries[0], batch), good);

  // What a run says is put into the terms of the lines; what append() said stays.
  EXPECT_EQ(reader.in_lines(batch.status(1)).message, bad.message);
  batch.finish();
  Status run = reader.in_lines(batch.describe(Code::bad_input, 0, 1, 0, "no"));
  EXPECT_EQ(run.message, "tree_lstm: line 13: node 0 (Leaf): field `word`: no");
  EXPECT_EQ(run.node, 0);
}

// Whoever finds a mistake, reader or run, counts nodes as the line does.
TEST(Instances, MessagesNumberNodesAsTheLineDoes) {
  ModelInfo model = lattice_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  ASSERT_TRUE(
      reader
          .append(
              "{\"nodes\": [{\"Char\": {}}, {\"Word\": {}}, {\"Char\": {}}], \"args\": {\"f\": [], \"b\": "
              "[]}}",
              batch)
          .ok());
  batch.finish();
  Status run = reader.in_lines(batch.describe(Code::bad_input, 1, 0, -1, "no"));
  EXPECT_EQ(run.message, "lattice: line 1: node 1 (Word): no");
  EXPECT_EQ(run.node, 1);
  EXPECT_EQ(reader.in_lines(batch.describe(Code::bad_input, 0, 1, -1, "no")).node, 2);
  EXPECT_EQ(batch.node_name(0, 1), "node 2");
  // Nodes that the application adds itself are counted by type.
  reader.clear(batch);
  batch.begin_input();
  batch.add_node(1, 0);
  EXPECT_EQ(batch.node_name(1, 0), "Word node 0");
}

TEST(Instances, AnotherModelsEntryIsRefused) {
  ModelInfo model = tree_model();
  Batch batch(model);
  EntryInfo other = entry("other", {}, f32());
  InstanceReader reader(model, other);
  Status status = reader.append("{}", batch);
  EXPECT_EQ(status.code, Code::bad_call);
  EXPECT_EQ(status.message, "tree_lstm has no entry `other`");
}

TEST(Instances, ABatchThatTakesNoInputsSaysSo) {
  ModelInfo model = tree_model();
  Batch batch(model);
  batch.borrow_inputs(1);
  InstanceReader reader(model, model.entries[0]);
  for (const char *line : {"{}", "not JSON"}) {
    Status status = reader.append(line, batch);
    EXPECT_EQ(status.code, Code::bad_call);
    EXPECT_EQ(status.message, "tree_lstm: begin_input on a batch of flat arrays");
  }
}

// A chain of a million nodes, a node with a million children: memory in proportion, no stack. The whole
// program runs under a small stack in the sanitizer and limit tests; here the sizes only are tested.
TEST(Instances, AMillionNodes) {
  ModelInfo model = wide_model();
  Batch batch(model);
  InstanceReader reader(model, model.entries[0]);
  const int n = 1000000;
  std::string line = "{\"args\": {\"a\": 0, \"b\": 1000000}, \"nodes\": [";
  for (int i = 0; i < n; ++i)
    line += "{\"Tree\":{\"children\":[" + std::to_string(i + 1) + "]}},";
  line += "{\"Tree\":{\"word\":1,\"children\":[";
  for (int i = 0; i < n; ++i)
    line += (i ? "," : "") + std::to_string(i);
  line += "]}}]}";
  Status status = reader.append(line, batch);
  ASSERT_TRUE(status.ok()) << status.message;
  batch.finish();
  EXPECT_EQ(batch.rows(0), n + 1);
  const ColumnView &children = batch.column(0, 1);
  EXPECT_EQ(children.lists[0].end[n] - children.lists[0].begin[n], n);
  EXPECT_EQ(children.i32[children.lists[0].begin[n - 1]], n);
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(use.ru_maxrss, 1500 * 1024); // kilobytes
#endif
}

} // namespace
